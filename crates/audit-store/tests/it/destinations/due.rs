//! Which runs of destinations are due, and how many there are.

use super::{Fixture, LEASE, destination_row, run_row};
use crate::{NOW, create_project};
use audit_domain::{OrganizationId, Plan};
use audit_store::{DestinationRow, DestinationRunRow, DestinationStatistics};
use audit_tests::{DatabaseKind, on_both_databases};

on_both_databases! {
    a_run_is_due_while_there_is_something_to_do,
    a_paused_destination_and_one_of_the_free_plan_are_not_due,
    an_organization_with_many_due_runs_leaves_the_others_their_turns,
    the_next_attempt_is_that_of_a_run_that_waits_after_a_failure,
    main_runs_are_counted_by_state,
}

/// A name, whether the run is due at [`NOW`], and how it differs from one that has delivered the two events of the log.
type DueCase = (&'static str, bool, fn(&mut DestinationRunRow));

const DUE_CASES: [DueCase; 15] = [
    ("nothing to do", false, |_| {}),
    ("an event", true, |run| run.cursor_seq = 1),
    ("a planned batch", true, |run| run.planned = Some("{}".to_owned())),
    ("a checkpoint after five minutes", true, |run| {
        run.position = 2;
        run.checkpoint_at = NOW.plus_seconds(-300).as_micros();
    }),
    ("no checkpoint before five minutes", false, |run| {
        run.position = 2;
        run.checkpoint_at = NOW.plus_seconds(-299).as_micros();
    }),
    ("no checkpoint about nothing", false, |run| run.checkpoint_at = 0),
    ("a replay before its end", true, |run| {
        run.cursor_seq = 0;
        run.end_seq = Some(1);
    }),
    ("a replay at its end, to be deleted", true, |run| {
        run.end_seq = Some(2)
    }),
    ("a replay at its end, before its last checkpoint", false, |run| {
        run.end_seq = Some(1);
        run.cursor_seq = 1;
        run.position = 1;
    }),
    ("an event, before the next attempt", false, |run| {
        run.cursor_seq = 1;
        run.next_attempt_at += 1;
    }),
    ("an event, leased", false, |run| {
        run.cursor_seq = 1;
        run.leased_until = NOW.as_micros() + 1;
    }),
    ("an event, after a lease that has expired", true, |run| {
        run.cursor_seq = 1;
        run.leased_until = NOW.as_micros();
        run.lease = Some(LEASE.to_vec());
    }),
    ("an event, delayed", true, |run| {
        run.cursor_seq = 1;
        run.state = "delayed".to_owned();
    }),
    ("an event, with refused credentials", true, |run| {
        run.cursor_seq = 1;
        run.state = "credentials".to_owned();
    }),
    ("an event, parked", false, |run| {
        run.cursor_seq = 1;
        run.state = "parked".to_owned();
    }),
];

fn a_run_is_due_while_there_is_something_to_do(kind: DatabaseKind) {
    let fixture = Fixture::with_two_events(kind);
    for (name, _, change) in DUE_CASES {
        let mut run = DestinationRunRow {
            cursor_seq: 2,
            ..fixture.run(name)
        };
        change(&mut run);
        fixture.add(&run);
    }
    let found = fixture.due(NOW, 100);
    let mut names: Vec<&str> = found.iter().map(|due| due.run.destination_id.as_str()).collect();
    names.sort_unstable();
    let due = DUE_CASES.iter().filter(|(_, is_due, _)| *is_due);
    let mut expected: Vec<&str> = due.map(|(name, _, _)| *name).collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
    for due in found {
        let id = due.run.destination_id.clone();
        assert_eq!(due.destination, fixture.row(&id));
        assert_eq!(fixture.runs(&id), [due.run]);
        assert_eq!(
            due.organization_id,
            OrganizationId::from_random([1; 16]).to_string()
        );
    }
}

fn a_paused_destination_and_one_of_the_free_plan_are_not_due(kind: DatabaseKind) {
    let fixture = Fixture::with_two_events(kind);
    let delayed = DestinationRunRow {
        state: "delayed".to_owned(),
        ..fixture.run("a")
    };
    let row = fixture.add(&delayed);
    let seen = || {
        let next = fixture.read(|reader| reader.next_destination_attempt_at());
        (fixture.due(NOW, 10).len(), next)
    };
    assert_eq!(seen(), (1, Some(NOW)));
    let paused = DestinationRow {
        paused: true,
        ..row.clone()
    };
    fixture.change(&row, &paused);
    assert_eq!(seen(), (0, None));
    fixture.change(&paused, &row);
    let set_plan = |plan| {
        let organization_id = OrganizationId::from_random([1; 16]);
        let set = fixture
            .store
            .configure(organization_id, move |configurator| configurator.set_plan(plan));
        assert!(set.expect("the transaction commits"));
    };
    set_plan(Plan::Free);
    assert_eq!(seen(), (0, None));
    set_plan(Plan::Pro);
    assert_eq!(seen(), (1, Some(NOW)));
}

fn an_organization_with_many_due_runs_leaves_the_others_their_turns(kind: DatabaseKind) {
    let fixture = Fixture::with_two_events(kind);
    let other = create_project(&fixture.store, 2);
    fixture.append_two(&other);
    for (id, due_for) in [("a", 30), ("b", 20), ("c", 10)] {
        fixture.add(&DestinationRunRow {
            next_attempt_at: NOW.plus_seconds(-due_for).as_micros(),
            ..fixture.run(id)
        });
    }
    let (row, run) = (
        destination_row(other.project_id, "d"),
        run_row(other.ledger_id, "d"),
    );
    let added = fixture.store.configure(other.project_id, move |configurator| {
        configurator.insert_destination(&row, &run)
    });
    added.expect("the transaction commits");
    let due = |limit| -> Vec<String> {
        let found = fixture.due(NOW, limit);
        found.into_iter().map(|due| due.destination.id).collect()
    };
    assert_eq!(due(2), ["a", "d"]);
    assert_eq!(due(10), ["a", "d", "b", "c"]);
}

fn the_next_attempt_is_that_of_a_run_that_waits_after_a_failure(kind: DatabaseKind) {
    let fixture = Fixture::new(kind);
    let next = || fixture.read(|reader| reader.next_destination_attempt_at());
    let add = |id: &str, state: &str, seconds: i64, lease: Option<Vec<u8>>| {
        fixture.add(&DestinationRunRow {
            state: state.to_owned(),
            next_attempt_at: NOW.plus_seconds(seconds).as_micros(),
            lease,
            ..fixture.run(id)
        });
    };
    add("active", "active", 0, None);
    add("parked", "parked", 1, None);
    add("leased", "delayed", 2, Some(LEASE.to_vec()));
    assert_eq!(next(), None);
    add("credentials", "credentials", 300, None);
    assert_eq!(next(), Some(NOW.plus_seconds(300)));
    add("delayed", "delayed", 5, None);
    assert_eq!(next(), Some(NOW.plus_seconds(5)));
}

fn main_runs_are_counted_by_state(kind: DatabaseKind) {
    let fixture = Fixture::with_two_events(kind);
    let at = |id: &str, cursor_seq: i64| DestinationRunRow {
        cursor_seq,
        ..fixture.run(id)
    };
    fixture.add(&at("a", 2));
    fixture.add(&at("b", 1));
    let paused = fixture.add(&at("c", 0));
    let before = paused.clone();
    fixture.change(
        &before,
        &DestinationRow {
            paused: true,
            ..paused
        },
    );
    let replay = DestinationRunRow {
        number: 1,
        state: "parked".to_owned(),
        ..at("a", 0)
    };
    fixture.configure(move |configurator| configurator.insert_destination_run(&replay));
    let of = |is_paused, runs, lag_events_max| DestinationStatistics {
        is_paused,
        state: "active".to_owned(),
        runs,
        lag_events_max,
    };
    let found = fixture.read(|reader| reader.destination_statistics());
    assert_eq!(found, [of(false, 2, 1), of(true, 1, 2)]);
}
