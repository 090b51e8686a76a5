//! The Rust client (`crates/audit-client`) against the real server. Its own tests have the conformance kit.

use audit_client::{
    ActorType, Category, Client, EventQuery, NewEvent, Object, Overflow, Resource, verify_checkpoint,
    verify_completeness, verify_consistency, verify_proof, verify_receipt,
};
use audit_tests::{DatabaseKind, Organization, on_both_databases};
use serde_json::json;
use std::io::Read;
use std::time::Duration;

const MAX: Duration = Duration::from_secs(120);

on_both_databases! {
    recorded_events_are_found_followed_and_proved,
    receipts_completeness_and_consistency_are_verified,
    exports_have_every_event,
    what_the_service_says_is_a_typed_error,
    a_master_key_administers,
    alerts_are_acknowledged_and_resolved,
    a_stream_is_claimed,
}

fn client(organization: &Organization, key: &str) -> Client {
    let builder = Client::builder(organization.anonymous().base_url());
    builder
        .api_key(key)
        .overflow(Overflow::Block)
        .build()
        .expect("a client")
}

/// With the master key, for the organization's project.
fn master(organization: &Organization) -> Client {
    let builder = Client::builder(organization.anonymous().base_url());
    let builder = builder
        .api_key(&*organization.master_key)
        .project_id(&*organization.project_id);
    builder.build().expect("a client")
}

fn event(number: u64) -> NewEvent {
    let event = NewEvent::builder(
        "invoice.updated",
        Category::Mutation,
        "acme",
        ("user_1", ActorType::User),
    );
    let event = event
        .actor_name("Jane")
        .target("i7", "invoice")
        .change("total", number, 2.5);
    event.metadata("n", number).build().expect("a valid event")
}

fn numbers<'a>(events: impl IntoIterator<Item = &'a Object>) -> Vec<u64> {
    let number = |event: &Object| event["metadata"]["n"].as_u64().expect("a number");
    events.into_iter().map(number).collect()
}

fn recorded_events_are_found_followed_and_proved(kind: DatabaseKind) {
    let organization = Organization::fresh(kind);
    let audit = client(&organization, &organization.project_key);
    for number in 0..25 {
        assert!(audit.record(event(number)).expect("recorded"));
    }
    assert!(audit.flush(MAX));
    let stats = audit.stats();
    assert_eq!((stats.stored, stats.failed, stats.pending), (25, 0, 0));

    let query = EventQuery::new().tenant_id("acme").action("invoice.*").limit(10);
    let found: Vec<Object> = audit
        .events(query)
        .map(|event| event.expect("an event"))
        .collect();
    assert_eq!(found.len(), 25);
    let page = audit
        .feed(&EventQuery::new(), None, Duration::ZERO)
        .expect("a page");
    assert_eq!(numbers(&page.events), Vec::from_iter(0..25));
    let next = audit
        .feed(&EventQuery::new(), Some(&page.cursor), Duration::ZERO)
        .expect("a page");
    assert!(next.events.is_empty() && !next.has_more);

    let key = audit.log().key().expect("a key");
    let log = format!("{}/live", organization.project_id);
    let mut read = found[3].clone();
    let id = read["id"].as_str().expect("an id").to_owned();
    let proof = audit.proof(&id).expect("a proof");
    let head = verify_proof(&read, &proof, &key, Some(&log)).expect("verified");
    assert!(head.head().size >= 25);
    verify_proof(&read, &proof, &key, Some("other/live")).expect_err("of another log");
    verify_proof(&found[4], &proof, &key, None).expect_err("of another event");
    read["actor"]["name"] = "John".into();
    verify_proof(&read, &proof, &key, None).expect_err("changed");

    // A viewer does not see everything, and proves what it sees.
    let token = audit
        .viewer_token("acme", None, Duration::from_secs(600))
        .expect("a token");
    let viewer = client(&organization, &token);
    let shown = viewer.event(&id).expect("an event");
    let proof = viewer.proof(&id).expect("a proof");
    verify_proof(&shown, &proof, &key, Some(&log)).expect("verified");
}

