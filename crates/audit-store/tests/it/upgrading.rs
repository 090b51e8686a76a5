//! A database that an older release has left.

use crate::ids::{Step, seq_of, take};
use crate::{NOW, append, count, create_project, destination, open, prepare};
use audit_domain::EventFilter;
use audit_store::{Appended, Destination, StoreError};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use serde_json::json;
use std::path::Path;

macro_rules! down {
    ($name:literal) => {
        include_str!(concat!(
            "../../../../migrations/sqlite/2026-11-21-",
            $name,
            "/down.sql"
        ))
    };
}

/// Makes the database one of the release that kept tokens in the tail, ids in a B-tree and a row for each day.
fn take_back(folder: &Path) {
    let path = folder.join("audit.db");
    let mut connection =
        SqliteConnection::establish(path.to_str().expect("a path in UTF-8")).expect("it opens");
    connection
        .batch_execute(concat!(
            "BEGIN;",
            down!("000013_event_key_entries"),
            down!("000012_ledger_days"),
            down!("000011_unordered_events"),
            down!("000010_event_runs"),
            "DELETE FROM __diesel_schema_migrations WHERE version >= '20261121000010'; COMMIT;",
        ))
        .expect("the migrations are taken back");
}

#[test]
fn what_was_stored_before_is_found_counted_and_repeated_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    let limited = |to: &Destination| Destination {
        daily_events_max: Some(9),
        ..to.clone()
    };
    let keyed = json!({
        "action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}, "idempotency_key": "k",
    });
    let first = append(&store, &limited(&to), vec![prepare(&to, &keyed, NOW, 1)]);
    let ids = take(
        &store,
        &to,
        &[Step::Sent(5, 1), Step::Claimed(4, 1_000), Step::Sent(2, 1)],
    );
    drop(store);
    take_back(folder.path());

    let store = open(folder.path());
    let to = destination(&store, to.project_id);
    for (seq, id) in ids.iter().enumerate() {
        assert_eq!(seq_of(&store, &to, *id), Some(seq as u64 + 1));
    }
    assert_eq!(count(&store, &to, EventFilter::default()), 12);
    let Appended::Stored(id) = first[0] else {
        panic!("{first:?}")
    };
    let again = append(&store, &to, vec![prepare(&to, &keyed, NOW, 2)]);
    assert_eq!(again, [Appended::Repeated(id)]);
    // Eight were sent today.
    let events = |number: u8| {
        vec![prepare(
            &to,
            &json!({"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}}),
            NOW,
            number,
        )]
    };
    append(&store, &limited(&to), events(3));
    let refused = store.append_blocking(limited(&to), events(4));
    assert!(
        matches!(refused, Err(StoreError::DailyLimit { limit: 9 })),
        "{refused:?}"
    );
}
