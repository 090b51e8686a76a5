-- New rows of this index are put aside and filed together by a thread of the service, beside the inserts. Only when that does
-- not happen (the table belongs to somebody else than the service's user) an insert does it, from so many KiB on.
ALTER INDEX events_by_token SET (gin_pending_list_limit = 16384);
