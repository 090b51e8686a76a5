// Requests go to the server that the page comes from, and to no other.
const here = new URL(".", document.baseURI);
Scalar.createApiReference("#reference", {
  url: new URL("api/v1/openapi.json", here).href,
  servers: [{ url: here.href.replace(/\/$/, ""), description: "This server" }],
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
  withDefaultFonts: false,
  persistAuth: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  metaData: { title: document.title },
});
