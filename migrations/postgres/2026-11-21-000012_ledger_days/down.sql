CREATE TABLE daily_usage (
    project_id TEXT NOT NULL REFERENCES projects (id),
    day BIGINT NOT NULL,
    events BIGINT NOT NULL,
    PRIMARY KEY (project_id, day)
);
INSERT INTO daily_usage (project_id, day, events)
SELECT project_id, day, day_events FROM ledgers WHERE environment = 'live' AND day > 0;
ALTER TABLE ledgers DROP COLUMN day_events;
ALTER TABLE ledgers DROP COLUMN day;
