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
  readonly originalUrl: string;
  readonly ip?: string | undefined;
  readonly headers: { readonly "user-agent"?: string | undefined };
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
    response.once("close", () => {
      const facts = {
        method: request.method,
        path: request.originalUrl.split("?", 1)[0]!,
        status: response.statusCode,
        ip: request.ip,
        userAgent: request.headers["user-agent"],
      };
      void recordFor(settings, annotation, request, facts, additionsTo(request));
    });
    next();
  };
}
