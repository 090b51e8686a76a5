// The console: what its address keeps, its first steps, its questions, and the pages of an alert and of a delivery.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { closePage, eventually, expectAccessible, facetValue, openConsole, openPage, picture, request, row, startBrowser, startServer, stopBrowser, stopServer, store } from "./kit.mjs";

let server;
const MARKUP = "<img src=x onerror=\"window.pwned='address'\">";
const login = (id, name, changes = {}) => ({
  action: "auth.failed", category: "auth", tenant_id: "acme", actor: { id, type: "user", name }, context: { ip_address: "203.0.113.7" }, outcome: "failure", ...changes,
});

before(async () => {
  server = await startServer({ AUDIT_SELF_AUDIT: "on" });
  await startBrowser();
  for (const [id, name] of [["u_1", `Anna ${MARKUP}`], ["u_2", "Marc Olsen"], ["u_3", "Inês Duarte"]]) await store(server, Array.from({ length: 5 }, () => login(id, name)));
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

const alertsOf = async (status) => (await request(server, "GET", `/alerts?status=${status}`)).alerts.filter(({ rule_id: rule }) => rule === "auth_brute_force");

/** Reloads the page, which stays signed in. */
async function reload(page) {
  await page.reload();
  await page.locator("nav a[aria-current]").waitFor();
}

/** Waits until the address has this, and fails if it has the key. */
const addressHas = async (page, text) => {
  await eventually(() => assert.ok(page.url().includes(text), page.url()), 20);
  assert.ok(!page.url().includes(server.master));
};

test("Back, Forward and a reload keep section, project, environment, filters and the open item", async () => {
  const { project } = await request(server, "POST", "/projects", { key: server.master, body: { name: "second" } });
  const page = await openConsole(server, "alerts");
  await addressHas(page, `project=${server.projectId}`);
  const [status, environment] = [page.getByLabel("Status"), page.getByLabel("Environment")];
  await row(page, "Auth Brute Force").first().waitFor();
  await status.selectOption("all");
  await addressHas(page, "status=all");
  await page.getByLabel("Severity").selectOption("high");
  await page.getByRole("link", { name: "Auth Brute Force" }).first().click();
  await page.getByRole("heading", { name: "History" }).waitFor();
  await addressHas(page, "alert=alt_");
  await environment.selectOption("test");
  await page.getByText("No alerts with this status").waitFor();
  await addressHas(page, "environment=test");
  assert.ok(!page.url().includes("alert=alt_"), "the alert is one of the other environment");
  await page.getByLabel("Project").selectOption(project.id);
  await addressHas(page, `project=${project.id}`);

  await reload(page);
  await page.getByText("No alerts with this status").waitFor();
  assert.deepEqual([await page.getByLabel("Project").inputValue(), await environment.inputValue(), await status.inputValue()], [project.id, "test", "all"]);
  await page.goBack();
  await eventually(async () => assert.equal(await page.getByLabel("Project").inputValue(), server.projectId));
  await page.goBack();
  await page.getByRole("heading", { name: "History" }).waitFor();
  assert.equal(await environment.inputValue(), "live");
  await reload(page);
  await page.getByRole("heading", { name: "History" }).waitFor();
  await page.goBack();
  await row(page, "Auth Brute Force").first().waitFor();
  assert.deepEqual([await status.inputValue(), await page.getByLabel("Severity").inputValue()], ["all", "high"]);
  await page.goForward();
  await page.getByRole("heading", { name: "History" }).waitFor();
  await closePage(page);
});

test("the view of the events is in the address, and Back returns to the view before", async () => {
  const page = await openConsole(server, "events");
  await page.locator(".line").first().waitFor();
  await facetValue(page, "Authentication").click();
  await addressHas(page, "category=auth");
  await page.locator(".line").first().click();
  await page.locator("audit-log-event h3", { hasText: "auth.failed" }).waitFor();
  await addressHas(page, "event=evt_");
  await page.getByRole("link", { name: "Usage and plan" }).click();
  await page.getByText("Enterprise").waitFor();
  await page.goBack();
  await page.locator("audit-log-event h3", { hasText: "auth.failed" }).waitFor();
  await reload(page);
  await page.locator("audit-log-event h3", { hasText: "auth.failed" }).waitFor();
  await page.goBack();
  await page.locator("audit-log-event").waitFor({ state: "detached" });
  assert.equal(await facetValue(page, "Authentication").getAttribute("aria-pressed"), "true");
  await page.goBack();
  await eventually(async () => assert.equal(await facetValue(page, "Authentication").getAttribute("aria-pressed"), "false"));
  await closePage(page);
});

test("a link to a project that the key does not show says so", async () => {
  const page = await openConsole(server, "usage?project=00000000-0000-4000-8000-000000000000");
  await page.getByRole("alert").filter({ hasText: "another project" }).waitFor();
  await page.getByRole("link", { name: "Alerts", exact: true }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await closePage(page);
});

test("the service's own events are behind a switch", async () => {
  await request(server, "PATCH", `/portal?project_id=${server.projectId}`, { key: server.master, body: { name: "Acme" } });
  const page = await openConsole(server, "events");
  const own = page.getByLabel(/own events/);
  await page.locator(".line", { hasText: "auth.failed" }).first().waitFor();
  assert.equal(await page.locator(".line", { hasText: "audit.portal.updated" }).count(), 0);
  for (const width of [768, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await expectAccessible(page);
    await picture(page, `console-events-${width}`, "windows");
  }
  await own.check();
  await page.locator(".line", { hasText: "audit.portal.updated" }).first().waitFor();
  await addressHas(page, "own=shown");
  await page.goBack();
  await page.locator(".line", { hasText: "audit.portal.updated" }).first().waitFor({ state: "detached" });
  assert.equal(await own.isChecked(), false);
  // A filter that asks for them shows them.
  await page.evaluate(() => (location.hash = "#/events?tenant_id=audit-server"));
  await page.locator(".line", { hasText: "audit.portal.updated" }).first().waitFor();
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await row(page, "Marc Olsen").filter({ hasText: "u_2" }).waitFor();
  assert.equal(await row(page, "audit.portal.updated").count(), 0);
  await picture(page, "console-overview", "windows");
  await closePage(page);
});

test("a new project has first steps, whose line turns green at the first event", async () => {
  const page = await openConsole(server, "keys");
  await page.getByLabel("New project: name").fill("shop");
  await page.getByRole("button", { name: "Create project", exact: true }).click();
  await page.getByRole("heading", { name: "First steps" }).waitFor();
  await page.getByText("Waiting for the first event").waitFor();
  await page.getByRole("button", { name: "Create a key that sends live events" }).click();
  await page.getByText("It is shown only now").waitFor();
  await expectAccessible(page);
  for (const width of [1440, 768, 320]) {
    await page.setViewportSize({ width, height: 900 });
    await picture(page, `console-first-steps-${width}`, "windows");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${wide} wide`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  const line = await page.locator("console-first-steps pre").last().textContent();
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByText("Copied.").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), line);
  const [, url, key, body] = /^curl -sS (\S+) -H "Authorization: Bearer (pk_live_\w+)" -H 'Content-Type: application\/json' -d '(.*)'$/.exec(line) ?? [];
  assert.ok(key, line);
  const response = await fetch(url, { method: "POST", headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }, body });
  assert.equal(response.status, 201);
  await page.locator("li.done", { hasText: "The first event has arrived" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "document.viewed" }).click();
  await page.locator("audit-log-event h3", { hasText: "document.viewed" }).waitFor();
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await page.getByText("events in 30 days").waitFor();
  assert.equal(await page.getByRole("heading", { name: "First steps" }).count(), 0);
  await closePage(page);
});

test("a built-in rule is switched off after a question", async () => {
  const enabled = async () => (await request(server, "GET", `/alerts/rules/password_spraying?project_id=${server.projectId}`, { key: server.master })).rule.enabled;
  const page = await openConsole(server, "rules");
  const dialog = page.getByRole("dialog");
  const box = row(page, "Password Spraying").getByRole("checkbox");
  await box.click();
  await dialog.getByText("raises no alert").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await box.isChecked(), true);
  assert.equal(await enabled(), true);
  await box.click();
  await dialog.getByRole("button", { name: "Switch off" }).click();
  await eventually(async () => assert.equal(await box.isChecked(), false));
  assert.equal(await enabled(), false);
  await box.click();
  await eventually(async () => assert.equal(await enabled(), true));
  await closePage(page);
});

test("the preview of a rule is beside its form", async () => {
  const page = await openConsole(server, "rules", { viewport: { width: 1440, height: 900 } });
  await page.getByLabel("Name").fill("Logins");
  await page.getByLabel("Action pattern").fill("auth.failed");
  const form = page.locator("form");
  const before = await form.boundingBox();
  await page.getByRole("button", { name: "Preview" }).last().click();
  const preview = page.getByRole("region", { name: "Preview" });
  await preview.getByText("would have raised").waitFor();
  const [after, beside] = [await form.boundingBox(), await preview.boundingBox()];
  assert.ok(beside.x >= after.x + after.width, "beside");
  assert.ok(Math.abs(beside.y - after.y) < 60, `${beside.y}, ${after.y}`);
  assert.equal(await page.getByLabel("Name").inputValue(), "Logins");
  assert.ok(before.x === after.x);
  await expectAccessible(page);
  await picture(page, "console-rules-1440", "windows");
  await page.setViewportSize({ width: 768, height: 900 });
  await expectAccessible(page);
  await picture(page, "console-rules-768", "windows");
  await closePage(page);
});

test("an alert has a page with its events and who changed it, and several are changed together", async () => {
  const [first] = await alertsOf("open");
  for (const width of [1440, 768]) {
    const page = await openConsole(server, `alerts?alert=${first.id}`, { viewport: { width, height: 900 } });
    await row(page, "auth.failed").first().getByText("203.0.113.7").waitFor();
    assert.equal(await row(page, "auth.failed").count(), 5);
    await expectAccessible(page);
    await picture(page, `console-alert-${width}`, "windows");
    await closePage(page);
  }
  const page = await openConsole(server, `alerts?alert=${first.id}`);
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await row(page, "acknowledged").filter({ hasText: "master" }).waitFor();
  await page.getByRole("link", { name: "All alerts" }).click();
  await row(page, "Auth Brute Force").nth(1).waitFor();
  assert.equal(await row(page, "Auth Brute Force").count(), 2);
  await page.getByRole("button", { name: "Choose all" }).click();
  await expectAccessible(page);
  for (const width of [768, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await picture(page, `console-alerts-${width}`, "windows");
  }
  const chosen = await page.getByLabel(/^Choose /).count();
  // Somebody else resolves one in the meantime: the others are acknowledged, and the page says which is not.
  const [other] = await alertsOf("open");
  await request(server, "PATCH", `/alerts/${other.id}`, { body: { status: "resolved" } });
  await page.getByRole("button", { name: /^Acknowledge \d+ chosen/ }).click();
  await page.getByRole("alert").filter({ hasText: `1 of ${chosen} alerts were not changed` }).waitFor();
  await page.getByText("No alerts with this status").waitFor();
  await page.getByLabel("Status").selectOption("acknowledged");
  await row(page, "Auth Brute Force").first().waitFor();
  await page.getByRole("button", { name: "Choose all" }).click();
  await page.getByRole("button", { name: /^Resolve \d+ chosen/ }).click();
  await page.getByRole("dialog").getByText("never becomes open again").waitFor();
  assert.equal((await alertsOf("acknowledged")).length, 2);
  await page.getByRole("dialog").getByRole("button", { name: "Resolve" }).click();
  await page.getByText("No alerts with this status").waitFor();
  assert.equal((await alertsOf("resolved")).length, 3);
  await closePage(page);
});

test("a delivery has a page that says what was wrong and what to do", async (t) => {
  const receiver = createServer((_, response) => response.writeHead(503).end());
  await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  t.after(() => receiver.close());
  const url = `https://127.0.0.1:${receiver.address().port}/hook?${encodeURIComponent(MARKUP)}`;
  const { webhook } = await request(server, "POST", `/alerts/webhooks?project_id=${server.projectId}`, { key: server.master, body: { url } });
  await store(server, Array.from({ length: 5 }, () => login("u_9", "Yusuf Kaya")));
  const page = await openConsole(server, `webhooks?webhook=${webhook.id}`);
  await eventually(async () => {
    await page.getByRole("button", { name: "Refresh" }).click();
    await row(page, "tls_failed").first().waitFor({ timeout: 500 });
  });
  await page.getByRole("link", { name: "alert.fired" }).click();
  await page.getByText("The certificate is not trusted").first().waitFor();
  await page.getByText("Check the certificate of the receiver").waitFor();
  await row(page, "Request").getByText("webhook-id: msg_").waitFor();
  await addressHas(page, "delivery=whd_");
  for (const width of [1440, 768]) {
    await page.setViewportSize({ width, height: 900 });
    await expectAccessible(page);
    await picture(page, `console-delivery-${width}`, "windows");
  }
  await reload(page);
  await page.getByRole("link", { name: "Auth Brute Force" }).click();
  await row(page, "Yusuf Kaya").first().waitFor();
  await page.goBack();
  await page.goBack();
  await page.getByRole("heading", { name: /^Deliveries to/ }).waitFor();
  await closePage(page);
});

test("a section that is left aborts its requests", async () => {
  const page = await openConsole(server, "streams");
  const held = [];
  await page.route(/\/api\/v1\//, (route) => void held.push(route));
  const sections = [["Overview", 7], ["Alerts", 1], ["Alert rules", 1], ["Webhooks", 1], ["Destinations", 1], ["Retention", 2], ["Erasures", 1], ["Redaction", 1], ["Viewer tiers", 1], ["Actions", 1], ["Portal", 1], ["Projects and keys", 1], ["Usage and plan", 1], ["Verifiable log", 3]];
  for (const [name, count] of sections) {
    const failed = [];
    const onFailed = (made) => failed.push(made.url());
    page.on("requestfailed", onFailed);
    await page.getByRole("link", { name, exact: true }).click();
    await eventually(() => assert.equal(held.length, count, name));
    await page.getByRole("link", { name: "Streams", exact: true }).click();
    await eventually(() => assert.equal(failed.filter((url) => url.includes("/api/v1/")).length, count, name));
    page.off("requestfailed", onFailed);
    held.length = 0;
  }
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await closePage(page);
});

test("a secret is copied on plain HTTP too, or the page says that it was not", async () => {
  const page = await openPage(server, { permissions: [] });
  await page.addInitScript(() => {
    Object.defineProperty(navigator, "clipboard", { value: undefined });
    document.execCommand = () => false;
  });
  await page.goto(`${server.url}/console#/keys`);
  await page.getByLabel("Key").fill(server.master);
  await page.getByLabel("Key").press("Enter");
  const form = page.locator("form").filter({ hasText: "Create project key" });
  await form.getByLabel("Name").fill("reporting");
  await form.getByRole("button", { name: "Create project key" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Copy" }).click();
  await page.getByRole("dialog").getByText("select the text and copy it").waitFor();
  await closePage(page);
});
