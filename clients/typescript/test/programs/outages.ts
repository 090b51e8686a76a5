// The program of clients/conformance/outages.py: URL KEY EVENTS SECONDS SCALE.
import { AuditClient, type NewEvent, QueueFullError } from "audit-server-client";

const [baseUrl, apiKey, ...numbers] = process.argv.slice(2);
const [events, seconds, scale] = numbers.map(Number) as [number, number, number];
/** Events between two looks at the clock. */
const TOGETHER = 20;
/** Of the service's time. */
const CLOSE_MS_MAX = 60_000;

function event(n: number): NewEvent {
  return { action: "invoice.updated", category: "mutation", tenant_id: "acme", actor: { id: "user_1", type: "user" }, metadata: { n } };
}

let reported = 0;
const client = new AuditClient({
  baseUrl: baseUrl!,
  apiKey,
  timeoutMs: 30_000 / scale,
  flushIntervalMs: 5000 / scale,
  blockMsMax: 30_000 / scale,
  backoffMs: 500 / scale,
  backoffMsMax: 30_000 / scale,
  onFailed: () => {
    reported += 1;
  },
  onDelayed: () => undefined,
});
let recorded = 0;
const began = performance.now();
for (let n = 0; n < events; n += 1) {
  try {
    recorded += Number(await client.record(event(n)));
  } catch (error) {
    if (!(error instanceof QueueFullError)) {
      throw error;
    }
  }
  const late = performance.now() - began - (seconds * 1000 * n) / events;
  if (n % TOGETHER === 0 && late < 0) {
    await new Promise((resolve) => setTimeout(resolve, -late));
  }
}
const before = client.stats();
await client.close({ deadlineMs: CLOSE_MS_MAX / scale });
console.log(JSON.stringify({ before: { ...before, recorded }, after: { ...client.stats(), recorded }, reported }));
