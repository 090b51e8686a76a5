//! Points in time, as microseconds since the Unix epoch, and the seam through which the current one is read.

use crate::{TimeZone, iso8601};
use std::fmt;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A point in time: microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The text is not a date and time as RFC 3339 writes it, or lies outside [`Timestamp::MIN`] to [`Timestamp::MAX`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be an RFC 3339 date and time such as 2026-01-15T10:30:00.000Z, between the years 1700 and 2240"
)]
pub struct TimestampError;

/// The text is no date and time with an offset, or lies outside [`Timestamp::MIN`] to [`Timestamp::MAX`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a date and time with an offset such as 2026-01-15T10:30:00Z, between the years 1700 and 2240"
)]
pub struct InstantError;

/// The text is no date, and no date and time with an offset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be a date such as 2026-01-15, or a date and time with an offset such as 2026-01-15T10:30:00Z")]
pub struct DateError;

/// The end of a span of time that a date alone, or a time without seconds, stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The first instant of the day or minute.
    Start,
    /// The last instant of the day or minute.
    End,
}

impl Timestamp {
    /// Microseconds in a second.
    pub const MICROS_PER_SECOND: i64 = 1_000_000;
    /// Microseconds in a UTC day.
    pub const MICROS_PER_DAY: i64 = 86_400 * Self::MICROS_PER_SECOND;
    /// 1700-01-01T00:00:00Z, the earliest time an event can have occurred at.
    /// Rows are keyed by 43 bits of milliseconds, which reach from 1691 to 2248.
    pub const MIN: Self = Self(-8_520_336_000_000_000);
    /// 2240-01-01T00:00:00Z, exclusive end of what can be stored.
    pub const MAX: Self = Self(8_520_336_000_000_000);

    /// From microseconds since the Unix epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// From milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// From whole seconds since the Unix epoch.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds * Self::MICROS_PER_SECOND)
    }

    /// Microseconds since the Unix epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole milliseconds since the Unix epoch, rounded down.
    pub const fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// Whole seconds since the Unix epoch, rounded down.
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(Self::MICROS_PER_SECOND)
    }

    /// The UTC day this falls in, counted from 1970-01-01.
    pub const fn utc_day(self) -> i64 {
        self.0.div_euclid(Self::MICROS_PER_DAY)
    }

    /// The time truncated to milliseconds, the resolution of events.
    pub const fn truncated_to_millis(self) -> Self {
        Self::from_millis(self.as_millis())
    }

    /// Seconds until the next UTC day begins, rounded up.
    pub const fn seconds_to_midnight(self) -> u64 {
        let midnight = (self.utc_day() + 1) * 86_400;
        (midnight - self.as_seconds()).unsigned_abs()
    }

    /// When the next UTC day begins.
    pub const fn next_midnight(self) -> Self {
        Self((self.utc_day() + 1) * Self::MICROS_PER_DAY)
    }

    /// This time `seconds` later (earlier when negative).
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0 + seconds * Self::MICROS_PER_SECOND)
    }

    /// Reads RFC 3339 with any offset, down to the microsecond.
    ///
    /// # Errors
    /// [`TimestampError`] when the text is something else or the year is out of range.
    pub fn parse_rfc3339(text: &str) -> Result<Self, TimestampError> {
        let parsed = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| TimestampError)?;
        let micros =
            i64::try_from(parsed.unix_timestamp_nanos().div_euclid(1_000)).map_err(|_| TimestampError)?;
        let timestamp = Self(micros);
        if timestamp < Self::MIN || timestamp >= Self::MAX {
            return Err(TimestampError);
        }
        Ok(timestamp)
    }

    /// Reads a date and time as clients write ISO 8601; see the module `iso8601`. A date alone names no instant. A time
    /// without seconds is the first instant of its minute.
    ///
    /// # Errors
    /// [`InstantError`] when the text is something else or the year is out of range.
    pub fn parse_instant(text: &str) -> Result<Self, InstantError> {
        iso8601::parse_instant(text).ok_or(InstantError)
    }

    /// Reads a bound of a query as clients write ISO 8601; see the module `iso8601`. Years outside of what is stored are
    /// clamped: every event is later, or earlier.
    ///
    /// # Errors
    /// [`DateError`] when the text is something else.
    pub fn parse_bound(text: &str, bound: Bound) -> Result<Self, DateError> {
        Self::parse_bound_in(text, bound, &TimeZone::utc())
    }

    /// The same, where a date alone is a day of a time zone.
    ///
    /// # Errors
    /// [`DateError`] when the text is something else.
    pub fn parse_bound_in(text: &str, bound: Bound, zone: &TimeZone) -> Result<Self, DateError> {
        iso8601::parse(text, bound, zone).ok_or(DateError)
    }
}

