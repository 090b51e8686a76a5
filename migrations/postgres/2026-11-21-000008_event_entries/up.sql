-- On PostgreSQL events lie in the order of commits as it is, and its indexes are narrow.
SELECT 1;
