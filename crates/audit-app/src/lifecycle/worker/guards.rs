//! What keeps a wrong clock from removing events. Pure: the clock and the time since the start of the process are arguments.

use audit_domain::{Month, Timestamp};
use std::collections::BTreeSet;
use std::time::Duration;

/// A day, in seconds.
pub(super) const DAY_SECONDS: i64 = 86_400;
/// How far a plan reaches beyond the last removal at least without a confirmation, in seconds of the time of the log.
const REACH_SECONDS: i64 = 31 * DAY_SECONDS;
/// The clock jumped when it differs by more than this from the monotonic one, in seconds.
const JUMP_SECONDS: i64 = DAY_SECONDS;
/// At the start, the newest event may be so old, in seconds.
const SILENCE_SECONDS: i64 = DAY_SECONDS;
/// How long the clock is not trusted, after the start or after a jump.
const UNTRUSTED: Duration = Duration::from_secs(DAY_SECONDS.unsigned_abs());
/// Where an authority stamps anchors, the newest time stamp is at most so old, in seconds.
const STAMP_SECONDS_MAX: i64 = 2 * DAY_SECONDS;

/// Compares the clock with the monotonic one.
#[derive(Debug)]
pub(super) struct ClockGuard {
    started_at: Timestamp,
    /// Whether no event was received in the day before the start, although there are events: the clock may be ahead.
    is_silent: bool,
    /// The clock, and the time since the start, when they were last compared.
    last: (Timestamp, Duration),
    /// The time since the start from which on the clock is trusted after a jump.
    jumped_until: Duration,
}

impl ClockGuard {
    /// At the start of a process whose database received its newest event at `newest_receipt`.
    pub(super) fn new(now: Timestamp, newest_receipt: Option<Timestamp>) -> Self {
        Self {
            // As the times of events are.
            started_at: now.truncated_to_millis(),
            is_silent: newest_receipt.is_some_and(|at| at.plus_seconds(SILENCE_SECONDS) < now),
            last: (now, Duration::ZERO),
            jumped_until: Duration::ZERO,
        }
    }

    /// Compares the clocks, `elapsed` after the start. Returns by how many seconds the clock has jumped since the last call, if it did.
    pub(super) fn observe(&mut self, now: Timestamp, elapsed: Duration) -> Option<i64> {
        let (before, then) = std::mem::replace(&mut self.last, (now, elapsed));
        let passed = i64::try_from(elapsed.saturating_sub(then).as_secs()).unwrap_or(i64::MAX);
        let jumped = now
            .as_seconds()
            .saturating_sub(before.as_seconds())
            .saturating_sub(passed);
        if jumped.saturating_abs() <= JUMP_SECONDS {
            return None;
        }
        self.jumped_until = elapsed + UNTRUSTED;
        Some(jumped)
    }

    /// Whether the clock jumped in the last 24 hours.
    pub(super) fn has_jumped(&self) -> bool {
        self.last.1 < self.jumped_until
    }

    /// Whether plans may be made and carried out. `seen_at` is when an operator last changed or confirmed the policy of the log: after
    /// the start, that is as good as a day of it.
    pub(super) fn is_trusted(&self, seen_at: Option<Timestamp>) -> bool {
        let was_seen = seen_at >= Some(self.started_at);
        let has_run = self.last.1 >= UNTRUSTED;
        !self.has_jumped() && (!self.is_silent || has_run || was_seen)
    }
}

/// The time that age is measured against, where an authority stamps anchors: that of the newest time stamp. `None` where it is too old.
pub(super) fn measured_at(now: Timestamp, stamp: Timestamp) -> Option<Timestamp> {
    (stamp.plus_seconds(STAMP_SECONDS_MAX) >= now).then(|| stamp.min(now))
}

/// How much of the time between two times counts, in seconds: all of it but the months in which the database received no event, for they
/// are those over which a clock jumps. The present month counts.
pub(super) fn lived_seconds(months: &BTreeSet<Month>, since: Timestamp, now: Timestamp) -> i64 {
    let present = Month::of(now);
    let past = months.iter().copied().filter(|month| *month < present);
    let lived = past.chain([present]).map(|month| {
        let start = month.start().max(since);
        let end = month.plus(1).start().min(now);
        (end.as_seconds() - start.as_seconds()).max(0)
    });
    lived.sum()
}

/// What was due at an earlier time, for one category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    /// Events before this time of the log were.
    pub(super) before: Timestamp,
    /// The [time that counts](lived_seconds) since, in seconds.
    pub(super) lived_seconds: i64,
}

/// What allows a plan to reach further, for one category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// What was due when the policy was set.
    pub(super) at_change: Reached,
    /// What the last removal took.
    pub(super) removed: Option<Reached>,
    /// Up to when an operator has confirmed plans.
    pub(super) confirmed: Option<Timestamp>,
}

