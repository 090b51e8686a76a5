// The client has a method for every route, parameter and member of the OpenAPI document, as clients/conformance/routes.py counts them. A
// route of the service without a call here fails this test.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { AuditClient, type NewEvent } from "audit-server-client";
import { PACKAGE } from "./paths.js";

const SERVER = fileURLToPath(new URL("../conformance/routes.py", PACKAGE));
const EVENT: NewEvent = { action: "a.b", category: "auth", tenant_id: "acme", actor: { id: "u1", type: "user" } };
const DATES = { start_date: "2026-01-01", end_date: "2026-01-02" };
const FEED_FILTERS = {
  tenant_id: "acme",
  actor_id: "u1",
  actor_type: "user",
  action: "a.*",
  category: "auth",
  target_id: "t1",
  target_type: "todo",
  ip_address: "192.0.2.1",
  session_id: "s1",
  outcome: "denied",
  not_tenant_id: "acme",
  not_actor_id: ["u1", "u2"],
  not_actor_type: "user",
  not_action: "a.*",
  not_category: "auth",
  not_target_id: "t1",
  not_target_type: "todo",
  not_ip_address: "192.0.2.1",
  not_session_id: "s1",
  not_outcome: "success",
  "metadata.order.id": ["1001", "1002"],
  "not_metadata.plan": "free",
} as const;
const FILTERS = { ...FEED_FILTERS, ...DATES, search: "words", search_mode: "prefix", search_in: ["names", "ids"] } as const;

async function count(entries: AsyncIterable<unknown>): Promise<number> {
  let found = 0;
  for await (const _ of entries) {
    found += 1;
  }
  return found;
}

async function useEvents(client: AuditClient): Promise<void> {
  await client.ingest(EVENT, { receipt: true });
  await client.ingest([EVENT, EVENT]);
  const { events } = client;
  assert.ok((await count(events.iterate({ ...FILTERS, id: ["evt_1", "evt_2"], order: "asc", limit: 10 }))) > 1);
  assert.equal((await events.summary({ ...FILTERS, interval: "day", split: "category", time_zone: "Europe/Berlin" })).total, 3);
  await events.get("evt_1");
  await events.feed({ ...FEED_FILTERS, after: "a_cursor", limit: 10, wait: 0 });
  const excel = { for: "excel", separator: "semicolon", labels: "de" } as const;
  for (const zone of [{ utc_offset: "+02:00" }, { time_zone: "Europe/Berlin" }]) {
    for (const format of ["jsonl", "csv", "xlsx"] as const) {
      assert.equal(await new Response(await events.export({ ...FILTERS, ...excel, ...zone, format })).text(), "");
    }
  }
  await events.proof("evt_1");
  await events.receipt("evt_1");
  await events.completeness("acme");
  await client.log.checkpoint({ cosigned: true });
  await client.log.key();
  await client.log.keyRotations();
  await client.log.tile("0/000.p/12");
  await client.log.consistency(1, 2);
  await client.log.tenants();
}

async function useKeys(client: AuditClient): Promise<void> {
  const limits = { name: "n", expires_at: "2027-01-01T00:00:00Z", scopes: [], networks: [] };
  await client.projects.list({ archived: "all" });
  await client.projects.get("id");
  await client.projects.create("n");
  await client.projects.update("id", { name: "n", archived: true, metadata_filter_paths: ["metadata.plan"] });
  assert.ok((await count(client.projects.iterateTenants({ limit: 10 }))) > 1);
  await client.keys.list();
  await client.keys.get("id");
  await client.keys.create({ project_id: "p", environment: "live", ...limits });
  await client.keys.update("id", { name: "n", expires_at: "2027-01-01T00:00:00Z", networks: null });
  await client.keys.rotate("id", 0);
  await client.keys.revoke("id");
  await client.masterKeys.list();
  await client.masterKeys.get("id");
  await client.masterKeys.create(limits);
  await client.masterKeys.rotate("id", 0);
  await client.masterKeys.revoke("id");
  await client.viewerTokens.create({ tenant_id: "acme", tier: "support", expires_in: 600, portal: true });
  await client.projects.usage();
  await client.portal.get();
  await client.portal.update({ name: "n", logo: null, destination_kinds: ["https"], sign_in_url: "https://app.example.com/" });
  await client.portal.signInUrl("id");
  assert.ok((await count(client.actions.iterate({ limit: 10 }))) > 1);
  await client.actions.labels("de");
  await client.actions.put("a.b", { icon: "key", languages: { en: { label: "x", template: "{actor}" } } });
  await client.actions.delete("a.b");
  const tier = { categories: null, actions: null, hidden_fields: [], routes: null };
  await client.viewerTiers.list();
  await client.viewerTiers.get("n");
  await client.viewerTiers.create({ name: "n", ...tier });
  await client.viewerTiers.update("n", tier);
  await client.viewerTiers.delete("n");
}

