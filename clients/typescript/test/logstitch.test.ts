// That a program for the interface's published TypeScript client works with this one. The published package is in no registry:
// AUDIT_TEST_LOGSTITCH names a folder with it (package.json and dist), and the same program is compiled and run with both.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AuditNetworkError, InvalidEventError, QueueFullError } from "audit-server-client";
import { type EventInput, LogStitch, LogStitchError, type LogStitchOptions } from "audit-server-client/logstitch";
import { PACKAGE } from "./paths.js";
import { type Server, startServer } from "./server.js";

const run = promisify(execFile);
const OURS = '"audit-server-client/logstitch"';
const THEIRS = '"@logstitch/sdk"';
const PUBLISHED = process.env["AUDIT_TEST_LOGSTITCH"];
const SKIPPED = "AUDIT_TEST_LOGSTITCH is not set: a folder with the published package";
const DIRECTORY = fileURLToPath(new URL("build/logstitch/", PACKAGE));

const event = (n: number): EventInput => ({
  action: "user.created",
  category: "admin",
  tenant_id: "acme",
  actor: { id: "user_1", type: "user" },
  metadata: { n },
});

let server: Server;

before(async () => {
  server = await startServer();
});
after(() => server.stop());

/** What the program prints with an empty server. */
async function printed(program: string): Promise<string[]> {
  const fresh = await startServer();
  try {
    const env = { PATH: process.env["PATH"], AUDIT_URL: fresh.baseUrl, AUDIT_KEY: fresh.projectKey };
    return (await run(process.execPath, [program], { env })).stdout.trim().split("\n");
  } finally {
    await fresh.stop();
  }
}

const program = (): string => fileURLToPath(new URL("build/test/programs/logstitch.js", PACKAGE));

test("a program for the published client compiles and works with only its import changed", async () => {
  const range = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, n) => n));
  const error = (status: number, code: string): string => `["LogStitchError",true,${status},"${code}","req_",true]`;
  assert.deepEqual(await printed(program()), [
    "token: [null]",
    'batch: [2,0,"req_",1,1]',
    `pages: [3,null,${range(27)}]`,
    'found: [1,false,"document.shared",{"email":"[REDACTED]","id":"user_1","name":"Jane Doe","type":"user"},' +
      '{"id":"doc_1","name":"Report","type":"document"},' +
      '{"ip_address":"203.0.113.1","location":"Bern","session_id":"s_1","user_agent":"curl/8"},' +
      '{"nested":{"list":[1,2]},"role":"editor"},[{"after":"team","before":"private","field":"visibility"}]]',
    'stored: ["evt_","2026-01-15T10:30:00.000Z","program-1",71,24]',
    "all: [29]",
    'viewer: ["vt_",true,200,"req_"]',
    `onError: [[${error(401, "invalid_api_key")}]]`,
    `flush: [${error(401, "invalid_api_key")}]`,
    `logBatch: [${error(401, "invalid_api_key")}]`,
    `invalid: [${error(400, "validation_error")}]`,
    `empty: [${error(400, "validation_error")}]`,
    `list: [${error(400, "validation_error")}]`,
    `token: [${error(400, "validation_error")}]`,
    'made: [["LogStitchError",true,422,"validation_error","req_",true],["LogStitchError",true,502,"unknown_error","",true]]',
    "no key: [true]",
    'stream: ["4ab83020-1741-43cc-9dd1-29bbef9bdf1c",2,5,"active"]',
    "refused in a stream: [true]",
    "refused in a stream: [true]",
    'after close: [{"n":300}]',
  ]);
});

test("the published package compiles and prints the same", { skip: PUBLISHED === undefined && SKIPPED }, async () => {
  rmSync(DIRECTORY, { recursive: true, force: true });
  mkdirSync(`${DIRECTORY}node_modules/@logstitch`, { recursive: true });
  symlinkSync(PUBLISHED!, `${DIRECTORY}node_modules/@logstitch/sdk`);
  const source = readFileSync(new URL("test/programs/logstitch.ts", PACKAGE), "utf8");
  writeFileSync(`${DIRECTORY}program.mts`, source.replace(OURS, THEIRS));
  const compilerOptions = { module: "NodeNext", target: "ES2022", lib: ["ES2023"], strict: true, exactOptionalPropertyTypes: true, types: ["node"] };
  writeFileSync(`${DIRECTORY}tsconfig.json`, JSON.stringify({ compilerOptions, files: ["program.mts"] }));
  await run(process.execPath, [fileURLToPath(new URL("node_modules/typescript/bin/tsc", PACKAGE)), "-p", DIRECTORY]);
  const theirs = await printed(`${DIRECTORY}program.mjs`);
  // It prints the address of a stream too.
  assert.deepEqual(theirs.filter((line) => !line.startsWith("LogStitch Stream Mode")), await printed(program()));
});

