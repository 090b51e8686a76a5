DROP TABLE event_index;
DROP TABLE event_ids;
DROP TABLE event_order;
DROP TABLE events;
DROP TABLE ledger_actions;
DROP TABLE ledgers;
