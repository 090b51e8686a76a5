//! Requests: a new erasure, what is excluded from its list, its confirmation and its end.

use super::status::request_of;
use super::{EMPTY_ERASURES_MAX, ErasureId, ErasureStatus, NewErasure, OPEN_ERASURES_MAX};
use crate::error::{AppError, Result};
use crate::lifecycle::worker::listing::Listing;
use crate::lifecycle::worker::{LISTING_LEASE_SECONDS, beginning, of_read};
use crate::lifecycle::{LedgerLifecycle, REQUESTED_EVENTS_MAX};
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::{AuditLog, Scope, Selection};
use audit_auth::MasterKey;
use audit_domain::{CancelReason, ErasurePlan, LifecycleEvent, ProjectId, Timestamp};
use audit_ledger::RemovalKind;
use audit_store::{
    Configurator, ErasureRequest, LedgerId, REMOVAL_LEASE_SECONDS_MAX, RemovalRow, RemovalState, StoreError,
};

impl AuditLog {
    /// Begins an erasure: the events that name a person are listed. Nothing goes before the list is confirmed.
    ///
    /// # Errors
    /// When the principal has no access to the project; [`AppError::Conflict`] when the log has [`OPEN_ERASURES_MAX`] open erasures, or
    /// this process removes no events;
    /// [`AppError::Forbidden`] when it has too many lifecycle events; [`AppError::LogInconsistent`] when it was tampered with.
    pub fn request_erasure(
        &self,
        master: &MasterKey,
        selection: Selection,
        new: NewErasure,
    ) -> Result<ErasureStatus> {
        let scope = self.lifecycle_scope(master, selection)?;
        if !self.settings.removes_events {
            let message = "this server removes no events: request the erasure from one without --no-removals";
            return Err(AppError::Conflict(message.to_owned()));
        }
        let (ledger_id, log) = (scope.ledger_id, scope.log());
        let lifecycle = self.lifecycle(&scope)?;
        lifecycle.check_room(REQUESTED_EVENTS_MAX)?;
        self.check_removal_rows(ledger_id, &lifecycle.fold)?;
        let size = self.store.read(|reader| reader.ledger_size(ledger_id))?;
        let size = self.signed_head(&scope, size)?.size;
        let now = self.clock.now().truncated_to_millis();
        let known = (&log, &lifecycle.fold);
        let listing = Listing::new(&self.stream_engine, &new.identifiers, known, self.entropy.bytes());
        let request = ErasureRequest {
            id: ErasureId::new(now, self.entropy.bytes()).to_string(),
            extent: new.extent,
            basis: new.basis,
            ticket: new.ticket,
            created_at: now,
            created_by: master.key_id.to_string(),
            lifecycle_seq: lifecycle.lifecycle_seq,
            held: 0,
            rows: 0,
            digest: None,
        };
        let (lease, until) = (listing.lease, now.plus_seconds(LISTING_LEASE_SECONDS));
        let project_id = scope.project.project.id;
        let row = self.change_project(project_id, &Requester::from(master), move |configurator| {
            let rows = configurator.removals(ledger_id).map_err(of_read)?;
            if rows.iter().filter(|row| is_open(row)).count() >= OPEN_ERASURES_MAX {
                let message = format!("the log has {OPEN_ERASURES_MAX} open erasures");
                return Err(AppError::Conflict(message));
            }
            for row in rows
                .iter()
                .rev()
                .filter(|row| is_empty(row))
                .skip(EMPTY_ERASURES_MAX - 1)
            {
                configurator.delete_removal(ledger_id, row.number)?;
            }
            let event = ServiceEvent::erasure_requested(&request, &log);
            let row = RemovalRow {
                request: Some(request),
                ..beginning(&rows, (ledger_id, RemovalKind::Erasure), 0..size, now)
            };
            match configurator.begin_removal(&row, &lease, until)? {
                true => Ok(Changed::by(row, event)),
                // Another node has begun a removal of this number.
                false => Err(StoreError::Stale.into()),
            }
        })?;
        self.removal_worker.listings.put(project_id, &row, listing, now);
        self.wake_removals();
        self.status_of(&scope, row)
    }

