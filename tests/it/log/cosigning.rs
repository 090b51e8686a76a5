//! A server that asks witnesses: its checkpoints, receipts and audits with a quorum and without one.

mod evidence;
mod others;

use super::{Case, STATE_DIRECTORY, assert_wrong, audit, store_events, text_of};
use audit_ledger::{KeyName, Origin, Policy, WitnessSigner};
use audit_tests::process::Exit;
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Finished, Organization, Server, Witness, build_go,
    command_line, command_line_on, event, go, on_both_databases, temporary_directory,
};
use serde_json::json;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

const WAIT_SECONDS_MAX: u64 = 60;
const POLICY: &str = "AUDIT_POLICY";

on_both_databases! {
    a_log_that_grows_is_cosigned_by_a_quorum,
    a_second_history_gets_no_quorum,
    a_witness_that_hangs_delays_nothing,
    a_checkpoint_without_a_quorum_does_not_hide_the_last_one_with_one,
    nodes_add_to_the_cosignatures_of_each_other,
    cosignatures_that_were_changed_in_the_database_are_not_served,
    a_witness_of_another_implementation_cosigns,
}

/// The key of the log, made before the first start.
pub(crate) fn log_key(database: &Database) -> String {
    command_line_on(database, &["log", "key"]).success()
}

pub(crate) fn witness(name: &str, log: &str) -> Witness {
    Witness::start_as(name, &temporary_directory("witness-"), &[log])
}

/// Writes a policy: witnesses by key and URL, and how many of them are the quorum.
pub(crate) fn policy(witnesses: &[(&str, &str)], needed: usize) -> PathBuf {
    let mut text = String::new();
    for (number, (key, url)) in witnesses.iter().enumerate() {
        text.push_str(&format!("witness w{number} {key} {url}\n"));
    }
    let names: Vec<String> = (0..witnesses.len()).map(|number| format!("w{number}")).collect();
    text.push_str(&format!(
        "group all-of-them {needed} {}\nquorum all-of-them\n",
        names.join(" ")
    ));
    let path = temporary_directory("policy-").join("policy");
    std::fs::write(&path, text).expect("write the policy");
    path
}

fn start(database: &Database, policy: &Path) -> Server {
    Server::start(database, &[(POLICY, text_of(policy))])
}

/// The checkpoint, and whether it has a quorum.
fn checkpoint(client: &Client, query: &str) -> (String, bool) {
    let response = client.get(&format!("/log/checkpoint{query}")).send_raw();
    assert_eq!(response.status, 200, "{response:?}");
    let has_quorum = match response.header("log-quorum") {
        Some("true") => true,
        Some("false") => false,
        other => panic!("log-quorum: {other:?}"),
    };
    (String::from_utf8(response.bytes).expect("UTF-8"), has_quorum)
}

/// The latest checkpoint once it has a quorum.
fn with_quorum(client: &Client) -> String {
    Deadline::seconds(WAIT_SECONDS_MAX).poll("a quorum", || {
        let (note, has_quorum) = checkpoint(client, "");
        has_quorum.then_some(note)
    })
}

fn size_of(note: &str) -> u64 {
    let size = note.lines().nth(1).and_then(|size| size.parse().ok());
    size.expect("a size")
}

