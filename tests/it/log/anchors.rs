//! Anchors: made once in each interval, sent to every place, and enough to detect what was done to the database.

mod lost;
mod maps;
pub(crate) mod places;

use super::{STATE_DIRECTORY, stop, store_events, text_of};
use audit_ledger::{SignedAnchor, VerifierKey};
use audit_tests::process::Exit;
use audit_tests::{
    Clock, Database, DatabaseKind, Deadline, Finished, Organization, Receiver, Reply, Server, assert_signed,
    command_line, command_line_on, on_both_databases, serve_refused, temporary_directory,
    webhook_environment,
};
use places::{ACCESS_KEY, Behavior, REGION, SECRET_KEY, StubAuthority, StubBucket, is_stamped};
use serde_json::Value;
use std::path::{Path, PathBuf};

const DIRECTORY: &str = "AUDIT_ANCHOR_DIRECTORY";
const SECRET: &str = "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";
const START: &str = "2026-11-22T10:20:00Z";
/// Longer than the claim of a node that was killed.
const CLAIM_ENDED_MILLIS: i64 = 301_000;
const WAIT_SECONDS: u64 = 60;

on_both_databases! {
    an_anchor_goes_to_every_place_each_hour,
    after_a_stop_there_is_one_anchor_and_a_gap,
    what_was_done_to_a_database_is_found_from_anchors_alone,
    several_nodes_make_one_anchor_an_hour,
    an_anchor_that_was_not_sent_before_a_kill_is_sent_after_it,
    a_bucket_that_has_another_object_keeps_it,
    a_wrong_time_stamp_is_refused_and_holds_nothing_up,
}

