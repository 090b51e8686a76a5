import type { EventBuffer } from "./buffer.js";
import { checkEntry } from "./check.js";
import { bytesOf, type Entry, entryOf, eventOf, REQUEST_EVENTS_MAX } from "./entry.js";
import { AuditError, ClosedError, QueueFullError } from "./errors.js";
import { asAuditError, deliver, type Outcome } from "./ingest.js";
import { atLeast, isTemporary, sleep, type Transport } from "./transport.js";
import type { NewEvent } from "./types.js";

/** How recorded events are sent. */
export interface RecorderOptions {
  /** So many queued events are sent at once. 10 if absent, at most 100. */
  readonly batchEvents?: number | undefined;
  /** Fewer are sent this many milliseconds after the first of them. 5,000 if absent. */
  readonly flushIntervalMs?: number | undefined;
  /** Events in memory, those being sent included. 1,000 if absent. A spool has a limit of its own. */
  readonly queueEventsMax?: number | undefined;
  /**
   * What `record` does when the queue or the spool is full. `block` (the default) waits for room, and is an error after `blockMsMax`; `drop_newest` drops the event; `error`
   * rejects with a {@link QueueFullError}. Dropped and rejected events are counted in `stats().dropped`.
   */
  readonly overflow?: "block" | "drop_newest" | "error" | undefined;
  /** Milliseconds that `block` waits at most; in an outage they count from its beginning. 30,000 if absent. */
  readonly blockMsMax?: number | undefined;
  /**
   * Whether events wait, as in an outage, while the key or the address is refused (401, 403, 404, 3xx, pages of a proxy). If not, each is reported
   * to `onFailed` at once. `true` with a spool if absent.
   */
  readonly keepUnauthorized?: boolean | undefined;
  /**
   * Whether `record` rejects with an {@link InvalidEventError} for an event that the service would refuse: for development and tests. If not, `record`
   * resolves with `false`, and the error goes to `onFailed`, or to the console without one. `false` if absent.
   */
  readonly raiseInvalid?: boolean | undefined;
  /** Called for each event that the service has stored. */
  readonly onStored?: ((event: NewEvent, id: string) => void) | undefined;
  /** Called for each event that is invalid, was refused, or was left when the client was closed. It is lost, unless the caller records it again. */
  readonly onFailed?: ((event: NewEvent, error: AuditError) => void) | undefined;
  /** Called for each event that did not enter the queue. */
  readonly onDropped?: ((event: NewEvent) => void) | undefined;
  /** Called when sending is delayed by an error; the events stay in the queue or the spool, and are sent again. */
  readonly onDelayed?: ((error: AuditError) => void) | undefined;
}

/** What has become of the recorded events. */
export interface RecorderStats {
  /** Stored by the service. */
  readonly stored: number;
  /** Invalid, refused, or left when the client was closed. */
  readonly failed: number;
  /** Did not enter the queue, or the spool, because it is full or its disk cannot be written. */
  readonly dropped: number;
  /** In the queue or the spool. */
  readonly pending: number;
  /**
   * Errors that the middleware with this client have reported to `onError`: a function of the application that threw, an event without a tenant, an
   * event that `record` rejected. Such an event may be in no other count.
   */
  readonly middlewareErrors: number;
}

/** Milliseconds that `flush` and `close` take at most, unless the caller says otherwise. */
export const FLUSH_DEADLINE_MS = 30_000;
/** The longest pause after a failed send while the client is being closed: it has little time left. */
const CLOSING_PAUSE_MS_MAX = 2000;
/** The longest timer of JavaScript. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** What is done without `onDelayed`, once in an outage: a program that waits for its end has to say why. */
function warnOf(error: AuditError): void {
  console.warn(`audit-server-client: events wait until the service has them: ${error.message}`);
}

/** What is done with an invalid event without `onFailed`: the application's fault must not go unnoticed. */
function reportInvalid(_: NewEvent, error: AuditError): void {
  console.error(`audit-server-client: an event was not recorded: ${error.message}`);
}

interface Waiter {
  readonly bytes: number;
  readonly resolve: (hasRoom: boolean) => void;
}

