-- Only PostgreSQL has this index.
SELECT 1;
