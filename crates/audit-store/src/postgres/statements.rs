//! Statements that run for every commit, or for every event of one.

use crate::statements::statement;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text};
use diesel::{QueryResult, RunQueryDsl};

statement! {
    Pg;
    /// Finds heads of ledgers with their months, without locking them: id, head, months and first `seq` of each.
    FindHeads {
        "SELECT id, project_id, environment, group_id, configuration_version, size, last_event_id, last_received_at, \
             frontier, lifecycle_seq, head_code, day, day_events, \
             ARRAY(SELECT month FROM ledger_months WHERE ledger_id = ledgers.id ORDER BY month), \
             ARRAY(SELECT first_seq FROM ledger_months WHERE ledger_id = ledgers.id ORDER BY month) \
         FROM ledgers WHERE id = ANY(" ledger_ids: Vec<i64> => Array<BigInt>,
    } ")"
}

impl Query for FindHeads {
    type SqlType = (
        BigInt,
        (
            (Text, Text),
            BigInt,
            BigInt,
            (
                BigInt,
                Nullable<Binary>,
                Nullable<BigInt>,
                Nullable<Binary>,
                Nullable<BigInt>,
                Nullable<Binary>,
            ),
            BigInt,
            BigInt,
        ),
        Array<Integer>,
        Array<BigInt>,
    );
}

statement! {
    Pg;
    /// Inserts actions, unless they exist.
    InsertActions<'a> {
        "INSERT INTO ledger_actions (ledger_id, action) SELECT * FROM unnest(" ledger_ids: Vec<i64> => Array<BigInt>,
        ", " actions: Vec<&'a str> => Array<Text>,
    } ") ON CONFLICT DO NOTHING"
}

statement! {
    Pg;
    /// Finds stored idempotency keys that were stored in `first_month` or later, each with its newest event: ledger, hash, id,
    /// digest as sent, the columns that its code covers, the code, and month. Each is looked up on its own: for a join, the
    /// planner reads the whole ledger as long as the table has no statistics.
    FindKeys<'a> {
        "SELECT wanted.ledger_id, found.idempotency_hash, found.id, found.sent_digest, found.redacted, found.sender, \
             found.row_code, found.month \
         FROM unnest(" ledger_ids: Vec<i64> => Array<BigInt>,
        ", " hashes: Vec<&'a [u8]> => Array<Binary>,
        ") AS wanted (ledger_id, hash) CROSS JOIN LATERAL (\
             SELECT idempotency_hash, id, sent_digest, redacted, sender, row_code, month FROM events \
             WHERE ledger_id = wanted.ledger_id AND idempotency_hash = wanted.hash AND month >= " first_month: i32 => Integer,
    } " ORDER BY month DESC LIMIT 1\
         ) AS found"
}

impl Query for FindKeys<'_> {
    type SqlType = (
        BigInt,
        Binary,
        Binary,
        Nullable<Binary>,
        Bool,
        Nullable<BigInt>,
        Binary,
        Integer,
    );
}

statement! {
    Pg;
    /// Finds the states of groups of alert rules, each looked up on its own as in [`FindKeys`]: ledger, group and state.
    FindGroups<'a> {
        "SELECT wanted.ledger_id, found.group_hash, found.state \
         FROM unnest(" ledger_ids: Vec<i64> => Array<BigInt>,
        ", " groups: Vec<&'a [u8]> => Array<Binary>,
    } ") AS wanted (ledger_id, hash) CROSS JOIN LATERAL (\
             SELECT group_hash, state FROM alert_groups \
             WHERE ledger_id = wanted.ledger_id AND group_hash = wanted.hash LIMIT 1\
         ) AS found"
}

impl Query for FindGroups<'_> {
    type SqlType = (BigInt, Binary, Binary);
}

statement! {
    Pg;
    /// Writes the states of groups of alert rules.
    PutGroups<'a> {
        "INSERT INTO alert_groups (ledger_id, group_hash, state, expires_at) \
         SELECT * FROM unnest(" ledger_ids: Vec<i64> => Array<BigInt>,
        ", " groups: Vec<&'a [u8]> => Array<Binary>,
        ", " states: Vec<&'a [u8]> => Array<Binary>,
        ", " expires_at: Vec<i64> => Array<BigInt>,
    } ") ON CONFLICT (ledger_id, group_hash) DO UPDATE SET state = excluded.state, expires_at = excluded.expires_at"
}

