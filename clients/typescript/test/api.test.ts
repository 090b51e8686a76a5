// All endpoints, against the real server.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import {
  AuditApiError,
  AuditClient,
  AuditNetworkError,
  AuditResponseError,
  EventRefusedError,
  type FollowedEvent,
  type NewEvent,
} from "audit-server-client";
import { AuditViewer } from "audit-server-client/browser";
import { openCheckpoint, VerificationError, verifyConsistency } from "audit-server-client/verify";
import { type Server, startServer } from "./server.js";

let server: Server;
let project: AuditClient;
let master: AuditClient;

before(async () => {
  server = await startServer({ AUDIT_WEBHOOK_ALLOW_PRIVATE: "true" });
  project = new AuditClient({ baseUrl: server.baseUrl, apiKey: server.projectKey });
  master = new AuditClient({ baseUrl: `${server.baseUrl}/api/v1/`, apiKey: server.masterKey });
});

after(async () => {
  await project.close();
  await master.close();
  await server.stop();
});

function event(fields: Partial<NewEvent> = {}): NewEvent {
  return { action: "user.created", category: "mutation", tenant_id: "acme", actor: { id: "user_1", type: "user" }, ...fields };
}

test("an event is ingested, read back and found by its filters", async () => {
  const sent = event({ tenant_id: "single", metadata: { n: 1 }, occurred_at: "2026-01-15T11:30:00+01:00" });
  const { ids, redacted_count, log } = await project.ingest(sent);
  assert.equal(ids.length, 1);
  assert.equal(redacted_count, 0);
  assert.ok(log!.size >= 1);
  const read = await project.events.get(ids[0]!);
  assert.equal(read.occurred_at, "2026-01-15T10:30:00.000Z");
  const found = await project.events.list({
    tenant_id: "single", action: "user.*", start_date: "2026-01-15T00:00:00Z", end_date: "2026-01-16T00:00:00Z",
  });
  assert.deepEqual(found.events.map(({ id }) => id), ids);
  assert.equal(found.has_more, false);
});

test("pages are iterated without gaps or repetitions", async () => {
  const events = Array.from({ length: 7 }, (_, n) => event({ tenant_id: "pages", metadata: { n } }));
  const { ids } = await project.ingest(events);
  const seen: string[] = [];
  for await (const { id } of project.events.iterate({ tenant_id: "pages", limit: 2 })) {
    seen.push(id);
  }
  assert.deepEqual(seen.sort(), [...ids].sort());
  const sizes: number[] = [];
  for await (const page of project.events.pages({ tenant_id: "pages", limit: 3 })) {
    sizes.push(page.events.length);
  }
  assert.deepEqual(sizes, [3, 3, 1]);
});

test("refused events of an array are in the result, and errors are typed", async () => {
  const wrong = event({ actor: { id: "x", type: "robot" as "user" } });
  const { ids, errors } = await project.ingest([event(), wrong]);
  assert.equal(ids.length, 1);
  assert.deepEqual(errors!.map(({ index, code }) => [index, code]), [[1, "validation_error"]]);
  await assert.rejects(project.ingest(wrong), (error) => {
    assert.ok(error instanceof AuditApiError);
    assert.deepEqual([error.status, error.code], [400, "validation_error"]);
    assert.deepEqual(error.details.map(({ field }) => field), ["actor.type"]);
    assert.match(error.requestId!, /^req_/);
    return true;
  });
  await assert.rejects(project.events.get("evt_01ARZ3NDEKTSV4RRFFQ69G5FAV"), { status: 404, code: "not_found" });
  const revoked = new AuditClient({ baseUrl: server.baseUrl, apiKey: "pk_live_nonsense" });
  await assert.rejects(revoked.events.list(), { status: 401, code: "invalid_api_key" });
  await assert.rejects(project.ingest(Array.from({ length: 101 }, () => event())), RangeError);
  const lost = new AuditClient({ baseUrl: "http://127.0.0.1:1", apiKey: "pk_live_x", backoffMs: 1 });
  await assert.rejects(lost.events.list(), AuditNetworkError);
  const other = new AuditClient({ baseUrl: `${server.baseUrl}/docs/..`, apiKey: "pk_live_x", fetch: () => Promise.resolve(new Response("hello")), backoffMs: 1 });
  await assert.rejects(other.events.list(), AuditResponseError);
});

