DROP TABLE log_checkpoints;
DROP TABLE log_tiles;
ALTER TABLE ledgers DROP COLUMN frontier;
