//! What a failed read costs the database, and which reads are repeated.

use crate::open_at;
use audit_domain::KeyId;
use audit_store::StoreError;
use audit_tests::{Database, DatabaseKind};
use std::cell::Cell;

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
