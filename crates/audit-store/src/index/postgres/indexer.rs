//! The thread that writes the index, on one of the nodes.

use super::RowKey;
use super::segments::{ReadAhead, WrittenBlocks};
use super::tail::{self, Piece};
use crate::append::LedgerId;
use crate::connection::{Purpose, connect_postgres};
use crate::error::{Result, StoreError};
use crate::index::merging::{MERGED_ROWS_MIN, Merging, Segments, rows_to_merge};
use crate::index::{FILED_EVENTS_MAX, FILING_RETRY_INTERVAL, IndexCache};
use crate::schema::postgres::indexed;
use crate::signal::{Filing, Signal};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use diesel::upsert::excluded;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// How often to look for what other nodes have stored.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Names the locks, together with the table that they are about: of who writes the index, and of who brings it up to date
/// before anybody asks it.
const WRITER_LOCK: i32 = 1;
const START_LOCK: i32 = 2;

/// Files what commits leave in the tail, if no other node does.
pub(crate) struct Indexer {
    url: String,
    cache: Arc<IndexCache>,
    interval: Duration,
    session: Option<Session>,
}

/// What the index does not have of a ledger.
#[derive(QueryableByName)]
struct Missing {
    #[diesel(sql_type = BigInt)]
    ledger_id: i64,
    /// How many events the index has.
    #[diesel(sql_type = BigInt)]
    indexed: i64,
    /// Up to where there are events; fewer than the index has where somebody took some away.
    #[diesel(sql_type = BigInt)]
    size: i64,
}

#[derive(QueryableByName)]
struct IsHeld {
    #[diesel(sql_type = Bool)]
    is_held: bool,
}

/// A connection, with what is lost when it breaks.
struct Session {
    connection: PgConnection,
    /// Whether it holds the lock of who writes the index.
    is_writer: bool,
    ahead: ReadAhead,
    merging: Merging<RowKey>,
}

impl Session {
    fn open(url: &str, cache: &IndexCache) -> Result<Self> {
        let connection = connect_postgres(url, Purpose::Index)?;
        cache.tail.clear();
        Ok(Self {
            connection,
            is_writer: false,
            ahead: ReadAhead::default(),
            merging: Merging::default(),
        })
    }

    /// Tries to become the one who writes the index. The database takes the lock back when the connection ends.
    fn try_to_be_writer(&mut self) -> Result<()> {
        if !self.is_writer {
            let sql = format!(
                "SELECT pg_try_advisory_lock({WRITER_LOCK}, 'indexed'::regclass::oid::int) AS is_held"
            );
            let held: IsHeld = diesel::sql_query(sql).get_result(&mut self.connection)?;
            if held.is_held {
                self.change(|blocks| blocks.remove_unfinished())?;
                self.is_writer = true;
            }
        }
        Ok(())
    }

    /// Files everything while no other node that starts does.
    fn catch_up(&mut self, cache: &IndexCache) -> Result<()> {
        let lock = |of: &str| format!("SELECT {of}({START_LOCK}, 'indexed'::regclass::oid::int)");
        // Who starts at the same time waits for it, however long it takes.
        self.connection.batch_execute(&format!(
            "BEGIN; SET LOCAL statement_timeout = 0; {}; COMMIT",
            lock("pg_advisory_lock")
        ))?;
        self.try_to_be_writer()?;
        let mut filed = 0;
        while self.is_writer {
            let missing = self.missing()?;
            let events = self.file_some(&missing, cache)?;
            if events < FILED_EVENTS_MAX {
                break;
            }
            filed += events;
            log::info!("making the index of events: {filed} so far");
            while self.merge(rows_to_merge(events))? {}
        }
        Ok(self.connection.batch_execute(&lock("pg_advisory_unlock"))?)
    }