/// How many requests to witnesses had this outcome.
fn requests(server: &Server, outcome: &str) -> u64 {
    let text = server.client().request("GET", "/metrics").send_raw();
    let text = String::from_utf8(text.bytes).expect("UTF-8");
    let start = format!("audit_witness_requests_total{{outcome=\"{outcome}\"}} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&start));
    line.map_or(0, |count| count.parse().expect("a number"))
}

fn receipt(client: &Client, id: &str) -> PathBuf {
    let response = client.get(&format!("/events/{id}/receipt")).send_raw();
    assert_eq!(response.status, 200, "{response:?}");
    let path = temporary_directory("receipt-").join("event.tlog-proof");
    std::fs::write(&path, response.bytes).expect("write the receipt");
    path
}

fn check(file: &Path, key: &str, policy: &Path) -> Finished {
    command_line(&["check", text_of(file), "--key", key, "--policy", text_of(policy)])
}

fn a_log_that_grows_is_cosigned_by_a_quorum(kind: DatabaseKind) {
    let database = Database::create(kind);
    let key = log_key(&database);
    let (one, two) = (
        witness("witness.example/one", &key),
        witness("witness.example/two", &key),
    );
    let both = policy(&[(&one.key, &one.url), (&two.key, &two.url)], 2);
    let server = start(&database, &both);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let rules: Policy = std::fs::read_to_string(&both)
        .expect("read")
        .parse()
        .expect("a policy");
    let state = temporary_directory("audit-").join("state");
    let audit = || {
        audit(
            server.base_url(),
            &organization.project_key,
            &state,
            &["--policy", text_of(&both)],
        )
    };
    for (count, size) in [(3, 3), (300, 303), (1, 304)] {
        let ids = store_events(&project, count);
        let note = with_quorum(&project);
        assert_eq!(
            (size_of(&note), rules.cosigners(&note).len()),
            (size, 2),
            "{note}"
        );
        assert_eq!(checkpoint(&project, "?cosigned=true"), (note.clone(), true));
        let said = check(&receipt(&project, &ids[0]), &key, &both).success();
        assert!(said.ends_with(", cosigned by w0, w1"), "{said}");
        assert!(audit().success().contains(&format!("{size} events")));
        let state = std::fs::read_to_string(&state).expect("the state of the auditor");
        let kept: serde_json::Value = serde_json::from_str(&state).expect("JSON");
        let kept = kept["checkpoint"].as_str().expect("a checkpoint").to_owned();
        assert_eq!(rules.cosigners(&kept).len(), 2, "{kept}");
        let origin = Origin::parse(note.lines().next().expect("a line")).expect("an origin");
        assert!(rules.verify(&kept, &origin).is_err(), "the policy names no log");
    }
    assert_eq!(server.metric("audit_logs_without_quorum"), 0);
    assert!(requests(&server, "cosigned") >= 6);
    // A policy that needs one more.
    let other = witness("witness.example/other", &key);
    let three = policy(
        &[
            (&one.key, &one.url),
            (&two.key, &two.url),
            (&other.key, &other.url),
        ],
        3,
    );
    let id = store_events(&project, 1).remove(0);
    with_quorum(&project);
    let refused = check(&receipt(&project, &id), &key, &three);
    assert_eq!(refused.exit, Exit::Code(1), "{refused:?}");
    assert!(refused.stderr.contains("no quorum: w0, w1"), "{refused:?}");
}

/// Two databases with one key and one log of the same name, whose events differ: a split view.
fn a_second_history_gets_no_quorum(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    let copy = case.copy();
    let key = log_key(&case.database);
    let (one, two) = (
        witness("witness.example/one", &key),
        witness("witness.example/two", &key),
    );
    let both = policy(&[(&one.key, &one.url), (&two.key, &two.url)], 2);
    let start = |case: &Case| {
        let memory = (STATE_DIRECTORY, text_of(&case.memory));
        let server = Server::start(&case.database, &[memory, (POLICY, text_of(&both))]);
        let project = case.organization.on(&server).project();
        (server, project)
    };
    let (first, of_first) = start(&case);
    store_events(&of_first, 5);
    let shown = with_quorum(&of_first);
    let (second, of_second) = start(&copy);
    store_events(&of_second, 9);
    Deadline::seconds(WAIT_SECONDS_MAX).poll("both refuse", || {
        (requests(&second, "refused") >= 2).then_some(())
    });
    let (note, has_quorum) = checkpoint(&of_second, "");
    assert!(!has_quorum && size_of(&note) > size_of(&shown), "{note}");
    assert_eq!(
        of_second.get("/log/checkpoint?cosigned=true").send_raw().status,
        404
    );
    Deadline::seconds(WAIT_SECONDS_MAX).poll("it is counted", || {
        (second.metric("audit_logs_without_quorum") >= 1).then_some(())
    });
    let ready = second
        .client()
        .request("GET", "/readyz")
        .send()
        .expect_status(200);
    assert!(ready["logs_without_quorum"].as_u64() >= Some(1), "{ready:?}");
    second.wait_for_log("has seen another history of the log");
    // A new auditor, who knows neither history, does not accept the second one.
    let state = temporary_directory("audit-").join("state");
    let options = ["--policy", text_of(&both), "--max-unsigned", "0s"];
    let refused = audit(
        second.base_url(),
        &case.organization.project_key,
        &state,
        &options,
    );
    assert_wrong(&refused, "is not signed with a quorum of witnesses");
    assert!(!state.exists());
    audit(
        first.base_url(),
        &case.organization.project_key,
        &state,
        &options[..2],
    )
    .success();
}

/// An address that accepts connections and never responds.
fn hanging() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    (listener, url)
}

