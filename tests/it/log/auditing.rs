//! `log audit`: its state file, the events that it reads, and its exit code.

use super::{Case, assert_wrong, audit, store_events};
use audit_tests::process::Exit;
use audit_tests::{DatabaseKind, Organization, Server, event_with, on_both_databases, temporary_directory};
use serde_json::{Value, json};
use std::path::Path;

on_both_databases! {
    each_audit_goes_on_where_the_last_one_ended,
    only_new_events_are_read_when_that_is_wanted,
    a_master_key_audits_any_log_of_its_organization,
    the_key_can_be_given,
    an_undecidable_state_is_not_reported_as_tampering,
    every_kind_of_event_is_hashed_as_the_server_does,
    an_event_that_is_not_signed_in_time_is_reported,
    a_server_that_cannot_return_what_it_signed_is_reported,
    auditors_with_two_histories_are_told,
    verification_changes_nothing,
}

fn state_of(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("read the state of an audit");
    serde_json::from_str(&text).expect("JSON")
}

fn each_audit_goes_on_where_the_last_one_ended(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let state = temporary_directory("audit-").join("state");
    let url = Server::shared(database).base_url();
    let run = || audit(url, &organization.project_key, &state, &[]).success();
    assert!(
        run().contains(": 0 events, 0 of them new"),
        "an empty log can be audited"
    );
    let mut size = 0;
    for count in [1, 0, 254, 1, 1, 300] {
        store_events(&organization.project(), count);
        size += count;
        let line = run();
        assert!(
            line.contains(&format!(": {size} events, {count} of them new; {size} read")),
            "{line}"
        );
        let state = state_of(&state);
        let checkpoint = state["checkpoint"].as_str().expect("a checkpoint");
        assert_eq!(checkpoint.lines().nth(1), Some(size.to_string().as_str()));
    }
    let folder = state.parent().expect("a folder");
    assert_eq!(
        std::fs::read_dir(folder).expect("list it").count(),
        1,
        "the state is a single file"
    );
}

fn only_new_events_are_read_when_that_is_wanted(database: DatabaseKind) {
    let case = Case::fresh(database);
    let audited = case.audit(&["--new-only"]).success();
    assert!(
        audited.contains(": 300 events, 0 of them new; 0 read"),
        "{audited}"
    );
    let (server, project) = case.start();
    store_events(&project, 10);
    let audited = audit(
        server.base_url(),
        &case.organization.project_key,
        &case.state,
        &["--new-only"],
    )
    .success();
    assert!(
        audited.contains(": 310 events, 10 of them new; 10 read"),
        "{audited}"
    );
    // A cursor that the server refuses does not fail the audit.
    let mut state = state_of(&case.state);
    state["cursor"] = json!("nonsense");
    std::fs::write(&case.state, state.to_string()).expect("write the state");
    store_events(&project, 10);
    let audited = audit(
        server.base_url(),
        &case.organization.project_key,
        &case.state,
        &["--new-only"],
    )
    .success();
    assert!(
        audited.contains(": 320 events, 10 of them new; 10 read"),
        "{audited}"
    );
    drop(server);
    // As `--help` states, `--new-only` does not detect a change of an event read before. A full audit does.
    case.tamper("UPDATE events SET body = replace(body, 'actor-1', 'actor-2') WHERE LEDGER AND seq = 305");
    case.audit(&["--new-only"]).success();
    case.expect_caught("event 305 was");
}

fn a_master_key_audits_any_log_of_its_organization(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    store_events(&organization.project(), 3);
    store_events(&organization.test(), 2);
    let url = Server::shared(database).base_url();
    let run = |environment: &str| {
        let state = temporary_directory("audit-").join("state");
        let more = [
            "--project",
            &organization.project_id,
            "--environment",
            environment,
        ];
        audit(url, &organization.master_key, &state, &more).success()
    };
    let (live, test) = (run("live"), run("test"));
    assert!(
        live.contains(&format!("/{}/live: 3 events", organization.project_id)),
        "{live}"
    );
    assert!(
        test.contains(&format!("/{}/test: 2 events", organization.project_id)),
        "{test}"
    );
}

