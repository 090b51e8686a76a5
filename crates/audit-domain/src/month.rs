//! Calendar months, by which the store divides events, and the window of months in which an idempotency key is known.

use crate::Timestamp;
use std::fmt;

/// A calendar month (UTC), counted from January 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month(i32);

impl Month {
    /// Before every month in which an event can be stored.
    pub const MIN: Self = Self(i32::MIN);
    /// After every month in which an event can be stored.
    pub const MAX: Self = Self(i32::MAX);

    /// From months since January 1970.
    pub const fn from_number(number: i32) -> Self {
        Self(number)
    }

    /// Months since January 1970.
    pub const fn number(self) -> i32 {
        self.0
    }

    /// The month that a time falls in. Times outside of [`Timestamp::MIN`] to [`Timestamp::MAX`] fall in the first or last
    /// month of that range.
    pub const fn of(time: Timestamp) -> Self {
        let micros = time.as_micros();
        let (first, last) = (Timestamp::MIN.as_micros(), Timestamp::MAX.as_micros() - 1);
        let clamped = if micros < first {
            first
        } else if micros > last {
            last
        } else {
            micros
        };
        // The Gregorian calendar in years that begin in March, so that a leap day ends its year. Day 0 is 0000-03-01, and 400
        // years have 146,097 days.
        let days = Timestamp::from_micros(clamped).utc_day() + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let months = (era * 400 + year_of_era) * 12 + month_from_march + 2;
        Self((months - 1970 * 12) as i32)
    }

    /// Its first instant.
    #[must_use]
    pub const fn start(self) -> Timestamp {
        // The inverse of `of`: the year begins in March.
        let months = self.0 as i64 + 1970 * 12 - 2;
        let (year, month_from_march) = (months.div_euclid(12), months.rem_euclid(12));
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * month_from_march + 2) / 5;
        let day_of_era = 365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = era * 146_097 + day_of_era - 719_468;
        Timestamp::from_micros(days.saturating_mul(Timestamp::MICROS_PER_DAY))
    }

    /// The month so many months later (earlier when negative).
    #[must_use]
    pub const fn plus(self, months: i32) -> Self {
        Self(self.0.saturating_add(months))
    }
}

/// `2026-01`.
impl fmt::Display for Month {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month) = (self.0.div_euclid(12) + 1970, self.0.rem_euclid(12) + 1);
        write!(formatter, "{year:04}-{month:02}")
    }
}

/// How long an idempotency key is known: a number of calendar months, the month of the new event included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdempotencyWindow(u16);

impl IdempotencyWindow {
    /// Keys are known as long as their events are stored.
    pub const UNBOUNDED: Self = Self(0);

    /// A window of so many months; 0 is [`Self::UNBOUNDED`].
    pub const fn of_months(months: u16) -> Self {
        Self(months)
    }

    /// Its number of months; 0 for [`Self::UNBOUNDED`].
    pub const fn months(self) -> u16 {
        self.0
    }

    /// The first month whose keys an event that is stored in `month` repeats.
    pub const fn first_month(self, month: Month) -> Month {
        match self.0 {
            0 => Month::MIN,
            months => month.plus(1 - months as i32),
        }
    }
}

/// Three months.
impl Default for IdempotencyWindow {
    fn default() -> Self {
        Self(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use time::OffsetDateTime;

    fn month(time: &str) -> Month {
        Month::of(Timestamp::parse_rfc3339(time).unwrap())
    }

    #[test]
    fn a_month_ends_at_midnight_utc() {
        assert_eq!(month("1970-01-01T00:00:00Z"), Month::from_number(0));
        assert_eq!(month("1969-12-31T23:59:59.999999Z"), Month::from_number(-1));
        assert_eq!(month("2024-02-29T23:59:59.999Z").to_string(), "2024-02");
        assert_eq!(month("2024-03-01T00:00:00Z").to_string(), "2024-03");
        assert_eq!(month("2025-12-31T23:30:00-01:00").to_string(), "2026-01");
        assert_eq!(month("1700-01-01T00:00:00Z").to_string(), "1700-01");
    }

    #[test]
    fn times_out_of_range_fall_in_the_first_and_last_month() {
        let of = |micros| Month::of(Timestamp::from_micros(micros)).to_string();
        assert_eq!(of(i64::MIN), "1700-01");
        assert_eq!(of(i64::MAX), "2239-12");
    }

    #[test]
    fn a_window_has_the_month_and_those_before_it() {
        let month = Month::from_number(680);
        let first = |months| IdempotencyWindow::of_months(months).first_month(month);
        assert_eq!(first(1), month);
        assert_eq!(IdempotencyWindow::default().first_month(month), month.plus(-2));
        assert_eq!(first(0), Month::MIN);
        assert_eq!(first(u16::MAX), month.plus(-65_534));
    }

    proptest! {
        #[test]
        fn months_are_those_of_the_calendar(seconds in -8_520_336_000i64..8_520_336_000) {
            let date = OffsetDateTime::from_unix_timestamp(seconds).unwrap();
            let expected = format!("{:04}-{:02}", date.year(), u8::from(date.month()));
            let month = Month::of(Timestamp::from_seconds(seconds));
            prop_assert_eq!(month.to_string(), expected.clone());
            let start = Timestamp::parse_rfc3339(&format!("{expected}-01T00:00:00Z")).unwrap();
            prop_assert_eq!(month.start(), start);
        }
    }
}
