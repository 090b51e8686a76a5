import {
  Actions,
  Alerts,
  Log,
  MasterKeys,
  Portal,
  ProjectKeys,
  Projects,
  Redaction,
  Streams,
  ViewerTiers,
  ViewerTokens,
  Webhooks,
} from "./administration.js";
import { type EventBuffer, MemoryBuffer } from "./buffer.js";
import { claimToken, ingestPath } from "./claim-token.js";
import { Destinations } from "./destinations.js";
import { directEntryOf, REQUEST_EVENTS_MAX } from "./entry.js";
import { Erasures } from "./erasures.js";
import { ingest } from "./ingest.js";
import { EventReads } from "./reads.js";
import { Recorder, type RecorderOptions, type RecorderStats } from "./recorder.js";
import { Holds, Retention } from "./retention.js";
import { atLeast, Transport, type TransportOptions } from "./transport.js";
import type { AuditEvent, IngestResult, NewEvent } from "./types.js";

/** How a client works. Either `apiKey`, or `stream`. */
export interface AuditClientOptions extends TransportOptions, RecorderOptions {
  /** Sends events to an anonymous stream, without a key. `true` for a new stream. */
  readonly stream?: boolean | { readonly claimToken: string } | undefined;
  /** A spool on disk in place of the queue in memory: `await openSpool({ directory })` of `audit-server-client/spool`. The client closes it. */
  readonly spool?: EventBuffer | undefined;
}

/** What middleware needs of a client; the test double has it too. */
export interface EventRecorder {
  record(event: NewEvent): Promise<boolean>;
  flush(options?: { readonly deadlineMs?: number | undefined }): Promise<boolean>;
  /** Counts an error that a middleware has reported. */
  noteMiddlewareError?(): void;
}

/** The endpoints of one project, or of the organization. */
export class AuditApi {
  readonly events: EventReads<AuditEvent>;
  readonly keys: ProjectKeys;
  readonly masterKeys: MasterKeys;
  readonly projects: Projects;
  readonly portal: Portal;
  readonly actions: Actions;
  readonly viewerTokens: ViewerTokens;
  readonly viewerTiers: ViewerTiers;
  readonly redaction: Redaction;
  readonly alerts: Alerts;
  readonly webhooks: Webhooks;
  readonly destinations: Destinations;
  readonly retention: Retention;
  readonly holds: Holds;
  readonly erasures: Erasures;
  readonly streams: Streams;
  readonly log: Log;
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
    this.events = new EventReads(transport);
    this.keys = new ProjectKeys(transport);
    this.masterKeys = new MasterKeys(transport);
    this.projects = new Projects(transport);
    this.portal = new Portal(transport);
    this.actions = new Actions(transport);
    this.viewerTokens = new ViewerTokens(transport);
    this.viewerTiers = new ViewerTiers(transport);
    this.redaction = new Redaction(transport);
    this.alerts = new Alerts(transport);
    this.webhooks = new Webhooks(transport);
    this.destinations = new Destinations(transport);
    this.retention = new Retention(transport);
    this.holds = new Holds(transport);
    this.erasures = new Erasures(transport);
    this.streams = new Streams(transport);
    this.log = new Log(transport);
  }

  /** The same endpoints for another project or environment. For master keys. */
  scoped(scope: { readonly projectId?: string; readonly environment?: "live" | "test" }): AuditApi {
    return new AuditApi(this.#transport.scoped(scope));
  }
}

/** Records events, and has all endpoints of the service. */
export class AuditClient extends AuditApi implements EventRecorder {
  /** The token of the stream, with which its events can be claimed; `undefined` with a key. Keep it: nobody else knows it. */
  readonly claimToken: string | undefined;
  readonly #transport: Transport;
  readonly #recorder: Recorder;
  readonly #path: string;

  constructor(options: AuditClientOptions) {
    const transport = new Transport(options);
    super(transport);
    this.#transport = transport;
    this.claimToken = claimTokenOf(options);
    this.#path = ingestPath(this.claimToken);
    const { batchEvents = 10, queueEventsMax = 1000 } = options;
    // A queue that never has a whole batch would be sent by the timer alone. A spool has a limit of its own.
    const eventsMax = atLeast("queueEventsMax", queueEventsMax, options.spool === undefined ? batchEvents : 1);
    this.#recorder = new Recorder(transport, this.#path, options.spool ?? new MemoryBuffer(eventsMax), options);
  }

  /**
   * Records an event: it enters the queue, and is sent with others. With a spool the event is on the disk when the promise
   * resolves. `false` if it was dropped (`overflow: "drop_newest"`), or is invalid: the service would refuse it, which is reported to `onFailed` at once,
   * and an error only with `raiseInvalid`. The outcome of sending is reported to `onStored` and `onFailed`.
   *
   * @throws QueueFullError if there is no room, with `overflow: "error"`, or if too many calls wait for room already.
   */
  record(event: NewEvent): Promise<boolean> {
    return this.#recorder.record(event);
  }

  /**
   * Sends an event, or up to 100, at once, and waits until they are stored. Of an array, refused events are in `errors` of the result.
   *
   * @param options `receipt`: the result has `receipts`; the service then waits for the signature, about a second.
   * @throws AuditApiError if none was stored.
   */
  async ingest(
    events: NewEvent | readonly NewEvent[],
    options: { readonly receipt?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<IngestResult> {
    if (!Array.isArray(events)) {
      return ingest(this.#transport, this.#path, directEntryOf(events as NewEvent), 1, options);
    }
    if (events.length < 1 || events.length > REQUEST_EVENTS_MAX) {
      throw new RangeError(`a request has 1 to ${REQUEST_EVENTS_MAX} events, not ${events.length}`);
    }
    const text = `[${(events as readonly NewEvent[]).map(directEntryOf).join(",")}]`;
    return ingest(this.#transport, this.#path, text, events.length, options);
  }

  /**
   * Sends what is queued. `true` if every event that was recorded since the last flush is stored. `false` if one was refused or dropped, or still
   * waits after `deadlineMs` (30,000 if absent); it is sent later. With a longer `Retry-After` it resolves at once.
   */
  flush(options: { readonly deadlineMs?: number | undefined } = {}): Promise<boolean> {
    return this.#recorder.flush(options.deadlineMs);
  }

  /**
   * The same, and takes no more events. Ends requests that take longer than `deadlineMs` (30,000 if absent). What is left waits in a spool for the
   * next process, without waiting for a service that does not respond; from memory each event is reported to `onFailed`.
   */
  close(options: { readonly deadlineMs?: number | undefined } = {}): Promise<boolean> {
    return this.#recorder.close(options.deadlineMs);
  }

  /** What has become of the recorded events. */
  stats(): RecorderStats {
    return this.#recorder.stats();
  }

  /** Counts an error that a middleware has reported, for `stats().middlewareErrors`. */
  noteMiddlewareError(): void {
    this.#recorder.noteMiddlewareError();
  }
}

function claimTokenOf(options: AuditClientOptions): string | undefined {
  const { apiKey, stream = false } = options;
  if (stream === false) {
    // A missing variable must not send events to an anonymous stream, so a stream is asked for.
    if (apiKey === undefined) {
      throw new TypeError("apiKey is missing (or set stream for an anonymous stream)");
    }
    return undefined;
  }
  if (apiKey !== undefined) {
    throw new TypeError("a stream takes no apiKey");
  }
  return claimToken(stream === true ? undefined : stream.claimToken, "claimToken");
}
