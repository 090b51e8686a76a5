//! A removal that this process has leased, and the steps that it takes.

use crate::error::{AppError, Result};
use crate::lifecycle::WaitingFor;
use crate::self_audit::Requester;
use crate::service::{AuditLog, Scope};
use audit_domain::{Lifecycle, LifecycleEvent, LogName, ProjectId, Sha256Digest, Timestamp};
use audit_ledger::{RemovalDigest, RemovalKind, RemovalRecord, TileId};
use audit_store::{Configurator, RemovalRow, RemovalState, StoreError, Writer};
use std::time::{Duration, Instant};

/// How long a removal is leased, in seconds. Each step renews the lease.
pub(super) const LEASE_SECONDS: i64 = 60;
/// How long the list of an erasure is leased, in seconds: the thread may work on other removals before it renews the lease.
pub(crate) const LISTING_LEASE_SECONDS: i64 = 900;
const _: () = assert!(LISTING_LEASE_SECONDS < audit_store::REMOVAL_LEASE_SECONDS_MAX);
/// How old a lease gets while records are read, before it is renewed.
const RENEWAL: Duration = Duration::from_secs(15);
/// How long a removal goes on before others get their turn.
const TURN: Duration = Duration::from_secs(10);
/// While events are stored, a step is followed by a pause of this many times its duration.
const PAUSE_FACTOR: u32 = 4;
/// The longest of these pauses: the lease goes on.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// The rows of records of one read, each of one tile: at most 16,384 records.
const READ_TILES_MAX: usize = 64;

/// What follows the work on a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is in another state, and goes on.
    Moved,
    /// It goes on in its next turn.
    Later,
    /// It goes on when something else has happened.
    Waits(Option<WaitingFor>),
    /// Nothing is left to do.
    Ended,
}

impl Outcome {
    /// What it waits for, where there is a word for it.
    pub(super) const fn waiting_for(self) -> Option<WaitingFor> {
        match self {
            Self::Waits(reason) => reason,
            Self::Moved | Self::Later | Self::Ended => None,
        }
    }
}

/// Something of a removal is not as the service wrote it.
#[derive(Debug, thiserror::Error)]
pub(super) enum RemovalAlarm {
    #[error("event {0} is not the one that was signed, so the removal that would have taken it is cancelled")]
    ChangedEvent(u64),
    #[error("event {0} is not the one that was listed, so the erasure stops before it")]
    OtherEvent(u64),
    #[error("the records of the removal of {} to {} are not those that were stored", .0.start, .0.end)]
    ChangedRecords(std::ops::Range<u64>),
    #[error("the log contradicts the row of the removal of {} to {}", .0.start, .0.end)]
    OtherRow(std::ops::Range<u64>),
}

impl From<RemovalAlarm> for AppError {
    fn from(alarm: RemovalAlarm) -> Self {
        Self::inconsistent(alarm)
    }
}

/// A removal that this process has leased.
pub(super) struct Taken<'a> {
    pub(super) service: &'a AuditLog,
    pub(super) scope: &'a Scope,
    pub(super) row: RemovalRow,
    lease: [u8; 16],
    until: Instant,
    /// The number of events that this process had stored after the last step.
    stored_events: u64,
}

impl<'a> Taken<'a> {
    pub(super) fn new(service: &'a AuditLog, scope: &'a Scope, row: RemovalRow, lease: [u8; 16]) -> Self {
        Self {
            service,
            scope,
            row,
            lease,
            until: Instant::now() + TURN,
            stored_events: service.store.statistics().events,
        }
    }

    pub(super) fn project_id(&self) -> ProjectId {
        self.scope.project.project.id
    }

    /// The error of something that contradicts the row.
    pub(super) fn other_row(&self) -> AppError {
        RemovalAlarm::OtherRow(self.row.seqs.clone()).into()
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.service.removal_worker.is_stopping()
    }

    /// Whether its turn goes on.
    pub(super) fn has_time(&self) -> bool {
        Instant::now() < self.until && !self.is_stopping()
    }

    /// The row with another position.
    pub(super) fn at(&self, cursor_seq: u64) -> RemovalRow {
        RemovalRow {
            cursor_seq,
            ..self.row.clone()
        }
    }

    /// The row in another state, from its first position on.
    fn in_state(&self, state: RemovalState) -> RemovalRow {
        RemovalRow {
            state,
            changed_at: self.service.clock.now(),
            ..self.at(self.row.seqs.start)
        }
    }

