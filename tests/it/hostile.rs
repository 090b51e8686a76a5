//! The effect of one client, or of a database that hangs, on all other clients.

use audit_tests::process::Exit;
use audit_tests::{Database, DatabaseKind, Organization, Server, event, event_with, on_both_databases};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;

/// Far more than a hundred named fields need.
const RESPONSE_BYTES_MAX: usize = 128 * 1024;

on_both_databases! {
    a_small_body_never_makes_a_large_response,
    unknown_methods_do_not_grow_the_metrics,
    a_number_of_a_hundred_thousand_digits_is_refused,
    a_body_that_inflates_beyond_the_limit_is_refused,
    a_search_takes_few_words_that_stand_for_many,
    what_is_stored_after_a_failed_commit_is_found_by_its_beginning,
    sigterm_ends_the_server_although_the_database_hangs,
}

fn a_small_body_never_makes_a_large_response(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let key = "k".repeat(20_000);
    let many = |item: &'static str, count: usize| vec![item; count];
    let unknown: serde_json::Map<_, _> = (0..50_000).map(|number| (number.to_string(), json!(1))).collect();
    let bodies = [
        (
            "/events",
            event_with(json!({"metadata": {key.as_str(): many("\0", 30_000)}})),
        ),
        (
            "/events",
            event_with(json!({"metadata": {key.as_str(): many("\0", 8_000)}})),
        ),
        ("/events", json!(unknown)),
        (
            "/redaction/test",
            json!({"event": {key.as_str(): many("a@example.com", 30_000)}}),
        ),
        (
            "/redaction/test",
            json!({"event": {key.as_str(): many("a@example.com", 2_000)}}),
        ),
    ];
    for (path, body) in bodies {
        let response = project.post(path).json(body).send_raw();
        assert_eq!(response.status, 400, "{path}");
        assert!(
            response.bytes.len() < RESPONSE_BYTES_MAX,
            "{path}: {} bytes",
            response.bytes.len()
        );
    }
    assert_eq!(project.count(), 0);
}

fn unknown_methods_do_not_grow_the_metrics(database: DatabaseKind) {
    let server = Server::shared(database);
    let client = server.client();
    for number in 0..20 {
        let address = server.base_url().trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("connect");
        let request =
            format!("BREW{number} /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("send");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("read the answer");
        assert!(response.starts_with("HTTP/1.1 405"), "{response}");
    }
    let metrics = client.request("GET", "/metrics").send_raw();
    let text = String::from_utf8(metrics.bytes).expect("metrics are text");
    assert!(
        text.contains("method=\"other\"") && !text.contains("BREW"),
        "{text}"
    );
}

fn a_number_of_a_hundred_thousand_digits_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let digits = "1".repeat(100_000);
    for number in [format!("0.{digits}"), digits.clone(), format!("{digits}e-5")] {
        let body = event_with(json!({"metadata": {"n": "?"}}))
            .to_string()
            .replace("\"?\"", &number);
        project
            .post("/events")
            .raw_json(body)
            .send()
            .expect_invalid(&["body"]);
    }
    assert_eq!(project.count(), 0);
}

/// A megabyte of spaces takes a kilobyte as gzip.
fn a_body_that_inflates_beyond_the_limit_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let send = |spaces: usize| {
        let text = " ".repeat(spaces) + &serde_json::to_string(&event()).expect("JSON");
        let request = project
            .post("/events")
            .raw_json(audit_tests::gzip(text.as_bytes()));
        request.header("content-encoding", "gzip").send()
    };
    send(1_000_000).expect_status(201);
    for spaces in [1024 * 1024, 64 * 1024 * 1024] {
        send(spaces).expect_error(413, "payload_too_large");
    }
    assert_eq!(project.count(), 1);
}

fn a_search_takes_few_words_that_stand_for_many(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    project
        .get("/events")
        .query("search", "a* b*")
        .send()
        .expect_status(200);
    project
        .get("/events")
        .query("search", "a* b* c*")
        .send()
        .expect_invalid(&["search"]);
    project
        .get("/events")
        .query("search", "a* a* a*")
        .send()
        .expect_status(200);
}

fn what_is_stored_after_a_failed_commit_is_found_by_its_beginning(database: DatabaseKind) {
    let own = Database::create(database);
    let server = Server::start(&own, &[]);
    let project = Organization::create(&server, "enterprise").project();
    let keyed = |key: &str, action: &str| event_with(json!({"idempotency_key": key, "action": action}));
    project.store(keyed("first", "alpha.one"));
    let (block, unblock) = match database {
        DatabaseKind::Sqlite => (
            "CREATE TRIGGER block BEFORE INSERT ON event_times BEGIN SELECT RAISE(ABORT, 'blocked'); END",
            "DROP TRIGGER block",
        ),
        DatabaseKind::Postgres => (
            "ALTER TABLE ledgers ADD CONSTRAINT block CHECK (size < 2) NOT VALID",
            "ALTER TABLE ledgers DROP CONSTRAINT block",
        ),
    };
    own.execute(block);
    let refused = project
        .post("/events")
        .json(keyed("second", "zeta.first_one"))
        .send();
    refused.expect_error(503, "unavailable");
    own.execute(unblock);
    project.store(keyed("first", "alpha.one"));
    let id = project.store(keyed("second", "zeta.first_one"));
    for action in ["zeta.first_one", "zeta.*", "zeta.fir*", "ze*"] {
        assert_eq!(
            project.find_ids(&[("action", action)]),
            std::slice::from_ref(&id),
            "{action}"
        );
    }
}

fn sigterm_ends_the_server_although_the_database_hangs(database: DatabaseKind) {
    let own = Database::create(database);
    let server = Server::start(&own, &[]);
    let project = Organization::create(&server, "enterprise").project();
    project.store(event());
    let lock = own.hold();
    let finished = server.stop();
    assert!(matches!(finished.exit, Exit::Code(_)), "{finished:?}");
    drop(lock);
}

#[test]
fn the_files_of_the_database_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let own = Database::create(DatabaseKind::Sqlite);
    let server = Server::start(&own, &[]);
    Organization::create(&server, "free").project().store(event());
    let files = own.files();
    assert!(!files.is_empty());
    for (path, _) in files {
        let mode = std::fs::metadata(&path)
            .expect("the file is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
}
