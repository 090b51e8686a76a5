//! Events that a removal took are put back from an archive, for a hold.

use super::{DAYS, GRACE_MILLIS, NEW, REMOVAL_SECONDS, Scene, audit};
use crate::archive::{Archive, files_below};
use crate::log::{delete, store_events, text_of};
use audit_tests::process::{Exit, Process};
use audit_tests::{
    DatabaseKind, Deadline, Finished, Server, command_line_on, event_with, finished, on_both_databases,
    start_command_line_at, temporary_directory,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;

on_both_databases! {
    restored_events_are_as_they_were_and_go_again_after_the_hold,
    a_killed_restore_is_continued,
    what_an_erasure_took_is_not_restored,
}

/// Events of the tenant that is held.
const HELD: usize = 300;
/// Those of another one.
const OTHERS: usize = 20;
/// The most events of a request.
const EVENTS_OF_REQUEST: usize = 100;
/// Longer than a server leaves an event of another process to that.
const SETTLED_MILLIS: i64 = 120_000;
const DAY_MILLIS: i64 = 86_400_000;

/// Events of two tenants in turns, with words, and for some a key.
fn store_of_two_tenants(scene: &audit_tests::Organization) -> Vec<String> {
    let event = |number: usize| {
        let tenant = match number % (HELD / OTHERS) {
            0 => "other",
            _ => "acme",
        };
        let key = number.is_multiple_of(3).then(|| format!("key-{number}"));
        event_with(json!({
            "tenant_id": tenant, "idempotency_key": key, "actor": {"id": format!("actor-{}", number % 7)},
            "metadata": {"number": number, "note": format!("word{} and more", number % 11)},
        }))
    };
    let events: Vec<Value> = (0..HELD).map(event).collect();
    let project = scene.project();
    let chunks = events.chunks(EVENTS_OF_REQUEST);
    chunks
        .flat_map(|chunk| project.store_all(chunk.to_vec()))
        .collect()
}

fn restore_arguments<'a>(scene: &'a Scene, archive: &'a Path, hold: &'a str) -> Vec<&'a str> {
    let arguments = [
        "archive",
        "restore",
        "--from",
        text_of(archive),
        "--hold",
        hold,
        "--project",
        &scene.organization.project_id,
        "--environment",
        "live",
        "--database-url",
        scene.database.url(),
    ];
    arguments.to_vec()
}

/// Runs the command on the clock of the scene. Once a minute a server looks for what other processes have appended, and signs it when it
/// is some seconds old.
pub(super) fn restore(scene: &mut Scene, archive: &Path, hold: &str) -> Finished {
    let rows = scene.rows();
    let process = start_restore(scene, archive, hold);
    Deadline::seconds(REMOVAL_SECONDS).poll("the event of the restore, or its end", || {
        (scene.rows() > rows || !process.is_running()).then_some(())
    });
    scene.clock.advance_millis(SETTLED_MILLIS);
    finished(process, Deadline::seconds(REMOVAL_SECONDS))
}

fn start_restore(scene: &Scene, archive: &Path, hold: &str) -> Process {
    start_command_line_at(&restore_arguments(scene, archive, hold), &scene.clock)
}

/// Places a hold, and returns its id.
pub(super) fn hold(scene: &Scene, covers: Value) -> String {
    let placed = scene.send("POST", "/holds", Some(covers)).expect_status(201);
    placed["hold"]["id"].as_str().expect("an id").to_owned()
}

/// An archive of everything.
fn archived(scene: &Scene) -> Archive {
    let archive = Archive::of(&scene.database, &scene.organization);
    Deadline::seconds(REMOVAL_SECONDS).poll("an archive of the events", || {
        archive.create(&scene.database, &[]).success();
        let said = archive.verified();
        said.contains(&format!("{} events", scene.rows())).then_some(())
    });
    archive
}

