// Retries and timeouts of single requests, with a `fetch` that plays a script. The conformance kit covers those of events.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync } from "node:fs";
import test from "node:test";
import { AuditApiError, AuditClient, type AuditClientOptions, AuditNetworkError } from "audit-server-client";
import { launch, temporaryDirectory } from "./server.js";

type Play = (init: RequestInit, url: string) => Response | Promise<Response>;

/** A client whose n-th request gets the n-th response, and the requests. */
function scripted(responses: Play[], options: Partial<AuditClientOptions> = {}): { client: AuditClient; sent: string[] } {
  const sent: string[] = [];
  const client = new AuditClient({
    baseUrl: "https://audit.example.com",
    apiKey: "mk_x",
    backoffMs: 1,
    ...options,
    fetch: async (input, init) => {
      sent.push(`${init!.method} ${String(input)}`);
      const play = responses[sent.length - 1];
      assert.ok(play !== undefined, `an unexpected request: ${sent.at(-1)}`);
      return play(init!, String(input));
    },
  });
  return { client, sent };
}

function failure(status: number, headers: Record<string, string> = {}): Play {
  return () => Response.json({ error: { code: "scripted", message: "scripted" }, request_id: "req_1" }, { status, headers });
}

const broken: Play = () => Promise.reject(new TypeError("fetch failed"));
const rules: Play = () => Response.json({ rules: [], rule: { id: "1" } });

test("reads and changes of a named object are retried, and what creates one is not", async () => {
  const read = scripted([failure(500), broken, rules]);
  assert.deepEqual(await read.client.alerts.rules.list(), []);
  assert.equal(read.sent.length, 3);

  const change = scripted([broken, rules]);
  await change.client.alerts.rules.update("a/b", { enabled: false });
  assert.deepEqual(change.sent[1], "PATCH https://audit.example.com/api/v1/alerts/rules/a%2Fb");

  const rule = { type: "pattern", name: "x", pattern: "x" } as const;
  const lost = scripted([broken]);
  await assert.rejects(lost.client.redaction.createRule(rule), AuditNetworkError);
  const failed = scripted([failure(500)]);
  await assert.rejects(failed.client.redaction.createRule(rule), AuditApiError);
  // Nothing was done, so it may be sent again.
  const limited = scripted([failure(429, { "Retry-After": "0" }), rules]);
  assert.equal((await limited.client.redaction.createRule(rule)).id, "1");
});

test("Retry-After is a number of seconds or a date, and not waited for beyond the limit", async () => {
  const past = scripted([failure(429, { "Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT" }), rules]);
  assert.deepEqual(await past.client.alerts.rules.list(), []);
  const future = new Date(Date.now() + 3_600_000).toUTCString();
  const far = scripted([failure(503, { "Retry-After": future })]);
  await assert.rejects(far.client.alerts.rules.list(), (error) => error instanceof AuditApiError && error.retryAfterMs! > 3_000_000);
  const unreadable = scripted([failure(429, { "Retry-After": "-1" })]);
  await assert.rejects(unreadable.client.alerts.rules.list(), { status: 429 });
});

test("a body that does not come ends by the timeout, and a signal ends a request at once", async () => {
  const stalled: Play = ({ signal }) => new Response(new ReadableStream({
    start: (controller) => signal!.addEventListener("abort", () => controller.error(new Error("aborted"))),
  }));
  const { client } = scripted([stalled, stalled], { timeoutMs: 20, retriesMax: 1 });
  await assert.rejects(client.alerts.rules.list(), /no response within 20 ms/);
  const abort = new AbortController();
  const waiting = scripted([stalled]);
  const feed = waiting.client.events.feed({}, abort.signal);
  abort.abort();
  await assert.rejects(feed, AuditNetworkError);
});

test("options that cannot be are refused", () => {
  const options = { baseUrl: "https://audit.example.com", apiKey: "mk_x" };
  for (const baseUrl of ["audit.example.com", "ftp://a", "https://user:word@a", "https://a?x=1"]) {
    assert.throws(() => new AuditClient({ ...options, baseUrl }), TypeError, baseUrl);
  }
  for (const name of ["timeoutMs", "retriesMax", "backoffMs", "backoffMsMax", "batchEvents", "queueEventsMax", "flushIntervalMs"]) {
    assert.throws(() => new AuditClient({ ...options, [name]: -1 }), RangeError, name);
    assert.throws(() => new AuditClient({ ...options, [name]: Number.NaN }), RangeError, name);
  }
  const made = (changed: object) => () => new AuditClient(changed as AuditClientOptions);
  assert.throws(() => new (AuditClient as unknown as new () => unknown)(), /baseUrl is missing/);
  assert.throws(made({ ...options, apiKey: undefined }), /apiKey is missing/);
  assert.throws(made({ ...options, batchEvents: 101 }), /batchEvents/);
  assert.throws(made({ ...options, queueEventsMax: 9 }), /queueEventsMax/);
  assert.throws(made({ ...options, overflow: "drop" }), /overflow is .*, not "drop"/);
  assert.throws(made({ ...options, blockMsMax: -1 }), /blockMsMax/);
});

test("a feed is followed through kills of the server, each event once", async () => {
  const directory = temporaryDirectory();
  let { process: server, baseUrl, keys } = await launch(directory);
  const port = Number(new URL(baseUrl).port);
  const client = new AuditClient({ baseUrl, apiKey: keys.find((key) => key.startsWith("pk_live_")), backoffMs: 10 });
  const tenant_id = "followed";
  const sent = async (): Promise<string> =>
    (await client.ingest({ action: "a.b", category: "auth", tenant_id, actor: { id: "u", type: "user" } })).ids[0]!;
  try {
    for (const via of ["poll", "sse"] as const) {
      let interruptions = 0;
      const seen: string[] = [];
      const { cursor: after } = await client.events.feed({ tenant_id, limit: 200 });
      const ids = [await sent()];
      const follow = { via, filter: { tenant_id }, after, onInterruption: () => (interruptions += 1) };
      for await (const { event } of client.events.follow(follow)) {
        seen.push(event.id);
        if (seen.length === 4) {
          break;
        }
        // The reader waits for the next event while the server dies.
        setImmediate(async () => {
          const exited = once(server, "exit");
          server.kill("SIGKILL");
          await exited;
          ({ process: server } = await launch(directory, { port }));
          ids.push(await sent());
        });
      }
      assert.deepEqual(seen, ids);
      // A poll may be retried within its request.
      assert.ok(via === "poll" || interruptions >= 1);
    }
  } finally {
    const exited = once(server, "exit");
    server.kill("SIGKILL");
    await exited;
    rmSync(directory, { recursive: true });
  }
});

test("an error says why there was no response, and has no token of a stream", async () => {
  const lost = new AuditClient({ baseUrl: "http://127.0.0.1:1", apiKey: "pk_live_x", backoffMs: 1 });
  // `fetch` does not connect to some ports, this one among them.
  await assert.rejects(lost.log.key(), { message: "GET /log/key: no response of http://127.0.0.1:1: bad port" });
  const closed = new AuditClient({ baseUrl: "http://127.0.0.1:59", apiKey: "pk_live_x", backoffMs: 1 });
  await assert.rejects(closed.log.key(), { message: "GET /log/key: no response of http://127.0.0.1:59: connect ECONNREFUSED 127.0.0.1:59" });
  const token = "6f2b0f0e-3f0e-4c7e-9d0a-0d1f7f6f5a11";
  await assert.rejects(closed.streams.info(token), { message: /^GET \/streams\/…\/info: / });
});
