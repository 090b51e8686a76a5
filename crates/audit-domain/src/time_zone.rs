//! Time zones: how far their clocks differ from UTC, and since when.

use crate::Timestamp;
use std::sync::Arc;

/// A time zone: its offsets from UTC, each from an instant on.
///
/// The names of zones and their rules are not here, so that programs which need none do not carry the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeZone {
    /// Seconds east of UTC before the first change.
    first: i64,
    /// The instants from which on another offset holds, ascending, each with the offset.
    changes: Arc<[(Timestamp, i64)]>,
}

impl TimeZone {
    /// UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self::fixed(0)
    }

    /// The same number of seconds east of UTC at all times.
    #[must_use]
    pub fn fixed(offset_seconds: i64) -> Self {
        Self::new(offset_seconds, [])
    }

    /// So many seconds east of UTC, and others from instants on, which ascend.
    #[must_use]
    pub fn new(first: i64, changes: impl IntoIterator<Item = (Timestamp, i64)>) -> Self {
        let mut present = first;
        let changes = changes.into_iter().filter(|(_, offset)| {
            let is_change = *offset != present;
            present = *offset;
            is_change
        });
        Self {
            first,
            changes: changes.collect(),
        }
    }

    /// Whether the offset is always zero.
    #[must_use]
    pub fn is_utc(&self) -> bool {
        self.first == 0 && self.changes.is_empty()
    }

    /// Seconds east of UTC at a time.
    #[must_use]
    pub fn offset_seconds(&self, time: Timestamp) -> i64 {
        self.offset_after(self.changes.partition_point(|(since, _)| *since <= time))
    }

    /// The offset after so many changes.
    fn offset_after(&self, count: usize) -> i64 {
        count
            .checked_sub(1)
            .map_or(self.first, |last| self.changes[last].1)
    }

    /// What the clocks of the zone show at a time: the instant at which those of UTC show the same.
    #[must_use]
    pub fn reading(&self, time: Timestamp) -> Timestamp {
        time.plus_seconds(self.offset_seconds(time))
    }

    /// The first instant at which the clocks of the zone show this reading or a later one: the first of two when they are put back, and
    /// the instant of the change when they are put forward past it.
    #[must_use]
    pub fn first_at(&self, reading: Timestamp) -> Timestamp {
        // No clock has ever been a day ahead of UTC, so none showed the reading a day before UTC does.
        let too_early = reading.plus_seconds(-86_400);
        let mut passed = self.changes.partition_point(|(since, _)| *since <= too_early);
        loop {
            let exact = reading.plus_seconds(-self.offset_after(passed));
            let since = passed.checked_sub(1).map(|last| self.changes[last].0);
            let instant = since.map_or(exact, |since| since.max(exact));
            match self.changes.get(passed) {
                Some((until, _)) if *until <= instant => passed += 1,
                _ => return instant,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    /// Berlin in 2026.
    fn berlin() -> TimeZone {
        let summer = (at("2026-03-29T01:00:00Z"), 7_200);
        let winter = (at("2026-10-25T01:00:00Z"), 3_600);
        TimeZone::new(3_600, [(at("2026-01-01T00:00:00Z"), 3_600), summer, winter])
    }

    #[test]
    fn an_offset_holds_from_the_instant_of_its_change() {
        let zone = berlin();
        for (time, reading) in [
            ("1700-01-01T00:00:00Z", "1700-01-01T01:00:00Z"),
            ("2026-03-29T00:59:59.999Z", "2026-03-29T01:59:59.999Z"),
            ("2026-03-29T01:00:00Z", "2026-03-29T03:00:00Z"),
            ("2026-10-25T00:59:59.999Z", "2026-10-25T02:59:59.999Z"),
            ("2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"),
        ] {
            assert_eq!(zone.reading(at(time)), at(reading), "{time}");
        }
        assert!(!zone.is_utc() && TimeZone::utc().is_utc() && TimeZone::fixed(0).is_utc());
        assert_eq!(zone.changes.len(), 2, "what changes nothing is no change");
    }

    #[test]
    fn a_reading_begins_at_its_first_instant() {
        let zone = berlin();
        for (reading, instant) in [
            ("2026-01-15T00:00:00Z", "2026-01-14T23:00:00Z"),
            // Not shown: 02:00 is followed by 03:00.
            ("2026-03-29T02:30:00Z", "2026-03-29T01:00:00Z"),
            ("2026-03-29T03:00:00Z", "2026-03-29T01:00:00Z"),
            // Shown twice.
            ("2026-10-25T02:30:00Z", "2026-10-25T00:30:00Z"),
            ("2026-10-25T03:00:00Z", "2026-10-25T02:00:00Z"),
        ] {
            assert_eq!(zone.first_at(at(reading)), at(instant), "{reading}");
        }
        let far = TimeZone::fixed(-14 * 3_600);
        assert_eq!(
            far.first_at(at("2026-01-15T00:00:00Z")),
            at("2026-01-15T14:00:00Z")
        );
    }
}
