//! The tables of events and of their index on PostgreSQL.

use crate::schema::ledgers;

diesel::allow_tables_to_appear_in_same_query!(events, ledgers);

diesel::table! {
    events (ledger_id, seq) {
        ledger_id -> BigInt,
        seq -> BigInt,
        id -> Binary,
        occurred_at -> BigInt,
        content_hash -> Binary,
        idempotency_hash -> Nullable<Binary>,
        sent_digest -> Nullable<Binary>,
        redacted -> Bool,
        body -> Text,
    }
}

diesel::table! {
    index_segments (id) {
        id -> BigInt,
        level -> BigInt,
        row_count -> BigInt,
        first_occurred_at -> BigInt,
        first_id -> Binary,
        last_occurred_at -> BigInt,
        last_id -> Binary,
        leaves -> BigInt,
        directories -> BigInt,
        is_complete -> Bool,
    }
}

diesel::table! {
    indexed (ledger_id) { ledger_id -> BigInt, size -> BigInt, }
}

diesel::table! {
    index_format (id) { id -> BigInt, format -> Integer, }
}
