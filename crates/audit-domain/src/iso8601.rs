//! Dates and times as clients write ISO 8601: RFC 3339, and beyond it
//!
//! - a date alone, in UTC or the time zone of the query;
//! - times without seconds;
//! - offsets as `+0000` and `+00`;
//! - a space for the `T`, as `str()` of Python has it, and for the `+`, as a query string has it that was not encoded;
//! - a space before the offset, and `UTC` for it, as `to_string()` of the Rust crate `chrono` has them;
//! - a comma before the fraction;
//! - years of six digits with a sign, as `toISOString()` of JavaScript has them.
//!
//! A time without an offset is refused: it means another instant wherever it is read.

use crate::{Bound, TimeZone, Timestamp};
use std::borrow::Cow;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The instant, clamped to those that are stored. A date alone is a day of the zone.
pub(crate) fn parse(text: &str, bound: Bound, zone: &TimeZone) -> Option<Timestamp> {
    let (text, far) = with_year_of_four_digits(text)?;
    let written = match text.len() {
        DATE_BYTES => of_date(&text, bound),
        _ => of_date_and_time(&text, bound)?,
    };
    let parsed = OffsetDateTime::parse(&written, &Rfc3339).ok()?;
    let latest = Timestamp::from_micros(Timestamp::MAX.as_micros() - 1);
    Some(match far {
        Some(Far::Past) => Timestamp::MIN,
        Some(Far::Future) => latest,
        None => {
            let micros = i64::try_from(parsed.unix_timestamp_nanos().div_euclid(1_000)).ok()?;
            let time = match (text.len(), bound) {
                (DATE_BYTES, Bound::Start) => zone.first_at(Timestamp::from_micros(micros)),
                (DATE_BYTES, Bound::End) => {
                    let next = zone.first_at(Timestamp::from_micros(micros + 1));
                    Timestamp::from_micros(next.as_micros() - 1)
                }
                _ => Timestamp::from_micros(micros),
            };
            time.clamp(Timestamp::MIN, latest)
        }
    })
}

/// The instant of a date and time, if it can be stored.
pub(crate) fn parse_instant(text: &str) -> Option<Timestamp> {
    // What most clients write needs no copy.
    if let Ok(time) = Timestamp::parse_rfc3339(text) {
        return Some(time);
    }
    let (text, far) = with_year_of_four_digits(text)?;
    if far.is_some() || text.len() == DATE_BYTES {
        return None;
    }
    Timestamp::parse_rfc3339(&of_date_and_time(&text, Bound::Start)?).ok()
}

/// The length of a date alone.
const DATE_BYTES: usize = 10;

/// A year beyond 9999 or before 0.
#[derive(Clone, Copy)]
enum Far {
    Past,
    Future,
}

/// The text with a year of four digits, which only stands for it where the year is far away.
fn with_year_of_four_digits(text: &str) -> Option<(Cow<'_, str>, Option<Far>)> {
    let far = match text.as_bytes().first()? {
        b'-' => Far::Past,
        b'+' | b' ' => Far::Future,
        _ => return Some((Cow::Borrowed(text), None)),
    };
    let (year, rest) = text.get(1..)?.split_at_checked(6)?;
    if !year.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let far = match year.strip_prefix("00") {
        Some(near) if matches!(far, Far::Future) => return Some((Cow::Owned(format!("{near}{rest}")), None)),
        _ => far,
    };
    Some((Cow::Owned(format!("2000{rest}")), Some(far)))
}

fn of_date(date: &str, bound: Bound) -> String {
    let time = match bound {
        Bound::Start => "00:00:00",
        Bound::End => "23:59:59.999999",
    };
    format!("{date}T{time}Z")
}

/// The text as RFC 3339 has it. Whether its numbers are in range is checked by its reader.
fn of_date_and_time(text: &str, bound: Bound) -> Option<String> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (time, offset) = rest.split_at_checked(rest.find(['Z', 'z', '+', '-', ' '])?)?;
    let seconds = match (time.len(), bound) {
        (5, Bound::Start) => ":00",
        (5, Bound::End) => ":59.999999",
        _ => "",
    };
    let time = time.replace(',', ".");
    Some(format!("{date}T{time}{seconds}{}", offset_of(offset)?))
}

