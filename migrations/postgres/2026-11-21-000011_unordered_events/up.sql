-- Here the ids have a unique index, which also keeps two nodes from storing one twice.
SELECT 1;
