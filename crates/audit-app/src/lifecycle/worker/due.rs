//! Whether a removal of a log is due, and what it takes.

use super::guards::{ClockGuard, DAY_SECONDS, Reach, Reached, lived_seconds, measured_at};
use crate::error::{AppError, Result};
use crate::lifecycle::WaitingFor;
use crate::lifecycle::known::CHAIN_EVENTS_MAX;
use crate::service::{AuditLog, Scope};
use audit_anchors::TimeStamp;
use audit_domain::{
    DEFAULT_DAYS, Envelope, Lifecycle, LifecycleEvent, Month, ReceivedBefore, Removal, RetentionPolicy,
    Timestamp,
};
use audit_store::{LedgerId, Reader};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What a removal takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DueEvents {
    /// Position of the policy.
    pub(super) policy: u64,
    /// The range of the log that is looked at.
    pub(super) seqs: Range<u64>,
    /// Of this range, the events that the log received before these times.
    pub(super) received_before: ReceivedBefore,
}

/// Whether a removal is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Nothing is.
    No,
    /// Events are, and something holds them back.
    Waits(WaitingFor),
    /// These are.
    Events(DueEvents),
}

/// When an operator last changed or confirmed the policy of a log.
pub(super) fn seen_at(fold: &Lifecycle) -> Option<Timestamp> {
    let seen = fold.events().filter(|(_, _, event)| {
        matches!(
            event,
            LifecycleEvent::RetentionChanged(_) | LifecycleEvent::RetentionConfirmed { .. }
        )
    });
    seen.map(|(_, at, _)| at).max()
}

/// The time of a category.
pub(super) fn of_category<'a>(times: &'a ReceivedBefore, category: &str) -> Option<&'a Timestamp> {
    times.get(category).or_else(|| times.get(DEFAULT_DAYS))
}

/// Whether a removal of a log is due at `now`. No plan of it may be open. `months` are those in which the database received events.
pub(super) fn due(
    service: &AuditLog,
    scope: &Scope,
    fold: &Lifecycle,
    (guard, months): (&ClockGuard, &BTreeSet<Month>),
    now: Timestamp,
) -> Result<Due> {
    let Some((policy_seq, policy)) = fold.policy() else {
        return Ok(Due::No);
    };
    let planned = fold.events().rev().find_map(|(_, at, event)| match event {
        LifecycleEvent::Planned(_) => Some(at),
        _ => None,
    });
    let was_planned_today = planned.is_some_and(|at| at.plus_seconds(DAY_SECONDS) > now);
    if policy.days.is_none() || was_planned_today {
        return Ok(Due::No);
    }
    // With a plan and its removal the chain must still be one that is read.
    if fold.events().count() + 2 > CHAIN_EVENTS_MAX {
        let message = format!("its chain of retention and holds ends at {CHAIN_EVENTS_MAX} events");
        return Err(AppError::Forbidden(message));
    }
    if !guard.is_trusted(seen_at(fold)) {
        return Ok(Due::Waits(WaitingFor::Clock));
    }
    let Some(now) = time_of(service, now)? else {
        return Ok(Due::Waits(WaitingFor::TimeStamp));
    };
    let past = Past::of(fold);
    let cutoffs = times_of(policy, |category| policy.cutoff(category, now));
    let received_before = times_of(policy, |category| {
        let reach = past.reach(policy, category, |at| lived_seconds(months, at, now))?;
        Some(reach.bound(policy.cutoff(category, now)?))
    });
    let size = removable_size(service, scope, now)?;
    let find = |times: &ReceivedBefore| {
        let found = service.store.query(|reader| {
            let last = past.looked_before();
            range(reader, scope.ledger_id, size, last, times)
        });
        Ok::<_, AppError>(found?.filter(|_| past.allows(times)))
    };
    if let Some(seqs) = find(&received_before)? {
        match service.signed_head(scope, seqs.end) {
            Err(AppError::NotSigned(_)) => return Ok(Due::Waits(WaitingFor::Signature)),
            signed => signed?,
        };
        return Ok(Due::Events(DueEvents {
            policy: policy_seq,
            seqs,
            received_before,
        }));
    }
    let is_held_back = cutoffs != received_before && find(&cutoffs)?.is_some();
    Ok(match is_held_back {
        true => Due::Waits(WaitingFor::Confirmation),
        false => Due::No,
    })
}

/// The times of a policy by category, to the millisecond, as lifecycle events write them.
fn times_of(policy: &RetentionPolicy, time: impl Fn(&str) -> Option<Timestamp>) -> ReceivedBefore {
    let categories = policy.categories.keys().map(String::as_str);
    let categories = categories.chain([DEFAULT_DAYS]);
    let timed = categories.filter_map(|category| {
        let time = time(category)?.truncated_to_millis();
        Some((category.to_owned(), time))
    });
    timed.collect()
}