statement! {
    Pg;
    /// Replaces signed checkpoints that are still the stored ones. Locks them in the order of their ledgers, so that two
    /// nodes cannot deadlock.
    ReplaceCheckpoints<'a> {
        "UPDATE log_checkpoints SET size = held.size, note = held.note, signed_at = held.signed_at \
         FROM (\
             SELECT next.ledger_id, next.size, next.note, next.signed_at \
             FROM unnest(" ledger_ids: Vec<i64> => Array<BigInt>,
        ", " notes_before: Vec<&'a str> => Array<Text>,
        ", " sizes: Vec<i64> => Array<BigInt>,
        ", " notes: Vec<&'a str> => Array<Text>,
        ", " signed_at: Vec<i64> => Array<BigInt>,
    } ") AS next (ledger_id, note_before, size, note, signed_at) \
             JOIN log_checkpoints AS last ON last.ledger_id = next.ledger_id \
                 AND last.note = next.note_before \
             ORDER BY next.ledger_id FOR UPDATE OF last\
         ) AS held \
         WHERE log_checkpoints.ledger_id = held.ledger_id RETURNING log_checkpoints.ledger_id"
}

impl Query for ReplaceCheckpoints<'_> {
    type SqlType = BigInt;
}

statement! {
    Pg;
    /// Stores the first checkpoints of ledgers that have none, in the order of the ledgers as [`ReplaceCheckpoints`].
    InsertCheckpoints<'a> {
        "INSERT INTO log_checkpoints (ledger_id, size, note, signed_at) \
         SELECT ledger_id, size, note, signed_at FROM unnest(" ledger_ids: Vec<i64> => Array<BigInt>,
        ", " sizes: Vec<i64> => Array<BigInt>,
        ", " notes: Vec<&'a str> => Array<Text>,
        ", " signed_at: Vec<i64> => Array<BigInt>,
    } ") AS first (ledger_id, size, note, signed_at) ORDER BY ledger_id \
         ON CONFLICT (ledger_id) DO NOTHING RETURNING ledger_id"
}

impl Query for InsertCheckpoints<'_> {
    type SqlType = BigInt;
}

statement! {
    Pg;
    /// Stores cosigned checkpoints whose rows are still those of the version before, in the order of the ledgers as
    /// [`ReplaceCheckpoints`].
    PutCosigned<'a> {
        "INSERT INTO log_cosigned (ledger_id, version, note, quorum_size, quorum_note) \
         SELECT ledger_id, version, note, quorum_size, quorum_note FROM unnest(" ledger_ids: Vec<i64> => Array<BigInt>,
        ", " versions: Vec<i64> => Array<BigInt>,
        ", " notes: Vec<&'a str> => Array<Text>,
        ", " quorum_sizes: Vec<i64> => Array<BigInt>,
        ", " quorum_notes: Vec<Option<&'a str>> => Array<Nullable<Text>>,
    } ") AS next (ledger_id, version, note, quorum_size, quorum_note) ORDER BY ledger_id \
         ON CONFLICT (ledger_id) DO UPDATE SET version = excluded.version, note = excluded.note, \
             quorum_size = excluded.quorum_size, quorum_note = excluded.quorum_note \
         WHERE log_cosigned.version = excluded.version - 1 RETURNING ledger_id"
}

impl Query for PutCosigned<'_> {
    type SqlType = BigInt;
}

