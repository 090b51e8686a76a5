//! Periods of their own for categories.

use super::{DAYS, Scene, events_of};
use audit_tests::{DatabaseKind, on_both_databases};
use serde_json::json;

on_both_databases! {
    events_of_a_category_stay_for_its_own_period,
}

fn events_of_a_category_stay_for_its_own_period(kind: DatabaseKind) {
    let created = Scene::create(kind, |organization| {
        let pairs = events_of("acme", "mutation", 20)
            .into_iter()
            .zip(events_of("acme", "security", 20));
        organization
            .project()
            .store_all(pairs.flat_map(|(one, other)| [one, other]).collect())
    });
    let Some((mut scene, server)) = created else {
        return;
    };
    let removal = scene.remove(json!({"days": DAYS, "categories": {"security": 2190}}));
    assert_eq!(removal["events"], json!(20), "{removal}");
    let project = scene.organization.project();
    for (number, id) in scene.old.iter().enumerate() {
        let status = project.get(&format!("/events/{id}")).send().status();
        assert_eq!(status, if number % 2 == 0 { 410 } else { 200 }, "event {number}");
    }
    crate::log::stop(server);
    let verified = scene.verified();
    assert_eq!(verified["findings"], json!([]), "{verified}");
    assert_eq!(verified["removed"]["retention"], json!(20), "{verified}");
}
