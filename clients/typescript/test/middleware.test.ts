// The middleware in real applications of Express and Fastify, and around handlers as Next.js has them.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { Readable } from "node:stream";
import test from "node:test";
import type { EventRecorder, NewEvent } from "audit-server-client";
import { addToAudit as addToExpress, auditExpress } from "audit-server-client/express";
import { addToAudit as addToFastify, auditFastify, audited as fastifyAudited } from "audit-server-client/fastify";
import { addToAudit as addToNext, auditNext } from "audit-server-client/next";
import { RecordingClient } from "audit-server-client/testing";
import express from "express";
import fastify, { type FastifyRequest } from "fastify";

/** A test double that tells when an event has come. */
class Signalling extends RecordingClient {
  #wake: (() => void)[] = [];

  override record(event: NewEvent): Promise<boolean> {
    const recorded = super.record(event);
    this.#wake.splice(0).forEach((wake) => wake());
    return recorded;
  }

  async until(count: number): Promise<void> {
    while (this.events.length < count) {
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }
}

const HEADERS = { "x-user": "user_1", "x-org": "acme", "user-agent": "test" };

test("Express: a handler's annotation is recorded with who, what, whose and from where", async () => {
  const client = new Signalling();
  const errors: string[] = [];
  let failed: (() => void) | undefined;
  const audited = auditExpress<express.Request>({
    client,
    actor: (request) => {
      const id = request.header("x-user");
      return id === undefined ? undefined : { id, type: "user" };
    },
    tenantId: async (request) => request.header("x-org"),
    onError: (error) => {
      errors.push((error as Error).message);
      failed?.();
    },
  });
  const app = express();
  app.put("/todos/:id", audited({
    action: "todo.updated",
    category: "mutation",
    target: (request) => ({ id: String(request.params["id"]), type: "todo" }),
    metadata: { via: "api" },
  }), (request, response) => {
    addToExpress(request, { changes: [{ field: "title", before: "a", after: "b" }], metadata: { size: 1 } });
    addToExpress(request, { metadata: { more: 2 } });
    response.json({});
  });
  app.post("/refused", audited({ action: "todo.refused", category: "mutation" }), (_, response) => void response.sendStatus(400));
  const signIn = audited({ action: "auth.succeeded", failedAction: "auth.failed", category: "auth", actor: () => ({ id: "jane", type: "user" }) });
  app.post("/login", signIn, (_, response) => void response.sendStatus(401));
  app.post("/aborted", audited({ action: "todo.aborted", category: "mutation" }), (request, response) => {
    request.socket.once("close", () => response.json({}));
    request.socket.destroy();
  });
  const listening = app.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;

  await fetch(`${base}/refused`, { method: "POST", headers: HEADERS });
  await fetch(`${base}/todos/7?token=secret`, { method: "PUT", headers: HEADERS });
  await client.until(1);
  assert.equal(typeof client.events[0]!.metadata!["duration_ms"], "number");
  delete client.events[0]!.metadata!["duration_ms"];
  assert.deepEqual(client.events, [{
    action: "todo.updated",
    category: "mutation",
    outcome: "success",
    tenant_id: "acme",
    actor: { id: "user_1", type: "user" },
    target: { id: "7", type: "todo" },
    context: { ip_address: "127.0.0.1", user_agent: "test" },
    changes: [{ field: "title", before: "a", after: "b" }],
    metadata: { method: "PUT", route: "/todos/{id}", status: 200, via: "api", size: 1, more: 2 },
  }]);
  await fetch(`${base}/login`, { method: "POST", headers: HEADERS });
  await client.until(2);
  client.assertRecorded({ action: "auth.failed", actor: { id: "jane" }, metadata: { status: 401 } });
  client.assertNotRecorded({ action: "todo.refused" });

  const socket = connect(port, "127.0.0.1");
  socket.write("POST /aborted HTTP/1.1\r\nHost: x\r\nx-user: u\r\nx-org: acme\r\nContent-Length: 0\r\n\r\n");
  socket.on("error", () => undefined);
  await client.until(3);
  client.assertRecorded({ action: "todo.aborted" }, 1);

  const reported = new Promise<void>((resolve) => (failed = resolve));
  await fetch(`${base}/todos/7`, { method: "PUT", headers: { "x-user": "user_1" } });
  await reported;
  assert.match(errors[0]!, /no tenant is known for todo.updated/);
  listening.close();
  listening.closeAllConnections();
});

test("Fastify: a route's annotation is recorded, also of routes outside of the plugin", async () => {
  const client = new Signalling();
  const app = fastify();
  await app.register(auditFastify<FastifyRequest>, {
    client,
    actor: (request: FastifyRequest) => ({ id: String(request.headers["x-user"]), type: "user" }),
    tenantId: (request: FastifyRequest) => String(request.headers["x-org"]),
    context: false,
    onError: (error: unknown) => assert.fail(String(error)),
  });
  const config = fastifyAudited<FastifyRequest>({
    action: "todo.deleted",
    category: "mutation",
    target: (request) => ({ id: (request.params as { id: string }).id, type: "todo" }),
  });
  app.delete("/todos/:id", { config }, async (request) => {
    addToFastify(request, { metadata: { n: 1 } });
    return {};
  });
  app.get("/", async () => ({}));
  await app.inject({ method: "GET", url: "/", headers: HEADERS });
  await app.inject({ method: "DELETE", url: "/todos/9?x=1", headers: HEADERS });
  await client.until(1);
  delete client.events[0]!.metadata!["duration_ms"];
  assert.deepEqual(client.events, [{
    action: "todo.deleted",
    category: "mutation",
    outcome: "success",
    tenant_id: "acme",
    actor: { id: "user_1", type: "user" },
    target: { id: "9", type: "todo" },
    metadata: { method: "DELETE", route: "/todos/{id}", status: 200, n: 1 },
  }]);
  await app.close();
});

test("Next.js: a route handler is recorded before its response is returned, and when it throws", async () => {
  const client = new RecordingClient();
  let flushes = 0;
  const flushing: EventRecorder = {
    record: (event) => client.record(event),
    flush: () => {
      flushes += 1;
      return Promise.resolve(true);
    },
  };
  const audited = auditNext({
    client: flushing,
    actor: (request) => ({ id: request.headers.get("x-user")!, type: "user" }),
    tenantId: () => "acme",
    flush: true,
    onError: (error) => assert.fail(String(error)),
  });
  const PATCH = audited(
    { action: "todo.renamed", failedAction: "todo.rename_failed", category: "mutation", route: "/todos/{id}" },
    async (request, { params }: { params: Promise<{ id: string }> }) => {
      const { id } = await params;
      addToNext(request, { target: { id, type: "todo" } });
      if (id === "broken") {
        throw new Error("broken");
      }
      return Response.json({ id });
    },
  );
  const request = () => new Request("https://app.example/todos/1?q=2", { method: "PATCH", headers: HEADERS });
  const response = await PATCH(request(), { params: Promise.resolve({ id: "1" }) });
  assert.deepEqual(await response.json(), { id: "1" });
  client.assertRecorded({ target: { id: "1" }, metadata: { status: 200, route: "/todos/{id}" }, context: { user_agent: "test" } }, 1);
  await assert.rejects(PATCH(request(), { params: Promise.resolve({ id: "broken" }) }), /broken/);
  client.assertRecorded({ action: "todo.rename_failed", target: { id: "broken" }, metadata: { status: 500 } });
  assert.equal(flushes, 2);
});

test("Next.js: an error that is a response has its status", async () => {
  const client = new RecordingClient();
  const audited = auditNext({ client, actor: () => undefined, tenantId: "acme", onError: (error) => assert.fail(String(error)) });
  for (const [digest, status] of [
    ["NEXT_REDIRECT;replace;/todos;307;", 307],
    ["NEXT_REDIRECT;push;/todos?a=1;b=404;308;", 308],
    ["NEXT_REDIRECT;push;/todos;303;", 303],
    ["NEXT_REDIRECT;replace;/todos;307", 307],
    ["NEXT_NOT_FOUND", 404],
    ["NEXT_HTTP_ERROR_FALLBACK;404", 404],
    ["NEXT_HTTP_ERROR_FALLBACK;403", 403],
    ["NEXT_HTTP_ERROR_FALLBACK;401", 401],
    ["NEXT_REDIRECT;replace;/todos;500;", 500],
    ["1234567890", 500],
    [undefined, 500],
  ] as const) {
    client.clear();
    const thrown = Object.assign(new Error("control flow"), { digest });
    const POST = audited({ action: "todo.created", failedAction: "todo.create_failed", category: "mutation" }, () => {
      throw thrown;
    });
    await assert.rejects(POST(new Request("https://app.example/", { method: "POST" })), (error) => error === thrown);
    const action = status < 400 ? "todo.created" : "todo.create_failed";
    const outcome = status < 400 ? "success" : status === 403 || status === 401 ? "denied" : "failure";
    client.assertRecorded({ action, outcome, metadata: { status } }, 1);
  }
});

test("Next.js: a flush that fails is reported, and the response stays", async () => {
  const client = new RecordingClient();
  const errors: string[] = [];
  const settings = { actor: () => undefined, tenantId: "acme", flush: true, onError: (error: unknown) => errors.push((error as Error).message) };
  const failing: EventRecorder = {
    record: (event) => client.record(event),
    flush: () => {
      throw new Error("the disk is full");
    },
  };
  const GET = auditNext({ ...settings, client: failing })({ action: "todo.viewed", category: "access" }, () => new Response("done"));
  assert.equal(await (await GET(new Request("https://app.example/"))).text(), "done");
  assert.deepEqual(errors, ["the disk is full"]);
  client.assertRecorded({ action: "todo.viewed" }, 1);
});

test("Fastify: a response that breaks off while it is sent is recorded once", async () => {
  const client = new Signalling();
  const app = fastify({ forceCloseConnections: true });
  await app.register(auditFastify<FastifyRequest>, {
    client,
    actor: () => undefined,
    tenantId: "acme",
    onError: (error: unknown) => assert.fail(String(error)),
  });
  const config = fastifyAudited<FastifyRequest>({ action: "todo.exported", category: "access" });
  app.get("/", { config }, (_, reply) => reply.send(Readable.from(endless())));
  await app.listen({ host: "127.0.0.1", port: 0 });
  const leaving = new AbortController();
  const response = await fetch(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/`, { signal: leaving.signal });
  await response.body!.getReader().read();
  leaving.abort();
  await client.until(1);
  await app.close();
  client.assertRecorded({ action: "todo.exported", metadata: { status: 200 } }, 1);
});

/** A body without an end. */
async function* endless(): AsyncGenerator<string> {
  for (;;) {
    yield "todo\n";
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("the test double refuses what the service would, and tells what it has", async () => {
  const client = new RecordingClient();
  const event: NewEvent = { action: "a.b", category: "auth", tenant_id: "t", actor: { id: "u", type: "user" } };
  await assert.rejects(client.record({ ...event, action: "Login" }), /action: must be dot-namespaced/);
  await assert.rejects(client.record({ ...event, actor: { id: "u", type: "robot" as "user" } }), /actor.type/);
  const { ids } = await client.ingest([event, { ...event, metadata: { list: [1, { a: 1 }] } }]);
  assert.equal(new Set(ids).size, 2);
  client.assertRecorded({ metadata: { list: [1, { a: 1 }] } }, 1);
  assert.throws(() => client.assertRecorded({ action: "c.d" }), /0 found/);
  assert.throws(() => client.assertRecorded({ action: "a.b" }, 1), /2 found/);
  assert.throws(() => client.assertNotRecorded(), /found/);
  client.clear();
  client.assertNotRecorded();
});
