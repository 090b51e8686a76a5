//! The indexing backlog: ranges of stored events that are not in a segment yet.
//!
//! The table `event_backlog` has a row for each commit and ledger. The node that stored the events keeps their tokens in
//! memory until it has indexed them. Other nodes compute the tokens from the stored events and cache them.

use super::{RowKey, row_key};
use crate::append::plan::{NewRow, Plan};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::postgres::events::raw_events;
use crate::search::BACKLOG_BYTES_MAX;
use crate::search::backlog::UnindexedEvents;
use crate::search::counting::{BacklogRow, Counting};
use crate::search::tokens::push_facet_tokens;
use audit_domain::{Month, StoredEvent};
use audit_index::Term;
use diesel::PgConnection;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Stored events whose tokens are computed together.
const COMPUTED_EVENTS_MAX: i64 = 1_000;
/// The memory for tokens that this process has computed, in bytes.
const COMPUTED_BYTES_MAX: u64 = 2 << 20;
/// Commits of this process that wait to be indexed, at most. The holder of the group's lease indexes those beyond.
const PENDING_MAX: usize = 100_000;

/// The group of a ledger.
pub(crate) type GroupId = i64;

/// A row of the backlog: consecutive events of one ledger.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Unindexed {
    pub(crate) ledger_id: LedgerId,
    pub(crate) seqs: Range<i64>,
    /// The month in which they were stored.
    pub(crate) month: Month,
}

impl Unindexed {
    /// The number of its events.
    pub(crate) const fn events(&self) -> i64 {
        self.seqs.end - self.seqs.start
    }

    /// Its parts, each small enough that its tokens are computed together.
    fn parts(&self) -> impl Iterator<Item = Self> {
        let starts = (self.seqs.start..self.seqs.end).step_by(COMPUTED_EVENTS_MAX as usize);
        starts.map(|start| Self {
            ledger_id: self.ledger_id,
            seqs: start..self.seqs.end.min(start + COMPUTED_EVENTS_MAX),
            month: self.month,
        })
    }
}

/// Events with their tokens.
pub(crate) type Piece = UnindexedEvents<RowKey>;

/// What this process knows of the backlog.
#[derive(Debug)]
pub(crate) struct Backlog {
    own: Mutex<OwnBacklog>,
    /// Tokens of events of other nodes. Those of an event that is erased are wrong then: what they have brought into the index is looked
    /// for in `removed_rows`, and a rebuild begins with none.
    computed: Cache<Unindexed, Arc<Piece>, PieceBytes>,
}

/// Weighs a piece by the memory that it takes.
#[derive(Clone, Debug)]
struct PieceBytes;

impl Weighter<Unindexed, Arc<Piece>> for PieceBytes {
    fn weight(&self, _: &Unindexed, piece: &Arc<Piece>) -> u64 {
        (piece.bytes() + 128) as u64
    }
}

/// The events that this process has stored and not indexed yet.
#[derive(Debug, Default)]
struct OwnBacklog {
    /// By ledger and first event. Missing where the memory is used up.
    pieces: HashMap<(LedgerId, i64), Arc<Piece>>,
    bytes: usize,
    groups: BTreeMap<GroupId, Pending>,
    /// All rows of the groups.
    rows: HashSet<Unindexed>,
    events: i64,
}

/// The rows of one group, in the order of their commits.
#[derive(Debug, Default)]
struct Pending {
    rows: VecDeque<Unindexed>,
    events: i64,
    /// The time of the oldest commit.
    since: Option<Instant>,
}

/// Rows to index in one transaction.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) rows: Vec<Unindexed>,
    pub(crate) events: i64,
}

impl Batch {
    pub(crate) fn push(&mut self, row: Unindexed) {
        self.events += row.events();
        self.rows.push(row);
    }
}

impl Default for Backlog {
    fn default() -> Self {
        Self {
            own: Mutex::default(),
            computed: Cache::with_weighter(100, COMPUTED_BYTES_MAX, PieceBytes),
        }
    }
}

