CREATE TABLE event_tokens (
    id INTEGER PRIMARY KEY,
    positions BLOB NOT NULL,
    tokens TEXT NOT NULL
);
-- If the index has not got to the last commit, it is made anew.
INSERT INTO event_tokens (id, positions, tokens) SELECT id, x'', '' FROM event_tail ORDER BY id DESC LIMIT 1;
DROP TABLE event_tail;
ALTER TABLE event_tokens RENAME TO event_tail;
