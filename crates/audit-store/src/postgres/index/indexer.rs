//! The thread that indexes, on one of the nodes.

use super::RowKey;
use super::backlog::{self, Piece};
use super::segments::{ReadAhead, WrittenBlocks};
use crate::append::LedgerId;
use crate::error::{Result, StoreError};
use crate::postgres::Shared;
use crate::postgres::connection::{self, Purpose};
use crate::postgres::schema::{index_format, indexed};
use crate::search::merging::{MERGED_ROWS_MIN, Merging, Segments, rows_to_merge};
use crate::search::{FORMAT, INDEXED_EVENTS_MAX, INDEXING_RETRY_INTERVAL};
use crate::signal::{Progress, Signal};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use diesel::upsert::excluded;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// How often the indexer queries the events of other nodes.
const QUERY_INTERVAL: Duration = Duration::from_secs(1);

/// Advisory locks, each together with the table `indexed`: of the node that writes the index, and of the node that brings it up
/// to date when it starts.
const WRITER_LOCK: i32 = 1;
const START_LOCK: i32 = 2;

/// Indexes the backlog, unless another node does.
pub(crate) struct Indexer {
    url: String,
    shared: Arc<Shared>,
    interval: Duration,
    session: Option<IndexingSession>,
}

/// The unindexed events of a ledger.
#[derive(QueryableByName)]
struct Missing {
    #[diesel(sql_type = BigInt)]
    ledger_id: i64,
    /// The number of indexed events.
    #[diesel(sql_type = BigInt)]
    indexed: i64,
    /// The end of the stored events; less than `indexed` where events were removed.
    #[diesel(sql_type = BigInt)]
    size: i64,
}

#[derive(QueryableByName)]
struct IsHeld {
    #[diesel(sql_type = Bool)]
    is_held: bool,
}

/// A connection, and the state that is lost when it breaks.
struct IndexingSession {
    connection: PgConnection,
    /// Whether it holds the lock of the node that writes the index.
    is_writer: bool,
    ahead: ReadAhead,
    merging: Merging<RowKey>,
}

impl IndexingSession {
    fn open(url: &str, shared: &Shared) -> Result<Self> {
        let connection = connection::connect(url, Purpose::Index)?;
        shared.backlog.clear();
        Ok(Self {
            connection,
            is_writer: false,
            ahead: ReadAhead::default(),
            merging: Merging::default(),
        })
    }

    /// Tries to become the node that writes the index. The server releases the lock when the connection ends.
    fn try_to_be_writer(&mut self) -> Result<()> {
        if !self.is_writer {
            let sql = format!(
                "SELECT pg_try_advisory_lock({WRITER_LOCK}, 'indexed'::regclass::oid::int) AS is_held"
            );
            let held: IsHeld = diesel::sql_query(sql).get_result(&mut self.connection)?;
            if held.is_held {
                self.check_format()?;
                self.change(|blocks| blocks.remove_unfinished())?;
                self.is_writer = true;
            }
        }
        Ok(())
    }

    /// Empties an index of another format, which makes all events unindexed.
    fn check_format(&mut self) -> Result<()> {
        self.connection.transaction(|connection| {
            let format: Option<i32> = index_format::table
                .select(index_format::format)
                .get_result(connection)
                .optional()?;
            if format == Some(FORMAT) {
                return Ok(());
            }
            connection.batch_execute("TRUNCATE index_segments, index_blocks, indexed, index_format")?;
            diesel::insert_into(index_format::table)
                .values((index_format::id.eq(1), index_format::format.eq(FORMAT)))
                .execute(connection)?;
            Ok(())
        })
    }

    /// Indexes everything, one starting node at a time.
    fn catch_up(&mut self, shared: &Shared) -> Result<()> {
        let lock = |of: &str| format!("SELECT {of}({START_LOCK}, 'indexed'::regclass::oid::int)");
        // Nodes that start concurrently wait without a limit.
        self.connection.batch_execute(&format!(
            "BEGIN; SET LOCAL statement_timeout = 0; {}; COMMIT",
            lock("pg_advisory_lock")
        ))?;
        self.try_to_be_writer()?;
        let mut indexed_events = 0;
        while self.is_writer {
            let missing = self.missing()?;
            let events = self.index_some(&missing, shared)?;
            if events < INDEXED_EVENTS_MAX {
                break;
            }
            indexed_events += events;
            log::info!("indexing: {indexed_events} events so far");
            while self.merge(rows_to_merge(events))? {}
        }
        Ok(self.connection.batch_execute(&lock("pg_advisory_unlock"))?)
    }