fn receipts_completeness_and_consistency_are_verified(kind: DatabaseKind) {
    let organization = Organization::fresh(kind);
    let audit = client(&organization, &organization.project_key);
    let (key, log) = (
        audit.log().key().expect("a key"),
        format!("{}/live", organization.project_id),
    );

    let (id, receipt) = audit.ingest_with_receipt(event(0)).expect("stored");
    let (proved, first) = verify_receipt(&receipt, &key, Some(&log)).expect("verified");
    assert_eq!(
        (proved["id"] == *id, &proved["action"]),
        (true, &json!("invoice.updated"))
    );
    assert!(!proved.contains_key("redacted"), "{proved:?}");
    assert_eq!(
        audit.receipt(&id).expect("a receipt").lines().next(),
        receipt.lines().next()
    );
    verify_receipt(&receipt, &key, Some("other/live")).expect_err("of another log");
    verify_receipt(&receipt.replace("index 0", "index 1"), &key, None).expect_err("changed");

    let refused = NewEvent::from_serialize(&json!({"action": "Signup"})).expect("an object");
    let outcomes = audit
        .ingest_all([event(1), refused, event(2)])
        .expect("partly stored");
    let are_stored: Vec<bool> = outcomes.iter().map(Result::is_ok).collect();
    assert_eq!(are_stored, [true, false, true]);
    audit.ingest_all([]).expect_err("no events");

    // The receipt waits for a checkpoint with all events.
    audit.ingest_with_receipt(event(3)).expect("stored");
    let latest = audit.log().checkpoint().expect("a checkpoint");
    let latest = verify_checkpoint(&latest, &key, Some(&log)).expect("verified");
    let (from, to) = (first.head().size, latest.head().size);
    let proof = audit.log().consistency(from, to).expect("a proof");
    verify_consistency(&first, &latest, &proof).expect("continues");
    verify_consistency(&latest, &first, &proof).expect_err("the other way round");

    let proof = audit.log().completeness(Some("acme")).expect("a proof");
    let query = EventQuery::new().tenant_id("acme");
    let page = audit.feed(&query, None, Duration::ZERO).expect("a page");
    let complete = verify_completeness(&page.events, &proof, &key, Some(&log)).expect("complete");
    assert_eq!(
        (complete.size, complete.newer, &*complete.tenant_id),
        (4, 0, "acme")
    );
    verify_completeness(&page.events[1..], &proof, &key, None).expect_err("one is missing");
    verify_completeness(&page.events, &proof, &key, Some("other/live")).expect_err("of another log");
    let mut swapped = page.events.clone();
    swapped.swap(0, 1);
    verify_completeness(&swapped, &proof, &key, None).expect_err("another order");
}

fn exports_have_every_event(kind: DatabaseKind) {
    let organization = Organization::fresh(kind);
    let audit = client(&organization, &organization.project_key);
    audit.ingest_all((0..60).map(event)).expect("stored");
    let exported: Vec<Object> = audit
        .export(&EventQuery::new().tenant_id("acme"))
        .expect("an export")
        .map(|event| event.expect("an event"))
        .collect();
    assert_eq!(numbers(&exported), Vec::from_iter((0..60).rev()));
    let mut csv = String::new();
    let mut body = audit.export_csv(&EventQuery::new()).expect("an export");
    body.read_to_string(&mut csv).expect("a body");
    assert_eq!(csv.lines().count(), 61, "a head and 60 events");
    let error = audit
        .export(&EventQuery::new().limit(7))
        .expect_err("no parameter of an export");
    assert_eq!(error.status(), Some(400));
}

fn what_the_service_says_is_a_typed_error(kind: DatabaseKind) {
    let organization = Organization::fresh(kind);
    let audit = client(&organization, &organization.project_key);
    let invalid =
        NewEvent::from_serialize(&json!({"action": "Signup", "category": "auth"})).expect("an object");
    let error = audit.ingest(invalid).expect_err("refused");
    let error = error.api().expect("an error of the service");
    assert_eq!(
        (error.status, error.code.as_deref()),
        (Some(400), Some("validation_error"))
    );
    assert!(
        error.details.iter().any(|detail| detail.field == "action"),
        "{error}"
    );
    assert!(
        error
            .request_id
            .as_deref()
            .is_some_and(|id| id.starts_with("req_")),
        "{error}"
    );
    let error = audit.list(Resource::Projects).expect_err("needs a master key");
    assert_eq!(error.status(), Some(403));
    let error = audit.event("evt_00000000000000000000000000").expect_err("absent");
    assert_eq!((error.status(), error.code()), (Some(404), Some("not_found")));
}

