// The destinations of a tenant in the portal, with responses of the test: its receivers have public addresses.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closePage, eventually, expectAccessible, openPage, request, row, startBrowser, startServer, stopBrowser, stopServer, viewerToken } from "./kit.mjs";

let server;
const MARKUP = "<img src=x onerror=\"window.pwned='destination'\">";
const ID = "dst_01M7YBWVWMHR5F0HZ7FNJ76A1V";

before(async () => {
  server = await startServer();
  await startBrowser();
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

const destination = (changes = {}) => ({
  id: ID, name: `SIEM ${MARKUP}`, kind: "splunk_hec", environment: "live", format: "json", include_raw: false, ocsf_classes: [], filter: { tenant_ids: ["acme"] },
  settings: { url: "https://splunk.example.com:8088" }, credentials: ["token"], paused: false, state: "delayed", created_at: "2026-01-15T10:30:00.268Z",
  created_by_tenant: "acme", position: 120, cursor_seq: 345, lag_events: 12, lag_seconds: 31, last_success_at: "2026-01-15T11:00:00.000Z",
  last_error: { at: "2026-01-15T11:00:31.000Z", status: 503, request: "POST https://splunk.example.com:8088/… 12 records, 10,340 bytes", response: `busy ${MARKUP} \u202e` },
  next_attempt_at: "2026-01-15T11:01:03.000Z", set_aside: 0, previous_credentials_in_use: false, replay: null, ...changes,
});

/** Opens the portal with these kinds, and these responses below `/destinations`. Returns also the requests that change something. */
async function openWith(kinds, responses, { fragment = "", ...options } = {}) {
  const token = await viewerToken(server, "acme", { tier: "full" });
  const page = await openPage(server, options);
  const requests = [];
  await page.route(/\/api\/v1\/portal$/, (route) => route.fulfill({ json: { portal: { name: null, logo: null, destination_kinds: kinds } } }));
  await page.route(/\/api\/v1\/destinations/, (route) => {
    const made = route.request();
    const name = `${made.method()} ${new URL(made.url()).pathname.replace(/^\/api\/v1\/destinations/, "").replace(`/${ID}`, "/id")}`;
    if (made.method() !== "GET") requests.push([name, made.postDataJSON()]);
    const found = responses[name];
    if (found === undefined) return route.fulfill({ status: 403, json: { error: { code: "forbidden", message: `no ${name}` } } });
    return route.fulfill({ json: typeof found === "function" ? found() : found });
  });
  await page.goto(`${server.url}/portal#token=${token}${fragment}`);
  await page.locator(".line, .state h3").first().waitFor();
  return { page, requests };
}

test("a token without the right has no section and asks for no destinations", async () => {
  const { page, requests } = await openWith([], {});
  assert.equal(await page.getByRole("button", { name: "Destinations" }).count(), 0);
  assert.deepEqual(requests, []);
  await closePage(page);
});

test("a tenant creates, tests, pauses, replays and deletes a destination by keyboard", async () => {
  let stored = [];
  const { page, requests } = await openWith(["splunk_hec", "https"], {
    "GET ": () => ({ destinations: stored }),
    "POST ": () => ({ destination: (stored = [destination({ state: "active", last_error: null, lag_events: 0 })])[0] }),
    "POST /id/test": { verdict: "retry", status: 503, request: "POST https://splunk.example.com:8088/… 1 record", response: `busy ${MARKUP}` },
    "PATCH /id": () => ({ destination: (stored = [destination({ state: "paused", paused: true })])[0] }),
    "POST /id/replay": { from_seq: 0, end_seq: 1, count: null, replay: null },
    "DELETE /id": () => ((stored = []), { deleted: true }),
  });
  await page.getByRole("button", { name: "Destinations" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("No destinations yet.").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("SIEM");
  await page.getByLabel("URL of the collector").fill("https://splunk.example.com:8088");
  await page.getByLabel("Token", { exact: true }).fill("secret");
  await page.getByLabel("Only actions").fill("auth.*");
  await page.getByLabel("Only actions").press("Enter");
  await row(page, "SIEM").getByText("active", { exact: true }).waitFor();
  await eventually(async () => assert.equal(await page.getByLabel("Token", { exact: true }).inputValue(), ""));
  await page.getByRole("button", { name: /^Send a test record/, disabled: false }).press("Enter");
  await page.getByText("The receiver does not take records now.").waitFor();
  await page.locator("pre", { hasText: `503: busy ${MARKUP}` }).waitFor();
  await expectAccessible(page);
  await page.getByLabel("Events received from").fill("2026-01-15T10:30");
  await page.getByRole("button", { name: "Send again", disabled: false }).press("Enter");
  await page.getByRole("button", { name: /^Pause/, disabled: false }).press("Enter");
  await row(page, "SIEM").getByText("paused", { exact: true }).waitFor();
  await page.getByRole("button", { name: /^Delete/, disabled: false }).press("Enter");
  await page.getByRole("button", { name: "Cancel", disabled: false }).press("Enter");
  await page.getByRole("button", { name: /^Delete/, disabled: false }).press("Enter");
  await page.getByRole("button", { name: "Delete", exact: true, disabled: false }).press("Enter");
  await page.getByText("No destinations yet.").waitFor();
  const settings = { url: "https://splunk.example.com:8088" };
  assert.deepEqual(requests, [
    ["POST ", { name: "SIEM", kind: "splunk_hec", format: "json", settings, credentials: { token: "secret" }, filter: { actions: ["auth.*"] } }],
    ["POST /id/test", null],
    ["POST /id/replay", { from: "2026-01-15T09:30:00.000Z" }],
    ["PATCH /id", { paused: true }],
    ["DELETE /id", null],
  ]);
  await closePage(page);
});

test("a destination in trouble says why in each language, and what a receiver says is text", async () => {
  for (const [lang, options, state] of [["en", {}, "delayed"], ["de", { colorScheme: "dark", viewport: { width: 320, height: 640 } }, "verzögert"]]) {
    const { page } = await openWith(["https"], { "GET ": { destinations: [destination()] } }, { fragment: `&lang=${lang}`, ...options });
    await page.getByRole("button", { name: lang === "de" ? "Ziele" : "Destinations" }).click();
    await row(page, "SIEM").getByText(state, { exact: true }).waitFor();
    await page.locator("pre", { hasText: `503: busy ${MARKUP} ⟨U+202E⟩` }).waitFor();
    await expectAccessible(page);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= page.viewportSize().width, `${width} wide`);
    await closePage(page);
  }
});

test("a fault of the form names the field", async () => {
  const { page } = await openWith(["https"], { "GET ": { destinations: [] } });
  await page.getByRole("button", { name: "Destinations" }).click();
  await page.route(/\/api\/v1\/destinations$/, (route) => {
    if (route.request().method() === "GET") return route.fallback();
    const details = [{ field: "settings.url", message: "must not lead to a private address" }];
    return route.fulfill({ status: 400, json: { error: { code: "validation_error", message: "The request is invalid", details } } });
  });
  await page.getByLabel("Name", { exact: true }).fill("x");
  await page.getByLabel("URL", { exact: true }).fill("https://127.0.0.1/");
  await page.getByRole("button", { name: "Create destination" }).click();
  await page.getByRole("alert").getByText("settings.url: must not lead to a private address").waitFor();
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "x");
  await closePage(page);
});

test("the right that the server gives is that of the tier", async () => {
  const admins = { name: "admins", routes: ["event", "summary", "feed", "destinations"] };
  await request(server, "POST", "/viewer-tiers", { key: server.master, body: admins });
  const token = await viewerToken(server, "acme", { tier: "admins" });
  const page = await openPage(server);
  await page.goto(`${server.url}/portal#token=${token}`);
  await page.getByRole("button", { name: "Destinations" }).click();
  await page.getByText("No destinations yet.").waitFor();
  await closePage(page);
});
