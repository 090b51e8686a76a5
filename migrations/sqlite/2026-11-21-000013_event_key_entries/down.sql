CREATE TABLE event_keys_by_seq (
    ledger_id BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    hashes BLOB NOT NULL,
    PRIMARY KEY (ledger_id, first_seq)
) WITHOUT ROWID;
INSERT INTO event_keys_by_seq (ledger_id, first_seq, hashes)
SELECT first_entry >> 40, first_entry & 1099511627775, hashes FROM event_keys ORDER BY first_entry;
DROP TABLE event_keys;
ALTER TABLE event_keys_by_seq RENAME TO event_keys;
