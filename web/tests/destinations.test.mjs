// The section Destinations: once with the server, and with responses of the test for states that take minutes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closePage, eventually, expectAccessible, openConsole, request, row, startBrowser, startServer, stopBrowser, stopServer, store } from "./kit.mjs";

let server;
const MARKUP = "<img src=x onerror=\"window.pwned='destination'\">";
const ID = "dst_01M7YBWVWMHR5F0HZ7FNJ76A1V";
const EVENT_ID = "evt_01M7YB69J3GMC5VKW830MM535B";

before(async () => {
  server = await startServer();
  await startBrowser();
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

/** A destination in trouble, as docs/api.md has it. */
const delayed = (changes = {}) => ({
  id: ID, name: `SIEM ${MARKUP}`, kind: "splunk_hec", environment: "live", format: "json", include_raw: false, ocsf_classes: [], filter: { actions: ["auth.*"], tenant_ids: ["a,b"] },
  settings: { url: "https://splunk.example.com:8088", index: null, source: null, sourcetype: "audit-log" }, credentials: ["token"], paused: false, state: "delayed",
  created_at: "2026-01-15T10:30:00.268Z", created_by_tenant: null, position: 120, cursor_seq: 345, lag_events: 12, lag_seconds: 31, last_success_at: "2026-01-15T11:00:00.000Z",
  last_error: { at: "2026-01-15T11:00:31.000Z", status: 503, request: "POST https://splunk.example.com:8088/… 12 records, 10,340 bytes", response: `busy ${MARKUP} \u202e` },
  next_attempt_at: "2026-01-15T11:01:03.000Z", set_aside: 2, previous_credentials_in_use: true, replay: null, ...changes,
});
const refused = (position) => ({ run: 0, position, seq: 300 + position, event_id: EVENT_ID, at: "2026-01-15T10:30:00.268Z", reason: `400 ${MARKUP}` });

/** Opens the section with these responses, by method and path below `/destinations`. Returns also the requests, without those that read. */
async function openWith(responses, options) {
  const requests = [];
  const page = await openConsole(server, "overview", options);
  await page.route(/\/api\/v1\/destinations/, (route) => {
    const made = route.request();
    const { pathname, search } = new URL(made.url());
    const name = `${made.method()} ${pathname.replace(/^\/api\/v1\/destinations/, "").replace(`/${ID}`, "/id")}`;
    const found = responses[name];
    if (made.method() !== "GET") requests.push([name, made.postDataJSON()]);
    if (found === undefined) return route.fulfill({ status: 404, json: { error: { code: "not_found", message: `no response to ${name}` } } });
    return route.fulfill({ json: typeof found === "function" ? found(search) : found });
  });
  await page.getByRole("link", { name: "Destinations", exact: true }).click();
  await page.getByRole("heading", { name: "Destinations" }).waitFor();
  return { page, requests };
}

async function close(page) {
  await page.unrouteAll({ behavior: "wait" });
  await closePage(page);
}

test("a destination shows its secret once, what the receiver responds, and how far it is", async () => {
  const page = await openConsole(server, "destinations");
  const dialog = page.getByRole("dialog");
  await page.getByLabel("Name", { exact: true }).fill(`lake ${MARKUP}`);
  await page.getByLabel("URL", { exact: true }).fill("https://127.0.0.1:9/ingest");
  await page.getByRole("button", { name: "Create destination" }).click();
  assert.match(await dialog.locator("pre").textContent(), /^whsec_[A-Za-z0-9+/=]{44}$/);
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("button", { name: "Send a test record" }).click();
  await page.getByRole("heading", { name: "Test: retry" }).waitFor();
  await store(server, [{ action: "auth.failed", category: "auth", tenant_id: "acme", actor: { id: `u_9 ${MARKUP}`, type: "user" } }]);
  await eventually(async () => {
    await page.getByRole("button", { name: "Refresh" }).click();
    await row(page, "lake").getByText("delayed").waitFor({ timeout: 500 });
  });
  await page.getByRole("button", { name: "Preview" }).click();
  // JSON has a backslash before each quotation mark of the text.
  await page.locator(".records pre", { hasText: "u_9 <img src=x" }).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await row(page, "lake").getByText("paused").count(), 0);
  await page.getByRole("button", { name: "Pause" }).click();
  await dialog.getByRole("button", { name: "Pause" }).click();
  await row(page, "lake").getByText("paused").waitFor();
  await page.getByRole("button", { name: "Count" }).click();
  await page.getByText("1 of the 1 events of the range pass the filter.").waitFor();
  await page.getByRole("button", { name: "Start the replay" }).click();
  await dialog.getByRole("button", { name: "Start the replay" }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  await dialog.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Count" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("textbox").fill(`lake ${MARKUP}`);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await row(page, "lake").waitFor({ state: "detached" });
  const { destinations } = await request(server, "GET", "/destinations", { key: server.master });
  assert.deepEqual(destinations, []);
  await closePage(page);
});

test("a destination in trouble says why, and what a receiver or an event says is text", async () => {
  for (const options of [{}, { colorScheme: "dark", viewport: { width: 320, height: 640 } }]) {
    const { page } = await openWith({
      "GET ": { destinations: [delayed()] }, "GET /id/set-aside": { events: [refused(12), refused(14)], cursor: null, has_more: false },
      "GET /id/preview": (search) => (search.includes("ocsf") ? { format: "ocsf", records: [{ class_uid: 3002, message: MARKUP }] } : { format: "json", records: [{ id: EVENT_ID, n: 1, actor: { name: MARKUP } }] }),
    }, options);
    await row(page, "12 events, 31 s").getByText("delayed").waitFor();
    await row(page, "12 events, 31 s").getByRole("button", { name: "Open" }).click();
    await page.locator("pre", { hasText: `503: busy ${MARKUP} ⟨U+202E⟩` }).waitFor();
    await row(page, "the ones before are tried as well").waitFor();
    await row(page, `400 ${MARKUP}`).first().waitFor();
    await page.getByRole("button", { name: "Preview" }).click();
    await page.locator(".records pre", { hasText: EVENT_ID }).waitFor();
    await page.getByLabel("Format of the preview").selectOption("ocsf");
    await page.locator(".records pre", { hasText: "3002" }).waitFor();
    await expectAccessible(page);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= page.viewportSize().width, `${width} wide`);
    await close(page);
  }
});

test("the form of each kind sends its fields and no others", async () => {
  const { page, requests } = await openWith({ "GET ": { destinations: [] }, "POST ": { destination: delayed({ name: "x" }) } });
  const fill = async (fields) => {
    for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
  };
  const headers = "Headers, one “name: value” per line";
  const secretHeaders = "Secret headers, one “name: value” per line";
  const kinds = [
    ["https", { URL: "https://a.example/x", [headers]: "x-team: security\nx-url: https://b.example", [secretHeaders]: "authorization: Bearer abc" },
      { url: "https://a.example/x", framing: "array", headers: { "x-team": "security", "x-url": "https://b.example" } }, { headers: { authorization: "Bearer abc" } }],
    ["s3", { "URL of the bucket, with a prefix": "https://s3.example/b/p", Region: "eu-central-1", "Access key": "AK", "Secret key": "SK" },
      { url: "https://s3.example/b/p", region: "eu-central-1", compress: true }, { access_key: "AK", secret_key: "SK" }],
    ["splunk_hec", { "URL of the collector": "https://s.example:8088", Index: "audit", Token: "T" }, { url: "https://s.example:8088", index: "audit" }, { token: "T" }],
    ["datadog", { Site: "datadoghq.eu", "API key": "K" }, { site: "datadoghq.eu" }, { api_key: "K" }],
    ["otlp", { "URL of the receiver": "https://o.example:4318" }, { url: "https://o.example:4318" }, {}],
    ["syslog", { Host: "l.example", Port: "6514", "Client certificate, PEM": "C", "Client key, PEM": "D" }, { host: "l.example", port: 6514 }, { client_certificate: "C", client_key: "D" }],
  ];
  for (const [kind, fields, settings, credentials] of kinds) {
    await page.getByLabel("Kind").selectOption(kind);
    await fill({ Name: kind, "Only actions": "auth.*, *.deleted", "Only tenants, one id per line": "a,b\nc", ...fields });
    await expectAccessible(page);
    await page.getByRole("button", { name: "Create destination" }).click();
    await page.getByText(`${kind}: stored.`).waitFor();
    assert.deepEqual(requests.splice(0), [["POST ", {
      name: kind, format: "json", include_raw: false, kind, settings, credentials, filter: { actions: ["auth.*", "*.deleted"], tenant_ids: ["a,b", "c"] },
    }]]);
  }
  await close(page);
});

test("an edit sends credentials only if they are replaced", async () => {
  const { page, requests } = await openWith({
    "GET ": { destinations: [delayed()] }, "GET /id/set-aside": { events: [], cursor: null, has_more: false }, "PATCH /id": { destination: delayed() },
  });
  const edit = async () => {
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("button", { name: "Edit" }).click();
  };
  await edit();
  await page.getByRole("button", { name: "Store changes" }).click();
  await page.getByRole("button", { name: "Create destination" }).waitFor();
  const kept = { name: `SIEM ${MARKUP}`, format: "json", include_raw: false, filter: { actions: ["auth.*"], tenant_ids: ["a,b"] } };
  assert.deepEqual(requests.splice(0), [["PATCH /id", kept]]);
  await edit();
  await page.getByLabel("Replace settings and all credentials").check();
  await page.getByLabel("Token").fill("new");
  await page.getByRole("button", { name: "Store changes" }).click();
  await page.getByRole("button", { name: "Create destination" }).waitFor();
  const settings = { url: "https://splunk.example.com:8088", sourcetype: "audit-log" };
  assert.deepEqual(requests.splice(0), [["PATCH /id", { ...kept, settings, credentials: { token: "new" } }]]);
  await page.getByRole("button", { name: "Send now" }).click();
  await page.getByText("The next attempt is made now.").waitFor();
  assert.deepEqual(requests.splice(0), [["PATCH /id", { paused: false }]]);
  await close(page);
});

test("a destination in OCSF gives classes to actions, and a fault is beside its field", async () => {
  const page = await openConsole(server, "destinations");
  const classOf = (number) => page.getByRole("group", { name: `Class ${number}`, exact: true });
  const stored = async () => (await request(server, "GET", "/destinations", { key: server.master })).destinations.map(({ ocsf_classes }) => ocsf_classes);
  await page.getByLabel("Name", { exact: true }).fill("lake");
  await page.getByLabel("URL", { exact: true }).fill("https://127.0.0.1:9/ingest");
  assert.equal(await page.getByRole("button", { name: "Add a class" }).count(), 0);
  await page.getByLabel("Format").selectOption("ocsf");
  for (const [number, action] of [[1, "user.hired"], [2, "invoice.*"], [3, `paid ${MARKUP}`]]) {
    await page.getByRole("button", { name: "Add a class" }).click();
    await classOf(number).getByLabel("Action").fill(action);
  }
  await classOf(2).getByLabel(/^Class/).selectOption("3001 Account Change");
  await classOf(2).getByLabel(/^Activity/).selectOption("3 Password Change");
  await page.getByRole("button", { name: "Create destination" }).click();
  const fault = classOf(3).locator(".fault");
  await fault.waitFor();
  const action = classOf(3).getByLabel("Action");
  assert.equal(await action.getAttribute("aria-invalid"), "true");
  assert.equal(await action.getAttribute("aria-describedby"), await fault.getAttribute("id"));
  assert.equal(await page.locator(".fault").count(), 1);
  await expectAccessible(page);
  // The fault stays with its row, until that is changed.
  await classOf(1).getByRole("button", { name: "Remove class 1" }).click();
  await classOf(2).locator(".fault").waitFor();
  await classOf(2).getByLabel("Action").fill(" employee.hired ");
  await page.locator(".fault").waitFor({ state: "detached" });
  // An activity that the class does not have.
  await classOf(1).getByLabel(/^Class/).selectOption("3005 User Access Management");
  assert.equal(await classOf(1).getByLabel(/^Activity/).inputValue(), "99");
  await classOf(2).getByLabel(/^Class/).selectOption("3001 Account Change");
  await classOf(2).getByLabel(/^Activity/).selectOption("1 Create");
  await page.getByRole("button", { name: "Create destination" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "I have stored it" }).click();
  const invoice = { action: "invoice.*", class_uid: 3005, activity_id: 99 };
  assert.deepEqual(await stored(), [[invoice, { action: "employee.hired", class_uid: 3001, activity_id: 1 }]]);
  await page.getByRole("button", { name: "Edit" }).click();
  assert.equal(await classOf(2).getByLabel("Action").inputValue(), "employee.hired");
  assert.equal(await classOf(2).getByLabel(/^Class/).inputValue(), "3001");
  await classOf(2).getByRole("button", { name: "Remove class 2" }).click();
  await page.getByRole("button", { name: "Store changes" }).click();
  await page.getByRole("button", { name: "Create destination" }).waitFor();
  assert.deepEqual(await stored(), [[invoice]]);
  const { destinations } = await request(server, "GET", "/destinations", { key: server.master });
  await request(server, "DELETE", `/destinations/${destinations[0].id}`, { key: server.master });
  await closePage(page);
});

test("a replay is counted before it starts, and events that were set aside are sent again", async () => {
  let replay = null;
  const { page, requests } = await openWith({
    "GET ": () => ({ destinations: [delayed({ replay })] }),
    "GET /id/set-aside": (search) => (search.includes("next") ? { events: [refused(14)], cursor: null, has_more: false } : { events: [refused(12)], cursor: "next", has_more: true }),
    "POST /id/replay": { from_seq: 120, end_seq: 30_120, count: { matching: 40, looked_at: 20_000 }, replay: null },
    "DELETE /id/replay": { deleted: true },
    "POST /id/set-aside/resend": { events: [{ run: 0, position: 14, verdict: "refused", status: 400, request: "POST", response: MARKUP }], remaining: 2 },
  });
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByRole("button", { name: "Show more" }).click();
  await row(page, "314 in the log").getByRole("button", { name: "Resend" }).click();
  await page.getByRole("listitem").filter({ hasText: `position 14: refused 400 ${MARKUP}` }).waitFor();
  await page.getByRole("button", { name: "Resend the first ten" }).click();
  await eventually(() => assert.equal(requests.length, 2));
  assert.deepEqual(requests.splice(0), [["POST /id/set-aside/resend", { run: 0, positions: [14] }], ["POST /id/set-aside/resend", {}]]);
  await page.getByLabel("Received from").fill("2026-01-15T00:00:00");
  await page.getByLabel("Received before").fill("2026-01-16T00:00:00");
  await page.getByRole("button", { name: "Count" }).click();
  await page.getByText("40 of the first 20,000 events pass the filter; the range has 30,000.").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Start the replay" }).click();
  replay = { number: 1_768_474_800_000, position: 3, cursor_seq: 123, end_seq: 30_120, state: "active" };
  await page.getByRole("dialog").getByRole("button", { name: "Start the replay" }).click();
  await page.getByText("it is at 123 of 30,120 in the log").waitFor();
  replay = null;
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Count" }).waitFor();
  // The browser is in Berlin.
  const [from, to] = ["2026-01-14T23:00:00.000Z", "2026-01-15T23:00:00.000Z"];
  assert.deepEqual(requests, [["POST /id/replay", { from, to, dry_run: true }], ["POST /id/replay", { from_seq: 120, to }], ["DELETE /id/replay", null]]);
  await close(page);
});
