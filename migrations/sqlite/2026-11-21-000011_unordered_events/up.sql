-- Ids grow along the log, so the log says itself where an id is, and a table of them is one to write for nothing. What is
-- listed are the events out of that order, which are claimed ones: each with the greatest id before it.
CREATE TABLE unordered_events (
    entry INTEGER PRIMARY KEY,
    id BLOB NOT NULL,
    after_id BLOB NOT NULL
);
INSERT INTO unordered_events (entry, id, after_id)
SELECT entry, id, after_id FROM (
    SELECT entry, id, max(id) OVER (
        PARTITION BY entry >> 40 ORDER BY entry ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS after_id
    FROM events
)
WHERE id <= after_id ORDER BY entry;
CREATE INDEX unordered_events_by_id ON unordered_events (id);
DROP TABLE event_ids;