fn the_key_can_be_given(database: DatabaseKind) {
    let server = Server::shared(database);
    let organization = Organization::fresh(database);
    store_events(&organization.project(), 3);
    let key = server.command_line(&["log", "key"]).success();
    let run = |state: &Path, key: &str| {
        audit(
            server.base_url(),
            &organization.project_key,
            state,
            &["--verifier-key", key],
        )
    };
    let state = temporary_directory("audit-").join("state");
    run(&state, &key).success();
    assert_eq!(state_of(&state)["key"], *key);
    let other = "other+9e5aae8e+AWVn8zM6fvYhM/kA1sOaqCL5sfSYHvZwJMj1vBnSnbLw";
    let refused = run(&state, other);
    assert_eq!(refused.exit, Exit::Code(2), "{refused:?}");
    // The example key of Go's documentation, which has not signed this log.
    let go = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    let state = temporary_directory("audit-").join("state");
    assert_wrong(&run(&state, go), "not signed by a known key");
    assert!(!state.exists(), "a failed audit saves no state");
}

fn an_undecidable_state_is_not_reported_as_tampering(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let folder = temporary_directory("audit-");
    let state = folder.join("state");
    let url = Server::shared(database).base_url();
    let unknown = |finished: audit_tests::Finished| {
        assert_eq!(finished.exit, Exit::Code(2), "{finished:?}");
        assert!(
            finished.stdout.is_empty() && !finished.stderr.is_empty(),
            "{finished:?}"
        );
    };
    unknown(audit(url, "pk_live_nonsense", &state, &[]));
    unknown(audit(
        "http://127.0.0.1:1",
        &organization.project_key,
        &state,
        &[],
    ));
    unknown(audit(
        url,
        &organization.project_key,
        &state,
        &["--verifier-key", "nonsense"],
    ));
    unknown(audit(
        url,
        &organization.project_key,
        &folder.join("no/folder"),
        &[],
    ));
    std::fs::write(&state, "nonsense").expect("write a file");
    unknown(audit(url, &organization.project_key, &state, &[]));
    assert_eq!(
        std::fs::read_to_string(&state).expect("read it"),
        "nonsense",
        "the invalid state file is not overwritten"
    );
}

fn every_kind_of_event_is_hashed_as_the_server_does(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    project.store_all(vec![
        event_with(json!({"metadata": {"": 1, "é": 2, "\u{fb33}": 3, "\u{1f600}": 4, "\r": "\u{7f}\"\\/\u{1}"}})),
        event_with(json!({"metadata": {"n": [0, -0.0, 1.0, 1e21, 1e-7, 5e-324, 9_007_199_254_740_993_u64, u64::MAX, i64::MIN]}})),
        event_with(json!({"actor": {"email": "jane@example.com"}, "occurred_at": "2020-01-15T10:30:00.5+01:00"})),
    ]);
    let raw = r#"{"action":"a.b","category":"auth","tenant_id":"t","actor":{"id":"a","type":"user"},
        "metadata":{"long":123456789012345678901234567890,"exponent":1.5E+300,"zeros":1.500}}"#;
    project.post("/events").raw_json(raw).send().expect_status(201);
    let state = temporary_directory("audit-").join("state");
    let audited = audit(
        Server::shared(database).base_url(),
        &organization.project_key,
        &state,
        &[],
    )
    .success();
    assert!(audited.contains(": 4 events, 4 of them new; 4 read"), "{audited}");
}

