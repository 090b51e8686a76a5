//! How long a log keeps its events.

use crate::Timestamp;
use std::collections::BTreeMap;

/// The member of [`ReceivedBefore`] that holds for categories without one of their own.
pub const DEFAULT_DAYS: &str = "default";

/// By category, and by [`DEFAULT_DAYS`] for the others: the time before which an event must have entered the log to be removed.
pub type ReceivedBefore = BTreeMap<String, Timestamp>;

/// The time of a category.
pub fn before_of(before: &ReceivedBefore, category: &str) -> Option<Timestamp> {
    before.get(category).or_else(|| before.get(DEFAULT_DAYS)).copied()
}

/// The policy of one log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// Days that an event stays; `None` keeps it for ever.
    pub days: Option<u32>,
    /// Days of the categories that stay longer.
    pub categories: BTreeMap<String, u32>,
    /// The name of the preset that it was made from.
    pub preset: Option<String>,
    /// Nothing is removed before an archive has it.
    pub archive: bool,
}

impl RetentionPolicy {
    /// The time before which an event of this category must have entered the log to be removed now. `None` where it is kept for ever.
    pub fn cutoff(&self, category: &str, now: Timestamp) -> Option<Timestamp> {
        let days = self.days?;
        let days = self.categories.get(category).copied().unwrap_or(days);
        let micros = i64::from(days).saturating_mul(Timestamp::MICROS_PER_DAY);
        Some(Timestamp::from_micros(now.as_micros().saturating_sub(micros)))
    }

    /// Whether a removal that takes what entered the log before these times takes only what the policy lets go at `at`.
    pub(super) fn allows(&self, before: &ReceivedBefore, at: Timestamp) -> bool {
        let is_allowed = |category: &String| {
            let before = before_of(before, category);
            let cutoff = self.cutoff(category, at);
            before
                .zip(cutoff)
                .is_some_and(|(before, cutoff)| before <= cutoff)
        };
        before.contains_key(DEFAULT_DAYS) && before.keys().chain(self.categories.keys()).all(is_allowed)
    }
}
