//! How far erasures are, and the events that they concern.

use super::ErasureId;
use super::reach::{Delivered, OutOfReach};
use crate::error::{AppError, Result};
use crate::lifecycle::worker::{of_read, tile_of};
use crate::lifecycle::{LedgerLifecycle, WaitingFor};
use crate::service::{AuditLog, Scope, Selection};
use audit_auth::MasterKey;
use audit_domain::{Basis, Environment, EventPart, Extent, Facet, LifecycleEvent, PageLimit, Timestamp};
use audit_ledger::{RemovalKind, RemovalRecord};
use audit_store::{ErasureRequest, LedgerId, Reader, RemovalRow, RemovalState, StoreError};

/// The rows of records of one read, each of one tile.
const READ_TILES_MAX: usize = 8;

audit_domain::words! {
    /// How far an erasure is.
    pub enum ErasureState {
        /// The log is read.
        Listing = "listing",
        /// The list is complete, and waits to be confirmed.
        Listed = "listed",
        /// Its plan is in the log, and can be cancelled.
        Planned = "planned",
        /// The log authorises it.
        Erasing = "erasing",
        /// The events are erased; what hangs on them is not yet.
        Cleaning = "cleaning",
        /// Nothing is left to do.
        Done = "done",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

/// An erasure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasureStatus {
    /// Its id.
    pub id: String,
    /// The environment of its log.
    pub environment: Environment,
    /// How far it is.
    pub state: ErasureState,
    /// What of each event goes.
    pub extent: Extent,
    /// The legal ground.
    pub basis: Basis,
    /// The operator's reference.
    pub ticket: Option<String>,
    /// When it was requested.
    pub created_at: Timestamp,
    /// The key that requested it.
    pub created_by: String,
    /// How many positions of the log were read.
    pub read: u64,
    /// How many positions the log had when the erasure was requested.
    pub size: u64,
    /// How many events lose something.
    pub events: u64,
    /// How many of them go as a whole.
    pub rows: u64,
    /// How many events stay because of a hold.
    pub held: u64,
    /// Commits to the list, as its plan shows it. `None` before the list is complete, and of an empty one.
    pub digest: Option<String>,
    /// Nothing is erased before this time.
    pub not_before: Option<Timestamp>,
    /// The position of its plan.
    pub planned_seq: Option<u64>,
    /// The position of the event that authorises it.
    pub erased_seq: Option<u64>,
    /// When it was authorised.
    pub erased_at: Option<Timestamp>,
    /// When nothing was left to do.
    pub done_at: Option<Timestamp>,
    /// What holds it back on this node.
    pub waiting_for: Option<WaitingFor>,
    /// Where these events may still be.
    pub out_of_reach: Vec<OutOfReach>,
}

impl ErasureStatus {
    /// Whether the thread of the removals may have something to do. A list that is being made has its turns anyway.
    fn may_go_on(&self, now: Timestamp) -> bool {
        match self.state {
            ErasureState::Planned => self.not_before.is_some_and(|not_before| not_before <= now),
            ErasureState::Erasing | ErasureState::Cleaning => true,
            ErasureState::Listing | ErasureState::Listed | ErasureState::Done | ErasureState::Cancelled => {
                false
            }
        }
    }
}

/// An event of an erasure. What is erased of it is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasureEvent {
    /// Its position.
    pub seq: u64,
    /// Its id; `None` where the event is gone.
    pub id: Option<String>,
    /// When it happened.
    pub occurred_at: Option<Timestamp>,
    /// What was done.
    pub action: Option<String>,
    /// Whether it goes as a whole.
    pub row: bool,
    /// The parts that go otherwise.
    pub parts: Vec<EventPart>,
}

/// A page of events of an erasure, in the order of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasureEvents {
    /// The events.
    pub events: Vec<ErasureEvent>,
    /// The position after which the next page begins; `None` where this is the last one.
    pub next: Option<u64>,
}

