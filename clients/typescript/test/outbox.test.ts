// The outbox on PostgreSQL, through `pg`, with the real server.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import test, { after, before, beforeEach } from "node:test";
import { fileURLToPath } from "node:url";
import { AuditClient, type AuditError, type NewEvent } from "audit-server-client";
import {
  OUTBOX_INSERT,
  OUTBOX_POSTGRESQL,
  OUTBOX_SQLITE,
  type OutboxDatabase,
  OutboxRelay,
  outboxRow,
  recordInOutbox,
} from "audit-server-client/outbox";
import pg from "pg";
import { PACKAGE } from "./paths.js";
import { type Server, startServer } from "./server.js";

const DOCUMENT = readFileSync(new URL("../../docs/outbox.md", PACKAGE), "utf8");

let server: Server;
let audit: AuditClient;
let cluster: ChildProcess;
let pool: pg.Pool;
/** Why there is no PostgreSQL. */
let missing: string | undefined;
let tests = 0;
let tenant: string;

before(async () => {
  server = await startServer();
  audit = new AuditClient({ baseUrl: server.baseUrl, apiKey: server.projectKey });
  const program = fileURLToPath(new URL("../conformance/database.py", PACKAGE));
  cluster = spawn("python3", [program], { stdio: ["pipe", "pipe", "inherit"] });
  for await (const connectionString of createInterface({ input: cluster.stdout! })) {
    pool = new pg.Pool({ connectionString });
    return;
  }
  missing = "PostgreSQL (initdb) is not installed";
  assert.equal(process.env["AUDIT_TEST_REQUIRE_POSTGRES"], undefined, missing);
});

after(async () => {
  await audit.close();
  await server.stop();
  if (missing === undefined) {
    await pool.end();
    const exited = once(cluster, "exit");
    cluster.stdin!.end();
    await exited;
  }
});

beforeEach(async () => {
  tests += 1;
  tenant = `outbox_${tests}`;
  if (missing === undefined) {
    await pool.query(`DROP TABLE IF EXISTS audit_outbox, invoices; CREATE TABLE invoices (id INTEGER, state TEXT); ${OUTBOX_POSTGRESQL}`);
  }
});

/** A test that needs PostgreSQL. */
function onPostgres(name: string, run: () => Promise<void>): void {
  test(name, (context) => (missing === undefined ? run() : context.skip(missing)));
}

function event(n: number): NewEvent {
  return { action: "invoice.updated", category: "mutation", tenant_id: tenant, actor: { id: "user_1", type: "user" }, metadata: { n } };
}

/** `metadata.n` of the stored events, in the order in which they were stored. */
async function stored(tenant_id = tenant): Promise<unknown[]> {
  const { events } = await audit.events.feed({ tenant_id, limit: 200 });
  return events.map(({ metadata }) => metadata?.["n"]);
}

async function count(where: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(`SELECT count(*) FROM audit_outbox WHERE ${where}`);
  return Number(rows[0]!.count);
}

function relay(database: OutboxDatabase = pool, options: object = {}): OutboxRelay {
  return new OutboxRelay(database, { baseUrl: server.baseUrl, apiKey: server.projectKey, backoffMs: 0, ...options });
}

test("the document has the tables and the statements", () => {
  for (const statement of [OUTBOX_POSTGRESQL, OUTBOX_SQLITE, OUTBOX_INSERT]) {
    assert.ok(DOCUMENT.includes(statement), statement);
  }
});

test("a row is checked and has the key and the time of its event", () => {
  const row = outboxRow(event(1));
  const { tenant_id, idempotency_key, occurred_at } = JSON.parse(row.event) as NewEvent;
  assert.deepEqual([row.tenant_id, row.idempotency_key, typeof occurred_at], [tenant_id, idempotency_key, "string"]);
  assert.throws(() => outboxRow({ ...event(1), action: "Bad" }), { name: "InvalidEventError", message: /action: must/ });
  const circular: { self?: unknown } = {};
  circular.self = circular;
  assert.throws(() => outboxRow({ ...event(1), metadata: circular } as unknown as NewEvent), { name: "InvalidEventError" });
  assert.throws(() => relay(pool, { apiKey: undefined }), /apiKey is missing/);
});

/** The database. `stop` aborts when the relay has deleted rows. */
function stoppingAtDeletion(stop: AbortController): OutboxDatabase {
  return {
    query: async (sql, params) => {
      const result = await pool.query(sql, params);
      if (sql.startsWith("DELETE")) {
        stop.abort();
      }
      return result;
    },
  };
}

onPostgres("the example of the document records with its transaction, and relays", async () => {
  const example = /```js\nimport [^\n]+\n(.*?)```/s.exec(DOCUMENT)![1]!;
  const stop = new AbortController();
  const client = await pool.connect();
  const database = stoppingAtDeletion(stop);
  const variables = { AUDIT_URL: server.baseUrl, AUDIT_KEY: server.projectKey };
  const run = new Function("client", "pool", "process", "signal", "OutboxRelay", "recordInOutbox", `return (async () => {${example}})();`);
  await (run(client, database, { env: variables }, stop.signal, OutboxRelay, recordInOutbox) as Promise<void>);
  client.release();
  assert.deepEqual([await stored("umbrella"), await count("true")], [[undefined], 0]);
});

