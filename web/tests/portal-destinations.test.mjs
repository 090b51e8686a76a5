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

/** A token of a tier that allows destinations, which the server then checks. */
async function adminToken() {
  const { viewer_tiers: tiers } = await request(server, "GET", "/viewer-tiers", { key: server.master });
  const admins = { name: "admins", routes: ["event", "summary", "feed", "destinations"] };
  if (!tiers.some(({ name }) => name === admins.name)) await request(server, "POST", "/viewer-tiers", { key: server.master, body: admins });
  return viewerToken(server, "acme", { tier: "admins" });
}

test("an edit sends what was edited, and secrets stay unless they are given", async () => {
  const key = await adminToken();
  const body = {
    name: `SIEM ${MARKUP}`, kind: "https", paused: true, filter: { actions: ["auth.*"], categories: ["auth"] },
    settings: { url: "https://siem.example.com/in", framing: "lines", headers: { "x-team": "security" } }, credentials: { headers: { authorization: "Bearer abc" } },
  };
  const { destination: created } = await request(server, "POST", "/destinations", { key, body });
  const stored = async () => (await request(server, "GET", `/destinations/${created.id}`, { key })).destination;
  const page = await openPage(server);
  const sent = [];
  page.on("request", (made) => made.method() === "PATCH" && sent.push(made.postDataJSON()));
  await page.goto(`${server.url}/portal#token=${key}`);
  await page.getByRole("button", { name: "Destinations" }).click();
  const name = page.getByLabel("Name", { exact: true });
  const edit = async () => {
    await page.getByRole("button", { name: `Edit: SIEM ${MARKUP}`, exact: true, disabled: false }).press("Enter");
    await page.getByRole("heading", { name: `Edit “SIEM ${MARKUP}”`, exact: true }).waitFor();
    await eventually(async () => assert.ok(await name.evaluate((input) => input === input.getRootNode().activeElement)));
  };
  const store = async () => {
    await page.getByRole("button", { name: "Store changes", disabled: false }).press("Enter");
  };
  const isStored = () => page.getByRole("heading", { name: "New destination" }).waitFor();

  await edit();
  assert.equal(await name.inputValue(), `SIEM ${MARKUP}`);
  assert.equal(await page.getByLabel("URL", { exact: true }).inputValue(), "https://siem.example.com/in");
  assert.equal(await page.getByLabel("Body").inputValue(), "lines");
  assert.equal(await page.getByLabel("Headers, one “name: value” per line", { exact: true }).inputValue(), "x-team: security");
  assert.equal(await page.getByLabel("Secret headers").inputValue(), "");
  await expectAccessible(page);
  await page.getByLabel("Only actions").fill("auth.*, user.*");
  await store();
  await isStored();
  // The condition that the form does not show stays.
  assert.deepEqual((await stored()).filter, { actions: ["auth.*", "user.*"], categories: ["auth"], tenant_ids: ["acme"] });
  assert.deepEqual(sent.splice(0), [{ filter: { actions: ["auth.*", "user.*"], categories: ["auth"], tenant_ids: ["acme"] } }]);

  // Another receiver does not get the secrets of this one.
  await edit();
  await page.getByLabel("URL", { exact: true }).fill("https://other.example.com/in");
  await store();
  await page.getByRole("alert").getByText("credentials: is required with settings").waitFor();
  assert.equal((await stored()).settings.url, "https://siem.example.com/in");
  await page.getByLabel("Secret headers").fill("authorization: Bearer def");
  await store();
  await isStored();
  await page.getByText(/^whsec_/).waitFor();
  const settings = { ...body.settings, url: "https://other.example.com/in" };
  assert.deepEqual((await stored()).settings, settings);
  assert.deepEqual(sent.splice(0), [{ settings }, { settings, credentials: { headers: { authorization: "Bearer def" } } }]);
  await expectAccessible(page);

  // Secrets alone are replaced, and the name.
  await edit();
  assert.equal(await page.getByLabel("Secret headers").inputValue(), "");
  await page.getByLabel("Secret headers").fill("authorization: Bearer ghi");
  await name.fill("renamed");
  await store();
  await row(page, "renamed").waitFor();
  assert.equal((await stored()).previous_credentials_in_use, true);
  assert.deepEqual(sent.splice(0), [{ name: "renamed", credentials: { headers: { authorization: "Bearer ghi" } } }]);

  // What is cancelled is not sent, and is not in the form of a new one.
  await page.getByRole("button", { name: "Edit: renamed", disabled: false }).press("Enter");
  await page.getByLabel("URL", { exact: true }).fill("https://third.example.com/in");
  await page.getByRole("button", { name: "Cancel" }).press("Enter");
  await isStored();
  assert.equal(await page.getByLabel("URL", { exact: true }).inputValue(), "");
  assert.deepEqual(sent, []);

  // A destination that has no secret but that of its signature gets a new one with another receiver.
  const { destination: signed } = await request(server, "POST", "/destinations", { key, body: { name: "signed", kind: "https", paused: true, settings: { url: body.settings.url } } });
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByRole("button", { name: "Edit: signed", disabled: false }).press("Enter");
  await page.getByLabel("URL", { exact: true }).fill("https://other.example.com/in");
  await store();
  await page.getByText(/^whsec_/).waitFor();
  assert.deepEqual(sent, [{ settings: { url: "https://other.example.com/in", framing: "array" }, credentials: {} }]);
  for (const { id } of [created, signed]) await request(server, "DELETE", `/destinations/${id}`, { key });
  await closePage(page);
});