test("recorded events are sent, and each outcome is reported", async () => {
  const stored: string[] = [];
  const failed: [string, string][] = [];
  const client = new AuditClient({
    baseUrl: server.baseUrl,
    apiKey: server.projectKey,
    onStored: (_, id) => stored.push(id),
    onFailed: (refused, error) => failed.push([refused.actor.id, `${error.name} ${error.code}`]),
  });
  const mutable = event({ tenant_id: "recorded", metadata: { n: 0 } });
  await client.record(mutable);
  mutable.metadata = { n: 1 };
  await client.record(event({ tenant_id: "recorded", actor: { id: "robot", type: "robot" as "user" } }));
  // Only the server refuses this one.
  await client.record(event({ tenant_id: "recorded", actor: { id: "torn", type: "user", name: "\0" } }));
  await client.record(event({ tenant_id: "recorded", metadata: { n: 2 } }));
  assert.equal(await client.close(), false, "two were refused");
  assert.deepEqual(client.stats(), { stored: 2, failed: 2, dropped: 0, pending: 0, middlewareErrors: 0 });
  assert.deepEqual(failed.map(([id]) => id).sort(), ["robot", "torn"]);
  const { events } = await project.events.list({ tenant_id: "recorded" });
  assert.deepEqual(events.map(({ id }) => id).sort(), [...stored].sort());
  assert.deepEqual(events.map(({ metadata }) => metadata).sort((a, b) => Number(a!["n"]) - Number(b!["n"])), [{ n: 0 }, { n: 2 }]);
  await assert.rejects(client.record(event()), { name: "ClosedError" });
  assert.ok(EventRefusedError);
});

test("the feed is followed by polls and by server-sent events, and continues from a cursor", async () => {
  const tenant_id = "feed";
  const { ids } = await project.ingest(Array.from({ length: 3 }, () => event({ tenant_id })));
  for (const via of ["poll", "sse"] as const) {
    const seen: FollowedEvent[] = [];
    const later: string[] = [];
    for await (const followed of project.events.follow({ via, filter: { tenant_id, ...(via === "poll" ? { limit: 1 } : {}) } })) {
      seen.push(followed);
      if (seen.length === ids.length + later.length && later.length === 0) {
        later.push(...(await project.ingest(event({ tenant_id }))).ids);
      } else if (seen.length > ids.length && later.includes(followed.event.id)) {
        break;
      }
    }
    assert.deepEqual(seen.map(({ event: { id } }) => id), [...ids, ...later]);
    const second = seen[1]!.cursor!;
    for await (const { event: next } of project.events.follow({ via, after: second, filter: { tenant_id } })) {
      assert.equal(next.id, seen[2]!.event.id);
      break;
    }
    ids.push(...later);
  }
  const abort = new AbortController();
  const waiting = project.events.follow({ via: "sse", filter: { tenant_id: "nobody" }, signal: abort.signal }).next();
  setImmediate(() => abort.abort());
  assert.deepEqual(await waiting, { done: true, value: undefined });
  await assert.rejects(project.events.follow({ after: "nonsense" }).next(), { status: 400 });
});

test("an export has all events", async () => {
  await project.ingest([event({ tenant_id: "export" }), event({ tenant_id: "export" })]);
  const text = await new Response(await project.events.export({ tenant_id: "export" })).text();
  assert.equal(text.trim().split("\n").map((line) => JSON.parse(line) as { tenant_id: string }).length, 2);
  const csv = await new Response(await project.events.export({ tenant_id: "export", format: "csv" })).text();
  assert.match(csv, /^id,occurred_at,/);
});

test("an event is verified whole by a key and in part by a viewer, and so is completeness", async () => {
  const tenant_id = "verified";
  // An integer beyond 2^53, which JSON.parse rounds.
  const big = '{"action":"user.created","category":"mutation","tenant_id":"verified","actor":{"id":"u","type":"user","email":"a"},"metadata":{"n":12345678901234567890,"x":1.5e-7}}';
  const response = await fetch(`${server.baseUrl}/api/v1/events`, {
    method: "POST",
    headers: { Authorization: `Bearer ${server.projectKey}`, "Content-Type": "application/json" },
    body: big,
  });
  const [id] = ((await response.json()) as { ids: [string] }).ids;
  const { receipts, log } = await project.ingest(event({ tenant_id }), { receipt: true });
  assert.match(receipts![0]!, /^c2sp.org\/tlog-proof@v1\n/);
  const key = await project.log.key();

  const whole = await project.events.verify(id, { key, sizeMin: log!.size });
  assert.deepEqual(whole.unverifiedParts, []);
  assert.deepEqual(whole.event["metadata"], { n: 12345678901234567890n, x: 1.5e-7 });
  assert.deepEqual((await project.events.verifyReceipt(id, { key })).event, whole.event);

  const { token } = await project.viewerTokens.create({ tenant_id, tier: "standard" });
  const viewer = new AuditViewer({ baseUrl: server.baseUrl, token });
  const partly = await viewer.verify(id, { key, log: whole.log });
  assert.deepEqual(partly.unverifiedParts, ["actor.email", "network", "client", "metadata"]);
  assert.equal("metadata" in partly.event, false);
  assert.equal(partly.event["action"], "user.created");
  assert.deepEqual((await viewer.verifyReceipt(id, { key })).unverifiedParts, partly.unverifiedParts);
  const complete = await viewer.verifyCompleteness(key);
  assert.deepEqual([complete.tenantId, complete.size, complete.newer], [tenant_id, 2, 0]);
  const nobody = await project.events.verifyCompleteness(key, "nobody");
  assert.equal(nobody.size, 0);

  const other = key.replace(/^[^+]+/, "another");
  await assert.rejects(project.events.verify(id, { key: other }), VerificationError);
  assert.throws(() => new AuditViewer({ baseUrl: server.baseUrl, token: server.projectKey }), TypeError);
});