/** Buffers events and sends them in batches, one request at a time, in the order in which they were recorded. */
export class Recorder {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #buffer: EventBuffer;
  readonly #options: RecorderOptions;
  readonly #batchEvents: number;
  readonly #flushIntervalMs: number;
  readonly #waitersMax: number;
  readonly #blockMsMax: number;
  readonly #keepsUnauthorized: boolean;
  readonly #counts = { stored: 0, failed: 0, dropped: 0, middlewareErrors: 0 };
  readonly #abort = new AbortController();
  /** Calls of `record` that wait for room. */
  readonly #waiters = new Set<Waiter>();
  /** Events since the start, with those that were in the spool then: handed to the buffer, safe in the buffer, settled. */
  #accepted: number;
  #appended: number;
  #settledCount = 0;
  /** Everything up to this number is to be sent, however few it is. */
  #sendUpTo = 0;
  /** Sends that failed one after the other, and when the first attempt did. */
  #failures = 0;
  #failingSince: number | undefined;
  /** Before this time nothing is sent, whatever the caller does: the service said so. */
  #notBefore = 0;
  /** Ends the pause after a failed send. */
  #wake: (() => void) | undefined;
  /** Events that were lost when a flush last told of it. */
  #toldLost = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<void> | undefined;
  /** Called after each settled batch. */
  #progress: (() => void)[] = [];
  #isClosed = false;
  #closing: Promise<boolean> | undefined;

  /**
   * @param givesUp Whether events whose attempts have failed are reported as failed at once, as the published client of the interface does.
   */
  constructor(
    transport: Transport,
    path: string,
    buffer: EventBuffer,
    options: RecorderOptions,
    readonly givesUp = false,
  ) {
    this.#transport = transport;
    this.#path = path;
    this.#buffer = buffer;
    this.#options = options;
    this.#batchEvents = atLeast("batchEvents", options.batchEvents ?? 10, 1);
    if (this.#batchEvents > REQUEST_EVENTS_MAX) {
      throw new RangeError(`batchEvents is a number of at most ${REQUEST_EVENTS_MAX}`);
    }
    if (!["block", "drop_newest", "error"].includes(options.overflow ?? "block")) {
      throw new TypeError(`overflow is "block", "drop_newest" or "error", not ${JSON.stringify(options.overflow)}`);
    }
    this.#flushIntervalMs = atLeast("flushIntervalMs", options.flushIntervalMs ?? 5000, 0);
    this.#waitersMax = options.queueEventsMax ?? 1000;
    this.#blockMsMax = atLeast("blockMsMax", options.blockMsMax ?? 30_000, 0);
    this.#keepsUnauthorized = options.keepUnauthorized ?? buffer.isDurable;
    this.#accepted = buffer.pending;
    this.#appended = buffer.pending;
    // What an earlier process left is sent at once.
    this.#sendUpTo = this.#appended;
    this.#schedule();
  }

  stats(): RecorderStats {
    return { ...this.#counts, pending: this.#buffer.pending };
  }

  noteMiddlewareError(): void {
    this.#counts.middlewareErrors += 1;
  }

  /** See `AuditClient.record`. */
  record(event: NewEvent): Promise<boolean> {
    const recorded = this.#record(event);
    // A caller who does not wait is told by `onDropped` and `stats`, and must not die of an unhandled rejection.
    recorded.catch(() => undefined);
    return recorded;
  }

  async #record(event: NewEvent): Promise<boolean> {
    if (this.#isClosed) {
      this.#drop(event);
      throw new ClosedError("the client is closed; the event was dropped");
    }
    const entry = this.#entryOf(event);
    if (entry === undefined) {
      return false;
    }
    const bytes = bytesOf(entry);
    // Those who wait already come first.
    const mustWait = this.#waiters.size > 0 || !this.#buffer.hasRoom(bytes);
    if (mustWait && !(await this.#waitForRoom(bytes))) {
      this.#drop(event);
      if (this.#options.overflow === "drop_newest") {
        return false;
      }
      throw new QueueFullError("the queue is full; the event was dropped");
    }
    this.#accepted += mustWait ? 0 : 1;
    try {
      await this.#buffer.append(entry);
    } catch (error) {
      this.#accepted -= 1;
      this.#drop(event);
      throw error;
    }
    this.#appended += 1;
    this.#schedule();
    return true;
  }

  /** The entry of an event; `undefined` for an invalid one, which is counted and reported at once. */
  #entryOf(event: NewEvent): Entry | undefined {
    try {
      const entry = entryOf(event, new Date());
      if (!this.givesUp) {
        checkEntry(entry);
      }
      return entry;
    } catch (error) {
      if (this.givesUp) {
        // Counted, because a caller who does not wait sees no error.
        this.#drop(event);
        throw error;
      }
      this.#counts.failed += 1;
      if (this.#options.raiseInvalid === true) {
        throw error;
      }
      const { onFailed = reportInvalid } = this.#options;
      this.#call(() => onFailed(event, error as AuditError));
      return undefined;
    }
  }