fn an_event_that_is_not_signed_in_time_is_reported(database: DatabaseKind) {
    let case = Case::fresh(database);
    let (server, project) = case.start();
    let key = &case.organization.project_key;
    let audited = |more: &[&str]| audit(server.base_url(), key, &case.state, more);
    audited(&["--acknowledged", "300"]).success();
    assert_wrong(
        &audited(&["--acknowledged", "301"]),
        "has acknowledged 301 events, and signs 300",
    );
    // A log that the server refuses to sign: it shows its last checkpoint, and stores events for a while.
    let changed = case.database.blob(&[7; 32]);
    case.tamper(&format!(
        "UPDATE events SET content_hash = {changed} WHERE LEDGER AND seq = 270"
    ));
    store_events(&project, 20);
    server.wait_for_metric("audit_logs_inconsistent", 1);
    let late = |seconds: &str| {
        audit(
            server.base_url(),
            key,
            &case.state,
            &["--new-only", "--max-unsigned", seconds],
        )
    };
    // It reads nothing that was changed, and the events behind the checkpoint are not signed.
    assert_wrong(&late("0s"), "is not signed");
    let verified = audit_tests::command_line_on(&case.database, &["log", "verify", "--max-unsigned", "0s"]);
    assert_eq!(verified.exit, Exit::Code(1), "{verified:?}");
}

fn a_server_that_cannot_return_what_it_signed_is_reported(database: DatabaseKind) {
    let case = Case::fresh(database);
    case.tamper("UPDATE ledgers SET frontier = NULL, size = 0 WHERE HEAD");
    assert_eq!(case.audit(&[]).exit, Exit::Code(1));
    let case = Case::fresh(database);
    let broken = case.database.blob(&[7; 31]);
    case.tamper(&format!(
        "UPDATE events SET content_hash = {broken} WHERE LEDGER AND seq = 17"
    ));
    assert_eq!(case.audit(&[]).exit, Exit::Code(1));
}

fn auditors_with_two_histories_are_told(database: DatabaseKind) {
    let compare = |one: &Path, other: &Path, more: &[&str]| {
        let arguments = ["log", "compare", super::text_of(one), super::text_of(other)];
        audit_tests::command_line(&[&arguments, more].concat())
    };
    let case = Case::fresh(database);
    let other = case.copy();
    compare(&case.state, &other.state, &[]).success();
    for (case, name) in [(&case, "one"), (&other, "other")] {
        let (server, project) = case.start();
        for number in 0..20 {
            project.store(event_with(json!({"metadata": {"name": name, "number": number}})));
        }
        audit(
            server.base_url(),
            &case.organization.project_key,
            &case.state,
            &[],
        )
        .success();
        drop(server);
    }
    assert_wrong(
        &compare(&case.state, &other.state, &[]),
        "two histories of 320 events",
    );
    // Logs of two sizes: the server has to prove that one continues the other.
    let smaller = case.copy();
    let (server, project) = case.start();
    store_events(&project, 10);
    let key = &case.organization.project_key;
    audit(server.base_url(), key, &case.state, &[]).success();
    let undecided = compare(&smaller.state, &case.state, &[]);
    assert_eq!(undecided.exit, Exit::Code(2), "{undecided:?}");
    let asked = ["--url", server.base_url(), "--key", key];
    compare(&smaller.state, &case.state, &asked).success();
    assert_wrong(&compare(&other.state, &case.state, &asked), "");
}

fn verification_changes_nothing(database: DatabaseKind) {
    let case = Case::fresh(database);
    if database == DatabaseKind::Sqlite {
        let before = case.database.files();
        case.expect_sound();
        let after = case.database.files();
        let content = |files: &[(std::path::PathBuf, Vec<u8>)]| {
            let kept = files
                .iter()
                .filter(|(path, _)| !path.to_string_lossy().contains("-shm"));
            kept.filter(|(_, bytes)| !bytes.is_empty())
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(content(&before).len(), content(&after).len());
        assert!(content(&before) == content(&after), "no file has changed");
    }
    let missing = audit_tests::Database::create(database);
    let finished = super::verify(&missing);
    assert_eq!(finished.exit, Exit::Code(2), "{finished:?}");
    assert!(missing.tables().is_empty(), "no table was created");
}
