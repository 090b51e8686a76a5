// Needs a running audit service: AUDIT_URL and AUDIT_KEY (a live project key).
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { AuditClient } from "audit-server-client";
import { AuditViewer } from "audit-server-client/browser";
import { createApp } from "./app.js";

const { AUDIT_URL: baseUrl, AUDIT_KEY: apiKey } = process.env;
const spoolDirectory = mkdtempSync(join(tmpdir(), "todo-"));
let audit, server, url;

before(async () => {
  const logKey = await new AuditClient({ baseUrl, apiKey }).log.key();
  let app;
  ({ app, audit } = await createApp({ baseUrl, apiKey, spoolDirectory, logKey }));
  server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${server.address().port}`;
});

after(async () => {
  server.close();
  server.closeAllConnections();
  await audit.close();
  rmSync(spoolDirectory, { recursive: true });
});

async function send(user, method, path, body) {
  const headers = { "X-User": user, "Content-Type": "application/json" };
  const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
}

test("a customer sees what its users did, and nothing of others, and can verify it", async () => {
  const { body: todo } = await send("alice@acme", "POST", "/todos", { title: "Write tests" });
  await send("alice@acme", "PATCH", `/todos/${todo.id}`, { done: true });
  await send("mallory@other", "POST", "/todos", { title: "Look around" });
  assert.equal((await send("mallory@other", "DELETE", `/todos/${todo.id}`)).status, 404);
  await send("bob@acme", "DELETE", `/todos/${todo.id}`);
  assert.equal((await send("nobody", "GET", "/todos")).status, 401);
  assert.equal(await audit.flush(), true);

  const { body: access } = await send("alice@acme", "GET", "/audit-access");
  const viewer = new AuditViewer({ baseUrl: access.baseUrl, token: access.token });
  const { events } = await viewer.list();
  assert.deepEqual(
    events.map(({ actor, action, target }) => `${actor.name} ${action} ${target.id}`).reverse(),
    [`alice todo.created ${todo.id}`, `alice todo.updated ${todo.id}`, `bob todo.deleted ${todo.id}`],
  );
  const { event } = await viewer.verify(events[1].id, { key: access.logKey });
  assert.deepEqual(event.changes, [{ field: "done", before: false, after: true }]);
  assert.equal(event.tenant_id, "acme");
});

test("the page and its modules are served", async () => {
  assert.match((await send("", "GET", "/")).body, /log\.js/);
  assert.match((await send("", "GET", "/client/browser.js")).body, /AuditViewer/);
});
