import { AuditApiError, AuditError, AuditResponseError, EventRefusedError } from "./errors.js";
import { type Entry, firstRequest } from "./entry.js";
import type { Call, Transport } from "./transport.js";
import type { ErrorDetail, IngestResult, RefusedEvent } from "./types.js";

/** What happened to one event. */
export type Outcome = { readonly id: string } | { readonly error: Error };

/** How a request is sent; see `Call`. */
type Sending = Pick<Call, "signal" | "onFailedAttempt">;

/** Sends one request. The result accounts for every event, or it is not accepted. */
export function ingest(
  transport: Transport,
  path: string,
  text: string,
  count: number,
  options: { receipt?: boolean | undefined } & Sending = {},
): Promise<IngestResult> {
  return transport.read(
    {
      method: "POST",
      path,
      text,
      isScoped: !path.startsWith("/streams/"),
      isRepeatable: true,
      signal: options.signal,
      onFailedAttempt: options.onFailedAttempt,
      ...(options.receipt === true ? { headers: { Prefer: "receipt" } } : {}),
    },
    (body, status) => checkedResult(body, status, count),
  );
}

/** A result with one id or one error for each event. Anything else says nothing about the events. */
function checkedResult(body: string, status: number, count: number): IngestResult {
  let result: Partial<IngestResult> | null;
  try {
    result = JSON.parse(body) as typeof result;
  } catch (cause) {
    throw new AuditResponseError("the response to the events is not JSON", status, { cause });
  }
  const ids: unknown = result?.ids;
  const errors: unknown = result?.errors ?? [];
  const isWhole =
    Array.isArray(ids) &&
    ids.every((id) => typeof id === "string") &&
    Array.isArray(errors) &&
    ids.length + errors.length === count &&
    new Set(errors.map((error: RefusedEvent | null) => error?.index)).size === errors.length &&
    errors.every((error: RefusedEvent | null) => Number.isInteger(error?.index) && error!.index >= 0 && error!.index < count);
  if (!isWhole) {
    throw new AuditResponseError("the response does not have an id or an error for each event", status);
  }
  return result as IngestResult;
}

/**
 * Sends events, in several requests if need be, and calls `settled` for each, in order, when its outcome is known. Throws when
 * a request failed in a way that concerns the rest as well; those before it are settled.
 */
export async function deliver(
  transport: Transport,
  path: string,
  entries: readonly Entry[],
  settled: (entry: Entry, outcome: Outcome) => Promise<void>,
  sending: Sending,
): Promise<void> {
  for (let rest = entries; rest.length > 0; ) {
    const request = firstRequest(rest);
    await deliverRequest(transport, path, request, settled, sending);
    rest = rest.slice(request.length);
  }
}

async function deliverRequest(
  transport: Transport,
  path: string,
  entries: readonly Entry[],
  settled: (entry: Entry, outcome: Outcome) => Promise<void>,
  sending: Sending,
): Promise<void> {
  let result: IngestResult;
  try {
    result = await ingest(transport, path, `[${entries.join(",")}]`, entries.length, sending);
  } catch (error) {
    if (!(error instanceof AuditApiError)) {
      throw error;
    }
    if (entries.length > 1 && isUnreadable(error)) {
      // One event makes the request unreadable or too large. The halves tell which, and the others are stored.
      const middle = Math.ceil(entries.length / 2);
      await deliverRequest(transport, path, entries.slice(0, middle), settled, sending);
      return deliverRequest(transport, path, entries.slice(middle), settled, sending);
    }
    if (!isRefusal(error)) {
      throw error;
    }
    for (const [index, entry] of entries.entries()) {
      await settled(entry, { error: ofEvent(error, index) });
    }
    return;
  }
  const refused = new Map((result.errors ?? []).map((entry) => [entry.index, entry]));
  const ids = result.ids[Symbol.iterator]();
  for (const [index, entry] of entries.entries()) {
    const error = refused.get(index);
    const outcome = error === undefined ? { id: ids.next().value as string } : { error: new EventRefusedError(error) };
    await settled(entry, outcome);
  }
}

/** The request as a whole could not be read: a fault of the JSON of one event, or too many bytes. */
function isUnreadable(error: AuditApiError): boolean {
  return error.status === 413 || (error.status === 400 && error.details.some((detail) => detail.field === "body"));
}

/** Whether the service will never accept these events. Everything else may be cured: the network, the server, the key, a limit, the client's settings. */
function isRefusal(error: AuditApiError): boolean {
  if (error.status === 400 && !error.details.some(namesEvents)) {
    return false;
  }
  return error.status === 413 || ([400, 409, 410, 422].includes(error.status) && error.code !== undefined);
}

/** Whether a detail is about an event of the request's array (`[3].actor.id`), or about the array. */
function namesEvents({ field }: ErrorDetail): boolean {
  return field.startsWith("[") || field === "body";
}

/** The error of one event of a request that was refused whole. */
function ofEvent(error: AuditApiError, index: number): AuditApiError {
  const prefix = `[${index}].`;
  const own = error.details.filter((detail) => detail.field.startsWith(prefix));
  if (own.length === 0) {
    return error;
  }
  const { message, status, code, requestId } = error;
  const details = own.map((detail) => ({ ...detail, field: detail.field.slice(prefix.length) }));
  return new AuditApiError({ message, status, code, requestId, details });
}

/** Any error as one of this client. */
export function asAuditError(error: unknown): AuditError {
  return error instanceof AuditError ? error : new AuditError("the events could not be sent", { cause: error });
}
