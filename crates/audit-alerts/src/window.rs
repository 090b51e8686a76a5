//! Sliding windows and cooldown: when a rule fires for a group.

mod encoding;
mod values;

pub use encoding::DecodeError;

use crate::bounds::{CooldownSeconds, Threshold, WindowSeconds};
use crate::rule::Revision;
use crate::value_hash::ValueHash;
use audit_domain::{EventId, Timestamp};
use values::CountedValue;

/// The counting parameters of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windowing {
    /// Changes whenever the other fields do. Events that were counted under another revision no longer count.
    pub revision: Revision,
    /// The number of events at which the rule fires.
    pub threshold: Threshold,
    /// The length of the sliding window.
    pub window_seconds: WindowSeconds,
    /// The time after a firing in which the rule does not fire again.
    pub cooldown_seconds: CooldownSeconds,
}

impl Windowing {
    /// Whether an event that arrives now can count: it must not have occurred before the window. The check needs no state,
    /// so an import of old events does not access the database.
    pub const fn counts(&self, now: Timestamp, occurred_at: Timestamp) -> bool {
        occurred_at.as_millis() >= now.as_millis() - self.window_millis()
    }

    const fn window_millis(&self) -> i64 {
        self.window_seconds.get() as i64 * MILLIS_PER_SECOND
    }

    const fn cooldown_millis(&self) -> i64 {
        self.cooldown_seconds.get() as i64 * MILLIS_PER_SECOND
    }
}

const MILLIS_PER_SECOND: i64 = 1_000;

/// A rule fired for a group; the caller raises an alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firing {
    /// The arrival of the event that reached the threshold, in whole milliseconds.
    pub fired_at: Timestamp,
    /// The number of matching events in the window. Exact up to [`GroupState::EXACT_OCCURRENCES_MIN`]; see
    /// [`GroupState`] for larger numbers. Of distinct values it is their number, exact up to the threshold.
    pub event_count: u64,
    /// The ids of the newest of them, sorted by time and id, newest first.
    pub sample_event_ids: Vec<EventId>,
}

impl Firing {
    /// The maximum number of sample events.
    pub const SAMPLE_EVENTS_MAX: usize = 10;
}

/// The effect of an event on a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// The state did not change and need not be written.
    Unchanged,
    /// The event was counted.
    Counted,
    /// The event was counted, and the rule fired.
    Fired(Firing),
}

impl Observed {
    /// The firing, if there is one.
    pub fn into_firing(self) -> Option<Firing> {
        match self {
            Self::Unchanged | Self::Counted => None,
            Self::Fired(firing) => Some(firing),
        }
    }
}

/// The state of one group of a rule between events. The default is the state of a group without events.
///
/// Times are whole milliseconds, as in all responses of the service. The clocks of nodes may differ. Each event is compared
/// with the clock of the node at which it arrived, so that a clock that is ahead does not stop the other nodes from counting.
///
/// # Contents, and why they are enough
///
/// - The time of each event in the window, and the ids of the [`Firing::SAMPLE_EVENTS_MAX`] newest. Events leave the window
///   only by age, so an event that is not among the newest now never will be.
/// - Outside the cooldown, fewer than `threshold` events: the event that reaches the threshold fires and clears them.
/// - During the cooldown, only events that can still be in the window when the cooldown ends. Most events of a long cooldown
///   change nothing and write nothing.
/// - The number of events in the last window of a cooldown has no limit. When there are too many times, all but the newest
///   `threshold` (at least [`Self::EXACT_OCCURRENCES_MIN`]) are rounded down to their second. Whether a rule fires depends
///   only on the `threshold`-th newest event, so it stays exact. Only `event_count` may be too low, by at most the events of
///   one second at the old end of the window.
///
/// A rule that counts distinct values has these in place of times: for each value its newest event, for the `threshold` newest values.
/// A value is in the window if its newest event is. Values leave the window oldest first, so one that is not among the `threshold` newest
/// cannot matter until it has a newer event: by the time a newer value has left the window, the older one has too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupState {
    /// The revision of the rule under which the occurrences were counted.
    revision: Revision,
    last_fired_millis: Option<i64>,
    /// Sorted by time, without equal times.
    occurrences: Vec<Occurrences>,
    /// Sum of the counts.
    event_count: u64,
    /// The newest events, newest first.
    samples: Vec<Sample>,
    /// Distinct values, newest first. Either this or `occurrences` is empty.
    values: Vec<CountedValue>,
}