fn a_master_key_administers(kind: DatabaseKind) {
    let organization = Organization::fresh(kind);
    let master = master(&organization);
    let project = master
        .create(Resource::Projects, &json!({"name": "shop"}))
        .expect("a project");
    let projects = master.list(Resource::Projects).expect("projects");
    assert!(projects.iter().any(|one| one["id"] == project["id"]));
    let members = json!({"project_id": project["id"], "type": "project", "name": "web"});
    let key = master.create(Resource::Keys, &members).expect("a key");
    let audit = client(&organization, key["key"].as_str().expect("a key"));
    audit.ingest(event(1)).expect("stored");

    let members = json!({"type": "field_redact", "name": "notes", "fields": ["metadata.note"]});
    let rule = master.create(Resource::RedactionRules, &members).expect("a rule");
    let id = rule["id"].as_str().expect("an id");
    let rule = master
        .update(Resource::RedactionRules, id, &json!({"enabled": false}))
        .expect("a rule");
    assert_eq!(rule["enabled"], false);
    master.delete(Resource::RedactionRules, id).expect("deleted");
    let tier = master
        .create(Resource::ViewerTiers, &json!({"name": "support"}))
        .expect("a tier");
    assert_eq!(tier["name"], "support");
    master.delete(Resource::ViewerTiers, "support").expect("deleted");
    let members = json!({"url": "https://example.com/hook"});
    let webhook = master.create(Resource::Webhooks, &members).expect("a webhook");
    let rotated = master
        .rotate_webhook_secret(webhook["id"].as_str().expect("an id"))
        .expect("a webhook");
    assert_ne!(rotated["secret"], webhook["secret"]);
    let id = webhook["id"].as_str().expect("an id");
    let delivery = master.test_webhook(id).expect("a delivery");
    let mut deliveries = master.deliveries(id, &[("limit", "1")]).expect("an id");
    assert_eq!(
        deliveries.next().expect("a delivery").expect("read")["id"],
        delivery["id"]
    );
    let again = master.retry_delivery(delivery["id"].as_str().expect("an id"));
    assert_eq!(again.expect("a delivery")["message_id"], delivery["message_id"]);
    assert!(master.alerts(&[("status", "open")]).next().is_none());
    use_destination(&master);
}

fn use_destination(master: &Client) {
    master.ingest(event(1)).expect("stored");
    let settings = json!({"url": "https://siem.example.com/events"});
    let members = json!({"name": "SIEM", "kind": "https", "settings": settings, "paused": true});
    let made = master
        .create(Resource::Destinations, &members)
        .expect("a destination");
    assert_eq!(made["credentials"], json!(["signing_secret"]));
    let id = made["id"].as_str().expect("an id");
    let listed = master.list(Resource::Destinations).expect("destinations");
    assert!(listed.iter().any(|one| one["id"] == made["id"]));
    master
        .replay_destination(id, &json!({"from_seq": 0}))
        .expect("started");
    let read = master.read(Resource::Destinations, id).expect("a destination");
    assert!(read["replay"].is_object(), "{:?}", read["replay"]);
    master.stop_replay(id).expect("stopped");
    assert!(master.set_aside(id, 10).expect("an id").next().is_none());
    master.delete(Resource::Destinations, id).expect("deleted");
}

fn alerts_are_acknowledged_and_resolved(kind: DatabaseKind) {
    let organization = Organization::fresh(kind);
    let master = master(&organization);
    let members = json!({
        "name": "updates", "action_pattern": "invoice.*", "threshold": 1, "window_seconds": 60,
        "group_by": "actor_id", "severity": "low",
    });
    master.create(Resource::AlertRules, &members).expect("a rule");
    let audit = client(&organization, &organization.project_key);
    audit.ingest(event(0)).expect("stored");
    let alert = master
        .alerts(&[("status", "open")])
        .next()
        .expect("an alert")
        .expect("read");
    let id = alert["id"].as_str().expect("an id");
    assert_eq!(
        master.acknowledge_alert(id).expect("an alert")["status"],
        "acknowledged"
    );
    assert_eq!(master.resolve_alert(id).expect("an alert")["status"], "resolved");
    let error = master.acknowledge_alert(id).expect_err("no alert opens again");
    assert_eq!(error.code(), Some("invalid_transition"));
}

fn a_stream_is_claimed(kind: DatabaseKind) {
    let organization = Organization::fresh(kind);
    let builder = Client::builder(organization.anonymous().base_url());
    let stream = builder.stream().build().expect("a client");
    for number in 0..3 {
        stream.record(event(number)).expect("recorded");
    }
    assert!(stream.close(MAX));
    let token = stream.claim_token().expect("a token");
    let master = master(&organization);
    master.stream_info(token).expect("a stream");
    assert_eq!(master.claim_stream(token).expect("claimed"), 3);
}
