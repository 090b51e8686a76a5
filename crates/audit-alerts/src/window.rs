//! Sliding windows and cooldown: when a rule fires for a group.

mod encoding;

pub use encoding::DecodeError;

use crate::bounds::{CooldownSeconds, Threshold, WindowSeconds};
use crate::rule::Revision;
use audit_domain::{EventId, Timestamp};

/// How a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windowing {
    /// Differs whenever the rest does. What was counted under another revision no longer counts.
    pub revision: Revision,
    /// How many events make it fire.
    pub threshold: Threshold,
    /// How long ago they may have occurred.
    pub window_seconds: WindowSeconds,
    /// How long it stays silent afterwards.
    pub cooldown_seconds: CooldownSeconds,
}

impl Windowing {
    /// Whether an event that arrives now counts at all. One that occurred before the window is history. It needs no
    /// group's state to tell, so an import of old events costs no access to the database.
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

/// The rule fires for a group: there is to be an alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firing {
    /// The arrival of the event that reached the threshold, in whole milliseconds.
    pub fired_at: Timestamp,
    /// The number of matching events in the window. Exact up to [`GroupState::EXACT_OCCURRENCES_MIN`]; see there for
    /// more.
    pub event_count: u64,
    /// The newest of them by time, then id; the newest first.
    pub sample_event_ids: Vec<EventId>,
}

impl Firing {
    /// The most sample events.
    pub const SAMPLE_EVENTS_MAX: usize = 10;
}

/// What an event did to a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// Nothing: the state is as before and need not be written.
    Unchanged,
    /// It counts.
    Counted,
    /// It counts, and the rule fires.
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

/// What a rule remembers of one group between events. The default is a group of which nothing was seen.
///
/// Times are whole milliseconds, as everywhere in the service's answers. Where the clocks of several nodes disagree, each
/// event is judged by the clock of the node it arrived at: a clock that is ahead must not keep the others from counting.
///
/// # What is kept, and why it is enough
///
/// - Of each event still in the window its time; of the [`Firing::SAMPLE_EVENTS_MAX`] newest also their ids. Events leave
///   by age alone, so one that is not among the newest now never will be.
/// - Outside the cooldown fewer than `threshold` events: the one that reaches it fires and clears them.
/// - Within the cooldown only events that can still be in the window when it ends. Most of a long cooldown changes
///   nothing and writes nothing.
/// - Such a rest of a cooldown has no natural limit, so old times get coarse: all but the newest `threshold` (at least
///   [`Self::EXACT_OCCURRENCES_MIN`]) are rounded down to their second when too many are held. Whether a rule fires
///   depends on the `threshold`-th newest event alone, so that stays exact. Only `event_count` may fall short, by no
///   more than the events in one second at the far end of the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupState {
    /// Of the rule when the occurrences were counted.
    revision: Revision,
    last_fired_millis: Option<i64>,
    /// Ascending, without equal times.
    occurrences: Vec<Occurrences>,
    /// Sum of the counts.
    event_count: u64,
    /// The newest events, newest first.
    samples: Vec<Sample>,
}

