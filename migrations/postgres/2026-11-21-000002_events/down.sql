DROP TABLE events;
DROP TABLE ledger_actions;
DROP TABLE ledgers;