/// What the API says of the events of the held tenant.
fn seen(scene: &Scene) -> Value {
    let project = scene.organization.project();
    let found = |name: &str, value: &str| {
        let parameters = [("tenant_id", "acme"), (name, value), ("limit", "70")];
        project.pages(&parameters).concat()
    };
    let all = found("order", "asc");
    let one = all[5]["id"].as_str().expect("an id");
    let summary = project.get("/events/summary").query("tenant_id", "acme");
    let summary = summary.send().expect_status(200);
    json!({
        "all": all,
        "descending": found("order", "desc"),
        "words": found("search", "word3"),
        "actor": found("actor_id", "actor-2"),
        "one": project.event(one),
        "total": summary["total"],
        "top": summary["top"],
    })
}

/// Asserts that no verifier finds anything. Returns what `log verify` says of the log, on which no server runs afterwards.
fn verified(scene: &Scene, server: Server) -> Value {
    let new = temporary_directory("audit-").join("state");
    for state in [&scene.state, &new] {
        audit(&server, &scene.organization, state);
    }
    crate::log::stop(server);
    let verified = scene.verified();
    assert_eq!(verified["findings"], json!([]), "{verified}");
    assert_eq!(verified["removed"]["unexplained"], json!(0), "{verified}");
    let index = command_line_on(&scene.database, &["index", "verify"]);
    assert_eq!(index.exit, Exit::Code(0), "{index:?}");
    verified
}

/// The positions of the restores in the log.
fn restores(scene: &Scene) -> Vec<Value> {
    let own = [("tenant_id", "audit-server"), ("action", "audit.events.restored")];
    scene.organization.project().find(&own)
}

fn restored_events_are_as_they_were_and_go_again_after_the_hold(kind: DatabaseKind) {
    let Some((mut scene, server)) = Scene::create(kind, store_of_two_tenants) else {
        return;
    };
    let archive = archived(&scene);
    let before = seen(&scene);
    let restored = before["all"].as_array().expect("events").len();
    assert_eq!(restored, HELD - OTHERS);
    scene.remove(json!({"days": DAYS}));
    assert_eq!(seen_count(&scene), 0);
    let id = hold(&scene, json!({"reason": "case 12", "tenant_id": "acme"}));
    let said = restore(&mut scene, &archive.directory, &id).success();
    assert!(said.starts_with(&format!("{restored} events restored")), "{said}");
    let after = seen(&scene);
    for (name, value) in before.as_object().expect("members") {
        assert_eq!(&after[name], value, "{name}");
    }
    let project = scene.organization.project();
    project
        .get(&format!("/events/{}", scene.old[0]))
        .send()
        .expect_error(410, "event_removed");
    project
        .get(&format!("/events/{}/proof", scene.old[1]))
        .send()
        .expect_status(200);
    let again = restore(&mut scene, &archive.directory, &id).success();
    assert!(again.starts_with("0 events restored"), "{again}");
    let there = format!("{restored} that were there already");
    assert!(again.contains(&there), "{again}");
    let events = restores(&scene);
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["metadata"]["events"], json!(restored), "{events:?}");
    let verified_once = verified(&scene, server);
    assert_eq!(
        verified_once["removed"]["retention"],
        json!(HELD - restored),
        "{verified_once}"
    );

    // Its tenant is the held one.
    let case = scene.case();
    case.tamper(&delete(kind, "seq = 1"));
    let findings = case.findings();
    let missing = |finding: &Value| {
        let problem = finding["problem"].as_str().unwrap_or_default();
        problem.starts_with("1 events that the restore at ")
    };
    assert!(findings.iter().any(missing), "{findings:?}");

    // Two days later the clock of a new process does not look as if it had jumped.
    scene.clock.advance_millis(2 * DAY_MILLIS);
    let (server, organization) = scene.start();
    scene.organization = organization;
    assert_eq!(seen(&scene)["all"], before["all"]);
    scene
        .send(
            "POST",
            &format!("/holds/{id}/release"),
            Some(json!({"reason": "the case is closed"})),
        )
        .expect_status(200);
    // Another policy, so that the operator has seen the clock of the new process.
    let plan = scene.plan(json!({"days": DAYS + 1}));
    assert!(plan["events"].as_u64() >= Some(restored as u64), "{plan}");
    scene.clock.advance_millis(GRACE_MILLIS);
    Deadline::seconds(REMOVAL_SECONDS).poll("the end of the second removal", || {
        let removals = scene.retention()["removals"].clone();
        let is_done = removals[1].is_object() && removals[0]["state"] == "done";
        is_done.then_some(())
    });
    assert_eq!(seen_count(&scene), 0);
    scene
        .organization
        .project()
        .get(&format!("/events/{}", scene.old[1]))
        .send()
        .expect_error(410, "event_removed");
    let refused = restore(&mut scene, &archive.directory, &id).refusal();
    assert!(refused.contains("is not in force"), "{refused}");
    verified(&scene, server);
}