    fn change<T>(&mut self, work: impl FnOnce(&mut WrittenBlocks<'_>) -> Result<T>) -> Result<T> {
        WrittenBlocks::change(&mut self.connection, &mut self.ahead, work)
    }

    /// The unindexed events, by ledger.
    fn missing(&mut self) -> Result<Vec<Missing>> {
        // The size in a head may be too large.
        let sql = "SELECT ledgers.id AS ledger_id, coalesce(indexed.size, 0) AS indexed, \
                       least(ledgers.size, greatest(indexed.size, stored.last + 1, 0)) AS size \
                   FROM ledgers LEFT JOIN indexed ON indexed.ledger_id = ledgers.id \
                   CROSS JOIN LATERAL (\
                       SELECT max(seq) AS last FROM events WHERE ledger_id = ledgers.id AND seq < ledgers.size\
                   ) AS stored \
                   WHERE ledgers.size <> coalesce(indexed.size, 0) ORDER BY ledgers.id";
        let mut missing: Vec<Missing> = diesel::sql_query(sql).load(&mut self.connection)?;
        missing.retain(|missing| missing.size != missing.indexed);
        Ok(missing)
    }

    /// Drops indexed events from the cache.
    fn forget(&mut self, shared: &Shared) -> Result<()> {
        let cached = shared.backlog.ledgers();
        if !cached.is_empty() {
            let sizes: Vec<(i64, i64)> = indexed::table
                .filter(indexed::ledger_id.eq_any(cached))
                .load(&mut self.connection)?;
            for (ledger_id, size) in sizes {
                shared.backlog.forget(LedgerId(ledger_id), size);
            }
        }
        Ok(())
    }

    /// Indexes the oldest events of the backlog in one transaction. Returns their number, which is [`INDEXED_EVENTS_MAX`]
    /// or more when there may be more.
    fn index_some(&mut self, missing: &[Missing], shared: &Shared) -> Result<usize> {
        let (mut pieces, mut events): (Vec<Arc<Piece>>, usize) = (Vec::new(), 0);
        let mut sizes = Vec::new();
        for Missing {
            ledger_id,
            indexed,
            size,
        } in missing
        {
            let mut end = *indexed.min(size);
            let see = |piece: Arc<Piece>| {
                events += piece.events.len();
                end = piece.seqs.end;
                pieces.push(piece);
                events < INDEXED_EVENTS_MAX
            };
            backlog::for_each(
                &mut self.connection,
                &shared.backlog,
                LedgerId(*ledger_id),
                *indexed..*size,
                see,
            )?;
            sizes.push((indexed::ledger_id.eq(*ledger_id), indexed::size.eq(end)));
            if events >= INDEXED_EVENTS_MAX {
                break;
            }
        }
        if sizes.is_empty() {
            return Ok(0);
        }
        let mut rows: Vec<(RowKey, &str)> = pieces.iter().flat_map(|piece| piece.events.events()).collect();
        rows.sort_unstable_by_key(|(row, _)| *row);
        rows.dedup_by_key(|(row, _)| *row);
        self.change(|blocks| {
            if !rows.is_empty() {
                blocks.add_segment(&rows)?;
            }
            diesel::insert_into(indexed::table)
                .values(&sizes)
                .on_conflict(indexed::ledger_id)
                .do_update()
                .set(indexed::size.eq(excluded(indexed::size)))
                .execute(blocks.connection())?;
            Ok(())
        })?;
        Ok(events)
    }

    /// Continues merges for about `rows` postings. Returns whether there is more to do.
    fn merge(&mut self, rows: usize) -> Result<bool> {
        let Self {
            connection,
            ahead,
            merging,
            ..
        } = self;
        let outcome = WrittenBlocks::change(connection, ahead, |blocks| merging.step(rows, blocks));
        merging.stepped(
            outcome,
            "stop all nodes, TRUNCATE index_segments, index_blocks, indexed, and start: the index is rebuilt",
        )
    }

    /// Indexes everything, unless another node does.
    fn index_all(&mut self, shared: &Shared, progress: &Signal<Progress>) -> Result<()> {
        loop {
            self.try_to_be_writer()?;
            let missing = self.missing()?;
            let events = missing
                .iter()
                .map(|missing| (missing.size - missing.indexed).max(0));
            progress.reach(events.sum());
            if !self.is_writer {
                return self.forget(shared);
            }
            let events = self.index_some(&missing, shared)?;
            self.forget(shared)?;
            self.merge(rows_to_merge(events))?;
            if events < INDEXED_EVENTS_MAX {
                break;
            }
        }
        while progress.is_idle() && self.merge(MERGED_ROWS_MIN)? {}
        Ok(())
    }
}

impl Indexer {
    /// `interval`: how long commits are collected before they are indexed.
    pub(crate) fn open(url: &str, shared: Arc<Shared>, interval: Duration) -> Result<Self> {
        let mut session = IndexingSession::open(url, &shared)?;
        session.catch_up(&shared)?;
        Ok(Self {
            url: url.to_owned(),
            shared,
            interval,
            session: Some(session),
        })
    }

    /// Works until the signal is closed. Queries then search the unindexed events in the backlog; another node, or
    /// the next start, indexes them.
    pub(crate) fn run(mut self, progress: &Signal<Progress>) {
        while progress.wait_for_work_at_most(QUERY_INTERVAL) {
            progress.rest(self.interval);
            if let Err(error) = self.attempt(progress) {
                self.session = None;
                log::warn!("cannot index the latest events, queries search them in the backlog: {error}");
                progress.rest(INDEXING_RETRY_INTERVAL);
            }
        }
        if let Some(mut session) = self.session.take().filter(|session| session.is_writer)
            && let Err(error) = session.change(|blocks| blocks.remove_unfinished())
        {
            log::warn!("cannot finish the index, another node continues it: {error}");
        }
    }

    fn attempt(&mut self, progress: &Signal<Progress>) -> Result<()> {
        let Self {
            url, shared, session, ..
        } = self;
        let session = match session {
            Some(session) => session,
            none => none.insert(IndexingSession::open(url, shared)?),
        };
        let attempt = catch_unwind(AssertUnwindSafe(|| session.index_all(shared, progress)));
        attempt.unwrap_or_else(|_| Err(StoreError::Unreachable("the indexer panicked".to_owned())))
    }
}
