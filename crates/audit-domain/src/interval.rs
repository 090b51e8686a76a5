//! Intervals of time, by which events are counted.

use crate::{Month, TimeZone, Timestamp, words};

words! {
    /// The length of the buckets in which events are counted. Buckets begin at whole minutes, hours, days, Mondays and months
    /// of a time zone.
    pub enum Interval {
        /// 60 seconds.
        Minute = "minute",
        /// 60 minutes.
        Hour = "hour",
        /// From midnight to midnight: 23 or 25 hours where clocks are changed.
        Day = "day",
        /// From Monday to Sunday, as in ISO 8601.
        Week = "week",
        /// A calendar month.
        Month = "month",
    }
}

/// The most buckets of a response.
pub const BUCKETS_MAX: usize = 1_000;
/// The most buckets of an interval that is chosen by the range of time.
const CHOSEN_BUCKETS_MAX: usize = 120;

const MICROS_PER_MINUTE: i64 = 60 * Timestamp::MICROS_PER_SECOND;
const DAYS_PER_WEEK: i64 = 7;
/// 1970-01-01 is a Thursday.
const DAYS_SINCE_MONDAY_OF_1970: i64 = 3;

/// The range of time has more than [`BUCKETS_MAX`] buckets of the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "has more than {BUCKETS_MAX} buckets in this range of time; give a longer interval, or start_date and end_date closer together"
)]
pub struct TooManyBuckets;

/// Consecutive buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    /// Their length.
    pub interval: Interval,
    /// The start of each, ascending.
    pub starts: Vec<Timestamp>,
}

impl Interval {
    /// The start of the calendar's minute, hour, day, week or month that has this reading of a clock.
    const fn floor(self, reading: Timestamp) -> Timestamp {
        let day = reading.utc_day();
        match self {
            Self::Minute => multiple_of(MICROS_PER_MINUTE, reading),
            Self::Hour => multiple_of(60 * MICROS_PER_MINUTE, reading),
            Self::Day => first_of_day(day),
            Self::Week => first_of_day(day - (day + DAYS_SINCE_MONDAY_OF_1970).rem_euclid(DAYS_PER_WEEK)),
            Self::Month => Month::of(reading).start(),
        }
    }

    /// The calendar's start after this one.
    const fn following(self, start: Timestamp) -> Timestamp {
        let micros = start.as_micros();
        Timestamp::from_micros(match self {
            Self::Minute => micros + MICROS_PER_MINUTE,
            Self::Hour => micros + 60 * MICROS_PER_MINUTE,
            Self::Day => micros + Timestamp::MICROS_PER_DAY,
            Self::Week => micros + DAYS_PER_WEEK * Timestamp::MICROS_PER_DAY,
            Self::Month => return Month::of(start).plus(1).start(),
        })
    }

    /// The start of the bucket that has this time.
    #[must_use]
    pub fn start_of(self, time: Timestamp, zone: &TimeZone) -> Timestamp {
        match self {
            Self::Minute | Self::Hour => {
                let start = self.whole_before(time, zone);
                // Before a change of the clocks it may be none.
                self.whole_before(start, zone)
            }
            Self::Day | Self::Week | Self::Month => {
                let start = zone.first_at(self.floor(zone.reading(time)));
                // Clocks that were put back across midnight show the end of a day again after the next one has begun.
                let next = self.after(start, zone);
                if next <= time { next } else { start }
            }
        }
    }

    /// The last instant at which the clocks showed a whole minute or hour, if they were not changed since.
    fn whole_before(self, time: Timestamp, zone: &TimeZone) -> Timestamp {
        let reading = zone.reading(time);
        let past = reading.as_micros() - self.floor(reading).as_micros();
        Timestamp::from_micros(time.as_micros() - past)
    }

