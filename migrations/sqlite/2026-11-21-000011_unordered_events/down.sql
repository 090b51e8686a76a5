CREATE TABLE event_ids (
    ledger_id BIGINT NOT NULL,
    id BLOB NOT NULL,
    entry BIGINT NOT NULL,
    PRIMARY KEY (ledger_id, id)
) WITHOUT ROWID;
INSERT INTO event_ids (ledger_id, id, entry) SELECT entry >> 40, id, entry FROM events ORDER BY 1, 2;
DROP TABLE unordered_events;
