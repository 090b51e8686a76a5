/**
 * Takes the place of the interface's published TypeScript client, the npm package `@logstitch/sdk`: a program changes its import and
 * `baseUrl`. The same constructors, methods and types; README.md lists the differences. New programs use `AuditClient`.
 *
 * @module
 */
import { MemoryBuffer } from "./buffer.js";
import { claimToken, ingestPath } from "./claim-token.js";
import { directEntryOf, REQUEST_EVENTS_MAX } from "./entry.js";
import { AuditApiError, AuditError, EventRefusedError, QueueFullError } from "./errors.js";
import { ingest } from "./ingest.js";
import type {
  EventInput,
  EventListParams,
  EventListResponse,
  IngestResponse,
  LogStitchOptions,
  StreamOptions,
  ViewerTokenParams,
  ViewerTokenResponse,
} from "./logstitch-types.js";
import { Recorder, type RecorderStats } from "./recorder.js";
import { atLeast, type Call, checkedKey, errorBody, Transport } from "./transport.js";

export type * from "./logstitch-types.js";
export type { RecorderStats } from "./recorder.js";

/** The service refused a request or an event, or failed. A request without a response is an `AuditNetworkError`. */
export class LogStitchError extends Error {
  /** The HTTP status. 400 for an event that was refused while others of its request were stored. */
  readonly status: number;
  /** The code of the service, such as `validation_error`; `unknown_error` if the response has none. */
  readonly code: string;
  /** Names the request; empty if the response has none. */
  readonly requestId: string;

  constructor(message: string, status: number, code: string, requestId: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "LogStitchError";
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }

  /** The error of a failed response. */
  static async fromResponse(response: Response): Promise<LogStitchError> {
    const { code, message, requestId } = errorBody(await response.text().catch(() => ""));
    return new LogStitchError(message ?? `HTTP ${response.status}`, response.status, code ?? "unknown_error", requestId ?? "");
  }
}

/** Records events, lists them, and creates viewer tokens. */
export class LogStitch {
  readonly events: { list: (params?: EventListParams) => Promise<EventListResponse> };
  readonly viewerTokens: { create: (params: ViewerTokenParams) => Promise<ViewerTokenResponse> };
  /** The claim token of a stream; `null` with a project key. */
  readonly token: string | null;
  readonly #transport: Transport;
  readonly #path: string;
  readonly #recorder: Recorder;
  readonly #isStrict: boolean;
  readonly #onError: ((error: Error) => void) | undefined;
  /** The last error of the recorder: the same object for all events of a failed request. */
  #lastFailure: AuditError | undefined;
  /** The first error since the last `flush`, for strict mode. */
  #pendingError: Error | undefined;

  /**
   * A client that sends to an anonymous stream, without a key. Prints the token of a new stream: its events can be claimed with
   * nothing else.
   */
  static stream(options: StreamOptions): LogStitch {
    const token = claimToken(options.token, "LogStitch: token");
    if (options.token === undefined) {
      console.log(`audit stream: claim it with the token ${token} (POST /api/v1/streams/claim)`);
    }
    return new LogStitch({ ...options, token });
  }

