//! Changes of the configuration next to commits, on both databases: which requests they make stale, and that they cannot
//! deadlock.

use crate::configuring::{key, redaction_rule};
use crate::{NOW, create_project, destination, open_at, prepare};
use audit_domain::{KeyId, OrganizationId, Plan, ProjectId, Timestamp, ViewerTier};
use audit_store::{Appended, Deployment, Destination, Key, NewEvent, Project, Store, StoreError};
use audit_tests::{Database, DatabaseKind, on_both_databases};
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

on_both_databases! {
    no_change_of_another_project_makes_a_commit_stale,
    a_lost_change_leaves_no_request_stale_and_its_version_is_not_used_again,
    a_claim_that_was_prepared_with_an_older_configuration_is_refused,
    a_project_that_the_database_has_lost_makes_its_requests_stale,
    concurrent_changes_and_commits_do_not_deadlock,
}

fn event(to: &Destination, number: u8) -> NewEvent {
    event_at(to, NOW, number)
}

fn event_at(to: &Destination, received_at: Timestamp, number: u8) -> NewEvent {
    let event =
        json!({"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}});
    prepare(to, &event, received_at, number)
}

fn put_rule(store: &Store, project_id: ProjectId, number: u8) {
    let put = store.configure(project_id, move |configurator| {
        configurator.put_redaction_rule(&redaction_rule(&format!("rule {number}")))
    });
    put.expect("the rule is stored");
}

/// Adds a key to a project of the organization `create_project(store, 1)`. Its row refers to both.
fn add_key(store: &Store, project_id: ProjectId, id: [u8; 16]) {
    let key = Key {
        id: KeyId::from_random(id),
        ..key(1, Some(project_id))
    };
    let mut hash = [0; 32];
    hash[..16].copy_from_slice(&id);
    let added = store.configure(project_id, move |configurator| {
        configurator.insert_key(&key, &hash)
    });
    added.expect("the key is stored");
}

/// Adds a project to the organization of `create_project(store, organization)`.
fn add_project(store: &Store, organization: u8, number: u8) -> ProjectId {
    let organization_id = OrganizationId::from_random([organization; 16]);
    let project = Project {
        id: ProjectId::from_random([number; 16]),
        organization_id,
        name: "p".to_owned(),
        created_at: NOW,
        archived_at: None,
        metadata_filter_paths: Vec::new(),
    };
    let id = project.id;
    let added = store.configure(organization_id, move |configurator| {
        configurator.insert_project(&project, &ViewerTier::initial())
    });
    added.expect("the project is created");
    id
}

fn no_change_of_another_project_makes_a_commit_stale(kind: DatabaseKind) {
    const CHANGES: u8 = 40;
    let database = Database::create(kind);
    let (one, two) = (open_at(database.url()), open_at(database.url()));
    let to = create_project(&one, 1);
    let neighbor = create_project(&one, 2).project_id;
    // The first commits of a node lock the head; the following ones are one statement on PostgreSQL.
    let store = |number| one.append_blocking(to.clone(), vec![event(&to, number)]);
    let mut stored = 0;
    thread::scope(|scope| {
        let changing = scope.spawn(|| {
            for number in 0..CHANGES {
                add_project(&two, 1, 10 + number);
                add_project(&two, 2, 110 + number);
                put_rule(&two, neighbor, number);
            }
        });
        while !changing.is_finished() || stored < 10 {
            store(0).expect("no request is stale");
            stored += 1;
        }
        changing.join().expect("the changes commit");
    });
    put_rule(&two, to.project_id, 0);
    assert!(matches!(store(0), Err(StoreError::Stale)));
    let present = destination(&one, to.project_id);
    let outcome = one.append_blocking(present.clone(), vec![event(&present, 0)]);
    assert!(matches!(
        outcome.expect("it is stored").events[..],
        [Appended::Stored(_)]
    ));
}

fn a_lost_change_leaves_no_request_stale_and_its_version_is_not_used_again(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open_at(database.url());
    let append = |to: &Destination| store.append_blocking(to.clone(), vec![event(to, 0)]);
    let before = create_project(&store, 1);
    for _ in 0..3 {
        append(&before).expect("the request is current");
    }
    database.execute("CREATE TABLE lost AS SELECT id, configuration_version AS version FROM ledgers");
    put_rule(&store, before.project_id, 1);
    let lost = destination(&store, before.project_id);
    append(&lost).expect("the request is current");
    database.execute(
        "DELETE FROM redaction_rules;
        UPDATE ledgers SET configuration_version = (SELECT version FROM lost WHERE lost.id = ledgers.id)",
    );
    assert!(matches!(append(&lost), Err(StoreError::Stale)));
    append(&before).expect("the request is current");
    put_rule(&store, before.project_id, 2);
    assert!(matches!(append(&lost), Err(StoreError::Stale)));
    assert!(matches!(append(&before), Err(StoreError::Stale)));
    append(&destination(&store, before.project_id)).expect("the request is current");
}

fn a_claim_that_was_prepared_with_an_older_configuration_is_refused(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open_at(database.url());
    let before = create_project(&store, 1);
    put_rule(&store, before.project_id, 1);
    let claim = |to: Destination| {
        store.write(move |writer| {
            let events = vec![event(&to, 0)];
            writer.append_claimed(to, events, NOW)
        })
    };
    assert!(matches!(claim(before.clone()), Err(StoreError::Stale)));
    assert_eq!(
        claim(destination(&store, before.project_id))
            .expect("the request is current")
            .log_size,
        1
    );
}

fn a_project_that_the_database_has_lost_makes_its_requests_stale(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open_at(database.url());
    let to = create_project(&store, 1);
    database.execute("DELETE FROM ledgers; DELETE FROM projects; DELETE FROM organizations");
    if kind == DatabaseKind::Postgres {
        database.execute("UPDATE counters SET value = 0 WHERE name = 'ledgers'");
    }
    let append = || store.append_blocking(to.clone(), vec![event(&to, 0)]);
    assert!(matches!(append(), Err(StoreError::Stale)));
    // The project that is created next gets the number of the lost one's ledger.
    let next = create_project(&store, 2);
    assert_eq!(next.ledger_id, to.ledger_id);
    assert!(matches!(append(), Err(StoreError::Stale)));
}

/// Stores an event. After a refusal as stale, prepares it with the present configuration.
fn store_current(store: &Store, project_id: ProjectId) {
    loop {
        let to = destination(store, project_id);
        match store.append_blocking(to.clone(), vec![event(&to, 0)]) {
            Ok(_) => return,
            Err(StoreError::Stale) => {}
            Err(error) => panic!("a commit failed: {error}"),
        }
    }
}

/// Claims the event of an earlier second for a project, with its configuration held.
fn claim(store: &Store, project_id: ProjectId, number: u8) {
    let to = destination(store, project_id);
    let received_at = NOW.plus_seconds(-1 - i64::from(number));
    let claimed = store.write(move |writer| {
        writer.hold_configuration(project_id)?;
        let version = writer.configuration_version(project_id)?;
        let to = Destination {
            configuration_version: version.expect("the project has a version"),
            ..to
        };
        let events = vec![event_at(&to, received_at, number)];
        writer.append_claimed(to, events, NOW)
    });
    claimed.expect("a held configuration does not change");
}

/// A thread that changes the configuration. Its end, also by a panic, is counted.
struct Changer<'a>(&'a AtomicU64);

impl<'a> Changer<'a> {
    fn new(running: &'a AtomicU64) -> Self {
        running.fetch_add(1, Ordering::Relaxed);
        Self(running)
    }
}

impl Drop for Changer<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn concurrent_changes_and_commits_do_not_deadlock(kind: DatabaseKind) {
    const ROUNDS: u8 = 25;
    let database = Database::create(kind);
    let node = open_at(database.url());
    // On SQLite one process writes: two would wait for the lock of the file in no order, and one of them could reach the limit of its wait.
    let another = (kind == DatabaseKind::Postgres).then(|| open_at(database.url()));
    let (one, two) = (&node, another.as_ref().unwrap_or(&node));
    let organization_id = OrganizationId::from_random([1; 16]);
    let first = create_project(one, 1).project_id;
    let projects = [first, add_project(one, 1, 2), add_project(one, 1, 3)];
    let (stored, changing) = (&AtomicU64::new(0), &AtomicU64::new(0));
    thread::scope(|scope| {
        for (node, store) in [(1, one), (2, two)] {
            let changer = Changer::new(changing);
            scope.spawn(move || {
                let _changer = changer;
                for round in 0..ROUNDS {
                    let plan = [Plan::Pro, Plan::Enterprise][usize::from(round) % 2];
                    let set =
                        store.configure(organization_id, move |configurator| configurator.set_plan(plan));
                    assert!(set.expect("the plan is set"));
                }
            });
            let changer = Changer::new(changing);
            scope.spawn(move || {
                let _changer = changer;
                for round in 0..ROUNDS {
                    // In another order than that of the ledgers.
                    for (number, project_id) in projects.into_iter().enumerate().rev() {
                        put_rule(store, project_id, round);
                        let mut id = [node; 16];
                        (id[0], id[1]) = (number as u8, round);
                        add_key(store, project_id, id);
                    }
                }
            });
        }
        let changer = Changer::new(changing);
        scope.spawn(move || {
            let _changer = changer;
            for round in 0..ROUNDS {
                add_project(two, 1, 10 + round);
                claim(two, projects[usize::from(round) % projects.len()], round);
                stored.fetch_add(1, Ordering::Relaxed);
                two.configure(Deployment, |configurator| configurator.delete_secret("none"))
                    .expect("the transaction commits");
            }
        });
        for store in [one, two] {
            for project_id in projects {
                scope.spawn(move || {
                    while changing.load(Ordering::Relaxed) > 0 {
                        store_current(store, project_id);
                        stored.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        }
    });
    let sizes = projects.map(|project_id| {
        let to = destination(one, project_id);
        let appended = one.append_blocking(to.clone(), vec![event(&to, 0)]);
        appended.expect("the event is stored").log_size - 1
    });
    assert_eq!(sizes.iter().sum::<u64>(), stored.load(Ordering::Relaxed));
}