test("a later checkpoint continues an earlier one", async () => {
  const key = await project.log.key();
  const first = await openCheckpoint(await project.log.checkpoint(), key);
  const { log } = await project.ingest(event(), { receipt: true });
  const second = await openCheckpoint(await project.log.checkpoint(), key);
  assert.ok(second.size >= log!.size && second.size > first.size);
  const { consistency } = await project.log.consistency(first.size, second.size);
  await verifyConsistency({ from: first, to: second, hashes: consistency.map((hash) => Buffer.from(hash, "base64")) });
  assert.equal((await project.log.tile(`0/000.p/${first.size}`)).length, 32 * first.size);
  assert.equal(typeof (await project.log.keyRotations()), "string");
  assert.ok((await project.log.tenants()).size >= second.size);
});

test("viewer tiers are administered", async () => {
  const tier = await master.viewerTiers.create({ name: "logins", categories: ["auth"], hidden_fields: ["context"] });
  assert.equal(tier.name, "logins");
  assert.deepEqual((await master.viewerTiers.update("logins", { categories: null })).categories, null);
  assert.ok((await master.viewerTiers.list()).some(({ name }) => name === "logins"));
  await master.viewerTiers.delete("logins");
  await assert.rejects(master.viewerTiers.delete("logins"), { status: 404 });
});

test("keys and projects are administered", async () => {
  const [own] = await master.projects.list();
  const created = await master.keys.create({ project_id: own!.id, name: "ci", environment: "test", scopes: ["events:write"] });
  assert.match(created.key, /^pk_test_/);
  const rotated = await master.keys.rotate(created.id, 60);
  assert.notEqual(rotated.id, created.id);
  await master.keys.revoke(created.id);
  const revoked = (await project.keys.list()).find(({ id }) => id === created.id);
  assert.notEqual(revoked!.revokedAt, null);
  const tester = new AuditClient({ baseUrl: server.baseUrl, apiKey: rotated.key });
  assert.equal((await tester.ingest(event())).ids.length, 1);
  await assert.rejects(tester.events.list(), { status: 403, code: "forbidden" });

  const another = await master.masterKeys.create({ name: "terraform", scopes: ["admin"] });
  assert.match(another.key, /^mk_/);
  const successor = await master.masterKeys.rotate(another.id, 0);
  await master.masterKeys.revoke(successor.id);
  assert.ok((await master.masterKeys.list()).length >= 3);
});

test("redaction rules are administered and tested", async () => {
  const rule = await master.redaction.createRule({ type: "pattern", name: "employee", pattern: "EMP-[0-9]{6}" });
  const tried = await project.redaction.test({ metadata: { note: "EMP-123456" } });
  assert.deepEqual(tried.metadata.redacted_rules, ["custom:employee"]);
  assert.equal((await master.redaction.updateRule(rule.id, { behavior: "mask" })).behavior, "mask");
  assert.ok((await project.redaction.listRules()).some(({ id }) => id === rule.id));
  await master.redaction.deleteRule(rule.id);
});

test("alert rules fire alerts, which are iterated and resolved", async () => {
  const rule = await master.alerts.rules.create({
    name: "deletions", action_pattern: "*.deleted", threshold: 2, window_seconds: 60, group_by: "actor_id", severity: "low",
  });
  assert.equal(rule.cooldown_seconds, 3600);
  for (const id of ["a", "b"]) {
    await project.ingest(Array.from({ length: 2 }, () => event({ action: "user.deleted", actor: { id, type: "user" } })));
  }
  const alerts = [];
  for await (const alert of project.alerts.iterate({ rule_id: rule.id, limit: 1 })) {
    alerts.push(alert);
  }
  assert.deepEqual(alerts.map(({ group_key }) => group_key).sort(), ["a", "b"]);
  assert.equal((await project.alerts.acknowledge(alerts[0]!.id)).status, "acknowledged");
  assert.equal((await project.alerts.resolve(alerts[0]!.id)).status, "resolved");
  await assert.rejects(project.alerts.acknowledge(alerts[0]!.id), { status: 409, code: "invalid_transition" });
  assert.equal((await master.alerts.rules.update(rule.id, { enabled: false })).enabled, false);
  assert.ok((await project.alerts.rules.list()).length > 5);
  await master.alerts.rules.delete(rule.id);
  assert.equal((await project.alerts.list({ severity: "low" })).alerts.length, 2);
});

