//! Nothing of a removed event stays in the database but its record.

use super::{DAYS, Scene};
use audit_tests::{Database, DatabaseKind, event_with, on_both_databases};
use serde_json::json;

on_both_databases! {
    nothing_of_the_text_of_a_removed_event_stays,
}

/// In every text of the events that are removed.
const REMOVED: &str = "quixoticmarker";
/// In every text of an event that stays: what finds it would find the others.
const KEPT: &str = "stoicmarker";

fn marked(marker: &str) -> serde_json::Value {
    let text = |name: &str| format!("{name} {marker}");
    event_with(json!({
        "tenant_id": format!("tenant-{marker}"),
        "actor": {"id": format!("actor-{marker}"), "name": text("Name")},
        "target": {"type": "file", "id": format!("target-{marker}"), "name": text("File")},
        "context": {"user_agent": text("Agent"), "session_id": format!("session-{marker}")},
        "metadata": {"note": text("Note"), (format!("member_{marker}")): 1},
        "changes": [{"field": "title", "before": text("Before"), "after": text("After")}],
        "idempotency_key": format!("key-{marker}"),
    }))
}

/// Where the database has a text, plain or in hexadecimal digits: names of tables and files.
pub(crate) fn places(database: &Database, text: &str) -> Vec<String> {
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut places = Vec::new();
    for (table, columns) in database.tables() {
        let rows = database.rows(&table, &columns);
        if rows.iter().any(|row| row.contains(text) || row.contains(&hex)) {
            places.push(table);
        }
    }
    if database.kind() == DatabaseKind::Sqlite {
        for (path, bytes) in database.files() {
            if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                places.push(path.display().to_string());
            }
        }
    }
    places
}

fn nothing_of_the_text_of_a_removed_event_stays(kind: DatabaseKind) {
    let created = Scene::create(kind, |organization| {
        let project = organization.project();
        let ids = vec![project.store(marked(REMOVED))];
        // The map of tenants has its name.
        project.get("/log/tenants").send().expect_status(200);
        ids
    });
    let Some((mut scene, server)) = created else {
        return;
    };
    let project = scene.organization.project();
    project.store(marked(KEPT));
    assert_ne!(places(&scene.database, REMOVED), Vec::<String>::new());
    scene.remove(json!({"days": DAYS}));
    assert_eq!(
        project.find(&[("search", REMOVED)]),
        Vec::<serde_json::Value>::new()
    );
    assert_eq!(project.find(&[("search", KEPT)]).len(), 1);
    crate::log::stop(server);
    assert_ne!(places(&scene.database, KEPT), Vec::<String>::new());
    assert_eq!(places(&scene.database, REMOVED), Vec::<String>::new());
}