async function useRules(client: AuditClient): Promise<void> {
  const { redaction, alerts } = client;
  await redaction.listRules();
  await redaction.getRule("id");
  await redaction.createRule({ type: "pattern", name: "n", pattern: "p", behavior: "mask", enabled: true });
  await redaction.createRule({ type: "field_redact", name: "n", fields: ["metadata.a"] });
  await redaction.updateRule("id", { name: "n", pattern: "p", fields: ["a"], behavior: "mask", enabled: true });
  await redaction.deleteRule("id");
  await redaction.test({});
  const rule = {
    name: "n",
    action_pattern: "a.*",
    threshold: 1,
    window_seconds: 60,
    group_by: "actor_id",
    count_distinct: "ip_address",
    severity: "low",
    cooldown_seconds: 60,
    enabled: true,
    actor_types: ["user"],
    categories: ["auth"],
    not_actor_ids: ["backup"],
    outcomes: ["failure"],
  } satisfies Parameters<AuditClient["alerts"]["rules"]["create"]>[0];
  await alerts.rules.list();
  await alerts.rules.get("id");
  await alerts.rules.create(rule);
  await alerts.rules.update("id", rule);
  await alerts.rules.delete("id");
}

async function useAlerts({ alerts, webhooks }: AuditClient): Promise<void> {
  assert.ok((await count(alerts.iterate({ status: "open", severity: "low", rule_id: "r", ...DATES }))) > 1);
  await alerts.get("id");
  await alerts.acknowledge("id");
  await alerts.resolve("id", "the backup job");
  await alerts.addNote("id", "the backup job");
  const webhook = { url: "https://example.com", format: "slack", enabled: true } as const;
  await webhooks.list();
  await webhooks.get("id");
  await webhooks.create(webhook);
  await webhooks.update("id", webhook);
  await webhooks.rotateSecret("id");
  await webhooks.test("id");
  assert.ok((await count(webhooks.iterateDeliveries("id", { status: "failed" }))) > 1);
  await webhooks.getDelivery("id");
  await webhooks.retryDelivery("id");
  await webhooks.delete("id");
}

async function useDestinations({ destinations }: AuditClient): Promise<void> {
  const change = {
    name: "n",
    format: "ocsf",
    include_raw: true,
    filter: { categories: ["auth"] },
    settings: { url: "https://example.com" },
    credentials: { headers: {} },
    paused: true,
    ocsf_classes: [{ action: "a.*", class_uid: 3001, activity_id: 1 }],
  } satisfies Parameters<AuditClient["destinations"]["update"]>[1];
  assert.deepEqual((await destinations.list()).map(({ kind }) => kind), ["splunk_hec"]);
  await destinations.get("id");
  await destinations.create({ kind: "https", environment: "live", ...change });
  await destinations.update("id", change);
  assert.equal((await destinations.test("id")).verdict, "credentials");
  assert.equal((await destinations.preview("id", { format: "ocsf" })).records.length, 1);
  await destinations.replay("id", { from_seq: 0 });
  const { count: counted } = await destinations.replay("id", { from: DATES.start_date, to: DATES.end_date, dry_run: true });
  assert.deepEqual(counted, { matching: 40, looked_at: 225 });
  await destinations.stopReplay("id");
  assert.ok((await count(destinations.iterateSetAside("id"))) > 1);
  assert.equal((await destinations.resendSetAside("id", { run: 0, positions: [12] })).remaining, 0);
  await destinations.delete("id");
}

async function useRetention({ retention, holds, log }: AuditClient): Promise<void> {
  const categories = { auth: 400, access: 400, mutation: 400, admin: 730, security: 2190, system: 366 };
  assert.equal((await retention.get()).minimum_days, 93);
  await retention.set({ days: 365, categories });
  await retention.set({ preset: "hipaa", archive: true });
  assert.equal((await retention.preview({ days: 365 })).estimated, true);
  await retention.preview({ preset: "cnil" });
  await retention.confirm("2026-01-01T00:00:00Z");
  await retention.cancel(1203);
  assert.deepEqual((await holds.list({ released: true })).map((hold) => hold.second_key), [true]);
  const covers = { tenant_id: "acme", actor_id: "u1", target_id: "t1", from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" };
  await holds.place({ reason: "Case 1", ...covers, second_key: true });
  await holds.release("id", "closed");
  assert.deepEqual((await log.removals()).map(({ kind }) => kind), ["retention"]);
  assert.ok((await log.report()).counts);
  await log.reportHtml();
}

async function useErasures({ erasures }: AuditClient): Promise<void> {
  assert.ok((await erasures.list())[0]?.state);
  await erasures.get("id");
  const identifiers = { ids: ["usr_42"], texts: ["jane@example.com"] };
  const requested = await erasures.request({ identifiers, extent: "person", basis: "gdpr_17", ticket: "DSR-118" });
  assert.equal(requested.basis, "gdpr_17");
  assert.ok((await count(erasures.iterateEvents("id", { limit: 10 }))) > 1);
  await erasures.exclude("id", [12, 40]);
  await erasures.confirm("id", `sha256:${"0".repeat(64)}`);
  await erasures.cancel("id");
}

test("the client uses everything that the document declares", async () => {
  const server = spawn(process.env["PYTHON"] ?? "python3", [SERVER], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    const { base_url: baseUrl } = JSON.parse(line) as { base_url: string };
    const client = new AuditClient({ baseUrl, apiKey: "mk_test", projectId: "p", environment: "live" });
    await useEvents(client);
    await useKeys(client);
    await useRules(client);
    await useAlerts(client);
    await useDestinations(client);
    await useRetention(client);
    await useErasures(client);
    const stream = new AuditClient({ baseUrl, stream: true });
    await stream.ingest(EVENT);
    await client.streams.info(stream.claimToken!);
    await client.streams.claim(stream.claimToken!);
    const report = await fetch(`${baseUrl}/__report`, { method: "POST", body: "{}" });
    assert.deepEqual(await report.json(), { problems: [] });
  } finally {
    server.kill();
  }
});
