//! Destinations: changes of them, leases of their runs, what was set aside, and deletion.

mod due;

use crate::{NOW, append, create_project, open_at, prepare};
use audit_domain::{Environment, ProjectId, Timestamp};
use audit_store::{
    Configurator, Destination, DestinationRow, DestinationRunRow, DueRun, LedgerId, MAIN_RUN, Reader,
    SecretRow, SetAsideRow, Store, StoreError, StoredSecret, Writer,
};
use audit_tests::{Database, DatabaseKind, on_both_databases};
use serde_json::json;

const LEASE: [u8; 16] = [1; 16];
const OTHER_LEASE: [u8; 16] = [2; 16];

on_both_databases! {
    a_run_is_leased_by_one_node_at_a_time,
    a_lease_that_was_written_before_the_clock_was_set_back_has_no_effect,
    a_node_whose_lease_another_has_taken_over_changes_nothing,
    a_paused_or_deleted_destination_is_not_leased,
    events_that_were_set_aside_are_listed_by_run_and_position,
    a_deletion_removes_the_runs_at_once_and_what_was_set_aside_in_steps,
    a_destination_is_changed_by_its_project_alone,
    a_previous_configuration_is_kept_until_the_present_one_has_worked,
    both_configurations_are_stored_secrets,
}

pub(crate) fn destination_row(project_id: ProjectId, id: &str) -> DestinationRow {
    DestinationRow {
        id: id.to_owned(),
        project_id: project_id.to_string(),
        environment: Environment::Live.as_str().to_owned(),
        name: "SIEM".to_owned(),
        kind: "https".to_owned(),
        format: "json".to_owned(),
        include_raw: false,
        ocsf_classes: "[]".to_owned(),
        filter: "{}".to_owned(),
        config: b"present".to_vec(),
        previous_config: None,
        paused: false,
        created_at: NOW.as_micros(),
        created_by_tenant: None,
    }
}

/// A main run that has just begun, at the beginning of the log.
pub(crate) fn run_row(ledger_id: LedgerId, id: &str) -> DestinationRunRow {
    DestinationRunRow {
        destination_id: id.to_owned(),
        number: MAIN_RUN,
        ledger_id: ledger_id.0,
        cursor_seq: 0,
        end_seq: None,
        position: 0,
        chain: vec![0; 32],
        planned: None,
        batch_max: 100,
        state: "active".to_owned(),
        attempts: 0,
        next_attempt_at: NOW.as_micros(),
        leased_until: 0,
        lease: None,
        set_aside_in_a_row: 0,
        checkpoint_at: NOW.as_micros(),
        checkpoint_position: 0,
        last_success_at: None,
        last_error: None,
        delivered: 0,
    }
}

/// A store with a project.
struct Fixture {
    store: Store,
    to: Destination,
    _database: Database,
}

impl Fixture {
    fn new(kind: DatabaseKind) -> Self {
        let database = Database::create(kind);
        let store = open_at(database.url());
        let to = create_project(&store, 1);
        Self {
            store,
            to,
            _database: database,
        }
    }

    /// A store with a project whose log has two events.
    fn with_two_events(kind: DatabaseKind) -> Self {
        let fixture = Self::new(kind);
        fixture.append_two(&fixture.to);
        fixture
    }

    fn append_two(&self, to: &Destination) {
        let event = json!({"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}});
        let events = [1, 2].map(|number| prepare(to, &event, NOW, number));
        assert_eq!(append(&self.store, to, events.into()).len(), 2);
    }

    fn configure<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Configurator<'_, ProjectId>) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.store
            .configure(self.to.project_id, work)
            .expect("the transaction commits")
    }

    fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.store.write(work).expect("the transaction commits")
    }

