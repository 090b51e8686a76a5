// Records numbered events through a spool, and prints how far it is. Killed at random by the test.
//
//     node producer.js BASE_URL DIRECTORY FIRST COUNT      (the key in AUDIT_KEY)
//
// `r N`: all events below N are in the spool. `s N`: N more events are stored. `done`: all are.
import { AuditClient, type NewEvent } from "audit-server-client";
import { openSpool } from "audit-server-client/spool";

const [baseUrl, directory, first, count] = process.argv.slice(2) as [string, string, string, string];
const TOGETHER = 25;

function event(n: number): NewEvent {
  return {
    action: "invoice.updated",
    category: "mutation",
    tenant_id: "kill",
    actor: { id: "user_1", type: "user" },
    metadata: { n },
    // An event that is on the disk when the process dies, but was not confirmed, is recorded again by the next process. With a key
    // and a time of the program's own it is the same event.
    idempotency_key: `kill-${n}`,
    occurred_at: new Date(1_768_000_000_000 + n).toISOString(),
  };
}

const client = new AuditClient({
  baseUrl,
  apiKey: process.env["AUDIT_KEY"],
  spool: await openSpool({ directory }),
  batchEvents: 100,
  flushIntervalMs: 100,
  backoffMs: 20,
  onStored: (() => {
    let stored = 0;
    return () => {
      stored += 1;
      if (stored % 50 === 0) {
        process.stdout.write("s 50\n");
      }
    };
  })(),
  onFailed: (refused, error) => {
    process.stdout.write(`failed ${JSON.stringify(refused)} ${error.message}\n`);
  },
});
for (let n = Number(first); n < Number(count); ) {
  const numbers = Array.from({ length: Math.min(TOGETHER, Number(count) - n) }, (_, index) => n + index);
  await Promise.all(numbers.map((number) => client.record(event(number))));
  n += numbers.length;
  process.stdout.write(`r ${n}\n`);
}
// With a spool, a client that is being closed leaves what an outage delays to the next process. This one waits for the service first.
if (!(await client.flush({ deadlineMs: 600_000 })) || !(await client.close())) {
  throw new Error(`not all events are stored: ${JSON.stringify(client.stats())}`);
}
process.stdout.write("done\n");
