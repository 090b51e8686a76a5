-- The events. One ledger per project and environment; `seq` counts its events without a gap, in commit order.

CREATE TABLE ledgers (
    id BIGINT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    environment TEXT NOT NULL,
    -- How many events the ledger holds, and so the `seq` of the next one.
    size BIGINT NOT NULL,
    -- Stamp of the newest event: ids increase strictly with `seq`, `received_at` never decreases.
    last_event_id BYTEA,
    last_received_at BIGINT,
    UNIQUE (project_id, environment)
);

-- The actions that occur in a ledger: a beginning or a glob of actions is looked up here first.
CREATE TABLE ledger_actions (
    ledger_id BIGINT NOT NULL REFERENCES ledgers (id),
    action TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (ledger_id, action)
);

-- PostgreSQL: the order of queries is an index, `(ledger_id, occurred_at, id)`; the tokens (every filter value and
-- search word) are a column with an inverted index; the idempotency key is a unique index.
CREATE TABLE events (
    ledger_id BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    id BYTEA NOT NULL,
    occurred_at BIGINT NOT NULL,
    content_hash BYTEA NOT NULL,
    idempotency_hash BYTEA,
    -- Digest of the event as it was sent; only with an idempotency key.
    sent_digest BYTEA,
    redacted BOOLEAN NOT NULL,
    tokens TSVECTOR NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (ledger_id, seq)
);
CREATE UNIQUE INDEX events_by_time ON events (ledger_id, occurred_at, id);
CREATE UNIQUE INDEX events_by_id ON events (ledger_id, id);
CREATE UNIQUE INDEX events_by_idempotency_key ON events (ledger_id, idempotency_hash) WHERE idempotency_hash IS NOT NULL;
CREATE INDEX events_by_token ON events USING gin (tokens);
