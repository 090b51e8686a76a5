// A program for the interface's published TypeScript client, with every name that it exports. Only the import is changed. It prints
// what it sees. logstitch.test.ts runs it, and can run it with the published package.
import {
  type Actor,
  type ActorType,
  type Change,
  type EventCategory,
  type EventContext,
  type EventInput,
  type EventListParams,
  type EventListResponse,
  type EventResponse,
  type IngestResponse,
  LogStitch,
  LogStitchError,
  type LogStitchOptions,
  type StreamOptions,
  type Target,
  type ViewerTokenParams,
  type ViewerTokenResponse,
} from "audit-server-client/logstitch";

const baseUrl = process.env["AUDIT_URL"]!;
const projectKey = process.env["AUDIT_KEY"]!;

function print(what: string, ...facts: unknown[]): void {
  process.stdout.write(`${what}: ${JSON.stringify(facts)}\n`);
}

const type: ActorType = "user";
const category: EventCategory = "mutation";
const actor: Actor = { id: "user_1", type, name: "Jane Doe", email: "jane@example.com" };
const target: Target = { id: "doc_1", type: "document", name: "Report" };
const context: EventContext = { ip_address: "203.0.113.1", user_agent: "curl/8", location: "Bern", session_id: "s_1" };
const changes: Change[] = [{ field: "visibility", before: "private", after: "team" }];
const full: EventInput = {
  action: "document.shared",
  category,
  tenant_id: "acme",
  actor,
  target,
  context,
  metadata: { role: "editor", nested: { list: [1, 2] } },
  changes,
  idempotency_key: "program-1",
  occurred_at: "2026-01-15T10:30:00.000Z",
};
const small = (n: number): EventInput => ({
  action: "user.created",
  category: "admin",
  tenant_id: "acme",
  actor: { id: "system", type: "system" },
  metadata: { n },
});

async function record(client: LogStitch): Promise<void> {
  await client.log(full);
  for (let n = 0; n < 25; n += 1) {
    await client.log(small(n));
    if (n % 5 === 4) {
      await client.flush();
    }
  }
  await client.flush();
  const batch: IngestResponse = await client.logBatch([small(25), small(26)]);
  const one = await client.logBatch([{ ...full, action: "document.read" }].map((event) => ({ ...event, idempotency_key: "program-2" })));
  print("batch", batch.ids.length, batch.redacted_count, batch.request_id.slice(0, 4), one.ids.length, one.redacted_count);
}

async function read(client: LogStitch): Promise<void> {
  const params: EventListParams = { tenant_id: "acme", action: "user.*", category: "admin", actor_type: "system", limit: 10 };
  const numbers: unknown[] = [];
  let pages = 0;
  for (let cursor: string | null = null; ; ) {
    const page: EventListResponse = await client.events.list(cursor === null ? params : { ...params, cursor });
    numbers.push(...page.events.map((event) => event.metadata?.["n"]));
    pages += 1;
    if (!page.has_more) {
      print("pages", pages, page.cursor, numbers.toSorted((a, b) => Number(a) - Number(b)));
      break;
    }
    cursor = page.cursor;
  }
  const found = await client.events.list({
    actor_id: "user_1",
    target_id: "doc_1",
    target_type: "document",
    start_date: "2026-01-15",
    end_date: "2026-01-16T00:00:00Z",
    search: "shared",
  });
  const event: EventResponse = found.events[0]!;
  print("found", found.events.length, found.has_more, event.action, event.actor, event.target, event.context, event.metadata, event.changes);
  print("stored", event.id.slice(0, 4), event.occurred_at, event.idempotency_key, event.content_hash.length, event.received_at.length);
  print("all", (await client.events.list()).events.length);
}

async function viewer(client: LogStitch): Promise<void> {
  const wanted: ViewerTokenParams = { tenant_id: "acme", expires_in: 600 };
  const created: ViewerTokenResponse = await client.viewerTokens.create(wanted);
  const response = await fetch(`${baseUrl}/api/v1/events?limit=1`, { headers: { Authorization: `Bearer ${created.token}` } });
  print("viewer", created.token.slice(0, 3), Date.parse(created.expires_at) > Date.now(), response.status, created.request_id.slice(0, 4));
}

/** What an error says, by the fields of the published client. */
function facts(error: unknown): unknown[] {
  return error instanceof LogStitchError
    ? [error.name, error instanceof Error, error.status, error.code, error.requestId.slice(0, 4), error.message !== ""]
    : [error instanceof Error];
}

async function fail(options: LogStitchOptions): Promise<void> {
  const seen: unknown[] = [];
  const quiet = new LogStitch({ ...options, projectKey: "pk_live_revoked", onError: (error) => seen.push(facts(error)) });
  await quiet.log(small(100));
  await quiet.log(small(101));
  await quiet.flush();
  print("onError", seen);
  const strict = new LogStitch({ ...options, projectKey: "pk_live_revoked", strict: true });
  await strict.log(small(102));
  await strict.flush().catch((error: unknown) => print("flush", facts(error)));
  await strict.logBatch([small(103)]).catch((error: unknown) => print("logBatch", facts(error)));
  const client = new LogStitch(options);
  await client.logBatch([{ ...small(104), action: "Not An Action" }]).catch((error: unknown) => print("invalid", facts(error)));
  await client.logBatch([]).catch((error: unknown) => print("empty", facts(error)));
  await client.events.list({ limit: 1000 }).catch((error: unknown) => print("list", facts(error)));
  await client.viewerTokens.create({ tenant_id: "acme", expires_in: 1 }).catch((error: unknown) => print("token", facts(error)));
  const made = new LogStitchError("message", 422, "validation_error", "req_1");
  print("made", facts(made), facts(await LogStitchError.fromResponse(new Response("a proxy's page", { status: 502 }))));
  try {
    new LogStitch({ ...options, projectKey: "" });
  } catch (error) {
    print("no key", error instanceof Error);
  }
  await Promise.all([quiet, strict, client].map((each) => each.close()));
}

async function stream(): Promise<void> {
  const options: StreamOptions = { baseUrl, token: "4ab83020-1741-43cc-9dd1-29bbef9bdf1c", batchSize: 50, flushInterval: 1000, maxQueueSize: 50 };
  const client = LogStitch.stream(options);
  await client.log(small(200));
  await client.log(small(201));
  await client.log({ ...small(202), idempotency_key: "stream-1" });
  await client.flush();
  await client.close();
  const { ids } = await client.logBatch([small(203), small(204)]);
  const info = (await (await fetch(`${baseUrl}/api/v1/streams/${client.token}/info`)).json()) as { event_count: number; status: string };
  print("stream", client.token, ids.length, info.event_count, info.status);
  for (const read of [() => client.events.list(), () => client.viewerTokens.create({ tenant_id: "acme" })]) {
    try {
      await read();
    } catch (error) {
      print("refused in a stream", error instanceof Error);
    }
  }
}

// The published client does not wait in `flush` for a request that a full batch has begun: here no batch is full.
const options: LogStitchOptions = { projectKey, baseUrl, batchSize: 50, flushInterval: 1000, maxQueueSize: 1000, strict: true };
const client = new LogStitch(options);
print("token", client.token);
await record(client);
await read(client);
await viewer(client);
await fail({ projectKey, baseUrl });
await stream();
// Closing is the end of a request in some programs, not of the client.
await client.close();
await client.log(small(300));
await client.close();
print("after close", (await client.events.list({ search: "created", limit: 1 })).events[0]?.metadata);
