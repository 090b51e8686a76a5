DROP TABLE stream_clients;
DROP TABLE stream_events;
DROP TABLE streams;
