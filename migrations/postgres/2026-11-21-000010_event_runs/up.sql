-- Only on SQLite is the index not the database's own.
SELECT 1;
