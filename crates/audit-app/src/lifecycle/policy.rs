//! The retention policy of a ledger, and its plans.

use super::known::{LedgerLifecycle, WaitingFor};
use crate::error::{AppError, Result};
use crate::self_audit::{Requester, ServiceEvent};
use crate::service::{AuditLog, Scope, Selection};
use audit_auth::{MasterKey, Principal};
use audit_domain::{
    CancelReason, Category, IdempotencyWindow, LifecycleEvent, RetentionPolicy, Timestamp, Violation,
    Violations,
};
use audit_store::{RemovalRow, RemovalState};
use serde_json::Value;
use std::collections::BTreeMap;

/// The longest retention that can be set, in days: 100 years. Longer ones are for ever.
pub const RETENTION_DAYS_MAX: u32 = 36_500;
/// The removals that are reported, at most, the newest first.
const REPORTED_REMOVALS_MAX: usize = 100;
/// The days of the longest month.
const MONTH_DAYS_MAX: u32 = 31;

audit_domain::words! {
    /// A named retention.
    pub enum RetentionPreset {
        /// PCI DSS 4.0, 10.5.1: twelve months.
        Pci = "pci",
        /// HIPAA, 45 CFR 164.316(b)(2)(i): six years.
        Hipaa = "hipaa",
        /// The recommendation of the CNIL: twelve months at most, the grace and the steps of a removal included.
        Cnil = "cnil",
    }
}

impl RetentionPreset {
    /// Its days.
    pub const fn days(self) -> u32 {
        match self {
            Self::Pci => 365,
            Self::Hipaa => 2_190,
            Self::Cnil => 335,
        }
    }
}

/// A new policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionChange {
    /// Days that events are kept; `None` for ever. Those of the preset, where there is one.
    pub days: Option<u32>,
    /// Days of categories that are kept longer.
    pub categories: BTreeMap<Category, u32>,
    /// The preset.
    pub preset: Option<RetentionPreset>,
    /// Events go once an archive has them.
    pub archive: bool,
}

/// The policy in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyInForce {
    /// What it says.
    pub policy: RetentionPolicy,
    /// When it was set.
    pub since: Timestamp,
    /// The position of its event.
    pub seq: u64,
}

/// A plan in its grace period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetentionPlan {
    /// The position of its event.
    pub seq: u64,
    /// The times, by category and `default`, before which the log has received its events.
    pub received_before: Value,
    /// How many events it removes.
    pub events: u64,
    /// How many events of its range are held.
    pub held: u64,
    /// How many events of its range stay for other reasons.
    pub kept: u64,
    /// Commits to the events that it removes.
    pub digest: String,
    /// When it was made.
    pub planned_at: Timestamp,
    /// Its events are not removed before this time.
    pub not_before: String,
    /// How far the work is; `None` where the database does not know the plan.
    pub state: Option<&'static str>,
}

/// The newest archive that the log names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedArchive {
    /// The position behind the last one that it has.
    pub end_seq: u64,
    /// The digest of its newest manifest.
    pub manifest: String,
    /// The position of its event.
    pub seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
}

/// A removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetentionRemoval {
    /// The position of its event.
    pub seq: u64,
    /// The id of its event.
    pub id: String,
    /// When it was authorised.
    pub at: Timestamp,
    /// How many events it removes.
    pub events: u64,
    /// The times, by category and `default`, before which the log has received its events.
    pub received_before: Value,
    /// The digest of the newest manifest of the archive that has them.
    pub archive: Option<String>,
    /// How far the work is; `None` where the database does not know the removal.
    pub state: Option<&'static str>,
}

/// What is known of the retention of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// The policy in force.
    pub policy: Option<PolicyInForce>,
    /// The plan in its grace period.
    pub plan: Option<RetentionPlan>,
    /// What holds the plan, or the next one, back.
    pub waiting_for: Option<WaitingFor>,
    /// The newest archive that the log names.
    pub archive: Option<RecordedArchive>,
    /// The removals, newest first.
    pub removals: Vec<RetentionRemoval>,
    /// How many events all removals together have removed or will remove.
    pub removed: u64,
    /// How many holds are in force.
    pub holds: usize,
    /// The fewest days that a policy can have.
    pub minimum_days: u32,
}

/// The fewest days that a policy can have: events in the window of idempotency keys are never removed.
pub(super) const fn minimum_days(window: IdempotencyWindow) -> u32 {
    match window.months() {
        0 => 1,
        months => MONTH_DAYS_MAX * months as u32,
    }
}