impl AuditLog {
    /// The erasures of a project and environment, newest first.
    ///
    /// # Errors
    /// When the principal has no access to the project; [`AppError::LogInconsistent`] when the log was tampered with.
    pub fn erasures(&self, master: &MasterKey, selection: Selection) -> Result<Vec<ErasureStatus>> {
        let scope = self.lifecycle_scope(master, selection)?;
        let rows = self.store.read(|reader| reader.removals(scope.ledger_id));
        let rows = rows.map_err(of_read)?.into_iter().rev();
        self.statuses(
            &scope,
            rows.filter(|row| row.kind == RemovalKind::Erasure).collect(),
        )
    }

    /// An erasure.
    ///
    /// # Errors
    /// As [`Self::erasures`]; [`AppError::NotFound`].
    pub fn erasure(&self, master: &MasterKey, selection: Selection, id: ErasureId) -> Result<ErasureStatus> {
        let scope = self.lifecycle_scope(master, selection)?;
        let row = self.erasure_row(&scope, &id.to_string())?;
        self.status_of(&scope, row)
    }

    /// The events of an erasure behind a position.
    ///
    /// # Errors
    /// As [`Self::erasure`].
    pub fn erasure_events(
        &self,
        master: &MasterKey,
        selection: Selection,
        id: ErasureId,
        after: Option<u64>,
        limit: PageLimit,
    ) -> Result<ErasureEvents> {
        let scope = self.lifecycle_scope(master, selection)?;
        let row = self.erasure_row(&scope, &id.to_string())?;
        let start = after.map_or(0, |after| after.saturating_add(1));
        self.store.query(|reader| {
            let mut records = records_from(reader, &row, start, limit.get() + 1).map_err(of_read)?;
            let has_more = records.len() > limit.get();
            records.truncate(limit.get());
            let next = records.last().map(|last| last.seq).filter(|_| has_more);
            let events = records
                .iter()
                .map(|record| event_of(reader, row.ledger_id, record));
            let events = events.collect::<Result<_>>()?;
            Ok(ErasureEvents { events, next })
        })
    }

    pub(super) fn erasure_row(&self, scope: &Scope, id: &str) -> Result<RemovalRow> {
        let row = self.store.read(|reader| reader.erasure(scope.ledger_id, id));
        row.map_err(of_read)?.ok_or(AppError::NotFound("erasure"))
    }

    pub(super) fn status_of(&self, scope: &Scope, row: RemovalRow) -> Result<ErasureStatus> {
        let mut statuses = self.statuses(scope, vec![row])?;
        statuses.pop().ok_or(AppError::NotFound("erasure"))
    }

    fn statuses(&self, scope: &Scope, rows: Vec<RemovalRow>) -> Result<Vec<ErasureStatus>> {
        // Behind the rows: it has the event that a row names.
        let lifecycle = self.lifecycle(scope)?;
        let delivered = self.delivered(scope)?;
        let mut statuses = Vec::with_capacity(rows.len());
        for row in rows {
            let status = lifecycle.erasure_status(scope.environment, &row)?;
            let waiting_for = self.lifecycles.waiting_for((row.ledger_id, Some(row.number)));
            statuses.push(ErasureStatus {
                waiting_for,
                out_of_reach: self.out_of_reach_of(&delivered, &row)?,
                ..status
            });
        }
        let now = self.clock.now();
        if statuses.iter().any(|status| status.may_go_on(now)) {
            // Who looks at an erasure need not wait for the next round.
            self.wake_removals();
        }
        Ok(statuses)
    }

    fn out_of_reach_of(&self, delivered: &[Delivered], row: &RemovalRow) -> Result<Vec<OutOfReach>> {
        let records = self
            .store
            .read(|reader| reader.records_of(row.ledger_id, row.number, 0, 1));
        let records = records.map_err(of_read)?;
        let first_seq = records.first().map(|record| record.seq);
        Ok(self.out_of_reach(delivered, first_seq))
    }
}

