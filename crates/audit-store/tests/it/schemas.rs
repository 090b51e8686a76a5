//! Stores in schemas of one PostgreSQL database.

use crate::{NOW, append, count, create_project, destination, open_at, prepare};
use audit_domain::{EventFilter, ProjectId};
use audit_store::{Appended, StoreError, require_unused};
use audit_tests::{Database, DatabaseKind, Deadline};
use serde_json::json;
use std::thread;

/// A PostgreSQL database; `None` where there is none, and the test passes.
fn database() -> Option<Database> {
    let kind = DatabaseKind::Postgres;
    kind.is_available().then(|| Database::create(kind))
}

fn url_of(database: &Database, schema: &str) -> String {
    let separator = if database.url().contains('?') { '&' } else { '?' };
    format!("{}{separator}schema={schema}", database.url())
}

#[test]
fn stores_in_two_schemas_of_a_database_do_not_see_each_other() {
    let Some(database) = database() else { return };
    let event =
        json!({"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}});
    let urls = ["cell_a", "cell_b"].map(|schema| url_of(&database, schema));
    for url in &urls {
        let store = open_at(url);
        // The same ids, and the same ledger numbers.
        let to = create_project(&store, 1);
        let appended = append(&store, &to, vec![prepare(&to, &event, NOW, 1)]);
        assert!(matches!(appended[..], [Appended::Stored(_)]), "{appended:?}");
        store.close();
    }
    for url in &urls {
        let store = open_at(url);
        let to = destination(&store, ProjectId::from_random([1; 16]));
        assert_eq!(count(&store, &to, EventFilter::default()), 1, "{url}");
    }
    // Nothing is outside of the schemas.
    let in_public = "pg_catalog.pg_class WHERE relnamespace = 'public'::regnamespace";
    assert_eq!(database.count(in_public), 0);
    assert_eq!(database.count("cell_a.events"), 1);
    assert_eq!(database.count("cell_b.__diesel_schema_migrations"), 1);
}

/// The server notices a moment later that a process has closed its sessions.
#[test]
fn who_needs_the_database_alone_waits_for_sessions_that_are_ending() {
    let Some(database) = database() else { return };
    let url = database.url().parse().expect("a valid URL");
    let store = open_at(database.url());
    let refused = require_unused(&url);
    assert!(matches!(refused, Err(StoreError::InUse(_))), "{refused:?}");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| require_unused(&url));
        Deadline::seconds(60).poll("a first look", || {
            let looks = "pg_stat_activity WHERE query LIKE '%pg_try_advisory_lock%' AND state = 'idle'";
            (database.count(looks) > 0).then_some(())
        });
        store.close();
        drop(store);
        let unused = waiting.join().expect("no panic");
        assert!(unused.is_ok(), "{unused:?}");
    });
}

#[test]
fn nodes_that_start_together_create_a_schema_once() {
    let Some(database) = database() else { return };
    let url = url_of(&database, "cell");
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| drop(open_at(&url)));
        }
    });
    let store = open_at(&url);
    let organizations = store.read(|reader| reader.organizations());
    assert_eq!(
        organizations.map_err(|error: StoreError| error.to_string()),
        Ok(Vec::new())
    );
}
