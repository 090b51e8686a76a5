-- What is stored and not in the index yet: for each commit which events it has, and no longer what they are filed under,
-- which the process that stores them keeps in memory and any other makes of the events. `runs`: for each ledger the entry of
-- the first event and how many follow each other, 8 bytes each, big-endian. `mark` is random: ids of commits that were undone
-- are used again. Ids grow with every commit, for the index knows by them how far it has got: the newest row stays until there
-- is a newer one.
CREATE TABLE event_runs (
    id INTEGER PRIMARY KEY,
    mark BIGINT NOT NULL,
    runs BLOB NOT NULL
);
-- Of commits that are in the index, only the last id is needed. If others are left, of a process that was killed, the index
-- is made anew.
INSERT INTO event_runs (id, mark, runs) SELECT id, 0, x'' FROM event_tail ORDER BY id DESC LIMIT 1;
DROP TABLE event_tail;
ALTER TABLE event_runs RENAME TO event_tail;
