//! Time zones by their names in the IANA time zone database. A release of it is compiled in, and no file of the machine is read: every node
//! of one version knows the same zones.

use audit_domain::{Fields, TimeZone, Timestamp};
use jiff::tz::TimeZoneDatabase;

/// The parameter that names a time zone.
pub(crate) const TIME_ZONE: &str = "time_zone";

/// Reads the time zone that the parameter names, if there is one.
pub(crate) fn read_time_zone(fields: &mut Fields<'_>) -> Option<TimeZone> {
    let name = fields.optional_text(TIME_ZONE, 0, usize::MAX)?;
    match named(&name) {
        Some(zone) => Some(zone),
        None => fields.violate(
            TIME_ZONE,
            "must be the name of a time zone in the IANA database, such as Europe/Berlin",
        ),
    }
}

/// The zone with this name, with its changes in the years that events can have.
fn named(name: &str) -> Option<TimeZone> {
    let zone = TimeZoneDatabase::bundled().get(name).ok()?;
    let [first, end] =
        [Timestamp::MIN, Timestamp::MAX].map(|time| jiff::Timestamp::from_second(time.as_seconds()));
    let (first, end) = (first.ok()?, end.ok()?);
    let changes = zone
        .following(first)
        .take_while(|change| change.timestamp() < end);
    let changes = changes.map(|change| {
        let since = Timestamp::from_seconds(change.timestamp().as_second());
        (since, i64::from(change.offset().seconds()))
    });
    Some(TimeZone::new(i64::from(zone.to_offset(first).seconds()), changes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(zone: &TimeZone, time: &str) -> i64 {
        zone.offset_seconds(Timestamp::parse_rfc3339(time).unwrap())
    }

    #[test]
    fn a_zone_has_the_offsets_of_its_whole_history_and_of_its_rule() {
        let berlin = named("Europe/Berlin").unwrap();
        for (time, seconds) in [
            ("1700-01-01T00:00:00Z", 3_208),
            ("1945-06-01T00:00:00Z", 10_800),
            ("2026-03-29T00:59:59Z", 3_600),
            ("2026-03-29T01:00:00Z", 7_200),
            ("2026-10-25T01:00:00Z", 3_600),
            ("2239-07-01T00:00:00Z", 7_200),
        ] {
            assert_eq!(offset(&berlin, time), seconds, "{time}");
        }
        assert_eq!(
            offset(&named("Asia/Kolkata").unwrap(), "2026-07-01T00:00:00Z"),
            19_800
        );
    }

    #[test]
    fn names_are_those_of_the_database_in_any_case() {
        for (name, other) in [
            ("europe/BERLIN", "Europe/Berlin"),
            ("US/Pacific", "America/Los_Angeles"),
        ] {
            assert_eq!(named(name), named(other));
            assert!(named(name).is_some(), "{name}");
        }
        // The last is what a browser says that does not know its zone.
        for name in ["UTC", "Etc/UTC", "Etc/Unknown"] {
            assert!(named(name).unwrap().is_utc(), "{name}");
        }
        for name in [
            "",
            "Berlin",
            "Europe/Bonn",
            "+02:00",
            "CEST",
            "../etc/localtime",
            "/usr/share/zoneinfo/UTC",
        ] {
            assert_eq!(named(name), None, "{name}");
        }
    }
}