/// The names of the anchors in a directory, in order.
fn anchors_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .expect("list a directory")
        .map(|entry| entry.expect("list a directory").file_name())
        .filter_map(|name| name.to_str()?.strip_suffix(".anchor").map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// Waits for a file.
fn wait_for(path: &Path) -> Vec<u8> {
    Deadline::seconds(WAIT_SECONDS).poll(path, || std::fs::read(path).ok())
}

fn wait_for_anchor(directory: &Path, name: &str) -> String {
    let document = wait_for(&directory.join(format!("{name}.anchor")));
    String::from_utf8(document).expect("an anchor in UTF-8")
}

fn key_of(database: &Database) -> String {
    command_line_on(database, &["log", "key"]).success()
}

fn opened(database: &Database, document: &str) -> SignedAnchor {
    let key: VerifierKey = key_of(database).parse().expect("a key");
    SignedAnchor::open(document, &[key]).expect("an anchor by the log's key")
}

/// `log verify` on a machine that has nothing but the database and the anchors.
fn verify(database: &Database, anchors: &Path, more: &[&str]) -> Finished {
    let nothing = temporary_directory("nothing-");
    let arguments = [
        "log",
        "verify",
        "--state-directory",
        text_of(&nothing),
        "--anchors",
        text_of(anchors),
    ];
    command_line_on(database, &[&arguments, more].concat())
}

fn assert_found(finished: &Finished, parts: &[&str]) {
    assert_eq!(finished.exit, Exit::Code(1), "{finished:?}");
    let last = finished.stdout.lines().last().unwrap_or_default();
    assert!(last.starts_with("INCONSISTENT: "), "{finished:?}");
    for part in parts {
        assert!(last.contains(part), "{part}: {finished:?}");
    }
}

fn bucket_environment(bucket: &StubBucket) -> Vec<(&'static str, String)> {
    vec![
        ("AUDIT_ANCHOR_BUCKET", bucket.url()),
        ("AUDIT_ANCHOR_BUCKET_REGION", REGION.to_owned()),
        ("AUDIT_ANCHOR_BUCKET_ACCESS_KEY", ACCESS_KEY.to_owned()),
        ("AUDIT_ANCHOR_BUCKET_SECRET_KEY", SECRET_KEY.to_owned()),
        ("AUDIT_ANCHOR_BUCKET_LOCK", "compliance:3650".to_owned()),
    ]
}

fn webhook_settings(receiver: &Receiver) -> Vec<(&'static str, String)> {
    let mut environment: Vec<(&'static str, String)> = webhook_environment()
        .into_iter()
        .map(|(name, value)| (name, value.to_owned()))
        .collect();
    environment.push(("AUDIT_ANCHOR_WEBHOOK", receiver.url("/anchors")));
    environment.push(("AUDIT_ANCHOR_WEBHOOK_SECRET", SECRET.to_owned()));
    environment
}

fn start(database: &Database, clock: &Clock, environment: &[(&'static str, String)]) -> Server {
    let environment: Vec<(&str, &str)> = environment
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    Server::start_at(database, &environment, clock)
}

fn directory_setting(directory: &Path) -> (&'static str, String) {
    (DIRECTORY, text_of(directory).to_owned())
}

fn an_anchor_goes_to_every_place_each_hour(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at(START) else { return };
    let (database, directory) = (Database::create(kind), temporary_directory("anchors-"));
    let (receiver, bucket, authority) = (Receiver::start(), StubBucket::start(), StubAuthority::start());
    let mut environment = [webhook_settings(&receiver), bucket_environment(&bucket)].concat();
    environment.extend([
        directory_setting(&directory),
        ("AUDIT_TIMESTAMP_URL", authority.url()),
        ("AUDIT_TIMESTAMP_CA", text_of(&authority.root()).to_owned()),
    ]);
    let server = start(&database, &clock, &environment);
    let first = wait_for_anchor(&directory, "20261122T100000Z");
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 7);
    clock.set("2026-11-22T11:00:00Z");
    let second = wait_for_anchor(&directory, "20261122T110000Z");
    let (one, two) = (opened(&database, &first), opened(&database, &second));
    assert_eq!(one.check_later(&two), Ok(()));
    assert_eq!(
        (one.anchor().number, two.anchor().previous),
        (1, Some(one.digest()))
    );
    assert_eq!(one.anchor().time.to_string(), "2026-11-22T10:20:00.000Z");
    let name = format!("{}/live", organization.project_id);
    assert_eq!((two.anchor().heads.len(), two.anchor().heads[&name].size), (1, 7));
    // Every place has the same, with a time stamp that OpenSSL verifies.
    let message = receiver.wait_for("/anchors", 2).swap_remove(1);
    assert_signed(&message, &[SECRET]);
    let body = message.json();
    assert_eq!(
        (&body["type"], &body["data"]["document"]),
        (&"log.anchored".into(), &second.clone().into())
    );
    assert!(body["data"]["time_stamp"].is_string(), "{body}");
    let files = ["20261122T110000Z.anchor", "20261122T110000Z.tsr"];
    for file in files {
        let content = wait_for(&directory.join(file));
        Deadline::seconds(WAIT_SECONDS).poll(file, || (bucket.object(file)? == content).then_some(()));
    }
    assert_eq!(bucket.refused(), [""; 0]);
    let [document, time_stamp] = files.map(|file| directory.join(file));
    assert!(is_stamped(&document, &time_stamp, &authority.root()));
    assert!(!is_stamped(&document, &time_stamp, &authority.other_root()));
    check_offline(&database, &document, &authority);
    let root = authority.root();
    let verified = verify(&database, &directory, &["--timestamp-ca", text_of(&root)]).success();
    assert!(
        verified.starts_with("2 anchors from 2026-11-22T10:00:00.000Z"),
        "{verified}"
    );
    assert!(verified.contains("2 with a time stamp: consistent"), "{verified}");
    assert!(server.metric("audit_anchor_last_timestamp_seconds") > 0);
    stop(server);
}

/// `check` of an anchor, its time stamp, and changes of both.
fn check_offline(database: &Database, document: &Path, authority: &StubAuthority) {
    let key = key_of(database);
    let check =
        |file: &Path, more: &[&str]| command_line(&[&["check", text_of(file), "--key", &key], more].concat());
    let (root, other) = (authority.root(), authority.other_root());
    let proved = check(document, &["--timestamp-ca", text_of(&root)]).success();
    assert!(proved.contains("has 1 logs with 7 events"), "{proved}");
    assert!(proved.contains("signed by a trusted authority"), "{proved}");
    let refused = |finished: Finished| {
        assert_eq!(finished.exit, Exit::Code(1), "{finished:?}");
        assert!(finished.stderr.contains("REFUSED"), "{finished:?}");
    };
    refused(check(document, &["--timestamp-ca", text_of(&other)]));
    let copy = temporary_directory("copy-").join("one.anchor");
    let text = std::fs::read_to_string(document).expect("an anchor");
    std::fs::write(&copy, &text).expect("write a file");
    check(&copy, &[]).success();
    // Without a time stamp, although one is demanded.
    refused(check(&copy, &["--timestamp-ca", text_of(&root)]));
    std::fs::write(&copy, text.replace("live 7 ", "live 8 ")).expect("write a file");
    refused(check(&copy, &[]));
}

fn after_a_stop_there_is_one_anchor_and_a_gap(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at(START) else { return };
    let (database, directory) = (Database::create(kind), temporary_directory("anchors-"));
    let environment = [directory_setting(&directory)];
    let server = start(&database, &clock, &environment);
    wait_for_anchor(&directory, "20261122T100000Z");
    stop(server);
    clock.set("2026-11-22T15:40:00Z");
    let server = start(&database, &clock, &environment);
    wait_for_anchor(&directory, "20261122T150000Z");
    clock.set("2026-11-22T16:00:00Z");
    wait_for_anchor(&directory, "20261122T160000Z");
    stop(server);
    let names = ["20261122T100000Z", "20261122T150000Z", "20261122T160000Z"];
    assert_eq!(anchors_in(&directory), names);
    let verified = verify(&database, &directory, &[]).success();
    let gap = "note: no anchor was made between 20261122T100000Z and 20261122T150000Z";
    assert!(
        verified.contains(gap) && verified.matches("note:").count() == 1,
        "{verified}"
    );
}

fn what_was_done_to_a_database_is_found_from_anchors_alone(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at(START) else { return };
    let (database, directory) = (Database::create(kind), temporary_directory("anchors-"));
    let environment = [directory_setting(&directory)];
    let server = start(&database, &clock, &environment);
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 10);
    clock.set("2026-11-22T11:00:00Z");
    wait_for_anchor(&directory, "20261122T110000Z");
    stop(server);
    let older = database.copy();
    let server = start(&database, &clock, &environment);
    store_events(&organization.on(&server).project(), 10);
    clock.set("2026-11-22T12:00:00Z");
    wait_for_anchor(&directory, "20261122T120000Z");
    stop(server);
    verify(&database, &directory, &[]).success();
    let name = format!("{}/live", organization.project_id);
    // Cut off: an older state, which is consistent by itself.
    let found = verify(&older, &directory, &[]);
    assert_found(&found, &[&name, "events 10 to 19", "anchor 20261122T120000Z"]);
    // Forks: the older state grows to the same size, and beyond it. The server knows nothing of the other history.
    for count in [10, 15] {
        let fork = older.copy();
        let memory = temporary_directory("memory-");
        let server = start(&fork, &clock, &[(STATE_DIRECTORY, text_of(&memory).to_owned())]);
        store_events(&organization.on(&server).project(), count);
        stop(server);
        command_line_on(&fork, &["log", "verify", "--state-directory", text_of(&memory)]).success();
        let found = verify(&fork, &directory, &[]);
        assert_found(&found, &[&name, "events 10 to 19", "anchor 20261122T120000Z"]);
    }
    // The first anchor alone says less.
    let first = directory.join("20261122T110000Z.anchor");
    verify(&older, &first, &[]).success();
    // The log is not there, nor its key.
    let empty = Database::create(kind);
    stop(Server::start(&empty, &[]));
    let gone = verify(&empty, &directory, &["--verifier-key", &key_of(&database)]);
    assert_found(&gone, &[&name, "anchor 20261122T120000Z", "does not have it"]);
    key_of(&empty);
    let foreign = verify(&empty, &directory, &[]);
    assert_found(
        &foreign,
        &["anchor 20261122T100000Z", "not signed by a known key"],
    );
    removed_and_forged_anchors(&database, &directory);
}

/// Anchors that contradict each other, and a missing one.
fn removed_and_forged_anchors(database: &Database, directory: &Path) {
    let file = |name: &str| directory.join(format!("{name}.anchor"));
    let [first, second] = ["20261122T100000Z", "20261122T110000Z"].map(file);
    let text = std::fs::read_to_string(&second).expect("an anchor");
    std::fs::write(&second, text.replace("live 10 ", "live 9 ")).expect("write a file");
    let forged = verify(database, directory, &[]);
    assert_found(&forged, &["anchor 20261122T110000Z", "signature"]);
    std::fs::remove_file(&second).expect("remove a file");
    let verified = verify(database, directory, &[]).success();
    assert!(verified.contains("note: 1 anchors are missing"), "{verified}");
    let none = verify(database, &temporary_directory("empty-"), &[]);
    assert_eq!(none.exit, Exit::Code(2), "{none:?}");
    let json: Value = serde_json::from_str(&verify(database, &first, &["--json"]).success()).expect("JSON");
    assert_eq!(
        (&json["ok"], &json["anchors"]["count"]),
        (&true.into(), &1.into())
    );
}

fn several_nodes_make_one_anchor_an_hour(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at(START) else { return };
    let (database, receiver) = (Database::create(kind), Receiver::start());
    let nodes = if kind == DatabaseKind::Postgres { 3 } else { 1 };
    let directories: Vec<PathBuf> = (0..nodes).map(|_| temporary_directory("anchors-")).collect();
    let mut servers = Vec::new();
    for directory in &directories {
        let environment = [webhook_settings(&receiver), vec![directory_setting(directory)]].concat();
        servers.push(start(&database, &clock, &environment));
    }
    let hours = ["20261122T100000Z", "20261122T110000Z", "20261122T120000Z"];
    for (hour, moment) in hours
        .iter()
        .zip([START, "2026-11-22T11:00:00Z", "2026-11-22T12:59:59Z"])
    {
        clock.set(moment);
        let documents: Vec<String> = directories
            .iter()
            .map(|directory| wait_for_anchor(directory, hour))
            .collect();
        assert!(
            documents.iter().all(|document| *document == documents[0]),
            "{documents:?}"
        );
    }
    // Each node makes the present one or finds it before it stops, so none is being made.
    let received = receiver.wait_for("/anchors", hours.len());
    servers.into_iter().for_each(|server| drop(stop(server)));
    assert_eq!(database.count("anchors"), 3);
    assert_eq!(receiver.received("/anchors").len(), 3, "{received:?}");
    verify(&database, &directories[0], &[]).success();
}

fn an_anchor_that_was_not_sent_before_a_kill_is_sent_after_it(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at(START) else { return };
    let (database, receiver) = (Database::create(kind), Receiver::start());
    let environment = webhook_settings(&receiver);
    receiver.reply("/anchors", [Reply::Stall, Reply::Status(200)]);
    let server = start(&database, &clock, &environment);
    // The anchor was stored before it is sent.
    let interrupted = receiver.first("/anchors");
    assert_eq!(database.count("anchors WHERE webhook_stage = 0"), 1);
    server.kill();
    clock.advance_millis(CLAIM_ENDED_MILLIS);
    let server = start(&database, &clock, &environment);
    let sent = receiver.wait_for("/anchors", 2).swap_remove(1);
    assert_eq!(sent.message_id(), interrupted.message_id());
    assert_eq!(sent.body, interrupted.body);
    Deadline::seconds(WAIT_SECONDS).poll("the result", || {
        (database.count("anchors WHERE webhook_stage = 1") == 1).then_some(())
    });
    assert_eq!(database.count("anchors"), 1);
    stop(server);
}

fn a_bucket_that_has_another_object_keeps_it(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at(START) else { return };
    let (database, bucket) = (Database::create(kind), StubBucket::start());
    let directory = temporary_directory("anchors-");
    let environment = [bucket_environment(&bucket), vec![directory_setting(&directory)]].concat();
    bucket.put("20261122T100000Z.anchor", b"of an attacker");
    let server = start(&database, &clock, &environment);
    wait_for_anchor(&directory, "20261122T100000Z");
    server.wait_for_metric("audit_anchor_failures_total{place=\"bucket\"}", 1);
    assert_eq!(
        bucket.object("20261122T100000Z.anchor").as_deref(),
        Some(&b"of an attacker"[..])
    );
    server.wait_for_log("something else is stored as audit/20261122T100000Z.anchor");
    // The next one is stored, also where an interrupted attempt has stored it already.
    clock.set("2026-11-22T11:00:00Z");
    let document = wait_for_anchor(&directory, "20261122T110000Z");
    let stored = || (bucket.object("20261122T110000Z.anchor")? == document.as_bytes()).then_some(());
    Deadline::seconds(WAIT_SECONDS).poll("an object", stored);
    stop(server);
    database.execute("UPDATE anchors SET bucket_stage = 0 WHERE number = 2");
    let server = start(&database, &clock, &environment);
    Deadline::seconds(WAIT_SECONDS).poll("the result", || {
        (database.count("anchors WHERE number = 2 AND bucket_stage = 1") == 1).then_some(())
    });
    stop(server);
}

fn a_wrong_time_stamp_is_refused_and_holds_nothing_up(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at(START) else { return };
    let (database, authority) = (Database::create(kind), StubAuthority::start());
    let directory = temporary_directory("anchors-");
    let environment = [
        directory_setting(&directory),
        ("AUDIT_TIMESTAMP_URL", authority.url()),
        ("AUDIT_TIMESTAMP_CA", text_of(&authority.root()).to_owned()),
    ];
    const FAILURES: &str = "audit_anchor_failures_total{place=\"time_stamp\"}";
    authority.behave(Behavior::Fails);
    let server = start(&database, &clock, &environment);
    wait_for_anchor(&directory, "20261122T100000Z");
    server.wait_for_metric(FAILURES, 1);
    let wrong = [
        Behavior::Garbage,
        Behavior::Stale,
        Behavior::Refuses,
        Behavior::Untrusted,
    ];
    for (failures, behavior) in (2..).zip(wrong) {
        authority.behave(behavior);
        // Longer than any pause, and still in the same hour.
        clock.advance_millis(400_000);
        server.wait_for_metric(FAILURES, failures);
        assert_eq!(
            (
                authority.asked(),
                database.count("anchors WHERE time_stamp IS NULL")
            ),
            (1, 1)
        );
    }
    authority.behave(Behavior::Right);
    clock.set("2026-11-22T10:59:59Z");
    let time_stamp = directory.join("20261122T100000Z.tsr");
    wait_for(&time_stamp);
    let document = directory.join("20261122T100000Z.anchor");
    assert!(is_stamped(&document, &time_stamp, &authority.root()));
    stop(server);
}

#[test]
fn a_place_that_cannot_work_is_refused_at_the_start() {
    let database = Database::create(DatabaseKind::Sqlite);
    let secret = ("AUDIT_ANCHOR_WEBHOOK_SECRET", SECRET);
    for (settings, reason) in [
        (&[(DIRECTORY, "/nonexistent")][..], "is not a directory"),
        (
            &[("AUDIT_ANCHOR_WEBHOOK", "https://example.com/a")][..],
            "--anchor-webhook-secret",
        ),
        (
            &[("AUDIT_ANCHOR_WEBHOOK", "https://127.0.0.1/a"), secret][..],
            "must not lead to a loopback",
        ),
        (
            &[("AUDIT_ANCHOR_WEBHOOK", "http://example.com/a"), secret][..],
            "https://",
        ),
        (
            &[("AUDIT_ANCHOR_BUCKET", "https://s3.example.com/a")][..],
            "--anchor-bucket-access-key",
        ),
        (&[("AUDIT_ANCHOR_EVERY", "7m")][..], "divides a day"),
        (&[("AUDIT_ANCHOR_BUCKET_LOCK", "forever")][..], "compliance"),
        (
            &[("AUDIT_TIMESTAMP_URL", "tsa.example.com")][..],
            "--timestamp-url",
        ),
        (&[("AUDIT_TIMESTAMP_CA", "/nonexistent")][..], "/nonexistent"),
    ] {
        let refusal = serve_refused(&database, settings);
        assert!(refusal.contains(reason), "{settings:?}: {refusal}");
    }
}