/// Events that occurred in the same millisecond, or, when coarse, second.
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
    /// So many of the newest events are always counted to the millisecond.
    pub const EXACT_OCCURRENCES_MIN: usize = 1_000;
    /// The most different times that a state holds.
    pub const TIMES_MAX: usize = times_max(Threshold::MAX.get() as usize, WindowSeconds::MAX.get() as usize);

    /// Takes note of a matching event of this group that arrives at `now`. Every event must be shown once, in the order
    /// of arrival.
    pub fn observe(
        &mut self,
        rule: &Windowing,
        now: Timestamp,
        occurred_at: Timestamp,
        event_id: EventId,
    ) -> Observed {
        let now = now.as_millis();
        let silent_until = self.silent_until(rule);
        // Until the silence ends nothing fires, so what has left the window by then never counts.
        let window_start = now.max(silent_until) - rule.window_millis();
        let millis = occurred_at.as_millis().min(now);
        if millis < window_start {
            return Observed::Unchanged;
        }
        if self.revision != rule.revision {
            self.forget_occurrences();
            self.revision = rule.revision;
        }
        self.forget_before(window_start);
        self.insert(Sample { millis, id: event_id });
        self.coarsen(rule);
        if now < silent_until || self.event_count < u64::from(rule.threshold.get()) {
            return Observed::Counted;
        }
        Observed::Fired(self.fire(now))
    }

    /// From this time on, whatever becomes of the rule, the state is as good as the default and can be deleted. `None`
    /// when it is already. A silence is remembered for the longest cooldown, because a longer one than the present may
    /// be set at any time.
    pub fn expires_at(&self, rule: &Windowing) -> Option<Timestamp> {
        let windows_end = self
            .newest_millis()
            .map(|newest| newest + rule.window_millis() + 1);
        let longest_silence = i64::from(CooldownSeconds::MAX.get()) * MILLIS_PER_SECOND;
        let silence_end = self.last_fired_millis.map(|fired| fired + longest_silence);
        windows_end.max(silence_end).map(Timestamp::from_millis)
    }

    fn newest_millis(&self) -> Option<i64> {
        self.occurrences.last().map(|newest| newest.millis)
    }

    /// The first millisecond in which the rule may fire. A change of the cooldown also holds for a silence under way.
    fn silent_until(&self, rule: &Windowing) -> i64 {
        match self.last_fired_millis {
            // Without a cooldown there is no silence, not even for a node whose clock is behind that of the last firing.
            Some(fired) if rule.cooldown_millis() > 0 => fired + rule.cooldown_millis(),
            _ => i64::MIN,
        }
    }

    fn fire(&mut self, now: i64) -> Firing {
        let firing = Firing {
            fired_at: Timestamp::from_millis(now),
            event_count: self.event_count,
            sample_event_ids: self.samples.iter().map(|sample| sample.id).collect(),
        };
        // The next alert needs the threshold again, with events after this one.
        self.forget_occurrences();
        self.last_fired_millis = Some(now);
        firing
    }

    fn forget_occurrences(&mut self) {
        self.occurrences.clear();
        self.samples.clear();
        self.event_count = 0;
    }

    fn forget_before(&mut self, start: i64) {
        let gone = self.occurrences.partition_point(|held| held.millis < start);
        self.event_count -= self.occurrences.drain(..gone).map(|held| held.count).sum::<u64>();
        self.samples.retain(|sample| sample.millis >= start);
    }

    fn insert(&mut self, event: Sample) {
        let found = self
            .occurrences
            .binary_search_by_key(&event.millis, |held| held.millis);
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
        let place = self.samples.partition_point(|sample| *sample > event);
        if place < Firing::SAMPLE_EVENTS_MAX {
            self.samples.truncate(Firing::SAMPLE_EVENTS_MAX - 1);
            self.samples.insert(place, event);
        }
    }

    /// Rounds old times down to their second when there are too many to keep them all. That is within a cooldown, where
    /// all that is held lies within a window's length before its end, whatever the clocks say. So there are no more
    /// seconds than the window touches.
    fn coarsen(&mut self, rule: &Windowing) {
        let threshold = rule.threshold.get() as usize;
        if self.occurrences.len() <= times_max(threshold, rule.window_seconds.get() as usize) {
            return;
        }
        let exact_from = self.occurrences.len() - exact_times(threshold);
        let exact = self.occurrences.split_off(exact_from);
        for held in &mut self.occurrences {
            held.millis = held.millis.div_euclid(MILLIS_PER_SECOND) * MILLIS_PER_SECOND;
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

/// How many of the newest times stay exact. Each stands for at least one event.
const fn exact_times(threshold: usize) -> usize {
    if threshold > GroupState::EXACT_OCCURRENCES_MIN {
        threshold
    } else {
        GroupState::EXACT_OCCURRENCES_MIN
    }
}

/// How many times are held at most: the exact ones, one for each second that the window touches, and some more so that
/// rounding happens once in so many events.
const fn times_max(threshold: usize, window_seconds: usize) -> usize {
    const BETWEEN_ROUNDINGS: usize = 1_024;
    exact_times(threshold) + window_seconds + 2 + BETWEEN_ROUNDINGS
}

#[cfg(test)]
mod tests;
