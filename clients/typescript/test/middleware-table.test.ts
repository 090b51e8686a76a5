// The middleware of every framework records what clients/conformance/tables/middleware.json says.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo, Server } from "node:net";
import test from "node:test";
import type { NewEvent } from "audit-server-client";
import { type Additions, type Annotation, type AuditSettings, addToAudit, auditExpress } from "audit-server-client/express";
import { auditFastify, audited as fastifyAudited } from "audit-server-client/fastify";
import { auditNext } from "audit-server-client/next";
import { RecordingClient } from "audit-server-client/testing";
import express from "express";
import fastify, { type FastifyRequest } from "fastify";
import { TABLES } from "./paths.js";

interface Case {
  readonly name: string;
  readonly aborted?: boolean;
  readonly not_dropped_in?: Readonly<Record<string, string>>;
  readonly throws?: readonly ("actor" | "address" | "report" | "target" | "tenant")[];
  /** Calls of `onError`; those of `expect` if absent. */
  readonly reports?: number;
  readonly annotation: { action: string; category: NewEvent["category"]; failed_action?: string; target_type?: string } | null;
  readonly adds?: Additions;
  readonly settings: { tenant_id: string | null; actor: NewEvent["actor"] | null };
  readonly request: { method: "DELETE" | "GET" | "POST" | "PUT"; path: string; headers: Record<string, string>; body?: object };
  readonly response: { status?: number; raises?: boolean };
  readonly expect: NewEvent | "reported" | null;
}

const CASES = JSON.parse(readFileSync(new URL("middleware.json", TABLES), "utf8")) as Case[];
const ROUTE = "/invoices/:id";

class Run {
  readonly client = new RecordingClient();
  readonly errors: unknown[] = [];
  /** Of the response that the client got, if it did not go away. */
  status: number | undefined;
  /** Set where the client goes away while the handler runs: resolves when the server has noticed. */
  abort: (() => Promise<unknown>) | undefined;
  readonly #case: Case;

  constructor(of: Case) {
    this.#case = of;
  }

  throws(callback: NonNullable<Case["throws"]>[number]): boolean {
    return this.#case.throws?.includes(callback) === true;
  }

  /** A callback of the application, or one that throws. */
  callback<Arguments extends unknown[], T>(name: NonNullable<Case["throws"]>[number], of: (...given: Arguments) => T): (...given: Arguments) => T {
    return (...given) => {
      if (this.throws(name)) {
        throw new Error(`the callback of the ${name} is broken`);
      }
      return of(...given);
    };
  }

  settings<Request>(): AuditSettings<Request> {
    const { tenant_id, actor } = this.#case.settings;
    return {
      client: this.client,
      // Both forms: a constant, and a function.
      actor: this.throws("actor") ? this.callback("actor", () => undefined) : (actor ?? (() => undefined)),
      tenantId: this.callback("tenant", () => tenant_id ?? undefined),
      onError: (error) => {
        this.errors.push(error);
        this.callback("report", () => undefined)();
      },
    };
  }

  annotation<Request>(idOf: (request: Request) => string): Annotation<Request> | undefined {
    const { annotation } = this.#case;
    if (annotation === null) {
      return undefined;
    }
    const { action, category, failed_action: failedAction, target_type: type } = annotation;
    const target = type === undefined ? undefined : this.callback("target", (request: Request) => ({ id: idOf(request), type }));
    return { action, category, failedAction, target };
  }

  /** What the handler does; the status. */
  async handle(request: object): Promise<number> {
    const { adds, response, aborted } = this.#case;
    if (aborted === true) {
      await this.abort!();
    }
    if (adds !== undefined) {
      addToAudit(request, adds);
    }
    if (response.raises === true) {
      throw new Error("broken");
    }
    return response.status!;
  }

