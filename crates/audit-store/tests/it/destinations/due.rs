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
    tenants_take_turns_and_delay_neither_their_organization_nor_another,
    receivers_that_fail_or_are_new_delay_none_that_works,
    main_runs_are_counted_by_state,
}

/// A name, whether the run is due at [`NOW`], and how it differs from one that has delivered the two events of the log.
type DueCase = (&'static str, bool, fn(&mut DestinationRunRow));

const DUE_CASES: [DueCase; 22] = [
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
    ("a replay at its end, after a success", true, |run| {
        run.end_seq = Some(2);
        run.position = 2;
        run.last_success_at = Some(run.checkpoint_at);
    }),
    ("a replay at its end, after a refused checkpoint", false, |run| {
        run.end_seq = Some(2);
        run.position = 2;
        run.last_success_at = Some(run.checkpoint_at - 1);
    }),
    ("an event, before the next attempt", false, |run| {
        run.cursor_seq = 1;
        run.next_attempt_at += 1;
    }),
    ("an event, within the longest delay", false, |run| {
        run.cursor_seq = 1;
        run.next_attempt_at = NOW.plus_seconds(3_900).as_micros();
    }),
    ("an event, beyond the longest delay", true, |run| {
        run.cursor_seq = 1;
        run.next_attempt_at = NOW.plus_seconds(3_901).as_micros();
    }),
    ("an event, leased", false, |run| {
        run.cursor_seq = 1;
        run.leased_until = NOW.as_micros() + 1;
    }),
    ("an event, leased by a clock that is ahead", false, |run| {
        run.cursor_seq = 1;
        run.leased_until = NOW.plus_seconds(300).as_micros();
    }),
    ("an event, leased for longer than a lease is", true, |run| {
        run.cursor_seq = 1;
        run.leased_until = NOW.plus_seconds(301).as_micros();
    }),
    ("a checkpoint after one of tomorrow", true, |run| {
        run.position = 2;
        run.checkpoint_at = NOW.plus_seconds(86_400).as_micros();
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
    let row = fixture.add(&fixture.run("a"));
    let due = || fixture.due(NOW, 10).len();
    assert_eq!(due(), 1);
    let paused = DestinationRow {
        paused: true,
        ..row.clone()
    };
    fixture.change(&row, &paused);
    assert_eq!(due(), 0);
    fixture.change(&paused, &row);
    set_plan(&fixture, Plan::Free);
    assert_eq!(due(), 0);
    set_plan(&fixture, Plan::Pro);
    assert_eq!(due(), 1);
}

fn set_plan(fixture: &Fixture, plan: Plan) {
    let organization_id = OrganizationId::from_random([1; 16]);
    let set = fixture
        .store
        .configure(organization_id, move |configurator| configurator.set_plan(plan));
    assert!(set.expect("the transaction commits"));
}

fn an_organization_with_many_due_runs_leaves_the_others_their_turns(kind: DatabaseKind) {
    let fixture = Fixture::with_two_events(kind);
    for (id, due_for) in [("a", 30), ("b", 20), ("c", 10)] {
        fixture.add(&DestinationRunRow {
            next_attempt_at: NOW.plus_seconds(-due_for).as_micros(),
            ..fixture.run(id)
        });
    }
    add_of_other(&fixture, 2, "d", |_| {});
    assert_eq!(due_ids(&fixture, 2), ["a", "d"]);
    assert_eq!(due_ids(&fixture, 10), ["a", "d", "b", "c"]);
}

fn tenants_take_turns_and_delay_neither_their_organization_nor_another(kind: DatabaseKind) {
    let fixture = Fixture::with_two_events(kind);
    let owners = [
        ("a1", Some("a")),
        ("a2", Some("a")),
        ("a3", Some("a")),
        ("b1", Some("b")),
        ("own 1", None),
        ("own 2", None),
    ];
    for ((id, tenant), due_for) in owners.into_iter().zip((1..=6).rev()) {
        let (row, run) = (
            DestinationRow {
                created_by_tenant: tenant.map(str::to_owned),
                ..fixture.row(id)
            },
            DestinationRunRow {
                next_attempt_at: NOW.plus_seconds(-due_for).as_micros(),
                ..fixture.run(id)
            },
        );
        fixture.configure(move |configurator| configurator.insert_destination(&row, &run));
    }
    add_of_other(&fixture, 2, "other", |_| {});
    let mut first = due_ids(&fixture, 3);
    first.sort_unstable();
    assert_eq!(first, ["a1", "other", "own 1"]);
    let ids = due_ids(&fixture, 10);
    assert_eq!(ids, ["a1", "own 1", "other", "b1", "own 2", "a2", "a3"]);
}

fn receivers_that_fail_or_are_new_delay_none_that_works(kind: DatabaseKind) {
    let fixture = Fixture::with_two_events(kind);
    for (organization, id) in [(2, "failing 2"), (3, "failing 3"), (4, "failing 4")] {
        add_of_other(&fixture, organization, id, |run| {
            run.state = "delayed".to_owned();
            run.attempts = 1;
            run.next_attempt_at = NOW.plus_seconds(-i64::from(organization)).as_micros();
        });
    }
    for (organization, id) in [(5, "new 5"), (6, "new 6"), (7, "new 7")] {
        add_of_other(&fixture, organization, id, |run| {
            run.next_attempt_at = NOW.plus_seconds(-i64::from(organization)).as_micros();
        });
    }
    fixture.add(&DestinationRunRow {
        last_success_at: Some(NOW.as_micros()),
        ..fixture.run("working")
    });
    let expected = ["working", "new 7", "new 6", "failing 4", "failing 3"];
    assert_eq!(due_ids(&fixture, 2), expected);
}

/// Adds a destination of another organization, whose log has two events.
fn add_of_other(fixture: &Fixture, organization: u8, id: &str, change: impl FnOnce(&mut DestinationRunRow)) {
    let other = create_project(&fixture.store, organization);
    fixture.append_two(&other);
    let (row, mut run) = (
        destination_row(other.project_id, id),
        run_row(other.ledger_id, id),
    );
    change(&mut run);
    let added = fixture.store.configure(other.project_id, move |configurator| {
        configurator.insert_destination(&row, &run)
    });
    added.expect("the transaction commits");
}

fn due_ids(fixture: &Fixture, limit: i64) -> Vec<String> {
    let found = fixture.due(NOW, limit);
    found.into_iter().map(|due| due.destination.id).collect()
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
    let found = || fixture.read(|reader| reader.destination_statistics());
    assert_eq!(found(), [of(false, 2, 1), of(true, 1, 2)]);
    set_plan(&fixture, Plan::Free);
    assert_eq!(found(), [of(true, 3, 2)]);
}
