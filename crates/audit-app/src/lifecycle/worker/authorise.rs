//! What follows a plan: the removal that it authorises, or its cancellation.

use super::due::seen_at;
use super::guards::{ClockGuard, DAY_SECONDS};
use super::taken::{RemovalAlarm, is_allowed, of_read};
use crate::error::{AppError, Result};
use crate::lifecycle::WaitingFor;
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::{AuditLog, Scope};
use audit_domain::{
    CancelReason, Environment, Erasure, Lifecycle, LifecycleEvent, Plan, ProjectId, Removal, RetentionPlan,
    Timestamp, Undelivered,
};
use audit_ledger::RemovalKind;
use audit_store::{DestinationRow, LedgerId, MAIN_RUN, Reader, RemovalRow, RemovalState};
use std::collections::HashSet;

/// A destination that is behind keeps a plan back for so long after its grace, in seconds. One that is paused, and has not delivered for
/// so long, does not.
pub(in crate::lifecycle) const BEHIND_SECONDS_MAX: i64 = 30 * DAY_SECONDS;

/// What follows a plan.
#[derive(Debug)]
pub(super) enum Next {
    Waits(Option<WaitingFor>),
    /// It is cancelled, and the log says so.
    Cancelled,
    /// An event behind the last one of the chain.
    Event {
        event: Box<LifecycleEvent>,
        /// The position of the last one.
        expected: Option<u64>,
        /// The state that the event leads to.
        state: RemovalState,
    },
}

/// The plans of which it is noted that a destination or an archive delays them.
pub(super) type Delayed = HashSet<(LedgerId, u64, WaitingFor)>;

impl Next {
    /// An event behind the last one of the chain.
    fn event(fold: &Lifecycle, event: LifecycleEvent, state: RemovalState) -> Self {
        Self::Event {
            event: Box::new(event),
            expected: fold.last_seq(),
            state,
        }
    }

    /// The event that authorises a removal, if readers of the chain accept it now.
    fn authorised(fold: &Lifecycle, event: LifecycleEvent, now: Timestamp) -> Self {
        match is_allowed(fold, &event, now) {
            true => Self::event(fold, event, RemovalState::Removing),
            false => Self::Waits(Some(WaitingFor::Clock)),
        }
    }

    /// What follows a plan that the chain does not have, or not any more. A row that was set back must not lead to the deletion of the
    /// records of its removal.
    fn without_plan(row: &RemovalRow, is_carried_out: bool) -> Result<Self> {
        match is_carried_out {
            true => Err(RemovalAlarm::OtherRow(row.seqs.clone()).into()),
            false => Ok(Self::Cancelled),
        }
    }
}

/// What follows the plan of a row at `now`.
pub(super) fn next(
    service: &AuditLog,
    scope: &Scope,
    row: &RemovalRow,
    fold: &Lifecycle,
    (guard, delayed): (&ClockGuard, &mut Delayed),
    now: Timestamp,
) -> Result<Next> {
    let seq = row.event_seq;
    let seq = seq.ok_or_else(|| AppError::from(RemovalAlarm::OtherRow(row.seqs.clone())))?;
    if row.kind == RemovalKind::Erasure {
        return next_of_erasure(service, scope, (row, seq), fold, guard, now);
    }
    let Some((_, plan)) = fold.open_plan().filter(|(open, _)| *open == seq) else {
        let is_carried_out = fold.removals().any(|(_, _, removal)| removal.plan == seq);
        return Next::without_plan(row, is_carried_out);
    };
    if let Some(reason) = cancelled(fold, seq, plan, guard) {
        let cancelled = LifecycleEvent::Cancelled { plan: seq, reason };
        return Ok(Next::event(fold, cancelled, RemovalState::Cancelled));
    }
    if let Some(waits) = grace(
        service,
        scope,
        (seq, plan.not_before),
        guard.is_trusted(seen_at(fold)),
        now,
    )? {
        return Ok(waits);
    }
    if fold.lacks_archive(plan) {
        let event = || ServiceEvent::retention_unarchived(seq, &scope.log());
        return waits_for(service, scope, (seq, WaitingFor::Archive), delayed, event);
    }
    let log = (scope.project.project.id, scope.environment);
    let behind = service.store.read(|reader| behind(reader, log, plan, now))?;
    let is_overridden = plan.not_before.plus_seconds(BEHIND_SECONDS_MAX) <= now;
    if let Some(waited_for) = behind.iter().find(|behind| behind.keeps_back && !is_overridden) {
        let event = || ServiceEvent::retention_delayed(&waited_for.destination, seq);
        return waits_for(service, scope, (seq, WaitingFor::Destination), delayed, event);
    }
    let removal = Removal {
        plan: seq,
        policy: plan.policy,
        holds: fold.holds().map(|(seq, _)| seq).collect(),
        seqs: plan.seqs.clone(),
        events: plan.events,
        digest: plan.digest,
        received_before: plan.received_before.clone(),
        archive: fold
            .archived(plan.seqs.end)
            .next_back()
            .map(|(_, archived)| archived.manifest),
        undelivered: behind.into_iter().map(Undelivered::from).collect(),
    };
    Ok(Next::authorised(fold, LifecycleEvent::Removed(removal), now))
}