  get init(): { method: Case["request"]["method"]; headers: Record<string, string>; body?: string } {
    const { method, headers, body } = this.#case.request;
    return { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  }

  check(): void {
    const { expect } = this.#case;
    assert.doesNotMatch(JSON.stringify(this.client.events), /secret/);
    assert.equal(this.errors.length, this.#case.reports ?? (expect === "reported" ? 1 : 0), String(this.errors[0]));
    assert.equal(this.client.stats().middlewareErrors, this.errors.length);
    const { aborted, response } = this.#case;
    assert.equal(this.status, aborted === true ? undefined : (response.status ?? 500), "the response stays");
    const expected = typeof expect === "string" || expect === null ? [] : [expect];
    for (const [index, event] of this.client.events.entries()) {
      const duration = event.metadata!["duration_ms"];
      if (expected[index]?.metadata?.["duration_ms"] === true) {
        assert.ok(Number.isInteger(duration) && (duration as number) >= 0);
        event.metadata!["duration_ms"] = true;
      }
    }
    assert.deepEqual(this.client.events, expected);
  }
}

/** Sends the request of a case, and leaves while its handler runs, if the case says so. */
async function send(of: Case, run: Run, listening: Server): Promise<void> {
  const { port } = listening.address() as AddressInfo;
  const client = new AbortController();
  const closed = new Promise((resolve) => {
    listening.on("connection", (socket) => socket.once("close", resolve));
  });
  run.abort = async () => {
    client.abort();
    await closed;
  };
  try {
    // A redirect of `fetch` would be followed.
    const response = await fetch(`http://127.0.0.1:${port}${of.request.path}`, { ...run.init, redirect: "manual", signal: client.signal });
    await response.text();
    run.status = response.status;
  } catch (error) {
    assert.equal((error as Error).name, "AbortError");
  }
}

async function useExpress(of: Case, run: Run): Promise<void> {
  const audited = auditExpress<express.Request>(run.settings());
  const annotation = run.annotation<express.Request>((request) => String(request.params["id"]));
  const app = express();
  app.set("env", "test");
  if (run.throws("address")) {
    app.set("trust proxy", run.callback("address", () => false));
  }
  let isClosed: Promise<unknown> | undefined;
  let isHandled: Promise<unknown> | undefined;
  const router = express.Router();
  router.all("/:id", (request, response, next) => {
    isClosed = once(response, "close");
    if (annotation === undefined) {
      next();
    } else {
      audited(annotation)(request, response, next);
    }
  }, (request, response, next) => {
    isHandled = run.handle(request).then((status) => response.status(status).send("done"), next);
  });
  app.use("/invoices", router);
  const listening = app.listen(0, "127.0.0.1");
  await once(listening, "listening");
  await send(of, run, listening);
  await isClosed;
  await isHandled;
  // The event is recorded after a few microtasks.
  await new Promise((resolve) => setImmediate(resolve));
  listening.close();
  listening.closeAllConnections();
}

async function useFastify(of: Case, run: Run): Promise<void> {
  const trustProxy = run.throws("address") ? run.callback("address", () => false) : false;
  const app = fastify({ forceCloseConnections: true, trustProxy });
  // Any body: `fetch` names no type for a text.
  app.addContentTypeParser("*", (_, payload, done) => payload.resume().once("end", () => done(null)));
  await app.register(auditFastify<FastifyRequest>, run.settings<FastifyRequest>());
  const annotation = run.annotation<FastifyRequest>((request) => (request.params as { id: string }).id);
  const config = annotation === undefined ? {} : fastifyAudited<FastifyRequest>(annotation);
  let isHandled: Promise<unknown> | undefined;
  app.all(ROUTE, { config }, (request, reply) => {
    const handled = run.handle(request).then((status) => reply.status(status).send());
    isHandled = handled.catch(() => undefined);
    return handled;
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  await send(of, run, app.server);
  await isHandled;
  await app.close();
  await new Promise((resolve) => setImmediate(resolve));
}

async function useNext(of: Case, run: Run): Promise<void> {
  const annotation = run.annotation<Request>((request) => new URL(request.url).pathname.split("/")[2]!);
  const client = new AbortController();
  run.abort = async () => client.abort();
  const request = new Request(`http://shop.example${of.request.path}`, { ...run.init, signal: client.signal });
  const respond = async (): Promise<Response> => new Response(null, { status: await run.handle(request) });
  // Next.js gives a handler neither the address nor the route.
  const audited = auditNext<Request>({ ...run.settings<Request>(), ip: run.callback("address", () => "127.0.0.1") });
  const handler = annotation === undefined ? respond : audited({ ...annotation, route: "/invoices/{id}" }, respond);
  try {
    const { status } = await handler(request);
    run.status = client.signal.aborted ? undefined : status;
  } catch (error) {
    assert.equal((error as Error).message, "broken");
    run.status = 500;
  }
}

for (const [framework, use] of Object.entries({ Express: useExpress, Fastify: useFastify, "Next.js": useNext })) {
  for (const of of CASES) {
    test(`${framework}: ${of.name}`, { skip: of.not_dropped_in?.[framework] ?? false }, async () => {
      const run = new Run(of);
      await use(of, run);
      run.check();
    });
  }
}