test("webhooks and deliveries are administered", async () => {
  const webhook = await master.webhooks.create({ url: "https://127.0.0.1:1/alerts" });
  assert.match(webhook.secret, /^whsec_/);
  const delivery = await master.webhooks.test(webhook.id);
  assert.equal(delivery.type, "webhook.test");
  assert.equal((await master.webhooks.retryDelivery(delivery.id)).id, delivery.id);
  const found = [];
  for await (const entry of master.webhooks.iterateDeliveries(webhook.id)) {
    found.push(entry.id);
  }
  assert.deepEqual(found, [delivery.id]);
  assert.notEqual((await master.webhooks.rotateSecret(webhook.id)).secret, webhook.secret);
  assert.equal((await master.webhooks.update(webhook.id, { enabled: false })).enabled, false);
  assert.ok((await master.webhooks.list()).every(({ secret }) => secret !== webhook.secret));
  await master.webhooks.delete(webhook.id);
});

test("destinations are administered", async () => {
  await project.ingest(event({ tenant_id: "streamed_out" }));
  const created = await master.destinations.create({
    name: "SIEM", kind: "https", settings: { url: "https://127.0.0.1:1/events" }, filter: { tenant_ids: ["streamed_out"] }, paused: true,
  });
  assert.match(created.signing_secret!, /^whsec_/);
  assert.deepEqual([created.state, created.credentials], ["paused", ["signing_secret"]]);
  const { id } = created;
  assert.deepEqual((await master.destinations.list()).map(({ id }) => id), [id]);
  assert.deepEqual(await master.scoped({ environment: "test" }).destinations.list(), []);
  assert.equal((await master.destinations.test(id)).verdict, "retry");
  assert.equal((await master.destinations.update(id, { format: "ocsf" })).format, "ocsf");
  assert.equal((await master.destinations.preview(id)).format, "ocsf");
  assert.equal((await master.destinations.replay(id, { dry_run: true })).count!.matching, 1);
  const { replay } = await master.destinations.replay(id);
  assert.equal((await master.destinations.get(id)).replay!.number, replay!.number);
  await master.destinations.stopReplay(id);
  assert.equal((await master.destinations.get(id)).replay, null);
  for await (const { reason } of master.destinations.iterateSetAside(id)) {
    assert.fail(reason);
  }
  assert.deepEqual((await master.destinations.resendSetAside(id)).events, []);
  await master.destinations.delete(id);
  assert.deepEqual(await master.destinations.list(), []);
});

test("a stream takes events without a key and is claimed", async () => {
  const stream = new AuditClient({ baseUrl: server.baseUrl, stream: true });
  await stream.record(event({ tenant_id: "streamed" }));
  assert.equal(await stream.close(), true);
  const token = stream.claimToken!;
  const { status, event_count } = await master.streams.info(token);
  assert.deepEqual([status, event_count], ["active", 1]);
  assert.equal((await master.streams.claim(token)).event_count, 1);
  assert.equal((await project.events.list({ tenant_id: "streamed" })).events.length, 1);
  assert.throws(() => new AuditClient({ baseUrl: server.baseUrl }), TypeError);
  assert.throws(() => new AuditClient({ baseUrl: server.baseUrl, stream: true, apiKey: "pk_live_x" }), TypeError);
  assert.throws(() => new AuditClient({ baseUrl: server.baseUrl, stream: { claimToken: "x" } }), TypeError);
});

test("a master key selects a project and an environment", async () => {
  const other = await master.projects.create("billing");
  const [own] = (await master.projects.list()).filter(({ id }) => id !== other.id);
  await assert.rejects(master.events.list(), { status: 400 });
  const billing = new AuditClient({ baseUrl: server.baseUrl, apiKey: server.masterKey, projectId: other.id, environment: "test" });
  const { ids } = await billing.ingest(event());
  assert.deepEqual((await billing.events.list()).events.map(({ id }) => id), ids);
  assert.equal((await billing.scoped({ environment: "live" }).events.list()).events.length, 0);
  assert.ok((await master.scoped({ projectId: own!.id }).events.list()).events.length > 0);
});

test("no key is in what a log of a client or an error shows", async () => {
  const { inspect } = await import("node:util");
  assert.doesNotMatch(inspect(project, { depth: 10, showHidden: true }), /pk_live_/);
  for (const apiKey of ["pk_live_with\nline", ""]) {
    assert.throws(
      () => new AuditClient({ baseUrl: server.baseUrl, apiKey }),
      (error) => error instanceof TypeError && !error.message.includes("pk_live"),
    );
  }
});
