/**
 * For route handlers of Next.js (app router), and for any handler from a `Request` to a `Response`: records who did what, from an
 * annotation of the handler.
 *
 * @module
 */
import { additionsTo, type Annotation, type AuditSettings, recordFor, report } from "./annotation.js";

export { type Additions, addToAudit, type Annotation, type AuditSettings } from "./annotation.js";

/** The status of the errors by which functions of Next.js end a handler with a response: `redirect` and the like, `notFound`, `forbidden`, `unauthorized`. */
const CONTROL_FLOW = /^(?:NEXT_REDIRECT;.*;(?<redirect>30[378]);?|(?<notFound>NEXT_NOT_FOUND)|NEXT_HTTP_ERROR_FALLBACK;(?<fallback>4\d\d))$/s;
const ERROR_STATUS = 500;
const NOT_FOUND_STATUS = 404;
/** A response waits no longer for the log. */
const FLUSH_DEADLINE_MS = 3000;

/** Settings for all handlers of an application. */
export interface NextAuditSettings<Request> extends AuditSettings<Request> {
  /**
   * Waits until the event is sent, 3 s at most, not only until it is queued. `true` where the process is frozen or ended after the response, as on most
   * serverless platforms. `false` if absent.
   */
  readonly flush?: boolean | undefined;
  /** The address of the client. The last entry of `X-Forwarded-For` is only as good as the proxy; so there is none if absent. */
  readonly ip?: ((request: Request) => string | undefined) | undefined;
}

/** Makes the function that annotates handlers: `export const POST = audited({ action: "todo.created", category: "mutation" }, handler)`. */
export function auditNext<Req extends Request = Request>(settings: NextAuditSettings<Req>) {
  return <Context extends unknown[]>(
      annotation: Annotation<Req>,
      handler: (request: Req, ...context: Context) => Response | Promise<Response>,
    ) =>
    async (request: Req, ...context: Context): Promise<Response> => {
      const began = performance.now();
      let status = ERROR_STATUS;
      try {
        const response = await handler(request, ...context);
        status = response.status;
        return response;
      } catch (error) {
        status = statusOf(error);
        throw error;
      } finally {
        const facts = {
          method: request.method,
          route: undefined,
          status,
          durationMs: performance.now() - began,
          ip: () => settings.ip?.(request),
          userAgent: request.headers.get("user-agent") ?? undefined,
          requestId: request.headers.get("x-request-id") ?? undefined,
        };
        await recordFor(settings, annotation, request, facts, additionsTo(request));
        if (settings.flush === true) {
          try {
            await settings.client.flush({ deadlineMs: FLUSH_DEADLINE_MS });
          } catch (error) {
            report(settings, error);
          }
        }
      }
    };
}

/** The status of the response that Next.js makes of what a handler throws. */
function statusOf(error: unknown): number {
  const digest = (error as { readonly digest?: unknown } | null | undefined)?.digest;
  const found = typeof digest === "string" ? CONTROL_FLOW.exec(digest)?.groups : undefined;
  if (found?.["notFound"] !== undefined) {
    return NOT_FOUND_STATUS;
  }
  return Number(found?.["redirect"] ?? found?.["fallback"] ?? ERROR_STATUS);
}
