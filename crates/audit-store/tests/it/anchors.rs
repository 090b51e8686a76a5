//! Anchors: one for each number and interval, and sent by one node at a time.

use crate::{NOW, open};
use audit_domain::Timestamp;
use audit_store::{AnchorStage, AnchorState, Store};

fn insert(store: &Store, number: i64, due_at: Timestamp) -> bool {
    store
        .write(move |writer| writer.insert_anchor(number, due_at, &format!("anchor {number}"), NOW))
        .expect("a write")
}

fn claim(store: &Store, number: i64, now: Timestamp, until: Timestamp) -> Option<AnchorState> {
    store
        .write(move |writer| writer.claim_anchor(number, now, until))
        .expect("a write")
}

fn numbers(store: &Store) -> Vec<i64> {
    let states = store.read(|reader| reader.anchor_states()).expect("the anchors");
    states.iter().map(|state| state.number).collect()
}

#[test]
fn there_is_one_anchor_for_each_number_and_interval() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let later = NOW.plus_seconds(3_600);
    assert!(insert(&store, 1, NOW));
    assert!(!insert(&store, 1, later));
    assert!(!insert(&store, 2, NOW));
    assert!(insert(&store, 2, later));
    assert_eq!(numbers(&store), [2, 1]);
    let last = store.read(|reader| reader.last_anchor()).unwrap().unwrap();
    assert_eq!(
        (last.number, last.due_at, last.document.as_str()),
        (2, later, "anchor 2")
    );
    // The last one is not removed: the next one names it.
    for number in [1, 2] {
        store.write(move |writer| writer.delete_anchor(number)).unwrap();
    }
    assert_eq!(numbers(&store), [2]);
}

#[test]
fn an_anchor_is_claimed_by_one_until_the_claim_ends() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    insert(&store, 1, NOW);
    let until = NOW.plus_seconds(300);
    let mut state = claim(&store, 1, NOW, until).unwrap();
    assert_eq!(
        (state.webhook, state.bucket),
        (AnchorStage::Nothing, AnchorStage::Nothing)
    );
    assert_eq!(claim(&store, 1, until.plus_seconds(-1), until), None);
    assert!(claim(&store, 1, until, until.plus_seconds(300)).is_some());
    // A claim ends with its result.
    state.webhook = AnchorStage::Document;
    state.claimed_until = until;
    store
        .write(move |writer| {
            writer.store_time_stamp(1, b"time stamp")?;
            writer.update_anchor(&state)
        })
        .unwrap();
    let found = claim(&store, 1, until, until.plus_seconds(300)).unwrap();
    assert_eq!(
        (found.webhook, found.bucket),
        (AnchorStage::Document, AnchorStage::Nothing)
    );
    assert!(found.is_stamped);
    assert_eq!(claim(&store, 2, until, until), None);
}