onPostgres("a commit stores the event once, and a rollback none", async () => {
  const client = await pool.connect();
  for (const [n, end] of ["ROLLBACK", "COMMIT"].entries()) {
    await client.query("BEGIN");
    await recordInOutbox(client, event(n));
    await client.query(end);
  }
  client.release();
  assert.deepEqual(await relay().relayOnce(), { stored: 1, refused: 0, hasMore: false });
  assert.deepEqual(await relay().relayOnce(), { stored: 0, refused: 0, hasMore: false });
  assert.deepEqual([await stored(), await count("true")], [[1], 0]);
});

onPostgres("a relay that dies between acknowledgement and deletion stores nothing twice", async () => {
  await recordInOutbox(pool, event(0));
  await recordInOutbox(pool, event(1));
  const dying: OutboxDatabase = {
    query: (sql, params) => (sql.startsWith("DELETE") ? Promise.reject(new Error("killed")) : pool.query(sql, params)),
  };
  await assert.rejects(relay(dying).relayOnce(), /killed/);
  assert.deepEqual([await stored(), await count("true")], [[0, 1], 2]);
  assert.equal((await relay().relayOnce()).stored, 2);
  assert.deepEqual([await stored(), await count("true")], [[0, 1], 0]);
});

onPostgres("refused events are set aside, and those behind them are stored", async () => {
  const refused: string[] = [];
  const onRefused = (_: object, error: AuditError): number => refused.push(error.message);
  await recordInOutbox(pool, event(0));
  // The client refuses it now; an older version has recorded it.
  const long = { ...event(9), actor: { id: "user_1", type: "user", name: "x".repeat(513) }, idempotency_key: `long ${tenant}` };
  await pool.query(OUTBOX_INSERT, [tenant, "long", JSON.stringify(long)]);
  await recordInOutbox(pool, { ...event(9), metadata: { "a\0b": "\0" } });
  await pool.query(OUTBOX_INSERT, [tenant, "k", "not JSON"]);
  await recordInOutbox(pool, event(1));
  assert.deepEqual(await relay(pool, { onRefused }).relayOnce(), { stored: 2, refused: 3, hasMore: false });
  assert.deepEqual([await stored(), await count("error IS NULL"), await count("error IS NOT NULL")], [[0, 1], 0, 3]);
  assert.match(refused.join(), /actor\.name/);
});

onPostgres("rows that are not exactly one object are set aside and do not stop the relay", async () => {
  const [first, second] = [outboxRow(event(7)).event, outboxRow(event(8)).event];
  const wrong = [`${first},${second}`, `[${first}]`, "null", "", first.slice(1), `${first} ${second}`];
  await recordInOutbox(pool, event(0));
  for (const text of wrong) {
    await pool.query(OUTBOX_INSERT, [tenant, "k", text]);
  }
  await recordInOutbox(pool, event(1));
  const refused: string[] = [];
  const onRefused = (_: object, error: AuditError): number => refused.push(error.message);
  assert.deepEqual(await relay(pool, { onRefused }).relayOnce(), { stored: 2, refused: wrong.length, hasMore: false });
  assert.deepEqual([await stored(), await count("error IS NULL"), refused.length], [[0, 1], 0, wrong.length]);
  assert.equal(await count("error LIKE '%exactly one JSON object%'"), wrong.length);
});

onPostgres("relays at the same time keep the order and store nothing twice", async () => {
  for (let n = 0; n < 150; n += 1) {
    await recordInOutbox(pool, event(n));
  }
  const drain = async (): Promise<void> => {
    while ((await relay().relayOnce()).stored > 0);
  };
  await Promise.all([drain(), drain(), drain()]);
  assert.deepEqual([await stored(), await count("true")], [[...Array(150).keys()], 0]);
});

onPostgres("an outage and a refused key keep the rows until they are over", async () => {
  await recordInOutbox(pool, event(0));
  await assert.rejects(relay(pool, { apiKey: "pk_live_wrong" }).relayOnce(), { status: 401 });
  assert.equal(await count("error IS NULL"), 1);
  const delays: unknown[] = [];
  const stop = new AbortController();
  const options = {
    intervalMs: 0,
    onDelayed: (error: unknown) => delays.push(error),
    // Longer than the attempts of one request.
    fetch: (input: string, init: RequestInit) => (delays.length < 2 ? Promise.reject(new TypeError("away")) : fetch(input, init)),
  };
  const database = stoppingAtDeletion(stop);
  await relay(database, options).run(stop.signal);
  assert.deepEqual([await stored(), delays.length, await count("true")], [[0], 2, 0]);
});
