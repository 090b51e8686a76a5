//! Events that enter a ledger through a claim.

use super::{end_of, everything, ids, next_id, page};
use audit_tests::{DatabaseKind, Organization, Stream, event, event_with, on_both_databases};
use serde_json::json;

on_both_databases! {
    what_is_claimed_comes_when_it_is_claimed,
    a_repeat_does_not_come_again,
}

fn what_is_claimed_comes_when_it_is_claimed(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let stream = Stream::fresh(database);
    let claimed = stream.store_all(vec![event(); 3]);
    // Received later, but earlier in the ledger.
    let earlier = project.store(event());
    let cursor = end_of(&project);
    let mut follower = project.get("/events/feed").query("after", &cursor).open_events();
    stream.move_to(&organization.master());
    let streamed: Vec<String> = claimed.iter().map(|_| next_id(&mut follower)).collect();
    assert_eq!(streamed, claimed);
    let later = project.store(event());
    assert_eq!(next_id(&mut follower), later);
    let order = [vec![earlier], claimed, vec![later]].concat();
    assert_eq!(ids(&everything(&project, &[]).0), order);
}

fn a_repeat_does_not_come_again(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let keyed = event_with(json!({"idempotency_key": "once"}));
    let first = project.store(keyed.clone());
    let cursor = end_of(&project);
    assert_eq!(project.store(keyed), first);
    assert_eq!(page(&project, &[("after", &cursor)])["events"], json!([]));
    assert_eq!(ids(&everything(&project, &[]).0), [first]);
}
