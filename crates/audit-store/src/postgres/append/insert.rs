//! The statement that stores events, with the heads of their ledgers and their rows of the backlog. Where Citus has the tables,
//! it is three statements of one transaction: Citus sends what one part of a statement returns to all of its servers, and commits
//! there, too, in two phases.
//!
//! Rows are sent as arrays of composite types (`written_head`, `written_event`). PostgreSQL spends a third less on a commit of
//! one event than with an array for each column, which has a function and a buffer of its own, and 8 % less on each event of
//! a batch.

use super::absent_keys::{AbsentKeys, Keys, Pasts, SearchedMonths};
use crate::append::plan::{NewRow, Plan};
use crate::error::{Result, StoreError};
use crate::ledgers::head::{HeadId, NewHead};
use crate::postgres::partitions::partition_of;
use crate::row_code::{RowCode, RowCodes};
use crate::statements::statement;
use diesel::PgConnection;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::{DatabaseErrorKind, Error};
use diesel::serialize::{self, Output, ToSql, WriteTuple};
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, SqlType, Text};

/// The composite type `written_head` of the schema.
#[derive(SqlType)]
#[diesel(postgres_type(name = "written_head"))]
struct WrittenHead;

/// Its columns.
type HeadColumns = (
    BigInt,
    BigInt,
    Nullable<Binary>,
    BigInt,
    BigInt,
    Binary,
    BigInt,
    Binary,
    Nullable<BigInt>,
    Binary,
    BigInt,
    BigInt,
    Integer,
);

/// The composite type `written_event` of the schema.
#[derive(SqlType)]
#[diesel(postgres_type(name = "written_event"))]
struct WrittenEvent;

/// Its columns.
type EventColumns = (
    BigInt,
    BigInt,
    Integer,
    Binary,
    BigInt,
    Binary,
    Binary,
    Nullable<Binary>,
    Nullable<Binary>,
    Bool,
    Nullable<BigInt>,
    Binary,
    Text,
);

/// A head as a plan found it, and as it leaves it.
#[derive(Debug)]
struct HeadChange<'a> {
    before: HeadId,
    after: &'a NewHead,
    /// The month of the commit.
    month: i32,
}

impl ToSql<WrittenHead, Pg> for HeadChange<'_> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        let Self { before, after, month } = self;
        let (last_id_before, last_id) = (before.last_id(), after.last.id.to_bytes());
        WriteTuple::<HeadColumns>::write_tuple(
            &(
                after.ledger_id.0,
                before.size,
                last_id_before.as_ref().map(<[u8; 16]>::as_slice),
                after.configuration_version.0,
                after.size,
                last_id.as_slice(),
                after.last.received_at.as_micros(),
                after.frontier.as_slice(),
                after.lifecycle,
                after.code.as_slice(),
                after.day,
                after.day_events,
                *month,
            ),
            out,
        )
    }
}

#[derive(Debug)]
pub(crate) struct EventValues<'a> {
    row: &'a NewRow,
    row_code: RowCode,
}

impl ToSql<WrittenEvent, Pg> for EventValues<'_> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        let Self { row, row_code } = self;
        let record = &row.event.record;
        let (id, content_hash) = (record.stamp().id.to_bytes(), record.content_hash());
        let key = row.event.idempotency.as_ref();
        WriteTuple::<EventColumns>::write_tuple(
            &(
                row.ledger_id.0,
                row.seq,
                row.month.number(),
                id.as_slice(),
                record.occurred_at().as_micros(),
                content_hash.as_bytes().as_slice(),
                record.content_salt().as_bytes().as_slice(),
                key.map(|key| key.hash.as_slice()),
                key.map(|key| key.digest.as_bytes().as_slice()),
                record.redacted(),
                row.event.sender.map(|sender| sender.id().0),
                row_code.as_slice(),
                record.canonical(),
            ),
            out,
        )
    }
}

/// The state that a plan was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planned {
    /// The heads are locked.
    Locked,
    /// The heads are expected to be in this state, and the keys to be absent.
    Expected,
}

/// How a commit is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statements {
    /// By one statement, which may be a transaction of its own.
    One,
    /// By three, in a transaction.
    Three,
}

/// Stores events, the heads of their ledgers and their rows of the backlog, if the heads (size and latest id, which
/// identify the history) and the versions of their configuration are as expected, none of the absent keys is stored, and the
/// filters that say so of other keys are of the stored history.
/// Otherwise stores nothing.
///
/// Blocks on concurrent writers of the ledgers' rows, which are commits and changes of the configuration, then re-checks
/// the predicate against their result. The rows are locked in the order of the ledgers, so two nodes cannot deadlock.
struct InsertEvents<'a> {
    update: UpdateHeads<'a>,
    head_count: i64,
    events: Vec<EventValues<'a>>,
    planned: Planned,
}

/// Replaces heads that are as expected.
struct UpdateHeads<'a> {
    heads: &'a [HeadChange<'a>],
    absent: AbsentKeys<'a>,
}

