//! Addresses that a server may deliver to: none in its own network, unless the operator allows it.

use super::attempts;
use audit_tests::{
    Database, DatabaseKind, Organization, Receiver, Response, Server, Subscription, on_both_databases,
    serve_refused, temporary_directory, webhook_environment,
};
use serde_json::{Value, json};

/// Loopback, private, link-local, multicast and other special addresses, in every notation that some parser accepts.
const REFUSED_HOSTS: &[&str] = &[
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1%2e",
    "%31%32%37.0.0.1",
    "１２７.0.0.1",
    "127。0。0。1",
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[100::1]",
    "[2001:db8::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
];

fn post_url(organization: &Organization, url: &str) -> Response {
    let request = organization.master().post("/alerts/webhooks");
    request.json(json!({"url": url})).send()
}

/// A server that trusts the authority of the receivers but may not reach them.
fn start_strict(database: &Database) -> Server {
    let [_, authority] = webhook_environment();
    Server::start(database, &[authority])
}

#[test]
fn an_address_within_the_network_is_refused_in_every_spelling() {
    let receiver = Receiver::start();
    let server = start_strict(&Database::create(DatabaseKind::Sqlite));
    let organization = Organization::create(&server, "enterprise");
    let webhook = organization.create_webhook("https://example.com/");
    let path = format!("/alerts/webhooks/{}", webhook["id"].as_str().expect("an id"));
    for host in REFUSED_HOSTS {
        let url = receiver.url_on(host, "/hook");
        let response = post_url(&organization, &url);
        assert_eq!(response.status(), 400, "{url}: {response:?}");
        response.expect_invalid(&["url"]);
        let change = organization.master().patch(&path).json(json!({"url": url}));
        change.send().expect_invalid(&["url"]);
    }
    for host in ["1.1.1.1", "172.32.0.1", "[2606:4700:4700::1111]"] {
        let url = format!("https://{host}/hook");
        post_url(&organization, &url).expect_status(201);
    }
    assert_eq!(receiver.connections(), 0);
}

/// A host name may resolve to another address at any time, so every attempt checks the address.
#[test]
fn a_name_that_resolves_to_an_address_within_the_network_is_never_connected_to() {
    let receiver = Receiver::start();
    let server = start_strict(&Database::create(DatabaseKind::Sqlite));
    let organization = Organization::create(&server, "enterprise");
    for host in ["localhost", "LOCALHOST", "localhost.", "ip6-localhost"] {
        let response = post_url(&organization, &receiver.url_on(host, "/hook"));
        if response.status() == 400 {
            response.expect_invalid(&["url"]);
            continue;
        }
        let webhook = response.expect_status(201)["webhook"].clone();
        organization.master().test_webhook(&webhook);
        let failed = organization.master().wait_for_status(&webhook, "failed");
        let attempt: &Value = &attempts(&failed)[0];
        assert_eq!(attempt["status_code"], json!(null), "{host}");
        // Only `localhost` resolves on every machine.
        if host.eq_ignore_ascii_case("localhost") {
            assert_eq!(attempt["error"], "address_not_allowed", "{host}");
        }
    }
    assert_eq!(receiver.connections(), 0);
}

on_both_databases! {
    what_was_allowed_before_is_checked_again_in_every_attempt,
}

fn what_was_allowed_before_is_checked_again_in_every_attempt(database: DatabaseKind) {
    let database = Database::create(database);
    let server = Server::start(&database, &webhook_environment());
    let subscription = Subscription::on(&server);
    server.stop().success();
    let server = start_strict(&database);
    let subscription = subscription.moved_to(&server);
    subscription.organization.raise_alert();
    let pending = subscription.wait_for_attempts(1);
    assert_eq!(attempts(&pending)[0]["error"], "address_not_allowed");
    assert_eq!(pending["status"], "pending");
    assert_eq!(subscription.receiver.connections(), 0);
    let listed = subscription.master.get("/alerts/webhooks").send();
    let listed = listed.expect_status(200).list("webhooks");
    assert_eq!(
        listed[0]["url"], subscription.webhook["url"],
        "the webhook is still listed"
    );
}

#[test]
fn a_receiver_with_an_unknown_authority_gets_no_request() {
    let [private, _] = webhook_environment();
    let server = Server::start(&Database::create(DatabaseKind::Sqlite), &[private]);
    let subscription = Subscription::on(&server);
    subscription.organization.raise_alert();
    let pending = subscription.wait_for_attempts(1);
    assert_eq!(attempts(&pending)[0]["error"], "tls_failed");
    assert_eq!(subscription.receiver.connections(), 1);
    assert_eq!(subscription.receiver.received(Subscription::PATH).len(), 0);
}

/// A proxy would resolve host names itself, so that the server could not check the address.
#[test]
fn a_proxy_named_by_the_environment_is_not_asked() {
    let trap = Receiver::start();
    let proxy = trap.url("").replace("https://", "http://");
    let names = [
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ];
    let mut environment = names.map(|name| (name, proxy.as_str())).to_vec();
    environment.extend([("no_proxy", ""), ("NO_PROXY", "")]);
    environment.extend(webhook_environment());
    let server = Server::start(&Database::create(DatabaseKind::Sqlite), &environment);
    let subscription = Subscription::on(&server);
    subscription.organization.raise_alert();
    subscription.wait_for(1);
    subscription.wait_for_status("delivered");
    assert_eq!(trap.connections(), 0);
}

#[test]
fn certificates_that_cannot_be_used_are_said_clearly() {
    let database = Database::create(DatabaseKind::Sqlite);
    let directory = temporary_directory("certificates-");
    let not_pem = directory.join("not.pem");
    std::fs::write(&not_pem, "no certificate").expect("write a file");
    for path in [not_pem, directory.join("missing.pem")] {
        let path = path.to_str().expect("a path in UTF-8");
        let refusal = serve_refused(&database, &[("AUDIT_WEBHOOK_CA_FILE", path)]);
        assert_eq!(refusal.lines().count(), 1, "one clear line: {refusal}");
        let is_named = refusal.contains(path) || refusal.contains("--webhook-ca-file");
        assert!(is_named, "the error names the invalid setting: {refusal}");
    }
}
