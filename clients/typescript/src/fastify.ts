/**
 * Plugin for Fastify 4 and 5: records who did what, from an annotation in the `config` of the route.
 *
 * @module
 */
import { additionsTo, type Annotation, type AuditSettings, recordFor } from "./annotation.js";

export { type Additions, addToAudit, type Annotation, type AuditSettings } from "./annotation.js";

/** What the plugin uses of a request of Fastify. */
export interface FastifyRequestLike {
  readonly method: string;
  readonly ip: string;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly raw?: { readonly socket?: { readonly remoteAddress?: string | undefined } | null | undefined } | undefined;
  readonly routeOptions: { readonly config: object; readonly url?: string | undefined };
}

interface FastifyReplyLike {
  readonly statusCode: number;
  readonly raw: { readonly destroyed?: boolean; once(event: "close", listener: () => void): unknown };
  readonly elapsedTime?: number;
  /** Before `elapsedTime`. */
  getResponseTime?(): number;
}

interface FastifyInstanceLike {
  addHook(name: "onRequest" | "onResponse" | "onSend", hook: (request: never, reply: never) => Promise<void>): unknown;
}

/** The annotation of a route: `app.post("/todos", { config: audited({ action: "todo.created", category: "mutation" }) }, handler)`. */
export function audited<Request = FastifyRequestLike>(annotation: Annotation<Request>): { audit: Annotation<Request> } {
  return { audit: annotation };
}

/**
 * Registers the hooks that record the events of annotated routes: `await app.register(auditFastify, settings)`.
 *
 * The event is recorded when the response is done, or when the handler has responded to a client that has gone away.
 */
export async function auditFastify<Request = FastifyRequestLike>(
  fastify: object,
  settings: AuditSettings<Request>,
): Promise<void> {
  const recorded = new WeakSet<FastifyRequestLike>();
  const record = async (request: FastifyRequestLike, reply: FastifyReplyLike): Promise<void> => {
    const { audit } = request.routeOptions.config as { audit?: Annotation<Request> };
    if (audit === undefined || recorded.has(request)) {
      return;
    }
    recorded.add(request);
    const facts = {
      method: request.method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      durationMs: reply.elapsedTime ?? reply.getResponseTime?.() ?? 0,
      ip: () => request.ip,
      userAgent: headerOf(request, "user-agent"),
      requestId: headerOf(request, "x-request-id"),
    };
    await recordFor(settings, audit, request as Request, facts, additionsTo(request));
  };
  const instance = fastify as FastifyInstanceLike;
  instance.addHook("onRequest", async (request: FastifyRequestLike) => {
    // A closed socket no longer knows it, unless it was asked before.
    void request.raw?.socket?.remoteAddress;
  });
  // Without a client there is no `onResponse`.
  instance.addHook("onSend", async (request: FastifyRequestLike, reply: FastifyReplyLike) => {
    if (reply.raw.destroyed === true) {
      void record(request, reply);
    } else {
      reply.raw.once("close", () => void record(request, reply));
    }
  });
  instance.addHook("onResponse", record);
}

function headerOf(request: FastifyRequestLike, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
}

// Routes of the surrounding instance too, as `fastify-plugin` does.
Object.defineProperty(auditFastify, Symbol.for("skip-override"), { value: true });
