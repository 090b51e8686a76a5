//! `/erasures`: requests and their lists. `tests/it/erasure` carries erasures out.

mod refused;

use audit_tests::{Client, DatabaseKind, Deadline, Organization, Response, event_with, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    an_erasure_is_requested_and_listed,
    a_list_is_read_in_pages,
    an_event_is_taken_off_a_list_that_is_not_confirmed,
    a_list_is_confirmed_by_its_digest_and_once,
    a_planned_erasure_can_be_cancelled,
    an_erasure_that_finds_nothing_is_done_without_an_event,
    each_environment_has_erasures_of_its_own,
    no_response_and_no_event_repeats_an_identifier,
}

/// A list is made within moments. This bounds a hang.
const LIST_SECONDS: u64 = 600;

/// Stores events of this actor, and waits until they are under a signed checkpoint: an erasure reads no further.
fn store(client: &Client, actor: &str, count: usize) {
    let event = event_with(json!({"actor": {"id": actor, "name": "Jane Doe"}}));
    let ids = client.store_all(vec![event; count]);
    let last = ids.last().expect("an event");
    let proof = client.get(&format!("/events/{last}/proof"));
    proof.send().expect_status(200);
}

fn request(client: &Client, erasure: Value) -> Response {
    client.post("/erasures").json(erasure).send()
}

fn of_id(id: &str) -> Value {
    json!({"identifiers": {"ids": [id]}, "basis": "gdpr_17"})
}

fn path(erasure: &Value, rest: &str) -> String {
    format!("/erasures/{}{rest}", erasure["id"].as_str().expect("an id"))
}

/// Waits until the erasure is in the state.
fn in_state(client: &Client, erasure: &Value, state: &str) -> Value {
    Deadline::seconds(LIST_SECONDS).poll(state, || {
        let response = client.get(&path(erasure, "")).send().expect_status(200);
        let erasure = response.body()["erasure"].clone();
        (erasure["state"] == state).then_some(erasure)
    })
}

/// An erasure of this actor, whose list is complete.
fn listed(client: &Client, actor: &str) -> Value {
    let requested = request(client, of_id(actor)).expect_status(201);
    in_state(client, &requested.body()["erasure"], "listed")
}

fn confirm(client: &Client, erasure: &Value, digest: &Value) -> Response {
    let body = json!({"digest": digest});
    client.post(&path(erasure, "/confirm")).json(body).send()
}

fn exclude(client: &Client, erasure: &Value, body: Value) -> Response {
    client.post(&path(erasure, "/exclude")).json(body).send()
}

fn expect_conflict(response: Response, message: &str) {
    let response = response.expect_error(409, "conflict");
    assert_eq!(response.body()["error"]["message"], message);
}

fn recorded(organization: &Organization, action: &str) -> Vec<Value> {
    organization
        .master()
        .find(&[("tenant_id", "audit-server"), ("action", action)])
}

