/**
 * The outbox: a table of the application's database. An event that is recorded in it exists exactly when the transaction commits.
 *
 * - A row is sent with the same bytes each time, idempotency key included. A relay that dies between the acknowledgement and the deletion
 *   repeats events, which the service recognises.
 * - Rows are deleted by their ids, not up to a position. Ids are given before the commit: a row may become visible after a higher id was sent.
 * - A row is sent only after, or together with, all visible rows before it. So relays that run at the same time repeat events but do not
 *   reorder them, and need no lock.
 * - A refused event is set aside with its error, and does not block those behind it. So is a row that is not exactly one JSON object.
 *
 * `docs/outbox.md` says when an outbox is better than a spool. The Python and the Rust client use the same table.
 *
 * @module
 */
import { checkEntry } from "./check.js";
import { ingestPath } from "./claim-token.js";
import { entryOf, eventOf, REQUEST_EVENTS_MAX } from "./entry.js";
import { type AuditError, InvalidEventError } from "./errors.js";
import { asAuditError, deliver, type Outcome } from "./ingest.js";
import { atLeast, sleep, Transport, type TransportOptions } from "./transport.js";
import type { NewEvent } from "./types.js";

/** Creates the table on PostgreSQL: two statements. */
export const OUTBOX_POSTGRESQL = `\
CREATE TABLE audit_outbox (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    event TEXT NOT NULL,
    recorded_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    error TEXT
);
CREATE INDEX audit_outbox_waiting ON audit_outbox (id) WHERE error IS NULL;
`;

/** Creates the table on SQLite: two statements. */
export const OUTBOX_SQLITE = `\
CREATE TABLE audit_outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    event TEXT NOT NULL,
    recorded_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    error TEXT
);
CREATE INDEX audit_outbox_waiting ON audit_outbox (id) WHERE error IS NULL;
`;

/** Records an event: the values of an {@link OutboxRow}, in their order. */
export const OUTBOX_INSERT = "INSERT INTO audit_outbox (tenant_id, idempotency_key, event) VALUES ($1, $2, $3)";
const OLDEST = `SELECT id, event FROM audit_outbox WHERE error IS NULL ORDER BY id LIMIT ${REQUEST_EVENTS_MAX}`;
const SET_ASIDE = "UPDATE audit_outbox SET error = $1 WHERE id = $2";