test("the form of an edit is in each language, has no kind to choose, and ends with its destination", async () => {
  let stored = [destination({ kind: "s3", settings: { url: "https://s3.example.com/b", region: "eu", compress: false }, credentials: ["access_key", "secret_key"] })];
  const options = { fragment: "&lang=de", viewport: { width: 320, height: 640 } };
  // The portal does not allow this kind any more; what is there stays.
  const { page, requests } = await openWith(["https"], { "GET ": () => ({ destinations: stored }), "PATCH /id": () => ({ destination: stored[0] }) }, options);
  await page.getByRole("button", { name: "Ziele" }).click();
  await page.getByRole("button", { name: /^Bearbeiten/ }).click();
  await page.getByRole("heading", { name: `„SIEM ${MARKUP}“ bearbeiten` }).waitFor();
  assert.equal(await page.getByLabel("Art", { exact: true }).count(), 0);
  assert.equal(await page.getByLabel("Mit gzip komprimieren").isChecked(), false);
  await page.getByText("Geheimnisse werden nicht angezeigt.").waitFor();
  await expectAccessible(page);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= page.viewportSize().width, `${width} wide`);
  await page.getByLabel("Mit gzip komprimieren").check();
  await page.getByLabel("Zugriffsschlüssel").fill("AK");
  await page.getByLabel("Geheimer Schlüssel").fill("SK");
  await page.getByRole("button", { name: "Änderungen speichern" }).click();
  await page.getByText(`SIEM ${MARKUP}: Änderungen gespeichert.`).waitFor();
  const settings = { url: "https://s3.example.com/b", region: "eu", compress: true };
  assert.deepEqual(requests, [["PATCH /id", { settings, credentials: { access_key: "AK", secret_key: "SK" } }]]);
  // Somebody else has deleted it.
  await page.getByRole("button", { name: /^Bearbeiten/ }).click();
  stored = [];
  await page.getByRole("button", { name: "Aktualisieren" }).click();
  await page.getByRole("heading", { name: "Neues Ziel" }).waitFor();
  await closePage(page);
});

test("the right that the server gives is that of the tier", async () => {
  const token = await adminToken();
  const page = await openPage(server);
  await page.goto(`${server.url}/portal#token=${token}`);
  await page.getByRole("button", { name: "Destinations" }).click();
  await page.getByText("No destinations yet.").waitFor();
  await closePage(page);
});
