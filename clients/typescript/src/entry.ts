import { InvalidEventError } from "./errors.js";
import type { NewEvent } from "./types.js";

/**
 * An event as it is sent, in every attempt the same: a caller may change its object after `record` returned. JSON without line breaks.
 */
export type Entry = string;

/** Events of a request. */
export const REQUEST_EVENTS_MAX = 100;
/** Bytes of the body of a request. */
export const REQUEST_BYTES_MAX = 1_048_576;

/**
 * Writes an event as JSON, with an idempotency key. Without a key of the caller's, `now` becomes its time if it has none: otherwise the
 * service takes the time of receipt, which may be much later. An event with a key of the caller's stays as it is, because the caller may record
 * it again after a crash, and then the service compares the content.
 */
export function entryOf(event: NewEvent, now: Date): Entry {
  const given = checkedObject(event) as { idempotency_key?: unknown; occurred_at?: unknown };
  const hasKey = given.idempotency_key !== undefined && given.idempotency_key !== null;
  const hasTime = given.occurred_at !== undefined && given.occurred_at !== null;
  const key = hasKey ? {} : { idempotency_key: crypto.randomUUID() };
  const time = hasKey || hasTime ? {} : { occurred_at: now.toISOString() };
  return jsonOf({ ...event, ...key, ...time });
}

/** Writes an event that is sent at once as JSON, with an idempotency key. */
export function directEntryOf(event: NewEvent): Entry {
  const { idempotency_key: key } = checkedObject(event);
  const hasKey = key !== undefined && key !== null;
  return jsonOf({ ...event, ...(hasKey ? {} : { idempotency_key: crypto.randomUUID() }) });
}

/** What is not an object would be recorded as an event without fields. */
function checkedObject(event: NewEvent): NewEvent {
  if (typeof event !== "object" || event === null || Array.isArray(event)) {
    throw new InvalidEventError("the event is not an object");
  }
  return event;
}

/** An event as JSON, without what the client adds. */
export function jsonOf(event: object): Entry {
  try {
    return wellFormed(stringify(event));
  } catch (cause) {
    throw cause instanceof InvalidEventError ? cause : new InvalidEventError("the event cannot be written as JSON", { cause });
  }
}

/**
 * JSON with all digits of a `bigint`, a set as a sorted array and a map as an object, as the Python client writes them.
 *
 * @throws InvalidEventError for NaN and infinity.
 */
function stringify(value: unknown): string {
  try {
    const text = JSON.stringify(value);
    // `null` may stand for NaN, and `{}` for a set. The replacer is slow, so it is used only if they are there.
    if (!text.includes("null") && !text.includes("{}")) {
      return text;
    }
  } catch {
    // a bigint, or no JSON at all
  }
  const mark = `bigint ${crypto.randomUUID()} `;
  const text = JSON.stringify(value, replacer(mark));
  return text.replaceAll(new RegExp(`"${mark}(-?[0-9]+)"`, "g"), "$1");
}

function replacer(mark: string): (this: unknown, key: string, value: unknown) => unknown {
  /** Of each object that was reached, for messages. */
  const paths = new Map<unknown, string>();
  return function (key, value) {
    const at = paths.get(this);
    const path = at === undefined ? key : Array.isArray(this) ? `${at}[${key}]` : at === "" ? key : `${at}.${key}`;
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new InvalidEventError(`the service would refuse the event: ${path}: must be a number that JSON has, not ${value}`);
    }
    if (typeof value === "bigint") {
      return `${mark}${value}`;
    }
    const written = value instanceof Set ? sorted(value) : value instanceof Map ? Object.fromEntries(value) : value;
    paths.set(written, path);
    return written;
  };
}

/** By their JSON, because members of different types have no order. */
function sorted(set: ReadonlySet<unknown>): unknown[] {
  const keyed = [...set].map((item) => ({ item, key: stringify([item]) }));
  return keyed.sort((a, b) => Number(a.key > b.key) - Number(a.key < b.key)).map(({ item }) => item);
}

/** Replaces lone surrogates, which `JSON.stringify` writes as escapes, by U+FFFD: the service refuses them. */
function wellFormed(json: string): string {
  return json.includes("\\ud") ? json.replaceAll(/\\(u[dD][89a-fA-F][0-9a-fA-F]{2}|.)/g, (escape, hex: string) => (hex.length === 5 ? "\ufffd" : escape)) : json;
}

/** The event of an entry. */
export function eventOf(entry: Entry): NewEvent {
  return JSON.parse(entry) as NewEvent;
}

const encoder = new TextEncoder();

/** Bytes of an entry in UTF-8. */
export function bytesOf(entry: Entry): number {
  return encoder.encode(entry).length;
}

/** The first entries that fit into a request together; at least one. */
export function firstRequest(entries: readonly Entry[]): Entry[] {
  let bytes = 2;
  let count = 0;
  for (const entry of entries.slice(0, REQUEST_EVENTS_MAX)) {
    bytes += bytesOf(entry) + 1;
    if (count > 0 && bytes > REQUEST_BYTES_MAX) {
      break;
    }
    count += 1;
  }
  return entries.slice(0, count);
}
