/**
 * Middleware for Express 4 and 5: records who did what, from an annotation of the handler.
 *
 * @module
 */
import { additionsTo, type Annotation, type AuditSettings, recordFor } from "./annotation.js";

export { type Additions, addToAudit, type Annotation, type AuditSettings } from "./annotation.js";

/** What the middleware uses of a request of Express. */
export interface ExpressRequest {
  readonly method: string;
  /** The path at which the router is mounted, as requested. */
  readonly baseUrl: string;
  readonly route?: { readonly path?: unknown } | undefined;
  readonly ip?: string | undefined;
  readonly socket?: { readonly remoteAddress?: string | undefined } | undefined;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
}

/** What the middleware uses of a response of Express. */
export interface ExpressResponse {
  readonly statusCode: number;
  readonly headersSent: boolean;
  once(event: "close", listener: () => void): unknown;
  writeHead(...head: never[]): unknown;
  write(...chunk: never[]): unknown;
  end(...chunk: never[]): unknown;
}

/**
 * Makes the function that annotates handlers: `app.post("/todos", audited({ action: "todo.created", category: "mutation" }), handler)`.
 *
 * The event is recorded when the response is done. If the client has gone away before the handler has responded, it is recorded when the handler
 * does; a handler that then never responds has no outcome, and is not recorded.
 */
export function auditExpress<Request extends ExpressRequest = ExpressRequest>(
  settings: AuditSettings<Request>,
): (annotation: Annotation<Request>) => (request: Request, response: ExpressResponse, next: () => void) => void {
  return (annotation) => (request, response, next) => {
    const began = performance.now();
    // Later, another router may have taken over the request.
    const route = routeOf(request);
    // A closed socket no longer knows it, unless it was asked before.
    void request.socket?.remoteAddress;
    whenDecided(response, () => {
      const facts = {
        method: request.method,
        route: route ?? routeOf(request),
        status: response.statusCode,
        durationMs: performance.now() - began,
        ip: () => request.ip,
        userAgent: headerOf(request, "user-agent"),
        requestId: headerOf(request, "x-request-id"),
      };
      void recordFor(settings, annotation, request, facts, additionsTo(request));
    });
    next();
  };
}

/** Calls a function once, when the status of a response is known for good. Before that it is 200, whatever the handler will say. */
function whenDecided(response: ExpressResponse, decided: () => void): void {
  response.once("close", () => {
    if (response.headersSent) {
      decided();
      return;
    }
    // The client has gone, and a closed response has no more events. What a handler responds with is one of these.
    let isDecided = false;
    for (const name of ["writeHead", "write", "end"] as const) {
      const original = response[name] as (...values: unknown[]) => unknown;
      response[name] = (...values: unknown[]) => {
        const returned = original.apply(response, values);
        if (!isDecided) {
          isDecided = true;
          decided();
        }
        return returned;
      };
    }
  });
}

function routeOf({ baseUrl, route }: ExpressRequest): string | undefined {
  return typeof route?.path === "string" ? `${baseUrl}${route.path}` : undefined;
}

function headerOf(request: ExpressRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
}
