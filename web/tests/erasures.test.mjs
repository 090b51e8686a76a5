// The section Erasures and the notices of the viewer, with responses of the test: an erasure takes a grace period.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closePage, eventually, expectAccessible, openConsole, openPage, row, startBrowser, startServer, stopBrowser, stopServer, store, viewerToken } from "./kit.mjs";

let server;
let ids;
const MARKUP = "<img src=x onerror=\"window.pwned='erasure'\">";
const ID = "ers_01M7YB69J3GMC5VKW830MM535B";
const DIGEST = `sha256:${"ab".repeat(32)}`;
const TIME = "2026-11-02T02:00:00.000Z";

before(async () => {
  server = await startServer();
  await startBrowser();
  ids = await store(server, [{
    action: "user.updated", category: "admin", tenant_id: "acme", actor: { id: "u_1", type: "user", name: "Anna Berger" }, target: { id: "u_2", type: "user" },
  }]);
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

const erasure = (changes) => ({
  id: ID, environment: "live", state: "listing", extent: "person", basis: "gdpr_17", ticket: "DSR-118", created_at: TIME, created_by: "key_1", read: 0, size: 40, events: 0,
  rows: 0, held: 0, digest: null, not_before: null, planned_seq: null, erased_seq: null, erased_at: null, done_at: null, waiting_for: null, out_of_reach: [], ...changes,
});

/** An API of erasures with one erasure, which the test changes. `sent` has the requests. */
async function withErasures(page, found) {
  const api = { found, events: [], cursor: null, sent: [] };
  await page.route(/\/api\/v1\/erasures/, (route) => {
    const made = route.request();
    const { pathname, search } = new URL(made.url());
    const [, , , , , action] = pathname.split("/");
    if (made.method() !== "GET") api.sent.push([made.method(), pathname.replace("/api/v1/erasures", ""), made.postDataJSON()]);
    if (made.method() === "POST") api.found = { ...api.found, ...(api.next ?? erasure({})) };
    if (made.method() === "DELETE") api.found = undefined;
    if (action === "events") {
      const isSecond = search.includes("cursor=");
      return route.fulfill({ json: { events: isSecond ? api.rest : api.events, has_more: !isSecond && api.cursor !== null, cursor: isSecond ? null : api.cursor } });
    }
    if (pathname.endsWith("/erasures") && made.method() === "GET") return route.fulfill({ json: { erasures: api.found ? [api.found] : [] } });
    const missing = { status: 404, json: { error: { code: "not_found", message: "erasure not found" }, request_id: "req_1" } };
    return route.fulfill(api.found || made.method() === "DELETE" ? { json: { erasure: api.found ?? erasure({ state: "cancelled" }) } } : missing);
  });
  return api;
}

test("an erasure is requested, checked, confirmed with its id, and cancelled", async () => {
  const page = await openConsole(server, "overview");
  const api = await withErasures(page, undefined);
  await page.getByRole("link", { name: "Erasures", exact: true }).click();
  await page.getByText("No erasures.").waitFor();
  await expectAccessible(page);
  await page.getByLabel("Ids, one a line").fill("usr_42\n\nusr_43");
  await page.getByLabel("Names and addresses").fill("Doe, Jane");
  await page.getByLabel("All parts:").check();
  await page.getByLabel("Ticket").fill("DSR-118");
  await page.getByRole("button", { name: "Find the events" }).click();
  await page.getByText("Reading the log: 0 of 40 events").waitFor();
  assert.deepEqual(api.sent.pop(), ["POST", "", { extent: "all", basis: "gdpr_17", ticket: "DSR-118", identifiers: { ids: ["usr_42", "usr_43"], texts: ["Doe, Jane"] } }]);

  // The page reads it again by itself.
  const event = (seq, changes) => ({ seq, id: ids[0], occurred_at: TIME, action: "user.updated", row: false, parts: ["actor.id", "metadata"], ...changes });
  const out = [{ kind: "destination", name: `Splunk ${MARKUP}`, detail: "has some of these events" }, { kind: "backup", name: null, detail: "restore, then erase again" }];
  Object.assign(api, { events: [event(7, { action: MARKUP }), event(9)], rest: [event(12, { row: true, parts: [] })], cursor: "9" });
  api.found = erasure({ state: "listed", read: 40, events: 3, rows: 1, held: 2, digest: DIGEST, out_of_reach: out });
  await row(page, "actor.id, metadata").first().waitFor();
  await page.getByText("Nothing is erased before you confirm this list.").waitFor();
  await page.getByText("restore, then erase again").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Show more" }).click();
  await row(page, "the whole event").waitFor();
  const after = `sha256:${"cd".repeat(32)}`;
  Object.assign(api, { next: { events: 2, digest: after }, events: [event(9)] });
  await page.getByRole("button", { name: "Exclude event 7" }).click();
  await page.getByText("Event 7 was excluded.").waitFor();
  await page.getByText(after).waitFor();
  assert.deepEqual(api.sent.pop(), ["POST", `/${ID}/exclude`, { seqs: [7] }]);

  api.next = { state: "planned", not_before: TIME, planned_seq: 41 };
  await page.getByRole("button", { name: "Confirm this list" }).click();
  const confirm = page.getByRole("dialog").getByRole("button", { name: "Erase after the grace period" });
  assert.ok(await confirm.isDisabled(), "the id was not typed");
  await page.getByRole("dialog").getByLabel(/To confirm/).fill(ID);
  await confirm.click();
  await page.getByText("Until then you can cancel.").waitFor();
  assert.deepEqual(api.sent.pop(), ["POST", `/${ID}/confirm`, { digest: after }]);
  assert.equal(await page.getByRole("button", { name: /Exclude|Confirm this list/ }).count(), 0);

  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByText("1 erasure is open; events will be erased, not before").waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Cancel this erasure" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the erasure" }).click();
  await page.getByText("No erasures.").waitFor();
  await page.getByText("The erasure was cancelled.").waitFor();
  assert.deepEqual(api.sent.pop(), ["DELETE", `/${ID}`, null]);
  await closePage(page);
});

