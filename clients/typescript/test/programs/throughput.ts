// Events per second of the client. By hand:
//
//     AUDIT_URL=http://127.0.0.1:8080 AUDIT_KEY=pk_live_… node build/test/programs/throughput.js [EVENTS]
//
// Without AUDIT_URL it sends to a program that accepts everything without reading it: what the client itself takes.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AuditClient, type AuditClientOptions, type NewEvent } from "audit-server-client";
import { openSpool } from "audit-server-client/spool";

const EVENTS = Number(process.argv[2] ?? 50_000);
/** Calls of `record` at a time, as of a busy application. */
const CONCURRENT = 200;

function event(n: number): NewEvent {
  return {
    action: "invoice.updated",
    category: "mutation",
    tenant_id: `tenant_${n % 100}`,
    actor: { id: `user_${n % 1000}`, type: "user", name: "Jane Doe" },
    target: { id: `invoice_${n}`, type: "invoice" },
    context: { ip_address: "203.0.113.7", user_agent: "Mozilla/5.0 (X11; Linux x86_64)" },
    metadata: { n, note: "an event of about half a kilobyte as JSON, with an idempotency key" },
  };
}

async function measure(name: string, options: AuditClientOptions): Promise<void> {
  const client = new AuditClient(options);
  const start = performance.now();
  for (let n = 0; n < EVENTS; n += CONCURRENT) {
    await Promise.all(Array.from({ length: CONCURRENT }, (_, index) => client.record(event(n + index))));
  }
  if (!(await client.close({ deadlineMs: 600_000 }))) {
    throw new Error(JSON.stringify(client.stats()));
  }
  const { stored } = client.stats();
  console.log(`${name}: ${Math.round(stored / ((performance.now() - start) / 1000))} events/s`);
}

/** A server in another process that gives every event an id. */
function accept(): void {
  const ids = Array.from({ length: 100 }, (_, index) => `evt_${String(index).padStart(26, "0")}`);
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const count = text.split('"idempotency_key"').length - 1;
      response.writeHead(201, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ ids: ids.slice(0, count), redacted_count: 0, request_id: "req_x" }));
    });
  });
  server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));
}

async function main(): Promise<void> {
  const child = process.env["AUDIT_URL"] === undefined ? fork(fileURLToPath(import.meta.url), ["accept"]) : undefined;
  const port = child === undefined ? 0 : ((await once(child, "message")) as [number])[0];
  const shared = {
    baseUrl: process.env["AUDIT_URL"] ?? `http://127.0.0.1:${port}`,
    apiKey: process.env["AUDIT_KEY"] ?? "pk_live_x",
  };
  const directory = mkdtempSync(join(tmpdir(), "audit-throughput-"));
  await measure("defaults", shared);
  await measure("batches of 100", { ...shared, batchEvents: 100 });
  await measure("spool, batches of 100", { ...shared, batchEvents: 100, spool: await openSpool({ directory }) });
  rmSync(directory, { recursive: true });
  child?.kill();
}

if (process.argv[2] === "accept") {
  accept();
} else {
  await main();
}