statement! {
    Pg;
    /// Finds, in one snapshot, the group of a ledger and the format of the index, the ledger's backlog, and the complete
    /// segments of the group, each with its mark.
    FindSegments {
        "SELECT group_id, format, NULL::bigint, NULL::bigint, mark, NULL::integer, \
             NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bytea, NULL::bigint, NULL::bytea, \
             NULL::bigint, NULL::bigint, NULL::bytea \
         FROM ledgers LEFT JOIN index_format ON index_format.id = 1 WHERE ledgers.id = " of_group: i64 => BigInt,
        " UNION ALL \
         SELECT NULL, NULL, first_seq, end_seq, NULL, month, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL \
         FROM event_backlog WHERE group_id = (SELECT group_id FROM ledgers WHERE id = " of_backlog: i64 => BigInt,
        ") AND ledger_id = " ledger_id: i64 => BigInt,
        " UNION ALL \
         SELECT NULL, NULL, NULL, NULL, mark, NULL, id, level, row_count, first_occurred_at, first_id, last_occurred_at, last_id, \
             leaves, directories, roots \
         FROM index_segments WHERE group_id = (SELECT group_id FROM ledgers WHERE id = " of_segments: i64 => BigInt,
    } ") AND is_complete"
}

impl Query for FindSegments {
    type SqlType = (
        Nullable<BigInt>,
        Nullable<Integer>,
        Nullable<BigInt>,
        Nullable<BigInt>,
        Nullable<BigInt>,
        Nullable<Integer>,
        Nullable<(
            BigInt,
            BigInt,
            BigInt,
            BigInt,
            Binary,
            BigInt,
            Binary,
            BigInt,
            BigInt,
            Binary,
        )>,
    );
}

statement! {
    Pg;
    /// Deletes rows of the backlog, each looked up on its own as in [`FindKeys`]. The table is nearly empty at times and long at others: for
    /// a join, the planner compares every row of the backlog with every row to delete, if the table was nearly empty when it was
    /// vacuumed.
    DeleteBacklog {
        "DELETE FROM event_backlog WHERE ctid = ANY (ARRAY(SELECT stored.ctid FROM unnest(" ledger_ids: Vec<i64> => Array<BigInt>,
        ", " first_seqs: Vec<i64> => Array<BigInt>,
        ", " end_seqs: Vec<i64> => Array<BigInt>,
        ") AS indexed (ledger_id, first_seq, end_seq) CROSS JOIN LATERAL (\
             SELECT ctid FROM event_backlog WHERE group_id = " group_id: i64 => BigInt,
    } " AND ledger_id = indexed.ledger_id AND first_seq = indexed.first_seq AND end_seq = indexed.end_seq LIMIT 1\
         ) AS stored))"
}

statement! {
    Pg;
    /// Writes blocks of the index.
    InsertBlocks<'a> {
        "INSERT INTO index_blocks (id, bytes) SELECT * FROM unnest(" keys: Vec<i64> => Array<BigInt>,
        ", " blocks: Vec<&'a [u8]> => Array<Binary>,
    } ")"
}

statement! {
    Pg;
    /// Finds the newest events of a ledger that are before a time and id, and not before a time: id, time, content
    /// hash, its salt, whether redacted, and body.
    FindNewest<'a> {
        "SELECT id, occurred_at, content_hash, content_salt, redacted, body FROM events WHERE ledger_id = " ledger_id: i64 => BigInt,
        " AND occurred_at >= " start: i64 => BigInt,
        " AND (occurred_at, id) < (" before: i64 => BigInt,
        ", " before_id: &'a [u8] => Binary,
        ") ORDER BY occurred_at DESC, id DESC LIMIT " limit: i64 => BigInt,
    } ""
}

impl Query for FindNewest<'_> {
    type SqlType = (Binary, BigInt, Binary, Binary, Bool, Text);
}

statement! {
    Pg;
    /// Finds the oldest events of a ledger that are after a time and id, and not after a time: as [`FindNewest`].
    FindOldest<'a> {
        "SELECT id, occurred_at, content_hash, content_salt, redacted, body FROM events WHERE ledger_id = " ledger_id: i64 => BigInt,
        " AND occurred_at <= " end: i64 => BigInt,
        " AND (occurred_at, id) > (" after: i64 => BigInt,
        ", " after_id: &'a [u8] => Binary,
        ") ORDER BY occurred_at, id LIMIT " limit: i64 => BigInt,
    } ""
}

impl Query for FindOldest<'_> {
    type SqlType = (Binary, BigInt, Binary, Binary, Bool, Text);
}