impl Backlog {
    /// Adds events that this process has committed. Returns the number of its unindexed events.
    pub(crate) fn committed(&self, plan: &Plan) -> i64 {
        let mut rows: Vec<&NewRow> = plan.rows.iter().collect();
        rows.sort_by_key(|row| (row.ledger_id, row.seq));
        let mut own = self.own.lock();
        for of_ledger in rows.chunk_by(|one, next| one.ledger_id == next.ledger_id) {
            let ledger_id = of_ledger[0].ledger_id;
            let Some(head) = plan.after.heads.get(&ledger_id) else {
                continue;
            };
            let mut events = Piece::default();
            for row in of_ledger {
                let key = row_key(row.event.record.occurred_at(), row.event.record.stamp().id);
                events.add(key, row.event.tokens.facets());
            }
            let first = of_ledger[0].seq;
            let row = Unindexed {
                ledger_id,
                seqs: first..first + of_ledger.len() as i64,
                month: of_ledger[0].month,
            };
            own.add(head.group_id, row, events);
        }
        own.events
    }

    /// Drops the tokens that were computed of events of other nodes.
    pub(crate) fn forget_computed(&self) {
        self.computed.clear();
    }

    /// The number of unindexed events of this process.
    pub(crate) fn events(&self) -> i64 {
        self.own.lock().events
    }

    /// Whether this process is going to index a row.
    pub(crate) fn is_pending(&self, row: &Unindexed) -> bool {
        self.own.lock().rows.contains(row)
    }

    /// The groups whose rows `is_due` selects, by the number of their events and the time of the oldest commit.
    pub(crate) fn due_groups(&self, is_due: impl Fn(i64, Instant) -> bool) -> Vec<GroupId> {
        let own = self.own.lock();
        let is_due = |pending: &Pending| pending.since.is_some_and(|since| is_due(pending.events, since));
        let due = own.groups.iter().filter(|(_, pending)| is_due(pending));
        due.map(|(group, _)| *group).collect()
    }

    /// The oldest rows of a group, with `events_max` events, rounded up to a whole row.
    pub(crate) fn oldest(&self, group: GroupId, events_max: i64) -> Batch {
        let own = self.own.lock();
        let mut batch = Batch::default();
        for row in own
            .groups
            .get(&group)
            .into_iter()
            .flat_map(|pending| &pending.rows)
        {
            if batch.events >= events_max {
                break;
            }
            batch.push(row.clone());
        }
        batch
    }

    /// Removes the oldest rows of a group, which are indexed, or gone from the database.
    pub(crate) fn remove(&self, group: GroupId, rows: &[Unindexed]) {
        let mut own = self.own.lock();
        let own = &mut *own;
        let Some(pending) = own.groups.get_mut(&group) else {
            return;
        };
        for row in rows {
            if pending.rows.front() != Some(row) {
                break;
            }
            pending.rows.pop_front();
            own.rows.remove(row);
            pending.events -= row.events();
            own.events -= row.events();
            if let Some(piece) = own.pieces.remove(&(row.ledger_id, row.seqs.start)) {
                own.bytes -= piece.bytes();
            }
        }
        match pending.rows.is_empty() {
            true => drop(own.groups.remove(&group)),
            // The commits that remain are younger.
            false => pending.since = Some(Instant::now()),
        }
    }

    /// The tokens of a part of a row that this process did not store, from memory or computed.
    fn computed(&self, connection: &mut PgConnection, part: &Unindexed) -> Result<Arc<Piece>> {
        if let Some(piece) = self.computed.get(part) {
            return Ok(piece);
        }
        let piece = Arc::new(compute(connection, part)?);
        self.computed.insert(part.clone(), Arc::clone(&piece));
        Ok(piece)
    }

    /// The tokens of the events of a row.
    pub(crate) fn pieces(&self, connection: &mut PgConnection, row: &Unindexed) -> Result<Vec<Arc<Piece>>> {
        let own = self
            .own
            .lock()
            .pieces
            .get(&(row.ledger_id, row.seqs.start))
            .cloned();
        if let Some(piece) = own.filter(|piece| piece.len() as i64 == row.events()) {
            return Ok(vec![piece]);
        }
        row.parts().map(|part| self.computed(connection, &part)).collect()
    }

