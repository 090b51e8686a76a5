//! Legal holds.

use super::{DAYS, Scene, events_of};
use audit_tests::{DatabaseKind, Deadline, on_both_databases};
use serde_json::json;

on_both_databases! {
    events_under_a_hold_stay_until_it_is_released,
    a_hold_that_is_placed_in_the_grace_cancels_the_plan,
}

fn scene(kind: DatabaseKind) -> Option<(Scene, audit_tests::Server)> {
    Scene::create(kind, |organization| {
        let events = [
            events_of("acme", "mutation", 20),
            events_of("other", "mutation", 30),
        ];
        organization.project().store_all(events.concat())
    })
}

fn events_under_a_hold_stay_until_it_is_released(kind: DatabaseKind) {
    let Some((mut scene, server)) = scene(kind) else {
        return;
    };
    let hold = json!({"reason": "case 12", "tenant_id": "acme"});
    let placed = scene.send("POST", "/holds", Some(hold)).expect_status(201);
    let plan = scene.plan(json!({"days": DAYS}));
    assert_eq!(
        (&plan["events"], &plan["held"]),
        (&json!(30), &json!(20)),
        "{plan}"
    );
    scene.finish();
    let project = scene.organization.project();
    let mut held = project.find_ids(&[("tenant_id", "acme")]);
    held.sort_unstable();
    assert_eq!(held, scene.old[..20]);
    for id in &scene.old[20..] {
        project
            .get(&format!("/events/{id}"))
            .send()
            .expect_error(410, "event_removed");
    }
    let release = format!("/holds/{}/release", placed["hold"]["id"].as_str().expect("an id"));
    let reason = json!({"reason": "the case is closed"});
    scene
        .send("POST", &release, Some(reason.clone()))
        .expect_status(200);
    scene
        .send("POST", &release, Some(reason))
        .expect_error(409, "conflict");
    crate::log::stop(server);
    let verified = scene.verified();
    assert_eq!(verified["findings"], json!([]), "{verified}");
    assert_eq!(verified["removed"]["retention"], json!(30), "{verified}");
}

fn a_hold_that_is_placed_in_the_grace_cancels_the_plan(kind: DatabaseKind) {
    let Some((scene, server)) = scene(kind) else {
        return;
    };
    let rows = scene.rows();
    scene.plan(json!({"days": DAYS}));
    let hold = json!({"reason": "case 12", "tenant_id": "acme"});
    scene.send("POST", "/holds", Some(hold)).expect_status(201);
    Deadline::seconds(super::REMOVAL_SECONDS).poll("the plan is cancelled", || {
        scene.retention()["plan"].is_null().then_some(())
    });
    assert!(scene.rows() >= rows, "no event goes, and own events come");
    crate::log::stop(server);
    let verified = scene.verified();
    assert_eq!(verified["findings"], json!([]), "{verified}");
    assert_eq!(verified["removed"]["retention"], json!(0), "{verified}");
}
