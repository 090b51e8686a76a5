import type { Entry } from "./entry.js";

/** Where recorded events wait until they are settled: stored or refused by the service. In order. */
export interface EventBuffer {
  /** Whether events survive the process. Then they stay until they are settled, through any number of failures. */
  readonly isDurable: boolean;
  /** Events that are not settled, those being appended included. */
  readonly pending: number;
  /** Whether one more event of this size fits. */
  hasRoom(bytes: number): boolean;
  /** Adds an event. When the promise resolves, it is as safe as the buffer makes it. Counted in `pending` from the call on. */
  append(entry: Entry): Promise<void>;
  /** The oldest appended events that are not settled, up to `count`. */
  oldest(count: number): Promise<Entry[]>;
  /** Removes the oldest events. */
  settle(count: number): Promise<void>;
  /** Notes an event that was refused for good, before it is settled. */
  noteRefused(entry: Entry, error: Error): Promise<void>;
  /** Frees what the buffer holds. Events that are not settled stay in a durable buffer. */
  close(): Promise<void>;
}

/** A queue in memory. */
export class MemoryBuffer implements EventBuffer {
  readonly isDurable = false;
  #entries: Entry[] = [];
  #settled = 0;

  constructor(readonly eventsMax: number) {}

  get pending(): number {
    return this.#entries.length - this.#settled;
  }

  hasRoom(): boolean {
    return this.pending < this.eventsMax;
  }

  append(entry: Entry): Promise<void> {
    this.#entries.push(entry);
    return Promise.resolve();
  }

  oldest(count: number): Promise<Entry[]> {
    return Promise.resolve(this.#entries.slice(this.#settled, this.#settled + count));
  }

  settle(count: number): Promise<void> {
    this.#settled += count;
    // In few, large steps: to remove each batch would move all others each time.
    if (this.#settled >= 1000 || this.#settled === this.#entries.length) {
      this.#entries = this.#entries.slice(this.#settled);
      this.#settled = 0;
    }
    return Promise.resolve();
  }

  noteRefused(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
