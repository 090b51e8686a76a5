//! Anchors: at a fixed point of each interval, the heads of all logs of the deployment and their maps of tenants, signed and sent
//! to places outside of it.
//!
//! An anchor is stored in the database before it is sent. Every node tries to make it and to send it; the database lets one
//! succeed. A head or map that was anchored once stays in the following anchors: what is lost or hidden here later, they still
//! show.

mod logs;
mod lost;
mod making;
mod places;
mod sending;

use audit_domain::Timestamp;
use audit_store::StoredAnchor;
use parking_lot::Mutex;
use places::PlaceStates;
pub use places::{AnchorPlace, AnchorPlaces, AnchorWebhook, PlaceStatistics};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::atomic::AtomicI64;

/// What this process knows of anchors.
#[derive(Debug, Default)]
pub(crate) struct Anchoring {
    /// The start of the last interval that is known to have an anchor, in microseconds; 0 at the start.
    made_for: AtomicI64,
    places: PlaceStates,
    /// The numbers of the anchors in the directory of this node, and whether they have their time stamps there.
    in_directory: Mutex<BTreeMap<i64, bool>>,
    /// The numbers of stored anchors that the log's key has not signed: they are not sent.
    forged: Mutex<BTreeSet<i64>>,
    /// The last anchor that this process has made or sent: see [`lost`].
    newest: Mutex<Option<StoredAnchor>>,
}

/// The interval of anchors: a part of a day, so that each one begins at the same point of every day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnchorInterval {
    seconds: u32,
}

/// The text is not an interval of anchors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number of minutes or hours that divides a day, such as 15m or 1h")]
pub struct AnchorIntervalError;

impl FromStr for AnchorInterval {
    type Err = AnchorIntervalError;

    fn from_str(text: &str) -> Result<Self, AnchorIntervalError> {
        let (number, factor) = match text.split_at_checked(text.len().saturating_sub(1)) {
            Some((number, "m")) => (number, 60),
            Some((number, "h")) => (number, 3_600),
            _ => return Err(AnchorIntervalError),
        };
        let number: u32 = number.parse().map_err(|_| AnchorIntervalError)?;
        match number.checked_mul(factor) {
            Some(seconds) if seconds > 0 && 86_400 % seconds == 0 => Ok(Self { seconds }),
            _ => Err(AnchorIntervalError),
        }
    }
}

impl AnchorInterval {
    /// The start of the interval in which this time is.
    fn start(self, time: Timestamp) -> Timestamp {
        let seconds = time.as_seconds();
        Timestamp::from_seconds(seconds - seconds.rem_euclid(i64::from(self.seconds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_divides_a_day_and_begins_at_fixed_times() {
        let hour: AnchorInterval = "1h".parse().unwrap();
        let time = Timestamp::parse_rfc3339("2026-01-15T10:59:59.999Z").unwrap();
        let start = Timestamp::parse_rfc3339("2026-01-15T10:00:00Z").unwrap();
        assert_eq!((hour.start(time), hour.start(start)), (start, start));
        assert_eq!("60m".parse(), Ok(hour));
        for other in [
            "",
            "h",
            "0h",
            "7m",
            "5h",
            "25h",
            "60",
            "30s",
            "-1h",
            "1 h",
            "99999999h",
        ] {
            assert_eq!(
                other.parse::<AnchorInterval>(),
                Err(AnchorIntervalError),
                "{other}"
            );
        }
    }
}