  constructor(options: LogStitchOptions | (StreamOptions & { token: string; projectKey?: never })) {
    if (typeof options.baseUrl !== "string") {
      throw new TypeError("LogStitch: baseUrl is required: the address of the audit log service");
    }
    const token = "token" in options ? claimToken(options.token, "LogStitch: token") : undefined;
    const apiKey = token === undefined ? checkedKey(options.projectKey ?? "", "LogStitch: projectKey") : undefined;
    this.token = token ?? null;
    this.#transport = new Transport({ baseUrl: options.baseUrl, apiKey });
    this.#path = ingestPath(token);
    this.#isStrict = options.strict ?? false;
    this.#onError = options.onError;
    this.#recorder = new Recorder(
      this.#transport,
      this.#path,
      new MemoryBuffer(atLeast("LogStitch: maxQueueSize", options.maxQueueSize ?? 1000, 1)),
      {
        batchEvents: Math.min(atLeast("LogStitch: batchSize", options.batchSize ?? 10, 1), REQUEST_EVENTS_MAX),
        flushIntervalMs: atLeast("LogStitch: flushInterval", options.flushInterval ?? 5000, 0),
        overflow: "drop_newest",
        onFailed: (_, error) => this.#noteFailure(error),
      },
      true,
    );
    this.events = { list: (query) => this.#call("events.list", { method: "GET", path: "/events", query, isScoped: true }) };
    this.viewerTokens = {
      // A second token after a lost response does no harm.
      create: (body) => this.#call("viewerTokens.create", { method: "POST", path: "/viewer-tokens", body, isRepeatable: true }),
    };
  }

  /** Queues an event, and does not wait until it is sent. Throws in strict mode only: if the queue is full, or the event is not JSON. */
  async log(event: EventInput): Promise<void> {
    try {
      if (!(await this.#recorder.record(event)) && this.#isStrict) {
        throw new QueueFullError("the queue is full; the event was dropped");
      }
    } catch (error) {
      this.#report(error);
    }
  }

  /**
   * Sends 1 to 100 events at once, and waits until they are stored.
   *
   * @throws LogStitchError if none was stored; in strict mode also if some were refused.
   */
  async logBatch(events: EventInput[]): Promise<IngestResponse> {
    const entries = events.map(directEntryOf);
    const text = entries.length === 1 ? entries[0]! : `[${entries.join(",")}]`;
    const result = await ingest(this.#transport, this.#path, text, entries.length).catch(rethrow);
    for (const refused of result.errors ?? []) {
      const { message } = refused;
      this.#report(translated(new EventRefusedError({ ...refused, message: `events[${refused.index}]: ${message}` })));
    }
    return result as IngestResponse;
  }

  /** Sends what is queued, and waits until the outcome of each event is known, 30 s at most. In strict mode throws the first error. */
  async flush(): Promise<void> {
    await this.#recorder.flush();
    if (this.stats().pending > 0) {
      this.#noteFailure(new AuditError(`${this.stats().pending} events are still being sent; the outcome goes to onError`));
    }
    const error = this.#pendingError;
    this.#pendingError = undefined;
    if (error !== undefined && this.#isStrict) {
      throw error;
    }
  }

  /** The same as `flush`. Nothing keeps the process alive afterwards, and the client can still be used. */
  close(): Promise<void> {
    return this.flush();
  }

  /** What has become of the events of `log`. The published client does not count them. */
  stats(): RecorderStats {
    return this.#recorder.stats();
  }

  async #call<T>(name: string, call: Call): Promise<T> {
    if (this.token !== null) {
      throw new Error(`LogStitch: ${name}() needs a projectKey; a stream cannot be read`);
    }
    return this.#transport.json<T>(call).catch(rethrow);
  }

  /** An error of what was sent in the background. */
  #noteFailure(failure: AuditError): void {
    if (failure === this.#lastFailure) {
      return;
    }
    this.#lastFailure = failure;
    const error = translated(failure);
    this.#pendingError ??= error;
    this.#onError?.(error);
  }

  /** An error of the present call. */
  #report(error: unknown): void {
    if (this.#isStrict) {
      throw error;
    }
    this.#onError?.(error as Error);
  }
}

function rethrow(error: unknown): never {
  throw translated(error as Error);
}

/** An error of this package as the published client has it. */
function translated(error: Error): Error {
  if (error instanceof AuditApiError) {
    return new LogStitchError(error.message, error.status, error.code ?? "unknown_error", error.requestId ?? "", { cause: error });
  }
  if (error instanceof EventRefusedError) {
    return new LogStitchError(error.message, 400, error.code, "", { cause: error });
  }
  return error;
}
