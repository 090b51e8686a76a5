//! Queries and appends while the index is rebuilt.

use crate::files::{indexed_tokens, unindexed_commits};
use crate::numbered::{
    assert_repeated, numbered_batch, numbered_event, of_tenant, open_without_indexing, store_twenty,
};
use crate::{NOW, append, count, create_project, destination, open, prepare};
use audit_domain::{EventFilter, EventId, EventOrder, PageLimit, ProjectId, Timestamp};
use audit_store::{Appended, Destination, EventQuery, Store};
use serde_json::json;
use std::path::Path;

pub(crate) fn remove_index(folder: &Path) {
    for name in ["audit.db-index", "audit.db-index-wal", "audit.db-index-shm"] {
        match std::fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
            _ => {}
        }
    }
}

/// The ids of all events, newest first. Oldest first they are the same.
fn paged(store: &Store, to: &Destination, filter: &EventFilter) -> Vec<EventId> {
    let [newest_first, mut oldest_first] =
        [EventOrder::Descending, EventOrder::Ascending].map(|order| paged_in(order, store, to, filter));
    oldest_first.reverse();
    assert_eq!(oldest_first, newest_first);
    newest_first
}

/// The ids of all events, in pages of three.
fn paged_in(order: EventOrder, store: &Store, to: &Destination, filter: &EventFilter) -> Vec<EventId> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let query = EventQuery {
            ledger_id: to.ledger_id,
            filter: filter.clone(),
            tier: None,
            order,
            after,
            limit: PageLimit::new(3).expect("a valid limit"),
        };
        let page = store
            .read(|reader| reader.events(&query))
            .expect("the events are read");
        all.extend(page.events.iter().map(|event| event.id));
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

/// An event of tenant `t1` that occurred some minutes before the others.
fn earlier_event(number: usize) -> serde_json::Value {
    let mut event = numbered_event(2 * number + 1);
    event["occurred_at"] =
        json!(Timestamp::from_millis(NOW.as_millis() - 60_000 * number as i64).to_string());
    event
}

/// The indexer of this store does nothing before it is closed.
#[test]
fn events_are_found_and_keys_recognised_before_anything_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    create_project(&store, 1);
    create_project(&store, 2);
    let [to, other] = [1, 2].map(|number| destination(&store, ProjectId::from_random([number; 16])));
    let stored = store_twenty(&store, &to);
    append(&store, &other, numbered_batch(&other, 0..50));
    let before = paged(&store, &to, &of_tenant("t1"));
    drop(store);
    remove_index(folder.path());

    let store = open_without_indexing(folder.path());
    assert_eq!(store.statistics().events_to_rebuild, 70);
    assert_eq!(before.len(), 10);
    assert_eq!(paged(&store, &to, &of_tenant("t1")), before);
    assert_eq!(count(&store, &other, EventFilter::default()), 50);
    for number in 0..20 {
        assert_repeated(&store, &to, &stored, number);
    }
    let other_content = json!({"action": "a.b", "category": "auth", "tenant_id": "t1", "actor": {"id": "a", "type": "user"}, "idempotency_key": "k3"});
    let conflicting = append(&store, &to, vec![prepare(&to, &other_content, NOW, 1)]);
    assert!(
        matches!(conflicting[..], [Appended::Conflicting(_)]),
        "{conflicting:?}"
    );
    // Events that are stored meanwhile, whenever they occurred.
    let later: Vec<_> = (10..15)
        .map(|number| prepare(&to, &earlier_event(number), NOW, 3))
        .collect();
    let later = append(&store, &to, later);
    let found = paged(&store, &to, &of_tenant("t1"));
    assert_eq!(found.len(), 15);
    assert_eq!(found[..10], before);
    assert!(
        later
            .iter()
            .zip(found[10..].iter())
            .all(|(stored, found)| *stored == Appended::Stored(*found))
    );
    drop(store);
    assert_eq!(unindexed_commits(folder.path()), 0);

    let rebuilt = open(folder.path());
    assert_eq!(paged(&rebuilt, &to, &of_tenant("t1")), found);
    rebuilt.wait_for_rebuild();
    assert_eq!(rebuilt.statistics().events_to_rebuild, 0);
    assert_eq!(paged(&rebuilt, &to, &of_tenant("t1")), found);
    assert_repeated(&rebuilt, &to, &stored, 7);
    drop(rebuilt);
    let mut tokens = indexed_tokens(folder.path());
    let all = tokens.len();
    tokens.dedup();
    assert_eq!(tokens.len(), all, "no event is indexed twice");
    // Every token begins with its ledger. That of the ledger itself has nothing more: two characters for a small number.
    let ledger_tokens = tokens.iter().filter(|(token, _)| token.len() == 2);
    assert_eq!(ledger_tokens.count(), 75);
}