    /// Excludes events from a list by their positions in the log. The list then has another digest.
    ///
    /// # Errors
    /// As [`Self::erasure`]; [`AppError::Conflict`] unless the erasure is listed and not confirmed.
    pub fn exclude_from_erasure(
        &self,
        master: &MasterKey,
        selection: Selection,
        id: ErasureId,
        seqs: &[u64],
    ) -> Result<ErasureStatus> {
        let (scope, id) = (self.lifecycle_scope(master, selection)?, id.to_string());
        let row = self.erasure_row(&scope, &id)?;
        check_listed(&row)?;
        self.shorten_list(&scope, row.number, &seqs.iter().copied().collect())?;
        let row = self.erasure_row(&scope, &id)?;
        self.status_of(&scope, row)
    }

    /// Confirms a list by its digest. The erasure is carried out after the grace of removals.
    ///
    /// # Errors
    /// As [`Self::erasure`]; [`AppError::Conflict`] when the list is not complete, has another digest, or was confirmed before, or a hold was
    /// placed since it was made; [`AppError::Forbidden`] when the log has too many lifecycle events.
    pub fn confirm_erasure(
        &self,
        master: &MasterKey,
        selection: Selection,
        id: ErasureId,
        digest: &str,
    ) -> Result<ErasureStatus> {
        let (scope, id) = (self.lifecycle_scope(master, selection)?, id.to_string());
        let (ledger_id, log) = (scope.ledger_id, scope.log());
        let now = self.clock.now();
        let not_before = now.plus_seconds(self.settings.removal_grace_seconds);
        let confirmed = Confirmed {
            place: (ledger_id, self.erasure_row(&scope, &id)?.number),
            id: id.clone(),
            digest: digest.to_owned(),
            lease: self.entropy.bytes(),
            now,
        };
        self.add_lifecycle_event_with(
            &scope,
            &Requester::from(master),
            |present| {
                let row = self.erasure_row(&scope, &id)?;
                let plan = plan_of(&row, digest, present, not_before)?;
                let event = LifecycleEvent::ErasurePlanned(plan);
                Ok(Some(ServiceEvent::lifecycle(&event, present.lifecycle_seq, &log)))
            },
            move |configurator, seq| confirmed.write(configurator, seq),
        )?;
        let row = self.erasure_row(&scope, &id)?;
        self.status_of(&scope, row)
    }

    /// Cancels an erasure that the log does not authorise yet.
    ///
    /// # Errors
    /// As [`Self::erasure`]; [`AppError::Conflict`] when it is carried out.
    pub fn cancel_erasure(
        &self,
        master: &MasterKey,
        selection: Selection,
        id: ErasureId,
    ) -> Result<ErasureStatus> {
        let (scope, id) = (self.lifecycle_scope(master, selection)?, id.to_string());
        let row = self.erasure_row(&scope, &id)?;
        let carried_out = || AppError::Conflict("the erasure is carried out".to_owned());
        match row.state {
            RemovalState::Collecting | RemovalState::Listed => self.drop_list(&scope, &row)?,
            RemovalState::Planned => {
                let (seq, log) = (row.event_seq.ok_or_else(carried_out)?, scope.log());
                self.add_lifecycle_event(&scope, &Requester::from(master), |present| {
                    let mut open = present.fold.open_erasures();
                    if !open.any(|(open, plan)| open == seq && plan.erasure == id) {
                        let mut erasures = present.fold.erasures();
                        return match erasures.any(|(.., erasure)| erasure.plan == seq) {
                            true => Err(carried_out()),
                            // Its row is still there.
                            false => Ok(None),
                        };
                    }
                    let event = LifecycleEvent::ErasureCancelled {
                        erasure: id.clone(),
                        plan: seq,
                        reason: CancelReason::Requested,
                    };
                    Ok(Some(ServiceEvent::lifecycle(&event, present.lifecycle_seq, &log)))
                })?;
            }
            RemovalState::Cancelled => {}
            RemovalState::Removing | RemovalState::Cleaning | RemovalState::Done => {
                return Err(carried_out());
            }
        }
        // The thread of removals may have deleted it already.
        let state = RemovalState::Cancelled;
        self.status_of(&scope, RemovalRow { state, ..row })
    }

