//! The tables of events and of their index on PostgreSQL.

use crate::schema::ledgers;

diesel::allow_tables_to_appear_in_same_query!(events, ledgers);
diesel::allow_tables_to_appear_in_same_query!(index_format, index_segments);

diesel::table! {
    events (ledger_id, seq, month) {
        ledger_id -> BigInt,
        seq -> BigInt,
        month -> Integer,
        id -> Binary,
        occurred_at -> BigInt,
        content_hash -> Binary,
        content_salt -> Binary,
        idempotency_hash -> Nullable<Binary>,
        sent_digest -> Nullable<Binary>,
        redacted -> Bool,
        sender -> Nullable<BigInt>,
        row_code -> Binary,
        body -> Text,
    }
}

diesel::table! {
    index_segments (group_id, id) {
        group_id -> BigInt,
        id -> BigInt,
        level -> BigInt,
        row_count -> BigInt,
        first_occurred_at -> BigInt,
        first_id -> Binary,
        last_occurred_at -> BigInt,
        last_id -> Binary,
        leaves -> BigInt,
        directories -> BigInt,
        roots -> Binary,
        is_complete -> Bool,
        month -> Integer,
    }
}

diesel::table! {
    event_backlog (group_id, ledger_id, first_seq) {
        group_id -> BigInt,
        ledger_id -> BigInt,
        first_seq -> BigInt,
        end_seq -> BigInt,
        month -> Integer,
    }
}

diesel::table! {
    removed_rows (group_id, month, occurred_at, id) {
        group_id -> BigInt,
        month -> Integer,
        occurred_at -> BigInt,
        id -> Binary,
        ledger_id -> BigInt,
        fresh -> Nullable<BigInt>,
    }
}

diesel::table! {
    event_months (month) { month -> Integer, event_count -> BigInt, rewritten_at -> BigInt, }
}

diesel::table! {
    index_format (id) { id -> BigInt, format -> Integer, mark -> BigInt, }
}

diesel::table! {
    index_groups (id) { id -> BigInt, token -> BigInt, }
}

diesel::table! {
    cells (id) {
        id -> BigInt,
        name -> Text,
        schema_name -> Nullable<Text>,
        takes_projects -> Bool,
        created_at -> BigInt,
    }
}
