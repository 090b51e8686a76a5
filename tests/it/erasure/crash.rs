//! A server that is killed: an erasure whose list was not complete is cancelled, a confirmed one goes on.

use super::{
    ERASURE_SECONDS, GRACE_MILLIS, Scene, confirm, done, listed, read, request_of, requested, wait_until_gone,
};
use audit_tests::{Database, DatabaseKind, Deadline, event_with, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    a_killed_server_cancels_what_it_listed_and_goes_on_with_what_it_erased,
}

/// More than one transaction erases.
const EVENTS: usize = 300;
/// Events of one request.
const BATCH: usize = 100;
/// The first transaction does not come to it.
const HELD_BACK: usize = 220;
/// Longer than the leases of an erasure.
const LEASES_MILLIS: i64 = 16 * 60_000;

/// From now on, these statements fail: `INSERT ON removed_events`.
pub(crate) fn hold_back(database: &Database, statement: &str, condition: &str) {
    let (function, action) = match database.kind() {
        DatabaseKind::Sqlite => ("", "BEGIN SELECT RAISE(ABORT, 'held by a test'); END"),
        DatabaseKind::Postgres => (
            "CREATE OR REPLACE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'held by a test'; END $$;",
            "EXECUTE FUNCTION held()",
        ),
    };
    database.execute(&format!(
        "{function} CREATE TRIGGER held AFTER {statement} FOR EACH ROW {condition} {action}"
    ));
}

pub(crate) fn let_go(database: &Database, table: &str) {
    database.execute(&match database.kind() {
        DatabaseKind::Sqlite => "DROP TRIGGER held".to_owned(),
        DatabaseKind::Postgres => format!("DROP TRIGGER held ON {table}; DROP FUNCTION held"),
    });
}

fn request() -> Value {
    request_of(json!({"ids": ["usr_jane"]}), "person")
}

fn a_killed_server_cancels_what_it_listed_and_goes_on_with_what_it_erased(kind: DatabaseKind) {
    let Some((mut scene, mut server)) = Scene::create(kind) else {
        return;
    };
    let event = event_with(json!({"actor": {"id": "usr_jane"}, "metadata": {"note": "kept"}}));
    for _ in 0..EVENTS / BATCH {
        let batch = vec![event.clone(); BATCH];
        scene.organization.project().store_all(batch);
    }

    // While it lists.
    hold_back(&scene.database, "INSERT ON removed_events", "");
    let erasure = requested(&scene.organization, request());
    assert_eq!(read(&scene.organization, &erasure)["state"], "listing");
    server.kill();
    let_go(&scene.database, "removed_events");
    scene.clock.advance_millis(LEASES_MILLIS);
    server = scene.start();
    wait_until_gone(&scene.organization, &erasure);
    let rows = ["removals", "removed_events"].map(|table| scene.database.count(table));
    assert_eq!(rows, [0, 0], "nothing is left of it");

    // After the confirmation.
    let erasure = listed(&scene.organization, request());
    assert_eq!(erasure["events"], json!(EVENTS), "{erasure}");
    let planned = confirm(&scene.organization, &erasure).expect_status(202)["erasure"].clone();
    server.kill();
    server = scene.start();
    let goes_on = read(&scene.organization, &erasure);
    for member in ["state", "digest", "not_before", "planned_seq", "events"] {
        assert_eq!(goes_on[member], planned[member], "{member}: {goes_on}");
    }

    // While it erases.
    let position = match kind {
        DatabaseKind::Sqlite => "OLD.entry & 1099511627775",
        DatabaseKind::Postgres => "OLD.seq",
    };
    hold_back(
        &scene.database,
        "UPDATE ON events",
        &format!("WHEN ({position} = {HELD_BACK})"),
    );
    scene.clock.advance_millis(GRACE_MILLIS);
    let erased = Deadline::seconds(ERASURE_SECONDS).poll("the first events are erased", || {
        assert_eq!(read(&scene.organization, &erasure)["done_at"], Value::Null);
        Some(scene.erased_rows()).filter(|rows| *rows > 0)
    });
    assert!(erased <= HELD_BACK as i64, "{erased}");
    assert_eq!(read(&scene.organization, &erasure)["state"], "erasing");
    server.kill();
    let_go(&scene.database, "events");
    scene.clock.advance_millis(LEASES_MILLIS);
    server = scene.start();
    done(&scene.organization, &erasure);
    assert_eq!(scene.erased_rows(), EVENTS as i64);
    let left = scene
        .organization
        .project()
        .find(&[("action", "user.created"), ("limit", "1")]);
    assert!(
        left[0]["metadata"].is_null() && left[0]["actor"]["id"].is_null(),
        "{left:?}"
    );
    crate::log::stop(server);
    let verified = scene.verified();
    assert_eq!(verified["findings"], json!([]), "{verified}");
}