    /// The index rows within `range` of unindexed events that fulfil all terms, in no order.
    pub(crate) fn matching(
        &self,
        connection: &mut PgConnection,
        rows: &[Unindexed],
        terms: &[Term],
        range: &Range<RowKey>,
    ) -> Result<Vec<RowKey>> {
        let mut found = Vec::new();
        for row in rows {
            for piece in self.pieces(connection, row)? {
                found.extend(piece.matching(terms, range));
            }
        }
        Ok(found)
    }

    /// [`Self::matching`], with what is counted of each event.
    pub(crate) fn counted(
        &self,
        connection: &mut PgConnection,
        rows: &[Unindexed],
        (terms, range): (&[Term], &Range<RowKey>),
        counting: &Counting,
    ) -> Result<Vec<BacklogRow<RowKey>>> {
        let mut found = Vec::new();
        for row in rows {
            for piece in self.pieces(connection, row)? {
                let matching = piece.matching_events(terms, range);
                found.extend(matching.map(|(row, tokens)| counting.backlog_row(row, tokens)));
            }
        }
        Ok(found)
    }
}

impl OwnBacklog {
    fn add(&mut self, group: GroupId, row: Unindexed, piece: Piece) {
        let pending = self.groups.entry(group).or_default();
        if pending.rows.len() >= PENDING_MAX {
            return;
        }
        pending.since.get_or_insert_with(Instant::now);
        pending.events += row.events();
        self.events += row.events();
        let bytes = piece.bytes();
        if self.bytes + bytes <= BACKLOG_BYTES_MAX {
            self.bytes += bytes;
            self.pieces
                .insert((row.ledger_id, row.seqs.start), Arc::new(piece));
        }
        self.rows.insert(row.clone());
        pending.rows.push_back(row);
    }
}

/// Computes the tokens of stored events. Removed events are missing.
fn compute(connection: &mut PgConnection, part: &Unindexed) -> Result<Piece> {
    let mut piece = Piece::default();
    let mut tokens = String::new();
    for (_, row, event) in raw_events(connection, part.ledger_id, part.seqs.clone(), COMPUTED_EVENTS_MAX)? {
        tokens.clear();
        match event.and_then(|event| push_tokens(&mut tokens, part.ledger_id, &event)) {
            Ok(()) => {}
            // It must not stop the indexer; `log verify` reports it.
            Err(error) => log::error!("cannot index an event: {error}"),
        }
        piece.add(row, &tokens);
    }
    Ok(piece)
}

/// Appends the tokens of a stored event.
pub(crate) fn push_tokens(tokens: &mut String, ledger_id: LedgerId, event: &StoredEvent) -> Result<()> {
    push_facet_tokens(tokens, ledger_id.0, &event.facets()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ledger: i64, seqs: Range<i64>) -> Unindexed {
        Unindexed {
            ledger_id: LedgerId(ledger),
            seqs,
            month: Month::from_number(0),
        }
    }

    #[test]
    fn the_oldest_rows_of_a_group_are_indexed_first() {
        let backlog = Backlog::default();
        for (group, row) in [
            (1, row(7, 0..3)),
            (2, row(8, 0..9)),
            (1, row(9, 5..6)),
            (1, row(7, 3..4)),
        ] {
            backlog.own.lock().add(group, row, Piece::default());
        }
        assert_eq!(backlog.events(), 14);
        assert_eq!(backlog.due_groups(|events, _| events > 5), [2]);
        let batch = backlog.oldest(1, 4);
        assert_eq!(
            (&*batch.rows, batch.events),
            (&[row(7, 0..3), row(9, 5..6)][..], 4)
        );
        backlog.remove(1, &batch.rows);
        assert_eq!(backlog.events(), 10);
        assert!(backlog.is_pending(&row(7, 3..4)));
        assert!(!backlog.is_pending(&row(7, 0..3)));
        backlog.remove(2, &backlog.oldest(2, 1).rows);
        assert_eq!(backlog.due_groups(|_, _| true), [1]);
    }

    #[test]
    fn a_long_row_has_parts_that_are_computed_together() {
        let parts: Vec<_> = row(1, 10..2_500).parts().map(|part| part.seqs).collect();
        assert_eq!(parts, [10..1_010, 1_010..2_010, 2_010..2_500]);
    }
}
