//! Reading events: queries, the log, and single events.
//!
//! A query walks through candidates from the index, in the order of the response, and checks each against the filter itself.

mod page;
mod summary;

pub use page::{FetchSize, PAGE_BYTES_MAX, PAGE_CANDIDATES_MAX};
pub use summary::{
    EventSummary, FrequentValues, SummaryBucket, SummaryQuery, SummaryRefusal, TOP_EVENTS_MAX,
};

use crate::access::Reader;
use crate::database::{on_database, on_either};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::replica::LogEnd;
use crate::search::counting::{Counting, Tally, Uncounted};
use crate::search::terms::{Selected, terms_of};
use audit_domain::{
    EventFilter, EventId, EventOrder, PageLimit, Position, StoredEvent, Timestamp, ViewerTier,
};
use audit_index::Term;
use std::collections::BTreeSet;

/// A query over the events of a ledger.
#[derive(Clone, Debug)]
pub struct EventQuery {
    /// The ledger.
    pub ledger_id: LedgerId,
    /// The conditions.
    pub filter: EventFilter,
    /// Restricts the events and fields that the reader sees; `None` shows all.
    pub tier: Option<ViewerTier>,
    /// The order of the events.
    pub order: EventOrder,
    /// Only events after this position, in that order.
    pub after: Option<Position>,
    /// The size of the page. It has fewer events if these have [`PAGE_BYTES_MAX`] or more, or if few of
    /// [`PAGE_CANDIDATES_MAX`] candidates are selected.
    pub limit: PageLimit,
}

impl EventQuery {
    const fn selected(&self) -> Selected<'_> {
        Selected {
            ledger_id: self.ledger_id,
            filter: &self.filter,
            tier: self.tier.as_ref(),
        }
    }
}

/// A page of events, in the order of the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPage {
    /// The stored events.
    pub events: Vec<StoredEvent>,
    /// Where the next page begins; `None` on the last.
    pub next: Option<Position>,
}

/// A query in the terms of the index.
#[derive(Clone, Debug)]
pub(crate) struct Candidates {
    pub(crate) ledger_id: LedgerId,
    pub(crate) terms: Vec<Term>,
    pub(crate) start: Option<Timestamp>,
    pub(crate) end: Option<Timestamp>,
    pub(crate) order: EventOrder,
}

/// An event with its position in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEvent {
    /// Counts from 0, without a gap, in the order of commits.
    pub seq: u64,
    /// The event.
    pub event: StoredEvent,
}

