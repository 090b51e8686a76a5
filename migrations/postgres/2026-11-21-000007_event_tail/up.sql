-- Only SQLite has a tail: here the indexes are PostgreSQL's, which writes them with the rows.
SELECT 1;