fn seen_count(scene: &Scene) -> usize {
    scene.organization.project().find(&[("tenant_id", "acme")]).len()
}

fn a_killed_restore_is_continued(kind: DatabaseKind) {
    let created = Scene::create(kind, |organization| {
        let project = organization.project();
        (0..5).flat_map(|_| store_events(&project, 500)).collect()
    });
    let Some((mut scene, server)) = created else {
        return;
    };
    let archive = archived(&scene);
    scene.remove(json!({"days": DAYS}));
    let id = hold(&scene, json!({"reason": "case 12"}));
    refused(&mut scene, &archive, &id);
    let rows = scene.rows();
    crate::log::stop(server);

    // No server signs the event that comes first.
    let mut process = start_restore(&scene, &archive.directory, &id);
    Deadline::seconds(REMOVAL_SECONDS).poll("the event of the restore", || {
        (scene.rows() > rows || !process.is_running()).then_some(())
    });
    process.signal(Signal::KILL);
    assert_eq!(process.wait(Deadline::seconds(REMOVAL_SECONDS)), Exit::Signal(9));
    assert_eq!(scene.rows(), rows + 1);

    let (server, organization) = scene.start();
    scene.organization = organization;
    let mut process = start_restore(&scene, &archive.directory, &id);
    let some = rows + 100;
    Deadline::seconds(REMOVAL_SECONDS).poll("some of the rows", || {
        (scene.rows() > some || !process.is_running()).then_some(())
    });
    process.signal(Signal::KILL);
    let exit = process.wait(Deadline::seconds(REMOVAL_SECONDS));
    assert_eq!(exit, Exit::Signal(9), "it was killed in the middle");
    let said = restore(&mut scene, &archive.directory, &id).success();
    assert!(!said.starts_with("0 events"), "{said}");
    let events = restores(&scene);
    assert_eq!(events.len(), 1, "{events:?}");
    for ids in [&scene.old[..3], &scene.old[scene.old.len() - 3..]] {
        for id in ids {
            scene.organization.project().event(id);
        }
    }
    let parameters = [("action", "user.created"), ("limit", "200")];
    let found = scene.organization.project().pages(&parameters).concat();
    assert_eq!(found.len(), scene.old.len() + NEW);
    let verified = verified(&scene, server);
    assert_eq!(verified["removed"]["retention"], json!(0), "{verified}");
}

/// Asserts what the command refuses.
fn refused(scene: &mut Scene, archive: &Archive, id: &str) {
    let unknown = "hld_01KBDJ8Q4Z3W9F5T2M7X6C0N1A";
    let refusal = restore(scene, &archive.directory, unknown).refusal();
    assert!(refusal.contains("is not in force"), "{refusal}");
    let empty = temporary_directory("archive-");
    let refusal = restore(scene, &empty, id).refusal();
    assert!(refusal.contains("has no archive of the log"), "{refusal}");
    for (suffix, expected) in [
        (".parquet", "the file is another one"),
        (".json", "the events from 0 on are missing"),
    ] {
        let copy = archive.copy().directory;
        let mut files = files_below(&copy);
        files.retain(|path| path.to_string_lossy().ends_with(suffix));
        match suffix {
            ".json" => std::fs::remove_file(&files[0]).expect("remove a manifest"),
            _ => {
                let mut bytes = std::fs::read(&files[0]).expect("read a file");
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                std::fs::write(&files[0], bytes).expect("write a file");
            }
        }
        let refusal = restore(scene, &copy, id).refusal();
        assert!(refusal.contains(expected), "{refusal}");
    }
    assert_eq!(restores(scene), Vec::<Value>::new());
}

