//! Numbered events, and stores that do not index them on their own.

use crate::{NOW, append, open_with, prepare};
use audit_domain::{EventFilter, Facet};
use audit_store::{Appended, Destination, NewEvent, Store, StoreOptions};
use serde_json::{Value, json};
use std::ops::Range;
use std::path::Path;

/// A store whose indexer waits for an hour, unless the store is closed.
pub(crate) fn open_without_indexing(folder: &Path) -> Store {
    let indexing_interval = std::time::Duration::from_secs(3_600);
    open_with(
        folder,
        StoreOptions {
            indexing_interval,
            ..StoreOptions::default()
        },
    )
}

/// An event of the tenant `t0` or `t1`, with an idempotency key.
pub(crate) fn numbered_event(number: usize) -> Value {
    json!({
        "action": format!("doc.opened.by_{}", ["link", "search", "mail"][number % 3]), "category": "access", "tenant_id": format!("t{}", number % 2),
        "actor": {"id": format!("a{number}"), "type": "user", "name": "Álvaro O'Neil"},
        "target": {"id": "o", "type": "document", "name": "Plan B"},
        "idempotency_key": format!("k{number}"),
    })
}

/// Stores twenty events, each in a commit of its own.
pub(crate) fn store_twenty(store: &Store, to: &Destination) -> Vec<Appended> {
    let stored =
        (0..20).flat_map(|number| append(store, to, vec![prepare(to, &numbered_event(number), NOW, 1)]));
    stored.collect()
}

/// Sends one of the `stored` events again, which must be a repeat.
pub(crate) fn assert_repeated(store: &Store, to: &Destination, stored: &[Appended], number: usize) {
    let Appended::Stored(id) = stored[number] else {
        panic!("{stored:?}")
    };
    let again = append(store, to, vec![prepare(to, &numbered_event(number), NOW, 2)]);
    assert_eq!(again, [Appended::Repeated(id)]);
}

pub(crate) fn of_tenant(id: &str) -> EventFilter {
    EventFilter::of(Facet::TenantId, id)
}

pub(crate) fn numbered_batch(to: &Destination, numbers: Range<usize>) -> Vec<NewEvent> {
    numbers
        .map(|number| prepare(to, &numbered_event(number), NOW, 1))
        .collect()
}
