-- The index moves into a file of its own, which another thread writes and which is made from the events when it is missing
-- (crates/audit-store/src/index). Here stays what is not in it yet: for each commit the positions of its events, 8 bytes
-- each, big-endian, and what they are filed under, a line each. Ids grow with every commit, for the index knows by them
-- how far it has got: the newest row stays until there is a newer one.
DROP TABLE event_index;
DROP TABLE event_tail;
CREATE TABLE event_tail (
    id INTEGER PRIMARY KEY,
    positions BLOB NOT NULL,
    tokens TEXT NOT NULL
);