    fn change<T>(&mut self, work: impl FnOnce(&mut WrittenBlocks<'_>) -> Result<T>) -> Result<T> {
        WrittenBlocks::change(&mut self.connection, &mut self.ahead, work)
    }

    /// What the index does not have, ledger by ledger.
    fn missing(&mut self) -> Result<Vec<Missing>> {
        // A head may claim more events than there are.
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

    /// Forgets of the tail what is in the index.
    fn forget(&mut self, cache: &IndexCache) -> Result<()> {
        let kept = cache.tail.ledgers();
        if !kept.is_empty() {
            let sizes: Vec<(i64, i64)> = indexed::table
                .filter(indexed::ledger_id.eq_any(kept))
                .load(&mut self.connection)?;
            for (ledger_id, size) in sizes {
                cache.tail.forget(LedgerId(ledger_id), size);
            }
        }
        Ok(())
    }

    /// Files the oldest events of the tails in one transaction; how many there were, of all that are filed together when there
    /// may be more.
    fn file_some(&mut self, missing: &[Missing], cache: &IndexCache) -> Result<usize> {
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
                events < FILED_EVENTS_MAX
            };
            tail::for_each(
                &mut self.connection,
                &cache.tail,
                LedgerId(*ledger_id),
                *indexed..*size,
                see,
            )?;
            sizes.push((indexed::ledger_id.eq(*ledger_id), indexed::size.eq(end)));
            if events >= FILED_EVENTS_MAX {
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
                blocks.file(&rows)?;
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

    /// Goes on with merges for about so many rows of tokens; whether there is more to do.
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
            "stop all nodes, TRUNCATE index_segments, index_blocks, indexed, and start again to have it made anew",
        )
    }

    /// Files all that is missing, if no other node does.
    fn file_all(&mut self, cache: &IndexCache, filing: &Signal<Filing>) -> Result<()> {
        loop {
            self.try_to_be_writer()?;
            let missing = self.missing()?;
            let events = missing
                .iter()
                .map(|missing| (missing.size - missing.indexed).max(0));
            filing.missing(events.sum());
            if !self.is_writer {
                return self.forget(cache);
            }
            let events = self.file_some(&missing, cache)?;
            self.forget(cache)?;
            self.merge(rows_to_merge(events))?;
            if events < FILED_EVENTS_MAX {
                break;
            }
        }
        while filing.is_idle() && self.merge(MERGED_ROWS_MIN)? {}
        Ok(())
    }
}

impl Indexer {
    /// `interval`: how long commits come together before they are filed.
    pub(crate) fn open(url: &str, cache: Arc<IndexCache>, interval: Duration) -> Result<Self> {
        let mut session = Session::open(url, &cache)?;
        session.catch_up(&cache)?;
        Ok(Self {
            url: url.to_owned(),
            cache,
            interval,
            session: Some(session),
        })
    }

    /// Works until it is closed. What is left then is found as well, and filed by another node or when one starts.
    pub(crate) fn run(mut self, filing: &Signal<Filing>) {
        while filing.wait_for_work_at_most(LOOK_INTERVAL) {
            filing.rest(self.interval);
            if let Err(error) = self.attempt(filing) {
                self.session = None;
                log::warn!("what was stored last is not in the index yet: {error}");
                filing.rest(FILING_RETRY_INTERVAL);
            }
        }
        if let Some(mut session) = self.session.take().filter(|session| session.is_writer)
            && let Err(error) = session.change(|blocks| blocks.remove_unfinished())
        {
            log::warn!("the index was left unfinished: {error}");
        }
    }

    fn attempt(&mut self, filing: &Signal<Filing>) -> Result<()> {
        let Self {
            url, cache, session, ..
        } = self;
        let session = match session {
            Some(session) => session,
            none => none.insert(Session::open(url, cache)?),
        };
        let attempt = catch_unwind(AssertUnwindSafe(|| session.file_all(cache, filing)));
        attempt.unwrap_or_else(|_| Err(StoreError::Unreachable("the indexer panicked".to_owned())))
    }
}
