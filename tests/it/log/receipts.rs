//! Receipts: `Prefer: receipt`, `GET /events/:id/receipt`, and `audit-server check`.

use super::{Case, canonical};
use audit_ledger::TlogProof;
use audit_tests::process::Exit;
use audit_tests::{
    Client, DatabaseKind, Finished, Organization, command_line, event, event_with, on_both_databases,
    temporary_directory,
};
use serde_json::{Value, json};

on_both_databases! {
    a_receipt_comes_with_the_response_and_verifies_offline,
    a_repeat_gets_the_receipt_of_the_first_event,
    the_receipt_of_a_stored_event_can_be_read,
    a_receipt_of_a_viewer_has_what_it_sees,
    check_refuses_what_is_not_signed_as_it_is,
    events_of_a_log_that_is_not_signed_are_stored_without_receipts,
}

fn key(client: &Client) -> String {
    let response = client.get("/log/key").send_raw();
    let text = String::from_utf8(response.bytes).expect("a key in UTF-8");
    text.trim_end().to_owned()
}

fn check(receipt: impl AsRef<[u8]>, key: &str) -> Finished {
    let file = temporary_directory("receipt-").join("event.tlog-proof");
    std::fs::write(&file, receipt).expect("write the receipt");
    command_line(&["check", file.to_str().expect("a path in UTF-8"), "--key", key])
}

/// Stores events with `Prefer: receipt`. Returns ids and receipts.
fn store(client: &Client, events: Value) -> Vec<(String, String)> {
    let response = client
        .post("/events")
        .header("Prefer", "respond-async, receipt")
        .json(events)
        .send()
        .expect_status(201);
    assert_eq!(
        response.header("preference-applied"),
        Some("receipt"),
        "{response:?}"
    );
    let texts = |name: &str| -> Vec<String> {
        let values = response[name].as_array().expect("an array").iter();
        values
            .map(|value| value.as_str().expect("text").to_owned())
            .collect()
    };
    let (ids, receipts) = (texts("ids"), texts("receipts"));
    assert_eq!(ids.len(), receipts.len());
    ids.into_iter().zip(receipts).collect()
}

/// The extra data of a receipt.
fn extra(receipt: &str) -> String {
    let receipt: TlogProof = receipt.parse().expect("a receipt");
    String::from_utf8(receipt.extra.expect("extra data")).expect("UTF-8")
}

/// The extra data of the receipt of an event as a full read returns it.
fn hashed(event: &Value) -> String {
    let rest = canonical(event);
    let salt = &event["content_salt"];
    format!("{{\"content_salt\":{salt},{}", &rest[1..])
}

fn read(client: &Client, id: &str) -> String {
    let response = client.get(&format!("/events/{id}/receipt")).send_raw();
    assert_eq!(
        (response.status, response.header("content-type")),
        (200, Some("text/plain; charset=utf-8"))
    );
    String::from_utf8(response.bytes).expect("a receipt in UTF-8")
}

fn a_receipt_comes_with_the_response_and_verifies_offline(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let key = key(&project);
    let personal = event_with(json!({"actor": {"email": "jane@example.com"}}));
    let mut seq = 0;
    for events in [json!(event()), json!([event(), personal, event()])] {
        for (id, receipt) in store(&project, events) {
            let stored = project.event(&id);
            assert_eq!(extra(&receipt), hashed(&stored));
            let said = check(&receipt, &key).success();
            let expected = format!("the event {id} (");
            assert!(said.starts_with(&expected), "{expected:?} in {said}");
            let log = format!(" is at position {seq} of the log ");
            assert!(
                said.contains(&log) && said.contains(&organization.project_id),
                "{said}"
            );
            seq += 1;
        }
    }
    let response = project
        .post("/events")
        .json(json!(event()))
        .send()
        .expect_status(201);
    assert_eq!(response.header("preference-applied"), None);
    assert!(response["receipts"].is_null(), "{response:?}");
}

fn a_repeat_gets_the_receipt_of_the_first_event(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let repeated = event_with(json!({"idempotency_key": "once"}));
    let first = store(&project, repeated.clone());
    store(&project, json!([event(), event()]));
    let again = store(&project, json!([repeated, event()]));
    assert_eq!(first[0].0, again[0].0);
    let index = |receipt: &str| receipt.parse::<TlogProof>().expect("a receipt").index;
    assert_eq!((index(&again[0].1), index(&again[1].1)), (0, 3));
    for (_, receipt) in again {
        check(&receipt, &key(&project)).success();
    }
}

fn the_receipt_of_a_stored_event_can_be_read(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let ids = project.store_all(vec![event(); 3]);
    for (seq, id) in ids.iter().enumerate() {
        let receipt = read(&project, id);
        assert_eq!(extra(&receipt), hashed(&project.event(id)));
        let said = check(&receipt, &key(&project)).success();
        assert!(said.contains(&format!("at position {seq} of")), "{said}");
    }
    let missing = project
        .get("/events/evt_01M7YM9DQ77QHS6SAA86XFD78M/receipt")
        .send();
    missing.expect_error(404, "not_found");
}

