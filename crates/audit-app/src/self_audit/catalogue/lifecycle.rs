//! The lifecycle events of a log: its retention, holds and removals.

use super::{ServiceAction, ServiceEvent};
use crate::self_audit::settings::{self, Settings};
use audit_domain::{Hold, LifecycleEvent, LogName, RetentionPolicy};
use audit_store::ErasureRequest;
use serde_json::Value;

impl ServiceEvent {
    /// A lifecycle event. `previous` is the position of the one before it.
    pub(crate) fn lifecycle(event: &LifecycleEvent, previous: Option<u64>, log: &LogName) -> Self {
        let (action, after) = match event {
            LifecycleEvent::RetentionChanged(policy) => {
                (ServiceAction::RetentionChanged, settings::of_policy(policy))
            }
            LifecycleEvent::RetentionConfirmed { .. } => {
                (ServiceAction::RetentionConfirmed, Settings::default())
            }
            LifecycleEvent::Planned(_) => (ServiceAction::RetentionPlanned, Settings::default()),
            LifecycleEvent::Cancelled { .. } => (ServiceAction::RetentionCancelled, Settings::default()),
            LifecycleEvent::Removed(_) => (ServiceAction::EventsRemoved, Settings::default()),
            LifecycleEvent::ErasurePlanned(_) => (ServiceAction::ErasurePlanned, Settings::default()),
            LifecycleEvent::ErasureCancelled { .. } => (ServiceAction::ErasureCancelled, Settings::default()),
            LifecycleEvent::Erased(_) => (ServiceAction::EventsErased, Settings::default()),
            LifecycleEvent::Archived(_) => (ServiceAction::EventsArchived, Settings::default()),
            LifecycleEvent::Restored(_) => (ServiceAction::EventsRestored, Settings::default()),
            LifecycleEvent::HoldPlaced(hold) => (ServiceAction::HoldPlaced, settings::of_hold(hold)),
            LifecycleEvent::HoldReleased { .. } => (ServiceAction::HoldReleased, Settings::default()),
        };
        Self {
            metadata: event.metadata(previous),
            ..Self::new(action, "log", log.as_str(), None).to(after)
        }
    }

    /// Whether no event can go because of it that could not go before.
    pub(crate) fn keeps_events(&self) -> bool {
        match self.action {
            ServiceAction::HoldPlaced
            | ServiceAction::RetentionCancelled
            | ServiceAction::ErasureCancelled => true,
            ServiceAction::RetentionChanged => self.metadata.get("days") == Some(&Value::Null),
            _ => false,
        }
    }

    /// The plan of retention at this position of a log waits for an archive. Stored once for each plan.
    pub(crate) fn retention_unarchived(plan: u64, log: &LogName) -> Self {
        let event = Self::new(ServiceAction::RetentionDelayed, "log", log.as_str(), None);
        event.delaying(plan, log.as_str())
    }

    /// An event of a plan that `waits_for` delays, stored once.
    pub(super) fn delaying(mut self, plan: u64, waits_for: &str) -> Self {
        self.idempotency_key = Some(format!("{} {plan} {waits_for}", self.action));
        self.with("plan", plan)
    }

    pub(crate) fn retention_changed(
        before: Option<&RetentionPolicy>,
        after: RetentionPolicy,
        previous: Option<u64>,
        log: &LogName,
    ) -> Self {
        let before = before.map(settings::of_policy).unwrap_or_default();
        Self::lifecycle(&LifecycleEvent::RetentionChanged(after), previous, log).changing(before)
    }

    /// `second_key`: the hold is released with another key than the one that placed it.
    pub(crate) fn hold_placed(hold: Hold, second_key: bool, previous: Option<u64>, log: &LogName) -> Self {
        let event = Self::lifecycle(&LifecycleEvent::HoldPlaced(hold), previous, log);
        match second_key {
            true => event.with("second_key", true),
            false => event,
        }
    }

    pub(crate) fn erasure_requested(request: &ErasureRequest, log: &LogName) -> Self {
        let event = Self::new(ServiceAction::ErasureRequested, "log", log.as_str(), None)
            .with("erasure", request.id.as_str())
            .with("extent", request.extent.as_str())
            .with("basis", request.basis.as_str());
        match &request.ticket {
            Some(ticket) => event.with("ticket", ticket.as_str()),
            None => event,
        }
    }

    /// `placed` is the position of the event that placed it.
    pub(crate) fn hold_released(
        (hold, placed): (String, u64),
        reason: &str,
        previous: Option<u64>,
        log: &LogName,
    ) -> Self {
        let reason = reason.to_owned();
        Self::lifecycle(
            &LifecycleEvent::HoldReleased { hold, placed, reason },
            previous,
            log,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::{CancelReason, Environment, ProjectId, Timestamp};

    #[test]
    fn what_keeps_events_is_told_from_what_lets_them_go() {
        let log = LogName::new(ProjectId::from_random([1; 16]), Environment::Live);
        let policy = |days| {
            let others = RetentionPolicy::default();
            LifecycleEvent::RetentionChanged(RetentionPolicy { days, ..others })
        };
        let [hold, reason] = ["hld_1", "closed"].map(str::to_owned);
        let (placed, until) = (7, Timestamp::MIN);
        let cancelled = LifecycleEvent::Cancelled {
            plan: 7,
            reason: CancelReason::Requested,
        };
        let erasure_cancelled = LifecycleEvent::ErasureCancelled {
            erasure: "ers_1".to_owned(),
            plan: 7,
            reason: CancelReason::Hold,
        };
        for (event, keeps) in [
            (LifecycleEvent::HoldPlaced(Hold::default()), true),
            (cancelled, true),
            (erasure_cancelled, true),
            (policy(None), true),
            (policy(Some(93)), false),
            (LifecycleEvent::RetentionConfirmed { until }, false),
            (LifecycleEvent::HoldReleased { hold, placed, reason }, false),
        ] {
            let event = ServiceEvent::lifecycle(&event, None, &log);
            assert_eq!(event.keeps_events(), keeps, "{event}");
        }
    }
}