/// What the log says of earlier removals.
struct Past<'a> {
    /// The last one, and when it was logged.
    removal: Option<(Timestamp, &'a Removal)>,
    /// When the policy in force was set.
    changed_at: Option<Timestamp>,
    /// Up to when an operator has confirmed plans.
    confirmed: Option<Timestamp>,
    /// Whether events that earlier removals have passed over may be due now.
    is_reopened: bool,
}

impl<'a> Past<'a> {
    fn of(fold: &'a Lifecycle) -> Self {
        let removal = fold.removals().last();
        let after = removal.map_or(0, |(seq, ..)| seq);
        let reopens = |event: &LifecycleEvent| {
            matches!(
                event,
                LifecycleEvent::RetentionChanged(_)
                    | LifecycleEvent::Cancelled { .. }
                    | LifecycleEvent::HoldReleased { .. }
                    | LifecycleEvent::Restored(_)
            )
        };
        let mut later = fold.events().filter(|(seq, ..)| *seq > after);
        let changed = fold.policy().and_then(|(seq, _)| fold.event(seq));
        Self {
            removal: removal.map(|(_, at, removal)| (at, removal)),
            changed_at: changed.map(|(at, _)| at),
            confirmed: fold.confirmed_until(),
            is_reopened: later.any(|(_, _, event)| reopens(event)),
        }
    }

    /// What allows a plan to take events of a category. `None` without a policy that removes them.
    fn reach(
        &self,
        policy: &RetentionPolicy,
        category: &str,
        lived: impl Fn(Timestamp) -> i64,
    ) -> Option<Reach> {
        let reached = |before: Timestamp, at: Timestamp| Reached {
            before,
            lived_seconds: lived(at),
        };
        let removed = self.removal.and_then(|(at, removal)| {
            let before = of_category(&removal.received_before, category)?;
            Some(reached(*before, at))
        });
        let changed_at = self.changed_at?;
        Some(Reach {
            at_change: reached(policy.cutoff(category, changed_at)?, changed_at),
            removed,
            confirmed: self.confirmed,
        })
    }

    /// The times up to which earlier removals have looked; `None` where everything is looked at again.
    fn looked_before(&self) -> Option<&'a ReceivedBefore> {
        let (_, removal) = self.removal.filter(|_| !self.is_reopened)?;
        Some(&removal.received_before)
    }

    /// Whether a plan up to these times takes enough: a day at least, so that the chain stays short.
    fn allows(&self, times: &ReceivedBefore) -> bool {
        let is_further = |(category, time): (&String, &Timestamp)| {
            let last = self.looked_before().and_then(|last| of_category(last, category));
            last.is_none_or(|last| last.plus_seconds(DAY_SECONDS) <= *time)
        };
        times.iter().any(is_further)
    }
}

/// The time that age is measured against at `now`. `None` where an authority stamps anchors, and there is no time stamp that is new enough.
fn time_of(service: &AuditLog, now: Timestamp) -> Result<Option<Timestamp>> {
    if !service.settings.stamps_anchors {
        return Ok(Some(now));
    }
    let stamp = newest_stamp(service)?;
    Ok(stamp.and_then(|stamp| measured_at(now, stamp)))
}

/// The time of the newest time stamp of an anchor.
fn newest_stamp(service: &AuditLog) -> Result<Option<Timestamp>> {
    service.home_store.read(|reader| {
        let states = reader.anchor_states()?;
        let Some(stamped) = states.iter().find(|state| state.is_stamped) else {
            return Ok::<_, AppError>(None);
        };
        let anchor = reader.anchor(stamped.number)?;
        let stamp = anchor.and_then(|anchor| TimeStamp::parse(&anchor.time_stamp?).ok());
        Ok(stamp.map(|stamp| stamp.time()))
    })
}

/// The number of events of a log before the first month of the window of idempotency keys.
fn removable_size(service: &AuditLog, scope: &Scope, now: Timestamp) -> Result<u64> {
    let window = service.store.idempotency_window();
    service.store.read(|reader| {
        let size = reader.ledger_size(scope.ledger_id)?;
        // Unbounded: keys are known as long as their events.
        if window.months() == 0 {
            return Ok(size);
        }
        let first = window.first_month(Month::of(now));
        let first = reader.first_seq_of_month(scope.ledger_id, first)?;
        Ok(first.unwrap_or(size))
    })
}

/// The range of the log with the events of each category from the time in `last` up to the one in `times`, `None` if it is empty.
fn range(
    reader: &mut Reader<'_>,
    ledger_id: LedgerId,
    size: u64,
    last: Option<&ReceivedBefore>,
    times: &ReceivedBefore,
) -> Result<Option<Range<u64>>> {
    let all = last.into_iter().chain([times]).flat_map(BTreeMap::values);
    let distinct: BTreeSet<Timestamp> = all.copied().collect();
    let mut positions = BTreeMap::new();
    for time in distinct {
        positions.insert(time, position(reader, ledger_id, size, time)?);
    }
    let position = |time: &Timestamp| positions.get(time).copied().unwrap_or_default();
    let looked_at = |(category, time): (&String, &Timestamp)| {
        let last = last.and_then(|last| of_category(last, category));
        last.map_or(0, position)..position(time)
    };
    let ranges = times.iter().map(looked_at).filter(|range| !range.is_empty());
    Ok(ranges.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end)))
}