fn a_receipt_of_a_viewer_has_what_it_sees(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let context = json!({"ip_address": "203.0.113.9"});
    let id = project.store(event_with(json!({"tenant_id": "acme", "context": context})));
    let foreign = project.store(event_with(json!({"tenant_id": "other"})));
    let viewer = organization.viewer("acme", "standard");
    let receipt = read(&viewer, &id);
    let seen: Value = serde_json::from_str(&extra(&receipt)).expect("JSON");
    // Nothing proves these two by themselves.
    let mut proved = viewer.find(&[])[0].clone();
    let proved_fields = proved.as_object_mut().expect("an event");
    proved_fields.retain(|name, _| !["content_hash", "redacted"].contains(&name.as_str()));
    assert_eq!(seen["event"], proved);
    assert!(!extra(&receipt).contains("203.0.113.9"), "{seen}");
    let said = check(&receipt, &key(&project)).success();
    let expected = format!("without actor.email, network, client, metadata, the event {id} (user.created, ");
    assert!(said.starts_with(&expected), "{said}");
    let changed = TlogProof {
        extra: Some(
            extra(&receipt)
                .replace("user.created", "user.deleted")
                .into_bytes(),
        ),
        ..receipt.parse().expect("a receipt")
    };
    assert_eq!(check(changed.to_string(), &key(&project)).exit, Exit::Code(1));
    viewer
        .get(&format!("/events/{foreign}/receipt"))
        .send()
        .expect_error(404, "not_found");
    // A viewer who sees everything gets the receipt of a key.
    let whole = read(&organization.viewer("acme", "full"), &id);
    assert_eq!(extra(&whole), hashed(&project.event(&id)));
}

fn check_refuses_what_is_not_signed_as_it_is(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let ids = project.store_all(vec![event(); 5]);
    let (receipt, key) = (read(&project, &ids[2]), key(&project));
    let other = TlogProof {
        extra: Some(extra(&receipt).replace("actor-1", "actor-2").into_bytes()),
        ..receipt.parse().expect("a receipt")
    };
    let without = TlogProof {
        extra: None,
        ..receipt.parse().expect("a receipt")
    };
    for changed in [
        receipt.replace("index 2", "index 3"),
        receipt.replace("\n5\n", "\n6\n"),
        receipt.replace("— ", "- "),
        other.to_string(),
        without.to_string(),
        receipt[..receipt.len() - 10].to_owned(),
    ] {
        let refused = check(&changed, &key);
        assert_eq!(refused.exit, Exit::Code(1), "{changed}: {refused:?}");
        assert!(refused.stderr.contains("REFUSED: "), "{refused:?}");
    }
    // The key of another deployment, and none.
    let stranger = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
    assert_eq!(check(&receipt, stranger).exit, Exit::Code(1));
    assert_eq!(check(&receipt, "nonsense").exit, Exit::Code(2));
    // What is neither a receipt nor an archive.
    assert_eq!(check("{}", &key).exit, Exit::Code(2));
}

/// The format is the same on both databases. audit-ledger's own tests change every bit of a proof; these reach every part of one through
/// the program.
#[test]
fn a_receipt_in_which_one_bit_was_changed_is_refused() {
    const STEP: usize = 29;
    let organization = Organization::fresh(DatabaseKind::Sqlite);
    let project = organization.project();
    let ids = project.store_all(vec![event(); 5]);
    let (receipt, key) = (read(&project, &ids[2]), key(&project));
    check(&receipt, &key).success();
    for byte in (0..receipt.len()).step_by(STEP) {
        let mut changed = receipt.clone().into_bytes();
        changed[byte] ^= 1 << (byte % 8);
        let refused = check(&changed, &key);
        // With another first line it is not a receipt.
        let expected = match byte < TlogProof::HEADER.len() {
            true => Exit::Code(2),
            false => Exit::Code(1),
        };
        let shown = String::from_utf8_lossy(&changed).into_owned();
        assert_eq!(refused.exit, expected, "byte {byte}: {shown}: {refused:?}");
    }
}

fn events_of_a_log_that_is_not_signed_are_stored_without_receipts(database: DatabaseKind) {
    let case = Case::fresh(database);
    // A later root does not continue the last one.
    let changed = case.database.blob(&[0; 32]);
    case.tamper(&format!(
        "UPDATE events SET content_hash = {changed} WHERE LEDGER AND seq = 270"
    ));
    let (_server, project) = case.start();
    let response = project
        .post("/events")
        .header("Prefer", "receipt")
        .json(json!(event()))
        .send()
        .expect_status(201);
    assert_eq!(response.header("preference-applied"), None);
    assert!(response["receipts"].is_null(), "{response:?}");
    let id = response["ids"][0].as_str().expect("an id").to_owned();
    assert_eq!(project.event(&id)["id"], *id);
}
