//! What signing needs of the store: the ledgers that a process extended, and checkpoints that replace the expected one only.

use crate::{NOW, append, create_project, open, prepare};
use audit_store::{CheckpointRow, Destination, LedgerId, NewCheckpoint, NewEvent, Store, StoreError};
use serde_json::json;
use std::collections::BTreeSet;

fn event(to: &Destination, random: u8) -> NewEvent {
    let event =
        json!({"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}});
    prepare(to, &event, NOW, random)
}

/// A checkpoint of this size; the store reads nothing else in a note.
fn checkpoint(size: u64, origin: &str) -> CheckpointRow {
    CheckpointRow {
        size,
        note: format!("{origin}\n{size}\nroot\n"),
        signed_at: NOW,
    }
}

/// Publishes checkpoints and returns the ledgers whose checkpoints were stored.
fn publish(
    store: &Store,
    checkpoints: &[(LedgerId, Option<&CheckpointRow>, &CheckpointRow)],
) -> BTreeSet<LedgerId> {
    let new =
        |(ledger_id, last, checkpoint): &(LedgerId, Option<&CheckpointRow>, &CheckpointRow)| NewCheckpoint {
            ledger_id: *ledger_id,
            last: last.cloned(),
            checkpoint: (*checkpoint).clone(),
        };
    let new: Vec<NewCheckpoint> = checkpoints.iter().map(new).collect();
    store
        .write(move |writer| writer.publish_checkpoints(&new))
        .expect("checkpoints are published")
}

fn stored(store: &Store, ledger_id: LedgerId) -> Option<CheckpointRow> {
    store
        .read(|reader| reader.log_checkpoint(ledger_id))
        .expect("the checkpoint is read")
}

#[test]
fn the_ledgers_that_commits_and_transactions_have_extended_are_taken_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let [one, two, unchanged] = [1, 2, 3].map(|number| create_project(&store, number));
    assert_eq!(store.take_extended_ledgers(), BTreeSet::new());
    append(&store, &one, vec![event(&one, 1)]);
    let claimed = event(&two, 2);
    let to = two.clone();
    let outcome = store.write(move |writer| writer.append_claimed(to, vec![claimed], NOW));
    assert_eq!(outcome.unwrap().log_size, 1);
    // The note follows the reply to the transaction; the next transaction of the only writer follows both.
    store.write(|_| Ok::<_, StoreError>(())).unwrap();
    let extended = BTreeSet::from([one.ledger_id, two.ledger_id]);
    assert_eq!(store.take_extended_ledgers(), extended);
    assert_eq!(store.take_extended_ledgers(), BTreeSet::new());
    store.return_extended_ledgers([one.ledger_id]);
    append(&store, &two, vec![event(&two, 3)]);
    assert_eq!(store.take_extended_ledgers(), extended);
    assert!(!extended.contains(&unchanged.ledger_id));
}

#[test]
fn a_checkpoint_replaces_only_the_one_that_it_continues() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let [one, two] = [1, 2].map(|number| create_project(&store, number).ledger_id);
    let [first, other, second, third] =
        [(1, "first"), (1, "other"), (2, "second"), (3, "third")].map(|(size, note)| checkpoint(size, note));
    let both = BTreeSet::from([one, two]);
    assert_eq!(publish(&store, &[(one, None, &first), (two, None, &first)]), both);
    // A first checkpoint does not replace one.
    assert_eq!(publish(&store, &[(one, None, &second)]), BTreeSet::new());
    assert_eq!(stored(&store, one), Some(first.clone()));
    // Neither does one that continues another note of the same size; the other ledger's is stored.
    let published = publish(
        &store,
        &[(one, Some(&other), &second), (two, Some(&first), &second)],
    );
    assert_eq!(published, BTreeSet::from([two]));
    assert_eq!(stored(&store, one), Some(first.clone()));
    assert_eq!(stored(&store, two), Some(second.clone()));
    // A log that got a new name has none.
    store.write(|writer| writer.delete_log_checkpoints()).unwrap();
    assert_eq!(publish(&store, &[(two, Some(&second), &third)]), BTreeSet::new());
    assert_eq!(stored(&store, two), None);
}

#[test]
fn a_scan_finds_the_ledgers_that_are_not_signed_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let [one, two, empty] = [1, 2, 3].map(|number| create_project(&store, number));
    for to in [&one, &two] {
        append(&store, to, vec![event(to, 1)]);
    }
    let unsigned = || {
        let found = store.read(|reader| reader.unsigned_ledgers(None, None)).unwrap();
        assert_eq!(found.last, None);
        found.ledger_ids
    };
    assert_eq!(unsigned(), [one.ledger_id, two.ledger_id]);
    let signed = checkpoint(1, "signed");
    publish(&store, &[(one.ledger_id, None, &signed)]);
    assert_eq!(unsigned(), [two.ledger_id]);
    append(&store, &one, vec![event(&one, 2)]);
    assert_eq!(unsigned(), [one.ledger_id, two.ledger_id]);
    let behind = store.read(|reader| reader.unsigned_ledgers(Some(one.ledger_id), None));
    assert_eq!(behind.unwrap().ledger_ids, [two.ledger_id]);
    let behind = store.read(|reader| reader.unsigned_ledgers(None, Some(NOW)));
    assert!(
        behind.unwrap().ledger_ids.is_empty(),
        "all events were received at this time"
    );
    let states = store.read(|reader| reader.signing_states(&[empty.ledger_id, one.ledger_id]));
    let states = states.unwrap();
    let sizes = states.iter().map(|state| state.frontier.as_ref().unwrap().size());
    assert_eq!(sizes.collect::<Vec<_>>(), [2, 0]);
    assert_eq!(states[0].checkpoint, Some(signed));
}
