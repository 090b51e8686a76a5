//! The report for auditors, of a log after a removal.

use super::{DAYS, OLD, Scene};
use crate::log::delete;
use audit_tests::process::Exit;
use audit_tests::{
    Database, DatabaseKind, Finished, Organization, Server, command_line_on, event, on_both_databases,
    temporary_directory,
};
use serde_json::{Value, json};

on_both_databases! {
    a_report_says_what_was_removed_under_which_event,
    a_report_over_http_says_the_same_and_verifies_no_events,
    a_row_deleted_by_hand_is_one_unexplained,
    a_log_that_lacks_a_lifecycle_event_has_no_report,
    a_report_as_a_document_runs_nothing_and_names_nobody,
    a_report_of_what_is_not_there_is_refused,
}

fn report_of(database: &Database, project_id: &str, more: &[&str]) -> Finished {
    command_line_on(
        database,
        &[&["log", "report", "--project", project_id], more].concat(),
    )
}

fn a_report_says_what_was_removed_under_which_event(kind: DatabaseKind) {
    let Some(scene) = Scene::removed(kind) else { return };
    let report = report_of(&scene.database, &scene.organization.project_id, &[]).json();
    let verified = scene.verified();
    assert_eq!(report["policy"]["days"], json!(DAYS), "{report:#}");
    let removals = report["removals"].as_array().expect("removals");
    assert_eq!(removals.len(), 1, "{report:#}");
    assert_eq!(removals[0]["seq"], verified["removed"]["removals"][0]["seq"]);
    assert_eq!(removals[0]["metadata"]["events"], json!(OLD));
    assert_eq!(removals[0]["metadata"]["policy"], report["policy"]["seq"]);
    assert_eq!(report["planned"], json!([]), "the plan was carried out");
    let counts = json!({
        "positions": verified["events"], "removed": OLD, "erased": 0, "stored": scene.rows(), "unexplained": 0,
    });
    assert_eq!(report["counts"], counts);
    assert_eq!(report["verified"]["findings"], json!(0));
    assert_eq!(report["verified"]["size"], verified["events"]);
    assert_eq!(
        (&report["size"], &report["signed"]),
        (&verified["events"], &verified["signed"])
    );
}

fn a_report_over_http_says_the_same_and_verifies_no_events(kind: DatabaseKind) {
    let Some(scene) = Scene::removed(kind) else { return };
    let stored = report_of(&scene.database, &scene.organization.project_id, &[]).json();
    let (_server, organization) = scene.start();
    let report = organization
        .project()
        .get("/log/report")
        .send()
        .expect_status(200);
    for list in [
        "policy",
        "policies",
        "planned",
        "cancelled",
        "removals",
        "erasures",
        "holds",
    ] {
        assert_eq!(report[list], stored[list], "{list}");
    }
    assert_eq!(report["verified"], Value::Null);
    assert_eq!(report["counts"]["unexplained"], Value::Null);
    assert_eq!(report["counts"]["removed"], json!(OLD));
    let checkpoint = report.text("checkpoint");
    let signed = report["signed"].to_string();
    assert_eq!(checkpoint.lines().nth(1), Some(signed.as_str()), "{checkpoint}");
}

fn a_row_deleted_by_hand_is_one_unexplained(kind: DatabaseKind) {
    let Some(scene) = Scene::removed(kind) else { return };
    let case = scene.case();
    case.tamper(&delete(kind, &format!("seq = {OLD}")));
    let finished = report_of(&case.database, &scene.organization.project_id, &[]);
    assert_eq!(finished.exit, Exit::Code(1), "{finished:?}");
    assert!(finished.stderr.contains("INCONSISTENT: "), "{finished:?}");
    let report: Value = serde_json::from_str(&finished.stdout).expect("a report");
    let counts = &report["counts"];
    assert_eq!(counts["unexplained"], json!(1), "{report:#}");
    assert_eq!(counts["removed"], json!(OLD), "{report:#}");
    assert_eq!(counts["stored"], json!(scene.rows() - 1), "{report:#}");
    assert_ne!(report["verified"]["findings"], json!(0), "{report:#}");
}

fn a_log_that_lacks_a_lifecycle_event_has_no_report(kind: DatabaseKind) {
    let Some(scene) = Scene::removed(kind) else { return };
    let verified = scene.verified();
    let removal = &verified["removed"]["removals"][0]["seq"];
    let case = scene.case();
    case.tamper(&delete(kind, &format!("seq = {removal}")));
    let finished = report_of(&case.database, &scene.organization.project_id, &[]);
    assert_eq!(finished.exit, Exit::Code(1), "{finished:?}");
    assert_eq!(finished.stdout, "");
    assert!(finished.stderr.contains("the log has no report"), "{finished:?}");
    assert!(finished.stderr.contains("INCONSISTENT: "), "{finished:?}");
    let (_server, project) = case.start();
    project
        .get("/log/report")
        .send()
        .expect_error(500, "log_inconsistent");
}

fn a_report_as_a_document_runs_nothing_and_names_nobody(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    organization.project().store(event());
    let hold = json!({
        "reason": "<script>alert(1)</script>", "tenant_id": "a tenant of a case", "actor_id": "an actor of a case",
        "target_id": "a target of a case",
    });
    organization
        .master()
        .post("/holds")
        .json(hold)
        .send()
        .expect_status(201);
    let request = || organization.project().get("/log/report");
    let response = request().query("format", "html").send_raw();
    assert_eq!(response.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = response.header("content-security-policy").expect("a policy");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    let served = String::from_utf8(response.bytes).expect("UTF-8");
    request()
        .query("format", "pdf")
        .send()
        .expect_invalid(&["format"]);
    crate::log::stop(server);
    let file = temporary_directory("report-").join("report.html");
    let path = file.to_str().expect("a path in UTF-8");
    let arguments = ["--html", path];
    report_of(&database, &organization.project_id, &arguments).success();
    let written = std::fs::read_to_string(&file).expect("the report");
    for html in [&served, &written] {
        assert!(
            html.contains("Legal holds in force: 1 (&lt;script&gt;alert(1)&lt;/script&gt;)."),
            "{html}"
        );
        assert!(html.contains("No retention policy was ever set"), "{html}");
        assert!(!html.contains("<script") && !html.contains("of a case"), "{html}");
    }
    assert!(served.contains("was not verified") && !written.contains("was not verified"));
    assert!(
        written.contains("0 positions lack their event without an explanation"),
        "{written}"
    );
    let again = report_of(&database, &organization.project_id, &arguments).refusal();
    assert!(again.contains("already exists"), "{again}");
}

fn a_report_of_what_is_not_there_is_refused(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    crate::log::stop(server);
    let refused = report_of(&database, "8aefe29f-cd1a-4802-85e0-718cd30d0f63", &[]);
    assert_eq!(refused.exit, Exit::Code(2), "{refused:?}");
    assert!(refused.stderr.contains("project"), "{refused:?}");
}
