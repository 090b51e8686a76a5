//! The limit of alerts per minute. A rule with threshold 1 and no cooldown fires for every event, so without a limit one
//! project could have the service write many alerts for each event that it stores.

use crate::watch::GroupHash;
use audit_domain::Timestamp;

/// Alerts of one project and environment in one minute, at most. Rules fire beyond it, but raise no alert.
pub const ALERTS_PER_MINUTE_MAX: u64 = 1_000;

/// How long suppressed alerts are reported, in seconds.
const REPORTED_SECONDS: i64 = 7 * 86_400;
const MINUTE_MICROS: i64 = 60_000_000;
const VERSION: u8 = 1;
const NUMBERS: usize = 4;

/// The alerts of a minute that exceeded [`ALERTS_PER_MINUTE_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuppressedAlerts {
    /// Their number.
    pub count: u64,
    /// The beginning of the minute.
    pub minute: Timestamp,
}

/// The decision about a firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It raises an alert.
    Raised,
    /// It is counted only. `is_first`: it is the first one of its minute.
    Suppressed {
        /// Whether it is the first one of its minute.
        is_first: bool,
    },
}

/// Counts the alerts of one project and environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlertRate {
    /// A minute, in minutes since the Unix epoch.
    minute: i64,
    /// Alerts raised in it.
    raised: u64,
    /// The last minute with suppressed alerts, and their number.
    suppressed_minute: i64,
    suppressed: u64,
}

impl AlertRate {
    /// The key of the state, among the groups of a ledger.
    pub fn group_hash() -> GroupHash {
        // No group of a rule has a single part.
        GroupHash::of(&["alerts per minute"])
    }

    /// Counts a firing and decides whether it raises an alert.
    ///
    /// The count restarts in another minute, unless the clock of another node was up to a minute ahead. It restarts if a clock was
    /// further ahead, because no alert would be raised until then.
    pub fn admit(&mut self, fired_at: Timestamp) -> Admission {
        let minute = fired_at.as_micros().div_euclid(MINUTE_MICROS);
        if self.minute != minute && self.minute != minute + 1 {
            (self.minute, self.raised) = (minute, 0);
        }
        if self.raised < ALERTS_PER_MINUTE_MAX {
            self.raised += 1;
            return Admission::Raised;
        }
        if self.suppressed_minute != self.minute {
            (self.suppressed_minute, self.suppressed) = (self.minute, 0);
        }
        self.suppressed += 1;
        Admission::Suppressed {
            is_first: self.suppressed == 1,
        }
    }

    /// The alerts of the last minute in which some were suppressed.
    pub fn suppressed(&self) -> Option<SuppressedAlerts> {
        (self.suppressed > 0).then(|| SuppressedAlerts {
            count: self.suppressed,
            minute: Timestamp::from_micros(self.suppressed_minute * MINUTE_MICROS),
        })
    }

    /// The time from which the state can be deleted.
    pub fn expires_at(&self) -> Timestamp {
        // Two minutes later no clock continues the count.
        let counted_until = Timestamp::from_micros((self.minute + 2) * MINUTE_MICROS);
        let reported_until = self
            .suppressed()
            .map(|suppressed| suppressed.minute.plus_seconds(REPORTED_SECONDS));
        reported_until.map_or(counted_until, |until| until.max(counted_until))
    }

    /// Encodes the state: a version byte and four 64-bit numbers, big endian.
    pub fn encode(&self) -> Vec<u8> {
        let numbers = [
            self.minute,
            self.raised.cast_signed(),
            self.suppressed_minute,
            self.suppressed.cast_signed(),
        ];
        let mut bytes = vec![VERSION];
        bytes.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
        bytes
    }

    /// Decodes the output of [`Self::encode`]; `None` when the bytes are anything else, such as a time or a count that no clock
    /// and no number of events reaches.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (&VERSION, rest) = bytes.split_first()? else {
            return None;
        };
        let (numbers, []) = rest.as_chunks::<8>() else {
            return None;
        };
        let numbers: [[u8; 8]; NUMBERS] = numbers.try_into().ok()?;
        let [minute, raised, suppressed_minute, suppressed] = numbers.map(i64::from_be_bytes);
        let minutes = [Timestamp::MIN, Timestamp::MAX].map(|time| time.as_micros().div_euclid(MINUTE_MICROS));
        let is_minute = |minute: &i64| (minutes[0]..=minutes[1]).contains(minute);
        Some(Self {
            minute: Some(minute).filter(is_minute)?,
            // One half of the range is left, so that counting cannot overflow.
            raised: raised.try_into().ok()?,
            suppressed_minute: Some(suppressed_minute).filter(is_minute)?,
            suppressed: suppressed.try_into().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginning of a minute.
    const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

    fn full() -> AlertRate {
        let mut rate = AlertRate::default();
        for _ in 0..ALERTS_PER_MINUTE_MAX {
            assert_eq!(rate.admit(NOW), Admission::Raised);
        }
        rate
    }

    #[test]
    fn alerts_beyond_the_limit_of_a_minute_are_counted_only() {
        let mut rate = full();
        assert_eq!(rate.suppressed(), None);
        assert_eq!(rate.admit(NOW), Admission::Suppressed { is_first: true });
        let last = NOW.plus_seconds(59);
        assert_eq!(rate.admit(last), Admission::Suppressed { is_first: false });
        assert_eq!(rate.admit(NOW.plus_seconds(60)), Admission::Raised);
        let suppressed = SuppressedAlerts {
            count: 2,
            minute: NOW,
        };
        assert_eq!(rate.suppressed(), Some(suppressed));
        assert_eq!(rate.expires_at(), NOW.plus_seconds(REPORTED_SECONDS));
    }

    #[test]
    fn clocks_that_differ_by_a_minute_share_one_count_and_no_clock_stops_alerts_for_long() {
        let mut rate = full();
        let suppressed = Admission::Suppressed { is_first: true };
        assert_eq!(rate.admit(NOW.plus_seconds(-60)), suppressed);
        let mut ahead = full();
        assert_eq!(ahead.admit(NOW.plus_seconds(-120)), Admission::Raised);
    }

    #[test]
    fn a_state_is_read_as_it_was_written_and_nothing_else_is() {
        let mut rate = full();
        rate.admit(NOW);
        let bytes = rate.encode();
        assert_eq!(AlertRate::decode(&bytes), Some(rate));
        assert_eq!(AlertRate::decode(&bytes[1..]), None);
        assert_eq!(AlertRate::decode(&[&bytes[..], &[0; 8]].concat()), None);
        assert_eq!(AlertRate::decode(&[]), None);
    }

    /// Found by the fuzz target `alert_state`.
    #[test]
    fn a_count_or_a_time_beyond_every_clock_is_not_decoded() {
        let encoded = full().encode();
        for (number, stored) in [(0, i64::MAX), (0, i64::MIN), (1, -1), (2, i64::MAX), (3, -1)] {
            let mut bytes = encoded.clone();
            bytes[1 + 8 * number..9 + 8 * number].copy_from_slice(&stored.to_be_bytes());
            assert_eq!(AlertRate::decode(&bytes), None, "{number}: {stored}");
        }
        assert_eq!(AlertRate::decode(&encoded), Some(full()));
    }
}