impl Reach {
    /// Up to when a plan takes events whose cut-off is `cutoff`.
    pub(super) fn bound(&self, cutoff: Timestamp) -> Timestamp {
        let Reached {
            before,
            lived_seconds,
        } = self.at_change;
        let due = before.plus_seconds(lived_seconds);
        let removed = self.removed.map(|removed| {
            let seconds = removed.lived_seconds.max(REACH_SECONDS);
            removed.before.plus_seconds(seconds)
        });
        let others = removed.max(self.confirmed);
        others.map_or(due, |other| other.max(due)).min(cutoff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);
    const YEAR_SECONDS: i64 = 365 * DAY_SECONDS;

    const fn day(days: i64) -> Timestamp {
        NOW.plus_seconds(days * DAY_SECONDS)
    }

    #[test]
    fn a_clock_that_jumps_by_more_than_a_day_is_not_trusted_for_a_day_of_the_monotonic_one() {
        for jump in [YEAR_SECONDS, -YEAR_SECONDS, DAY_SECONDS + 1] {
            let mut guard = ClockGuard::new(NOW, Some(NOW));
            let minute = Duration::from_secs(60);
            assert_eq!(guard.observe(NOW.plus_seconds(60), minute), None);
            assert!(guard.is_trusted(None) && !guard.has_jumped());
            assert_eq!(guard.observe(NOW.plus_seconds(60 + jump), minute), Some(jump));
            // A confirmation by this clock does not help.
            assert!(guard.has_jumped() && !guard.is_trusted(Some(day(1_000))));
            let after = |left: u64| minute + UNTRUSTED - Duration::from_secs(left);
            let at = |left: i64| NOW.plus_seconds(60 + jump + DAY_SECONDS - left);
            assert_eq!(guard.observe(at(1), after(1)), None);
            assert!(!guard.is_trusted(None));
            assert_eq!(guard.observe(at(0), after(0)), None);
            assert!(guard.is_trusted(None));
        }
    }

    #[test]
    fn a_correction_of_a_day_is_no_jump() {
        for jump in [DAY_SECONDS, -DAY_SECONDS] {
            let mut guard = ClockGuard::new(NOW, None);
            assert_eq!(guard.observe(NOW.plus_seconds(jump), Duration::ZERO), None);
            assert!(guard.is_trusted(None));
        }
    }

    #[test]
    fn a_start_a_day_after_the_last_event_waits_for_a_day_or_for_an_operator() {
        let mut silent = ClockGuard::new(NOW, Some(day(-1).plus_seconds(-1)));
        assert!(!silent.is_trusted(None));
        assert!(!silent.is_trusted(Some(NOW.plus_seconds(-1))));
        assert!(silent.is_trusted(Some(NOW)));
        assert_eq!(silent.observe(day(1), UNTRUSTED), None);
        assert!(silent.is_trusted(None));
        assert!(ClockGuard::new(NOW, Some(day(-1))).is_trusted(None));
        assert!(ClockGuard::new(NOW, None).is_trusted(None));
    }

    #[test]
    fn age_is_measured_against_the_newest_time_stamp() {
        assert_eq!(measured_at(NOW, day(-2)), Some(day(-2)));
        assert_eq!(measured_at(NOW, day(-2).plus_seconds(-1)), None);
        assert_eq!(measured_at(NOW, day(1)), Some(NOW));
    }

    #[test]
    fn months_without_events_do_not_count() {
        // The 15th of January 2027.
        let present = Month::of(NOW);
        let months = |numbers: &[i32]| numbers.iter().map(|back| present.plus(-back)).collect();
        let every: BTreeSet<Month> = months(&[0, 1, 2, 3, 4, 5]);
        for days in [0, 1, 14, 15, 100] {
            assert_eq!(lived_seconds(&every, day(-days), NOW), days * DAY_SECONDS);
        }
        // November and December are missing.
        let gap: BTreeSet<Month> = months(&[0, 3, 4, 5]);
        assert_eq!(lived_seconds(&gap, day(-100), NOW), (100 - 61) * DAY_SECONDS);
        let none = BTreeSet::new();
        let of_month = NOW.as_seconds() - present.start().as_seconds();
        assert_eq!(lived_seconds(&none, day(-1_000), NOW), of_month);
        assert_eq!(lived_seconds(&every, day(1), NOW), 0);
    }

    /// What was due `before`, `lived` days ago.
    const fn reached(before: i64, lived: i64) -> Reached {
        Reached {
            before: day(before),
            lived_seconds: lived * DAY_SECONDS,
        }
    }

    #[test]
    fn what_becomes_due_while_events_come_in_needs_no_confirmation() {
        let reach = Reach {
            at_change: reached(-730, 365),
            removed: None,
            confirmed: None,
        };
        assert_eq!(reach.bound(day(-365)), day(-365));
        assert_eq!(reach.bound(day(-400)), day(-400));
    }

    #[test]
    fn without_a_confirmation_a_plan_reaches_a_month_beyond_the_last_removal() {
        let reach = Reach {
            at_change: reached(-500, 0),
            removed: Some(reached(-400, 1)),
            confirmed: None,
        };
        let cutoff = day(-100);
        assert_eq!(reach.bound(cutoff), day(-400 + 31));
        assert_eq!(reach.bound(day(-390)), day(-390));
        let removed = Some(reached(-400, 50));
        assert_eq!(Reach { removed, ..reach }.bound(cutoff), day(-350));
        let at_change = reached(-300, 0);
        assert_eq!(Reach { at_change, ..reach }.bound(cutoff), day(-300));
        let confirmed = Some(day(-50));
        assert_eq!(Reach { confirmed, ..reach }.bound(cutoff), cutoff);
    }

    #[test]
    fn a_clock_that_is_a_year_ahead_widens_no_first_plan_but_by_the_present_month() {
        // The policy of 365 days was set when nothing was due, in the same month by the true clock.
        let a_year_ahead = NOW.plus_seconds(YEAR_SECONDS);
        let months = BTreeSet::from([Month::of(NOW), Month::of(a_year_ahead)]);
        let lived_seconds = lived_seconds(&months, NOW, a_year_ahead);
        let reach = Reach {
            at_change: Reached {
                before: day(-365),
                lived_seconds,
            },
            removed: None,
            confirmed: None,
        };
        let month = day(-365 + 32);
        assert!(reach.bound(NOW) <= month, "{:?}", reach.bound(NOW));
    }
}
