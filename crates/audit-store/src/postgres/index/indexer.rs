//! The thread that indexes: the events that this process stored, and in the groups whose lease it holds, what dead nodes left.

use super::backlog::{Backlog, Batch, GroupId, Piece, Unindexed};
use super::lease::Leases;
use super::removed_rows::Removed;
use super::segments::{ReadAhead, WrittenBlocks};
use super::{RowKey, format, removed_rows};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::postgres::connection::Purpose;
use crate::postgres::place::Location;
use crate::postgres::schema::{event_backlog, index_segments};
use crate::postgres::statements::DeleteBacklog;
use crate::postgres::{Shared, partitions};
use crate::search::merging::{Extent, MERGED_ROWS_MIN, Merging, Segments, rows_to_merge};
use crate::search::{INDEXED_EVENTS_MAX, INDEXING_RETRY_INTERVAL};
use crate::signal::{Progress, Signal};
use audit_domain::{Clock, Month};
use diesel::PgConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the indexer looks for work that other nodes left, and renews its leases.
const ROUND_INTERVAL: Duration = Duration::from_secs(1);
/// Events of a group that are indexed at the next round. A smaller number waits for more, because each transaction writes a
/// segment.
const EVENTS_DUE: i64 = 500;
/// After so many intervals the events of a group are indexed however few they are.
const INTERVALS_DUE: u32 = 10;
/// How long a row of another node stays in the backlog until its node counts as dead. A living node indexes within a few
/// rounds.
const LEFT_AFTER: Duration = Duration::from_secs(5);
/// What an operator does about a damaged index.
const REPAIR: &str = "DELETE FROM index_format: nodes rebuild the index";
/// Rows of the backlog that are read at once.
const READ_ROWS_MAX: i64 = 10_000;

/// Indexes the backlog.
pub(crate) struct Indexer {
    shared: Arc<Shared>,
    interval: Duration,
    clock: Arc<dyn Clock>,
    session: Option<IndexingSession>,
    has_connected: bool,
    /// Says where the tables are, if they can move.
    coordinator: Option<PgConnection>,
    looked_up_at: Option<Instant>,
}

/// A connection, and the state that is lost when it breaks.
struct IndexingSession {
    connection: PgConnection,
    location: Location,
    ahead: ReadAhead,
    leases: Leases,
    /// The merges of the groups whose lease is held.
    merging: BTreeMap<GroupId, Merging<RowKey>>,
    /// Groups that may have segments to merge.
    to_merge: BTreeSet<GroupId>,
    /// Groups that have had rows of removed or erased events at the last round.
    with_removed: BTreeSet<GroupId>,
    /// Those of them that may have rows to forget.
    to_purge: BTreeSet<GroupId>,
    /// The sum of the ids of each group's segments at the last round. Any change changes it.
    segment_sums: HashMap<GroupId, i64>,
    /// Rows of the backlog that other nodes wrote, and when this node saw each first.
    left: HashMap<Unindexed, Instant>,
    /// Those whose nodes count as dead.
    abandoned: VecDeque<(GroupId, Batch)>,
    last_round: Option<Instant>,
    /// The random mark of the index. `None` before the first round, and while this program cannot write the index.
    mark: Option<i64>,
}

impl Indexer {
    /// `interval`: how long commits are collected before they are indexed.
    pub(crate) fn new(shared: Arc<Shared>, interval: Duration, clock: &Arc<dyn Clock>) -> Self {
        Self {
            shared,
            interval,
            clock: Arc::clone(clock),
            session: None,
            has_connected: false,
            coordinator: None,
            looked_up_at: None,
        }
    }