  #drop(event: NewEvent): void {
    this.#counts.dropped += 1;
    this.#call(() => this.#options.onDropped?.(event));
  }

  /** Whether there is room now. */
  #waitForRoom(bytes: number): Promise<boolean> {
    const { overflow = "block" } = this.#options;
    // Callers who never wait for `record` would otherwise fill the memory in place of the queue.
    const isTooLarge = this.#waiters.size === 0 && this.#buffer.pending === 0;
    if (overflow !== "block" || isTooLarge || this.#waiters.size >= this.#waitersMax) {
      return Promise.resolve(false);
    }
    this.#sendUpTo = this.#accepted;
    this.#schedule();
    // Not for every caller again: an application must not stop with the service.
    const outageMs = this.#failingSince === undefined ? 0 : performance.now() - this.#failingSince;
    const blockMs = Math.max(0, this.#blockMsMax - outageMs);
    return new Promise((resolve) => {
      const end = (hasRoom: boolean): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        this.#accepted += hasRoom ? 1 : 0;
        resolve(hasRoom);
      };
      const timer = setTimeout(end, Math.min(blockMs, TIMER_MS_MAX), false);
      const waiter = { bytes, resolve: end };
      this.#waiters.add(waiter);
    });
  }

  /** Lets in those who wait, as far as there is room. Each appends before the next one is looked at. */
  async #admit(): Promise<void> {
    for (const waiter of this.#waiters) {
      const hasRoom = this.#buffer.hasRoom(waiter.bytes);
      // An event that does not fit into an empty buffer must not block those behind it forever.
      if (!hasRoom && this.#buffer.pending > 0) {
        return;
      }
      waiter.resolve(hasRoom);
      await Promise.resolve();
      await Promise.resolve();
    }
  }

  /** Starts to send if there is a reason to, and the timer if there is something to send later. */
  #schedule(): void {
    const waiting = this.#appended - this.#settledCount;
    if (this.#sending === undefined && this.#isDue()) {
      this.#sending = this.#send().finally(() => {
        this.#sending = undefined;
        if (!this.#abort.signal.aborted) {
          this.#schedule();
        }
        this.#notify();
      });
    }
    if (waiting > 0 && this.#timer === undefined && this.#sending === undefined && !this.#isClosed) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#sendUpTo = this.#accepted;
        this.#schedule();
      }, Math.min(this.#flushIntervalMs, TIMER_MS_MAX));
    }
  }

  #isDue(): boolean {
    const waiting = this.#appended - this.#settledCount;
    return waiting >= this.#batchEvents || (waiting > 0 && this.#settledCount < this.#sendUpTo);
  }

  async #send(): Promise<void> {
    while (this.#isDue() && !this.#abort.signal.aborted) {
      try {
        const entries = await this.#buffer.oldest(REQUEST_EVENTS_MAX);
        if (entries.length === 0) {
          // Events that were there when they were counted cannot be read any more. The next process counts again.
          throw new AuditError(`${this.#buffer.pending} events of the spool cannot be read`);
        }
        await this.#deliver(entries);
      } catch (cause) {
        // The disk of the spool. The events are still there, or were never acknowledged.
        await this.#pause(new AuditError("the spool cannot be read or written", { cause }));
      }
      await this.#admit();
      this.#notify();
    }
    if (this.#buffer.pending === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
  }

  /** Sends some events, and settles them. Those that have to be sent again stay, and there is a pause. */
  async #deliver(entries: readonly Entry[]): Promise<void> {
    let settled = 0;
    const settle = async (entry: Entry, outcome: Outcome): Promise<void> => {
      await this.#note(entry, outcome);
      settled += 1;
    };
    let delayed: AuditError | undefined;
    try {
      await deliver(this.#transport, this.#path, entries, settle, {
        signal: this.#abort.signal,
        onFailedAttempt: (error) => this.#noteAttempt(error),
      });
    } catch (caught) {
      if (!this.#abort.signal.aborted) {
        const error = asAuditError(caught);
        if (!this.givesUp && (isTemporary(error) || this.#keepsUnauthorized)) {
          delayed = error;
        } else {
          for (const entry of entries.slice(settled)) {
            await settle(entry, { error });
          }
        }
      }
    }
    if (settled > 0) {
      await this.#buffer.settle(settled);
      this.#settledCount += settled;
      this.#failures = 0;
      this.#failingSince = undefined;
    }
    if (delayed !== undefined) {
      await this.#pause(delayed);
    }
  }

  /** Notes an attempt that failed: nothing is sent before its `Retry-After`. */
  #noteAttempt(error: unknown): void {
    this.#failingSince ??= performance.now();
    this.#notBefore = performance.now() + this.#transport.toldMs(error);
    this.#notify();
  }

  /** Waits after a failed send. A flush ends the wait, but not before a `Retry-After`. */
  async #pause(error: AuditError): Promise<void> {
    const { onDelayed = this.#failures === 0 ? warnOf : undefined } = this.#options;
    this.#failures += 1;
    this.#call(() => onDelayed?.(error));
    if (this.#isClosed && this.#buffer.isDurable) {
      // The spool keeps the events. Waiting for the service would only hold up the end of the process.
      this.#abort.abort();
      return;
    }
    const told = this.#transport.toldMs(error);
    const pause = this.#transport.pauseMs(this.#failures, error);
    const wait = this.#isClosed ? Math.max(told, Math.min(pause, CLOSING_PAUSE_MS_MAX)) : pause;
    this.#noteAttempt(error);
    const rest = new AbortController();
    this.#wake = () => rest.abort();
    await sleep(told, this.#abort.signal);
    if (!this.#abort.signal.aborted) {
      await sleep(wait - told, rest.signal);
    }
    this.#wake = undefined;
  }

  async #note(entry: Entry, outcome: Outcome): Promise<void> {
    if ("id" in outcome) {
      this.#counts.stored += 1;
      if (this.#options.onStored !== undefined) {
        this.#call(() => this.#options.onStored?.(eventOf(entry), outcome.id));
      }
      return;
    }
    const error = asAuditError(outcome.error);
    await this.#buffer.noteRefused(entry, error);
    this.#counts.failed += 1;
    this.#call(() => this.#options.onFailed?.(eventOf(entry), error));
  }

  /** Calls a function of the caller. An error of it stops neither the sending nor the process. */
  #call(callback: () => void): void {
    const called = (async () => callback())();
    called.catch((error: unknown) => console.error("audit-server-client: a function of the application failed:", error));
  }

  #notify(): void {
    const callbacks = this.#progress;
    this.#progress = [];
    for (const callback of callbacks) {
      callback();
    }
  }

  /** See `AuditClient.flush`. */
  async flush(deadlineMs = FLUSH_DEADLINE_MS): Promise<boolean> {
    const toldLost = this.#toldLost;
    return this.#isWhole(await this.#drained(deadlineMs), toldLost);
  }

  /** Whether nothing is left, and nothing was lost since a flush told of it, as it was when this one began. */
  #isWhole(isSettled: boolean, toldLost: number): boolean {
    this.#toldLost = this.#counts.failed + this.#counts.dropped;
    return isSettled && this.#toldLost === toldLost;
  }

  /** As `#flushed`, with the calls that wait for room now. */
  async #drained(deadlineMs: number): Promise<boolean> {
    const deadline = performance.now() + deadlineMs;
    const waiting = [...this.#waiters];
    let isDone = await this.#flushed(deadlineMs);
    while (isDone && waiting.some((waiter) => this.#waiters.has(waiter)) && performance.now() < deadline) {
      await this.#progressWithin(deadline - performance.now());
      isDone = await this.#flushed(deadline - performance.now());
    }
    return isDone && (waiting.length === 0 || this.#flushed(deadline - performance.now()));
  }

  /** Whether the outcome of all events is known. False as soon as nothing may be sent before the deadline. */
  async #flushed(deadlineMs: number): Promise<boolean> {
    const goal = this.#accepted;
    const deadline = performance.now() + deadlineMs;
    this.#sendUpTo = Math.max(this.#sendUpTo, goal);
    this.#wake?.();
    this.#schedule();
    while (this.#settledCount < goal) {
      const left = deadline - performance.now();
      if (left <= 0 || this.#notBefore >= deadline || this.#abort.signal.aborted) {
        return false;
      }
      await this.#progressWithin(left);
    }
    return true;
  }

  #progressWithin(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, TIMER_MS_MAX));
      this.#progress.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** See `AuditClient.close`. */
  close(deadlineMs = FLUSH_DEADLINE_MS): Promise<boolean> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<boolean> {
    const toldLost = this.#toldLost;
    this.#isClosed = true;
    // A spool keeps what may not be sent yet.
    const isHopeless = this.#buffer.isDurable && this.#notBefore > performance.now();
    const isDone = await this.#drained(isHopeless ? 0 : deadlineMs);
    this.#abort.abort();
    this.#wake?.();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const waiter of this.#waiters) {
      waiter.resolve(false);
    }
    await this.#sending;
    const isWhole = this.#isWhole(isDone && this.#buffer.pending === 0, toldLost);
    if (!this.#buffer.isDurable) {
      await this.#reportLeft();
    }
    await this.#buffer.close();
    return isWhole;
  }

  /** The events that are lost with this client, each to `onFailed`. */
  async #reportLeft(): Promise<void> {
    const left = await this.#buffer.oldest(this.#buffer.pending);
    for (const entry of left) {
      await this.#note(entry, { error: new ClosedError("the client was closed before the event was stored") });
    }
    await this.#buffer.settle(left.length);
    this.#settledCount += left.length;
  }
}
