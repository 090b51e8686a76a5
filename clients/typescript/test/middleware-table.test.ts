// The middleware of every framework records what clients/conformance/tables/middleware.json says.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
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
  readonly #case: Case;

  constructor(of: Case) {
    this.#case = of;
  }

  settings<Request>(): AuditSettings<Request> {
    const { tenant_id, actor } = this.#case.settings;
    return {
      client: this.client,
      // Both forms: a constant, and a function.
      actor: actor ?? (() => undefined),
      tenantId: () => tenant_id ?? undefined,
      onError: (error) => this.errors.push(error),
    };
  }

  annotation<Request>(idOf: (request: Request) => string): Annotation<Request> | undefined {
    const { annotation } = this.#case;
    if (annotation === null) {
      return undefined;
    }
    const { action, category, failed_action: failedAction, target_type: type } = annotation;
    const target = type === undefined ? undefined : (request: Request) => ({ id: idOf(request), type });
    return { action, category, failedAction, target };
  }

  /** What the handler does; the status. */
  handle(request: object): number {
    const { adds, response } = this.#case;
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
    assert.equal(this.errors.length, expect === "reported" ? 1 : 0, String(this.errors[0]));
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

async function useExpress(of: Case, run: Run): Promise<void> {
  const audited = auditExpress<express.Request>(run.settings());
  const annotation = run.annotation<express.Request>((request) => String(request.params["id"]));
  const app = express();
  app.set("env", "test");
  let isClosed: Promise<unknown> | undefined;
  const router = express.Router();
  router.all("/:id", (request, response, next) => {
    isClosed = once(response, "close");
    if (annotation === undefined) {
      next();
    } else {
      audited(annotation)(request, response, next);
    }
  }, (request, response) => {
    // A redirect of `fetch` would be followed.
    response.status(run.handle(request)).end();
  });
  app.use("/invoices", router);
  const listening = app.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  await (await fetch(`http://127.0.0.1:${port}${of.request.path}`, { ...run.init, redirect: "manual" })).text();
  await isClosed;
  // The event is recorded after a few microtasks.
  await new Promise((resolve) => setImmediate(resolve));
  listening.close();
  listening.closeAllConnections();
}

async function useFastify(of: Case, run: Run): Promise<void> {
  const app = fastify();
  await app.register(auditFastify<FastifyRequest>, run.settings<FastifyRequest>());
  const annotation = run.annotation<FastifyRequest>((request) => (request.params as { id: string }).id);
  const config = annotation === undefined ? {} : fastifyAudited<FastifyRequest>(annotation);
  app.all(ROUTE, { config }, async (request, reply) => reply.status(run.handle(request)).send());
  const { body, ...rest } = run.init;
  await app.inject({ ...rest, url: of.request.path, ...(body === undefined ? {} : { payload: body }) });
  await app.close();
  await new Promise((resolve) => setImmediate(resolve));
}

async function useNext(of: Case, run: Run): Promise<void> {
  const annotation = run.annotation<Request>((request) => new URL(request.url).pathname.split("/")[2]!);
  const request = new Request(`http://shop.example${of.request.path}`, run.init);
  const respond = (): Response => new Response(null, { status: run.handle(request) });
  // Next.js gives a handler neither the address nor the route.
  const audited = auditNext<Request>({ ...run.settings<Request>(), ip: () => "127.0.0.1" });
  const handler = annotation === undefined ? respond : audited({ ...annotation, route: "/invoices/{id}" }, respond);
  await Promise.resolve(request).then(handler).catch((error: Error) => assert.equal(error.message, "broken"));
}

for (const [framework, use] of Object.entries({ Express: useExpress, Fastify: useFastify, "Next.js": useNext })) {
  for (const of of CASES) {
    test(`${framework}: ${of.name}`, async () => {
      const run = new Run(of);
      await use(of, run);
      run.check();
    });
  }
}