    /// Cancels a list. A process that makes it, or completes it, loses its lease.
    pub(crate) fn drop_list(&self, scope: &Scope, row: &RemovalRow) -> Result<()> {
        let (now, lease) = (self.clock.now(), self.entropy.bytes());
        // Each lease has expired then.
        let later = now.plus_seconds(REMOVAL_LEASE_SECONDS_MAX);
        let (ledger_id, number) = (row.ledger_id, row.number);
        self.store.write_for(scope.project.project.id, move |writer| {
            if !writer.lease_removal(ledger_id, number, &lease, later, later)? {
                return Err(AppError::NotFound("erasure"));
            }
            let mut rows = writer.removals(ledger_id).map_err(of_read)?.into_iter();
            // It may have been completed since.
            let is_list =
                |row: &RemovalRow| matches!(row.state, RemovalState::Collecting | RemovalState::Listed);
            let row = rows.find(|row| row.number == number && is_list(row));
            let row = row.ok_or(StoreError::Stale)?;
            let after = RemovalRow {
                state: RemovalState::Cancelled,
                cursor_seq: row.seqs.start,
                changed_at: now,
                ..row.clone()
            };
            match writer.change_removal(&row, &after, &lease, now)? {
                true => Ok(()),
                false => Err(StoreError::Stale.into()),
            }
        })?;
        drop(self.removal_worker.listings.take(row));
        self.wake_removals();
        Ok(())
    }
}

/// Whether an erasure has found nothing. No lifecycle event names it.
fn is_empty(row: &RemovalRow) -> bool {
    (row.kind, row.state, row.event_seq) == (RemovalKind::Erasure, RemovalState::Done, None)
}

fn is_open(row: &RemovalRow) -> bool {
    let is_ended = matches!(row.state, RemovalState::Done | RemovalState::Cancelled);
    row.kind == RemovalKind::Erasure && !is_ended
}

fn check_listed(row: &RemovalRow) -> Result<&ErasureRequest> {
    let request = request_of(row)?;
    let message = match row.state {
        RemovalState::Listed if row.is_complete_list() => return Ok(request),
        RemovalState::Collecting | RemovalState::Listed => "the erasure is being listed",
        RemovalState::Cancelled => "the erasure was cancelled",
        RemovalState::Planned | RemovalState::Removing | RemovalState::Cleaning | RemovalState::Done => {
            "the erasure is planned already"
        }
    };
    Err(AppError::Conflict(message.to_owned()))
}

/// The request of an erasure whose list has this digest and is not empty.
fn confirmable<'a>(row: &'a RemovalRow, digest: &str) -> Result<&'a ErasureRequest> {
    let request = check_listed(row)?;
    let is_same = request.digest.is_some_and(|own| own.to_string() == digest);
    match is_same && row.records > 0 {
        true => Ok(request),
        false if is_same => Err(AppError::Conflict("the list is empty".to_owned())),
        false => Err(AppError::Conflict(
            "the list has changed: read it again".to_owned(),
        )),
    }
}

fn plan_of(
    row: &RemovalRow,
    digest: &str,
    present: &LedgerLifecycle,
    not_before: Timestamp,
) -> Result<ErasurePlan> {
    let request = confirmable(row, digest)?;
    let digest = request.digest.ok_or(StoreError::Stale)?;
    if present
        .fold
        .holds()
        .any(|(placed, _)| Some(placed) > request.lifecycle_seq)
    {
        let message = "a hold was placed since the list was made: request the erasure again";
        return Err(AppError::Conflict(message.to_owned()));
    }
    Ok(ErasurePlan {
        erasure: request.id.clone(),
        basis: request.basis.to_string(),
        ticket: request.ticket.clone(),
        extent: request.extent.to_string(),
        events: row.records,
        rows: request.rows,
        held: request.held,
        read_to: row.seqs.end,
        digest,
        not_before,
    })
}

/// A list that was confirmed.
#[derive(Clone)]
struct Confirmed {
    /// The ledger and the number of the removal.
    place: (LedgerId, u32),
    id: String,
    digest: String,
    lease: [u8; 16],
    now: Timestamp,
}

impl Confirmed {
    /// Writes that its plan is at a position of the log.
    fn write(self, configurator: &mut Configurator<'_, ProjectId>, seq: u64) -> Result<()> {
        let Self {
            place: (ledger_id, number),
            id,
            digest,
            lease,
            now,
        } = self;
        // From here on no process excludes events.
        if !configurator.lease_removal(ledger_id, number, &lease, now, now)? {
            return Err(StoreError::Stale.into());
        }
        let row = configurator.erasure(ledger_id, &id).map_err(of_read)?;
        let row = row.ok_or(AppError::NotFound("erasure"))?;
        confirmable(&row, &digest)?;
        let after = RemovalRow {
            state: RemovalState::Planned,
            event_seq: Some(seq),
            changed_at: now,
            ..row.clone()
        };
        match configurator.change_removal(&row, &after, &lease, now)? {
            true => Ok(()),
            false => Err(StoreError::Stale.into()),
        }
    }
}
