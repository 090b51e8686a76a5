// The recorder: what flush and close promise to several callers at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AuditClient, type AuditClientOptions, type NewEvent } from "audit-server-client";

const EVENT: NewEvent = { action: "a.b", category: "auth", tenant_id: "t", actor: { id: "u", type: "user" } };
const REFUSAL = { error: { code: "validation_error", message: "no", details: [{ field: "[0].action", message: "no" }] }, request_id: "req_x" };

/** A client of a service that responds in this way to a request with so many events. */
function client(respond: (events: number) => Response | Promise<Response>, options: Partial<AuditClientOptions> = {}): AuditClient {
  const serve: typeof fetch = async (_, init) => respond((JSON.parse(init!.body as string) as unknown[]).length);
  return new AuditClient({ baseUrl: "http://127.0.0.1:1", apiKey: "pk_live_x", backoffMs: 1, fetch: serve, onDelayed: () => undefined, ...options });
}

function stored(events: number): Response {
  const ids = Array.from({ length: events }, (_, index) => `evt_${index}`);
  return Response.json({ ids, redacted_count: 0, request_id: "req_x" }, { status: 201 });
}

test("a flush includes the events that wait for room", async () => {
  const audit = client(stored, { queueEventsMax: 10 });
  for (let n = 0; n < 20; n += 1) {
    void audit.record(EVENT);
  }
  assert.equal(await audit.flush(), true);
  assert.deepEqual(audit.stats(), { stored: 20, failed: 0, dropped: 0, pending: 0, middlewareErrors: 0 });
  await audit.close();
});

test("two calls of close report each event that is left once", async () => {
  const failed: string[] = [];
  const audit = client(() => new Response("", { status: 503 }), { onFailed: (_, error) => failed.push(error.name) });
  await audit.record(EVENT);
  await audit.record(EVENT);
  assert.deepEqual(await Promise.all([audit.close({ deadlineMs: 20 }), audit.close({ deadlineMs: 20 })]), [false, false]);
  assert.deepEqual(failed, ["ClosedError", "ClosedError"]);
  assert.deepEqual(audit.stats(), { stored: 0, failed: 2, dropped: 0, pending: 0, middlewareErrors: 0 });
});

test("each of two flushes at once is told of a loss", async () => {
  const audit = client(() => Response.json(REFUSAL, { status: 400 }));
  await audit.record(EVENT);
  assert.deepEqual(await Promise.all([audit.flush(), audit.flush()]), [false, false]);
  assert.equal(await audit.flush(), true);
  await audit.close();
});

test("a flush does not wait for a Retry-After beyond its deadline, and nothing is sent before it", async () => {
  const requests: number[] = [];
  const audit = client((events) => {
    requests.push(events);
    return requests.length > 1 ? stored(events) : new Response("", { status: 503, headers: { "Retry-After": "1" } });
  });
  await audit.record(EVENT);
  const begin = performance.now();
  // The first one sends; the others come while the attempt after it is waited for.
  const [first, second] = await Promise.all([audit.flush({ deadlineMs: 900 }), audit.flush({ deadlineMs: 50 })]);
  assert.deepEqual([first, second, requests.length], [false, false, 1]);
  assert.equal(await audit.flush(), true);
  assert.ok(performance.now() - begin >= 995);
  await audit.close();
});

test("a function of the application that throws or rejects ends neither a record nor the process", async (context) => {
  const errors = context.mock.method(console, "error", () => undefined);
  const broken = (): never => {
    throw new Error("broken");
  };
  const rejecting = (async () => broken()) as () => never;
  let isRefusing = true;
  const respond = (events: number): Response => (isRefusing ? Response.json(REFUSAL, { status: 400 }) : stored(events));
  const audit = client(respond, { onFailed: broken, onStored: rejecting, onDropped: broken, overflow: "drop_newest", queueEventsMax: 10 });
  assert.equal(await audit.record({ ...EVENT, action: "Not valid" }), false);
  for (let n = 0; n < 11; n += 1) {
    await audit.record(EVENT);
  }
  await audit.flush();
  isRefusing = false;
  await audit.record(EVENT);
  assert.equal(await audit.close(), true);
  assert.deepEqual(audit.stats(), { stored: 1, failed: 11, dropped: 1, pending: 0, middlewareErrors: 0 });
  assert.equal(errors.mock.callCount(), 13);
});