/// What an operator has requested.
pub(super) fn request_of(row: &RemovalRow) -> Result<&ErasureRequest> {
    let what = "row of an erasure";
    let request = row.request.as_ref();
    request.ok_or_else(|| AppError::inconsistent(StoreError::Damaged { what }))
}

/// Up to `limit` records from a position on.
fn records_from(
    reader: &mut Reader<'_>,
    row: &RemovalRow,
    start: u64,
    limit: usize,
) -> Result<Vec<RemovalRecord>, StoreError> {
    let (mut records, mut next) = (Vec::new(), start);
    while records.len() < limit {
        let mut read = reader.records_of(row.ledger_id, row.number, tile_of(next), READ_TILES_MAX)?;
        // The first tile may begin before it.
        read.retain(|record| record.seq >= next);
        let Some(last) = read.last() else {
            break;
        };
        next = last.seq + 1;
        records.extend(read);
    }
    records.truncate(limit);
    Ok(records)
}

fn event_of(reader: &mut Reader<'_>, ledger_id: LedgerId, record: &RemovalRecord) -> Result<ErasureEvent> {
    let logged = reader.logged_events(ledger_id, record.seq, 1).map_err(of_read)?;
    let logged = logged.into_iter().find(|logged| logged.seq == record.seq);
    let event = logged.as_ref().map(|logged| &logged.event);
    let action = match event {
        Some(event) => Some(event.facets()?.take(Facet::Action).into_owned()),
        None => None,
    };
    let row = record.mask.is_row();
    Ok(ErasureEvent {
        seq: record.seq,
        id: event.map(|event| event.id.to_string()),
        occurred_at: event.map(|event| event.occurred_at),
        action,
        row,
        parts: record.mask.parts().filter(|_| !row).collect(),
    })
}

impl LedgerLifecycle {
    /// What is known of an erasure, but for what it cannot reach.
    fn erasure_status(&self, environment: Environment, row: &RemovalRow) -> Result<ErasureStatus> {
        let request = request_of(row)?;
        let mut erasures = self.fold.erasures();
        let erased = erasures.find(|(_, _, erasure)| erasure.erasure == request.id);
        let planned_seq = erased.map_or(row.event_seq, |(_, _, erasure)| Some(erasure.plan));
        let plan = planned_seq.and_then(|seq| match self.fold.event(seq) {
            Some((_, LifecycleEvent::ErasurePlanned(plan))) => Some(plan),
            _ => None,
        });
        let is_open = planned_seq.is_some_and(|seq| self.fold.is_open(seq));
        let state = match row.state {
            RemovalState::Listed if row.is_complete_list() => ErasureState::Listed,
            RemovalState::Collecting | RemovalState::Listed => ErasureState::Listing,
            RemovalState::Planned if erased.is_some() => ErasureState::Erasing,
            RemovalState::Planned if is_open => ErasureState::Planned,
            RemovalState::Planned | RemovalState::Cancelled => ErasureState::Cancelled,
            RemovalState::Removing => ErasureState::Erasing,
            RemovalState::Cleaning => ErasureState::Cleaning,
            RemovalState::Done => ErasureState::Done,
        };
        let size = row.seqs.end;
        Ok(ErasureStatus {
            id: request.id.clone(),
            environment,
            state,
            extent: request.extent,
            basis: request.basis,
            ticket: request.ticket.clone(),
            created_at: request.created_at,
            created_by: request.created_by.clone(),
            read: match row.state {
                RemovalState::Collecting => row.cursor_seq,
                _ => size,
            },
            size,
            events: row.records,
            rows: request.rows,
            held: request.held,
            digest: request.digest.map(|digest| digest.to_string()),
            not_before: plan.map(|plan| plan.not_before),
            planned_seq,
            erased_seq: erased.map(|(seq, ..)| seq),
            erased_at: erased.map(|(_, at, _)| at),
            done_at: Some(row.changed_at).filter(|_| row.state == RemovalState::Done),
            waiting_for: None,
            out_of_reach: Vec::new(),
        })
    }
}