    /// What writes the row in a transaction and renews the lease, if this node still has it. Otherwise fails with
    /// [`StoreError::Stale`].
    fn change(&self, after: RemovalRow) -> impl FnOnce(&mut Writer<'_>) -> Result<()> + Send + use<> {
        let seconds = match (after.is_complete_list(), self.is_listing()) {
            // Who sees a complete list may confirm it at once.
            (true, _) => 0,
            (false, true) => LISTING_LEASE_SECONDS,
            (false, false) => LEASE_SECONDS,
        };
        let until = self.service.clock.now().plus_seconds(seconds);
        let (before, lease) = (self.row.clone(), self.lease);
        move |writer: &mut Writer<'_>| match writer.change_removal(&before, &after, &lease, until)? {
            true => Ok(()),
            false => Err(StoreError::Stale.into()),
        }
    }

    /// Whether it is an erasure that is being listed. Its lease is kept between turns.
    pub(super) fn is_listing(&self) -> bool {
        (self.row.kind, self.row.state) == (RemovalKind::Erasure, RemovalState::Collecting)
    }

    /// Runs `work` and writes the row, in one transaction. While events are stored, pauses afterwards.
    ///
    /// # Errors
    /// [`StoreError::Stale`], and nothing is written, when another node has leased it since.
    pub(super) fn step<T: Send + 'static>(
        &mut self,
        after: RemovalRow,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let started = Instant::now();
        let change = self.change(after.clone());
        let value = self.service.store.write_for(self.project_id(), move |writer| {
            let value = work(writer)?;
            change(writer)?;
            Ok::<_, AppError>(value)
        })?;
        self.row = after;
        self.pace(started);
        self.service.renew_listings()?;
        Ok(value)
    }

    /// While events are stored, pauses after work that began at `started`.
    pub(super) fn pace(&mut self, started: Instant) {
        let statistics = self.service.store.statistics();
        if statistics.events != self.stored_events || statistics.queue_depth > 0 {
            let pause = started.elapsed() * PAUSE_FACTOR;
            self.service.removal_worker.pause(pause.min(PAUSE_MAX));
        }
        self.stored_events = statistics.events;
    }

    /// Goes on in another state.
    pub(super) fn enter(&mut self, state: RemovalState) -> Result<Outcome> {
        let after = self.in_state(state);
        self.step(after, |_| Ok(()))?;
        Ok(match state {
            RemovalState::Done => Outcome::Ended,
            _ => Outcome::Moved,
        })
    }

    /// Cancels a removal that has no plan in the log. A row that was set back must not lead to the deletion of the records of its removal.
    pub(super) fn cancel(&mut self) -> Result<Outcome> {
        if let Some(request) = &self.row.request {
            let lifecycle = self.service.lifecycle(self.scope)?;
            let mut erasures = lifecycle.fold.erasures();
            let mut open = lifecycle.fold.open_erasures();
            if erasures.any(|(.., erasure)| erasure.erasure == request.id)
                || open.any(|(_, plan)| plan.erasure == request.id)
            {
                return Err(self.other_row());
            }
        }
        self.enter(RemovalState::Cancelled)
    }

    /// Appends a lifecycle event, and goes on in the state that it authorises, in one transaction. `expected` is the position of the
    /// lifecycle event before it.
    pub(super) fn append(
        &mut self,
        expected: Option<u64>,
        event: LifecycleEvent,
        state: RemovalState,
    ) -> Result<Outcome> {
        let (before, mut after, lease) = (self.row.clone(), self.in_state(state), self.lease);
        let until = self.service.clock.now().plus_seconds(LEASE_SECONDS);
        let is_authorised = state != RemovalState::Cancelled;
        let also = move |configurator: &mut Configurator<'_, ProjectId>, seq: u64| -> Result<RemovalRow> {
            after.event_seq = Some(seq).filter(|_| is_authorised).or(after.event_seq);
            match configurator.change_removal(&before, &after, &lease, until)? {
                true => Ok(after),
                false => Err(StoreError::Stale.into()),
            }
        };
        self.row = self
            .service
            .append_lifecycle(self.scope, &Requester::Service, expected, event, also)?;
        Ok(Outcome::Moved)
    }

    /// Removes the row of a removal that has no records.
    pub(super) fn drop_row(&self) -> Result<Outcome> {
        let (ledger_id, number) = (self.row.ledger_id, self.row.number);
        let change = self.change(self.row.clone());
        self.service.store.write_for(self.project_id(), move |writer| {
            change(writer)?;
            writer.delete_removal(ledger_id, number)?;
            Ok::<_, AppError>(())
        })?;
        Ok(Outcome::Ended)
    }

    /// Lets any node lease it, unless another one has since. The row may be another one than that which was read.
    pub(super) fn release(self) -> Result<()> {
        let (ledger_id, number, lease) = (self.row.ledger_id, self.row.number, self.lease);
        let now = self.service.clock.now();
        self.service.store.write_for(self.project_id(), move |writer| {
            writer.lease_removal(ledger_id, number, &lease, now, now)?;
            Ok::<_, AppError>(())
        })
    }

    /// Its next records from a position on, of at most so many tiles.
    pub(super) fn records_from(&self, seq: u64, tiles_max: usize) -> Result<Vec<RemovalRecord>> {
        let (ledger_id, number) = (self.row.ledger_id, self.row.number);
        let records = self
            .service
            .store
            .query(|reader| reader.records_of(ledger_id, number, tile_of(seq), tiles_max));
        let mut records = records.map_err(of_read)?;
        records.retain(|record| record.seq >= seq);
        Ok(records)
    }

    /// Renews the lease, if this node still has it.
    fn renew(&self) -> Result<()> {
        let change = self.change(self.row.clone());
        self.service.store.write_for(self.project_id(), change)
    }

    /// The digest of its records, and their number.
    pub(super) fn digest(&self) -> Result<(Sha256Digest, u64)> {
        let mut renewed = Instant::now();
        digest_of(self.service, &self.scope.log(), &self.row, || {
            if self.is_stopping() {
                return Err(StoreError::Stopped.into());
            }
            if renewed.elapsed() >= RENEWAL {
                // Another node would discard what this one has collected.
                self.renew()?;
                renewed = Instant::now();
            }
            Ok(())
        })
    }
}