    fn read<T>(&self, work: impl FnMut(&mut Reader<'_>) -> Result<T, StoreError>) -> T {
        self.store.read(work).expect("the rows are read")
    }

    fn row(&self, id: &str) -> DestinationRow {
        destination_row(self.to.project_id, id)
    }

    fn run(&self, id: &str) -> DestinationRunRow {
        run_row(self.to.ledger_id, id)
    }

    /// Adds a destination with this main run.
    fn add(&self, run: &DestinationRunRow) -> DestinationRow {
        let (row, run) = (self.row(&run.destination_id), run.clone());
        let added = row.clone();
        self.configure(move |configurator| configurator.insert_destination(&added, &run));
        row
    }

    fn change(&self, before: &DestinationRow, after: &DestinationRow) {
        let (before, after) = (before.clone(), after.clone());
        self.configure(move |configurator| configurator.update_destination(&before, &after));
    }

    fn stored(&self, id: &str) -> DestinationRow {
        let project_id = self.to.project_id;
        self.read(|reader| reader.destination(project_id, id))
            .expect("the destination exists")
    }

    fn runs(&self, id: &str) -> Vec<DestinationRunRow> {
        self.read(|reader| reader.destination_runs(id))
    }

    fn lease(&self, id: &'static str, now: Timestamp, lease: [u8; 16]) -> bool {
        let until = now.plus_seconds(60);
        self.write(move |writer| writer.lease_destination_run(id, MAIN_RUN, now, until, &lease))
    }

    fn update(&self, lease: [u8; 16], row: &DestinationRunRow) -> bool {
        let row = row.clone();
        self.write(move |writer| writer.update_destination_run(&lease, &row))
    }

    fn due(&self, now: Timestamp, limit: i64) -> Vec<DueRun> {
        self.read(|reader| reader.due_destination_runs(now, limit))
    }

    fn set_aside(&self, id: &str, run: i64, position: i64) {
        let row = set_aside_row(id, run, position);
        self.write(move |writer| writer.insert_set_aside(&row));
    }
}

fn set_aside_row(id: &str, run: i64, position: i64) -> SetAsideRow {
    SetAsideRow {
        destination_id: id.to_owned(),
        run,
        position,
        seq: position + 10,
        event_id: vec![1; 16],
        content_hash: vec![2; 32],
        at: NOW.as_micros(),
        reason: "400".to_owned(),
    }
}

fn a_run_is_leased_by_one_node_at_a_time(kind: DatabaseKind) {
    let fixture = Fixture::new(kind);
    fixture.add(&fixture.run("a"));
    assert!(fixture.lease("a", NOW, LEASE));
    assert!(!fixture.lease("a", NOW.plus_seconds(59), OTHER_LEASE));
    let run = fixture.runs("a").remove(0);
    let expected = DestinationRunRow {
        lease: Some(LEASE.to_vec()),
        leased_until: NOW.plus_seconds(60).as_micros(),
        ..fixture.run("a")
    };
    assert_eq!(run, expected, "the refused lease changes nothing");
    assert!(fixture.lease("a", NOW.plus_seconds(60), OTHER_LEASE));
    assert!(!fixture.lease("no such one", NOW, LEASE));
}

fn a_lease_that_was_written_before_the_clock_was_set_back_has_no_effect(kind: DatabaseKind) {
    let fixture = Fixture::new(kind);
    fixture.add(&fixture.run("a"));
    assert!(fixture.lease("a", NOW, LEASE));
    // The lease ends 300 seconds after the first time, and 301 seconds after the second.
    assert!(!fixture.lease("a", NOW.plus_seconds(-240), OTHER_LEASE));
    assert!(fixture.lease("a", NOW.plus_seconds(-241), OTHER_LEASE));
}

fn a_node_whose_lease_another_has_taken_over_changes_nothing(kind: DatabaseKind) {
    let fixture = Fixture::new(kind);
    fixture.add(&fixture.run("a"));
    assert!(fixture.lease("a", NOW, LEASE));
    let planned = DestinationRunRow {
        planned: Some("the batch".to_owned()),
        ..fixture.runs("a").remove(0)
    };
    assert!(fixture.update(LEASE, &planned));
    assert_eq!(fixture.runs("a"), std::slice::from_ref(&planned));

    assert!(fixture.lease("a", NOW.plus_seconds(60), OTHER_LEASE));
    let taken_over = fixture.runs("a");
    let delivered = DestinationRunRow {
        planned: None,
        position: 7,
        ..planned
    };
    assert!(!fixture.update(LEASE, &delivered));
    assert_eq!(fixture.runs("a"), taken_over);
    // With the lease, every column but the key is written.
    let after = DestinationRunRow {
        destination_id: "a".to_owned(),
        number: MAIN_RUN,
        ledger_id: fixture.to.ledger_id.0,
        cursor_seq: 1,
        end_seq: Some(2),
        position: 3,
        chain: vec![4; 32],
        planned: None,
        batch_max: 5,
        state: "delayed".to_owned(),
        attempts: 6,
        next_attempt_at: 7,
        leased_until: 8,
        lease: None,
        set_aside_in_a_row: 9,
        checkpoint_at: 10,
        checkpoint_position: 11,
        last_success_at: Some(12),
        last_error: Some("{}".to_owned()),
        delivered: 13,
    };
    assert!(fixture.update(OTHER_LEASE, &after));
    assert_eq!(fixture.runs("a"), std::slice::from_ref(&after));
    assert!(!fixture.update(OTHER_LEASE, &after), "the lease was given back");
}

fn a_paused_or_deleted_destination_is_not_leased(kind: DatabaseKind) {
    let fixture = Fixture::new(kind);
    let row = fixture.add(&fixture.run("a"));
    let paused = DestinationRow {
        paused: true,
        ..row.clone()
    };
    fixture.change(&row, &paused);
    assert!(!fixture.lease("a", NOW, LEASE));
    fixture.change(&paused, &row);
    assert!(fixture.lease("a", NOW, LEASE));
    let run = fixture.runs("a").remove(0);
    assert!(fixture.configure(|configurator| configurator.delete_destination("a")));
    assert!(!fixture.update(LEASE, &run));
    assert!(!fixture.lease("a", NOW.plus_seconds(60), LEASE));
}

fn events_that_were_set_aside_are_listed_by_run_and_position(kind: DatabaseKind) {
    let fixture = Fixture::new(kind);
    for (run, position) in [(1, 2), (0, 9), (0, 3), (0, 5)] {
        fixture.set_aside("a", run, position);
    }
    fixture.set_aside("b", 0, 4);
    let again = SetAsideRow {
        reason: "500".to_owned(),
        ..set_aside_row("a", 0, 3)
    };
    fixture.write(move |writer| writer.insert_set_aside(&again));
    let listed = |after, limit| fixture.read(|reader| reader.set_aside("a", after, limit));
    let expected = [(0, 3), (0, 5), (0, 9), (1, 2)].map(|(run, position)| set_aside_row("a", run, position));
    assert_eq!(
        listed(None, 10),
        expected,
        "the second row of a position is not stored"
    );
    assert_eq!(listed(None, 2), expected[..2]);
    assert_eq!(listed(Some((0, 5)), 10), expected[2..]);
    let count = || fixture.read(|reader| reader.set_aside_count("a"));
    assert_eq!(count(), 4);
    let between = |after, to| fixture.read(|reader| reader.set_aside_between("a", 0, after, to));
    assert_eq!(between(3, 9), expected[1..3]);
    assert_eq!(between(9, 20), []);
    fixture.write(|writer| writer.delete_set_aside("a", 0, 5));
    assert_eq!((count(), between(0, 20).len()), (3, 2));
}

fn a_deletion_removes_the_runs_at_once_and_what_was_set_aside_in_steps(kind: DatabaseKind) {
    let fixture = Fixture::new(kind);
    for id in ["a", "b", "c"] {
        fixture.add(&fixture.run(id));
        let replay = DestinationRunRow {
            number: 1,
            ..fixture.run(id)
        };
        fixture.configure(move |configurator| configurator.insert_destination_run(&replay));
    }
    for position in 1..=4 {
        fixture.set_aside("a", 0, position);
        fixture.set_aside("b", 0, position);
        fixture.set_aside("c", 1, position);
    }
    let purge = |limit| fixture.write(move |writer| writer.purge_set_aside(limit));
    assert_eq!(purge(5), 0, "no destination is deleted");
    let delete =
        |id: &'static str| fixture.configure(move |configurator| configurator.delete_destination(id));
    assert!(delete("a") && !delete("a") && delete("c"), "once");
    let ids = fixture.read(|reader| reader.destinations(fixture.to.project_id, Environment::Live));
    assert_eq!(ids, [fixture.row("b")]);
    assert_eq!((fixture.runs("a"), fixture.runs("c")), (Vec::new(), Vec::new()));
    assert_eq!(fixture.runs("b").len(), 2);
    assert_eq!([purge(5), purge(5), purge(5)], [5, 3, 0]);
    let counts = ["a", "b", "c"].map(|id| fixture.read(|reader| reader.set_aside_count(id)));
    assert_eq!(counts, [0, 4, 0]);
    fixture.write(|writer| writer.delete_destination_run("b", 1));
    assert_eq!(fixture.runs("b"), [fixture.run("b")]);
}

fn a_destination_is_changed_by_its_project_alone(kind: DatabaseKind) {
    let fixture = Fixture::new(kind);
    let row = fixture.add(&fixture.run("a"));
    let neighbor = create_project(&fixture.store, 2).project_id;
    let renamed = DestinationRow {
        name: "renamed".to_owned(),
        ..row.clone()
    };
    let (before, after) = (row.clone(), renamed.clone());
    let replay = DestinationRunRow {
        number: 1,
        ..fixture.run("a")
    };
    let refused = fixture.store.configure(neighbor, move |configurator| {
        configurator.update_destination(&before, &after)?;
        assert!(!configurator.delete_destination("a")?);
        assert_eq!(configurator.destination(neighbor, "a")?, None);
        Ok::<_, StoreError>(configurator.insert_destination_run(&replay))
    });
    assert!(
        matches!(refused, Ok(Err(StoreError::Damaged { .. }))),
        "{refused:?}"
    );
    assert_eq!(fixture.stored("a"), row);
    assert_eq!(fixture.runs("a").len(), 1);
    fixture.change(&row, &renamed);
    assert_eq!(fixture.stored("a"), renamed);
    let in_test = fixture.read(|reader| reader.destinations(fixture.to.project_id, Environment::Test));
    assert_eq!(in_test, []);
}

fn a_previous_configuration_is_kept_until_the_present_one_has_worked(kind: DatabaseKind) {
    let fixture = Fixture::new(kind);
    let row = fixture.add(&fixture.run("a"));
    let changed = DestinationRow {
        config: b"new".to_vec(),
        previous_config: Some(row.config.clone()),
        ..row.clone()
    };
    fixture.change(&row, &changed);
    fixture.write(|writer| writer.confirm_destination_config("a", b"present"));
    assert_eq!(
        fixture.stored("a"),
        changed,
        "it was the one before that has worked"
    );
    fixture.write(|writer| writer.confirm_destination_config("a", b"new"));
    assert_eq!(fixture.stored("a").previous_config, None);
}

fn both_configurations_are_stored_secrets(kind: DatabaseKind) {
    let fixture = Fixture::new(kind);
    let row = fixture.add(&fixture.run("a"));
    let read = DestinationRow {
        config: b"new".to_vec(),
        previous_config: Some(row.config.clone()),
        ..row.clone()
    };
    fixture.change(&row, &read);
    let place = SecretRow::Destination("a".to_owned(), fixture.to.project_id.to_string());
    let secret = |secret: &[u8]| StoredSecret {
        row: place.clone(),
        secret: secret.to_vec(),
    };
    let mut listed = fixture.read(|reader| reader.stored_secrets());
    listed.retain(|stored| stored.row == place);
    assert_eq!(listed, [secret(b"new"), secret(b"present")]);
    let replace = |before: StoredSecret, after: &'static [u8]| {
        fixture.write(move |writer| writer.replace_secret(&before, after))
    };
    assert!(replace(secret(b"new"), b"new again"));
    assert!(replace(secret(b"present"), b"present again"));
    assert!(!replace(secret(b"present"), b"late"));
    // A change that keeps them keeps them as they were encrypted meanwhile.
    let paused = DestinationRow {
        paused: true,
        ..read.clone()
    };
    fixture.change(&read, &paused);
    let expected = DestinationRow {
        config: b"new again".to_vec(),
        previous_config: Some(b"present again".to_vec()),
        ..paused
    };
    assert_eq!(fixture.stored("a"), expected);
}