test("an erasure that is carried out cannot be cancelled, and one that is done says so", async () => {
  const page = await openPage(server);
  const api = await withErasures(page, erasure({ state: "erasing", events: 2, digest: DIGEST, planned_seq: 41, erased_seq: 42, erased_at: TIME }));
  await page.goto(`${server.url}/console#/erasures?erasure=${ID}`);
  await page.getByLabel("Key").fill(server.master);
  await page.getByLabel("Key").press("Enter");
  await page.getByText("It cannot be cancelled any more.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Cancel this erasure" }).count(), 0);
  api.events = [{ seq: 7, id: null, occurred_at: null, action: null, row: true, parts: [] }];
  api.found = { ...api.found, state: "done", done_at: TIME };
  await page.getByText("2 events: erased.").waitFor();
  await row(page, "the whole event").getByText("removed").waitFor();
  api.found = undefined;
  await page.getByRole("link", { name: "All erasures" }).click();
  await page.getByText("No erasures.").waitFor();
  await page.goBack();
  await page.getByText("This erasure does not exist, or it was cancelled.").waitFor();
  await closePage(page);
});

/** Edits the event that the viewer opens. */
const changeEvent = (page, change) => page.route(`**/api/v1/events/${ids[0]}`, async (route) => {
  const body = await (await route.fetch()).json();
  change(body.event);
  return route.fulfill({ json: body });
});

test("the viewer says which parts of an event were erased, and when", async () => {
  const page = await openConsole(server, "overview");
  await changeEvent(page, (event) => {
    event.erased = [{ seq: 42, parts: ["actor.id", "actor.name", "network", "metadata"] }];
    event.actor = { type: "user" };
  });
  const removals = [40, 42].map((seq) => ({ seq, kind: "erasure", action: "audit.events.erased", first_seq: null, end_seq: null, events: 1, digest: DIGEST, at: `2026-11-${seq - 30}T02:00:00.000Z` }));
  await page.route("**/api/v1/log/removals*", (route) => route.fulfill({ json: { removals } }));
  await page.evaluate((id) => (location.hash = `#/events?event=${id}`), ids[0]);
  await page.getByText(/Parts of this event were erased on Thu.*12 Nov 2026.*\./).waitFor();
  assert.equal(await page.getByText("10 Nov 2026").count(), 0, "the time of another erasure");
  const names = page.locator("audit-log-event dd").filter({ hasText: /^erased$/ });
  await eventually(async () => assert.equal(await names.count(), 6, "id, name, on behalf of, address, location, metadata"));
  await page.locator("audit-log-event").getByRole("button", { name: "u_2" }).waitFor();
  await expectAccessible(page);
  await closePage(page);
});

test("a tenant sees in its language that parts were erased, and that an event was removed", async () => {
  const token = await viewerToken(server, "acme", { tier: "full" });
  const page = await openPage(server, { locale: "de-DE" });
  await changeEvent(page, (event) => (event.erased = [{ seq: 42, parts: ["metadata"] }]));
  let asked = 0;
  page.on("request", (made) => (asked += made.url().includes("/log/removals") ? 1 : 0));
  await page.goto(`${server.url}/portal#token=${token}&event=${ids[0]}`);
  await page.getByText("Teile dieses Ereignisses wurden gelöscht. ").waitFor();
  assert.equal(asked, 0, "a viewer cannot read the removals");
  await page.goto(`${server.url}/portal`);

  await page.route(`**/api/v1/events/${ids[0]}`, (route) =>
    route.fulfill({ status: 410, json: { error: { code: "event_removed", message: "removed" }, request_id: "req_1" } }));
  await page.goto(`${server.url}/portal#token=${token}&event=${ids[0]}`);
  const notice = page.locator(".notice", { hasText: "Dieses Ereignis wurde nach Ablauf seiner Aufbewahrungsfrist entfernt" });
  await notice.waitFor();
  await notice.getByRole("button", { name: "Schließen" }).click();
  await notice.waitFor({ state: "detached" });
  await closePage(page);
});
