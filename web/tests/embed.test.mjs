// The component in a page of another origin, with a strict policy.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { sampleEvents } from "./data.mjs";
import { closePage, eventually, expectAccessible, openPage, startBrowser, startServer, stopBrowser, stopServer, store, viewerToken } from "./kit.mjs";

let server;
let host;
let origin;
let body = "";
let script = "";

before(async () => {
  server = await startServer();
  await startBrowser();
  await store(server, sampleEvents(60));
  host = createServer((asked, response) => {
    const isScript = asked.url === "/page.js";
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html; charset=utf-8");
    response.setHeader("Content-Security-Policy", `default-src 'none'; script-src 'self' ${server.url}; connect-src ${server.url}`);
    response.end(isScript ? script : `<!doctype html><html lang="en"><title>Application</title><body><main><h1>Application</h1>${body}</main><script type="module" src="/page.js"></script></body></html>`);
  });
  await new Promise((resolve) => host.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${host.address().port}`;
});
after(async () => {
  await stopBrowser();
  host.close();
  await stopServer(server);
});

const open = async (options = {}) => {
  const page = await openPage(server, { origins: [origin], ...options });
  await page.goto(`${origin}/`);
  return page;
};

test("a page of another origin embeds it with a strict policy", async () => {
  const token = await viewerToken(server, "acme");
  body = `<audit-log-viewer base-url="${server.url}" token="${token}"></audit-log-viewer>`;
  script = `import "${server.url}/viewer.js";`;
  const page = await open();
  await page.locator(".line").first().waitFor();
  await page.locator(".line").first().click();
  await page.locator("audit-log-proof .mark.consistent").waitFor();
  assert.equal(new URL(page.url()).hash, "", "the page's own fragment is left alone");
  await expectAccessible(page);
  await closePage(page);
});

test("it asks the page for a fresh token, and keeps its place", async () => {
  const expired = await viewerToken(server, "acme");
  const fresh = await viewerToken(server, "acme");
  body = "";
  script = `
    import { AuditLogViewer } from "${server.url}/viewer.js";
    const viewer = document.createElement("audit-log-viewer");
    viewer.baseUrl = "${server.url}";
    viewer.token = "${expired}";
    globalThis.asked = [];
    viewer.addEventListener("audit-token-expired", (event) => asked.push(event.detail.code));
    viewer.refreshToken = async () => "${fresh}";
    document.querySelector("main").append(viewer);
  `;
  const page = await openPage(server, { origins: [origin] });
  let isExpired = false;
  const refusal = { error: { code: "token_expired", message: "the viewer token has expired" }, request_id: "req_00000000000000000003" };
  const headers = { "Access-Control-Allow-Origin": "*" };
  await page.route("**/api/v1/**", (route) => {
    const isOld = route.request().headers().authorization?.endsWith(expired);
    return isExpired && isOld ? route.fulfill({ status: 401, json: refusal, headers }) : route.fallback();
  });
  await page.goto(`${origin}/`);
  await page.locator(".line").first().waitFor();
  isExpired = true;
  await page.getByRole("button", { name: "Live" }).click();
  await page.getByRole("button", { name: "Live" }).click();
  await eventually(async () => assert.deepEqual(await page.evaluate(() => globalThis.asked), ["token_expired"]));
  await page.getByText("Your access has expired").waitFor({ state: "detached" });
  await page.locator(".line").first().waitFor();
  await page.locator(".live[aria-pressed=true]", { hasText: /^\s*Live/ }).waitFor();
  await closePage(page);
});

test("a page can add a language, also one that is written from right to left", async () => {
  const token = await viewerToken(server, "acme");
  body = `<audit-log-viewer base-url="${server.url}" token="${token}" lang="he" theme="dark"></audit-log-viewer>`;
  script = `
    import("${server.url}/viewer.js").then(({ registerLanguage }) => {
      registerLanguage("he", { direction: "rtl", time: "זמן", action: "פעולה" });
      document.querySelector("audit-log-viewer").lang = "he-IL";
    });
  `;
  const page = await open();
  await page.locator(".line").first().waitFor();
  await page.getByText("פעולה").waitFor();
  const [time, action] = await page.locator(".head > div").evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().left));
  assert.ok(time > action, "the first column is on the right");
  const background = await page.locator("audit-log-viewer").evaluate((viewer) => getComputedStyle(viewer).backgroundColor);
  assert.equal(background, "rgb(20, 24, 29)");
  await expectAccessible(page);
  await closePage(page);
});

test("custom properties and parts theme it", async () => {
  const token = await viewerToken(server, "acme");
  body = `<audit-log-viewer base-url="${server.url}" token="${token}"></audit-log-viewer>`;
  script = `
    import "${server.url}/viewer.js";
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("audit-log-viewer { --audit-background: rgb(1, 2, 3); --audit-height: 400px } audit-log-viewer::part(footer) { background: rgb(4, 5, 6) }");
    document.adoptedStyleSheets = [sheet];
  `;
  const page = await open();
  await page.locator(".line").first().waitFor();
  const found = await page.locator("audit-log-viewer").evaluate((viewer) => [
    getComputedStyle(viewer).backgroundColor, viewer.getBoundingClientRect().height, getComputedStyle(viewer.shadowRoot.querySelector("footer")).backgroundColor,
  ]);
  assert.deepEqual(found, ["rgb(1, 2, 3)", 400, "rgb(4, 5, 6)"]);
  await closePage(page);
});

test("the portal cannot be framed unless the operator names the page", async () => {
  const script_ = script;
  body = `<iframe src="${server.url}/portal" title="portal"></iframe>`;
  script = "";
  const page = await openPage(server, { origins: [origin] });
  const refused = [];
  page.on("console", (message) => /frame-ancestors|Framing/.test(message.text()) && refused.push(message.text()));
  await page.goto(`${origin}/`);
  await page.waitForLoadState("networkidle");
  assert.equal(await page.frameLocator("iframe").locator("audit-log-portal").count(), 0);
  page.faults.length = 0;
  await closePage(page);
  script = script_;
});
