//! The response header `Retry-After` (RFC 9110 section 10.2.3).

use audit_domain::Timestamp;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime};

/// When a receiver asks to be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// This many seconds after its answer.
    Seconds(u64),
    /// At a point in time.
    At(Timestamp),
}

impl RetryAfter {
    /// Reads a number of seconds, or a date in one of the three forms of RFC 9110 section 5.6.7. Everything else is `None`:
    /// the schedule alone decides then. `now`, about, tells the century of a year of two digits.
    pub fn parse(value: &str, now: Timestamp) -> Option<Self> {
        let value = value.trim_matches([' ', '\t']);
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
            // Digits that do not fit mean longer than anybody waits.
            return Some(Self::Seconds(value.parse().unwrap_or(u64::MAX)));
        }
        let at = date(value, IMF_FIXDATE).or_else(|| date(value, ASCTIME_DATE));
        at.or_else(|| rfc850_date(value, now)).map(Self::At)
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

/// What senders must write.
const IMF_FIXDATE: &[BorrowedFormatItem<'_>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");
/// Obsolete.
const ASCTIME_DATE: &[BorrowedFormatItem<'_>] = format_description!(
    "[weekday repr:short] [month repr:short] [day padding:space] [hour]:[minute]:[second] [year]"
);
/// Obsolete, with all digits of its year.
const RFC850_DATE: &[BorrowedFormatItem<'_>] =
    format_description!("[weekday], [day]-[month repr:short]-[year] [hour]:[minute]:[second] GMT");
/// A year of two digits that seems further ahead than this many years is in the past.
const YEARS_AHEAD_MAX: i64 = 50;

fn date(value: &str, form: &[BorrowedFormatItem<'_>]) -> Option<Timestamp> {
    let date = PrimitiveDateTime::parse(value, form).ok()?;
    Some(Timestamp::from_seconds(date.assume_utc().unix_timestamp()))
}

/// A date with two digits for the year: the last such year that is no more than [`YEARS_AHEAD_MAX`] years ahead.
fn rfc850_date(value: &str, now: Timestamp) -> Option<Timestamp> {
    let (before_year, rest) = value.rsplit_once('-')?;
    let (digits, time) = rest.split_at_checked(2)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let this_year = OffsetDateTime::from_unix_timestamp(now.as_seconds()).ok()?.year();
    let latest = i64::from(this_year) + YEARS_AHEAD_MAX;
    let year = latest - (latest - digits.parse::<i64>().ok()?).rem_euclid(100);
    date(&format!("{before_year}-{year:04}{time}"), RFC850_DATE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

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
            // Fifty years ahead, and one more, which is taken for long ago.
            ("Wednesday, 15-Jan-76 10:30:00 GMT", at("2076-01-15T10:30:00Z")),
            ("Saturday, 15-Jan-77 10:30:00 GMT", at("1977-01-15T10:30:00Z")),
            ("Thursday, 15-Jan-2026 10:30:00 GMT", None),
            ("Thu, 15-Jan-26 10:30:00 GMT", None),
            ("Thursday, 15-Jan-é6 10:30:00 GMT", None),
            ("Thu Jan 15 10:30:00 26", None),
        ] {
            assert_eq!(RetryAfter::parse(value, NOW), expected, "{value:?}");
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
            RetryAfter::parse(&value, NOW);
            RetryAfter::parse(&format!("Thu, {day:02} Jan {year:04} 10:30:00 GMT"), NOW);
            RetryAfter::parse(&format!("Thursday, {day:02}-Jan-{year:02} 10:30:00 GMT"), NOW);
            RetryAfter::parse(&format!("a-{value}"), NOW);
        }
    }
}