/** A client or a pool of `pg`, or a function that runs a statement on another driver. Parameters are `$1`, `$2`, …, in this order in the text. */
export interface OutboxDatabase {
  query(sql: string, params: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** What a row of the table has of an event: for the insert of a query builder. */
export interface OutboxRow {
  readonly tenant_id: string;
  readonly idempotency_key: string;
  /** The event as JSON. */
  readonly event: string;
}

/**
 * Checks an event, and fixes its idempotency key and its time, as `record` does. An event with a key of yours gets no time: give it one,
 * because it may be sent much later.
 *
 * @throws InvalidEventError for what JSON cannot express, and for what the service would refuse.
 */
export function outboxRow(event: NewEvent): OutboxRow {
  const entry = entryOf(event, new Date());
  checkEntry(entry);
  const { tenant_id, idempotency_key } = eventOf(entry);
  return { tenant_id, idempotency_key: idempotency_key as string, event: entry };
}

/**
 * Records an event in the transaction of `database`: the client of `pg` on which the transaction runs, not the pool. Rejects as {@link outboxRow}
 * throws, and as the driver does: roll back then.
 */
export async function recordInOutbox(database: OutboxDatabase, event: NewEvent): Promise<void> {
  const { tenant_id, idempotency_key, event: text } = outboxRow(event);
  await database.query(OUTBOX_INSERT, [tenant_id, idempotency_key, text]);
}

/** How an outbox is sent. */
export interface OutboxRelayOptions extends TransportOptions {
  /** A project key or a master key. */
  readonly apiKey: string;
  /** Milliseconds between two looks for rows; there is none while more wait. 1,000 if absent. */
  readonly intervalMs?: number | undefined;
  /** Called for each event that the service has refused, and for a row that is not exactly one JSON object. Its row is set aside. Written to the console if absent. */
  readonly onRefused?: ((row: { readonly id: bigint; readonly event: string }, error: AuditError) => void) | undefined;
  /** Called when the service or the database delays the sending; the rows wait, and are sent again. Written to the console if absent. */
  readonly onDelayed?: ((error: unknown) => void) | undefined;
}

/** What has become of the rows that a relay has read. */
export interface Relayed {
  /** Events that the service has stored. Their rows are deleted. */
  readonly stored: number;
  /** Events that the service has refused, and rows that are not exactly one JSON object. Their rows are set aside. */
  readonly refused: number;
  /** Whether more rows may wait. */
  readonly hasMore: boolean;
}

/**
 * Sends the events of an outbox, and deletes their rows after the service has acknowledged them. `database` is a pool, or commits each statement:
 * no transaction is open while events are sent. Several relays do no harm, but each sends every event.
 */
export class OutboxRelay {
  readonly #database: OutboxDatabase;
  readonly #transport: Transport;
  readonly #options: OutboxRelayOptions;
  readonly #intervalMs: number;

  constructor(database: OutboxDatabase, options: OutboxRelayOptions) {
    this.#database = database;
    this.#transport = new Transport(options);
    if (!this.#transport.hasKey) {
      throw new TypeError("apiKey is missing");
    }
    this.#options = options;
    this.#intervalMs = atLeast("intervalMs", options.intervalMs ?? 1000, 0);
  }

  /** Sends until `signal` is aborted, which ends requests too. During an outage the rows wait, in order; the pauses grow to 30 s. */
  async run(signal: AbortSignal): Promise<void> {
    const { onDelayed = warnOf } = this.#options;
    for (let failures = 0; !signal.aborted; ) {
      let pauseMs: number;
      try {
        const { hasMore } = await this.relayOnce(signal);
        failures = 0;
        pauseMs = hasMore ? 0 : this.#intervalMs;
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        failures += 1;
        pauseMs = this.#transport.pauseMs(failures, error);
        onDelayed(error);
      }
      await sleep(pauseMs, signal);
    }
  }

  /** Sends the oldest rows, up to 100. Rejects with what `run` waits for: the rows that are left wait for the next call. */
  async relayOnce(signal?: AbortSignal): Promise<Relayed> {
    const { onRefused = reportOf } = this.#options;
    const result = await this.#database.query(OLDEST, []);
    const rows = (result.rows as { id: string | number | bigint; event: string }[]).map(({ id, event }) => ({ id: BigInt(id), event }));
    const stored: bigint[] = [];
    let refused = 0;
    const setAside = async (row: (typeof rows)[number], error: AuditError): Promise<void> => {
      refused += 1;
      // PostgreSQL has no NUL, and the error may quote one of the event.
      await this.#database.query(SET_ASIDE, [error.message.replaceAll("\0", "\ufffd"), row.id]);
      onRefused(row, error);
    };
    for (const row of rows.filter(({ event }) => !isObject(event))) {
      await setAside(row, new InvalidEventError("event: must be exactly one JSON object"));
    }
    const events = rows.filter(({ event }) => isObject(event));
    const waiting = events.values();
    const settle = async (_: string, outcome: Outcome): Promise<void> => {
      const row = waiting.next().value!;
      if ("id" in outcome) {
        stored.push(row.id);
      } else {
        await setAside(row, asAuditError(outcome.error));
      }
    };
    try {
      await deliver(this.#transport, ingestPath(undefined), events.map(({ event }) => event), settle, { signal });
    } finally {
      if (stored.length > 0) {
        await this.#database.query(`DELETE FROM audit_outbox WHERE id IN (${stored.join(", ")})`, []);
      }
    }
    return { stored: stored.length, refused, hasMore: rows.length >= REQUEST_EVENTS_MAX };
  }
}

/** Whether a text is one event, however invalid. Any other would make the array another one than the rows. */
function isObject(event: string): boolean {
  try {
    const value: unknown = JSON.parse(event);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function reportOf({ id }: { readonly id: bigint }, error: AuditError): void {
  console.error(`audit-server-client: event ${id} of the outbox was refused and is set aside: ${error.message}`);
}

function warnOf(error: unknown): void {
  console.warn(`audit-server-client: the outbox waits: ${error instanceof Error ? error.message : String(error)}`);
}
