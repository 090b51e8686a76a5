//! What an operator does before the grace of an erasure has passed.

use super::{
    confirm, events_of, listed, path_of, post, read, recorded, request_of, requested, searched,
    wait_until_gone,
};
use audit_tests::{DatabaseKind, Organization, event_with, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    a_list_that_has_changed_is_not_confirmed,
    an_erasure_that_finds_nothing_is_done_at_once,
    an_erasure_is_cancelled_until_its_grace_has_passed,
    a_hold_between_list_and_confirmation_refuses_the_confirmation,
    a_hold_in_the_grace_cancels_the_plan,
    a_log_has_at_most_twenty_open_erasures,
}

/// The maximum number of erasures that are neither done nor cancelled.
const OPEN_ERASURES_MAX: usize = 20;

/// An organization with four events, three of them by Jane.
fn organization(database: DatabaseKind) -> Organization {
    let organization = Organization::fresh(database);
    let of = |actor: &str| event_with(json!({"actor": {"id": actor}, "tenant_id": "acme"}));
    organization.project().store_all(vec![
        of("usr_jane"),
        of("usr_admin"),
        of("usr_jane"),
        of("usr_jane"),
    ]);
    organization
}

fn request() -> Value {
    request_of(json!({"ids": ["usr_jane"]}), "person")
}

fn positions(events: &[Value]) -> Vec<u64> {
    let position = |event: &Value| event["seq"].as_u64().expect("a position");
    events.iter().map(position).collect()
}

fn assert_untouched(organization: &Organization) {
    let found = organization.project().find_ids(&[("actor_id", "usr_jane")]);
    assert_eq!(found.len(), 3);
}

fn a_list_that_has_changed_is_not_confirmed(database: DatabaseKind) {
    let organization = organization(database);
    let erasure = listed(&organization, request());
    assert_eq!(erasure["state"], "listed", "{erasure}");
    assert_eq!(
        (&erasure["events"], &erasure["rows"], &erasure["held"]),
        (&json!(3), &json!(0), &json!(0))
    );
    assert_eq!(positions(&events_of(&organization, &erasure)), [0, 2, 3]);
    assert_eq!(erasure["planned_seq"], Value::Null, "nothing is in the log yet");
    let exclude = format!("{}/exclude", path_of(&erasure));
    let changed = post(&organization, &exclude, json!({"seqs": [2]})).expect_status(200)["erasure"].clone();
    assert_eq!(changed["events"], json!(2), "{changed}");
    assert_ne!(changed["digest"], erasure["digest"]);
    assert_eq!(positions(&events_of(&organization, &changed)), [0, 3]);
    confirm(&organization, &erasure).expect_error(409, "conflict");
    assert_eq!(read(&organization, &erasure)["state"], "listed");
    let planned = confirm(&organization, &changed).expect_status(202)["erasure"].clone();
    assert_eq!(planned["state"], "planned", "{planned}");
    confirm(&organization, &changed).expect_error(409, "conflict");
    post(&organization, &exclude, json!({"seqs": [0]})).expect_error(409, "conflict");
    let plans = recorded(&organization, "audit.erasure.planned");
    assert_eq!(plans.len(), 1, "{plans:?}");
    let plan = &plans[0]["metadata"];
    for (member, of_erasure) in [
        ("erasure", "id"),
        ("digest", "digest"),
        ("events", "events"),
        ("not_before", "not_before"),
        ("ticket", "ticket"),
    ] {
        assert_eq!(plan[member], planned[of_erasure], "{member}: {plan} {planned}");
    }
    assert_untouched(&organization);
}

fn an_erasure_that_finds_nothing_is_done_at_once(database: DatabaseKind) {
    let organization = organization(database);
    // An id is found as a whole.
    let erasure = requested(&organization, request_of(json!({"ids": ["usr_jan"]}), "person"));
    let done = searched(&organization, &erasure);
    assert_eq!(
        (&done["state"], &done["events"]),
        (&json!("done"), &json!(0)),
        "{done}"
    );
    assert_eq!(
        recorded(&organization, "audit.erasure.planned"),
        Vec::<Value>::new()
    );
    post(
        &organization,
        &format!("{}/exclude", path_of(&done)),
        json!({"seqs": [0]}),
    )
    .expect_error(409, "conflict");
}

fn an_erasure_is_cancelled_until_its_grace_has_passed(database: DatabaseKind) {
    let organization = organization(database);
    let erasure = listed(&organization, request());
    organization
        .master()
        .delete(&path_of(&erasure))
        .send()
        .expect_status(200);
    wait_until_gone(&organization, &erasure);
    assert_eq!(
        recorded(&organization, "audit.erasure.cancelled"),
        Vec::<Value>::new()
    );
    let erasure = listed(&organization, request());
    let planned = confirm(&organization, &erasure).expect_status(202)["erasure"].clone();
    organization
        .master()
        .delete(&path_of(&erasure))
        .send()
        .expect_status(200);
    wait_until_gone(&organization, &erasure);
    let cancelled = recorded(&organization, "audit.erasure.cancelled");
    assert_eq!(cancelled.len(), 1, "{cancelled:?}");
    let metadata = &cancelled[0]["metadata"];
    assert_eq!(metadata["reason"], "requested");
    assert_eq!(metadata["plan"], planned["planned_seq"]);
    assert_untouched(&organization);
}

fn place_hold(organization: &Organization) {
    // That it covers nothing of the list makes no difference.
    let hold = json!({"reason": "case 12", "tenant_id": "other"});
    post(organization, "/holds", hold).expect_status(201);
}

fn a_hold_between_list_and_confirmation_refuses_the_confirmation(database: DatabaseKind) {
    let organization = organization(database);
    let erasure = listed(&organization, request());
    place_hold(&organization);
    let refused = confirm(&organization, &erasure).expect_error(409, "conflict");
    let message = refused["error"]["message"].to_string();
    assert!(
        message.contains("a hold was placed since the list was made"),
        "{message}"
    );
    // A list that was made under the hold can be confirmed.
    let erasure = listed(&organization, request());
    confirm(&organization, &erasure).expect_status(202);
}

fn a_hold_in_the_grace_cancels_the_plan(database: DatabaseKind) {
    let organization = organization(database);
    let erasure = listed(&organization, request());
    confirm(&organization, &erasure).expect_status(202);
    place_hold(&organization);
    wait_until_gone(&organization, &erasure);
    let cancelled = recorded(&organization, "audit.erasure.cancelled");
    assert_eq!(cancelled.len(), 1, "{cancelled:?}");
    assert_eq!(cancelled[0]["metadata"]["reason"], "hold");
    assert_eq!(
        recorded(&organization, "audit.events.erased"),
        Vec::<Value>::new()
    );
    assert_untouched(&organization);
}

fn a_log_has_at_most_twenty_open_erasures(database: DatabaseKind) {
    let organization = organization(database);
    let erasures: Vec<Value> = (0..OPEN_ERASURES_MAX)
        .map(|_| requested(&organization, request()))
        .collect();
    post(&organization, "/erasures", request()).expect_error(409, "conflict");
    let shown = organization.master().get("/erasures").send().expect_status(200);
    assert_eq!(shown.list("erasures").len(), OPEN_ERASURES_MAX);
    let first = searched(&organization, &erasures[0]);
    organization
        .master()
        .delete(&path_of(&first))
        .send()
        .expect_status(200);
    wait_until_gone(&organization, &first);
    // An event may be in many lists.
    assert_eq!(listed(&organization, request())["events"], json!(3));
    post(&organization, "/erasures", request()).expect_error(409, "conflict");
}
