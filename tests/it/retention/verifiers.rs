//! What verifiers say of a log after a removal.

use super::edits::another_label;
use super::{DAYS, NEW, OLD, Scene, audit};
use crate::archive::Archive;
use crate::log::{store_events, text_of};
use audit_tests::{
    DatabaseKind, Organization, Server, command_line, command_line_on, go, on_both_databases, python,
    run_log_sumdb, run_python, temporary_directory,
};
use serde_json::json;
use std::process::Output;

on_both_databases! {
    log_verify_counts_what_was_removed,
    a_new_auditor_and_one_who_has_seen_the_events_accept_a_removal,
    independent_libraries_account_for_every_place_after_a_removal,
    an_archive_says_which_events_were_removed,
    an_archive_of_parquet_has_the_hashes_of_removed_events,
    an_archive_from_before_a_removal_goes_on_after_it,
}

fn log_verify_counts_what_was_removed(kind: DatabaseKind) {
    let Some(scene) = Scene::removed(kind) else { return };
    let said = command_line_on(&scene.database, &["log", "verify"]).success();
    let expected =
        format!("consistent; {OLD} removed by retention (1 removal, on 2026-07-15), 0 erased, 0 unexplained");
    assert!(said.contains(&expected), "{said}");
    let verified = scene.verified();
    let removal = &verified["removed"]["removals"][0];
    assert_eq!(removal["events"], json!(OLD), "{verified}");
    assert_eq!(removal["through"].as_u64(), Some(OLD as u64 - 1), "{verified}");
    assert_eq!(verified["signed"], verified["events"], "{verified}");
}

fn a_new_auditor_and_one_who_has_seen_the_events_accept_a_removal(kind: DatabaseKind) {
    let Some(scene) = Scene::removed(kind) else { return };
    let (server, organization) = scene.start();
    let new = temporary_directory("audit-").join("state");
    for state in [&scene.state, &new] {
        let said = audit(&server, &organization, state);
        assert!(said.contains(&format!("{OLD} removed by retention")), "{said}");
    }
}

fn independent_libraries_account_for_every_place_after_a_removal(kind: DatabaseKind) {
    let (Some(python), Some(go)) = (python(), go()) else {
        return;
    };
    let Some(scene) = Scene::removed(kind) else { return };
    let run = |server: &Server, organization: &Organization| -> [Output; 2] {
        let log = [server.base_url(), &organization.project_key];
        let pymerkle = run_python(
            &python,
            "log_pymerkle.py",
            &[&["server"], log.as_slice()].concat(),
        );
        [pymerkle, run_log_sumdb(&go, &log)]
    };
    let (server, organization) = scene.start();
    let removed = format!(" events included, {OLD} removed, ");
    for output in run(&server, &organization) {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains(&removed), "{output:?}");
    }
    crate::log::stop(server);
    let case = scene.case();
    case.tamper(&another_label(kind));
    let (server, _) = case.start();
    for output in run(&server, &organization) {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("removal"), "{output:?}");
    }
}

fn an_archive_says_which_events_were_removed(kind: DatabaseKind) {
    let Some(scene) = Scene::removed(kind) else { return };
    let folder = temporary_directory("evidence-");
    let file = folder.join("events.zip");
    let path = file.to_str().expect("a path in UTF-8");
    let arguments = [
        "log",
        "export",
        "--project",
        &scene.organization.project_id,
        "--from",
        "2026-01-01T00:00:00Z",
        "--to",
        "2026-12-31T00:00:00Z",
        path,
    ];
    command_line_on(&scene.database, &arguments).success();
    let mut archive =
        zip::ZipArchive::new(std::fs::File::open(&file).expect("open the archive")).expect("a zip file");
    let mut lines = |name: &str| -> usize {
        let text = std::io::read_to_string(archive.by_name(name).expect("the file")).expect("UTF-8");
        text.lines().count()
    };
    // The time of a removed event is unknown: the last one is the neighbour of the first event of the run.
    assert_eq!(lines("removed.jsonl"), 1);
    assert!(lines("events.jsonl") >= NEW, "own events follow");
    let key = command_line_on(&scene.database, &["log", "key"]).success();
    let key = key.trim_end();
    let name = key.split('+').next().expect("a name");
    let log = format!("{name}/{}/live", scene.organization.project_id);
    let said = command_line(&["check", path, "--key", key, "--log", &log]).success();
    assert!(said.contains("the events before were removed"), "{said}");
}

fn an_archive_of_parquet_has_the_hashes_of_removed_events(kind: DatabaseKind) {
    let Some(scene) = Scene::removed(kind) else { return };
    let archive = Archive::of(&scene.database, &scene.organization);
    archive.create(&scene.database, &[]).success();
    let said = archive.verified();
    assert!(said.contains(&format!("{OLD} were removed")), "{said}");
    assert!(!said.contains("behind its end"), "{said}");
}

fn an_archive_from_before_a_removal_goes_on_after_it(kind: DatabaseKind) {
    let created = Scene::create(kind, |organization| store_events(&organization.project(), OLD));
    let Some((mut scene, server)) = created else {
        return;
    };
    let archive = Archive::of(&scene.database, &scene.organization);
    let january = [
        "archive",
        "create",
        "--until",
        "2026-01",
        "--to",
        text_of(&archive.directory),
    ];
    command_line_on(&scene.database, &january).success();
    let before = archive.verified();
    scene.remove(json!({"days": DAYS}));
    crate::log::stop(server);
    archive.create(&scene.database, &[]).success();
    let said = archive.verified();
    assert!(
        before.contains("in 1 files") && said.contains("in 2 files"),
        "{before}{said}"
    );
    assert!(said.contains(" 0 were removed"), "{said}");
}