test("options that are missing or wrong are named", () => {
  const options = { projectKey: "pk_live_x", baseUrl: "http://localhost:1" };
  const made = (changed: object) => () => new LogStitch({ ...options, ...changed } as LogStitchOptions);
  assert.throws(made({ projectKey: "" }), /LogStitch: projectKey/);
  assert.throws(made({ projectKey: undefined }), /LogStitch: projectKey/);
  assert.throws(made({ baseUrl: undefined }), /LogStitch: baseUrl/);
  assert.throws(made({ maxQueueSize: 0 }), /LogStitch: maxQueueSize/);
  assert.throws(made({ batchSize: 0 }), /LogStitch: batchSize/);
  assert.throws(made({ flushInterval: -1 }), /LogStitch: flushInterval/);
  assert.throws(() => LogStitch.stream({ baseUrl: "http://localhost:1", token: "mine" }), /LogStitch: token/);
});

test("a new stream prints its token, and a given one does not", (context) => {
  const log = context.mock.method(console, "log", () => undefined);
  const client = LogStitch.stream({ baseUrl: server.baseUrl });
  LogStitch.stream({ baseUrl: server.baseUrl, token: client.token! });
  assert.equal(log.mock.callCount(), 1);
  assert.match(String(log.mock.calls[0]!.arguments[0]), new RegExp(client.token!));
});

test("events beyond the queue are dropped silently, and counted; in strict mode log throws", async () => {
  const errors: Error[] = [];
  const options = { projectKey: server.projectKey, baseUrl: server.baseUrl, batchSize: 100, maxQueueSize: 3 };
  const client = new LogStitch({ ...options, onError: (error) => errors.push(error) });
  for (let n = 0; n < 5; n += 1) {
    await client.log(event(n));
  }
  await client.close();
  assert.deepEqual([client.stats(), errors], [{ stored: 3, failed: 0, dropped: 2, pending: 0, middlewareErrors: 0 }, []]);
  const strict = new LogStitch({ ...options, maxQueueSize: 1, strict: true });
  await strict.log(event(0));
  await assert.rejects(strict.log(event(1)), QueueFullError);
  await strict.close();
});

test("a burst is sent in requests of at most 100 events, and flush waits for all of them", async () => {
  const client = new LogStitch({ projectKey: server.projectKey, baseUrl: server.baseUrl, strict: true });
  for (let n = 0; n < 950; n += 1) {
    void client.log(event(n));
  }
  await client.flush();
  assert.deepEqual(client.stats(), { stored: 950, failed: 0, dropped: 0, pending: 0, middlewareErrors: 0 });
});

test("a partly refused batch says so: in the result and onError, and by an error in strict mode", async () => {
  const errors: Error[] = [];
  const options = { projectKey: server.projectKey, baseUrl: server.baseUrl };
  const client = new LogStitch({ ...options, onError: (error) => errors.push(error) });
  const events = [event(0), { ...event(1), action: "Wrong" }];
  const { ids, errors: refused } = await client.logBatch(events);
  assert.deepEqual([ids.length, refused?.map(({ index, code }) => [index, code])], [1, [[1, "validation_error"]]]);
  assert.match(errors[0]!.message, /^events\[1\]: .*; action: /);
  const strict = new LogStitch({ ...options, strict: true });
  await assert.rejects(strict.logBatch(events), (error) => error instanceof LogStitchError && error.status === 400);
});

test("what is not an event goes to onError, and is an error in strict mode", async () => {
  const errors: Error[] = [];
  const options = { projectKey: server.projectKey, baseUrl: server.baseUrl };
  const client = new LogStitch({ ...options, onError: (error) => errors.push(error) });
  const loop: Record<string, unknown> = {};
  loop["self"] = loop;
  await client.log({ ...event(0), metadata: loop });
  await client.log(undefined as unknown as EventInput);
  assert.ok(errors.length === 2 && errors.every((error) => error instanceof InvalidEventError));
  assert.equal(client.stats().dropped, 2);
  await assert.rejects(new LogStitch({ ...options, strict: true }).log({ ...event(0), metadata: loop }), InvalidEventError);
});

/** A server that answers everything with a status. */
async function answering(status: number, seen: IncomingMessage[]): Promise<HttpServer> {
  const answering = createServer((request, response) => {
    seen.push(request);
    request.resume().on("end", () => response.writeHead(status).end("not the service"));
  });
  await new Promise<void>((resolve) => answering.listen(0, "127.0.0.1", resolve));
  return answering;
}

test("a 503 is tried three times, reported once, and a 404 is not tried again", async () => {
  for (const [status, attempts] of [[503, 3], [404, 1]] as const) {
    const seen: IncomingMessage[] = [];
    const failing = await answering(status, seen);
    const errors: Error[] = [];
    const baseUrl = `http://127.0.0.1:${(failing.address() as AddressInfo).port}`;
    const client = new LogStitch({ projectKey: "pk_live_x", baseUrl, onError: (error) => errors.push(error) });
    await client.log(event(0));
    await client.log(event(1));
    await client.flush();
    failing.close();
    assert.equal(seen.length, attempts);
    assert.equal(errors.length, 1);
    assert.ok(errors[0] instanceof LogStitchError && errors[0].status === status && errors[0].code === "unknown_error");
    assert.deepEqual(client.stats(), { stored: 0, failed: 2, dropped: 0, pending: 0, middlewareErrors: 0 });
  }
});

test("a service that is away is an error of the network", async () => {
  const client = new LogStitch({ projectKey: "pk_live_x", baseUrl: "http://127.0.0.1:1", strict: true });
  await client.log(event(0));
  await assert.rejects(client.flush(), AuditNetworkError);
  await client.flush();
});