/// The first position of a log of this size at which an event is that entered it at `time` or later; its size where there is none.
fn position(reader: &mut Reader<'_>, ledger_id: LedgerId, size: u64, time: Timestamp) -> Result<u64> {
    let (mut low, mut high) = (0, size);
    while low < high {
        let middle = low + (high - low) / 2;
        // The first event that is left from there on.
        let found = reader.logged_events(ledger_id, middle, 1)?;
        let earlier = match found.first() {
            Some(found) => {
                let envelope = Envelope::read(&found.event.canonical).map_err(AppError::inconsistent)?;
                (envelope.logged_at < time).then_some(found.seq)
            }
            None => None,
        };
        match earlier {
            Some(seq) => low = seq + 1,
            None => high = middle,
        }
    }
    Ok(low.min(size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::{CancelReason, Hold, RetentionPlan, Sha256Digest};

    const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

    const fn day(days: i64) -> Timestamp {
        NOW.plus_seconds(days * DAY_SECONDS)
    }

    fn times(of: &[(&str, i64)]) -> ReceivedBefore {
        let times = of
            .iter()
            .map(|(category, days)| ((*category).to_owned(), day(*days)));
        times.collect()
    }

    /// The fold of events, one a day up to now.
    fn fold(events: impl IntoIterator<Item = LifecycleEvent>) -> Lifecycle {
        let (mut fold, mut previous) = (Lifecycle::default(), None);
        for (seq, event) in (10..).zip(events) {
            let at = day(i64::try_from(seq).unwrap() - 20);
            fold.add(seq, at, event, previous).unwrap();
            previous = Some(seq);
        }
        fold
    }

    /// A policy of 100 days, and a removal up to 200 days ago.
    fn removed() -> Vec<LifecycleEvent> {
        let policy = RetentionPolicy {
            days: Some(100),
            ..RetentionPolicy::default()
        };
        let (received_before, digest) = (times(&[(DEFAULT_DAYS, -200)]), Sha256Digest::from_bytes([1; 32]));
        vec![
            LifecycleEvent::RetentionChanged(policy),
            LifecycleEvent::Planned(RetentionPlan {
                policy: 10,
                seqs: 0..5,
                received_before: received_before.clone(),
                events: 5,
                held: 0,
                kept: 0,
                digest,
                not_before: day(-9),
            }),
            LifecycleEvent::Removed(Removal {
                plan: 11,
                policy: 10,
                holds: Vec::new(),
                seqs: 0..5,
                events: 5,
                digest,
                received_before,
                archive: None,
                undelivered: Vec::new(),
            }),
        ]
    }

    #[test]
    fn what_a_removal_has_passed_over_is_looked_at_again_when_it_may_have_become_due() {
        let of = fold(removed());
        assert_eq!(
            Past::of(&of).looked_before(),
            Some(&times(&[(DEFAULT_DAYS, -200)]))
        );
        let hold = Hold {
            hold: "hld_1".to_owned(),
            ..Hold::default()
        };
        let released = LifecycleEvent::HoldReleased {
            hold: "hld_1".to_owned(),
            placed: 13,
            reason: String::new(),
        };
        let held = removed().into_iter().chain([LifecycleEvent::HoldPlaced(hold)]);
        let of = fold(held.clone());
        assert!(Past::of(&of).looked_before().is_some());
        let of = fold(held.chain([released]));
        assert_eq!(Past::of(&of).looked_before(), None);
        let again = LifecycleEvent::RetentionChanged(RetentionPolicy::default());
        let of = fold(removed().into_iter().chain([again]));
        assert_eq!(Past::of(&of).looked_before(), None);
        let [policy, plan, _] = removed().try_into().unwrap();
        let cancelled = LifecycleEvent::Cancelled {
            plan: 11,
            reason: CancelReason::Requested,
        };
        let of = fold([policy, plan, cancelled]);
        assert_eq!(Past::of(&of).looked_before(), None);
    }

    #[test]
    fn a_plan_takes_a_day_at_least() {
        let of = fold(removed());
        let past = Past::of(&of);
        let second = DAY_SECONDS - 1;
        let at = |time: Timestamp| ReceivedBefore::from([(DEFAULT_DAYS.to_owned(), time)]);
        assert!(past.allows(&at(day(-199))));
        assert!(!past.allows(&at(day(-200).plus_seconds(second))));
        let of_one = times(&[(DEFAULT_DAYS, -200), ("security", -199)]);
        assert!(past.allows(&of_one));
    }

    #[test]
    fn a_category_without_a_time_has_that_of_all() {
        let times = times(&[(DEFAULT_DAYS, -200), ("security", -300)]);
        assert_eq!(of_category(&times, "security"), Some(&day(-300)));
        assert_eq!(of_category(&times, "access"), Some(&day(-200)));
    }
}