fn what_an_erasure_took_is_not_restored(kind: DatabaseKind) {
    let created = Scene::create(kind, |organization| {
        let event = |number: usize| {
            let actor = match number {
                0..3 => "jane",
                3..6 => "john",
                6 => "maria",
                _ => "other",
            };
            event_with(json!({"actor": {"id": actor, "name": actor}, "metadata": {"number": number}}))
        };
        organization.project().store_all((0..12).map(event).collect())
    });
    let Some((mut scene, server)) = created else {
        return;
    };
    let archive = archived(&scene);
    erase(&mut scene, "jane", "person");
    erase(&mut scene, "john", "row");
    // It ends without an event in the log.
    let nobody = request_erasure(&scene, "nobody", "person");
    wait_for_erasure(&scene, &nobody, "done");
    let project = scene.organization.project();
    project.store(event_with(json!({"actor": {"id": "maria"}})));
    let kept: Vec<String> = [&scene.old[..3], &scene.old[6..]].concat();
    let before: Vec<Value> = kept.iter().map(|id| project.event(id)).collect();
    assert!(before[0]["erased"].is_array(), "{}", before[0]);
    scene.remove(json!({"days": DAYS}));
    let erasure = erase(&mut scene, "maria", "person");
    let identifiers = temporary_directory("identifiers-").join("maria.json");
    std::fs::write(&identifiers, r#"{"ids": ["maria"]}"#).expect("write the identifiers");
    let rewritten = Archive::of(&scene.database, &scene.organization);
    let from = [
        "--from",
        text_of(&archive.directory),
        "--erasure",
        &erasure,
        "--identifiers",
        text_of(&identifiers),
    ];
    rewritten.complete(&scene.database, &from);
    let id = hold(&scene, json!({"reason": "case 12"}));
    // The archive alone lacks parts of the old event.
    let restored = restore(&mut scene, &rewritten.directory, &id);
    assert!(
        restored.stderr.contains("1 erasures were carried out"),
        "{restored:?}"
    );
    let said = restored.success();
    assert!(!said.starts_with("0 events"), "{said}");
    assert!(
        said.contains("not restored: 1 that were erased in part in the archive only"),
        "{said}"
    );
    let said = restore(&mut scene, &archive.directory, &id).success();
    assert!(said.starts_with("1 events restored"), "{said}");
    let after: Vec<Value> = kept.iter().map(|id| project.event(id)).collect();
    assert_eq!(after, before);
    for id in &scene.old[3..6] {
        let response = project.get(&format!("/events/{id}")).send();
        // It may have been one that retention removed, too.
        response.expect_error(410, "event_removed");
    }
    assert_eq!(project.find(&[("actor_id", "jane")]), Vec::<Value>::new());
    assert_eq!(project.find(&[("search", "jane")]), Vec::<Value>::new());
    verified(&scene, server);
}

/// Erases a person by the id of the actor. Returns the id of the erasure.
fn erase(scene: &mut Scene, id: &str, extent: &str) -> String {
    let erasure = request_erasure(scene, id, extent);
    let listed = wait_for_erasure(scene, &erasure, "listed");
    let digest = json!({"digest": listed["digest"]});
    scene
        .send("POST", &format!("/erasures/{erasure}/confirm"), Some(digest))
        .expect_status(202);
    scene.clock.advance_millis(GRACE_MILLIS);
    wait_for_erasure(scene, &erasure, "done");
    erasure
}

/// Returns the id of the erasure.
fn request_erasure(scene: &Scene, id: &str, extent: &str) -> String {
    let request = json!({"identifiers": {"ids": [id]}, "extent": extent, "basis": "contract"});
    let created = scene.send("POST", "/erasures", Some(request)).expect_status(201);
    created["erasure"]["id"].as_str().expect("an id").to_owned()
}

fn wait_for_erasure(scene: &Scene, erasure: &str, state: &str) -> Value {
    Deadline::seconds(REMOVAL_SECONDS).poll(state, || {
        let found = scene.send("GET", &format!("/erasures/{erasure}"), None);
        let found = found.expect_status(200)["erasure"].clone();
        (found["state"] == state).then_some(found)
    })
}
