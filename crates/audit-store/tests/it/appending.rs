//! Appending across restarts and processes: idempotency keys, stale requests, gapless sequences.

use crate::{NOW, append, count, create_project, destination, open, prepare};
use audit_domain::EventFilter;
use audit_store::{Appended, StoreError};
use serde_json::{Value, json};

fn keyed(key: &str, actor: &str) -> Value {
    json!({"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": actor, "type": "user"}, "idempotency_key": key})
}

#[test]
fn a_key_is_found_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    let first = append(&store, &to, vec![prepare(&to, &keyed("k", "t"), NOW, 1)]);
    drop(store);
    let store = open(folder.path());
    let again = append(
        &store,
        &to,
        vec![
            prepare(&to, &keyed("k", "t"), NOW, 2),
            prepare(&to, &keyed("k", "u"), NOW, 3),
        ],
    );
    let Appended::Stored(id) = first[0] else {
        panic!("{first:?}")
    };
    assert_eq!(again, [Appended::Repeated(id), Appended::Conflicting(id)]);
    assert_eq!(count(&store, &to, EventFilter::default()), 1);
}

#[test]
fn a_key_that_another_process_stored_is_found_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (open(folder.path()), open(folder.path()));
    let to = create_project(&one, 1);
    for round in 0..50_u8 {
        let (writer, other) = if round % 2 == 0 {
            (&one, &two)
        } else {
            (&two, &one)
        };
        let event = keyed(&format!("k{round}"), "t");
        let stored = append(writer, &to, vec![prepare(&to, &event, NOW, round)]);
        let Appended::Stored(id) = stored[0] else {
            panic!("{stored:?}")
        };
        assert_eq!(
            append(other, &to, vec![prepare(&to, &event, NOW, round)]),
            [Appended::Repeated(id)]
        );
    }
    assert_eq!(count(&one, &to, EventFilter::default()), 50);
}

#[test]
fn the_same_key_in_two_projects_is_two_keys() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let (one, _) = (create_project(&store, 1), create_project(&store, 2));
    let one = destination(&store, one.project_id);
    let two = destination(&store, create_project_id(2));
    assert!(matches!(
        append(&store, &one, vec![prepare(&one, &keyed("k", "t"), NOW, 1)])[..],
        [Appended::Stored(_)]
    ));
    assert!(matches!(
        append(&store, &two, vec![prepare(&two, &keyed("k", "t"), NOW, 2)])[..],
        [Appended::Stored(_)]
    ));
}

fn create_project_id(number: u8) -> audit_domain::ProjectId {
    audit_domain::ProjectId::from_random([number; 16])
}

#[test]
fn a_request_prepared_with_an_older_configuration_is_refused_and_stores_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    let organization_id = audit_domain::OrganizationId::from_random([1; 16]);
    let changed = store.configure(organization_id, |configurator| {
        configurator.set_plan(audit_domain::Plan::Pro)
    });
    assert!(changed.unwrap());
    let outcome = store.append_blocking(to.clone(), vec![prepare(&to, &keyed("k", "t"), NOW, 1)]);
    assert!(matches!(outcome, Err(StoreError::Stale)), "{outcome:?}");
    assert_eq!(count(&store, &to, EventFilter::default()), 0);
}

#[test]
fn a_transaction_without_a_change_makes_no_request_stale() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    store
        .configure(to.project_id, |configurator| {
            configurator.revoke_key(audit_domain::KeyId::from_random([9; 16]), NOW)?;
            configurator.delete_redaction_rule("none").map(drop)
        })
        .unwrap();
    assert!(matches!(
        append(&store, &to, vec![prepare(&to, &keyed("k", "t"), NOW, 1)])[..],
        [Appended::Stored(_)]
    ));
}

#[test]
fn concurrent_requests_store_each_key_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    let mut ids: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8_u8)
            .map(|thread| {
                let (store, to) = (&store, &to);
                scope.spawn(move || {
                    (0..20)
                        .flat_map(|_| {
                            append(
                                store,
                                to,
                                vec![prepare(to, &keyed(&thread.to_string(), "t"), NOW, thread)],
                            )
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    ids.retain(|appended| matches!(appended, Appended::Stored(_)));
    assert_eq!(ids.len(), 8, "each key is stored once");
    assert_eq!(count(&store, &to, EventFilter::default()), 8);
}