/// The digest of the records of a removal, and their number. `between` is called before each read.
pub(crate) fn digest_of(
    service: &AuditLog,
    log: &LogName,
    row: &RemovalRow,
    mut between: impl FnMut() -> Result<()>,
) -> Result<(Sha256Digest, u64)> {
    let mut digest = RemovalDigest::new(row.kind, log);
    let (mut next, mut count) = (0, 0);
    loop {
        between()?;
        let read = service.store.query(|reader| {
            let mut records = reader.records_of(row.ledger_id, row.number, tile_of(next), READ_TILES_MAX)?;
            records.retain(|record| record.seq >= next);
            let mut slots: Vec<u64> = records.iter().map(|record| record.slot).collect();
            slots.sort_unstable();
            slots.dedup();
            Ok::<_, StoreError>((records, reader.removed_labels(row.ledger_id, &slots)?))
        });
        let (records, labels) = read.map_err(of_read)?;
        let Some(last) = records.last() else {
            let digest = *digest.finish().as_bytes();
            return Ok((Sha256Digest::from_bytes(digest), count));
        };
        next = last.seq + 1;
        for record in &records {
            let label = labels.get(&record.slot);
            digest.add(
                record,
                label.ok_or_else(|| RemovalAlarm::ChangedRecords(row.seqs.clone()))?,
            );
        }
        count += records.len() as u64;
    }
}

/// Whether the chain may have an event at `now`, as verifiers decide. One that they refuse could not be taken back: the clock may have gone
/// back since the times in the event were decided.
pub(super) fn is_allowed(fold: &Lifecycle, event: &LifecycleEvent, now: Timestamp) -> bool {
    let last = fold.last_seq();
    let seq = last.map_or(0, |last| last + 1);
    let added = fold
        .clone()
        .add(seq, now.truncated_to_millis(), event.clone(), last);
    added.is_ok()
}

/// The error of a read. What is in no form that the service writes was not written by it.
pub(crate) fn of_read(error: StoreError) -> AppError {
    match error {
        StoreError::Damaged { .. } | StoreError::DamagedEvent(_) => AppError::inconsistent(error),
        other => other.into(),
    }
}

/// The tile of level 0 that has the leaf at this position.
pub(crate) const fn tile_of(seq: u64) -> u64 {
    seq / TileId::WIDTH_MAX as u64
}