fn offset_of(text: &str) -> Option<String> {
    let text = match text.strip_prefix(' ') {
        Some(rest) if !rest.starts_with(|first: char| first.is_ascii_digit()) => rest,
        _ => text,
    };
    if text.eq_ignore_ascii_case("z") || text == "UTC" {
        return Some("Z".to_owned());
    }
    let sign = if text.starts_with('-') { '-' } else { '+' };
    let digits = text.get(1..)?;
    let (hours, minutes) = match digits.len() {
        2 => (digits, "00"),
        4 => digits.split_at_checked(2)?,
        5 => digits.split_once(':')?,
        _ => return None,
    };
    Some(format!("{sign}{hours}:{minutes}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::InstantError;

    fn start(text: &str) -> Option<String> {
        parse(text, Bound::Start, &TimeZone::utc()).map(|time| time.to_string())
    }

    #[test]
    fn one_instant_may_be_written_in_many_ways() {
        for text in [
            "2026-01-15T10:30:00Z",
            "2026-01-15t10:30:00z",
            "2026-01-15T10:30Z",
            "2026-01-15 10:30:00.000 +00:00",
            "2026-01-15 12:30:00  02:00",
            "2026-01-15 10:30:00 UTC",
            "2026-01-15 10:30:00+00:00",
            "2026-01-15T10:30:00.000000+0000",
            "2026-01-15T10:30:00,0Z",
            "2026-01-15T12:30+02",
            "2026-01-15T12:30:00 0200",
            "2026-01-15 12:30:00 02:00",
            "2026-01-15T05:30:00-0500",
            "+002026-01-15T10:30:00.000Z",
        ] {
            assert_eq!(start(text).as_deref(), Some("2026-01-15T10:30:00.000Z"), "{text}");
        }
    }

    #[test]
    fn a_date_is_its_first_or_its_last_instant() {
        assert_eq!(start("2026-01-15").as_deref(), Some("2026-01-15T00:00:00.000Z"));
        let end = parse("2024-02-29", Bound::End, &TimeZone::utc()).unwrap();
        let next = Timestamp::parse_rfc3339("2024-03-01T00:00:00Z").unwrap();
        assert_eq!(end.as_micros() + 1, next.as_micros());
    }

    #[test]
    fn a_minute_is_its_first_or_its_last_instant() {
        assert_eq!(
            start("2026-01-15T12:30+02").as_deref(),
            Some("2026-01-15T10:30:00.000Z")
        );
        let end = parse("2026-01-15T12:30+02", Bound::End, &TimeZone::utc()).unwrap();
        let next = Timestamp::parse_rfc3339("2026-01-15T10:31:00Z").unwrap();
        assert_eq!(end.as_micros() + 1, next.as_micros());
        let second = parse("2026-01-15T10:30:00Z", Bound::End, &TimeZone::utc()).unwrap();
        assert_eq!(second.to_string(), "2026-01-15T10:30:00.000Z");
    }

    #[test]
    fn an_instant_is_read_as_a_bound_is_where_it_can_be_stored() {
        for text in [
            "2026-01-15T16:00:00+0530",
            "2026-01-15 10:30:00 UTC",
            "2026-01-15 16:00:00.000 +05:30",
            "2026-01-15T10:30:00,000Z",
            "2026-01-15T10:30Z",
            "+002026-01-15T10:30:00.000Z",
        ] {
            let instant = Timestamp::parse_instant(text).map(|time| time.to_string());
            assert_eq!(instant.as_deref(), Ok("2026-01-15T10:30:00.000Z"), "{text}");
        }
        for text in [
            "2026-01-15",
            "2026-01-15T10:30:00",
            "1699-12-31T23:59Z",
            "2240-01-01 00:00:00Z",
            "+275760-09-13T00:00:00.000Z",
            "-271821-04-20T00:00:00.000Z",
            "yesterday",
        ] {
            assert_eq!(Timestamp::parse_instant(text), Err(InstantError), "{text}");
        }
    }

    #[test]
    fn years_are_clamped_to_those_that_are_stored() {
        let latest = Timestamp::from_micros(Timestamp::MAX.as_micros() - 1);
        for (text, expected) in [
            ("0001-01-01T00:00:00Z", Timestamp::MIN),
            ("0000-01-01", Timestamp::MIN),
            ("1699-12-31", Timestamp::MIN),
            ("-271821-04-20T00:00:00.000Z", Timestamp::MIN),
            ("9999-12-31T23:59:59-12:00", latest),
            ("2240-01-01", latest),
            ("+275760-09-13T00:00:00.000Z", latest),
            (" 275760-09-13T00:00:00.000Z", latest),
        ] {
            assert_eq!(
                parse(text, Bound::Start, &TimeZone::utc()),
                Some(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_time_or_is_ambiguous_is_refused() {
        for text in [
            "",
            " ",
            "2026",
            "2026-01",
            "2026-13-01",
            "2026-02-30",
            "15.01.2026",
            "20260115",
            "2026-01-15T10:30:00",
            "2026-01-15T10:30",
            "2026-01-15T10Z",
            "2026-01-15T25:00Z",
            "2026-01-15T10:30:00+1",
            "2026-01-15T10:30:00+00000",
            "2026-01-15T10:30:00+25:00",
            "2026-01-15T10:30:00ZZ",
            "2026-01-15T10:30:00 CET",
            "2026-01-15T10:30:00 ",
            "2026-01-15é10:30:00Z",
            "-1-01-01",
            "+12345-01-01",
            "1768473000",
            "yesterday",
        ] {
            assert_eq!(start(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics_and_rfc_3339_is_read_as_before(text in "[-+ 0-9TtZz:.,é]{0,40}") {
            let read = parse(&text, Bound::End, &TimeZone::utc());
            if let Ok(before) = Timestamp::parse_rfc3339(&text) {
                proptest::prop_assert_eq!(read, Some(before));
            }
            // A year that cannot be stored is clamped in a query only.
            if let Ok(instant) = Timestamp::parse_instant(&text) {
                proptest::prop_assert_eq!(parse(&text, Bound::Start, &TimeZone::utc()), Some(instant));
            }
        }
    }

    #[test]
    fn a_date_alone_is_a_day_of_the_zone() {
        let changed = Timestamp::parse_rfc3339("2026-10-25T01:00:00Z").unwrap();
        let berlin = TimeZone::new(7_200, [(changed, 3_600)]);
        let bounds =
            |text| [Bound::Start, Bound::End].map(|bound| parse(text, bound, &berlin).unwrap().to_string());
        assert_eq!(
            bounds("2026-10-25"),
            ["2026-10-24T22:00:00.000Z", "2026-10-25T22:59:59.999Z"]
        );
        assert_eq!(bounds("2026-10-25T10:30:00Z"), ["2026-10-25T10:30:00.000Z"; 2]);
    }
}
