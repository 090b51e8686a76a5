// All cases of the conformance kit (clients/conformance).
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { AuditClient, type AuditClientOptions, AuditError, type NewEvent, QueueFullError } from "audit-server-client";
import { openSpool } from "audit-server-client/spool";
import { PACKAGE } from "./paths.js";

const KIT = fileURLToPath(new URL("../conformance/server.py", PACKAGE));
const PYTHON = process.env["PYTHON"] ?? "python3";
const DEADLINE_MS = 60_000;

interface Step {
  do: "record" | "join" | "ingest" | "flush" | "close" | "restart" | "control";
  events?: NewEvent[];
  background?: boolean;
  deadline_ms?: number;
  path?: string;
  method?: string;
}

interface Case {
  name: string;
  needs: string[];
  client: Record<string, unknown>;
  do: Step[];
}

/** No fork: neither `child_process.fork` nor `cluster` copies the process. */
const OFFERED = [
  "spool",
  ...(process.platform === "linux" ? ["freeze"] : []),
  ...(JSON.parse(execFileSync(PYTHON, [KIT, "--offers"], { encoding: "utf8" })) as string[]),
];

interface Outcome {
  stored: string[];
  errors: { status: number | null; code: string | null }[];
  dropped: number;
  raised: number;
  pending: number;
  flushes: boolean[];
}

/** A runner: carries out the steps of one case. */
class Runner {
  readonly outcome: Outcome = { stored: [], errors: [], dropped: 0, raised: 0, pending: 0, flushes: [] };
  readonly #background: Promise<void>[] = [];
  readonly #directory = mkdtempSync(join(tmpdir(), "audit-conformance-"));
  #client!: AuditClient;

  constructor(readonly baseUrl: string, readonly options: Record<string, unknown>) {}

  async run(steps: readonly Step[]): Promise<Outcome> {
    this.#client = await this.#newClient();
    for (const step of steps) {
      await this.#step(step);
    }
    const { dropped, pending } = this.#client.stats();
    this.outcome.dropped += dropped;
    this.outcome.pending = pending;
    rmSync(this.#directory, { recursive: true });
    return this.outcome;
  }

  async #newClient(): Promise<AuditClient> {
    const known: Record<string, (value: never) => Partial<AuditClientOptions>> = {
      api_key: (apiKey: string) => ({ apiKey }),
      mode: () => ({}),
      claim_token: () => ({}),
      batch_events: (batchEvents: number) => ({ batchEvents }),
      flush_interval_ms: (flushIntervalMs: number) => ({ flushIntervalMs }),
      queue_events_max: (queueEventsMax: number) => ({ queueEventsMax }),
      overflow: (overflow: "block" | "drop_newest" | "error") => ({ overflow }),
      keep_unauthorized: (keepUnauthorized: boolean) => ({ keepUnauthorized }),
      block_ms_max: (blockMsMax: number) => ({ blockMsMax }),
      timeout_ms: (timeoutMs: number) => ({ timeoutMs }),
      backoff_ms_max: (backoffMsMax: number) => ({ backoffMsMax }),
      backoff_ms: (backoffMs: number) => ({ backoffMs }),
      retry_after_seconds_max: (retryAfterSecondsMax: number) => ({ retryAfterSecondsMax }),
      spool: () => ({}),
    };
    const translated = Object.entries(this.options).map(([name, value]) => {
      const option = known[name];
      assert.ok(option !== undefined, `the client has no option ${name}`);
      return option(value as never);
    });
    const { mode, claim_token: claimToken, spool } = this.options;
    return new AuditClient({
      baseUrl: this.baseUrl,
      ...(Object.assign({}, ...translated) as Partial<AuditClientOptions>),
      ...(mode === "stream" ? { stream: claimToken === undefined ? true : { claimToken: claimToken as string } } : {}),
      ...((spool ?? false) === false ? {} : { spool: await openSpool(typeof spool === "string" ? spool : this.#directory) }),
      onStored: (_, id) => this.outcome.stored.push(id),
      onFailed: (_, error) => this.#error(error),
    });
  }

  #error(error: AuditError): void {
    this.outcome.errors.push({ status: error.status ?? null, code: error.code ?? null });
  }

  async #step(step: Step): Promise<void> {
    const options = { deadlineMs: step.deadline_ms ?? DEADLINE_MS };
    switch (step.do) {
      case "record": {
        const recorded = this.#record(step.events ?? []);
        if (step.background === true) {
          this.#background.push(recorded);
        } else {
          await recorded;
        }
        return;
      }
      case "join":
        await Promise.all(this.#background);
        return;
      case "ingest":
        return this.#ingest(step.events![0]!);
      case "flush":
        this.outcome.flushes.push(await this.#client.flush(options));
        return;
      case "close":
        this.outcome.flushes.push(await this.#client.close(options));
        return;
      case "restart":
        await this.#client.close({ deadlineMs: 0 });
        this.outcome.dropped += this.#client.stats().dropped;
        this.#client = await this.#newClient();
        return;
      case "control": {
        const response = await fetch(this.baseUrl + step.path!, { method: step.method ?? "GET" });
        assert.equal(response.status, 200, `${step.path}: ${await response.text()}`);
        return;
      }
    }
  }

  async #record(events: readonly NewEvent[]): Promise<void> {
    for (const event of events) {
      try {
        await this.#client.record(event);
      } catch (error) {
        assert.ok(error instanceof QueueFullError || /written to the spool/.test(String(error)), String(error));
        this.outcome.raised += 1;
      }
    }
  }

  async #ingest(event: NewEvent): Promise<void> {
    try {
      const { ids } = await this.#client.ingest(event);
      this.outcome.stored.push(...ids);
    } catch (error) {
      assert.ok(error instanceof AuditError, String(error));
      this.#error(error);
    }
  }
}

async function hello(child: ChildProcess): Promise<{ base_url: string; case: Case }> {
  for await (const line of createInterface({ input: child.stdout! })) {
    return JSON.parse(line) as { base_url: string; case: Case };
  }
  throw new Error("the kit's server did not start");
}

const cases = JSON.parse(execFileSync(PYTHON, [KIT, "--list"], { encoding: "utf8", maxBuffer: 256 * 1024 * 1024 })) as Case[];
assert.ok(cases.length > 30);

for (const { name, needs } of cases) {
  const missing = needs.filter((need) => !OFFERED.includes(need));
  test(`conformance: ${name}`, { skip: missing.length > 0 ? `needs ${missing.join(", ")}` : false }, async () => {
    const child = spawn(PYTHON, [KIT, "--case", name], { stdio: ["ignore", "pipe", "inherit"] });
    const exited = once(child, "exit");
    try {
      const { base_url, case: served } = await hello(child);
      const outcome = await new Runner(base_url, served.client).run(served.do);
      const response = await fetch(`${base_url}/__report`, { method: "POST", body: JSON.stringify(outcome) });
      const verdict = (await response.json()) as { passed: boolean; problems: string[]; requests: unknown[] };
      assert.deepEqual(verdict.problems, [], JSON.stringify(verdict.requests));
      assert.deepEqual(await exited, [0, null]);
    } finally {
      child.kill("SIGKILL");
    }
  });
}
