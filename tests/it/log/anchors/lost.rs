//! Anchors after a change of their key, and after a failover that lost one.

use super::{
    STATE_DIRECTORY, StubBucket, WAIT_SECONDS, anchors_in, bucket_environment, directory_setting, opened,
    start, stop, store_events, text_of, verify, wait_for_anchor, webhook_settings,
};
use audit_ledger::{AnchorDigest, SignedAnchor};
use audit_tests::{
    Clock, Database, DatabaseKind, Deadline, Organization, Receiver, Server, command_line_on,
    on_both_databases, temporary_directory,
};
use std::path::Path;

const START: &str = "2026-11-22T10:20:00Z";

on_both_databases! {
    an_anchor_that_waits_is_sent_after_a_rotation_of_the_key,
    an_anchor_that_a_failover_lost_is_read_back_from_its_place,
    an_anchor_that_the_database_lost_is_stored_again_by_the_node_that_sent_it,
    an_anchor_that_was_changed_before_it_was_sent_is_not_sent,
}

type Environment = Vec<(&'static str, String)>;

fn with_memory(mut environment: Environment, memory: &Path) -> Environment {
    environment.push((STATE_DIRECTORY, text_of(memory).to_owned()));
    environment
}

fn head_size(anchor: &SignedAnchor, log: &str) -> Option<u64> {
    anchor.anchor().heads.get(log).map(|head| head.size)
}

fn an_anchor_that_waits_is_sent_after_a_rotation_of_the_key(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at(START) else { return };
    let (database, directory) = (Database::create(kind), temporary_directory("anchors-"));
    let memory = temporary_directory("memory-");
    let environment = with_memory(vec![directory_setting(&directory)], &memory);
    let server = start(&database, &clock, &environment);
    wait_for_anchor(&directory, "20261122T100000Z");
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 7);
    let old = super::key_of(&database);
    // The place is away while the next anchor is made.
    let away = temporary_directory("away-").join("anchors");
    std::fs::rename(&directory, &away).expect("move the directory");
    clock.set("2026-11-22T11:00:00Z");
    server.wait_for_metric("audit_anchor_failures_total{place=\"directory\"}", 1);
    assert_eq!(database.count("anchors"), 2);
    stop(server);
    command_line_on(&database, &["log", "rotate-key"]).success();
    std::fs::rename(&away, &directory).expect("move the directory");
    // Only anchors show from now on that the log had events.
    let log = format!("{}/live", organization.project_id);
    database.execute("DELETE FROM log_checkpoints");
    // A head that the service did not write: the log is not signed again.
    database.execute("UPDATE ledgers SET size = size + 1");
    let server = start(&database, &clock, &environment);
    let second = wait_for_anchor(&directory, "20261122T110000Z");
    clock.set("2026-11-22T12:00:00Z");
    let third = wait_for_anchor(&directory, "20261122T120000Z");
    let written = stop(server);
    assert!(!written.contains("is not sent"), "{written}");
    let second = SignedAnchor::open(&second, &[old.parse().expect("a key")]).expect("by the old key");
    let third = opened(&database, &third);
    assert_eq!(second.check_later(&third), Ok(()));
    assert_eq!(
        (head_size(&second, &log), head_size(&third, &log)),
        (Some(7), Some(7))
    );
}

/// Three anchors, the second of which a restored database does not have. Returns them by name.
fn anchors_around_a_failover(kind: DatabaseKind, directory: &Path, environment: &Environment) {
    let Some(mut clock) = Clock::at(START) else { return };
    let database = Database::create(kind);
    let server = start(&database, &clock, environment);
    wait_for_anchor(directory, "20261122T100000Z");
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 7);
    stop(server);
    let standby = database.copy();
    clock.set("2026-11-22T11:00:00Z");
    let server = start(&database, &clock, environment);
    let second = wait_for_anchor(directory, "20261122T110000Z");
    // The stop waits for running requests to places.
    stop(server);
    assert_eq!(standby.count("anchors"), 1);
    clock.set("2026-11-22T13:10:00Z");
    let server = start(&standby, &clock, environment);
    let third = wait_for_anchor(directory, "20261122T130000Z");
    server.wait_for_log("anchor 2 was sent");
    stop(server);
    let third = opened(&standby, &third);
    assert_eq!(
        (third.anchor().number, third.anchor().previous),
        (3, Some(AnchorDigest::of_note(&second)))
    );
    let names = ["20261122T100000Z", "20261122T110000Z", "20261122T130000Z"];
    assert_eq!(anchors_in(directory), names);
    verify(&standby, directory, &[]).success();
}