/// The number of events that occurred in the same millisecond, or, after rounding, in the same second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Occurrences {
    millis: i64,
    count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sample {
    millis: i64,
    id: EventId,
}

impl GroupState {
    /// At least this many of the newest events are counted to the millisecond.
    pub const EXACT_OCCURRENCES_MIN: usize = 1_000;
    /// The maximum number of distinct times in a state.
    pub const TIMES_MAX: usize = times_max(Threshold::MAX.get() as usize, WindowSeconds::MAX.get() as usize);

    /// Counts a matching event of this group that arrives at `now`. Pass every event once, in the order of arrival.
    pub fn observe(
        &mut self,
        rule: &Windowing,
        now: Timestamp,
        occurred_at: Timestamp,
        event_id: EventId,
    ) -> Observed {
        self.count(rule, now, occurred_at, event_id, None)
    }

    /// As [`Self::observe`], for a rule that counts distinct values, of which the event has this one.
    pub fn observe_value(
        &mut self,
        rule: &Windowing,
        now: Timestamp,
        occurred_at: Timestamp,
        event_id: EventId,
        value: ValueHash,
    ) -> Observed {
        self.count(rule, now, occurred_at, event_id, Some(value))
    }

    fn count(
        &mut self,
        rule: &Windowing,
        now: Timestamp,
        occurred_at: Timestamp,
        event_id: EventId,
        value: Option<ValueHash>,
    ) -> Observed {
        let now = now.as_millis();
        let cooldown_end = self.cooldown_end(rule);
        // The rule cannot fire before the cooldown ends. An event that has left the window by then never counts.
        let window_start = now.max(cooldown_end) - rule.window_millis();
        let millis = occurred_at.as_millis().min(now);
        if millis < window_start {
            return Observed::Unchanged;
        }
        let counts_otherwise = match value {
            Some(_) => !self.occurrences.is_empty(),
            None => !self.values.is_empty(),
        };
        if self.revision != rule.revision || counts_otherwise {
            self.clear_occurrences();
            self.revision = rule.revision;
        }
        let held = self.values.len();
        self.expire_before(window_start);
        let event = Sample { millis, id: event_id };
        let may_fire = now >= cooldown_end;
        let is_reached = match value {
            None => {
                self.insert(event);
                self.coarsen(rule);
                self.event_count >= u64::from(rule.threshold.get())
            }
            Some(value) => match self.insert_value(CountedValue { event, value }, rule.threshold, may_fire) {
                Some(is_reached) => is_reached,
                None if self.values.len() == held => return Observed::Unchanged,
                None => false,
            },
        };
        if !may_fire || !is_reached {
            return Observed::Counted;
        }
        Observed::Fired(self.fire(now))
    }

    /// The time from which the state is equivalent to the default, whatever change the rule undergoes, so that it can be
    /// deleted. `None` if it is equivalent now. The last firing is kept for the maximum cooldown, because the cooldown may
    /// be raised at any time.
    pub fn expires_at(&self, rule: &Windowing) -> Option<Timestamp> {
        let newest_value = self.values.first().map(|newest| newest.event.millis);
        let windows_end = self
            .newest_millis()
            .max(newest_value)
            .map(|newest| newest + rule.window_millis() + 1);
        let longest_cooldown = i64::from(CooldownSeconds::MAX.get()) * MILLIS_PER_SECOND;
        let cooldown_end = self.last_fired_millis.map(|fired| fired + longest_cooldown);
        windows_end.max(cooldown_end).map(Timestamp::from_millis)
    }

