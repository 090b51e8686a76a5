//! Headers and parameters of requests.

use crate::{seeds, text};
use audit_admission::{TrustedProxies, subscriber};
use audit_domain::{Bound, Buckets, Interval, TimeZone, Timestamp};
use std::net::IpAddr;

/// What the last proxy appends: an address that is no proxy's.
const APPENDED: &str = "198.51.100.7";
const FORGED: &str = "203.0.113.66";

/// The lines of `X-Forwarded-For`, one for each line of the input: only what trusted proxies wrote is believed.
pub fn forwarded_for(bytes: &[u8]) -> bool {
    let networks = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().expect("a network"));
    let proxies = TrustedProxies::new(networks.to_vec(), false);
    let address = |text: &str| text.parse::<IpAddr>().expect("an address");
    let (proxy, stranger) = (Some(address("10.0.0.1")), Some(address("192.0.2.1")));
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let client = |peer, lines: &[&[u8]]| proxies.client(peer, lines.iter().copied());

    assert_eq!(
        client(stranger, &lines),
        stranger,
        "a peer that is no proxy is the client"
    );
    let found = client(proxy, &lines);
    if !proxies.trust(found) {
        // A client may send anything before what the proxies append: in a line of its own, or in the same one.
        let before = [&[FORGED.as_bytes()], lines.as_slice()].concat();
        assert_eq!(client(proxy, &before), found);
        let line = [FORGED.as_bytes(), b", ", lines[0]].concat();
        assert_eq!(client(proxy, &[&[line.as_slice()], &lines[1..]].concat()), found);
    }
    let last = lines.last().copied().unwrap_or_default();
    let last = [last, b", ", APPENDED.as_bytes()].concat();
    let appended = [&lines[..lines.len() - 1], &[&last]].concat();
    assert_eq!(client(proxy, &appended), Some(address(APPENDED)));
    let owner = found.map(subscriber);
    assert_eq!(owner.map(subscriber), owner);
    found != proxy
}

/// Inputs of [`forwarded_for`].
pub fn forwarded_for_seeds() -> Vec<Vec<u8>> {
    let mut inputs = seeds(&[
        "198.51.100.1",
        "1.1.1.1, 198.51.100.1, 10.0.0.2",
        "1.1.1.1\n[2001:db8::1]:4711, fd00::2\n::ffff:10.0.0.3",
        "nonsense, 198.51.100.1:80 ",
    ]);
    inputs.push(b"1.1.1.1\n\xe9, 198.51.100.1".to_vec());
    inputs
}

/// UTC; Berlin and Lord Howe, whose clocks are changed by half an hour, in 2026; St. John's in 2010, where they were put back across midnight.
fn zones() -> [TimeZone; 4] {
    let zone = |first, changes: [(i64, i64); 2]| {
        TimeZone::new(
            first,
            changes.map(|(since, offset)| (Timestamp::from_seconds(since), offset)),
        )
    };
    [
        TimeZone::utc(),
        zone(3_600, [(1_774_746_000, 7_200), (1_792_890_000, 3_600)]),
        zone(39_600, [(1_775_314_800, 37_800), (1_791_041_400, 39_600)]),
        zone(-12_600, [(1_268_537_460, -9_000), (1_289_097_060, -12_600)]),
    ]
}

/// Parameters of a summary, one in each line: an interval, or another text for none, `start_date` and `end_date`. In each zone the buckets
/// are consecutive, begin where their interval does, and have both ends.
pub fn summary(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let mut lines = text.lines();
    let mut line = || lines.next().unwrap_or_default();
    let interval: Option<Interval> = line().parse().ok();
    let first = Timestamp::parse_bound(line(), Bound::Start);
    let last = Timestamp::parse_bound(line(), Bound::End);
    let (Ok(first), Ok(last)) = (first, last) else {
        return false;
    };
    let checked = zones().map(|zone| check_buckets(interval, first, last, &zone));
    checked.contains(&true)
}

fn check_buckets(interval: Option<Interval>, first: Timestamp, last: Timestamp, zone: &TimeZone) -> bool {
    let Ok(buckets) = Buckets::between(interval, first, last, zone) else {
        return false;
    };
    assert!(buckets.starts.len() <= audit_domain::BUCKETS_MAX);
    assert!(interval.is_none_or(|interval| interval == buckets.interval));
    let start_of = |time| buckets.interval.start_of(time, zone);
    for pair in buckets.starts.windows(2) {
        let before = Timestamp::from_micros(pair[1].as_micros() - 1);
        assert_eq!((start_of(pair[1]), start_of(before)), (pair[1], pair[0]));
    }
    // West of Greenwich the first day of the calendar begins later than the first time that events can have.
    let earliest = zone.first_at(Timestamp::MIN).max(Timestamp::MIN);
    if first <= last {
        let ends = [first, last].map(|end| Some(start_of(end.max(earliest))));
        assert_eq!(
            [buckets.starts.first(), buckets.starts.last()].map(Option::<&_>::copied),
            ends
        );
    } else {
        assert!(buckets.starts.len() <= 1, "{first} {last}");
    }
    true
}

/// Inputs of [`summary`].
pub fn summary_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        "day\n2026-01-15\n2026-02-15",
        "week\n2026-01-01\n2026-01-15T10:30:00+01:00",
        "\n2020-01-01T00:00:00Z\n2026-12-31",
        "month\n0000-01-01\n0080-01-01",
        "hour\n2026-10-24\n2026-10-26",
        "minute\n2026-10-03T15:00:00Z\n2026-10-03T17:00:00Z",
        "hour\n2026-04-04\n2026-04-05",
        "day\n2026-03-28\n2026-10-26",
        "day\n2010-11-07T03:00:00Z\n2010-11-08",
        "hour\n2010-11-06\n2010-11-08",
        "\n2010-11-07T03:00:00Z\n2010-11-30",
        "hour\n1700-01-01\n1700-01-02",
        "minute\n9999-12-31T23:00:00Z\n9999-12-31T23:59:59.999999Z",
    ])
}
