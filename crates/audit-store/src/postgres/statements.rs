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
             frontier, head_code, day, day_events, \
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
    /// Deletes rows of the backlog.
    DeleteBacklog {
        "DELETE FROM event_backlog USING unnest(" ledger_ids: Vec<i64> => Array<BigInt>,
        ", " first_seqs: Vec<i64> => Array<BigInt>,
        ", " end_seqs: Vec<i64> => Array<BigInt>,
        ") AS indexed (ledger_id, first_seq, end_seq) WHERE event_backlog.group_id = " group_id: i64 => BigInt,
    } " AND event_backlog.ledger_id = indexed.ledger_id AND event_backlog.first_seq = indexed.first_seq \
         AND event_backlog.end_seq = indexed.end_seq"
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
