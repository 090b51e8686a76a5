DROP TABLE event_tail;
-- All events are in the tail of the index that the release before had: it files them when it starts.
CREATE TABLE event_tail (
    id INTEGER PRIMARY KEY,
    positions BLOB NOT NULL
);
INSERT INTO event_tail (positions) SELECT unhex(printf('%016X', position)) FROM event_times ORDER BY position;
CREATE VIRTUAL TABLE event_index USING fts5 (
    tokens,
    content = '',
    detail = none,
    columnsize = 0,
    tokenize = "ascii tokenchars '_'"
);
