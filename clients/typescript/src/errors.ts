import type { ErrorCode, ErrorDetail, RefusedEvent } from "./types.js";

/** The invalid fields, to follow a message. */
export function inWords(details: readonly ErrorDetail[] | undefined): string {
  return (details ?? []).slice(0, 5).map((detail) => `; ${detail.field}: ${detail.message}`).join("");
}

/** Any error of this client. */
export class AuditError extends Error {
  override readonly name: string = "AuditError";
  /** The code of the service's error, if it sent one. Later versions of the service may have further codes. */
  readonly code: ErrorCode | (string & {}) | undefined = undefined;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined = undefined;
}

/** The service, or a proxy before it, refused a request or failed. */
export class AuditApiError extends AuditError {
  override readonly name: string = "AuditApiError";
  override readonly code: ErrorCode | (string & {}) | undefined;
  override readonly status: number;
  /** The invalid fields of a `validation_error`. */
  readonly details: readonly ErrorDetail[];
  /** Names the request, in the service's log too. */
  readonly requestId: string | undefined;
  /** Milliseconds after which the request may be sent again, from `Retry-After`. */
  readonly retryAfterMs: number | undefined;

  constructor(fields: {
    message: string;
    status: number;
    code?: string | undefined;
    details?: readonly ErrorDetail[] | undefined;
    requestId?: string | undefined;
    retryAfterMs?: number | undefined;
  }) {
    super(fields.message);
    this.status = fields.status;
    this.code = fields.code;
    this.details = fields.details ?? [];
    this.requestId = fields.requestId;
    this.retryAfterMs = fields.retryAfterMs;
  }
}

/**
 * Retention has removed events behind the cursor of the feed before they were read (410 `events_removed`). To go on without them, continue
 * with `cursor`, which stands for the same position.
 */
export class EventsRemovedError extends AuditApiError {
  override readonly name = "EventsRemovedError";
  readonly cursor: string;

  constructor(fields: ConstructorParameters<typeof AuditApiError>[0], cursor: string) {
    super(fields);
    this.cursor = cursor;
  }
}

/** No response: the connection failed or broke, or the time for a response was over. `cause` has the reason. */
export class AuditNetworkError extends AuditError {
  override readonly name = "AuditNetworkError";
}

/** A response with a successful status that is not one of the service. Nothing says that the request was carried out. */
export class AuditResponseError extends AuditError {
  override readonly name = "AuditResponseError";
  override readonly status: number;

  constructor(message: string, status: number, options?: { cause?: unknown }) {
    super(message, options);
    this.status = status;
  }
}

/** The service refused one event of a request and accepted others. */
export class EventRefusedError extends AuditError {
  override readonly name = "EventRefusedError";
  override readonly code: ErrorCode | (string & {});
  readonly details: readonly ErrorDetail[];

  constructor(refused: RefusedEvent) {
    super(`${refused.message}${inWords(refused.details)}`);
    this.code = refused.code;
    this.details = refused.details ?? [];
  }
}

/** The service would refuse the event, and the message names each invalid field; or the event cannot be written as JSON. It was not recorded. */
export class InvalidEventError extends AuditError {
  override readonly name = "InvalidEventError";
}

/** The queue or the spool is full. The event was dropped, and counted in `stats().dropped`. */
export class QueueFullError extends AuditError {
  override readonly name = "QueueFullError";
}

/** The client is closed. */
export class ClosedError extends AuditError {
  override readonly name = "ClosedError";
}
