-- Events lie in the order of the log, so that a commit adds them at the end whenever they occurred. In the order of time
-- there is only a number for each: what falls between others there dirties one page of hundreds of events, not of five.

CREATE TABLE events_by_entry (
    -- ledger_id << 40 | seq
    entry INTEGER PRIMARY KEY,
    -- The place in the order of queries: occurred_at in milliseconds << 20 | n. Also the row id in the index.
    position BIGINT NOT NULL,
    id BLOB NOT NULL,
    content_hash BLOB NOT NULL,
    -- Digest of the event as it was sent; only with an idempotency key.
    sent_digest BLOB,
    redacted BOOLEAN NOT NULL,
    body TEXT NOT NULL,
    -- For who reads the table by hand.
    ledger_id BIGINT AS (entry >> 40) VIRTUAL,
    seq BIGINT AS (entry & 1099511627775) VIRTUAL
);
INSERT INTO events_by_entry (entry, position, id, content_hash, sent_digest, redacted, body)
SELECT event_order.ledger_id << 40 | event_order.seq, events.position, id, content_hash, sent_digest, redacted, body
FROM event_order CROSS JOIN events ON events.position = event_order.position
ORDER BY event_order.ledger_id, event_order.seq;

CREATE TABLE event_times (
    position INTEGER PRIMARY KEY,
    entry BIGINT NOT NULL
);
INSERT INTO event_times (position, entry) SELECT position, ledger_id << 40 | seq FROM events ORDER BY position;

-- The hashes of the idempotency keys of neighbouring events, 16 bytes each, zeros where there is none, from which the
-- filter of known keys is made. Events without keys need no row.
CREATE TABLE event_keys (
    ledger_id BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    hashes BLOB NOT NULL,
    PRIMARY KEY (ledger_id, first_seq)
) WITHOUT ROWID;
INSERT INTO event_keys (ledger_id, first_seq, hashes)
SELECT ledger_id, seq, idempotency_hash FROM event_order WHERE idempotency_hash IS NOT NULL ORDER BY ledger_id, seq;

CREATE TABLE event_entries (
    ledger_id BIGINT NOT NULL,
    id BLOB NOT NULL,
    entry BIGINT NOT NULL,
    PRIMARY KEY (ledger_id, id)
) WITHOUT ROWID;
INSERT INTO event_entries (ledger_id, id, entry)
SELECT ledger_id, event_ids.id, entry FROM event_ids CROSS JOIN event_times ON event_times.position = event_ids.position
ORDER BY ledger_id, event_ids.id;

DROP TABLE event_ids;
ALTER TABLE event_entries RENAME TO event_ids;
DROP TABLE events;
ALTER TABLE events_by_entry RENAME TO events;
DROP TABLE event_order;
