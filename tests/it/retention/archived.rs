//! A policy that lets events go once an archive has them, and the events by which a log names its archives.

use super::restored::{hold, restore};
use super::{DAYS, GRACE_MILLIS, OLD, REMOVAL_SECONDS, Scene};
use crate::log::{STATE_DIRECTORY, store_events, text_of};
use audit_tests::process::Exit;
use audit_tests::{
    DatabaseKind, Deadline, Finished, Server, command_line, command_line_on, finished, on_both_databases,
    start_command_line_at, temporary_directory,
};
use serde_json::json;
use std::path::Path;

on_both_databases! {
    nothing_goes_before_an_archive_has_it_that_the_log_names,
    an_archive_that_was_changed_is_not_recorded,
    an_archive_that_lacks_what_was_put_back_is_not_recorded,
}

/// Archives and records the months before July.
fn record(scene: &Scene, directory: &Path) -> Finished {
    create(scene, directory, &["--until", "2026-06", "--record"])
}

/// Archives on the clock of the scene.
fn create(scene: &Scene, directory: &Path, more: &[&str]) -> Finished {
    let url = ["--database-url", scene.database.url()];
    let arguments = ["archive", "create", "--to", text_of(directory)];
    let process = start_command_line_at(&[&arguments[..], &url, more].concat(), &scene.clock);
    finished(process, Deadline::seconds(REMOVAL_SECONDS))
}

fn nothing_goes_before_an_archive_has_it_that_the_log_names(kind: DatabaseKind) {
    let created = Scene::create(kind, |organization| store_events(&organization.project(), OLD));
    let Some((mut scene, server)) = created else {
        return;
    };
    crate::log::stop(server);
    let environment = [("AUDIT_REMOVAL_GRACE", "1h"), ("AUDIT_SELF_AUDIT", "on")];
    let environment = [&environment[..], &[(STATE_DIRECTORY, text_of(&scene.memory))]].concat();
    let server = Server::start_at(&scene.database, &environment, &scene.clock);
    scene.organization = scene.organization.on(&server);
    let preview = scene.send("GET", &format!("/retention/preview?days={DAYS}"), None);
    assert_eq!(preview.expect_status(200)["archived"], json!(false));
    let plan = scene.plan(json!({"days": DAYS, "archive": true}));
    assert_eq!(plan["events"], json!(OLD), "{plan}");
    scene.clock.advance_millis(GRACE_MILLIS);
    let waits = Deadline::seconds(REMOVAL_SECONDS).poll("the plan waits", || {
        let retention = scene.retention();
        (retention["waiting_for"] == "archive").then_some(retention)
    });
    assert_eq!(waits["policy"]["archive"], json!(true));
    assert_eq!(waits["archive"], json!(null));
    let project = scene.organization.project();
    let delayed = project.find(&[("action", "audit.retention.delayed")]);
    assert_eq!(delayed.len(), 1, "its alert tells an operator");
    assert_eq!(delayed[0]["metadata"]["plan"], plan["seq"]);
    let doctor = command_line_on(&scene.database, &["doctor"]);
    assert!(doctor.stdout.contains("waiting for an archive"), "{doctor:?}");

    let directory = temporary_directory("archive-").join("archive");
    let said = record(&scene, &directory).success();
    assert!(
        said.contains(&format!("says that {OLD} positions are archived")),
        "{said}"
    );
    let removal = scene.finish();
    assert_eq!(removal["events"], json!(OLD));
    let retention = scene.retention();
    let archive = &retention["archive"];
    assert_eq!(archive["end_seq"], json!(OLD));
    assert_eq!(removal["archive"], archive["manifest"]);
    let manifest = archive["manifest"].as_str().expect("a digest").to_owned();
    for path in ["/events", "/events/summary", "/events/feed", "/events/export"] {
        let response = scene.organization.project().get(path).send_raw();
        let archived = response.header("events-archived-manifest");
        assert_eq!(archived, Some(manifest.as_str()), "{path}");
    }
    // The same archive again is no news.
    record(&scene, &directory).success();
    assert_eq!(scene.retention()["archive"]["seq"], archive["seq"]);
    let key = command_line_on(&scene.database, &["log", "key"]).success();
    let verified = command_line(&["archive", "verify", text_of(&directory), "--key", &key]).success();
    let newest = format!("newest manifest {manifest}");
    assert!(verified.contains(&newest), "{verified}");
    crate::log::stop(server);
    let report = scene.verified();
    assert_eq!(report["removed"]["retention"], json!(OLD), "{report}");
    assert_eq!(report["removed"]["unexplained"], json!(0), "{report}");
    let project = &scene.organization.project_id;
    let report = command_line_on(&scene.database, &["log", "report", "--project", project]).json();
    assert_eq!(report["archives"][0]["metadata"]["manifest"], json!(manifest));
    assert_eq!(report["removals"][0]["metadata"]["archive"], json!(manifest));
}

fn an_archive_that_was_changed_is_not_recorded(kind: DatabaseKind) {
    let created = Scene::create(kind, |organization| store_events(&organization.project(), OLD));
    let Some((scene, _server)) = created else {
        return;
    };
    let directory = temporary_directory("archive-").join("archive");
    create(
        &scene,
        &directory,
        &["--until", "2026-06", "--events-per-file", "100"],
    )
    .success();
    let parquet = crate::archive::files_below(&directory);
    let parquet = parquet
        .iter()
        .find(|path| path.extension().is_some_and(|of| of == "parquet"));
    let file = parquet.expect("a file of the archive");
    let mut bytes = std::fs::read(file).expect("read a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(file, bytes).expect("change a file");
    let refused = record(&scene, &directory);
    assert_eq!(refused.exit, Exit::Code(1), "{refused:?}");
    assert!(refused.stderr.contains("the file is another one"), "{refused:?}");
    assert_eq!(scene.retention()["archive"], json!(null));
}

fn an_archive_that_lacks_what_was_put_back_is_not_recorded(kind: DatabaseKind) {
    let created = Scene::create(kind, |organization| store_events(&organization.project(), OLD));
    let Some((mut scene, _server)) = created else {
        return;
    };
    let directory = temporary_directory("archive-").join("archive");
    record(&scene, &directory).success();
    let removal = scene.remove(json!({"days": DAYS, "archive": true}));
    assert_eq!(removal["events"], json!(OLD));
    // Made of what is left: it has hashes in the place of the events, as the log has.
    let later = temporary_directory("archive-").join("later");
    let with_july = ["--until", "2026-07", "--record"];
    create(&scene, &later, &with_july).success();
    let id = hold(&scene, json!({"reason": "case 12"}));
    restore(&mut scene, &directory, &id).success();
    let refused = create(&scene, &later, &with_july);
    assert_eq!(refused.exit, Exit::Code(1), "{refused:?}");
    assert!(
        refused.stderr.contains("the archive lacks event 0"),
        "{refused:?}"
    );
    // The events go again once the archive that has them is recorded again.
    let before = scene.retention()["archive"]["seq"].clone();
    record(&scene, &directory).success();
    assert_ne!(scene.retention()["archive"]["seq"], before);
}
