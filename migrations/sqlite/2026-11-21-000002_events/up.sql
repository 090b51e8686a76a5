-- The events. One ledger per project and environment; `seq` counts its events without a gap, in commit order.

CREATE TABLE ledgers (
    id BIGINT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    environment TEXT NOT NULL,
    -- How many events the ledger holds, and so the `seq` of the next one.
    size BIGINT NOT NULL,
    -- Stamp of the newest event: ids increase strictly with `seq`, `received_at` never decreases.
    last_event_id BLOB,
    last_received_at BIGINT,
    UNIQUE (project_id, environment)
);

-- The actions that occur in a ledger: a beginning or a glob of actions is looked up here first.
CREATE TABLE ledger_actions (
    ledger_id BIGINT NOT NULL REFERENCES ledgers (id),
    action TEXT NOT NULL,
    PRIMARY KEY (ledger_id, action)
);

-- SQLite: the row id is the order of queries, `occurred_at` in milliseconds << 20 | n, so that a page is a range of
-- rows. No other index on this table: each would dirty one more page for every row.
CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    ledger_id BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    id BLOB NOT NULL,
    content_hash BLOB NOT NULL,
    -- Digest of the event as it was sent; only with an idempotency key.
    sent_digest BLOB,
    redacted BOOLEAN NOT NULL,
    body TEXT NOT NULL
);

-- Commit order to row. Rows are only ever added at the end of a ledger, which keeps this B-tree cheap. The hash of the
-- idempotency key lies here so that the filter of known keys can be rebuilt without reading the events.
CREATE TABLE event_order (
    ledger_id BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    position BIGINT NOT NULL,
    idempotency_hash BLOB,
    PRIMARY KEY (ledger_id, seq)
) WITHOUT ROWID;

-- Id to row. Ids grow with `seq`, so this B-tree grows at the end of each ledger as well.
CREATE TABLE event_ids (
    ledger_id BIGINT NOT NULL,
    id BLOB NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (ledger_id, id)
) WITHOUT ROWID;

-- Every filter value and search word of an event as a token, and its idempotency key; the row id is `position`.
-- Contentless and without positions: it can say which rows hold a token, in row-id order, and nothing else.
CREATE VIRTUAL TABLE event_index USING fts5 (
    tokens,
    content = '',
    detail = none,
    columnsize = 0,
    tokenize = "ascii tokenchars '_'"
);
