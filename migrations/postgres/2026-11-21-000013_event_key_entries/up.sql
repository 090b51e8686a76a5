-- Only SQLite has this table.
SELECT 1;
