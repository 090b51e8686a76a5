//! The tables of events and of their index on SQLite.

use crate::schema::ledgers;

diesel::table! {
    events (entry) {
        entry -> BigInt,
        position -> BigInt,
        id -> Binary,
        content_hash -> Binary,
        content_salt -> Binary,
        sent_digest -> Nullable<Binary>,
        redacted -> Bool,
        sender -> Nullable<BigInt>,
        row_code -> Binary,
        body -> Text,
    }
}

diesel::table! {
    event_times (position) { position -> BigInt, entry -> BigInt, }
}

diesel::table! {
    unordered_events (entry) { entry -> BigInt, id -> Binary, after_id -> Binary, }
}

diesel::table! {
    event_keys (first_entry) { first_entry -> BigInt, hashes -> Binary, }
}

diesel::table! {
    key_filter (id) { id -> BigInt, owner -> BigInt, window_months -> Integer, first_month -> Integer, }
}

diesel::table! {
    key_filter_layers (layer) { layer -> BigInt, size -> BigInt, month -> Integer, keys -> BigInt, }
}

diesel::table! {
    key_filter_blocks (id) { id -> BigInt, bits -> Binary, }
}

diesel::table! {
    key_filter_ledgers (ledger_id) { ledger_id -> BigInt, seq_end -> BigInt, }
}

diesel::allow_tables_to_appear_in_same_query!(events, event_times, unordered_events, ledgers);

diesel::table! {
    event_backlog (id) { id -> BigInt, mark -> BigInt, runs -> Binary, }
}

diesel::table! {
    removed_rows (position) { position -> BigInt, month -> Integer, fresh -> Nullable<BigInt>, }
}

diesel::table! {
    index_segments (id) {
        id -> BigInt,
        level -> BigInt,
        row_count -> BigInt,
        first_position -> BigInt,
        last_position -> BigInt,
        leaves -> BigInt,
        directories -> BigInt,
        roots -> Binary,
        is_complete -> Bool,
        month -> Integer,
    }
}

diesel::table! {
    indexed (id) {
        id -> BigInt,
        last_commit -> BigInt,
        last_mark -> BigInt,
        last_segment -> BigInt,
        rebuilt_from -> BigInt,
    }
}

diesel::table! {
    rebuilt_ledgers (ledger_id) { ledger_id -> BigInt, seq_end -> BigInt, }
}

diesel::define_sql_function! {
    /// SQLite's random number.
    fn random() -> BigInt;
}

diesel::allow_tables_to_appear_in_same_query!(event_backlog, indexed);