    /// Works until the signal is closed, and then indexes what this process has stored. What remains is in the backlog, which
    /// queries search; another node, or the next start, indexes it.
    pub(crate) fn run(mut self, progress: &Signal<Progress>) {
        while progress.wait_for_work_at_most(ROUND_INTERVAL) {
            progress.rest(self.interval);
            if progress.is_closed() {
                break;
            }
            self.follow();
            if let Err(error) = self
                .attempt(|session, shared, clock, interval| session.work(shared, clock, interval, progress))
            {
                log::warn!("cannot index the latest events, queries search them in the backlog: {error}");
                progress.rest(INDEXING_RETRY_INTERVAL);
            }
        }
        let finished = self.attempt(|session, shared, _, _| {
            if session.mark.is_none() {
                // The process ended before its first round.
                session.mark = format::prepare(&mut session.connection)?;
            }
            while session.mark.is_some() && session.index_due(shared, |_, _| true)? {}
            session.leases.release(&mut session.connection)
        });
        if let Err(error) = finished {
            log::warn!("cannot finish the index, another node continues it: {error}");
        }
    }

    /// Looks where the tables are. All sessions of the process follow.
    fn follow(&mut self) {
        if self
            .looked_up_at
            .is_some_and(|last| last.elapsed() < ROUND_INTERVAL)
        {
            return;
        }
        self.looked_up_at = Some(Instant::now());
        if let Err(error) = self.shared.place.follow(&mut self.coordinator) {
            log::warn!("cannot look up which server has the tables of the cell: {error}");
        }
        let place = &self.shared.place;
        self.session.take_if(|session| !place.is(&session.location));
    }

    /// Does a part of the work. When it fails or panics, the state of the session is unknown, and it is replaced.
    fn attempt(
        &mut self,
        work: impl FnOnce(&mut IndexingSession, &Shared, &dyn Clock, Duration) -> Result<()>,
    ) -> Result<()> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => {
                if std::mem::replace(&mut self.has_connected, true) {
                    // The server may be another one, which lost commits of this process.
                    self.shared.forget_commits();
                }
                IndexingSession::open(&self.shared)?
            }
        };
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            work(&mut session, &self.shared, &*self.clock, self.interval)
        }));
        attempt.unwrap_or_else(|_| Err(StoreError::Unreachable("the indexer panicked".to_owned())))?;
        self.session = Some(session);
        Ok(())
    }
}

impl IndexingSession {
    fn open(shared: &Shared) -> Result<Self> {
        let (mut connection, location) = shared.place.connect(Purpose::Index)?;
        let leases = Leases::open(&mut connection)?;
        Ok(Self {
            connection,
            location,
            ahead: ReadAhead::default(),
            leases,
            merging: BTreeMap::new(),
            to_merge: BTreeSet::new(),
            with_removed: BTreeSet::new(),
            to_purge: BTreeSet::new(),
            segment_sums: HashMap::new(),
            left: HashMap::new(),
            abandoned: VecDeque::new(),
            last_round: None,
            mark: None,
        })
    }

    /// Indexes what is due, and merges in between.
    fn work(
        &mut self,
        shared: &Shared,
        clock: &dyn Clock,
        interval: Duration,
        progress: &Signal<Progress>,
    ) -> Result<()> {
        let is_due = |events: i64, since: Instant| {
            events >= EVENTS_DUE || since.elapsed() >= interval.saturating_mul(INTERVALS_DUE)
        };
        loop {
            if self
                .last_round
                .is_none_or(|last| last.elapsed() >= ROUND_INTERVAL)
            {
                self.last_round = Some(Instant::now());
                self.begin_round(shared, clock)?;
            }
            if self.mark.is_none() {
                // The nodes of the newer version index the events of this one.
                shared.forget_commits();
                progress.reach(0);
                return Ok(());
            }
            let mut has_more = self.index_due(shared, is_due)?;
            has_more |= self.index_abandoned(shared)?;
            progress.reach(shared.commits().backlog.events());
            if !has_more || progress.is_closed() {
                break;
            }
        }
        // Once at least: while events arrive all the time, the rows of removed ones go, too.
        while !progress.is_closed() && self.merge_or_purge()? && progress.is_idle() {}
        Ok(())
    }