/// What the plan at a position waits for at `now` before it may be carried out.
fn grace(
    service: &AuditLog,
    scope: &Scope,
    (seq, not_before): (u64, Timestamp),
    is_clock_trusted: bool,
    now: Timestamp,
) -> Result<Option<Next>> {
    if now < not_before {
        return Ok(Some(Next::Waits(None)));
    }
    if !is_clock_trusted {
        return Ok(Some(Next::Waits(Some(WaitingFor::Clock))));
    }
    match service.signed_head(scope, seq + 1) {
        Err(AppError::NotSigned(_)) => Ok(Some(Next::Waits(Some(WaitingFor::Signature)))),
        signed => signed.map(|_| None),
    }
}

/// What follows the plan of an erasure. It waits for no destination, and is not cancelled where the clock has jumped: nobody would request it
/// again.
fn next_of_erasure(
    service: &AuditLog,
    scope: &Scope,
    (row, seq): (&RemovalRow, u64),
    fold: &Lifecycle,
    guard: &ClockGuard,
    now: Timestamp,
) -> Result<Next> {
    let Some((_, plan)) = fold.open_erasures().find(|(open, _)| *open == seq) else {
        let is_carried_out = fold.erasures().any(|(_, _, erasure)| erasure.plan == seq);
        return Next::without_plan(row, is_carried_out);
    };
    let erasure = plan.erasure.clone();
    if fold.holds().any(|(placed, _)| placed > seq) {
        let (plan, reason) = (seq, CancelReason::Hold);
        let cancelled = LifecycleEvent::ErasureCancelled {
            erasure,
            plan,
            reason,
        };
        return Ok(Next::event(fold, cancelled, RemovalState::Cancelled));
    }
    let confirmed_at = fold.event(seq).map(|(at, _)| at);
    let is_clock_trusted = guard.is_trusted(confirmed_at);
    if let Some(waits) = grace(service, scope, (seq, plan.not_before), is_clock_trusted, now)? {
        return Ok(waits);
    }
    // Of two that take parts of one event at once, one would put back what the other one takes. The chain orders them among all nodes.
    let rows = service.store.read(|reader| reader.removals(scope.ledger_id));
    let is_erasing =
        |row: &RemovalRow| (row.kind, row.state) == (RemovalKind::Erasure, RemovalState::Removing);
    if rows.map_err(of_read)?.iter().any(is_erasing) {
        return Ok(Next::Waits(None));
    }
    let erased = Erasure {
        erasure,
        plan: seq,
        basis: plan.basis.clone(),
        ticket: plan.ticket.clone(),
        events: plan.events,
        rows: plan.rows,
        digest: plan.digest,
    };
    Ok(Next::authorised(fold, LifecycleEvent::Erased(erased), now))
}

/// Why a plan is not carried out.
fn cancelled(fold: &Lifecycle, seq: u64, plan: &RetentionPlan, guard: &ClockGuard) -> Option<CancelReason> {
    if fold.policy().map(|(policy, _)| policy) != Some(plan.policy) {
        return Some(CancelReason::Policy);
    }
    if fold.holds().any(|(placed, _)| placed > seq) {
        return Some(CancelReason::Hold);
    }
    // Its grace was measured by a clock that was wrong.
    guard.has_jumped().then_some(CancelReason::Clock)
}

/// A destination that has not come to the end of a plan.
pub(in crate::lifecycle) struct Behind {
    pub(in crate::lifecycle) destination: DestinationRow,
    from_seq: u64,
    pub(in crate::lifecycle) keeps_back: bool,
}

impl From<Behind> for Undelivered {
    fn from(behind: Behind) -> Self {
        Self {
            destination: behind.destination.id,
            from_seq: behind.from_seq,
        }
    }
}

/// The destinations of a project and environment that are behind a plan of its log.
pub(in crate::lifecycle) fn behind(
    reader: &mut Reader<'_>,
    (project_id, environment): (ProjectId, Environment),
    plan: &RetentionPlan,
    now: Timestamp,
) -> Result<Vec<Behind>> {
    let is_free = reader.plan_of(project_id)? == Plan::Free;
    let mut found = Vec::new();
    for destination in reader.destinations(project_id, environment)? {
        let runs = reader.destination_runs(&destination.id)?;
        let main = runs.iter().find(|run| run.number == MAIN_RUN);
        let Some(main) = main.filter(|run| run.cursor_seq.cast_unsigned() < plan.seqs.end) else {
            continue;
        };
        let delivered_at = main.last_success_at.unwrap_or(destination.created_at);
        let delivered_at = Timestamp::from_micros(delivered_at);
        let is_given_up = delivered_at.plus_seconds(BEHIND_SECONDS_MAX) < now;
        found.push(Behind {
            keeps_back: !((destination.paused || is_free) && is_given_up),
            from_seq: main.cursor_seq.cast_unsigned(),
            destination,
        });
    }
    Ok(found)
}

/// The plan at a position waits. Stores the event that says so, unless this process has stored it.
fn waits_for(
    service: &AuditLog,
    scope: &Scope,
    (plan, reason): (u64, WaitingFor),
    delayed: &mut Delayed,
    event: impl FnOnce() -> ServiceEvent,
) -> Result<Next> {
    let key = (scope.ledger_id, plan, reason);
    if !delayed.contains(&key) {
        let event = event();
        service.change_project(scope.project.project.id, &Requester::Service, move |_| {
            Ok(Changed::by((), event))
        })?;
        delayed.insert(key);
    }
    Ok(Next::Waits(Some(reason)))
}
