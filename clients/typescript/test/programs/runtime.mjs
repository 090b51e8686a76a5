// Uses the main parts of the client. Runs in Node, Deno and Bun; test/runtimes.test.ts starts it.
import assert from "node:assert/strict";
import process from "node:process";
import { AuditClient } from "audit-server-client";
import { openSpool } from "audit-server-client/spool";

const [tenant_id, directory] = process.argv.slice(2);
const audit = new AuditClient({
  baseUrl: process.env.AUDIT_URL,
  apiKey: process.env.AUDIT_KEY,
  spool: await openSpool({ directory }),
});
const event = { action: "user.created", category: "mutation", tenant_id, actor: { id: "user_1", type: "user" } };
for (let n = 0; n < 25; n += 1) {
  await audit.record({ ...event, metadata: { n } });
}
assert.equal(await audit.flush(), true);
const { ids } = await audit.ingest(event, { receipt: true });
const key = await audit.log.key();
assert.deepEqual((await audit.events.verify(ids[0], { key })).unverifiedParts, []);
assert.equal((await audit.events.verifyCompleteness(key, tenant_id)).size, 26);
const followed = [];
for await (const next of audit.events.follow({ via: "sse", filter: { tenant_id } })) {
  followed.push(next.event.metadata?.n);
  if (followed.length === 26) {
    break;
  }
}
assert.deepEqual(followed, [...Array(25).keys(), undefined]);
assert.equal(await audit.close(), true);
console.log("ok");
