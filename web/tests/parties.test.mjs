// The pages of actors and targets in the console.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closePage, eventually, expectAccessible, openConsole, request, row, startBrowser, startServer, stopBrowser, stopServer, store } from "./kit.mjs";

let server;
const DAY_MS = 86_400_000;
const MARKUP = "<img src=x onerror=\"window.pwned='party'\">";
const NORA = { id: `u_9 ${MARKUP}`, type: "user", name: "Nora Vale" };
const at = (days) => new Date(Date.now() - days * DAY_MS).toISOString();
const event = (changes) => ({
  action: "document.viewed", category: "access", tenant_id: "acme", actor: NORA, target: { id: "doc_1", type: "document", name: "Budget" },
  context: { ip_address: "203.0.113.7" }, occurred_at: at(2), ...changes,
});

before(async () => {
  server = await startServer();
  await startBrowser();
  await store(server, [
    event({ occurred_at: at(200), actor: { ...NORA, name: "Nora Old" } }),
    event(),
    event({ action: "document.updated", category: "mutation", occurred_at: at(1), context: { ip_address: "203.0.113.8" } }),
    event({ actor: { ...NORA, name: "N. Vale" } }),
    // Another person with the same id, and another actor of the same target.
    event({ tenant_id: "globex", actor: { ...NORA, name: "Somebody else" } }),
    event({ actor: { id: "u_1", type: "user", name: "Ann" } }),
  ]);
  await store(server, Array.from({ length: 5 }, () => event({ action: "auth.failed", category: "auth", target: undefined, occurred_at: undefined })));
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

const fact = (page, name) => page.locator(".facts tr").filter({ has: page.getByRole("rowheader", { name, exact: true }) }).locator("td");
/** The rows of a list of counts. */
const counts = async (page, title) => {
  const list = page.locator(".columns > div").filter({ has: page.getByRole("heading", { name: title }) });
  const rows = await list.locator("tbody tr").all();
  return Object.fromEntries(await Promise.all(rows.map((one) => one.locator("td").allTextContents())));
};
const names = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.split("?")[1])));

test("an alert leads to the page of its actor, which counts the events of its tenant", async () => {
  const page = await openConsole(server, "alerts");
  await row(page, "Auth Brute Force").getByRole("link", { name: "Nora Vale" }).click();
  await page.getByRole("heading", { name: "Actor" }).waitFor();
  await fact(page, "Id").waitFor();
  assert.equal(await fact(page, "Id").textContent(), NORA.id);
  assert.equal(await fact(page, "Names").textContent(), "Nora Vale, N. Vale");
  assert.equal(await fact(page, "Types").textContent(), "user");
  assert.equal(await fact(page, "Tenant").textContent(), "acme");
  assert.equal(await fact(page, "Events").textContent(), "8");
  assert.deepEqual(await counts(page, "By category"), { auth: "5", access: "2", mutation: "1" });
  assert.deepEqual(await counts(page, "By action"), { "auth.failed": "5", "document.viewed": "2", "document.updated": "1" });
  assert.deepEqual(await counts(page, "By address"), { "203.0.113.7": "7", "203.0.113.8": "1" });
  await eventually(async () => assert.equal(await page.locator("audit-log-viewer .line").count(), 8));
  await expectAccessible(page);
  // The period is in the address, and Back leads to the one before.
  const first = await fact(page, "First event").textContent();
  await page.locator("console-party .bar select").selectOption("all");
  await eventually(async () => assert.equal(await fact(page, "Events").textContent(), "9"));
  assert.match(await fact(page, "Names").textContent(), /Nora Old/);
  assert.notEqual(await fact(page, "First event").textContent(), first);
  assert.equal((await names(page)).days, "all");
  await page.goBack();
  await eventually(async () => assert.equal(await fact(page, "Events").textContent(), "8"));
  await page.getByRole("link", { name: "document.updated" }).first().click();
  await page.locator("console-events .line").first().waitFor();
  const { actor_id, tenant_id, action } = await names(page);
  assert.deepEqual({ actor_id, tenant_id, action }, { actor_id: NORA.id, tenant_id: "acme", action: "document.updated" });
  await closePage(page);
});

test("an event leads to the page of its target, and that to an erasure and a hold", async () => {
  const page = await openConsole(server, "events?target_id=doc_1&tenant_id=acme&action=document.updated");
  await page.locator(".line").first().click();
  await page.locator("audit-log-event").getByRole("link", { name: "Target" }).click();
  await page.getByRole("heading", { name: "Target" }).waitFor();
  await fact(page, "Names").waitFor();
  assert.equal(await fact(page, "Names").textContent(), "Budget");
  assert.equal(await fact(page, "Events").textContent(), "4");
  assert.deepEqual(await counts(page, "By category"), { access: "3", mutation: "1" });
  // An event on this page leads to the page of its actor.
  await page.locator(".line", { hasText: "Ann" }).click();
  await page.locator("audit-log-event").getByRole("link", { name: "Actor" }).click();
  await eventually(async () => assert.equal(await fact(page, "Names").textContent(), "Ann"));
  await page.goBack();
  await eventually(async () => assert.equal(await fact(page, "Names").textContent(), "Budget"));
  await page.getByRole("link", { name: "Place a hold" }).click();
  await page.getByRole("button", { name: "Place hold" }).waitFor();
  assert.equal(await page.locator("input[name=target_id]").inputValue(), "doc_1");
  assert.equal(await page.locator("input[name=tenant_id]").inputValue(), "acme");
  await page.goBack();
  await page.getByRole("link", { name: "Erase this person" }).click();
  await page.getByRole("button", { name: "Find the events" }).waitFor();
  assert.equal(await page.locator("textarea[name=ids]").inputValue(), "doc_1");
  // The address of the erasure names nobody.
  await page.getByRole("button", { name: "Find the events" }).click();
  await page.getByText("All erasures").waitFor();
  assert.equal((await names(page)).ids, undefined);
  await closePage(page);
});

test("a link without an id says so, and a project key is offered neither erasure nor hold", async () => {
  const page = await openConsole(server, "actor", { key: server.project });
  await page.getByText("The link names nobody").waitFor();
  await page.evaluate((hash) => (location.hash = hash), "#/actor?id=u_1");
  await fact(page, "Names").waitFor();
  assert.equal(await fact(page, "Names").textContent(), "Ann");
  assert.equal(await page.getByRole("link", { name: "Open in events" }).count(), 1);
  assert.equal(await page.getByRole("link", { name: "Erase this person" }).count(), 0);
  assert.equal(await page.locator("nav a", { hasText: "Actor" }).count(), 0);
  await closePage(page);
});