    /// The start of the bucket after the one that starts at this time.
    ///
    /// An hour that the clocks show twice is two buckets. Where they are changed by a part of an hour, a bucket goes on until they show a
    /// whole hour.
    fn after(self, start: Timestamp, zone: &TimeZone) -> Timestamp {
        let is_whole = |time| self.whole_before(time, zone) == time;
        match self {
            Self::Minute | Self::Hour => {
                let next = self.following(start);
                let before = self.whole_before(next, zone);
                match before > start && is_whole(before) {
                    true => before,
                    false => self.following(before),
                }
            }
            Self::Day | Self::Week | Self::Month => {
                zone.first_at(self.following(self.floor(zone.reading(start))))
            }
        }
    }

    /// The starts of the buckets from the one of `first` to the one of `last`; `None` if there are more than `buckets_max`.
    fn starts(
        self,
        first: Timestamp,
        last: Timestamp,
        zone: &TimeZone,
        buckets_max: usize,
    ) -> Option<Vec<Timestamp>> {
        let mut starts = Vec::new();
        let mut start = self.start_of(first, zone);
        while start <= last {
            if starts.len() == buckets_max {
                return None;
            }
            starts.push(start);
            start = self.after(start, zone);
        }
        Some(starts)
    }
}

const fn multiple_of(micros: i64, time: Timestamp) -> Timestamp {
    Timestamp::from_micros(time.as_micros().div_euclid(micros) * micros)
}

const fn first_of_day(day: i64) -> Timestamp {
    Timestamp::from_micros(day * Timestamp::MICROS_PER_DAY)
}

impl Buckets {
    /// No bucket.
    #[must_use]
    pub const fn none(interval: Option<Interval>) -> Self {
        let interval = match interval {
            Some(interval) => interval,
            None => Interval::Day,
        };
        Self {
            interval,
            starts: Vec::new(),
        }
    }

