//! The workload: synthetic audit events of a small software company.
//!
//! Tenants, actors, actions, targets and words are drawn from fixed tables with a fixed seed, so every run sends the same
//! events. Some contain personal data for redaction to find, and some match the built-in alert rules.

mod body;
mod event;
mod random;
mod template;
mod timestamp;
pub(crate) mod vocabulary;

pub(crate) use body::{Bodies, BodyOptions};
pub(crate) use random::Random;
pub(crate) use timestamp::timestamp_text;

/// Time ranges that the events of a run occur in, so that the matches of queries are known. All are derived from the
/// start of the run and given in milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct RunTimes {
    /// Start of the run.
    pub(crate) began_ms: i64,
}

const MS_PER_HOUR: i64 = 3_600_000;
const MS_PER_DAY: i64 = 24 * MS_PER_HOUR;

impl RunTimes {
    /// An hour, earlier than all imports, in which only rare events occurred.
    pub(crate) fn rare_hour(self) -> (i64, i64) {
        let start = self.began_ms - 45 * MS_PER_DAY;
        (start, start + MS_PER_HOUR)
    }

    /// An hour without events, earlier than all others.
    pub(crate) fn empty_hour(self) -> (i64, i64) {
        let start = self.began_ms - 60 * MS_PER_DAY;
        (start, start + MS_PER_HOUR)
    }

    /// The earliest time of an event that is not an import: those of a batch occurred up to a second before it is sent.
    pub(crate) fn first_ms(self) -> i64 {
        self.began_ms - body::BATCH_SPAN_MS
    }

    /// The range in which imported events occurred.
    pub(crate) fn imported(self) -> (i64, i64) {
        (self.began_ms - 30 * MS_PER_DAY, self.began_ms - MS_PER_DAY)
    }
}
