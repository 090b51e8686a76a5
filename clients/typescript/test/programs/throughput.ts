// Events per second of the client, each line the median of five runs, as the other clients measure it. By hand:
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

const EVENTS = Number(process.argv[2] ?? 20_000);
const RUNS = 5;
/** Calls of `record` at a time, as of a busy application. */
const CONCURRENT = 200;

function event(n: number): NewEvent {
  return {
    action: "invoice.updated",
    category: "mutation",
    tenant_id: `tenant_${n % 50}`,
    actor: { id: `user_${n % 1000}`, type: "user", name: "Jane Doe" },
    target: { id: String(n), type: "invoice" },
    context: { ip_address: "203.0.113.7", user_agent: "Mozilla/5.0" },
    metadata: { note: "a short text", total: n },
    changes: [{ field: "total", before: n - 1, after: n }],
  };
}

/** Events per second, from the first `record` to the response to the last batch. */
async function rate(options: AuditClientOptions, events: number): Promise<number> {
  const client = new AuditClient(options);
  // The connection is there already in an application that runs.
  await client.record(event(0));
  await client.flush();
  const start = performance.now();
  for (let n = 0; n < events; n += CONCURRENT) {
    await Promise.all(Array.from({ length: Math.min(CONCURRENT, events - n) }, (_, index) => client.record(event(n + index))));
  }
  const isDone = await client.flush({ deadlineMs: 600_000 });
  const seconds = (performance.now() - start) / 1000;
  await client.close();
  if (!isDone || client.stats().failed > 0) {
    throw new Error(`not everything was stored: ${JSON.stringify(client.stats())}`);
  }
  return events / seconds;
}

async function report(name: string, run: () => Promise<number>): Promise<void> {
  const runs: number[] = [];
  for (let n = 0; n < RUNS; n += 1) {
    runs.push(await run());
  }
  const [least, , median, , most] = runs.sort((a, b) => a - b).map(Math.round);
  console.log(`${name}: ${median} events/s (${least} to ${most})`);
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
  await report("defaults", () => rate(shared, EVENTS));
  await report("batches of 100", () => rate({ ...shared, batchEvents: 100 }, EVENTS));
  await report("batches of 100, spool", async () => {
    const directory = mkdtempSync(join(tmpdir(), "audit-throughput-"));
    try {
      return await rate({ ...shared, batchEvents: 100, spool: await openSpool({ directory }) }, EVENTS / 4);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
  child?.kill();
}

if (process.argv[2] === "accept") {
  accept();
} else {
  await main();
}