/// Adds the rows of the backlog for heads that were replaced.
struct InsertBacklog<'a> {
    heads: &'a [HeadChange<'a>],
    planned: Planned,
}

statement! {
    Pg;
    /// Inserts events whose heads were replaced.
    InsertRows<'a> {
        "INSERT INTO events (ledger_id, seq, month, id, occurred_at, content_hash, content_salt, idempotency_hash, sent_digest, \
             redacted, sender, row_code, body) \
         SELECT ledger_id, seq, month, id, occurred_at, content_hash, content_salt, idempotency_hash, sent_digest, redacted, \
             sender, row_code, body FROM unnest(" events: &'a [EventValues<'a>] => Array<WrittenEvent>,
    } ") AS event"
}

/// A row that is there already is of events that were removed by hand, and must not block the ledger. A commit that meets it with
/// expected heads is repeated with locked ones.
const REPLACE_BACKLOG: &str = " ON CONFLICT (group_id, ledger_id, first_seq) DO UPDATE \
    SET end_seq = greatest(event_backlog.end_seq, excluded.end_seq), month = excluded.month";

macro_rules! dynamic_statements {
    ($($name:ident),*) => {$(
        impl QueryId for $name<'_> {
            type QueryId = ();

            // The text depends on the months, or on what is planned.
            const HAS_STATIC_QUERY_ID: bool = false;
        }

        impl<C> RunQueryDsl<C> for $name<'_> {}
    )*};
}

dynamic_statements!(InsertEvents, UpdateHeads, InsertBacklog);

impl QueryFragment<Pg> for UpdateHeads<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        pass.push_sql(
            "UPDATE ledgers SET size = head.size, last_event_id = head.last_event_id, \
                 last_received_at = head.last_received_at, frontier = head.frontier, \
                 lifecycle_seq = head.lifecycle_seq, head_code = head.head_code, day = head.day, day_events = head.day_events \
             FROM unnest(",
        );
        pass.push_bind_param::<Array<WrittenHead>, _>(&self.heads)?;
        pass.push_sql(
            ") AS head WHERE ledgers.id = head.ledger_id AND ledgers.size = head.size_before \
                 AND ledgers.last_event_id IS NOT DISTINCT FROM head.last_id_before \
                 AND ledgers.configuration_version = head.configuration_version",
        );
        Self::push_absent(pass.reborrow(), &self.absent.earlier)?;
        Self::push_absent(pass.reborrow(), &self.absent.current)?;
        Self::push_pasts(pass, &self.absent.pasts)
    }
}

impl QueryFragment<Pg> for InsertBacklog<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        pass.push_sql(
            "INSERT INTO event_backlog (group_id, ledger_id, first_seq, end_seq, month) \
             SELECT ledgers.group_id, ledgers.id, head.size_before, ledgers.size, head.month FROM unnest(",
        );
        pass.push_bind_param::<Array<WrittenHead>, _>(&self.heads)?;
        pass.push_sql(") AS head JOIN ledgers ON ledgers.id = head.ledger_id");
        if self.planned == Planned::Locked {
            pass.push_sql(REPLACE_BACKLOG);
        }
        Ok(())
    }
}

impl QueryFragment<Pg> for InsertEvents<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        pass.push_sql("WITH heads AS (");
        self.update.walk_ast(pass.reborrow())?;
        pass.push_sql(
            " RETURNING ledgers.group_id, ledgers.id, head.size_before, ledgers.size, head.month), \
             backlog AS (\
             INSERT INTO event_backlog (group_id, ledger_id, first_seq, end_seq, month) SELECT * FROM heads",
        );
        if self.planned == Planned::Locked {
            pass.push_sql(REPLACE_BACKLOG);
        }
        // Where only some heads are as expected, an event without a month violates the bounds of all partitions, and the
        // statement fails as a whole.
        pass.push_sql(
            ") INSERT INTO events (ledger_id, seq, month, id, occurred_at, content_hash, content_salt, \
                 idempotency_hash, sent_digest, redacted, sender, row_code, body) \
             SELECT ledger_id, seq, CASE WHEN (SELECT count(*) FROM heads) = ",
        );
        pass.push_bind_param::<BigInt, _>(&self.head_count)?;
        pass.push_sql(
            " THEN month END, id, occurred_at, content_hash, content_salt, idempotency_hash, sent_digest, redacted, \
                 sender, row_code, body FROM unnest(",
        );
        pass.push_bind_param::<Array<WrittenEvent>, _>(&self.events)?;
        pass.push_sql(") AS event WHERE EXISTS (SELECT FROM heads)");
        Ok(())
    }
}

