-- How many events were sent to a live ledger on one UTC day (days since 1970-01-01), for the daily limit: in the row that every
-- commit writes anyway, and no longer in a row for each day, which nothing asked for once the day was over.
ALTER TABLE ledgers ADD COLUMN day BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ledgers ADD COLUMN day_events BIGINT NOT NULL DEFAULT 0;
UPDATE ledgers SET
    day = (SELECT max(day) FROM daily_usage WHERE daily_usage.project_id = ledgers.project_id),
    day_events = (
        SELECT events FROM daily_usage WHERE daily_usage.project_id = ledgers.project_id ORDER BY daily_usage.day DESC LIMIT 1
    )
WHERE environment = 'live' AND EXISTS (SELECT 1 FROM daily_usage WHERE daily_usage.project_id = ledgers.project_id);
DROP TABLE daily_usage;
