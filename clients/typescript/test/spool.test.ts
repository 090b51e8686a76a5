// The spool as such: what it survives, and its limits. spool-kill.test.ts kills processes.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, test, type TestContext } from "node:test";
import { AuditClient, type NewEvent } from "audit-server-client";
import { openSpool, type Spool } from "audit-server-client/spool";
import { temporaryDirectory } from "./server.js";

let directory: string;
let spools: Spool[] = [];

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(async () => {
  await Promise.all(spools.map((spool) => spool.close()));
  spools = [];
  rmSync(directory, { recursive: true });
});

async function opened(options: { bytesMax?: number } = {}): Promise<Spool> {
  const spool = await openSpool({ directory, ...options });
  spools.push(spool);
  return spool;
}

function segments(): string[] {
  return readdirSync(directory).filter((name) => name.endsWith(".spool")).map((name) => join(directory, name)).sort();
}

async function reopened(): Promise<Spool> {
  await spools.at(-1)!.close();
  return opened();
}

test("events that are not settled are there again, in order, and settled ones are not", async () => {
  const spool = await opened();
  await Promise.all(["a", "b", "c", "d"].map((text) => spool.append(JSON.stringify({ text }))));
  assert.deepEqual(await spool.oldest(3), ['{"text":"a"}', '{"text":"b"}', '{"text":"c"}']);
  await spool.settle(2);
  assert.equal(spool.pending, 2);
  const again = await reopened();
  assert.equal(again.pending, 2);
  await again.append('{"text":"e"}');
  assert.deepEqual(await again.oldest(10), ['{"text":"c"}', '{"text":"d"}', '{"text":"e"}']);
  await again.settle(3);
  const empty = await reopened();
  assert.deepEqual([empty.pending, await empty.oldest(10)], [0, []]);
});

test("a torn last record is not an event, wherever it was torn", async () => {
  const spool = await opened();
  await spool.append('{"text":"a"}');
  await spool.append('{"text":"ü"}');
  await spool.close();
  const [file] = segments() as [string];
  const whole = readFileSync(file);
  const first = whole.indexOf(10) + 1;
  for (let length = first; length < whole.length; length += 1) {
    writeFileSync(file, whole.subarray(0, length));
    const again = await reopened();
    assert.deepEqual([again.pending, again.damaged, await again.oldest(10)], [1, 0, ['{"text":"a"}']], `${length} bytes`);
    assert.equal(statSync(file).size, first);
  }
  appendFileSync(file, Buffer.alloc(100));
  const again = await reopened();
  await again.append('{"text":"b"}');
  assert.deepEqual(await again.oldest(10), ['{"text":"a"}', '{"text":"b"}']);
});

test("a damaged record in the middle is counted, kept in a copy, and does not hide the others", async () => {
  const spool = await opened();
  await Promise.all(["a", "b", "c"].map((text) => spool.append(JSON.stringify({ text }))));
  await spool.close();
  const [file] = segments() as [string];
  const damaged = readFileSync(file);
  damaged[damaged.indexOf('"b"') + 1] = 0x78;
  writeFileSync(file, damaged);
  const again = await reopened();
  assert.deepEqual([again.pending, again.damaged, await again.oldest(10)], [2, 1, ['{"text":"a"}', '{"text":"c"}']]);
  assert.deepEqual(readFileSync(file.replace(/spool$/, "damaged")), damaged);
});

test("a lost or unreadable position sends everything again", async () => {
  const spool = await opened();
  await spool.append('{"text":"a"}');
  await spool.oldest(1);
  await spool.settle(1);
  for (const text of ["", "{", '{"segment":"x","offset":0}']) {
    await spools.at(-1)!.close();
    writeFileSync(join(directory, "position.json"), text);
    assert.equal((await opened()).pending, 1);
  }
});

test("segments are removed when their events are settled, and the limit counts what is not", async () => {
  const spool = await opened({ bytesMax: 20 * 1024 * 1024 });
  const entry = JSON.stringify({ text: "x".repeat(1_000_000) });
  let count = 0;
  for (; spool.hasRoom(entry.length); count += 1) {
    await spool.append(entry);
  }
  assert.equal(count, 20);
  assert.ok(segments().length >= 2);
  for (; count > 0; count -= 5) {
    assert.equal((await spool.oldest(5)).length, 5);
    await spool.settle(5);
  }
  assert.equal(segments().length, 1);
  assert.ok(spool.hasRoom(19 * 1024 * 1024));
});

/** Lets this method of open files fail: once, or until it is restored. */
async function failing(context: TestContext, method: "datasync" | "sync" | "write", times?: number): Promise<{ restore: () => void }> {
  const file = await open(directory);
  const prototype = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
  const fails = (): Promise<never> => Promise.reject(new Error("ENOSPC"));
  return context.mock.method(prototype, method, fails, times === undefined ? {} : { times }).mock;
}

test("on a full disk settled events make room, and empty segments are not kept", async (context) => {
  const spool = await opened();
  const settled = async (text: string) => {
    await spool.append(JSON.stringify({ text }));
    assert.deepEqual(await spool.oldest(2), [JSON.stringify({ text })]);
    await spool.settle(1);
  };
  await settled("a");
  await failing(context, "write", 1);
  await settled("b");
  assert.equal(segments().length, 1);
  const full = await failing(context, "write");
  await assert.rejects(spool.append("{}"), /written to the spool/);
  await assert.rejects(spool.append("{}"), /written to the spool/);
  assert.deepEqual([spool.pending, segments()], [0, []]);
  full.restore();
  await settled("c");
  assert.equal((await reopened()).pending, 0);
});