fn an_anchor_that_a_failover_lost_is_read_back_from_its_place(kind: DatabaseKind) {
    let (directory, memory) = (temporary_directory("anchors-"), temporary_directory("memory-"));
    let environment = with_memory(vec![directory_setting(&directory)], &memory);
    anchors_around_a_failover(kind, &directory, &environment);
    // From the bucket: what is in the directory is another copy, without the second anchor until the bucket has given it.
    let (bucket, memory) = (StubBucket::start(), temporary_directory("memory-"));
    let Some(mut clock) = Clock::at(START) else { return };
    let database = Database::create(kind);
    let environment = with_memory(bucket_environment(&bucket), &memory);
    let stored = |name: &str| {
        let object = format!("{name}.anchor");
        let document = Deadline::seconds(WAIT_SECONDS).poll(&object, || bucket.object(&object));
        String::from_utf8(document).expect("an anchor in UTF-8")
    };
    let server = start(&database, &clock, &environment);
    stored("20261122T100000Z");
    stop(server);
    let standby = database.copy();
    clock.set("2026-11-22T11:00:00Z");
    let server = start(&database, &clock, &environment);
    let second = opened(&database, &stored("20261122T110000Z"));
    stop(server);
    clock.set("2026-11-22T12:00:00Z");
    let server = start(&standby, &clock, &environment);
    let third = opened(&standby, &stored("20261122T120000Z"));
    stop(server);
    assert_eq!(second.check_later(&third), Ok(()));
    // The second one was stored again, so it was sent again, and the object stays.
    assert_eq!(stored("20261122T110000Z"), second.note());
}

/// A webhook gives nothing back: the node remembers what it has sent.
fn an_anchor_that_the_database_lost_is_stored_again_by_the_node_that_sent_it(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at(START) else { return };
    let (database, receiver) = (Database::create(kind), Receiver::start());
    let server: Server = start(&database, &clock, &webhook_settings(&receiver));
    receiver.wait_for("/anchors", 1);
    clock.set("2026-11-22T11:00:00Z");
    receiver.wait_for("/anchors", 2);
    let sent = || (database.count("anchors WHERE webhook_stage = 1") == 2).then_some(());
    Deadline::seconds(WAIT_SECONDS).poll("the result of the second", sent);
    database.execute("DELETE FROM anchors WHERE number = 2");
    let restored = || (database.count("anchors") == 2).then_some(());
    Deadline::seconds(WAIT_SECONDS).poll("the second anchor", restored);
    clock.set("2026-11-22T12:00:00Z");
    let is_third = |body: &serde_json::Value| body["data"]["number"] == 3;
    let documents = Deadline::seconds(WAIT_SECONDS).poll("the third anchor", || {
        let bodies: Vec<_> = receiver
            .received("/anchors")
            .iter()
            .map(|message| message.json())
            .collect();
        bodies.iter().any(is_third).then_some(bodies)
    });
    stop(server);
    let document = |number: u64| {
        let body = documents.iter().find(|body| body["data"]["number"] == number);
        let document = body.and_then(|body| body["data"]["document"].as_str());
        opened(&database, document.expect("a document"))
    };
    assert_eq!(document(2).check_later(&document(3)), Ok(()));
}

fn an_anchor_that_was_changed_before_it_was_sent_is_not_sent(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at(START) else { return };
    let (database, directory) = (Database::create(kind), temporary_directory("anchors-"));
    let environment = vec![directory_setting(&directory)];
    let server = start(&database, &clock, &environment);
    wait_for_anchor(&directory, "20261122T100000Z");
    store_events(&Organization::create(&server, "enterprise").project(), 7);
    let away = temporary_directory("away-").join("anchors");
    std::fs::rename(&directory, &away).expect("move the directory");
    clock.set("2026-11-22T11:00:00Z");
    server.wait_for_metric("audit_anchor_failures_total{place=\"directory\"}", 1);
    stop(server);
    database
        .execute("UPDATE anchors SET document = replace(document, 'live 7 ', 'live 6 ') WHERE number = 2");
    std::fs::rename(&away, &directory).expect("move the directory");
    clock.set("2026-11-22T12:00:00Z");
    let server = start(&database, &clock, &environment);
    wait_for_anchor(&directory, "20261122T120000Z");
    server.wait_for_log("anchor 2 in the database is not sent");
    stop(server);
    assert_eq!(anchors_in(&directory), ["20261122T100000Z", "20261122T120000Z"]);
    let verified = verify(&database, &directory, &[]).success();
    assert!(verified.contains("note: 1 anchors are missing"), "{verified}");
}
