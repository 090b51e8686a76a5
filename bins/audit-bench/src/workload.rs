//! What the load consists of: audit events as a small software company would send them.
//!
//! Tenants, actors, actions, objects and words are drawn from fixed tables with a fixed seed, so every run sends the same
//! events. A share of them carries personal data for redaction to find, and a share matches the built-in alert rules.

mod body;
mod facts;
mod random;
mod template;
mod timestamp;
pub(crate) mod vocabulary;

pub(crate) use body::{Bodies, BodyOptions};
pub(crate) use timestamp::timestamp_text;

/// What queries look for is known from what was sent: these times, in milliseconds since the Unix epoch, were chosen
/// when the run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Epoch {
    /// When the run began.
    pub(crate) began_ms: i64,
}

const MS_PER_HOUR: i64 = 3_600_000;
const MS_PER_DAY: i64 = 24 * MS_PER_HOUR;

impl Epoch {
    /// One hour long before the others in which only events occurred that queries look for as rare ones.
    pub(crate) fn rare_hour(self) -> (i64, i64) {
        let start = self.began_ms - 45 * MS_PER_DAY;
        (start, start + MS_PER_HOUR)
    }

    /// One hour in which nothing occurred, before everything else.
    pub(crate) fn empty_hour(self) -> (i64, i64) {
        let start = self.began_ms - 60 * MS_PER_DAY;
        (start, start + MS_PER_HOUR)
    }

    /// Since when all has occurred that is no import: the events of a batch occurred a little before it is sent.
    pub(crate) fn first_ms(self) -> i64 {
        self.began_ms - body::BATCH_SPAN_MS
    }

    /// The days that imported events occurred in.
    pub(crate) fn imported(self) -> (i64, i64) {
        (self.began_ms - 30 * MS_PER_DAY, self.began_ms - MS_PER_DAY)
    }
}