impl InsertEvents<'_> {
    /// Stores everything in one statement. Returns whether the database was in the expected state; otherwise nothing was stored.
    fn store(self, connection: &mut PgConnection) -> QueryResult<bool> {
        let count = self.events.len();
        match self.execute(connection) {
            Ok(stored) => Ok(stored == count),
            Err(Error::DatabaseError(DatabaseErrorKind::CheckViolation, _)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The same in three statements. If the database was not in the expected state, the transaction must be rolled back.
    fn store_apart(self, connection: &mut PgConnection) -> QueryResult<bool> {
        let (heads, planned) = (self.update.heads, self.planned);
        if self.update.execute(connection)? != heads.len() {
            return Ok(false);
        }
        InsertBacklog { heads, planned }.execute(connection)?;
        let events = self.events.as_slice();
        Ok(InsertRows { events }.execute(connection)? == events.len())
    }
}

impl UpdateHeads<'_> {
    /// Adds the look-up of keys that must be absent. The unique index refuses keys of the month in which the events
    /// are stored. Nothing is stored in an earlier month meanwhile: who stores events of the ledger changes the head, and this
    /// statement began after the commit that left the expected head.
    ///
    /// Each key is looked up on its own, as in [`crate::postgres::statements::FindKeys`].
    fn push_absent<'b>(mut pass: AstPass<'_, 'b, Pg>, keys: &'b Keys<'b>) -> QueryResult<()> {
        if keys.hashes.is_empty() {
            return Ok(());
        }
        pass.push_sql(" AND NOT EXISTS (SELECT FROM unnest(");
        pass.push_bind_param::<Array<BigInt>, _>(&keys.ledger_ids)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<Binary>, _>(&keys.hashes)?;
        pass.push_sql(") AS wanted (ledger_id, hash) CROSS JOIN LATERAL (");
        let of_key = "ledger_id = wanted.ledger_id AND idempotency_hash = wanted.hash";
        push_found(pass.reborrow(), &keys.months, of_key)?;
        pass.push_sql(") AS found)");
        Ok(())
    }

    /// Adds the comparison of the stored history with that of the filters.
    fn push_pasts<'b>(mut pass: AstPass<'_, 'b, Pg>, pasts: &'b Pasts) -> QueryResult<()> {
        if pasts.ledger_ids.is_empty() {
            return Ok(());
        }
        pass.push_sql(" AND (SELECT count(*) FROM unnest(");
        pass.push_bind_param::<Array<BigInt>, _>(&pasts.ledger_ids)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<BigInt>, _>(&pasts.seqs)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<Binary>, _>(&pasts.content_hashes)?;
        pass.push_sql(") AS past (ledger_id, seq, content_hash) CROSS JOIN LATERAL (");
        let of_past = "ledger_id = past.ledger_id AND seq = past.seq AND content_hash = past.content_hash";
        push_found(pass.reborrow(), &pasts.months, of_past)?;
        pass.push_sql(") AS found) = cardinality(");
        pass.push_bind_param::<Array<BigInt>, _>(&pasts.ledger_ids)?;
        pass.push_sql(")");
        Ok(())
    }
}

/// Adds a row for each of the months in which an event meets the condition.
fn push_found<'b>(
    mut pass: AstPass<'_, 'b, Pg>,
    months: &'b SearchedMonths,
    condition: &str,
) -> QueryResult<()> {
    match months {
        SearchedMonths::Named(months) => {
            for (number, month) in months.iter().enumerate() {
                let partition = partition_of(*month);
                let union = if number == 0 { "" } else { " UNION ALL " };
                pass.push_sql(&format!(
                    "{union}(SELECT FROM {partition} WHERE {condition} LIMIT 1)"
                ));
            }
        }
        SearchedMonths::Range(months) => {
            pass.push_sql(&format!("SELECT FROM events WHERE {condition} AND month >= "));
            pass.push_bind_param::<Integer, _>(&months.start)?;
            pass.push_sql(" AND month < ");
            pass.push_bind_param::<Integer, _>(&months.end)?;
            pass.push_sql(" LIMIT 1");
        }
    }
    Ok(())
}

/// Inserts the rows of a plan and updates the heads of their ledgers.
///
/// # Errors
/// [`StoreError::Stale`] when the ledgers or their configuration are not in the state of the plan, or one of the absent keys is
/// stored already; [`StoreError::Duplicate`] when another key is. Then nothing was written by one statement, and a transaction with three
/// must be rolled back.
pub(super) fn insert_events(
    connection: &mut PgConnection,
    plan: &Plan,
    heads: &[NewHead],
    codes: &RowCodes,
    absent: AbsentKeys<'_>,
    planned: Planned,
    statements: Statements,
) -> Result<()> {
    let changes = heads.iter().map(|after| HeadChange {
        before: plan
            .heads_before
            .get(&after.ledger_id)
            .copied()
            .unwrap_or_default(),
        after,
        month: plan.month_of(after.ledger_id).number(),
    });
    let events = plan.rows.iter().zip(plan.row_codes(codes, &plan.rows));
    let events = events.map(|(row, row_code)| EventValues { row, row_code });
    let changes: Vec<HeadChange<'_>> = changes.collect();
    let insert = InsertEvents {
        update: UpdateHeads {
            heads: &changes,
            absent,
        },
        head_count: heads.len() as i64,
        events: events.collect(),
        planned,
    };
    let is_stored = match statements {
        Statements::One => insert.store(connection)?,
        Statements::Three => insert.store_apart(connection)?,
    };
    is_stored.then_some(()).ok_or(StoreError::Stale)
}
