//! The client address that the limits apply to.

use super::{TRUSTING, assert_limited};
use audit_tests::{Client, Database, DatabaseKind, Server, Stream, address, on_both_databases};

const ONE_A_MINUTE: (&str, &str) = ("AUDIT_STREAM_REQUESTS_PER_MINUTE", "1");

fn start(database: DatabaseKind, environment: &[(&str, &str)]) -> Server {
    Server::start(
        &Database::create(database),
        &[environment, &[ONE_A_MINUTE]].concat(),
    )
}

/// Whether a request with these headers is the first from its address.
fn is_first(server: &Server, forwarded_for: &[&str]) -> bool {
    let with = |client: Client, line: &&str| client.with_address(line);
    let client = forwarded_for.iter().fold(server.client(), with);
    let response = Stream::of(&client).info();
    if response.status() == 429 {
        assert_limited(response, "rate_limited", 1..=60);
        return false;
    }
    response.expect_error(404, "stream_not_found");
    true
}

on_both_databases! {
    forwarded_addresses_are_ignored_unless_configured,
    the_last_address_before_the_proxies_counts,
    another_proxy_s_word_is_not_taken,
    addresses_are_read_as_proxies_write_them,
    addresses_of_ipv6_are_counted_by_network,
}

fn forwarded_addresses_are_ignored_unless_configured(database: DatabaseKind) {
    let server = start(database, &[]);
    assert!(is_first(&server, &[]));
    for forwarded_for in [
        &[][..],
        &["198.51.100.1"],
        &["198.51.100.2, 127.0.0.1"],
        &["127.0.0.2"],
    ] {
        assert!(!is_first(&server, forwarded_for), "{forwarded_for:?}");
    }
}

fn another_proxy_s_word_is_not_taken(database: DatabaseKind) {
    let server = start(
        database,
        &[("AUDIT_TRUSTED_PROXIES", "10.0.0.0/8,127.0.0.2,fd00::/8")],
    );
    assert!(is_first(&server, &["198.51.100.1"]));
    assert!(!is_first(&server, &["198.51.100.2"]));
    let networks = start(database, &[("AUDIT_TRUSTED_PROXIES", "10.1.0.0/16,127.0.0.0/8")]);
    assert!(is_first(&networks, &["198.51.100.1, 10.1.2.3"]));
    assert!(!is_first(&networks, &["198.51.100.1"]));
    assert!(
        is_first(&networks, &["198.51.100.1, 10.2.2.3"]),
        "10.2.2.3 is not a trusted proxy"
    );
    assert!(!is_first(&networks, &["198.51.100.2, 10.2.2.3"]));
}

fn the_last_address_before_the_proxies_counts(database: DatabaseKind) {
    let server = start(database, &[("AUDIT_TRUSTED_PROXIES", "127.0.0.1,10.0.0.0/8")]);
    let [one, two, three] = [(); 3].map(|()| address());
    assert!(is_first(&server, &[&one]));
    // A client can forge every entry before the last untrusted one.
    let spoofed = [
        format!("{two}, {one}"),
        format!("10.0.0.9, {two}, {one}"),
        format!("{one}, 10.0.0.1"),
        format!("{two},{one},10.0.0.1 , 127.0.0.1"),
        format!("nonsense, {one}"),
    ];
    for line in &spoofed {
        assert!(!is_first(&server, &[line]), "{line}");
    }
    assert!(!is_first(&server, &[&two, &one]), "several headers form one list");
    assert!(!is_first(&server, &[&one, "10.0.0.1"]));
    assert!(is_first(&server, &[&two]), "no earlier request had this address");
    assert!(is_first(&server, &[&one, &three]));
    // A request of the proxy itself, and one forwarded by a second trusted proxy.
    assert!(is_first(&server, &[]));
    assert!(!is_first(&server, &[""]));
    assert!(!is_first(&server, &["nonsense"]), "an invalid address is ignored");
    assert!(is_first(&server, &["10.0.0.1"]));
    assert!(!is_first(&server, &["nonsense, 10.0.0.1"]));
}

fn addresses_are_read_as_proxies_write_them(database: DatabaseKind) {
    let server = start(database, &[TRUSTING]);
    let one = address();
    assert!(is_first(&server, &[&format!("{one}:4711")]));
    for line in [
        one.clone(),
        format!("  {one}\t"),
        format!("{one}:80"),
        format!("::ffff:{one}"),
    ] {
        assert!(!is_first(&server, &[&line]), "{line}");
    }
    assert!(is_first(&server, &["[2001:db8:9::1]:4711"]));
    for line in ["2001:db8:9::1", "[2001:db8:9::1]", "2001:DB8:9:0::2"] {
        assert!(!is_first(&server, &[line]), "{line}");
    }
}

fn addresses_of_ipv6_are_counted_by_network(database: DatabaseKind) {
    let server = start(database, &[TRUSTING]);
    assert!(is_first(&server, &["2001:db8:0:1::1"]));
    for line in [
        "2001:db8:0:1::2",
        "2001:db8:0:1:ffff:ffff:ffff:ffff",
        "2001:db8:0:1::",
    ] {
        assert!(!is_first(&server, &[line]), "{line}");
    }
    for line in [
        "2001:db8:0:2::1",
        "2001:db8:0:0::1",
        "2001:db8:1:1::1",
        "2001:db9:0:1::1",
    ] {
        assert!(is_first(&server, &[line]), "{line}");
    }
    let [one, other] = ["203.0.113.1", "203.0.113.2"];
    assert!(is_first(&server, &[one]));
    assert!(
        is_first(&server, &[other]),
        "each IPv4 address is counted separately"
    );
}