/// `2026-01-15T10:30:00.000Z`: RFC 3339 in UTC with three digits of fraction, always 24 characters.
impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = OffsetDateTime::from_unix_timestamp(self.as_seconds()).map_err(|_| fmt::Error)?;
        let millis = self.as_millis().rem_euclid(1_000).unsigned_abs() as u32;
        let (date, time) = (time.date(), time.time());
        let year = u32::try_from(date.year()).map_err(|_| fmt::Error)?;
        // Digit by digit: every event has two of them, and to interpret a format takes several times as long.
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let parts = [
            (0..4, year),
            (5..7, u32::from(u8::from(date.month()))),
            (8..10, u32::from(date.day())),
            (11..13, u32::from(time.hour())),
            (14..16, u32::from(time.minute())),
            (17..19, u32::from(time.second())),
            (20..23, millis),
        ];
        for (place, mut number) in parts {
            for digit in text[place].iter_mut().rev() {
                *digit = b'0' + (number % 10) as u8;
                number /= 10;
            }
        }
        formatter.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

/// Where the current time comes from. The binary passes the system's clock; tests pass one they set.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;
}

/// A clock that has stopped, for tests.
impl Clock for Timestamp {
    fn now(&self) -> Timestamp {
        *self
    }
}

/// Where unpredictable bytes come from. The binary passes the operating system's generator; tests pass fixed bytes.
pub trait Entropy: Send + Sync {
    /// Fills `bytes` with unpredictable values.
    fn fill(&self, bytes: &mut [u8]);
}

impl dyn Entropy {
    /// An array of unpredictable bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn offsets_are_read_and_utc_milliseconds_are_written() {
        let parsed = Timestamp::parse_rfc3339("2026-01-15T12:30:00.1239+02:00").unwrap();
        assert_eq!(parsed.to_string(), "2026-01-15T10:30:00.123Z");
        assert_eq!(
            Timestamp::parse_rfc3339("1969-12-31T23:59:59.9999Z")
                .unwrap()
                .to_string(),
            "1969-12-31T23:59:59.999Z"
        );
    }

    #[test]
    fn the_range_ends_where_the_constants_say() {
        assert_eq!(
            Timestamp::parse_rfc3339("1700-01-01T00:00:00Z"),
            Ok(Timestamp::MIN)
        );
        assert_eq!(
            Timestamp::parse_rfc3339("1699-12-31T23:59:59.999Z"),
            Err(TimestampError)
        );
        assert_eq!(
            Timestamp::parse_rfc3339("2239-12-31T23:59:59.999Z").unwrap(),
            Timestamp::from_micros(Timestamp::MAX.as_micros() - 1_000)
        );
        assert_eq!(
            Timestamp::parse_rfc3339("2240-01-01T00:00:00Z"),
            Err(TimestampError)
        );
    }

    #[test]
    fn other_notations_are_refused() {
        for text in [
            "",
            "2026-01-15",
            "2026-01-15T10:30:00",
            "1768473000",
            "yesterday",
            "2026-13-01T00:00:00Z",
        ] {
            assert_eq!(Timestamp::parse_rfc3339(text), Err(TimestampError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(millis in -8_520_336_000_000i64..8_520_336_000_000) {
            let timestamp = Timestamp::from_millis(millis);
            prop_assert_eq!(timestamp.to_string().len(), 24);
            prop_assert_eq!(Timestamp::parse_rfc3339(&timestamp.to_string()), Ok(timestamp));
        }
    }
}
