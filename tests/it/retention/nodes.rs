//! Two nodes on one PostgreSQL database, and a quorum of witnesses: one of the nodes is killed in the middle of a removal and of an erasure.

use super::{DAYS, GRACE_MILLIS, OLD, REMOVAL_SECONDS, Scene};
use crate::erasure::{confirm, done, hold_back, let_go, listed, request_of};
use crate::log::cosigning::{log_key, policy, witness};
use crate::log::{STATE_DIRECTORY, audit, store_events, text_of};
use audit_tests::{DatabaseKind, Deadline, Organization, Server, event_with, temporary_directory};
use serde_json::{Value, json};
use std::path::Path;

/// Events by the person who is erased: more than one transaction erases.
const PERSON: usize = 300;
/// Events of one request.
const BATCH: usize = 100;
/// The first transaction does not come to it.
const HELD_BACK: i64 = 220;
/// Longer than the leases of a removal and of an erasure.
const LEASES_MILLIS: i64 = 16 * 60_000;

fn node(scene: &Scene, memory: &Path, policy: &Path) -> Server {
    let environment = [
        (STATE_DIRECTORY, text_of(memory)),
        ("AUDIT_REMOVAL_GRACE", "1h"),
        ("AUDIT_POLICY", text_of(policy)),
    ];
    Server::start_at(&scene.database, &environment, &scene.clock)
}

/// What a node says of the live log. Without the id of the request.
fn body(organization: &Organization, path: &str) -> Value {
    let request = organization
        .master()
        .get(path)
        .query("project_id", &organization.project_id)
        .query("environment", "live");
    let mut body = request.send().expect_status(200).body().clone();
    body.as_object_mut().expect("an object").remove("request_id");
    body
}

fn retention(organization: &Organization) -> Value {
    body(organization, "/retention")
}

/// What a node serves of the log.
fn served(scene: &Scene, organization: &Organization, erasure: &Value) -> Value {
    let project = organization.project();
    let removed = project.get(&format!("/events/{}", scene.old[0])).send();
    removed.expect_error(410, "event_removed");
    json!({
        "events": project.pages(&[("limit", "200")]).concat(),
        "words": project.find(&[("search", "note7")]),
        "jane": project.find(&[("actor_id", "usr_jane")]),
        "removals": retention(organization)["removals"],
        "erasure": body(organization, &format!("/erasures/{}", erasure["id"].as_str().expect("an id"))),
    })
}

#[test]
fn what_a_killed_node_has_begun_the_other_one_finishes_with_a_quorum() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let created = Scene::create(DatabaseKind::Postgres, |organization| {
        store_events(&organization.project(), OLD)
    });
    let Some((mut scene, server)) = created else {
        return;
    };
    crate::log::stop(server);
    let witness = witness("witness.example/one", &log_key(&scene.database));
    let policy = policy(&[(&witness.key, &witness.url)], 1);
    let memories = [
        scene.memory.clone(),
        temporary_directory("memory-").join("second"),
    ];
    let [first, second] = memories.each_ref().map(|memory| node(&scene, memory, &policy));
    scene.organization = scene.organization.on(&first);
    let before_person = scene.rows();
    let event = |number: usize| {
        event_with(json!({"actor": {"id": "usr_jane"}, "metadata": {"note": format!("note{}", number % 11)}}))
    };
    let events: Vec<Value> = (0..PERSON).map(event).collect();
    for batch in events.chunks(BATCH) {
        scene.organization.project().store_all(batch.to_vec());
    }

    // The removal is in the log, and no quorum has seen it.
    scene.plan(json!({"days": DAYS}));
    witness.freeze();
    scene.clock.advance_millis(GRACE_MILLIS);
    let nodes = [&first, &second].map(|server| scene.organization.on(server));
    Deadline::seconds(REMOVAL_SECONDS).poll("a node waits for a quorum", || {
        let waits = |organization: &Organization| retention(organization)["waiting_for"] == "quorum";
        nodes.iter().any(waits).then_some(())
    });
    let old_rows = format!("events WHERE {} AND seq < {OLD}", scene.live());
    first.kill();
    assert_eq!(scene.database.count(&old_rows), OLD as i64);
    scene.organization = nodes[1].clone();
    assert_eq!(scene.retention()["removals"][0]["done_at"], json!(null));
    witness.thaw();
    scene.clock.advance_millis(LEASES_MILLIS);
    Deadline::seconds(REMOVAL_SECONDS).poll("the end of the removal on the other node", || {
        (scene.retention()["removals"][0]["state"] == "done").then_some(())
    });
    assert_eq!(scene.database.count(&old_rows), 0);

    // Some of the events are erased.
    let first = node(&scene, &memories[0], &policy);
    let person = request_of(json!({"ids": ["usr_jane"]}), "person");
    let erasure = listed(&scene.organization, person);
    assert_eq!(erasure["events"], json!(PERSON), "{erasure}");
    confirm(&scene.organization, &erasure).expect_status(202);
    let held_back = format!("WHEN (OLD.seq = {})", before_person + HELD_BACK);
    hold_back(&scene.database, "UPDATE ON events", &held_back);
    scene.clock.advance_millis(GRACE_MILLIS);
    let erased_rows = format!("events WHERE {} AND length(content_salt) > 16", scene.live());
    let erased = Deadline::seconds(REMOVAL_SECONDS).poll("the first events are erased", || {
        Some(scene.database.count(&erased_rows)).filter(|rows| *rows > 0)
    });
    assert!(erased <= HELD_BACK, "{erased}");
    second.kill();
    let_go(&scene.database, "events");
    scene.organization = scene.organization.on(&first);
    scene.clock.advance_millis(LEASES_MILLIS);
    done(&scene.organization, &erasure);
    assert_eq!(scene.database.count(&erased_rows), PERSON as i64);

    let second = node(&scene, &memories[1], &policy);
    let [one, other] =
        [&first, &second].map(|server| served(&scene, &scene.organization.on(server), &erasure));
    assert_eq!(one["jane"], json!([]), "{one}");
    assert_eq!(one, other);
    for server in [&first, &second] {
        let key = &scene.organization.project_key;
        // One auditor knows the log from before, the other one begins now.
        for state in [scene.state.clone(), temporary_directory("audit-").join("state")] {
            audit(server.base_url(), key, &state, &["--policy", text_of(&policy)]).success();
        }
    }
    crate::log::stop(first);
    crate::log::stop(second);
    let verified = scene.verified();
    assert_eq!(verified["findings"], json!([]), "{verified}");
    assert_eq!(verified["removed"]["retention"], json!(OLD), "{verified}");
    assert_eq!(verified["removed"]["unexplained"], json!(0), "{verified}");
}
