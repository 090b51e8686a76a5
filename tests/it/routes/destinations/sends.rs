//! Tests, previews and replays.

use super::{create, https, path_of, read};
use audit_tests::{
    Database, DatabaseKind, Deadline, Organization, Receiver, Reply, Response, Server, assert_signed,
    event_with, merge, now_plus, on_both_databases,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::thread;

const DAY: i64 = 24 * 60 * 60;

fn test(organization: &Organization, destination: &Value) -> Response {
    let request = organization
        .master()
        .post(&format!("{}/test", path_of(destination)));
    request.send()
}

fn replay(organization: &Organization, destination: &Value, body: Value) -> Response {
    let request = organization
        .master()
        .post(&format!("{}/replay", path_of(destination)));
    request.json(body).send()
}

/// Events of two tenants, three of each.
fn store(organization: &Organization) {
    let of = |tenant: &str| event_with(json!({"tenant_id": tenant}));
    organization
        .project()
        .store_all([vec![of("acme"); 3], vec![of("other"); 3]].concat());
}

on_both_databases! {
    a_test_sends_a_made_up_record_and_shows_what_became_of_it,
    an_organization_tests_twice_at_once,
    a_preview_shows_the_records_in_each_format,
    a_preview_shows_the_classes_that_are_assigned_to_actions,
    a_replay_is_counted_before_it_starts,
    one_replay_runs_at_a_time,
    a_refused_event_is_set_aside_and_sent_again_with_its_position,
    an_event_that_the_filter_leaves_out_is_not_sent_again,
}

fn a_test_sends_a_made_up_record_and_shows_what_became_of_it(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let receiver = Receiver::start();
    let headers = json!({"credentials": {"headers": {"authorization": "Bearer of-the-receiver"}}});
    let destination = create(&organization, merge(https(&receiver.url("/hook")), headers));
    receiver.reply(
        "/hook",
        [
            Reply::Status(204),
            Reply::Status(401),
            Reply::Status(503),
            Reply::Status(400),
        ],
    );
    for (status, verdict) in [
        (204, "delivered"),
        (401, "credentials"),
        (503, "retry"),
        (400, "refused"),
    ] {
        let sent = test(&organization, &destination).expect_status(200);
        assert_eq!(
            (&sent["status"], &sent["verdict"]),
            (&json!(status), &json!(verdict))
        );
        let request = sent["request"].as_str().expect("what was sent");
        assert!(
            request.contains("https://127.0.0.1:") && !request.contains("/hook"),
            "{request}"
        );
        assert!(
            !sent.body().to_string().contains("of-the-receiver"),
            "{:?}",
            sent.body()
        );
    }
    let requests = receiver.wait_for("/hook", 4);
    assert_signed(
        &requests[0],
        &[destination["signing_secret"].as_str().expect("a secret")],
    );
    assert_eq!(requests[0].header("authorization"), "Bearer of-the-receiver");
    let records = requests[0].json();
    assert_eq!(records.as_array().map(Vec::len), Some(1), "{records}");
    assert_eq!(records[0]["stream"]["test"], true, "{records}");
    assert_eq!(records[0]["stream"]["destination"], destination["id"]);
    let messages: BTreeSet<&str> = requests.iter().map(|request| request.message_id()).collect();
    assert_eq!(messages.len(), 4, "receivers drop repeats by the id");
    receiver.reply("/hook", [Reply::Drop]);
    let dropped = test(&organization, &destination).expect_status(200);
    assert_eq!(
        (&dropped["status"], &dropped["verdict"]),
        (&json!(null), &json!("retry"))
    );
    let after = read(&organization, &destination);
    assert_eq!(
        (&after["position"], &after["last_error"]),
        (&json!(0), &json!(null)),
        "it is as before"
    );
}

fn an_organization_tests_twice_at_once(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let receiver = Receiver::start();
    let destination = create(&organization, https(&receiver.url("/frozen")));
    receiver.reply("/frozen", [Reply::Stall]);
    let other = Organization::fresh(database);
    let receiver_of_other = Receiver::start();
    let of_other = create(&other, https(&receiver_of_other.url("/hook")));
    thread::scope(|scope| {
        let send = || {
            let master = organization.master().with_own_connections();
            master.post(&format!("{}/test", path_of(&destination))).send()
        };
        let waiting: Vec<_> = (0..2).map(|_| scope.spawn(send)).collect();
        receiver.wait_for("/frozen", 2);
        let refused = test(&organization, &destination).expect_error(429, "rate_limited");
        assert!(refused.header("retry-after").is_some(), "{refused:?}");
        let sent = test(&other, &of_other).expect_status(200);
        assert_eq!(sent["verdict"], "delivered", "another organization does not wait");
        for thread in waiting {
            let response = thread.join().expect("a response").expect_status(200);
            assert_eq!(
                (&response["status"], &response["verdict"]),
                (&json!(null), &json!("retry"))
            );
        }
    });
    receiver.reply("/frozen", [Reply::Status(200)]);
    assert_eq!(
        test(&organization, &destination).expect_status(200)["verdict"],
        "delivered"
    );
}

fn a_preview_shows_the_records_in_each_format(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let settings = json!({"host": "syslog.example.com"});
    let body = json!({
        "name": "syslog", "kind": "syslog", "paused": true, "settings": settings, "filter": {"tenant_ids": ["acme"]},
    });
    let destination = create(&organization, body);
    store(&organization);
    let preview = |format: &str| {
        let request = organization
            .master()
            .get(&format!("{}/preview", path_of(&destination)));
        let previewed = request.query("format", format).send().expect_status(200);
        assert_eq!(previewed["format"], format);
        previewed.list("records")
    };
    let records = preview("json");
    let positions: Vec<&Value> = records
        .iter()
        .map(|record| &record["stream"]["position"])
        .collect();
    assert_eq!(positions, [1, 2, 3], "only those of the filter");
    for record in &records {
        assert_eq!(record["tenant_id"], "acme");
        let stored = organization
            .project()
            .event(record["id"].as_str().expect("an id"));
        let mut event = record.clone();
        event.as_object_mut().expect("an object").remove("stream");
        assert_eq!(event, stored, "the event as a full read returns it");
    }
    let ocsf = preview("ocsf");
    assert_eq!(ocsf.len(), 3);
    assert!(ocsf.iter().all(|record| record["class_uid"].is_u64()), "{ocsf:?}");
    let cef = preview("cef");
    assert!(
        cef.iter()
            .all(|line| line.as_str().is_some_and(|line| line.starts_with("CEF:0|"))),
        "{cef:?}"
    );
    assert_eq!(
        read(&organization, &destination)["position"],
        0,
        "nothing was sent"
    );
}

fn a_preview_shows_the_classes_that_are_assigned_to_actions(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let action = |action: &str| event_with(json!({"action": action, "tenant_id": "acme"}));
    let assigned = json!({
        "filter": {"tenant_ids": ["acme"]}, "format": "ocsf",
        "ocsf_classes": [
            {"action": "invoice.*", "class_uid": 6003, "activity_id": 3},
            {"action": "role.*", "class_uid": 3006, "activity_id": 1},
        ],
    });
    let destination = create(&organization, merge(https("https://siem.example.com"), assigned));
    let events = ["invoice.paid", "role.inherited", "document.viewed"].map(action);
    organization.project().store_all(events.to_vec());
    let path = format!("{}/preview", path_of(&destination));
    let preview = organization.master().get(&path).send().expect_status(200);
    let records = preview.list("records");
    let types: Vec<&Value> = records.iter().map(|record| &record["type_uid"]).collect();
    // No target of the second one is a group.
    assert_eq!(types, [&json!(600_303), &json!(600_399), &json!(600_302)]);
}

fn a_replay_is_counted_before_it_starts(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    store(&organization);
    let filter = json!({"filter": {"tenant_ids": ["acme"]}});
    let destination = create(&organization, merge(https(super::URL), filter));
    let count = |body: Value| {
        let body = merge(body, json!({"dry_run": true}));
        let counted = replay(&organization, &destination, body).expect_status(200);
        assert_eq!(counted["replay"], json!(null));
        let range = [&counted["from_seq"], &counted["end_seq"]].map(|seq| seq.as_i64().expect("a number"));
        (
            range,
            counted["count"]["matching"].clone(),
            counted["count"]["looked_at"].clone(),
        )
    };
    let ([from, end], matching, looked_at) = count(json!({}));
    assert_eq!((from, matching, looked_at), (0, json!(3), json!(end)));
    assert!(end >= 6, "{end}");
    let yesterday = now_plus(-DAY);
    assert_eq!(count(json!({"from": yesterday})).0, [0, end]);
    assert_eq!(count(json!({"to": yesterday})), ([0, 0], json!(0), json!(0)));
    assert_eq!(count(json!({"from": now_plus(DAY)})).0, [end, end]);
    assert_eq!(count(json!({"from_seq": end - 1})).0, [end - 1, end]);
    let empty = replay(&organization, &destination, json!({"to": yesterday}));
    empty.expect_invalid(&["to"]);
    let later = json!({"from": now_plus(DAY)});
    replay(&organization, &destination, later).expect_invalid(&["from"]);
    replay(&organization, &destination, json!({"from_seq": end})).expect_invalid(&["from_seq"]);
    let reversed = replay(
        &organization,
        &destination,
        json!({"from_seq": 1, "to": yesterday}),
    );
    reversed.expect_invalid(&["to"]);
    assert_eq!(
        read(&organization, &destination)["replay"],
        json!(null),
        "none has started"
    );
}

fn one_replay_runs_at_a_time(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    store(&organization);
    let destination = create(&organization, https(super::URL));
    let started = replay(&organization, &destination, json!({"from_seq": 2})).expect_status(200);
    let running = &started["replay"];
    assert_eq!(
        (&running["position"], &running["cursor_seq"]),
        (&json!(0), &json!(2))
    );
    assert_eq!(
        (&started["count"], &running["end_seq"]),
        (&json!(null), &started["end_seq"])
    );
    let shown = read(&organization, &destination);
    assert_eq!(shown["replay"], *running);
    assert_eq!(
        shown["cursor_seq"], destination["cursor_seq"],
        "the main run stays where it is"
    );
    replay(&organization, &destination, json!({})).expect_error(409, "conflict");
    let path = format!("{}/replay", path_of(&destination));
    let master = organization.master();
    master.delete(&path).send().expect_status(200);
    master.delete(&path).send().expect_error(404, "not_found");
    let again = replay(&organization, &destination, json!({})).expect_status(200);
    assert_ne!(
        again["replay"]["number"], running["number"],
        "receivers drop repeats by the number of the run"
    );
}

fn a_refused_event_is_set_aside_and_sent_again_with_its_position(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let receiver = Receiver::start();
    receiver.reply(
        "/hook",
        [Reply::Status(400), Reply::Status(503), Reply::Status(200)],
    );
    let running = json!({"paused": false, "filter": {"actions": ["poison.*"]}});
    let destination = create(&organization, merge(https(&receiver.url("/hook")), running));
    let id = organization
        .project()
        .store(event_with(json!({"action": "poison.event"})));
    let shown = Deadline::seconds(90).poll("the list", || {
        let shown = read(&organization, &destination);
        (shown["set_aside"] == 1).then_some(shown)
    });
    assert_eq!(
        (&shown["position"], &shown["state"]),
        (&json!(1), &json!("active"))
    );
    let (master, path) = (organization.master(), path_of(&destination));
    let listed = || {
        master
            .pages_of(&format!("{path}/set-aside"), "events", &[])
            .concat()
    };
    assert_eq!(listed().len(), 1);
    let refused = &listed()[0];
    assert_eq!(
        (&refused["run"], &refused["position"], &refused["event_id"]),
        (&json!(0), &json!(1), &json!(id))
    );
    let resend = |body: Value| {
        let request = master.post(&format!("{path}/set-aside/resend")).json(body);
        request.send().expect_status(200)
    };
    let later = resend(json!({"positions": [1]}));
    assert_eq!(
        (&later["events"][0]["verdict"], &later["remaining"]),
        (&json!("retry"), &json!(1))
    );
    let delivered = resend(json!({}));
    assert_eq!(
        (&delivered["events"][0]["verdict"], &delivered["remaining"]),
        (&json!("delivered"), &json!(0))
    );
    assert_eq!(listed().len(), 0);
    for request in receiver.wait_for("/hook", 3) {
        let record = &request.json()[0];
        assert_eq!(
            (&record["id"], &record["stream"]["position"]),
            (&json!(id), &json!(1))
        );
    }
}

fn an_event_that_the_filter_leaves_out_is_not_sent_again(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "pro");
    let filter = json!({"filter": {"tenant_ids": ["acme"]}});
    let destination = create(&organization, merge(https(super::URL), filter));
    organization
        .project()
        .store(event_with(json!({"tenant_id": "other"})));
    // The receiver refused the event while the filter was another one.
    let (id, seq) = (&destination["id"], &destination["cursor_seq"]);
    let (event_id, hash) = (database.blob(&[1; 16]), database.blob(&[2; 32]));
    let id = id.as_str().expect("an id");
    database.execute(&format!(
        "INSERT INTO destination_set_aside (destination_id, run, position, seq, event_id, content_hash, at, reason)
         VALUES ('{id}', 0, 1, {seq}, {event_id}, {hash}, 0, '400')"
    ));
    let resend = |body: Value| {
        let path = format!("{}/set-aside/resend", path_of(&destination));
        organization.master().post(&path).json(body).send()
    };
    resend(json!({"positions": [1]})).expect_invalid(&["positions[0]"]);
    let resent = resend(json!({})).expect_status(200);
    assert_eq!((&resent["events"], &resent["remaining"]), (&json!([]), &json!(1)));
    server.stop().success();
}
