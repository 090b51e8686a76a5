CREATE TABLE events_by_position (
    position INTEGER PRIMARY KEY,
    ledger_id BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    id BLOB NOT NULL,
    content_hash BLOB NOT NULL,
    sent_digest BLOB,
    redacted BOOLEAN NOT NULL,
    body TEXT NOT NULL
);
INSERT INTO events_by_position (position, ledger_id, seq, id, content_hash, sent_digest, redacted, body)
SELECT position, ledger_id, seq, id, content_hash, sent_digest, redacted, body FROM events ORDER BY position;

CREATE TABLE event_order (
    ledger_id BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    position BIGINT NOT NULL,
    idempotency_hash BLOB,
    PRIMARY KEY (ledger_id, seq)
) WITHOUT ROWID;
INSERT INTO event_order (ledger_id, seq, position) SELECT ledger_id, seq, position FROM events ORDER BY entry;
WITH RECURSIVE keys (ledger_id, seq, hashes) AS (
    SELECT ledger_id, first_seq, hashes FROM event_keys
    UNION ALL
    SELECT ledger_id, seq + 1, substr(hashes, 17) FROM keys WHERE length(hashes) > 16
)
UPDATE event_order SET idempotency_hash = substr(hashes, 1, 16)
FROM keys
WHERE event_order.ledger_id = keys.ledger_id AND event_order.seq = keys.seq AND substr(hashes, 1, 16) <> zeroblob(16);

CREATE TABLE event_positions (
    ledger_id BIGINT NOT NULL,
    id BLOB NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (ledger_id, id)
) WITHOUT ROWID;
INSERT INTO event_positions (ledger_id, id, position)
SELECT event_ids.ledger_id, event_ids.id, position FROM event_ids CROSS JOIN events ON events.entry = event_ids.entry
ORDER BY event_ids.ledger_id, event_ids.id;

DROP TABLE event_ids;
ALTER TABLE event_positions RENAME TO event_ids;
DROP TABLE events;
ALTER TABLE events_by_position RENAME TO events;
DROP TABLE event_keys;
DROP TABLE event_times;
