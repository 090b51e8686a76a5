//! What a failed read costs the database, and which reads are repeated.

use crate::{open_at, open_url};
use audit_domain::KeyId;
use audit_store::{StoreError, StoreOptions};
use audit_tests::{Database, DatabaseKind};
use std::cell::Cell;
use std::sync::mpsc;
use std::time::Duration;

/// A PostgreSQL database; `None` where there is none, and the test passes.
fn database() -> Option<Database> {
    let kind = DatabaseKind::Postgres;
    kind.is_available().then(|| Database::create(kind))
}

#[test]
fn a_read_that_fails_for_another_reason_than_its_session_sends_no_further_statement() {
    let Some(database) = database() else { return };
    let store = open_at(database.url());
    let outcome = store.read(|reader| {
        assert_eq!(reader.key(KeyId::from_random([1; 16]))?, None);
        Err::<(), _>(StoreError::Stale)
    });
    assert!(matches!(outcome, Err(StoreError::Stale)), "{outcome:?}");
    // The last statement of each session.
    let sessions = "pg_stat_activity WHERE datname = current_database() AND query";
    assert_eq!(
        database.count(&format!(
            "{sessions} LIKE '%api_keys%' AND pid <> pg_backend_pid()"
        )),
        1
    );
    assert_eq!(
        database.count(&format!("{sessions} = 'SELECT 1'")),
        0,
        "the session was tested"
    );
    store.close();
}

#[test]
fn a_read_whose_session_has_ended_is_repeated_on_another_one() {
    let Some(database) = database() else { return };
    let store = open_at(database.url());
    let attempts = Cell::new(0);
    let found = store.read(|reader| {
        attempts.set(attempts.get() + 1);
        if attempts.get() == 1 {
            reader.organizations()?;
            database.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE datname = current_database() AND query LIKE '%organizations%' AND pid <> pg_backend_pid()",
            );
        }
        reader.organizations()
    });
    assert_eq!(found.map_err(|error| error.to_string()), Ok(Vec::new()));
    assert_eq!(attempts.get(), 2);
    store.close();
}

#[test]
fn a_reader_waits_for_a_session_as_long_as_the_store_is_told() {
    let Some(database) = database() else { return };
    let open = |session_wait| {
        let options = StoreOptions {
            readers_max: 1,
            session_wait,
            ..StoreOptions::default()
        };
        open_url(&database.url().parse().expect("a valid URL"), options)
    };
    // Long enough for the first session, of which there is only one.
    let store = open(Duration::from_secs(2));
    let second = store.query(|_| Ok::<_, StoreError>(store.query(|reader| reader.organizations())));
    let second = second.expect("the first one has a session");
    assert!(matches!(second, Err(StoreError::Unreachable(_))), "{second:?}");
    store.close();

    let store = open(Duration::from_secs(600));
    std::thread::scope(|scope| {
        let (begun, has_begun) = mpsc::channel();
        store
            .query(|_| {
                let (store, begun) = (&store, begun.clone());
                let second = scope.spawn(move || {
                    begun.send(()).expect("the test listens");
                    store.query(|reader| reader.organizations())
                });
                has_begun.recv().expect("the thread tells that it has begun");
                Ok::<_, StoreError>(second)
            })
            .expect("the first one has a session")
            .join()
            .expect("the second one ends")
            .expect("the second one has the session when the first one has ended");
    });
    store.close();
}
