//! Prefixes of more words than a query reads in the index.

use crate::files::{connect, segments};
use crate::finding::{expected, pages};
use crate::summaries::{query, summary};
use crate::{NOW, append, create_project, destination, open, prepare};
use audit_domain::{EventFilter, ProjectId, Search};
use serde_json::{Value, json};
use std::ops::Range;

/// Events whose names have 20 words of 49 characters each: 20,000 words, which fill more than 200 blocks of the index.
const EVENTS: u64 = 1_000;

fn event(number: u64) -> Value {
    let word = |word: u64| {
        let hash = (number * 20 + word + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("z{}", format!("{hash:016x}").repeat(3))
    };
    let words = |words: Range<u64>| words.map(word).collect::<Vec<_>>().join(" ");
    json!({
        "action": "document.read", "category": "access", "tenant_id": "t",
        "actor": {"id": "a", "type": "user", "name": format!("u{} {}", number % 7, words(0..10))},
        "target": {"id": "d", "type": "document", "name": words(10..20)},
    })
}

#[test]
fn a_prefix_of_more_words_than_are_read_finds_and_counts_the_events_that_match() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    let without_the_words = json!({
        "action": "document.read", "category": "access", "tenant_id": "t",
        "actor": {"id": "a", "type": "user", "name": "yvonne"},
    });
    let events = (0..EVENTS).flat_map(|number| [event(number), without_the_words.clone()]);
    append(
        &store,
        &to,
        events.map(|event| prepare(&to, &event, NOW, 9)).collect(),
    );
    // A clean stop indexes the backlog.
    drop(store);
    let most = segments(&mut connect(folder.path(), "audit.db-index"));
    let most = most.iter().map(|segment| segment.leaves).max();
    assert!(most > Some(200), "{most:?}");
    let store = open(folder.path());
    let to = destination(&store, ProjectId::from_random([1; 16]));
    let everything = pages(&store, &to, &EventFilter::default(), None, 100);
    assert_eq!(everything.len(), 2_000);
    for (search, total) in [("z*", 1_000), ("z* u3", 143), ("y*", 1_000), ("z* y*", 0)] {
        let filter = EventFilter {
            search: Some(Search::parse(search).expect("a search")),
            ..EventFilter::default()
        };
        let found = pages(&store, &to, &filter, None, 100);
        assert_eq!(found, expected(&everything, &filter, None), "{search}");
        let counted = summary(&store, &query(&to, &filter, None, None)).map(|summary| summary.total);
        assert_eq!((counted, found.len()), (Ok(total as u64), total), "{search}");
    }
}
