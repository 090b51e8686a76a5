-- The index of filter values and words becomes our own here as well (crates/audit-index, crates/audit-store/src/index): rows
-- are events by time and id, so that what is asked for comes in the order of the answer. One node writes it beside the commits.
DROP INDEX events_by_token;
ALTER TABLE events DROP COLUMN tokens;

-- Segments, of which those that are not complete are being made of others.
CREATE TABLE index_segments (
    id BIGINT NOT NULL PRIMARY KEY,
    level BIGINT NOT NULL,
    row_count BIGINT NOT NULL,
    first_occurred_at BIGINT NOT NULL,
    first_id BYTEA NOT NULL,
    last_occurred_at BIGINT NOT NULL,
    last_id BYTEA NOT NULL,
    leaves BIGINT NOT NULL,
    directories BIGINT NOT NULL,
    is_complete BOOLEAN NOT NULL,
    -- Tells it from one that had the same number and was lost with the end of the write-ahead log.
    mark BIGINT NOT NULL DEFAULT (random() * 9007199254740992)::bigint
);

-- What they consist of. A block is read whole, and does not get shorter by compression: it stays in the row if that fits a page.
CREATE TABLE index_blocks (
    id BIGINT NOT NULL PRIMARY KEY,
    bytes BYTEA NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE index_blocks ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- How many events of each ledger are in the index. Those behind them are not: they are filed by whoever starts or goes on.
CREATE TABLE indexed (
    ledger_id BIGINT NOT NULL PRIMARY KEY,
    size BIGINT NOT NULL
);
