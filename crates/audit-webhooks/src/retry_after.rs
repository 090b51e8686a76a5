//! The response header `Retry-After` (RFC 9110 section 10.2.3).

use audit_domain::Timestamp;
use time::PrimitiveDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

/// When a receiver asks to be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// This many seconds after its answer.
    Seconds(u64),
    /// At a point in time.
    At(Timestamp),
}

impl RetryAfter {
    /// Reads a number of seconds, or a date in the form that RFC 9110 section 5.6.7 asks of senders (IMF-fixdate). The
    /// two obsolete forms of dates, and everything else, are `None`: the schedule alone decides then.
    pub fn parse(value: &str) -> Option<Self> {
        let value = value.trim_matches([' ', '\t']);
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
            // Digits that do not fit mean longer than anybody waits.
            return Some(Self::Seconds(value.parse().unwrap_or(u64::MAX)));
        }
        const IMF_FIXDATE: &[BorrowedFormatItem<'_>] = format_description!(
            "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
        );
        let date = PrimitiveDateTime::parse(value, IMF_FIXDATE).ok()?;
        Some(Self::At(Timestamp::from_seconds(
            date.assume_utc().unix_timestamp(),
        )))
    }

    /// How long to wait from `now` on, in microseconds; 0 for a time that has passed, `micros_max` at most.
    pub(crate) fn wait_micros(self, now: Timestamp, micros_max: i64) -> i64 {
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
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun Nov  6 08:49:37 1994", None),
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
        }
    }
}