impl RetentionChange {
    /// The policy.
    ///
    /// # Errors
    /// Names the fields that are not as they must be.
    pub(super) fn policy(&self, window: IdempotencyWindow) -> Result<RetentionPolicy> {
        let (days, field) = match self.preset {
            Some(preset) => (Some(preset.days()), "preset"),
            None => (self.days, "days"),
        };
        let (minimum, mut found) = (minimum_days(window), Vec::new());
        if days.is_some_and(|days| days < minimum) {
            let message = format!(
                "must be at least {minimum}: idempotency keys are known for {} months (--idempotency-window-months)",
                window.months()
            );
            found.push(Violation::new(field, message));
        }
        for (category, kept) in &self.categories {
            let message = match days {
                None => "must be absent where all events are kept for ever",
                Some(days) if *kept <= days => "must be more than days",
                Some(_) => continue,
            };
            found.push(Violation::new(format!("categories.{category}"), message));
        }
        Violations::check(found)?;
        let categories = self.categories.iter();
        Ok(RetentionPolicy {
            days,
            categories: categories.map(|(name, days)| (name.to_string(), *days)).collect(),
            preset: self.preset.map(|preset| preset.to_string()),
            archive: self.archive,
        })
    }
}

impl AuditLog {
    /// The retention of a project and environment.
    ///
    /// # Errors
    /// When the principal has no access to the project; [`AppError::LogInconsistent`] when the log was tampered with.
    pub fn retention(&self, master: &MasterKey, selection: Selection) -> Result<Retention> {
        let retention = self.retention_of(&self.lifecycle_scope(master, selection)?)?;
        let is_done = |removal: &RetentionRemoval| removal.state == Some(RemovalState::Done.as_str());
        let is_begun = retention.plan.is_some() || !retention.removals.iter().all(is_done);
        if is_begun || retention.waiting_for == Some(WaitingFor::Signature) {
            // Who looks at a removal need not wait for the next round.
            self.wake_removals();
        }
        Ok(retention)
    }

    /// Sets the retention policy.
    ///
    /// # Errors
    /// As [`Self::retention`]; [`AppError::Invalid`] names the fields that are not as they must be.
    pub fn set_retention(
        &self,
        master: &MasterKey,
        selection: Selection,
        change: &RetentionChange,
    ) -> Result<Retention> {
        let scope = self.lifecycle_scope(master, selection)?;
        let policy = change.policy(self.store.idempotency_window())?;
        let log = scope.log();
        self.add_lifecycle_event(&scope, &Requester::from(master), |present| {
            let current = present.fold.policy().map(|(_, policy)| policy);
            let is_other = current != Some(&policy);
            let previous = present.lifecycle_seq;
            let event = || ServiceEvent::retention_changed(current, policy.clone(), previous, &log);
            Ok(is_other.then(event))
        })?;
        self.retention_of(&scope)
    }

    /// Confirms that plans may reach up to a time, where the log is far behind its policy.
    ///
    /// # Errors
    /// As [`Self::retention`]; [`AppError::Invalid`] for a time in the future; [`AppError::Conflict`] where no policy removes events.
    pub fn confirm_retention(
        &self,
        master: &MasterKey,
        selection: Selection,
        until: Timestamp,
    ) -> Result<Retention> {
        let scope = self.lifecycle_scope(master, selection)?;
        if until > self.clock.now() {
            return Err(Violations::one("until", "must not be in the future").into());
        }
        let (until, log) = (until.truncated_to_millis(), scope.log());
        self.add_lifecycle_event(&scope, &Requester::from(master), |present| {
            let policy = present.fold.policy();
            if policy.is_none_or(|(_, policy)| policy.days.is_none()) {
                return Err(AppError::Conflict(
                    "no retention policy removes events".to_owned(),
                ));
            }
            let is_new = present.fold.confirmed_until() < Some(until);
            let event = LifecycleEvent::RetentionConfirmed { until };
            Ok(is_new.then(|| ServiceEvent::lifecycle(&event, present.lifecycle_seq, &log)))
        })?;
        self.retention_of(&scope)
    }

    /// Cancels the plan whose event is at this position.
    ///
    /// # Errors
    /// As [`Self::retention`]; [`AppError::Conflict`] when the plan is not in its grace period.
    pub fn cancel_removal(&self, master: &MasterKey, selection: Selection, plan: u64) -> Result<Retention> {
        let scope = self.lifecycle_scope(master, selection)?;
        let log = scope.log();
        self.add_lifecycle_event(&scope, &Requester::from(master), |present| {
            if present.fold.open_plan().is_none_or(|(seq, _)| seq != plan) {
                return Err(AppError::Conflict(format!("the plan {plan} is not open")));
            }
            let reason = CancelReason::Requested;
            let event = LifecycleEvent::Cancelled { plan, reason };
            Ok(Some(ServiceEvent::lifecycle(&event, present.lifecycle_seq, &log)))
        })?;
        self.retention_of(&scope)
    }

    pub(crate) fn lifecycle_scope(&self, master: &MasterKey, selection: Selection) -> Result<Scope> {
        let principal = Principal::Master(*master);
        self.store
            .read(|reader| self.scope(reader, &principal, selection))
    }

