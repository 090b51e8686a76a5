//! Statements that are run for every commit, or every event of one, written out.
//!
//! Those that diesel makes of updates and upserts are planned anew each time, and it looks through a wide insert twice
//! each time before it knows that it is planned already. These are known by their type.

use diesel::backend::Backend;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, Binary, Bool, HasSqlType, Nullable, Text};
use diesel::{QueryResult, RunQueryDsl};

/// Defines a statement by the pieces of its text, each with the parameter that follows it, and what comes last.
macro_rules! statement {
    (
        $(#[$doc:meta])*
        $name:ident $(<$lifetime:lifetime>)? {
            $($(#[$field_doc:meta])* $text:literal $field:ident: $type:ty => $sql_type:ty,)*
        } $end:literal
    ) => {
        $(#[$doc])*
        pub(crate) struct $name $(<$lifetime>)? {
            $($(#[$field_doc])* pub(crate) $field: $type,)*
        }

        const _: () = {
            pub(crate) struct Id;

            impl $(<$lifetime>)? QueryId for $name $(<$lifetime>)? {
                type QueryId = Id;

                const HAS_STATIC_QUERY_ID: bool = true;
            }
        };

        impl<$($lifetime,)? DB> QueryFragment<DB> for $name $(<$lifetime>)?
        where
            DB: Backend + HasSqlType<Bool>,
            bool: ToSql<Bool, DB>,
            i64: ToSql<BigInt, DB>,
            str: ToSql<Text, DB>,
            [u8]: ToSql<Binary, DB>,
        {
            fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, DB>) -> QueryResult<()> {
                $(
                    pass.push_sql($text);
                    pass.push_bind_param::<$sql_type, _>(&self.$field)?;
                )*
                pass.push_sql($end);
                Ok(())
            }
        }

        impl<$($lifetime,)? C> RunQueryDsl<C> for $name $(<$lifetime>)? {}
    };
}

statement! {
    /// Begins a transaction of SQLite that writes.
    BeginImmediate {} "BEGIN IMMEDIATE"
}

statement! {
    /// Ends a transaction.
    Commit {} "COMMIT"
}

statement! {
    /// Writes the head of a ledger.
    UpdateHead<'a> {
        "UPDATE ledgers SET size = " size: i64 => BigInt,
        ", last_event_id = " last_event_id: &'a [u8] => Binary,
        ", last_received_at = " last_received_at: i64 => BigInt,
        /// What cannot be continued stays as it is found.
        ", frontier = COALESCE(" frontier: Option<&'a [u8]> => Nullable<Binary>,
        ", frontier), day = " day: i64 => BigInt,
        ", day_events = " day_events: i64 => BigInt,
        " WHERE id = " ledger_id: i64 => BigInt,
    } ""
}

statement! {
    /// Stores an event on SQLite.
    InsertEvent<'a> {
        "INSERT INTO events (entry, position, id, content_hash, sent_digest, redacted, body) VALUES ("
        entry: i64 => BigInt,
        ", " position: i64 => BigInt,
        ", " id: &'a [u8] => Binary,
        ", " content_hash: &'a [u8] => Binary,
        ", " sent_digest: Option<&'a [u8]> => Nullable<Binary>,
        ", " redacted: bool => Bool,
        ", " body: &'a str => Text,
    } ")"
}

statement! {
    /// Gives an event its place in the order of queries on SQLite.
    InsertTime {
        "INSERT INTO event_times (position, entry) VALUES (" position: i64 => BigInt,
        ", " entry: i64 => BigInt,
    } ")"
}
