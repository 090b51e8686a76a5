//! Statements that run for every commit, or for every event of one.

use crate::statements::statement;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use diesel::sqlite::Sqlite;
use diesel::{QueryResult, RunQueryDsl};

statement! {
    Sqlite;
    /// Begins a transaction that writes.
    BeginImmediate {} "BEGIN IMMEDIATE"
}

statement! {
    Sqlite;
    /// Commits a transaction.
    Commit {} "COMMIT"
}

statement! {
    Sqlite;
    /// Writes the head of a ledger.
    UpdateHead<'a> {
        "UPDATE ledgers SET size = " size: i64 => BigInt,
        ", last_event_id = " last_event_id: &'a [u8] => Binary,
        ", last_received_at = " last_received_at: i64 => BigInt,
        ", frontier = " frontier: &'a [u8] => Binary,
        ", lifecycle_seq = " lifecycle_seq: Option<i64> => Nullable<BigInt>,
        ", head_code = " head_code: &'a [u8] => Binary,
        ", day = " day: i64 => BigInt,
        ", day_events = " day_events: i64 => BigInt,
        " WHERE id = " ledger_id: i64 => BigInt,
    } ""
}

statement! {
    Sqlite;
    /// Stores an event.
    InsertEvent<'a> {
        "INSERT INTO events (entry, position, id, content_hash, content_salt, sent_digest, redacted, sender, row_code, body) VALUES ("
        entry: i64 => BigInt,
        ", " position: i64 => BigInt,
        ", " id: &'a [u8] => Binary,
        ", " content_hash: &'a [u8] => Binary,
        ", " content_salt: &'a [u8] => Binary,
        ", " sent_digest: Option<&'a [u8]> => Nullable<Binary>,
        ", " redacted: bool => Bool,
        ", " sender: Option<i64> => Nullable<BigInt>,
        ", " row_code: &'a [u8] => Binary,
        ", " body: &'a str => Text,
    } ")"
}

statement! {
    Sqlite;
    /// Stores the position of an event in the order of time.
    InsertTime {
        "INSERT INTO event_times (position, entry) VALUES (" position: i64 => BigInt,
        ", " entry: i64 => BigInt,
    } ")"
}
