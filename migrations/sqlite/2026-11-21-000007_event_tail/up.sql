-- What is stored and not in the index yet: for each commit that left its events to a later one, their positions, 8 bytes
-- each, big-endian. Readers look through these rows beside the index.
CREATE TABLE event_tail (
    id INTEGER PRIMARY KEY,
    positions BLOB NOT NULL
);