fn an_erasure_is_requested_and_listed(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    store(&organization.project(), "usr_42", 1);
    let new = json!({
        "identifiers": {"ids": ["usr_42"], "texts": ["jane doe"]}, "extent": "all", "basis": "contract", "ticket": "DSR/118_a.b#-",
    });
    let requested = request(&master, new).expect_status(201).body()["erasure"].clone();
    let expected = json!({
        "environment": "live", "state": "listing", "extent": "all", "basis": "contract", "ticket": "DSR/118_a.b#-", "events": 0, "rows": 0,
        "held": 0, "digest": null, "not_before": null, "planned_seq": null, "erased_seq": null, "erased_at": null, "done_at": null,
        "waiting_for": null,
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(requested.get(name), Some(value), "{name}");
    }
    let erasure = in_state(&master, &requested, "listed");
    assert_eq!((&erasure["events"], &erasure["rows"]), (&json!(1), &json!(0)));
    assert_eq!(erasure["read"], erasure["size"]);
    let kinds = erasure["out_of_reach"].as_array().expect("copies").iter();
    let kinds: Vec<&Value> = kinds.map(|copies| &copies["kind"]).collect();
    for kind in ["receipt", "backup", "client", "configuration"] {
        assert!(kinds.contains(&&json!(kind)), "{kind} in {kinds:?}");
    }
    let all = master.get("/erasures").send().expect_status(200);
    assert_eq!(all.list("erasures"), std::slice::from_ref(&erasure));
    let page = master.get(&path(&erasure, "/events")).send().expect_status(200);
    let [event] = page.list("events").try_into().expect("one event");
    let stored = organization.project().find(&[("actor_id", "usr_42")]);
    for name in ["id", "occurred_at", "action"] {
        assert_eq!(event[name], stored[0][name], "{name}");
    }
    assert_eq!(event["row"], false);
    let parts = event["parts"].as_array().expect("parts");
    assert!(
        parts.contains(&json!("actor.id")) && !parts.contains(&json!("kind")),
        "{parts:?}"
    );
}

fn a_list_is_read_in_pages(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    store(&organization.project(), "usr_42", 3);
    let erasure = listed(&master, "usr_42");
    let events = path(&erasure, "/events");
    let pages = master.pages_of(&events, "events", &[("limit", "2")]);
    let sizes: Vec<usize> = pages.iter().map(Vec::len).collect();
    assert_eq!(sizes, [2, 1]);
    let all = master.get(&events).send().expect_status(200);
    assert_eq!(all.list("events"), pages.concat());
    let seqs: Vec<u64> = all
        .list("events")
        .iter()
        .filter_map(|event| event["seq"].as_u64())
        .collect();
    assert!(seqs.len() == 3 && seqs.is_sorted(), "{seqs:?}");
    for (name, value) in [
        ("limit", "0"),
        ("limit", "201"),
        ("limit", "x"),
        ("cursor", "x"),
        ("cursor", "-1"),
    ] {
        let refused = master.get(&events).query(name, value).send();
        refused.expect_invalid(&[name]);
    }
    for cursor in [i64::MAX.cast_unsigned(), u64::MAX] {
        let behind = master.get(&events).query("cursor", &cursor.to_string()).send();
        assert!(behind.expect_status(200).list("events").is_empty());
    }
}

fn an_event_is_taken_off_a_list_that_is_not_confirmed(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    store(&organization.project(), "usr_42", 3);
    let erasure = listed(&master, "usr_42");
    let events = path(&erasure, "/events");
    let seqs: Vec<Value> = master
        .get(&events)
        .send()
        .list("events")
        .iter()
        .map(|event| event["seq"].clone())
        .collect();
    for (body, field) in [
        (json!({}), "seqs"),
        (json!({"seqs": null}), "seqs"),
        (json!({"seqs": []}), "seqs"),
        (json!({"seqs": vec![1; 101]}), "seqs"),
        (json!({"seqs": 1}), "seqs"),
        (json!({"seqs": [1, -1]}), "seqs[1]"),
        (json!({"seqs": ["1"]}), "seqs[0]"),
        (json!({"seqs": [1.5]}), "seqs[0]"),
        (json!({"seqs": [1], "events": []}), "events"),
    ] {
        exclude(&master, &erasure, body).expect_invalid(&[field]);
    }
    let excluded = exclude(&master, &erasure, json!({"seqs": vec![&seqs[1]; 100]})).expect_status(200);
    let excluded = excluded.body()["erasure"].clone();
    assert_eq!(
        (&excluded["state"], &excluded["events"]),
        (&json!("listed"), &json!(2))
    );
    assert_ne!(excluded["digest"], erasure["digest"]);
    let left = master.get(&events).send().list("events");
    let left: Vec<&Value> = left.iter().map(|event| &event["seq"]).collect();
    assert_eq!(left, [&seqs[0], &seqs[2]]);
    expect_conflict(
        confirm(&master, &erasure, &erasure["digest"]),
        "the list has changed: read it again",
    );
    confirm(&master, &erasure, &excluded["digest"]).expect_status(202);
    let refused = exclude(&master, &erasure, json!({"seqs": [seqs[0]]}));
    refused.expect_error(409, "conflict");
}

fn a_list_is_confirmed_by_its_digest_and_once(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    store(&organization.project(), "usr_42", 1);
    let erasure = listed(&master, "usr_42");
    for body in [json!({}), json!({"digest": "sha256:00"}), json!({"digest": 7})] {
        let refused = master.post(&path(&erasure, "/confirm")).json(body).send();
        refused.expect_invalid(&["digest"]);
    }
    let other = json!(format!("sha256:{}", "0".repeat(64)));
    expect_conflict(
        confirm(&master, &erasure, &other),
        "the list has changed: read it again",
    );
    assert!(recorded(&organization, "audit.erasure.planned").is_empty());
    let planned = confirm(&master, &erasure, &erasure["digest"]).expect_status(202);
    let planned = planned.body()["erasure"].clone();
    assert_eq!(planned["state"], "planned");
    assert!(
        planned["not_before"].is_string() && planned["planned_seq"].is_u64(),
        "{planned}"
    );
    assert_eq!(planned["erased_seq"], Value::Null);
    expect_conflict(
        confirm(&master, &erasure, &erasure["digest"]),
        "the erasure is planned already",
    );
    let [event] = recorded(&organization, "audit.erasure.planned")
        .try_into()
        .expect("one event");
    assert_eq!(event["metadata"]["erasure"], erasure["id"]);
    assert_eq!(event["metadata"]["digest"], erasure["digest"]);
    assert_eq!(event["metadata"]["not_before"], planned["not_before"]);
}

fn a_planned_erasure_can_be_cancelled(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    store(&organization.project(), "usr_42", 1);
    for is_planned in [false, true] {
        let erasure = listed(&master, "usr_42");
        if is_planned {
            confirm(&master, &erasure, &erasure["digest"]).expect_status(202);
        }
        let cancelled = master.delete(&path(&erasure, "")).send().expect_status(200);
        assert_eq!(cancelled.body()["erasure"]["state"], "cancelled");
        let events = recorded(&organization, "audit.erasure.cancelled");
        assert_eq!(events.len(), usize::from(is_planned), "{events:?}");
        if let [event] = events.as_slice() {
            assert_eq!(event["metadata"]["erasure"], erasure["id"]);
            assert_eq!(event["metadata"]["reason"], "requested");
        }
        Deadline::seconds(LIST_SECONDS).poll("the end of a cancelled erasure", || {
            let response = master.get(&path(&erasure, "")).send();
            (response.status() == 404).then_some(())
        });
    }
    assert_eq!(organization.project().find(&[("actor_id", "usr_42")]).len(), 1);
}

fn an_erasure_that_finds_nothing_is_done_without_an_event(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    store(&organization.project(), "usr_42", 1);
    let requested = request(&master, of_id("usr_4")).expect_status(201);
    let erasure = in_state(&master, &requested.body()["erasure"], "done");
    assert_eq!(erasure["events"], 0);
    for name in ["planned_seq", "erased_seq"] {
        assert_eq!(erasure[name], Value::Null, "{name}");
    }
    let digest = json!(format!("sha256:{}", "0".repeat(64)));
    for refused in [
        master.delete(&path(&erasure, "")).send(),
        confirm(&master, &erasure, &digest),
        exclude(&master, &erasure, json!({"seqs": [0]})),
    ] {
        refused.expect_error(409, "conflict");
    }
    for action in [
        "audit.erasure.planned",
        "audit.erasure.cancelled",
        "audit.events.erased",
    ] {
        assert!(recorded(&organization, action).is_empty(), "{action}");
    }
}

fn each_environment_has_erasures_of_its_own(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (master, test) = (organization.master(), [("environment", "test")]);
    store(&organization.project(), "usr_42", 1);
    let requested = master
        .post("/erasures")
        .queries(&test)
        .json(of_id("usr_42"))
        .send();
    let requested = requested.expect_status(201).body()["erasure"].clone();
    assert_eq!(requested["environment"], "test");
    assert!(master.get("/erasures").send().list("erasures").is_empty());
    master
        .get(&path(&requested, ""))
        .send()
        .expect_error(404, "not_found");
    Deadline::seconds(LIST_SECONDS).poll("an erasure that finds nothing", || {
        let response = master.get(&path(&requested, "")).queries(&test).send();
        let erasure = response.expect_status(200).body()["erasure"].clone();
        (erasure["state"] == "done" && erasure["events"] == 0).then_some(())
    });
}

fn no_response_and_no_event_repeats_an_identifier(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    let secret = "Zebra Crossing";
    let id = organization
        .project()
        .store(event_with(json!({"metadata": {"note": format!("of {secret}")}})));
    let proof = organization.project().get(&format!("/events/{id}/proof"));
    proof.send().expect_status(200);
    let of = |texts: Value| json!({"identifiers": {"texts": texts}, "basis": "gdpr_17"});
    let requested = request(&master, of(json!([secret]))).expect_status(201);
    let erasure = requested.body()["erasure"].clone();
    let listed = in_state(&master, &erasure, "listed");
    assert_eq!(listed["events"], 1);
    let all = master.get("/erasures").send();
    let events = master.get(&path(&erasure, "/events")).send();
    let planned = confirm(&master, &erasure, &listed["digest"]).expect_status(202);
    let refusals = [
        request(&master, of(json!([format!(" {secret}")]))),
        request(&master, of(json!([secret, secret.repeat(40)]))),
        request(&master, of(json!(secret))),
        request(&master, of(json!(vec![secret; 51]))),
    ];
    for response in refusals {
        let response = response.expect_error(400, "validation_error");
        assert!(!response.body().to_string().contains("Zebra"), "{response:?}");
    }
    let own = Value::Array(recorded(&organization, "audit.*")).to_string();
    for text in [&requested, &all, &events, &planned].map(|response| response.body().to_string()) {
        assert!(!text.contains("Zebra"), "{text}");
    }
    assert!(
        own.contains("audit.erasure.planned") && !own.contains("Zebra"),
        "{own}"
    );
}