fn a_witness_that_hangs_delays_nothing(kind: DatabaseKind) {
    let database = Database::create(kind);
    let key = log_key(&database);
    let one = witness("witness.example/one", &key);
    let dead = witness("witness.example/dead", &key);
    let (dead_key, (_listener, hanging)) = (dead.key.clone(), hanging());
    dead.kill();
    let any = policy(&[(&dead_key, &hanging), (&one.key, &one.url)], 1);
    let server = start(&database, &any);
    let organization = Organization::create(&server, "enterprise");
    for (client, size) in [(organization.project(), 3), (organization.test(), 2)] {
        store_events(&client, size);
        assert_eq!(size_of(&with_quorum(&client)), size as u64);
        let response = client
            .post("/events")
            .header("Prefer", "receipt")
            .json(json!([event()]))
            .send();
        assert_eq!(
            response.expect_status(201)["receipts"].as_array().map(Vec::len),
            Some(1)
        );
        assert_eq!(size_of(&with_quorum(&client)), size as u64 + 1);
    }
    drop(server);
    // With both as the quorum, checkpoints are published and marked.
    let all = policy(&[(&dead_key, &hanging), (&one.key, &one.url)], 2);
    let server = start(&database, &all);
    let project = organization.on(&server).project();
    let id = store_events(&project, 1).remove(0);
    let (note, has_quorum) = checkpoint(&project, "");
    assert_eq!((size_of(&note), has_quorum), (5, false));
    let rules: Policy = std::fs::read_to_string(&all)
        .expect("read")
        .parse()
        .expect("a policy");
    Deadline::seconds(WAIT_SECONDS_MAX).poll("the cosignature of one", || {
        let (note, has_quorum) = checkpoint(&project, "");
        assert!(!has_quorum, "{note}");
        rules.cosigners(&note).contains("w1").then_some(())
    });
    Deadline::seconds(WAIT_SECONDS_MAX).poll("it is counted", || {
        (server.metric("audit_logs_without_quorum") >= 1).then_some(())
    });
    let refused = check(&receipt(&project, &id), &key, &all);
    assert!(refused.stderr.contains("no quorum: w1"), "{refused:?}");
    let state = temporary_directory("audit-").join("state");
    let young = audit(
        server.base_url(),
        &organization.project_key,
        &state,
        &["--policy", text_of(&all), "--max-unsigned", "1h"],
    );
    assert_eq!(young.exit, Exit::Code(2), "{young:?}");
    assert!(
        young.stderr.contains("no checkpoint of the log has a quorum"),
        "{young:?}"
    );
}

fn a_checkpoint_without_a_quorum_does_not_hide_the_last_one_with_one(kind: DatabaseKind) {
    let database = Database::create(kind);
    let key = log_key(&database);
    let state_of_two = temporary_directory("witness-");
    let one = witness("witness.example/one", &key);
    let two = Witness::start_as("witness.example/two", &state_of_two, &[&key]);
    let both = policy(&[(&one.key, &one.url), (&two.key, &two.url)], 2);
    let server = start(&database, &both);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let early = store_events(&project, 4).remove(0);
    let cosigned = with_quorum(&project);
    two.kill();
    let late = store_events(&project, 3).remove(0);
    Deadline::seconds(WAIT_SECONDS_MAX).poll("it is counted", || {
        (server.metric("audit_logs_without_quorum") == 1).then_some(())
    });
    let (latest, has_quorum) = checkpoint(&project, "");
    assert_eq!((size_of(&latest), has_quorum), (7, false));
    assert_eq!(checkpoint(&project, "?cosigned=true"), (cosigned, true));
    check(&receipt(&project, &early), &key, &both).success();
    assert_eq!(check(&receipt(&project, &late), &key, &both).exit, Exit::Code(1));
    // An auditor accepts what has a quorum, until an event has waited too long for it.
    let state = temporary_directory("audit-").join("state");
    let audit = |age: &str| {
        let options = ["--policy", text_of(&both), "--max-unsigned", age];
        audit(server.base_url(), &organization.project_key, &state, &options)
    };
    assert!(audit("1h").success().contains(": 4 events, 4 of them new"));
    assert_wrong(&audit("0s"), "event 4");
    // The same without a policy sees all events.
    let without = super::audit(server.base_url(), &organization.project_key, &state, &[]);
    assert!(without.success().contains(": 7 events, 3 of them new"));
}

