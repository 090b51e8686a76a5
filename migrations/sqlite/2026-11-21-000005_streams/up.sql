-- Anonymous streams. Their events lie apart from those of projects until somebody claims them.

-- A stream is known by the SHA-256 of its token alone. The row stays when its events are gone, so that a token is never
-- used again.
CREATE TABLE streams (
    token_hash BLOB NOT NULL PRIMARY KEY,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    claimed_at BIGINT,
    -- Events accepted in all, and on one UTC day (days since 1970-01-01).
    event_count BIGINT NOT NULL,
    day BIGINT NOT NULL,
    day_events BIGINT NOT NULL,
    -- Whether its events are gone: claimed, or expired and removed.
    is_empty BOOLEAN NOT NULL
);
CREATE INDEX streams_by_expiry ON streams (expires_at) WHERE NOT is_empty;

CREATE TABLE stream_events (
    token_hash BLOB NOT NULL REFERENCES streams (token_hash),
    number BIGINT NOT NULL,
    id BLOB NOT NULL,
    occurred_at BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    idempotency_hash BLOB,
    sent_digest BLOB,
    redacted BOOLEAN NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (token_hash, number)
);

-- Who sends to streams: an IPv4 address, or the first 64 bits of an IPv6 address.
CREATE TABLE stream_clients (
    client TEXT NOT NULL PRIMARY KEY,
    -- The times of the last requests, in milliseconds since the Unix epoch, 8 bytes each.
    requests BLOB NOT NULL,
    -- Streams begun on one UTC day.
    day BIGINT NOT NULL,
    new_streams BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL
);
CREATE INDEX stream_clients_by_last_seen ON stream_clients (last_seen_at);