    fn retention_of(&self, scope: &Scope) -> Result<Retention> {
        let lifecycle = self.lifecycle(scope)?;
        let rows = self.store.read(|reader| reader.removals(scope.ledger_id))?;
        let removals = lifecycle.removals(&rows);
        Ok(Retention {
            policy: lifecycle.policy_in_force(),
            plan: lifecycle.plan(&rows),
            waiting_for: self.lifecycles.waiting_for((scope.ledger_id, None)),
            removed: removals.iter().map(|removal| removal.events).sum(),
            archive: lifecycle.newest_archive(),
            removals: removals.into_iter().rev().take(REPORTED_REMOVALS_MAX).collect(),
            holds: lifecycle.fold.holds().count(),
            minimum_days: minimum_days(self.store.idempotency_window()),
        })
    }
}

/// The state of the work that the event at this position authorises.
fn state_of(rows: &[RemovalRow], seq: u64) -> Option<&'static str> {
    let row = rows.iter().find(|row| row.event_seq == Some(seq));
    row.map(|row| row.state.as_str())
}

impl LedgerLifecycle {
    pub(super) fn policy_in_force(&self) -> Option<PolicyInForce> {
        let (seq, policy) = self.fold.policy()?;
        Some(PolicyInForce {
            policy: policy.clone(),
            since: self.event(seq)?.at,
            seq,
        })
    }

    fn plan(&self, rows: &[RemovalRow]) -> Option<RetentionPlan> {
        let (seq, _) = self.fold.open_plan()?;
        let event = self.event(seq)?;
        let number = |name| event.number(name).unwrap_or_default();
        let text = |name| event.text(name).unwrap_or_default().to_owned();
        Some(RetentionPlan {
            seq,
            received_before: event.metadata("received_before").cloned().unwrap_or_default(),
            events: number("events"),
            held: number("held"),
            kept: number("kept"),
            digest: text("digest"),
            planned_at: event.at,
            not_before: text("not_before"),
            state: state_of(rows, seq),
        })
    }

    fn newest_archive(&self) -> Option<RecordedArchive> {
        let (seq, archived) = self.fold.archived(0).next_back()?;
        Some(RecordedArchive {
            end_seq: archived.end_seq,
            manifest: archived.manifest.to_string(),
            seq,
            at: self.event(seq)?.at,
        })
    }

    /// The oldest first.
    fn removals(&self, rows: &[RemovalRow]) -> Vec<RetentionRemoval> {
        let events = self.fold.removals().filter_map(|(seq, ..)| self.event(seq));
        let removals = events.map(|event| RetentionRemoval {
            seq: event.seq,
            id: event.member("id").to_owned(),
            at: event.at,
            events: event.number("events").unwrap_or_default(),
            received_before: event.metadata("received_before").cloned().unwrap_or_default(),
            archive: event.text("archive").map(str::to_owned),
            state: state_of(rows, event.seq),
        });
        removals.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: IdempotencyWindow = IdempotencyWindow::of_months(3);

    fn fields(change: &RetentionChange, window: IdempotencyWindow) -> Vec<(String, String)> {
        match change.policy(window) {
            Ok(_) => Vec::new(),
            Err(AppError::Invalid(violations)) => {
                let violations = violations.into_vec().into_iter();
                violations.map(|found| (found.field, found.message)).collect()
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn of_days(days: u32) -> RetentionChange {
        RetentionChange {
            days: Some(days),
            ..RetentionChange::default()
        }
    }

    #[test]
    fn a_policy_keeps_events_as_long_as_their_idempotency_keys() {
        assert!(fields(&of_days(93), WINDOW).is_empty());
        assert_eq!(
            fields(&of_days(92), WINDOW),
            [(
                "days".to_owned(),
                "must be at least 93: idempotency keys are known for 3 months (--idempotency-window-months)"
                    .to_owned()
            )]
        );
        assert!(fields(&of_days(1), IdempotencyWindow::UNBOUNDED).is_empty());
        let cnil = RetentionChange {
            preset: Some(RetentionPreset::Cnil),
            ..RetentionChange::default()
        };
        assert!(fields(&cnil, WINDOW).is_empty());
        let refused = fields(&cnil, IdempotencyWindow::of_months(11));
        assert_eq!(refused[0].0, "preset", "{refused:?}");
    }

    #[test]
    fn a_category_is_kept_longer_than_the_others() {
        let with = |days: Option<u32>, kept: u32| RetentionChange {
            days,
            categories: BTreeMap::from([(Category::Security, kept), (Category::Auth, 1_000)]),
            ..RetentionChange::default()
        };
        let named = |change: &RetentionChange| -> Vec<String> {
            let found = fields(change, WINDOW).into_iter();
            found.map(|(field, _)| field).collect()
        };
        assert_eq!(named(&with(Some(365), 366)), Vec::<String>::new());
        assert_eq!(named(&with(Some(365), 365)), ["categories.security"]);
        let for_ever = named(&with(None, 365));
        assert_eq!(for_ever, ["categories.auth", "categories.security"]);
    }
}
