-- The verifiable log: one Merkle tree over the content hashes of each ledger's events, leaf n for the event with seq n.

-- The right edge of the tree, from which it grows; none for a ledger that has none yet.
ALTER TABLE ledgers ADD COLUMN frontier BYTEA;

-- Full tiles of 256 hashes (C2SP tlog-tiles). Level 0 has the hashes of leaves; partial tiles are made when asked for.
CREATE TABLE log_tiles (
    ledger_id BIGINT NOT NULL,
    level BIGINT NOT NULL,
    tile_index BIGINT NOT NULL,
    hashes BYTEA NOT NULL,
    PRIMARY KEY (ledger_id, level, tile_index)
);

-- The last checkpoint that was signed.
CREATE TABLE log_checkpoints (
    ledger_id BIGINT NOT NULL PRIMARY KEY,
    size BIGINT NOT NULL,
    note TEXT NOT NULL,
    signed_at BIGINT NOT NULL
);
