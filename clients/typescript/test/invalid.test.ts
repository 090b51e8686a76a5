// `record` reports an event that the service would refuse at once, and writes every value that JSON can express.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { AuditClient, type AuditClientOptions, type AuditError, InvalidEventError, type NewEvent } from "audit-server-client";
import { RecordingClient } from "audit-server-client/testing";
import { TABLES } from "./paths.js";

const CASES = JSON.parse(readFileSync(new URL("invalid-events.json", TABLES), "utf8")) as { field: string; event: NewEvent }[];
const ACCEPTED = JSON.parse(readFileSync(new URL("valid-events.json", TABLES), "utf8")) as { why: string; event: NewEvent }[];
const VALID: NewEvent = { action: "a.b", category: "auth", tenant_id: "t", actor: { id: "u", type: "user" } };

/** A client whose requests fail the test, unless `bodies` keeps them. */
function client(options: Partial<AuditClientOptions> = {}, bodies?: string[]): AuditClient {
  const serve: typeof fetch = async (_, init) => {
    assert.ok(bodies, "nothing is sent");
    bodies.push(init!.body as string);
    const ids = (JSON.parse(init!.body as string) as unknown[]).map((_, index) => `evt_${index}`);
    return Response.json({ ids, redacted_count: 0, request_id: "req_x" }, { status: 201 });
  };
  return new AuditClient({ baseUrl: "http://127.0.0.1:1", apiKey: "pk_live_x", fetch: serve, ...options });
}

for (const { field, event } of CASES) {
  test(`an invalid event is reported at once and by its field: ${JSON.stringify(event)}`, async () => {
    const failed: AuditError[] = [];
    const audit = client({ onFailed: (_, error) => failed.push(error) });
    const recorded = audit.record(event);
    assert.equal(failed.length, 1);
    assert.ok(failed[0] instanceof InvalidEventError && failed[0].message.includes(` ${field}: `), failed[0]?.message);
    assert.equal(await recorded, false);
    assert.deepEqual(audit.stats(), { stored: 0, failed: 1, dropped: 0, pending: 0, middlewareErrors: 0 });
    assert.deepEqual([await audit.flush(), await audit.close()], [false, true]);
    await assert.rejects(client({ raiseInvalid: true }).record(event), InvalidEventError);
    await assert.rejects(new RecordingClient().record(event), InvalidEventError);
  });
}

for (const { why, event } of ACCEPTED) {
  test(`what the service accepts is recorded: ${why}`, async () => {
    const bodies: string[] = [];
    const audit = client({ onFailed: (_, error) => assert.fail(error.message) }, bodies);
    assert.equal(await audit.record(event), true);
    assert.equal(await audit.flush(), true);
    assert.equal(await new RecordingClient().record(event), true);
    assert.equal(bodies.length, 1);
  });
}

test("NaN and infinity are invalid, by their field", async () => {
  for (const [metadata, field] of [
    [{ n: NaN }, "metadata.n"],
    [{ list: [null, { n: -Infinity }] }, "metadata.list[1].n"],
    [{ set: new Set([1, Infinity]) }, "[0]"],
    [{ n: NaN, big: 1n }, "metadata.n"],
  ] as [Record<string, unknown>, string][]) {
    const failed: AuditError[] = [];
    assert.equal(await client({ onFailed: (_, error) => failed.push(error) }).record({ ...VALID, metadata }), false);
    assert.ok(failed[0] instanceof InvalidEventError && failed[0].message.includes(`${field}: must be a number`), failed[0]?.message);
    await assert.rejects(client().ingest({ ...VALID, metadata }), InvalidEventError);
  }
});

test("a set is a sorted array and a map an object, as in Python; null and empty objects stay", async () => {
  const bodies: string[] = [];
  const audit = client({}, bodies);
  const metadata = { set: new Set(["b", "a", 2n ** 80n]), nested: [new Set([new Set([1]), null])], map: new Map([["k", new Set()]]), none: null, empty: {} };
  assert.equal(await audit.record({ ...VALID, metadata }), true);
  await audit.flush();
  const written = '{"set":["a","b",1208925819614629174706176],"nested":[[[1],null]],"map":{"k":[]},"none":null,"empty":{}}';
  assert.ok(bodies[0]!.includes(`"metadata":${written}`), bodies[0]);
});

test("what is not an event does not reject either, and is on the console without onFailed", async (context) => {
  const printed = context.mock.method(console, "error", () => undefined);
  const loop: Record<string, unknown> = {};
  loop["self"] = loop;
  for (const wrong of [undefined, [], { ...VALID, metadata: loop }, { ...VALID, metadata: { text: "x".repeat(70_000) } }]) {
    assert.equal(await client().record(wrong as NewEvent), false);
  }
  assert.equal(printed.mock.callCount(), 4);
});

test("a bigint keeps its digits, and half of a character is replaced", async () => {
  const bodies: string[] = [];
  const audit = client({}, bodies);
  const metadata = { big: 2n ** 80n, negative: -1n, text: "1n", half: "a\ud83d", other: "\udc00b", pair: "\ud83d\ude00", literal: "\\ud83d" };
  assert.equal(await audit.record({ ...VALID, metadata }), true);
  assert.equal(await audit.record({ ...VALID, metadata: { half: "\ud83d" } }), true);
  await audit.flush();
  assert.ok(bodies[0]!.includes('"big":1208925819614629174706176,"negative":-1,"text":"1n"'), bodies[0]);
  const [event, second] = JSON.parse(bodies[0]!) as NewEvent[];
  const { big: _, negative: __, ...texts } = event!.metadata!;
  assert.deepEqual(texts, { text: "1n", half: "a\ufffd", other: "\ufffdb", pair: "\ud83d\ude00", literal: "\\ud83d" });
  assert.deepEqual(second!.metadata, { half: "\ufffd" });
});
