DROP TABLE event_tail;
