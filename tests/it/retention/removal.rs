//! What a removal takes, and when.

use super::{DAYS, GRACE_MILLIS, NEW, OLD, REMOVAL_SECONDS, Scene};
use crate::log::store_events;
use audit_tests::{DatabaseKind, Deadline, on_both_databases};
use serde_json::json;

on_both_databases! {
    old_events_go_and_all_others_stay,
    a_row_is_missing_if_and_only_if_a_record_covers_it,
    nothing_goes_in_the_grace_and_nothing_after_a_cancelled_plan,
}

fn old_events_go_and_all_others_stay(kind: DatabaseKind) {
    let Some(scene) = Scene::removed(kind) else { return };
    let (_server, organization) = scene.start();
    let project = organization.project();
    let mut found = project.find_ids(&[("action", "user.created")]);
    found.sort_unstable();
    assert_eq!(found, scene.new);
    for id in &scene.new {
        project.event(id);
    }
    for id in [&scene.old[0], &scene.old[OLD - 1]] {
        project
            .get(&format!("/events/{id}"))
            .send()
            .expect_error(410, "event_removed");
    }
    project
        .get(&format!("/events/{}/proof", scene.new[0]))
        .send()
        .expect_status(200);
}

fn a_row_is_missing_if_and_only_if_a_record_covers_it(kind: DatabaseKind) {
    let Some(scene) = Scene::removed(kind) else { return };
    let verified = scene.verified();
    let removed = &verified["removed"];
    assert_eq!(removed["retention"], json!(OLD), "{verified}");
    assert_eq!(removed["unexplained"], json!(0), "{verified}");
    let size = verified["events"].as_i64().expect("a number");
    assert_eq!(size - scene.rows(), OLD as i64, "{verified}");
}

fn nothing_goes_in_the_grace_and_nothing_after_a_cancelled_plan(kind: DatabaseKind) {
    let created = Scene::create(kind, |organization| store_events(&organization.project(), OLD));
    let Some((mut scene, server)) = created else {
        return;
    };
    let plan = scene.plan(json!({"days": DAYS}));
    assert_eq!(plan["events"], json!(OLD), "{plan}");
    assert_eq!(
        scene.database.count("removed_events"),
        2,
        "records are written before"
    );
    let all = (OLD + NEW) as i64;
    assert!(scene.rows() >= all, "{plan}");
    let cancel = json!({"plan": plan["seq"]});
    scene
        .send("POST", "/retention/cancel", Some(cancel.clone()))
        .expect_status(200);
    scene
        .send("POST", "/retention/cancel", Some(cancel))
        .expect_error(409, "conflict");
    scene.clock.advance_millis(GRACE_MILLIS);
    Deadline::seconds(REMOVAL_SECONDS).poll("the records are deleted", || {
        (scene.database.count("removals") == 0).then_some(())
    });
    assert_eq!(scene.database.count("removed_events"), 0);
    assert!(scene.rows() >= all);
    crate::log::stop(server);
    let verified = scene.verified();
    assert_eq!(verified["removed"]["retention"], json!(0), "{verified}");
}
