// Requests go to the server that the page comes from, and to no other.
const here = new URL(".", document.baseURI);

// The library shows webhooks that are in place, and the document refers to them.
const inPlace = (openapi) => {
  for (const [name, item] of Object.entries(openapi.webhooks)) {
    openapi.webhooks[name] = openapi.components.pathItems[item.$ref.split("/").pop()];
  }
  return openapi;
};

const show = (openapi) =>
  Scalar.createApiReference("#reference", {
    content: inPlace(openapi),
    servers: [{ url: here.href.replace(/\/$/, ""), description: "This server" }],
    authentication: { preferredSecurityScheme: "bearer" },
    agent: { disabled: true },
    mcp: { disabled: true },
    telemetry: false,
    withDefaultFonts: false,
    persistAuth: false,
    hideClientButton: true,
    showDeveloperTools: "never",
    metaData: { title: document.title },
  });

fetch(new URL("api/v1/openapi.json", here))
  .then((response) => response.json())
  .then(show);
