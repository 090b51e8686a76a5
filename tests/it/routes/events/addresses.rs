//! `ip_address` and `not_ip_address`: addresses, networks and other texts.

use audit_tests::{Client, DatabaseKind, Organization, event_with, on_both_databases};
use serde_json::{Value, json};
use std::net::IpAddr;

const ADDRESSES: [&str; 12] = [
    "203.0.113.7",
    "203.0.113.8",
    "203.0.113.255",
    "203.0.112.1",
    "203.0.97.1",
    "198.51.100.7",
    "::ffff:203.0.113.7",
    "2001:db8::1",
    "2001:DB8:0:0:0:0:0:1",
    "2001:db8:1::1",
    "2001:db9::1",
    "gateway 7",
];

/// A project with an event from each of [`ADDRESSES`], and one without an address.
fn project_with_addresses(database: DatabaseKind) -> Client {
    let project = Organization::fresh(database).project();
    let from = |address: &&str| event_with(json!({"context": {"ip_address": address}}));
    let events = ADDRESSES.iter().map(from).chain([event_with(json!({}))]);
    project.store_all(events.collect());
    project
}

/// The addresses of the events that are found, as they are stored, in order. The feed and the summary find the same.
fn found(client: &Client, filter: &[(&str, &str)]) -> Vec<String> {
    let addresses = |events: &[Value]| {
        let address = |event: &Value| {
            event["context"]["ip_address"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let mut all: Vec<String> = events.iter().map(address).collect();
        all.sort();
        all
    };
    let filter = [filter, &[("tenant_id", "tenant-1")]].concat();
    let found = addresses(&client.find(&filter));
    let feed = client
        .get("/events/feed")
        .queries(&filter)
        .send()
        .expect_status(200);
    assert_eq!(addresses(&feed.list("events")), found, "{filter:?}");
    let summary = client
        .get("/events/summary")
        .queries(&filter)
        .send()
        .expect_status(200);
    assert_eq!(summary["total"], found.len(), "{filter:?}");
    found
}

on_both_databases! {
    a_network_finds_the_addresses_in_it,
    an_address_is_found_however_it_is_written,
    a_text_with_a_slash_that_is_no_network_is_refused,
    a_hidden_address_is_not_found_by_its_network,
    a_cursor_is_bound_to_the_network,
}

fn is_in(address: &str, (first, last): (&str, &str)) -> bool {
    let parsed = |text: &str| text.parse::<IpAddr>().ok().map(|address| address.to_canonical());
    let (address, first, last) = (parsed(address), parsed(first), parsed(last));
    address.is_some_and(|address| Some(address.is_ipv4()) == first.map(|first| first.is_ipv4()))
        && (first..=last).contains(&address)
}

fn a_network_finds_the_addresses_in_it(database: DatabaseKind) {
    let project = project_with_addresses(database);
    for (network, range, count) in [
        ("203.0.113.0/24", ("203.0.113.0", "203.0.113.255"), 4),
        ("203.0.113.77/24", ("203.0.113.0", "203.0.113.255"), 4),
        ("203.0.112.0/23", ("203.0.112.0", "203.0.113.255"), 5),
        ("203.0.96.0/19", ("203.0.96.0", "203.0.127.255"), 6),
        ("203.0.113.8/31", ("203.0.113.8", "203.0.113.9"), 1),
        ("0.0.0.0/0", ("0.0.0.0", "255.255.255.255"), 7),
        ("::ffff:203.0.113.0/120", ("203.0.113.0", "203.0.113.255"), 4),
        (
            "2001:db8::/32",
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
            3,
        ),
        (
            "2001:db8::/47",
            ("2001:db8::", "2001:db8:1:ffff:ffff:ffff:ffff:ffff"),
            3,
        ),
        (
            "2001:db8::/48",
            ("2001:db8::", "2001:db8:0:ffff:ffff:ffff:ffff:ffff"),
            2,
        ),
        ("10.0.0.0/8", ("10.0.0.0", "10.255.255.255"), 0),
    ] {
        let mut expected: Vec<String> = ADDRESSES
            .iter()
            .filter(|one| is_in(one, range))
            .map(|one| (*one).to_owned())
            .collect();
        expected.sort();
        assert_eq!(expected.len(), count, "{network}");
        assert_eq!(found(&project, &[("ip_address", network)]), expected, "{network}");
        let mut others: Vec<String> = ADDRESSES
            .iter()
            .filter(|one| !is_in(one, range))
            .map(|one| (*one).to_owned())
            .collect();
        others.push(String::new());
        others.sort();
        assert_eq!(
            found(&project, &[("not_ip_address", network)]),
            others,
            "{network}"
        );
    }
    let alternatives = [
        ("ip_address", "198.51.100.0/24"),
        ("ip_address", "2001:db9::1"),
        ("ip_address", "gateway 7"),
    ];
    assert_eq!(
        found(&project, &alternatives),
        ["198.51.100.7", "2001:db9::1", "gateway 7"]
    );
    let but_one = [
        ("ip_address", "203.0.113.0/24"),
        ("ip_address", "203.0.0.0/16"),
        ("not_ip_address", "203.0.113.7"),
    ];
    assert_eq!(
        found(&project, &but_one),
        ["203.0.112.1", "203.0.113.255", "203.0.113.8", "203.0.97.1"]
    );
}

fn an_address_is_found_however_it_is_written(database: DatabaseKind) {
    let project = project_with_addresses(database);
    for (one, all) in [
        ("203.0.113.7", &["203.0.113.7", "::ffff:203.0.113.7"][..]),
        ("::ffff:203.0.113.7", &["203.0.113.7", "::ffff:203.0.113.7"]),
        ("203.0.113.7/32", &["203.0.113.7", "::ffff:203.0.113.7"]),
        ("2001:0db8::0001", &["2001:DB8:0:0:0:0:0:1", "2001:db8::1"]),
        ("gateway 7", &["gateway 7"]),
        ("gateway", &[]),
        ("203.0.113", &[]),
    ] {
        assert_eq!(found(&project, &[("ip_address", one)]), all, "{one}");
    }
}

fn a_text_with_a_slash_that_is_no_network_is_refused(database: DatabaseKind) {
    let project = project_with_addresses(database);
    for path in ["/events", "/events/feed", "/events/summary", "/events/export"] {
        for name in ["ip_address", "not_ip_address"] {
            for text in [
                "203.0.113.0/33",
                "203.0.113/24",
                "203.0.113.0/",
                "2001:db8::/129",
                "a/b",
            ] {
                let response = project.get(path).query(name, text).send();
                response.expect_invalid(&[name]);
            }
        }
    }
}

fn a_hidden_address_is_not_found_by_its_network(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let event = event_with(json!({"context": {"ip_address": "203.0.113.7"}}));
    organization.project().store(event);
    let network = [("ip_address", "203.0.113.0/24")];
    assert_eq!(
        found(&organization.viewer("tenant-1", "full"), &network),
        ["203.0.113.7"]
    );
    let viewer = organization.viewer("tenant-1", "standard");
    assert_eq!(found(&viewer, &network), Vec::<String>::new());
    assert_eq!(
        found(&viewer, &[("not_ip_address", "198.51.100.0/24")]),
        Vec::<String>::new()
    );
}

fn a_cursor_is_bound_to_the_network(database: DatabaseKind) {
    let project = project_with_addresses(database);
    let first = project
        .get("/events")
        .query("ip_address", "203.0.113.0/24")
        .query("limit", "1")
        .send();
    let cursor = first.expect_status(200).text("cursor");
    let next = |network: &str| {
        let request = project
            .get("/events")
            .query("ip_address", network)
            .query("limit", "1");
        request.query("cursor", &cursor).send()
    };
    // The same network, written otherwise.
    assert_eq!(next("203.0.113.9/24").expect_status(200).list("events").len(), 1);
    next("203.0.113.0/25").expect_invalid(&["cursor"]);
    next("203.0.113.0").expect_invalid(&["cursor"]);
}
