/**
 * A test double: keeps recorded events and asserts on them.
 *
 * @module
 */
import { checkEntry } from "./check.js";
import type { EventRecorder } from "./client.js";
import { eventOf, jsonOf } from "./entry.js";
import type { RecorderStats } from "./recorder.js";
import type { IngestResult, NewEvent } from "./types.js";

/** A part of an event: objects match if all given members do, everything else if it is equal. */
export type EventPattern = { readonly [Name in keyof NewEvent]?: unknown };

/** Takes the place of an `AuditClient` in tests. An event that the service would refuse for its fields is an error at once. */
export class RecordingClient implements EventRecorder {
  /** The recorded events, in order. */
  readonly events: NewEvent[] = [];
  #middlewareErrors = 0;

  /** Records an event. */
  record(event: NewEvent): Promise<boolean> {
    try {
      const entry = jsonOf(event);
      checkEntry(entry);
      // A copy, as the client makes one: what the program changes later is not recorded.
      this.events.push(eventOf(entry));
    } catch (error) {
      return Promise.reject(error);
    }
    return Promise.resolve(true);
  }

  /** Records events as if they had been sent at once. */
  async ingest(events: NewEvent | readonly NewEvent[]): Promise<IngestResult> {
    const ids: string[] = [];
    for (const event of Array.isArray(events) ? (events as readonly NewEvent[]) : [events as NewEvent]) {
      await this.record(event);
      ids.push(`evt_${String(this.events.length).padStart(26, "0")}`);
    }
    return { ids, redacted_count: 0, request_id: "req_00000000000000000000" };
  }

  flush(): Promise<boolean> {
    return Promise.resolve(true);
  }

  close(): Promise<boolean> {
    return Promise.resolve(true);
  }

  stats(): RecorderStats {
    return { stored: this.events.length, failed: 0, dropped: 0, pending: 0, middlewareErrors: this.#middlewareErrors };
  }

  noteMiddlewareError(): void {
    this.#middlewareErrors += 1;
  }

  /** Forgets all events. */
  clear(): void {
    this.events.length = 0;
  }

  /** The events that match. */
  matching(pattern: EventPattern): NewEvent[] {
    return this.events.filter((event) => matches(event, pattern));
  }

  /** Asserts that an event that matches was recorded, or `count` of them. Returns the first one. */
  assertRecorded(pattern: EventPattern, count?: number): NewEvent {
    const found = this.matching(pattern);
    if (count === undefined ? found.length === 0 : found.length !== count) {
      const wanted = count === undefined ? "an event" : `${count} event(s)`;
      throw new Error(`${wanted} like ${text(pattern)} expected, ${found.length} found; recorded: ${text(this.events)}`);
    }
    return found[0]!;
  }

  /** Asserts that no event that matches was recorded. */
  assertNotRecorded(pattern: EventPattern = {}): void {
    const found = this.matching(pattern);
    if (found.length > 0) {
      throw new Error(`no event like ${text(pattern)} expected, found: ${text(found)}`);
    }
  }
}

function matches(value: unknown, pattern: unknown): boolean {
  if (typeof pattern !== "object" || pattern === null) {
    return Object.is(value, pattern);
  }
  if (typeof value !== "object" || value === null) {
    return false;
  }
  if (Array.isArray(pattern)) {
    return Array.isArray(value) && value.length === pattern.length && pattern.every((item, index) => matches(value[index], item));
  }
  const members = value as Record<string, unknown>;
  return Object.entries(pattern).every(([name, wanted]) => matches(members[name], wanted));
}

function text(value: unknown): string {
  return JSON.stringify(value, null, 1);
}
