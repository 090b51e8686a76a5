-- SQLite's index is a file of its own already.
SELECT 1;
