//! The cosignatures on receipts that a request waits for, and in archives.

use super::{WAIT_SECONDS_MAX, check, log_key, policy, start, with_quorum, witness};
use crate::log::{store_events, text_of};
use audit_tests::process::Exit;
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Finished, Organization, command_line, command_line_on, event,
    on_both_databases, temporary_directory,
};
use serde_json::json;
use std::path::{Path, PathBuf};

on_both_databases! {
    receipts_of_a_request_have_the_quorum_where_it_comes_in_time,
    archives_have_the_cosignatures_of_witnesses,
}

/// The receipt in the response to a request that stores an event.
fn receipt_of_request(project: &Client) -> PathBuf {
    let request = project.post("/events").header("Prefer", "receipt");
    let body = request.json(json!([event()])).send().expect_status(201);
    let receipt = body["receipts"][0].as_str().expect("a receipt").to_owned();
    let path = temporary_directory("receipt-").join("event.tlog-proof");
    std::fs::write(&path, receipt).expect("write the receipt");
    path
}

fn receipts_of_a_request_have_the_quorum_where_it_comes_in_time(kind: DatabaseKind) {
    let database = Database::create(kind);
    let key = log_key(&database);
    let one = witness("witness.example/one", &key);
    let two = witness("witness.example/two", &key);
    let both = policy(&[(&one.key, &one.url), (&two.key, &two.url)], 2);
    let server = start(&database, &both);
    let project = Organization::create(&server, "enterprise").project();
    // A busy machine may miss the time limit once.
    let said = Deadline::seconds(WAIT_SECONDS_MAX).poll("a cosigned receipt", || {
        let checked = check(&receipt_of_request(&project), &key, &both);
        (checked.exit == Exit::Code(0)).then_some(checked.stdout)
    });
    assert!(said.trim_end().ends_with(", cosigned by w0, w1"), "{said}");
    // Without the quorum the receipt comes as well, and says so by what it lacks.
    two.kill();
    let receipt = receipt_of_request(&project);
    command_line(&["check", text_of(&receipt), "--key", &key]).success();
    let refused = check(&receipt, &key, &both);
    assert_eq!(refused.exit, Exit::Code(1), "{refused:?}");
}

/// Exports the events received at this time, or all.
fn export(database: &Database, project_id: &str, time: Option<&str>, more: &[&str]) -> (Finished, PathBuf) {
    let file = temporary_directory("archive-").join("archive.zip");
    let (from, to) = time.map_or(("2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"), |time| {
        (time, time)
    });
    let arguments = [
        "log",
        "export",
        "--project",
        project_id,
        "--from",
        from,
        "--to",
        to,
    ];
    let arguments = [&arguments[..], &[text_of(&file)], more].concat();
    (command_line_on(database, &arguments), file)
}

fn archives_have_the_cosignatures_of_witnesses(kind: DatabaseKind) {
    let database = Database::create(kind);
    let key = log_key(&database);
    let one = witness("witness.example/one", &key);
    let two = witness("witness.example/two", &key);
    let both = policy(&[(&one.key, &one.url), (&two.key, &two.url)], 2);
    let rules = ["--policy", text_of(&both)];
    let server = start(&database, &both);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    store_events(&project, 1);
    with_quorum(&project);
    store_events(&project, 2);
    with_quorum(&project);
    let project_id = organization.project_id.as_str();
    let exported = |time: Option<&str>, more: &[&str]| {
        let (finished, file) = export(&database, project_id, time, more);
        (finished.success(), file)
    };
    for more in [&rules[..], &[]] {
        let (said, file) = exported(None, more);
        assert!(said.contains("cosigned by a quorum of witnesses"), "{said}");
        let proved = check(&file, &key, &both).success();
        assert!(proved.starts_with("3 events received"), "{proved}");
        assert!(proved.ends_with(", cosigned by w0, w1"), "{proved}");
    }
    let early = project.pages(&[("limit", "10")]).concat();
    let early = early[2]["received_at"].as_str().expect("a time").to_owned();
    // Later events have no quorum. The earlier ones keep theirs.
    two.kill();
    store_events(&project, 2);
    let (_, file) = exported(Some(&early), &rules);
    check(&file, &key, &both).success();
    without_a_quorum(&database, project_id, &key, &both);
}

fn without_a_quorum(database: &Database, project_id: &str, key: &str, both: &Path) {
    let (refused, _) = export(database, project_id, None, &["--policy", text_of(both)]);
    assert_eq!(refused.exit, Exit::Code(2), "{refused:?}");
    assert!(
        refused.stderr.contains("no checkpoint that covers the events"),
        "{refused:?}"
    );
    let (exported, file) = export(database, project_id, None, &[]);
    let said = exported.success();
    assert!(said.contains("without a quorum of witnesses"), "{said}");
    command_line(&["check", text_of(&file), "--key", key]).success();
    assert_eq!(check(&file, key, both).exit, Exit::Code(1));
}