fn nodes_add_to_the_cosignatures_of_each_other(kind: DatabaseKind) {
    let database = Database::create(kind);
    let key = log_key(&database);
    let (one, two) = (
        witness("witness.example/one", &key),
        witness("witness.example/two", &key),
    );
    let (_listener, nowhere) = hanging();
    // Each node reaches another witness.
    let of_first = policy(&[(&one.key, &one.url), (&two.key, &nowhere)], 2);
    let of_second = policy(&[(&one.key, &nowhere), (&two.key, &two.url)], 2);
    let first = start(&database, &of_first);
    let organization = Organization::create(&first, "enterprise");
    let project = organization.project();
    store_events(&project, 5);
    let rules: Policy = std::fs::read_to_string(&of_first)
        .expect("read")
        .parse()
        .expect("a policy");
    Deadline::seconds(WAIT_SECONDS_MAX).poll("one of two", || {
        let (note, has_quorum) = checkpoint(&project, "");
        (!has_quorum && rules.cosigners(&note).contains("w0")).then_some(())
    });
    // The second node finds the checkpoint without a quorum when it starts.
    let second = start(&database, &of_second);
    let note = with_quorum(&organization.on(&second).project());
    assert_eq!(rules.cosigners(&note).len(), 2);
    assert_eq!(with_quorum(&project), note);
}

fn cosignatures_that_were_changed_in_the_database_are_not_served(kind: DatabaseKind) {
    let database = Database::create(kind);
    let key = log_key(&database);
    let one = witness("witness.example/one", &key);
    let any = policy(&[(&one.key, &one.url)], 1);
    let server = start(&database, &any);
    let organization = Organization::create(&server, "enterprise");
    let (project, test) = (organization.project(), organization.test());
    store_events(&project, 2);
    store_events(&test, 2);
    let (of_project, of_test) = (with_quorum(&project), with_quorum(&test));
    drop(server);
    // Each log gets the cosigned notes of the other one.
    database.execute(
        "CREATE TABLE exchanged AS SELECT * FROM log_cosigned; \
         UPDATE log_cosigned SET (note, quorum_note) = (SELECT note, quorum_note FROM exchanged \
         WHERE exchanged.ledger_id <> log_cosigned.ledger_id AND exchanged.quorum_size > 0)",
    );
    database.execute("UPDATE log_cosigned SET quorum_size = 0");
    let server = start(&database, &any);
    let (project, test) = (
        organization.on(&server).project(),
        organization.on(&server).test(),
    );
    let same = |note: &str, other: &str| note.lines().take(3).eq(other.lines().take(3));
    // The scan has them cosigned again.
    assert!(same(&with_quorum(&project), &of_project) && same(&with_quorum(&test), &of_test));
    assert!(same(&checkpoint(&test, "?cosigned=true").0, &of_test));
}

fn a_witness_of_another_implementation_cosigns(kind: DatabaseKind) {
    let Some(go) = go() else {
        return;
    };
    let program = build_go(
        &go,
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("log_witness/main.go"),
    );
    let database = Database::create(kind);
    let key = log_key(&database);
    let (one, of_go) = (
        witness("witness.example/one", &key),
        Witness::of_program(&program, "witness.example/go", &key),
    );
    let both = policy(&[(&one.key, &one.url), (&of_go.key, &of_go.url)], 2);
    let server = start(&database, &both);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    for size in [1, 256, 530] {
        store_events(&project, size - project.count());
        assert_eq!(size_of(&with_quorum(&project)), size as u64);
    }
    drop(server);
    // A node that does not know what the witnesses have learns it from their refusal.
    let server = start(&database, &both);
    let project = organization.on(&server).project();
    store_events(&project, 7);
    assert_eq!(size_of(&with_quorum(&project)), 537);
}

#[test]
fn a_policy_that_cannot_be_satisfied_is_refused() {
    let database = Database::create(DatabaseKind::Sqlite);
    let name = KeyName::parse("witness.example/w1").expect("a name");
    let nobody = WitnessSigner::from_seed(name, &[7; 32]).expect("a key");
    for (text, refusal) in [
        (
            format!("witness w {}\nquorum w\n", nobody.key()),
            "the quorum cannot be reached",
        ),
        ("quorum w\n".to_owned(), "line 1: the quorum is not defined"),
        ("nonsense\n".to_owned(), "line 1"),
    ] {
        let path = temporary_directory("policy-").join("policy");
        std::fs::write(&path, text).expect("write the policy");
        let refused = audit_tests::serve_refused(&database, &[(POLICY, text_of(&path))]);
        assert!(refused.contains(refusal), "{refusal:?} in {refused}");
    }
    let refused = audit_tests::serve_refused(&database, &[(POLICY, "/nonexistent/policy")]);
    assert!(refused.contains("cannot read /nonexistent/policy"), "{refused}");
}