    /// The buckets from `first` to `last`, both within the times that events can have: of this interval of the zone, or of the shortest
    /// one that has at most 120 of them.
    ///
    /// # Errors
    /// When there are more than [`BUCKETS_MAX`].
    pub fn between(
        interval: Option<Interval>,
        first: Timestamp,
        last: Timestamp,
        zone: &TimeZone,
    ) -> Result<Self, TooManyBuckets> {
        // The first day of the calendar begins later west of Greenwich.
        let earliest = zone.first_at(Timestamp::MIN).max(Timestamp::MIN);
        let latest = Timestamp::from_micros(Timestamp::MAX.as_micros() - 1);
        let within = |time: Timestamp| time.clamp(earliest, latest);
        let (first, last) = (within(first), within(last));
        if let Some(interval) = interval {
            let starts = interval
                .starts(first, last, zone, BUCKETS_MAX)
                .ok_or(TooManyBuckets)?;
            return Ok(Self { interval, starts });
        }
        let short = Interval::ALL.iter().find_map(|interval| {
            let starts = interval.starts(first, last, zone, CHOSEN_BUCKETS_MAX)?;
            Some(Self {
                interval: *interval,
                starts,
            })
        });
        short.map_or_else(|| Self::between(Some(Interval::Month), first, last, zone), Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    fn starts(interval: Option<Interval>, first: &str, last: &str) -> (Interval, Vec<String>) {
        starts_in(&TimeZone::utc(), interval, first, last)
    }

    fn starts_in(
        zone: &TimeZone,
        interval: Option<Interval>,
        first: &str,
        last: &str,
    ) -> (Interval, Vec<String>) {
        let buckets = Buckets::between(interval, at(first), at(last), zone).unwrap();
        let starts = buckets.starts.iter().map(ToString::to_string);
        (buckets.interval, starts.collect())
    }

    #[test]
    fn buckets_begin_where_the_calendar_does() {
        let time = at("2026-02-18T13:47:31.250Z"); // A Wednesday.
        let expected = [
            (Interval::Minute, "2026-02-18T13:47:00.000Z"),
            (Interval::Hour, "2026-02-18T13:00:00.000Z"),
            (Interval::Day, "2026-02-18T00:00:00.000Z"),
            (Interval::Week, "2026-02-16T00:00:00.000Z"),
            (Interval::Month, "2026-02-01T00:00:00.000Z"),
        ];
        for (interval, start) in expected {
            assert_eq!(
                interval.start_of(time, &TimeZone::utc()),
                at(start),
                "{interval:?}"
            );
            assert_eq!(
                interval.start_of(at(start), &TimeZone::utc()),
                at(start),
                "{interval:?}"
            );
        }
        assert_eq!(
            Interval::Week.start_of(at("1969-12-28T23:59:59Z"), &TimeZone::utc()),
            at("1969-12-22T00:00:00Z")
        );
    }

    #[test]
    fn buckets_are_consecutive_and_have_both_ends() {
        let (_, months) = starts(
            Some(Interval::Month),
            "2023-12-31T23:59:59Z",
            "2024-03-01T00:00:00Z",
        );
        assert_eq!(
            months,
            ["2023-12-01", "2024-01-01", "2024-02-01", "2024-03-01"]
                .map(|day| format!("{day}T00:00:00.000Z"))
        );
        let (_, one) = starts(
            Some(Interval::Week),
            "2026-02-16T00:00:00Z",
            "2026-02-22T23:59:59Z",
        );
        assert_eq!(one, ["2026-02-16T00:00:00.000Z"]);
        let reversed = Buckets::between(
            None,
            at("2026-02-17T00:00:00Z"),
            at("2026-02-16T00:00:00Z"),
            &TimeZone::utc(),
        );
        assert_eq!(reversed.unwrap().starts, []);
    }

    #[test]
    fn the_interval_follows_the_range() {
        let of = |first: &str, last: &str| starts(None, first, last).0;
        assert_eq!(
            of("2026-02-16T10:00:00Z", "2026-02-16T11:59:59Z"),
            Interval::Minute
        );
        assert_eq!(of("2026-02-16T10:00:00Z", "2026-02-16T12:00:00Z"), Interval::Hour);
        assert_eq!(of("2026-02-16T00:00:00Z", "2026-03-16T00:00:00Z"), Interval::Day);
        assert_eq!(of("2025-01-01T00:00:00Z", "2026-03-16T00:00:00Z"), Interval::Week);
        assert_eq!(
            of("2020-01-01T00:00:00Z", "2026-03-16T00:00:00Z"),
            Interval::Month
        );
        // More than 120 of the longest interval.
        let (interval, months) = starts(None, "2000-01-01T00:00:00Z", "2026-03-16T00:00:00Z");
        assert_eq!((interval, months.len()), (Interval::Month, 315));
    }

    /// Berlin in 2026.
    fn berlin() -> TimeZone {
        let summer = (at("2026-03-29T01:00:00Z"), 7_200);
        TimeZone::new(3_600, [summer, (at("2026-10-25T01:00:00Z"), 3_600)])
    }

    #[test]
    fn days_are_those_of_the_zone_and_have_23_to_25_hours() {
        for (first, last, expected) in [
            (
                "2026-03-28T23:00:00Z",
                "2026-03-29T22:00:00Z",
                ["2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"],
            ),
            (
                "2026-10-25T22:59:59Z",
                "2026-10-25T23:00:00Z",
                ["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"],
            ),
        ] {
            let (_, days) = starts_in(&berlin(), Some(Interval::Day), first, last);
            assert_eq!(days, expected);
        }
        let of = |interval| {
            starts_in(
                &berlin(),
                Some(interval),
                "2026-10-25T12:00:00Z",
                "2026-10-31T23:00:00Z",
            )
            .1
        };
        assert_eq!(
            of(Interval::Week),
            ["2026-10-18T22:00:00.000Z", "2026-10-25T23:00:00.000Z"]
        );
        assert_eq!(
            of(Interval::Month),
            ["2026-09-30T22:00:00.000Z", "2026-10-31T23:00:00.000Z"]
        );
    }

    #[test]
    fn an_hour_that_clocks_show_twice_is_two_buckets() {
        let hours = |first, last| starts_in(&berlin(), Some(Interval::Hour), first, last).1;
        let expected =
            ["2026-10-25T00", "2026-10-25T01", "2026-10-25T02"].map(|hour| format!("{hour}:00:00.000Z"));
        assert_eq!(hours("2026-10-25T00:59:00Z", "2026-10-25T02:00:00Z"), expected);
        // 02:00 is not shown in spring.
        let expected = ["2026-03-29T00", "2026-03-29T01"].map(|hour| format!("{hour}:00:00.000Z"));
        assert_eq!(hours("2026-03-29T00:59:00Z", "2026-03-29T01:59:00Z"), expected);
    }

    #[test]
    fn hours_are_whole_where_the_offset_is_none() {
        // India; then Lord Howe, whose clocks are changed by half an hour at 02:00.
        let india = TimeZone::fixed(19_800);
        let (_, hours) = starts_in(
            &india,
            Some(Interval::Hour),
            "2026-01-15T10:00:00Z",
            "2026-01-15T10:30:00Z",
        );
        assert_eq!(hours, ["2026-01-15T09:30:00.000Z", "2026-01-15T10:30:00.000Z"]);
        let spring = TimeZone::new(37_800, [(at("2026-10-03T15:30:00Z"), 39_600)]);
        let (_, hours) = starts_in(
            &spring,
            Some(Interval::Hour),
            "2026-10-03T15:40:00Z",
            "2026-10-03T16:00:00Z",
        );
        assert_eq!(hours, ["2026-10-03T14:30:00.000Z", "2026-10-03T16:00:00.000Z"]);
        let autumn = TimeZone::new(39_600, [(at("2026-04-04T15:00:00Z"), 37_800)]);
        let (_, hours) = starts_in(
            &autumn,
            Some(Interval::Hour),
            "2026-04-04T14:00:00Z",
            "2026-04-04T15:30:00Z",
        );
        assert_eq!(hours, ["2026-04-04T14:00:00.000Z", "2026-04-04T15:30:00.000Z"]);
    }

    #[test]
    fn a_day_that_a_zone_leaves_out_is_no_bucket() {
        // Samoa went from 29 to 31 December.
        let samoa = TimeZone::new(-36_000, [(at("2011-12-30T10:00:00Z"), 50_400)]);
        let (_, days) = starts_in(
            &samoa,
            Some(Interval::Day),
            "2011-12-29T12:00:00Z",
            "2011-12-31T10:00:00Z",
        );
        assert_eq!(
            days,
            ["2011-12-29T10", "2011-12-30T10", "2011-12-31T10"].map(|hour| format!("{hour}:00:00.000Z"))
        );
    }

    #[test]
    fn a_day_that_has_begun_goes_on_when_clocks_are_put_back_across_midnight() {
        // St. John's, Newfoundland: from 00:01 to 23:01.
        let st_johns = TimeZone::new(-9_000, [(at("2010-11-07T02:31:00Z"), -12_600)]);
        for first in [
            "2010-11-07T02:30:00Z",
            "2010-11-07T03:00:00Z",
            "2010-11-07T03:30:00Z",
        ] {
            let (_, days) = starts_in(&st_johns, Some(Interval::Day), first, "2010-11-08T03:30:00Z");
            let expected = ["2010-11-07T02:30:00.000Z", "2010-11-08T03:30:00.000Z"];
            assert_eq!(days, expected, "{first}");
        }
        let (_, day) = starts_in(
            &st_johns,
            Some(Interval::Day),
            "2010-11-07T02:29:59Z",
            "2010-11-07T03:00:00Z",
        );
        assert_eq!(day, ["2010-11-06T02:30:00.000Z", "2010-11-07T02:30:00.000Z"]);
    }

    #[test]
    fn there_are_at_most_1000_buckets() {
        let minutes = |count: i64| {
            let last = Timestamp::from_micros((count - 1) * MICROS_PER_MINUTE);
            Buckets::between(
                Some(Interval::Minute),
                Timestamp::from_seconds(0),
                last,
                &TimeZone::utc(),
            )
        };
        assert_eq!(minutes(1_000).unwrap().starts.len(), BUCKETS_MAX);
        assert_eq!(minutes(1_001), Err(TooManyBuckets));
        let everything = Buckets::between(
            None,
            Timestamp::from_micros(i64::MIN),
            Timestamp::MAX,
            &TimeZone::utc(),
        );
        assert_eq!(everything, Err(TooManyBuckets));
    }
}
