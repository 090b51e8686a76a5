-- By the entry of the first event, ledger_id << 40 | seq, as the events are: SQLite adds to the end of such a table without
-- splitting what is full.
CREATE TABLE event_keys_by_entry (
    first_entry INTEGER PRIMARY KEY,
    hashes BLOB NOT NULL
);
INSERT INTO event_keys_by_entry (first_entry, hashes)
SELECT ledger_id << 40 | first_seq, hashes FROM event_keys ORDER BY ledger_id, first_seq;
DROP TABLE event_keys;
ALTER TABLE event_keys_by_entry RENAME TO event_keys;
