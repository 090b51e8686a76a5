// Client and server are killed (SIGKILL) at random while events go through the spool: the log has each event exactly once.
// AUDIT_KILL_EVENTS and AUDIT_KILL_COUNT make it longer; 100000 and 50 are the full proof.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { AuditClient } from "audit-server-client";
import { launch, temporaryDirectory } from "./server.js";

const EVENTS = Number(process.env["AUDIT_KILL_EVENTS"] ?? 2000);
const KILLS = Number(process.env["AUDIT_KILL_COUNT"] ?? 8);
const PRODUCER = fileURLToPath(new URL("./programs/producer.js", import.meta.url));

/** Random numbers that a seed repeats (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

test(`each of ${EVENTS} events is stored once through ${KILLS} kills`, async (context) => {
  const seed = Number(process.env["AUDIT_KILL_SEED"] ?? Date.now() % 1_000_000);
  context.diagnostic(`AUDIT_KILL_SEED=${seed}`);
  const next = random(seed);
  const directory = temporaryDirectory();
  const spool = join(directory, "spool");
  let { process: server, baseUrl, keys } = await launch(directory);
  const key = keys.find((text) => text.startsWith("pk_live_"))!;
  const port = Number(new URL(baseUrl).port);
  // Progress is the number of events recorded and stored. The kills are at random points of it; those behind its end come at the end.
  const points = Array.from({ length: KILLS }, () => next() * 2 * EVENTS).sort((a, b) => a - b);
  const kills = { client: 0, server: 0 };
  let recorded = 0;
  let stored = 0;

  /** Runs the producer until it is done (true) or killed. */
  async function produce(): Promise<boolean> {
    const producer = spawn(process.execPath, [PRODUCER, baseUrl, spool, String(recorded), String(EVENTS)], {
      env: { AUDIT_KEY: key },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(producer, "exit");
    for await (const line of createInterface({ input: producer.stdout })) {
      const [what, number] = line.split(" ", 2) as [string, string];
      assert.notEqual(what, "failed", line);
      recorded = what === "r" ? Number(number) : recorded;
      stored += what === "s" ? Number(number) : 0;
      if (what === "done") {
        assert.deepEqual(await exited, [0, null]);
        return true;
      }
      if (points.length === 0 || recorded + stored < points[0]!) {
        continue;
      }
      points.shift();
      if (next() < 0.5) {
        kills.client += 1;
        await kill(producer);
        return false;
      }
      kills.server += 1;
      await kill(server);
      ({ process: server } = await launch(directory, { port }));
    }
    throw new Error(`the producer ended: ${JSON.stringify(await exited)}`);
  }

  try {
    while (!(await produce())) {
      // killed: the next one continues
    }
    context.diagnostic(`kills of the client: ${kills.client}, of the server: ${kills.server}, not reached: ${points.length}`);
    const reader = new AuditClient({ baseUrl, apiKey: key });
    const counts = new Map<number, number>();
    for await (const { metadata } of reader.events.iterate({ tenant_id: "kill" })) {
      const n = metadata!["n"] as number;
      counts.set(n, (counts.get(n) ?? 0) + 1);
    }
    const missing = Array.from({ length: EVENTS }, (_, n) => n).filter((n) => !counts.has(n));
    const repeated = [...counts].filter(([, count]) => count > 1);
    assert.deepEqual([missing, repeated, counts.size], [[], [], EVENTS]);
  } finally {
    await kill(server);
    rmSync(directory, { recursive: true, force: true });
  }
});