test("what is not settled stays when a write or a sync fails", async (context) => {
  const spool = await opened();
  await spool.append('{"text":"a"}');
  for (const [method, text] of [["write", "b"], ["datasync", "c"], ["sync", "d"]] as const) {
    const failure = await failing(context, "datasync");
    await assert.rejects(spool.append('{"text":"x"}'), /written to the spool/);
    failure.restore();
    await failing(context, method, 1);
    await assert.rejects(spool.append('{"text":"x"}'), /written to the spool/);
    await spool.append(JSON.stringify({ text }));
  }
  const expected = ["a", "b", "c", "d"].map((text) => JSON.stringify({ text }));
  assert.deepEqual(await spool.oldest(9), expected);
  assert.deepEqual(await (await reopened()).oldest(9), expected);
  assert.equal(segments().length, 4);
});

test("one process at a time uses a spool, and a dead one does not hold it", async () => {
  const module = new URL(import.meta.resolve("audit-server-client/spool")).href;
  const other = (tail: string) =>
    spawnSync(process.execPath, ["--input-type=module", "-e", `
      const { openSpool } = await import(${JSON.stringify(module)});
      const spool = await openSpool({ directory: ${JSON.stringify(directory)} }).catch((error) => console.log(error.message));
      ${tail}`], { encoding: "utf8" });
  await opened();
  await assert.rejects(openSpool({ directory }), /in use by this process/);
  assert.match(other("").stdout, /in use by another process/);
  await spools[0]!.close();
  // It leaves its lock behind: no exit handler runs.
  assert.equal(other('await spool.append("{}"); process.kill(process.pid, "SIGKILL");').signal, "SIGKILL");
  assert.equal((await opened()).pending, 1);
});

test("a lock of a process that does not live any more is taken over", async () => {
  writeFileSync(join(directory, "lock.7"), JSON.stringify({ pid: 2 ** 22 + 1, started: null }));
  await opened();
  assert.deepEqual(readdirSync(directory).filter((name) => name.startsWith("lock.")), ["lock.8"]);
});

test("a zombie does not hold a spool", { skip: process.platform !== "linux" ? "only Linux tells" : false }, async () => {
  // Its parent lives and does not ask for its status, as a supervisor that starts the next process first.
  const program = "import os,sys\npid = os.fork()\nif pid == 0: os.kill(os.getpid(), 9)\nos.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)\nprint(pid, flush=True)\nsys.stdin.read()";
  const parent = spawn(process.env["PYTHON"] ?? "python3", ["-c", program], { stdio: ["pipe", "pipe", "inherit"] });
  const [text] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(text.toString());
  assert.ok(process.kill(pid, 0));
  writeFileSync(join(directory, "lock.7"), JSON.stringify({ pid, started: null }));
  await opened();
  parent.stdin.end();
  await once(parent, "exit");
});

test("a full spool refuses events as the caller wants it, and refused events are on the disk", async () => {
  const event: NewEvent = { action: "a.b", category: "auth", tenant_id: "t", actor: { id: "u", type: "user" } };
  const refusal = { error: { code: "validation_error", message: "no", details: [{ field: "[0].action", message: "no" }] }, request_id: "req_x" };
  let status = 503;
  const client = new AuditClient({
    baseUrl: "http://127.0.0.1:1",
    apiKey: "pk_live_x",
    backoffMs: 1,
    spool: await opened({ bytesMax: 300 }),
    overflow: "drop_newest",
    fetch: () => Promise.resolve(new Response(JSON.stringify(refusal), { status })),
  });
  assert.equal(await client.record(event), true);
  assert.equal(await client.record(event), false);
  assert.deepEqual(client.stats(), { stored: 0, failed: 0, dropped: 1, pending: 1, middlewareErrors: 0 });
  status = 400;
  assert.equal(await client.close(), false, "one was dropped, and one refused");
  assert.equal(client.stats().failed, 1);
  const [line] = readFileSync(join(directory, "refused.jsonl"), "utf8").trim().split("\n") as [string];
  const refused = JSON.parse(line) as { event: NewEvent; error: { code: string } };
  assert.deepEqual([refused.event.action, refused.error.code], ["a.b", "validation_error"]);
});

test("an event larger than the spool is refused, and does not block the others", async () => {
  const small: NewEvent = { action: "a.b", category: "auth", tenant_id: "t", actor: { id: "u", type: "user" } };
  const large = { ...small, metadata: { text: "x".repeat(1000) } };
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const client = new AuditClient({
    baseUrl: "http://127.0.0.1:1",
    apiKey: "pk_live_x",
    spool: await opened({ bytesMax: 300 }),
    fetch: async () => {
      await held;
      return Response.json({ ids: ["evt_1"], redacted_count: 0, request_id: "req_x" }, { status: 201 });
    },
  });
  await assert.rejects(client.record(large), { name: "QueueFullError" });
  assert.equal(await client.record(small), true);
  const waiting = [client.record(large), client.record(small)];
  release();
  const outcomes = await Promise.allSettled(waiting);
  assert.deepEqual(outcomes.map(({ status }) => status), ["rejected", "fulfilled"]);
  assert.equal(await client.close(), false, "two were dropped");
  assert.deepEqual(client.stats(), { stored: 2, failed: 0, dropped: 2, pending: 0, middlewareErrors: 0 });
});
