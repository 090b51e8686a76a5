// The component in a page of another origin, with a strict policy.
import assert from "node:assert/strict";
import { build } from "esbuild";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sampleEvents } from "./data.mjs";
import { closePage, eventually, expectAccessible, openPage, request, startBrowser, startServer, stopBrowser, stopServer, store, viewerToken } from "./kit.mjs";

let server;
let host;
let origin;
let body = "";
let script = "";

before(async () => {
  host = createServer((asked, response) => {
    const isScript = asked.url === "/page.js";
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html; charset=utf-8");
    response.setHeader("Content-Security-Policy", `default-src 'none'; script-src 'self' ${server.url}; connect-src ${server.url}; frame-src ${server.url}`);
    response.end(isScript ? script : `<!doctype html><html lang="en"><title>Application</title><body><main><h1>Application</h1>${body}</main><script type="module" src="/page.js"></script></body></html>`);
  });
  await new Promise((resolve) => host.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${host.address().port}`;
  server = await startServer({ AUDIT_PORTAL_FRAME_ANCESTORS: origin });
  await startBrowser();
  await store(server, sampleEvents(60));
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

test("a refusal of the token before does not end the fresh one", async () => {
  const [before, fresh] = [await viewerToken(server, "acme"), await viewerToken(server, "acme")];
  body = `<audit-log-viewer base-url="${server.url}" token="${before}"></audit-log-viewer>`;
  script = `
    import "${server.url}/viewer.js";
    globalThis.asked = [];
    document.querySelector("audit-log-viewer").addEventListener("audit-token-expired", (event) => asked.push(event.detail.code));
  `;
  const page = await openPage(server, { origins: [origin] });
  let isExpired = false;
  let answer;
  const held = new Promise((isHeld) => {
    void page.route("**/api/v1/events?**", async (route) => {
      if (!isExpired) return route.fallback();
      isExpired = false;
      await new Promise((resolve) => isHeld((answer = resolve)));
      const refusal = { error: { code: "token_expired", message: "the viewer token has expired" }, request_id: "req_00000000000000000004" };
      return route.fulfill({ status: 401, json: refusal, headers: { "Access-Control-Allow-Origin": "*" } });
    });
  });
  await page.goto(`${origin}/`);
  await page.locator(".line").first().waitFor();
  await page.locator(".live[aria-pressed=true]", { hasText: /^\s*Live/ }).waitFor();
  isExpired = true;
  const event = (name) => ({ action: `fresh.${name}`, category: "system", tenant_id: "acme", actor: { id: "clock", type: "system" } });
  await store(server, [event("first")]);
  await held;
  await page.locator("audit-log-viewer").evaluate((viewer, token) => (viewer.token = token), fresh);
  await page.locator(".line", { hasText: "fresh.first" }).waitFor();
  const refused = page.waitForResponse((response) => response.status() === 401);
  answer();
  await (await refused).finished();
  await store(server, [event("second")]);
  await page.locator(".line", { hasText: "fresh.second" }).waitFor();
  assert.deepEqual(await page.evaluate(() => globalThis.asked), []);
  assert.equal(await page.getByText("Your access has expired").count(), 0);
  await closePage(page);
});

test("a page whose tokens are always refused is not asked without end", async () => {
  body = `<audit-log-viewer base-url="${server.url}" token="vt_a.b.c"></audit-log-viewer>`;
  script = `
    import "${server.url}/viewer.js";
    globalThis.asked = 0;
    document.querySelector("audit-log-viewer").refreshToken = () => "vt_a.b." + (asked += 1);
    document.querySelector("audit-log-viewer").reload();
  `;
  const page = await open();
  await page.getByText("Your access has expired").waitFor();
  await page.getByText("Open this page again").waitFor();
  assert.ok((await page.evaluate(() => globalThis.asked)) <= 1);
  await expectAccessible(page);
  await closePage(page);
});

test("a tier without feed, export and proofs shows its list", async () => {
  const tier = { name: "list", categories: null, actions: null, hidden_fields: [], routes: ["event"] };
  await request(server, "POST", "/viewer-tiers", { key: server.master, body: tier });
  const token = await viewerToken(server, "acme", { tier: "list" });
  body = `<audit-log-viewer base-url="${server.url}" token="${token}"></audit-log-viewer>`;
  script = `import "${server.url}/viewer.js";`;
  const page = await open();
  await page.locator(".live[aria-pressed=false]").waitFor();
  await page.locator(".line").first().click();
  await page.getByText("Your access does not include proofs").waitFor();
  await page.getByRole("button", { name: "Download" }).click();
  await page.getByRole("button", { name: "Download as CSV" }).click();
  await page.getByText("The download failed").waitFor();
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

test("React shows it, sets its properties and hears its events", async () => {
  const token = await viewerToken(server, "acme");
  const source = `
    import { createElement, useState } from "react";
    import { createRoot } from "react-dom/client";
    import { AuditLogViewer } from "../../clients/viewer/dist/react.js";
    function Page() {
      const [category, setCategory] = useState("admin");
      const [opened, setOpened] = useState("");
      const [filter, setFilter] = useState({ category: "admin" });
      const show = () => (setCategory("auth"), setFilter({ category: "auth" }));
      return createElement("div", null, createElement("button", { onClick: show }, "Show " + category), createElement("output", null, opened),
        createElement(AuditLogViewer, { baseUrl: "${server.url}", token: "${token}", language: "de", filter, onEventOpened: (event) => setOpened(event.detail.id) }));
    }
    createRoot(document.querySelector("main")).render(createElement(Page));
  `;
  const bundled = await build({
    stdin: { contents: source, resolveDir: import.meta.dirname }, bundle: true, format: "esm", write: false, define: { "process.env.NODE_ENV": '"production"' },
    nodePaths: [join(import.meta.dirname, "../node_modules")], logLevel: "error",
  });
  body = "";
  script = bundled.outputFiles[0].text;
  const page = await open();
  const line = page.locator(".line").first();
  await line.waitFor();
  const categories = async () => new Set(await page.locator(".line .category").allTextContents());
  assert.deepEqual(await categories(), new Set(["Verwaltung"]));
  await page.getByRole("button", { name: "Show admin" }).click();
  await eventually(async () => assert.deepEqual(await categories(), new Set(["Anmeldung"])));
  await page.locator(".line").first().click();
  await eventually(async () => assert.match(await page.locator("output").textContent(), /^evt_/));
  await closePage(page);
});

/** A file of docs/examples/viewer, with the server of the test in the place of its own, and bundled as an application bundles it. */
async function example(name) {
  const folder = join(import.meta.dirname, "../../docs/examples/viewer");
  const contents = readFileSync(join(folder, name), "utf8").replaceAll("http://127.0.0.1:8080", server.url);
  const alias = { "audit-log-viewer": join(import.meta.dirname, "../../clients/viewer/dist/viewer.js"), "audit-log-viewer/react": join(import.meta.dirname, "../../clients/viewer/dist/react.js") };
  const define = { "process.env.NODE_ENV": '"production"', __VUE_OPTIONS_API__: "false", __VUE_PROD_DEVTOOLS__: "false", __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false" };
  const bundled = await build({
    stdin: { contents, resolveDir: folder, loader: "jsx" }, bundle: true, format: "esm", write: false, define, alias, jsx: "automatic",
    nodePaths: [join(import.meta.dirname, "../node_modules")], logLevel: "error",
  });
  return bundled.outputFiles[0].text;
}

for (const [name, content, open] of [
  ["page.js", `<output></output><audit-log-viewer></audit-log-viewer>`, "plain HTML"],
  ["react.jsx", "", "React"],
  ["vue.js", "", "Vue"],
]) {
  test(`the example in ${open} shows events, and which one is open`, async () => {
    const token = await viewerToken(server, "acme");
    body = `${content.replace("<audit-log-viewer>", `<audit-log-viewer base-url="${server.url}">`)}<div id="app"></div>`;
    script = name === "page.js" ? `import "${server.url}/viewer.js";\n${await example(name)}` : await example(name);
    const page = await openPage(server, { origins: [origin] });
    await page.goto(`${origin}/#${token}`);
    await page.locator(".line").first().waitFor();
    await page.locator(".line").first().click();
    await eventually(async () => assert.match(await page.locator("output").textContent(), /^evt_/));
    await page.locator("audit-log-proof .mark.consistent").waitFor();
    await closePage(page);
  });
}

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

test("a page that the operator names shows the portal in a frame, and never the console", async () => {
  const token = await viewerToken(server, "acme");
  script = "";
  body = `<iframe src="${server.url}/portal#token=${token}" title="portal"></iframe><iframe src="${server.url}/console" title="console"></iframe>`;
  const page = await openPage(server, { origins: [origin] });
  await page.goto(`${origin}/`);
  await page.frameLocator("iframe[title=portal]").locator(".line").first().waitFor();
  assert.equal(await page.frameLocator("iframe[title=console]").locator("console-page").count(), 0);
  assert.ok(page.faults.length > 0 && page.faults.every((fault) => fault.includes("frame-ancestors")), page.faults.join("\n"));
  page.faults.length = 0;
  await closePage(page);
});