impl Reader<'_> {
    /// The events of a ledger from the `start`th on, in the order of the log, `limit` at most. Events that are
    /// committed later have higher positions.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn logged_events(
        &mut self,
        ledger_id: LedgerId,
        start: u64,
        limit: usize,
    ) -> Result<Vec<LoggedEvent>> {
        let (start, limit) = (start.cast_signed(), i64::try_from(limit).unwrap_or(i64::MAX));
        on_database!(self.session(), events::logged(ledger_id, start, limit))
    }

    /// The number of events of a ledger.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn ledger_size(&mut self, ledger_id: LedgerId) -> Result<u64> {
        Ok(crate::ledgers::ledger_size(self.session(), ledger_id)?.cast_unsigned())
    }

    /// What a standby must have of a ledger to serve [`Self::events`] and [`Self::summary`].
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn log_end(&mut self, ledger_id: LedgerId) -> Result<LogEnd> {
        crate::ledgers::log_end(self.session(), ledger_id)
    }

    /// One page of events.
    ///
    /// # Errors
    /// When the database cannot be queried, or contains an invalid event.
    pub fn events(&mut self, query: &EventQuery) -> Result<EventPage> {
        let Some(found) = terms_of(self.session(), &query.selected())? else {
            return Ok(EventPage {
                events: Vec::new(),
                next: None,
            });
        };
        let candidates = Candidates {
            ledger_id: query.ledger_id,
            terms: found.terms,
            start: query.filter.start,
            end: query.filter.end,
            order: query.order,
        };
        on_either!(self.session(), session => {
            let mut scan = session.open_scan(candidates, query.after)?;
            let mut page = page::read_page(query, |wanted| session.scan(&mut scan, wanted))?;
            page.next = page.next.or_else(|| session.stopped_at(&scan));
            Ok(page)
        })
    }

    /// One page of those events of a query that have one of `ids`, by id, in the order of the query. Ids that the ledger does not have are no error.
    ///
    /// # Errors
    /// As [`Self::events`].
    pub fn events_of_ids(&mut self, query: &EventQuery, ids: &BTreeSet<EventId>) -> Result<EventPage> {
        let is_next = |id: &EventId| match (query.after, query.order) {
            (None, _) => true,
            (Some(after), EventOrder::Descending) => *id < after.id,
            (Some(after), EventOrder::Ascending) => *id > after.id,
        };
        let mut ids: Vec<EventId> = ids.iter().copied().filter(is_next).collect();
        if query.order == EventOrder::Descending {
            ids.reverse();
        }
        let mut remaining = ids.as_slice();
        page::read_page(query, |wanted| {
            let mut found = Vec::new();
            while found.len() < wanted && !remaining.is_empty() {
                let (next, later) = remaining.split_at(remaining.len().min(wanted - found.len()));
                remaining = later;
                for event in self.events_by_id(query.ledger_id, next)? {
                    found.push(event?);
                }
            }
            Ok(found)
        })
    }

    /// The numbers of events by time, and their most frequent values.
    ///
    /// # Errors
    /// As [`Self::events`].
    pub fn summary(&mut self, query: &SummaryQuery) -> Result<Result<EventSummary, SummaryRefusal>> {
        let Some(found) = terms_of(self.session(), &query.selected())? else {
            return Ok(query.empty());
        };
        on_either!(self.session(), session => summary::summarize(session, query, found))
    }

    /// One event by its id.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn event(&mut self, ledger_id: LedgerId, id: EventId) -> Result<Option<LoggedEvent>> {
        on_database!(self.session(), events::event(ledger_id, id))
    }

    /// The events with these ids, without those that the ledger does not have and damaged ones, which verification reports.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn intact_events(&mut self, ledger_id: LedgerId, ids: &[EventId]) -> Result<Vec<StoredEvent>> {
        let found = self.events_by_id(ledger_id, ids)?;
        let is_intact = |event: &Result<StoredEvent>| {
            !matches!(
                event,
                Err(StoreError::DamagedEvent(_) | StoreError::Damaged { .. })
            )
        };
        found.into_iter().filter(is_intact).collect()
    }

    /// The events with these ids, in their order, without those that the ledger does not have; an error for each damaged one.
    fn events_by_id(&mut self, ledger_id: LedgerId, ids: &[EventId]) -> Result<Vec<Result<StoredEvent>>> {
        on_database!(self.session(), events::events_by_id(ledger_id, ids))
    }
}

/// Walks through the candidates of a query, in its order.
pub(crate) trait ScanSession {
    /// The position of a walk.
    type Scan;

    /// Begins a walk, at `after` if it continues one.
    fn open_scan(&mut self, candidates: Candidates, after: Option<Position>) -> Result<Self::Scan>;

    /// The next events, `wanted` at most; fewer only at the end, or where the walk ends early.
    fn scan(&mut self, scan: &mut Self::Scan, wanted: usize) -> Result<Vec<StoredEvent>>;

    /// Where a walk has ended early, because it met the rows of many removed events: the next page begins behind it.
    fn stopped_at(&self, scan: &Self::Scan) -> Option<Position>;

    /// Counts the events that fulfil the terms, without reading them.
    fn count(
        &mut self,
        candidates: &Candidates,
        counting: &Counting,
    ) -> Result<Result<Tally<StoredEvent>, Uncounted>>;
}
