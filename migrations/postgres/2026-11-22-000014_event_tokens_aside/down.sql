ALTER INDEX events_by_token RESET (gin_pending_list_limit);
