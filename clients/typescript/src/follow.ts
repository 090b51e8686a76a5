import { AuditApiError, AuditError, AuditNetworkError } from "./errors.js";
import { serverSentEvents } from "./sse.js";
import { isFailure, sleep, type Transport } from "./transport.js";
import type { AuditEvent, FeedFilter, FeedPage, VisibleEvent } from "./types.js";

/** How the feed is followed. */
export interface FollowOptions {
  /** Which events; `limit` and `wait` have defaults that fit. */
  readonly filter?: Omit<FeedFilter, "after"> | undefined;
  /** The cursor after which to begin; from the oldest event if absent. */
  readonly after?: string | undefined;
  /** `poll` (the default) sends a request for each page, `sse` reads one stream of server-sent events. */
  readonly via?: "poll" | "sse" | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each interruption that is retried. */
  readonly onInterruption?: ((error: AuditError) => void) | undefined;
}

/** An event of the feed. */
export interface FollowedEvent<Event extends VisibleEvent = AuditEvent> {
  readonly event: Event;
  /**
   * The position behind the event. Of a page that came by a poll only the last event has one, and the others that before the page: after a
   * crash the events of that page come again.
   */
  readonly cursor: string | undefined;
}

type ReadPage<Event extends VisibleEvent> = (filter: FeedFilter, signal?: AbortSignal) => Promise<FeedPage<Event>>;

/** A `Retry-After` of the feed is waited for up to this long. */
const RETRY_AFTER_MS_MAX = 24 * 3600 * 1000;

interface Position {
  cursor: string | undefined;
  /** Interruptions since the last response. */
  interruptions: number;
}

/** Follows the feed until the signal ends it or an error that waiting does not cure. */
export async function* followFeed<Event extends VisibleEvent>(
  transport: Transport,
  read: ReadPage<Event>,
  options: FollowOptions,
): AsyncGenerator<FollowedEvent<Event>, void, undefined> {
  const position: Position = { cursor: options.after, interruptions: 0 };
  while (!isAborted(options.signal)) {
    try {
      yield* options.via === "sse"
        ? streamed<Event>(transport, position, options)
        : polled(read, position, options);
    } catch (error) {
      if (isAborted(options.signal)) {
        return;
      }
      const wait = waitAfter(error, position.interruptions, transport);
      if (wait === undefined) {
        throw error;
      }
      position.interruptions += 1;
      options.onInterruption?.(error as AuditError);
      await sleep(wait, options.signal);
    }
  }
}

/** One page. */
async function* polled<Event extends VisibleEvent>(
  read: ReadPage<Event>,
  position: Position,
  options: FollowOptions,
): AsyncGenerator<FollowedEvent<Event>, void, undefined> {
  const after = position.cursor === undefined ? {} : { after: position.cursor };
  const page = await read({ wait: 30, limit: 200, ...options.filter, ...after }, options.signal);
  position.interruptions = 0;
  const last = page.events.length - 1;
  for (const [index, event] of page.events.entries()) {
    yield { event, cursor: index === last ? page.cursor : position.cursor };
  }
  position.cursor = page.cursor;
}

/** Events of one stream, until it is interrupted. */
async function* streamed<Event extends VisibleEvent>(
  transport: Transport,
  position: Position,
  options: FollowOptions,
): AsyncGenerator<FollowedEvent<Event>, void, undefined> {
  const { wait: _, ...query } = options.filter ?? {};
  const headers: Record<string, string> = { Accept: "text/event-stream" };
  if (position.cursor !== undefined) {
    headers["Last-Event-ID"] = position.cursor;
  }
  const abort = new AbortController();
  const end = (): void => abort.abort();
  options.signal?.addEventListener("abort", end, { once: true });
  try {
    const call = { method: "GET", path: "/events/feed", query, headers, isScoped: true, signal: abort.signal } as const;
    const response = await transport.open(call);
    for await (const message of serverSentEvents(response)) {
      position.interruptions = 0;
      if (message.event === "end") {
        throw endError(message.data, response.status);
      }
      if (message.event === "audit") {
        yield { event: JSON.parse(message.data) as Event, cursor: message.id };
      }
      // After the event: whoever leaves the iteration in between has not stored it.
      position.cursor = message.id ?? position.cursor;
    }
  } finally {
    options.signal?.removeEventListener("abort", end);
    end();
  }
  throw new AuditNetworkError("the stream of events was interrupted");
}

/** The error of a stream that the server refuses to continue. */
function endError(data: string, status: number): AuditError {
  const { code, message } = JSON.parse(data) as { code?: string; message?: string };
  return new AuditApiError({ message: `the stream of events has ended: ${code}: ${message}`, status, code });
}

/** Milliseconds; `undefined` for an error that waiting does not cure. */
function waitAfter(error: unknown, interruptions: number, transport: Transport): number | undefined {
  if (!(error instanceof AuditError)) {
    return undefined;
  }
  if (!(error instanceof AuditApiError)) {
    return transport.backoffMs(interruptions);
  }
  const { status, retryAfterMs = 0 } = error;
  const isCurable = isFailure(status) || (status === 429 && error.retryAfterMs !== undefined);
  return isCurable ? Math.max(transport.backoffMs(interruptions), Math.min(retryAfterMs, RETRY_AFTER_MS_MAX)) : undefined;
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
