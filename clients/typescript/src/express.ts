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
  readonly headers: { readonly [name: string]: string | string[] | undefined };
}

/** What the middleware uses of a response of Express. */
export interface ExpressResponse {
  readonly statusCode: number;
  once(event: "close", listener: () => void): unknown;
}

/**
 * Makes the function that annotates handlers: `app.post("/todos", audited({ action: "todo.created", category: "mutation" }), handler)`.
 *
 * The event is recorded when the response is done, or when the client has gone away before that: the handler has run in both cases.
 */
export function auditExpress<Request extends ExpressRequest = ExpressRequest>(
  settings: AuditSettings<Request>,
): (annotation: Annotation<Request>) => (request: Request, response: ExpressResponse, next: () => void) => void {
  return (annotation) => (request, response, next) => {
    const began = performance.now();
    // Later, another router may have taken over the request.
    const route = routeOf(request);
    response.once("close", () => {
      const facts = {
        method: request.method,
        route: route ?? routeOf(request),
        status: response.statusCode,
        durationMs: performance.now() - began,
        ip: request.ip,
        userAgent: headerOf(request, "user-agent"),
        requestId: headerOf(request, "x-request-id"),
      };
      void recordFor(settings, annotation, request, facts, additionsTo(request));
    });
    next();
  };
}

function routeOf({ baseUrl, route }: ExpressRequest): string | undefined {
  return typeof route?.path === "string" ? `${baseUrl}${route.path}` : undefined;
}

function headerOf(request: ExpressRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
}