    /// Creates partitions ahead, checks the format of the index, renews the leases, and looks for rows of dead nodes.
    fn begin_round(&mut self, shared: &Shared, clock: &dyn Clock) -> Result<()> {
        if let Err(error) = partitions::create_ahead(&mut self.connection, shared, clock) {
            // Writers create those that they need.
            log::warn!("cannot create the partitions of the next months: {error}");
        }
        let before = self.mark;
        self.mark = format::prepare(&mut self.connection)?;
        if before.is_some() && self.mark.is_none() {
            log::warn!(
                "a newer version of the program has written the index: this one reads events without it"
            );
        }
        if self.mark != before {
            // What was read of the last index is gone.
            self.merging.clear();
            self.ahead = ReadAhead::default();
            self.abandoned.clear();
            shared.commits().backlog.forget_computed();
        }
        if self.mark.is_some() {
            self.renew_leases()?;
            if self.abandoned.is_empty() {
                self.find_abandoned(shared)?;
            }
        }
        Ok(())
    }

    /// Indexes a batch of each group that `is_due` selects. Returns whether a group may have more.
    fn index_due(&mut self, shared: &Shared, is_due: impl Fn(i64, Instant) -> bool) -> Result<bool> {
        let mut has_more = false;
        let commits = shared.commits();
        for group in commits.backlog.due_groups(is_due) {
            let batch = commits.backlog.oldest(group, INDEXED_EVENTS_MAX as i64);
            match self.index(group, &batch, &commits.backlog) {
                Ok(()) => {}
                // The holder of the lease indexed some of the rows, because this node was slow.
                Err(StoreError::Stale) => log::debug!("another node indexed events of this one"),
                Err(error) => return Err(error),
            }
            // Rows that another node did not index are left, and are indexed by the holder of the lease.
            commits.backlog.remove(group, &batch.rows);
            has_more |= batch.events >= INDEXED_EVENTS_MAX as i64;
            if self.leases.holds(group) {
                self.to_merge.insert(group);
            }
            let rows = rows_to_merge(usize::try_from(batch.events).unwrap_or_default());
            self.merge(rows, Extent::Levels)?;
        }
        Ok(has_more)
    }

    /// Indexes rows of the backlog in one transaction.
    ///
    /// # Errors
    /// [`StoreError::Stale`] when a row is not in the backlog any more. Then nothing is indexed.
    fn index(&mut self, group: GroupId, batch: &Batch, backlog: &Backlog) -> Result<()> {
        let mut months: BTreeMap<Month, Vec<Arc<Piece>>> = BTreeMap::new();
        for row in &batch.rows {
            let pieces = months.entry(row.month).or_default();
            pieces.extend(backlog.pieces(&mut self.connection, row)?);
        }
        self.change(group, |blocks| {
            let delete = DeleteBacklog {
                ledger_ids: batch.rows.iter().map(|row| row.ledger_id.0).collect(),
                first_seqs: batch.rows.iter().map(|row| row.seqs.start).collect(),
                end_seqs: batch.rows.iter().map(|row| row.seqs.end).collect(),
                group_id: group,
            };
            if delete.execute(blocks.connection())? != batch.rows.len() {
                return Err(StoreError::Stale);
            }
            for (month, pieces) in &months {
                let rows = rows_of(pieces);
                if !rows.is_empty() {
                    blocks.add_segment(*month, &rows)?;
                }
            }
            Ok(())
        })
    }

