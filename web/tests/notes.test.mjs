// Notes on alerts, with a server that records its own events.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closePage, expectAccessible, openConsole, request, row, startBrowser, startServer, stopBrowser, stopServer, store } from "./kit.mjs";

let server;
let alert;
const MARKUP = "<img src=x onerror=\"window.pwned='note'\">";
const failure = { action: "auth.failed", category: "auth", tenant_id: "acme", actor: { id: "u_9", type: "user", name: "Nora Vale" } };

before(async () => {
  server = await startServer({ AUDIT_SELF_AUDIT: "on" });
  await startBrowser();
  await store(server, Array.from({ length: 5 }, () => failure));
  alert = (await request(server, "GET", "/alerts")).alerts.find(({ rule_id: rule }) => rule === "auth_brute_force");
});
after(async () => {
  await stopBrowser();
  await stopServer(server);
});

/** The rows of the history: status or note, the key, and the note. */
const history = async (page) => {
  const table = page.locator("table").filter({ has: page.getByRole("columnheader", { name: "Note" }) });
  const rows = await table.locator("tbody tr").all();
  return Promise.all(rows.map(async (one) => {
    const [status, , by, note] = (await one.locator("th, td").allTextContents()).map((text) => text.trim());
    return [status, by.split(" ")[0], note];
  }));
};

test("notes are written alone and with a status, and stay in the history of the alert", async () => {
  const page = await openConsole(server, `alerts?alert=${alert.id}`);
  const note = page.getByLabel("Note");
  await note.fill(`looking ${MARKUP}`);
  await page.getByRole("button", { name: "Add note" }).click();
  await row(page, "looking").waitFor();
  await note.fill("known address");
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await row(page, "known address").waitFor();
  await page.getByRole("button", { name: "Resolve" }).click();
  await page.locator("tbody .badge.resolved").first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Resolve" }).count(), 0);
  // Nothing was written of a field that is empty.
  await page.getByRole("button", { name: "Add note" }).click();
  await note.fill("It was the backup job.");
  await note.press("Enter");
  await row(page, "backup job").waitFor();
  assert.deepEqual(await history(page), [
    ["open", "the", ""],
    ["Note", "master", `looking ${MARKUP}`],
    ["acknowledged", "master", "known address"],
    ["resolved", "master", ""],
    ["Note", "master", "It was the backup job."],
  ]);
  await expectAccessible(page);
  const events = await request(server, "GET", `/events?tenant_id=audit-server&action=audit.alert.updated&target_id=${alert.id}`);
  assert.deepEqual(events.events.map(({ metadata }) => metadata.note).reverse(), [`looking ${MARKUP}`, "known address", undefined, "It was the backup job."]);
  await closePage(page);
});

test("a key that may not read events is told so, and can write notes", async () => {
  const body = { project_id: server.projectId, type: "project", name: "pager", environment: "live", scopes: ["alerts"] };
  const { key } = await request(server, "POST", "/keys", { key: server.master, body });
  const page = await openConsole(server, `alerts?alert=${alert.id}`, { key });
  await page.getByText("which this key does not read").waitFor();
  await page.getByLabel("Note").fill("seen by the pager");
  await page.getByRole("button", { name: "Add note" }).click();
  await page.getByText("Auth Brute Force: noted.").waitFor();
  await closePage(page);
  const [newest] = (await request(server, "GET", `/events?tenant_id=audit-server&target_id=${alert.id}&limit=1`)).events;
  assert.equal(newest.metadata.note, "seen by the pager");
});
