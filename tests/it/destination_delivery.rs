//! Events on their way to a destination, and what its receiver can prove of them.

use audit_tests::{
    DatabaseKind, Deadline, Organization, Receiver, Reply, command_line, event_with, on_both_databases,
    temporary_directory,
};
use serde_json::{Value, json};

const PATH: &str = "/siem";

on_both_databases! {
    a_receiver_proves_that_it_has_every_event_of_a_replay,
    a_failed_batch_goes_again_with_the_same_bytes_under_the_same_id,
}

/// A destination that gets the events of the tenant `acme`. Returns its path.
fn create(organization: &Organization, receiver: &Receiver) -> String {
    let body = json!({
        "name": "a SIEM", "kind": "https", "settings": {"url": receiver.url(PATH)}, "filter": {"tenant_ids": ["acme"]},
    });
    let created = organization.master().post("/destinations").json(body).send();
    let created = created.expect_status(201);
    let id = created["destination"]["id"].as_str().expect("an id");
    format!("/destinations/{id}")
}

fn store(organization: &Organization, count: usize) {
    let event = event_with(json!({"tenant_id": "acme"}));
    organization.project().store_all(vec![event; count]);
}

/// The records that have arrived, in their order.
fn records(receiver: &Receiver) -> Vec<Value> {
    let requests = receiver.wait_for(PATH, 0);
    let of = |body: Value| body.as_array().cloned().expect("an array of records");
    requests.iter().flat_map(|request| of(request.json())).collect()
}

/// Runs `log stream` on a file with these records.
fn stream(records: &[Value], key: &str) -> audit_tests::Finished {
    let file = temporary_directory("stream-").join("events.jsonl");
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(&file, lines.concat()).expect("write the records");
    command_line(&[
        "log",
        "stream",
        file.to_str().expect("a path in UTF-8"),
        "--key",
        key,
    ])
}

fn a_receiver_proves_that_it_has_every_event_of_a_replay(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let receiver = Receiver::start();
    store(&organization, 5);
    let destination = create(&organization, &receiver);
    let replay = organization
        .master()
        .post(&format!("{destination}/replay"))
        .json(json!({}));
    replay.send().expect_status(200);
    let records = Deadline::seconds(60).poll("the checkpoint at the end of a replay", || {
        let records = records(&receiver);
        records
            .iter()
            .any(|record| record["note"].is_string())
            .then_some(records)
    });
    let positions: Vec<&Value> = records
        .iter()
        .map(|record| &record["stream"]["position"])
        .collect();
    assert_eq!(positions, [1, 2, 3, 4, 5, 6]);
    let key = organization.project().get("/log/key").send_raw();
    let key = String::from_utf8(key.bytes).expect("a key in UTF-8");
    let proved = stream(&records, key.trim()).success();
    assert!(
        proved.contains("positions 1–5 are complete up to seq "),
        "{proved}"
    );
    let without_third = [&records[..2], &records[3..]].concat();
    let refused = stream(&without_third, key.trim());
    assert!(refused.stdout.contains("MISSING: 1 positions: 3"), "{refused:?}");
    assert!(refused.refusal().contains("REFUSED"));
}

fn a_failed_batch_goes_again_with_the_same_bytes_under_the_same_id(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let receiver = Receiver::start();
    create(&organization, &receiver);
    receiver.reply(PATH, [Reply::Status(503), Reply::Drop, Reply::Status(200)]);
    store(&organization, 3);
    let requests = receiver.wait_for(PATH, 3);
    for repeated in &requests[1..3] {
        assert_eq!(repeated.message_id(), requests[0].message_id());
        assert_eq!(repeated.body, requests[0].body);
    }
    store(&organization, 1);
    let next = &receiver.wait_for(PATH, 4)[3];
    assert_ne!(next.message_id(), requests[0].message_id());
    assert_eq!(next.json()[0]["stream"]["position"], 4);
}