statement! {
    Pg;
    /// Finds events of a ledger, each looked up on its own as in [`FindKeys`]: id, time, content hash, its salt,
    /// whether redacted, and body. No event is in a month before that of its id, and most are in that month, which is looked up first.
    FindEvents<'a> {
        "SELECT found.* FROM unnest(" ids: Vec<&'a [u8]> => Array<Binary>,
        ", " months: Vec<i32> => Array<Integer>,
        ") AS wanted (id, month) CROSS JOIN LATERAL (\
             SELECT id, occurred_at, content_hash, content_salt, redacted, body FROM events \
             WHERE ledger_id = " ledger_id: i64 => BigInt,
        " AND id = wanted.id AND month >= wanted.month AND month >= " first_month: i32 => Integer,
    } " LIMIT 1\
         ) AS found"
}

impl Query for FindEvents<'_> {
    type SqlType = (Binary, BigInt, Binary, Binary, Bool, Text);
}

statement! {
    Pg;
    /// Finds events of several ledgers, each looked up on its own as in [`FindKeys`]: ledger, `seq`, id, time, content hash,
    /// its salt, whether redacted, and body.
    FindRows<'a> {
        "SELECT found.* FROM unnest(" ledger_ids: Vec<i64> => Array<BigInt>,
        ", " ids: Vec<&'a [u8]> => Array<Binary>,
        ", " months: Vec<i32> => Array<Integer>,
    } ") AS wanted (ledger_id, id, month) CROSS JOIN LATERAL (\
             SELECT ledger_id, seq, id, occurred_at, content_hash, content_salt, redacted, body FROM events \
             WHERE ledger_id = wanted.ledger_id AND id = wanted.id AND month >= wanted.month LIMIT 1\
         ) AS found"
}

impl Query for FindRows<'_> {
    type SqlType = (BigInt, BigInt, Binary, BigInt, Binary, Binary, Bool, Text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::connection::{Purpose, connect};
    use crate::{DatabaseUrl, Store, StoreOptions};
    use audit_domain::{Clock, Timestamp};
    use audit_ledger::HeadKey;
    use audit_tests::{Database, DatabaseKind};
    use diesel::connection::SimpleConnection;
    use diesel::{Connection, sql_query};
    use std::sync::Arc;

    #[derive(diesel::QueryableByName)]
    struct Fetched {
        #[diesel(sql_type = BigInt)]
        rows: i64,
    }

    #[test]
    fn rows_of_a_long_backlog_are_deleted_by_key_though_it_was_short_when_it_was_vacuumed() {
        let kind = DatabaseKind::Postgres;
        if !kind.is_available() {
            return;
        }
        let database = Database::create(kind);
        let url: DatabaseUrl = database.url().parse().unwrap();
        let clock: Arc<dyn Clock> = Arc::new(Timestamp::from_seconds(1_768_473_000));
        let store = Store::open(&url, StoreOptions::default(), &HeadKey::new(&[7; 32]), &clock).unwrap();
        store.close();

        let mut connection = connect(database.url(), Purpose::Index).unwrap();
        connection
            .batch_execute(
                "INSERT INTO event_backlog SELECT 3, ledger, first, first + 1, 681
                     FROM generate_series(1, 50) AS ledger, generate_series(1, 100) AS first;
                 UPDATE pg_class SET relpages = 1000, reltuples = 1 WHERE oid = 'event_backlog'::regclass",
            )
            .unwrap();
        let fetched: QueryResult<Fetched> = connection.transaction(|connection| {
            let first_seqs = || (1..=20).collect::<Vec<i64>>();
            let delete = DeleteBacklog {
                ledger_ids: vec![5; 20],
                first_seqs: first_seqs(),
                end_seqs: first_seqs().into_iter().map(|first| first + 1).collect(),
                group_id: 3,
            };
            assert_eq!(delete.execute(connection)?, 20);
            sql_query(
                "SELECT idx_tup_fetch AS rows FROM pg_stat_xact_user_tables WHERE relid = 'event_backlog'::regclass",
            )
            .get_result::<Fetched>(connection)
        });
        assert_eq!(fetched.unwrap().rows, 20);
    }
}
