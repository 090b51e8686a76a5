//! The response header `Retry-After` (RFC 9110 section 10.2.3).

use audit_domain::Timestamp;
use std::time::UNIX_EPOCH;

/// The time of the next attempt that a receiver requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// This many seconds after its response.
    Seconds(u64),
    /// At a point in time.
    At(Timestamp),
}

impl RetryAfter {
    /// Reads a number of seconds, or a date in one of the three forms of RFC 9110 section 5.6.7. Everything else is `None`:
    /// the schedule alone decides then. A year of two digits, which is obsolete, lies between 1970 and 2069.
    pub fn parse(value: &str) -> Option<Self> {
        let value = value.trim_matches([' ', '\t']);
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
            // A number that overflows exceeds every cap.
            return Some(Self::Seconds(value.parse().unwrap_or(u64::MAX)));
        }
        let since_epoch = httpdate::parse_http_date(value)
            .ok()?
            .duration_since(UNIX_EPOCH)
            .ok()?;
        let seconds = i64::try_from(since_epoch.as_secs()).ok()?;
        Some(Self::At(Timestamp::from_seconds(seconds)))
    }

    /// How long to wait from `now` on, in microseconds; 0 for a time that has passed, `micros_max` at most.
    pub fn wait_micros(self, now: Timestamp, micros_max: i64) -> i64 {
        let micros = match self {
            Self::Seconds(seconds) => i64::try_from(seconds)
                .unwrap_or(i64::MAX)
                .saturating_mul(Timestamp::MICROS_PER_SECOND),
            Self::At(at) => at.as_micros().saturating_sub(now.as_micros()),
        };
        micros.clamp(0, micros_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seconds_and_dates_are_read() {
        // The dates are the examples of RFC 9110.
        let at = |text: &str| Some(RetryAfter::At(Timestamp::parse_rfc3339(text).unwrap()));
        for (value, expected) in [
            ("0", Some(RetryAfter::Seconds(0))),
            ("120", Some(RetryAfter::Seconds(120))),
            (" 007\t", Some(RetryAfter::Seconds(7))),
            ("99999999999999999999999", Some(RetryAfter::Seconds(u64::MAX))),
            ("Fri, 31 Dec 1999 23:59:59 GMT", at("1999-12-31T23:59:59Z")),
            ("Sun, 06 Nov 1994 08:49:37 GMT", at("1994-11-06T08:49:37Z")),
            ("Thu, 15 Jan 2026 10:30:00 GMT", at("2026-01-15T10:30:00Z")),
            ("", None),
            ("-1", None),
            ("+5", None),
            ("1.5", None),
            ("5 s", None),
            ("soon", None),
            ("٣", None),
            ("2026-01-15T10:30:00Z", None),
            ("Thu, 15 Jan 2026 10:30:00 UTC", None),
            ("Thu, 15 Jan 2026 10:30:00", None),
            ("Thu, 32 Jan 2026 10:30:00 GMT", None),
            ("Thu, 15 Jan 2026 25:30:00 GMT", None),
            ("Sunday, 06-Nov-94 08:49:37 GMT", at("1994-11-06T08:49:37Z")),
            ("Sun Nov  6 08:49:37 1994", at("1994-11-06T08:49:37Z")),
            ("Thu Jan 15 10:30:00 2026", at("2026-01-15T10:30:00Z")),
            ("Thursday, 15-Jan-26 10:30:00 GMT", at("2026-01-15T10:30:00Z")),
            ("Tuesday, 15-Jan-69 10:30:00 GMT", at("2069-01-15T10:30:00Z")),
            ("Thursday, 15-Jan-70 10:30:00 GMT", at("1970-01-15T10:30:00Z")),
            ("Saturday, 15-Jan-77 10:30:00 GMT", at("1977-01-15T10:30:00Z")),
            // The day of the week is that of 2076.
            ("Wednesday, 15-Jan-76 10:30:00 GMT", None),
            ("Thursday, 15-Jan-2026 10:30:00 GMT", None),
            ("Thu, 15-Jan-26 10:30:00 GMT", None),
            ("Thursday, 15-Jan-é6 10:30:00 GMT", None),
            ("Thu Jan 15 10:30:00 26", None),
        ] {
            assert_eq!(RetryAfter::parse(value), expected, "{value:?}");
        }
    }

    #[test]
    fn a_wait_is_never_negative_and_never_too_long() {
        let now = Timestamp::from_seconds(1_000);
        let wait = |after: RetryAfter| after.wait_micros(now, 60_000_000);
        assert_eq!(wait(RetryAfter::Seconds(2)), 2_000_000);
        assert_eq!(wait(RetryAfter::Seconds(60)), 60_000_000);
        assert_eq!(wait(RetryAfter::Seconds(61)), 60_000_000);
        assert_eq!(wait(RetryAfter::Seconds(u64::MAX)), 60_000_000);
        assert_eq!(wait(RetryAfter::At(now.plus_seconds(2))), 2_000_000);
        assert_eq!(wait(RetryAfter::At(now.plus_seconds(61))), 60_000_000);
        assert_eq!(wait(RetryAfter::At(now.plus_seconds(-1))), 0);
        assert_eq!(wait(RetryAfter::At(Timestamp::from_micros(i64::MIN))), 0);
    }

    proptest! {
        #[test]
        fn no_value_makes_reading_panic(value in "\\PC{0,40}", year in 0u32..99_999, day in 0u32..40) {
            RetryAfter::parse(&value);
            RetryAfter::parse(&format!("Thu, {day:02} Jan {year:04} 10:30:00 GMT"));
            RetryAfter::parse(&format!("Thursday, {day:02}-Jan-{year:02} 10:30:00 GMT"));
            RetryAfter::parse(&format!("a-{value}"));
        }
    }
}
