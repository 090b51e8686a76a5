//! What follows a plan: the removal that it authorises, or its cancellation.

use super::due::seen_at;
use super::guards::{ClockGuard, DAY_SECONDS};
use super::taken::{RemovalAlarm, is_allowed};
use crate::error::{AppError, Result};
use crate::lifecycle::WaitingFor;
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::{AuditLog, Scope};
use audit_domain::{
    CancelReason, Environment, Lifecycle, LifecycleEvent, Plan, ProjectId, Removal, RetentionPlan, Timestamp,
    Undelivered,
};
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

/// The plans of which it is noted that a destination delays them.
pub(super) type Delayed = HashSet<(LedgerId, u64)>;

/// What follows the plan of a row at `now`.
pub(super) fn next(
    service: &AuditLog,
    scope: &Scope,
    row: &RemovalRow,
    fold: &Lifecycle,
    (guard, delayed): (&ClockGuard, &mut Delayed),
    now: Timestamp,
) -> Result<Next> {
    let event = |event, state| Next::Event {
        event: Box::new(event),
        expected: fold.last_seq(),
        state,
    };
    let other_row = || AppError::from(RemovalAlarm::OtherRow(row.seqs.clone()));
    let seq = row.event_seq.ok_or_else(other_row)?;
    let Some((_, plan)) = fold.open_plan().filter(|(open, _)| *open == seq) else {
        // A row that was set back must not lead to the deletion of the records of its removal.
        let is_carried_out = fold.removals().any(|(_, _, removal)| removal.plan == seq);
        return match is_carried_out {
            true => Err(other_row()),
            false => Ok(Next::Cancelled),
        };
    };
    if let Some(reason) = cancelled(fold, seq, plan, guard) {
        let cancelled = LifecycleEvent::Cancelled { plan: seq, reason };
        return Ok(event(cancelled, RemovalState::Cancelled));
    }
    if now < plan.not_before {
        return Ok(Next::Waits(None));
    }
    if !guard.is_trusted(seen_at(fold)) {
        return Ok(Next::Waits(Some(WaitingFor::Clock)));
    }
    match service.signed_head(scope, seq + 1) {
        Err(AppError::NotSigned(_)) => return Ok(Next::Waits(Some(WaitingFor::Signature))),
        signed => signed?,
    };
    let log = (scope.project.project.id, scope.environment);
    let behind = service.store.read(|reader| behind(reader, log, plan, now))?;
    let is_overridden = plan.not_before.plus_seconds(BEHIND_SECONDS_MAX) <= now;
    if let Some(waited_for) = behind.iter().find(|behind| behind.keeps_back && !is_overridden) {
        if delayed.insert((scope.ledger_id, seq)) {
            note_delayed(service, scope, &waited_for.destination, seq)?;
        }
        return Ok(Next::Waits(Some(WaitingFor::Destination)));
    }
    let removal = Removal {
        plan: seq,
        policy: plan.policy,
        holds: fold.holds().map(|(seq, _)| seq).collect(),
        seqs: plan.seqs.clone(),
        events: plan.events,
        digest: plan.digest,
        received_before: plan.received_before.clone(),
        archive: None,
        undelivered: behind.into_iter().map(Undelivered::from).collect(),
    };
    let removal = LifecycleEvent::Removed(removal);
    Ok(match is_allowed(fold, &removal, now) {
        true => event(removal, RemovalState::Removing),
        false => Next::Waits(Some(WaitingFor::Clock)),
    })
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

/// Stores the event that a destination delays a plan, once.
fn note_delayed(service: &AuditLog, scope: &Scope, destination: &DestinationRow, plan: u64) -> Result<()> {
    let event = ServiceEvent::retention_delayed(destination, plan);
    service.change_project(scope.project.project.id, &Requester::Service, move |_| {
        Ok(Changed::by((), event))
    })
}