    fn change<T>(
        &mut self,
        group: GroupId,
        work: impl FnOnce(&mut WrittenBlocks<'_>) -> Result<T>,
    ) -> Result<T> {
        WrittenBlocks::change(group, &mut self.connection, &mut self.ahead, work)
    }

    /// Renews the leases, takes those that expired, and notes the groups that other nodes added segments to.
    #[expect(clippy::disallowed_methods, reason = "once in each round of the indexer")]
    fn renew_leases(&mut self) -> Result<()> {
        for group in self.leases.renew(&mut self.connection)? {
            // The last holder may have died during a merge.
            self.leases
                .work(group, &mut self.connection, &mut self.ahead, |blocks| {
                    blocks.remove_unfinished()
                })?;
            self.to_merge.insert(group);
        }
        let held = self.leases.held();
        self.merging.retain(|group, _| held.contains(group));
        self.to_merge.retain(|group| held.contains(group));
        self.with_removed = removed_rows::groups(&mut self.connection, held)?
            .into_iter()
            .collect();
        self.to_purge.clone_from(&self.with_removed);
        let sums: Vec<(GroupId, i64)> = index_segments::table
            .filter(index_segments::group_id.eq_any(held))
            .group_by(index_segments::group_id)
            .select((index_segments::group_id, sql::<BigInt>("sum(id)::bigint")))
            .load(&mut self.connection)?;
        for (group, sum) in sums {
            if self.segment_sums.insert(group, sum) != Some(sum) {
                self.to_merge.insert(group);
            }
        }
        Ok(())
    }

    /// Finds rows of the backlog whose nodes count as dead, in the groups whose lease is held.
    fn find_abandoned(&mut self, shared: &Shared) -> Result<()> {
        let rows: Vec<(GroupId, i64, i64, i64, i32)> = event_backlog::table
            .filter(event_backlog::group_id.eq_any(self.leases.held()))
            .order((
                event_backlog::group_id,
                event_backlog::ledger_id,
                event_backlog::first_seq,
            ))
            .limit(READ_ROWS_MAX)
            .load(&mut self.connection)?;
        let commits = shared.commits();
        let mut seen = HashMap::with_capacity(rows.len());
        let mut left: BTreeMap<GroupId, Vec<Unindexed>> = BTreeMap::new();
        for (group, ledger_id, start, end, month) in rows {
            let row = Unindexed {
                ledger_id: LedgerId(ledger_id),
                seqs: start..end,
                month: Month::from_number(month),
            };
            if commits.backlog.is_pending(&row) {
                continue;
            }
            let since = self.left.remove(&row).unwrap_or_else(Instant::now);
            if since.elapsed() >= LEFT_AFTER {
                left.entry(group).or_default().push(row.clone());
            }
            seen.insert(row, since);
        }
        self.left = seen;
        for (group, rows) in left {
            let batches = self.batches(group, rows)?;
            self.abandoned
                .extend(batches.into_iter().map(|batch| (group, batch)));
        }
        Ok(())
    }

    /// Indexes a batch of the rows of dead nodes. Returns whether there are more.
    fn index_abandoned(&mut self, shared: &Shared) -> Result<bool> {
        let Some((group, batch)) = self.abandoned.pop_front() else {
            return Ok(false);
        };
        let commits = shared.commits();
        match self.index(group, &batch, &commits.backlog) {
            // The node is alive, or the lease has another holder.
            Ok(()) | Err(StoreError::Stale) => {}
            Err(error) => return Err(error),
        }
        self.to_merge.insert(group);
        let rows = rows_to_merge(usize::try_from(batch.events).unwrap_or_default());
        self.merge(rows, Extent::Levels)?;
        Ok(!self.abandoned.is_empty())
    }

    /// Divides rows into batches. A row that is longer than a batch, because the index is rebuilt, is cut.
    fn batches(&mut self, group: GroupId, rows: Vec<Unindexed>) -> Result<Vec<Batch>> {
        let mut batches = Vec::new();
        let mut batch = Batch::default();
        for row in rows {
            for part in self.cut(group, row)? {
                if batch.events >= INDEXED_EVENTS_MAX as i64 {
                    batches.push(std::mem::take(&mut batch));
                }
                batch.push(part);
            }
        }
        batches.push(batch);
        batches.retain(|batch| !batch.rows.is_empty());
        Ok(batches)
    }

    /// Replaces a long row of the backlog by rows of the size of a batch.
    fn cut(&mut self, group: GroupId, row: Unindexed) -> Result<Vec<Unindexed>> {
        let size = INDEXED_EVENTS_MAX as i64;
        if row.events() <= size {
            return Ok(vec![row]);
        }
        let starts = (row.seqs.start..row.seqs.end).step_by(INDEXED_EVENTS_MAX);
        let parts: Vec<Unindexed> = starts
            .map(|start| Unindexed {
                ledger_id: row.ledger_id,
                seqs: start..row.seqs.end.min(start + size),
                month: row.month,
            })
            .collect();
        let inserted = parts.iter().map(|part| {
            (
                event_backlog::group_id.eq(group),
                event_backlog::ledger_id.eq(part.ledger_id.0),
                event_backlog::first_seq.eq(part.seqs.start),
                event_backlog::end_seq.eq(part.seqs.end),
                event_backlog::month.eq(part.month.number()),
            )
        });
        let inserted: Vec<_> = inserted.collect();
        self.connection.transaction(|connection| {
            let whole = event_backlog::table.find((group, row.ledger_id.0, row.seqs.start));
            if diesel::delete(whole).execute(connection)? == 0 {
                return Ok(Vec::new());
            }
            // A statement takes a limited number of parameters.
            for some in inserted.chunks(1_000) {
                diesel::insert_into(event_backlog::table)
                    .values(some)
                    .execute(connection)?;
            }
            Ok(parts)
        })
    }

    /// Continues merges for about `rows` postings in each group that may need it. Returns whether there is more to do.
    fn merge(&mut self, rows: usize, extent: Extent) -> Result<bool> {
        for group in self.to_merge.clone() {
            let merging = self.merging.entry(group).or_default();
            let has_some = self.with_removed.contains(&group);
            let outcome = self
                .leases
                .work(group, &mut self.connection, &mut self.ahead, |blocks| {
                    merging.step(rows, extent, blocks, &mut Removed { group, has_some })
                });
            let is_unfinished = match outcome {
                // Another node has the lease, and merges.
                Err(StoreError::Stale) => {
                    self.leases.lost(group);
                    merging.forget();
                    false
                }
                outcome => merging.stepped(outcome, REPAIR)?,
            };
            if !is_unfinished {
                self.to_merge.remove(&group);
            }
        }
        Ok(!self.to_merge.is_empty())
    }

    /// A step of merges, or without one of what follows removals. Returns whether there is more to do.
    fn merge_or_purge(&mut self) -> Result<bool> {
        Ok(self.merge(MERGED_ROWS_MIN, Extent::PastMonths)? || self.purge()?)
    }

    /// Writes a segment of each group again without the rows of removed and erased events, if it has any. Returns whether there is more to do.
    fn purge(&mut self) -> Result<bool> {
        if self
            .last_round
            .is_none_or(|last| last.elapsed() >= ROUND_INTERVAL)
        {
            // It can take minutes, and the leases have to be renewed.
            return Ok(false);
        }
        for group in self.to_purge.clone() {
            let merging = self.merging.entry(group).or_default();
            let outcome = self
                .leases
                .work(group, &mut self.connection, &mut self.ahead, |blocks| {
                    let Some((month, gone)) = removed_rows::first(blocks.connection(), group)? else {
                        return Ok(false);
                    };
                    let has_some = true;
                    if merging.purge(month, &gone, blocks, &mut Removed { group, has_some })? {
                        removed_rows::forget(blocks.connection(), group, month, &gone)?;
                    }
                    Ok(true)
                });
            let has_more = match outcome {
                // Another node has the lease, and merges.
                Err(StoreError::Stale) => {
                    self.leases.lost(group);
                    merging.forget();
                    false
                }
                outcome => merging.stepped(outcome, REPAIR)?,
            };
            if has_more && !merging.is_damaged() {
                self.to_merge.insert(group);
            } else {
                self.to_purge.remove(&group);
            }
        }
        Ok(!self.to_purge.is_empty())
    }
}

/// The rows of a segment, ascending, each with its tokens.
fn rows_of(pieces: &[Arc<Piece>]) -> Vec<(RowKey, &str)> {
    let mut rows: Vec<(RowKey, &str)> = pieces.iter().flat_map(|piece| piece.events()).collect();
    rows.sort_unstable_by_key(|(row, _)| *row);
    rows.dedup_by_key(|(row, _)| *row);
    rows
}