    fn newest_millis(&self) -> Option<i64> {
        self.occurrences.last().map(|newest| newest.millis)
    }

    /// The first millisecond in which the rule may fire. A change of `cooldown_seconds` applies to a running cooldown too.
    fn cooldown_end(&self, rule: &Windowing) -> i64 {
        match self.last_fired_millis {
            // A cooldown of 0 must not delay a node whose clock is behind the last firing.
            Some(fired) if rule.cooldown_millis() > 0 => fired + rule.cooldown_millis(),
            _ => i64::MIN,
        }
    }

    fn fire(&mut self, now: i64) -> Firing {
        let of_values = self.values.iter().map(|counted| &counted.event);
        let samples = self.samples.iter().chain(of_values);
        let firing = Firing {
            fired_at: Timestamp::from_millis(now),
            event_count: self.event_count + self.values.len() as u64,
            sample_event_ids: samples
                .take(Firing::SAMPLE_EVENTS_MAX)
                .map(|sample| sample.id)
                .collect(),
        };
        // The next alert needs `threshold` events after this one.
        self.clear_occurrences();
        self.last_fired_millis = Some(now);
        firing
    }

    fn clear_occurrences(&mut self) {
        self.occurrences.clear();
        self.samples.clear();
        self.values.clear();
        self.event_count = 0;
    }

    fn expire_before(&mut self, start: i64) {
        let expired = self.occurrences.partition_point(|entry| entry.millis < start);
        self.event_count -= self
            .occurrences
            .drain(..expired)
            .map(|entry| entry.count)
            .sum::<u64>();
        self.samples.retain(|sample| sample.millis >= start);
        self.values.retain(|counted| counted.event.millis >= start);
    }

    fn insert(&mut self, event: Sample) {
        let found = self
            .occurrences
            .binary_search_by_key(&event.millis, |entry| entry.millis);
        match found {
            Ok(at) => self.occurrences[at].count += 1,
            Err(at) => {
                let first = Occurrences {
                    millis: event.millis,
                    count: 1,
                };
                self.occurrences.insert(at, first)
            }
        }
        self.event_count += 1;
        let index = self.samples.partition_point(|sample| *sample > event);
        if index < Firing::SAMPLE_EVENTS_MAX {
            self.samples.truncate(Firing::SAMPLE_EVENTS_MAX - 1);
            self.samples.insert(index, event);
        }
    }

    /// Rounds old times down to their second when there are too many. This happens only during a cooldown. All times then
    /// lie in the last window before its end, independent of clock skew, so the window bounds the number of seconds.
    fn coarsen(&mut self, rule: &Windowing) {
        let threshold = rule.threshold.get() as usize;
        if self.occurrences.len() <= times_max(threshold, rule.window_seconds.get() as usize) {
            return;
        }
        let exact_from = self.occurrences.len() - exact_times(threshold);
        let exact = self.occurrences.split_off(exact_from);
        for entry in &mut self.occurrences {
            entry.millis = entry.millis.div_euclid(MILLIS_PER_SECOND) * MILLIS_PER_SECOND;
        }
        self.occurrences.dedup_by(|later, kept| {
            let is_same = later.millis == kept.millis;
            if is_same {
                kept.count += later.count;
            }
            is_same
        });
        self.occurrences.extend(exact);
    }
}

/// The number of newest times that stay exact. Each stands for at least one event.
const fn exact_times(threshold: usize) -> usize {
    if threshold > GroupState::EXACT_OCCURRENCES_MIN {
        threshold
    } else {
        GroupState::EXACT_OCCURRENCES_MIN
    }
}

/// The maximum number of times: the exact ones, one for each second that the window touches, and a reserve so that rounding
/// happens only once in `BETWEEN_ROUNDINGS` events.
const fn times_max(threshold: usize, window_seconds: usize) -> usize {
    const BETWEEN_ROUNDINGS: usize = 1_024;
    exact_times(threshold) + window_seconds + 2 + BETWEEN_ROUNDINGS
}

#[cfg(test)]
mod tests;
