//! Runs over a log from which a removal has taken events.

use super::*;
use crate::feed::tests::Taken;
use audit_ledger::TenantMapKey;

/// A log of four events, of which a removal has taken those with these indexes.
fn fixture(removed: &[u64]) -> Fixture {
    let fixture = Fixture::new();
    let start = fixture.run().cursor_seq.cast_unsigned();
    fixture.store(&["a.one", "a.two", "a.three", "a.four"]);
    let (store, project_id, ledger_id) = (&fixture.service.store, fixture.project_id, fixture.ledger_id);
    let seqs: Vec<u64> = removed.iter().map(|index| start + index).collect();
    let taken = Taken::of(store, ledger_id, &TenantMapKey::new([1; 32]), &seqs);
    taken.plan(store, project_id, ledger_id, 0);
    taken.take(store, project_id, ledger_id, (0, 0));
    fixture
}

#[test]
fn a_run_goes_on_behind_events_that_a_removal_has_taken() {
    let fixture = fixture(&[1, 2]);
    fixture.deliver();
    assert_eq!(actions(&records(&fixture.receiver.take())), ["a.one", "a.four"]);
    assert_eq!(fixture.run().state, "active");
}

#[test]
fn a_run_stops_where_an_event_is_missing_beside_removed_ones() {
    let fixture = fixture(&[1]);
    let file = fixture.folder.path().join("audit.db");
    let mut database = SqliteConnection::establish(&file.to_string_lossy()).unwrap();
    database
        .batch_execute("PRAGMA busy_timeout = 60000; DELETE FROM events WHERE body LIKE '%a.three%'")
        .unwrap();
    fixture.deliver();
    fixture.deliver();
    assert_eq!(actions(&records(&fixture.receiver.take())), ["a.one"]);
    assert_eq!(fixture.run().state, "parked");
}
