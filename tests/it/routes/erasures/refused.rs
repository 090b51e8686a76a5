//! Erasures that are refused.

use super::{LIST_SECONDS, confirm, exclude, expect_conflict, in_state, listed, of_id, path, request, store};
use audit_tests::{DatabaseKind, Deadline, Organization, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    an_erasure_that_cannot_be_is_refused,
    identifiers_have_limits,
    a_list_is_not_confirmed_after_a_hold,
    an_erasure_that_is_not_there_is_not_found,
    open_erasures_are_limited,
}

/// The maximum number of open erasures of a log.
const OPEN_MAX: usize = 20;
/// An id in the form of one, and of no erasure.
const UNKNOWN: &str = "ers_01KF15PHN8E1V6GK2Q6JQ5N9Y1";

fn an_erasure_that_cannot_be_is_refused(database: DatabaseKind) {
    let master = Organization::fresh(database).master();
    let identifiers = json!({"ids": ["usr_42"]});
    let with = |name: &str, value: Value| {
        let mut erasure = of_id("usr_42");
        erasure[name] = value;
        erasure
    };
    for (erasure, field) in [
        (json!({"basis": "gdpr_17"}), "identifiers"),
        (json!({"identifiers": identifiers}), "basis"),
        (with("basis", json!("because")), "basis"),
        (with("extent", json!("some")), "extent"),
        (with("ticket", json!("")), "ticket"),
        (with("ticket", json!("x".repeat(65))), "ticket"),
        (with("ticket", json!("jane@example.com")), "ticket"),
        (with("ticket", json!("Jane Doe")), "ticket"),
        (with("ticket", json!("é")), "ticket"),
        (with("archived", json!(true)), "archived"),
        (with("identifiers", json!([])), "identifiers"),
        (with("identifiers", json!({})), "identifiers"),
        (
            with("identifiers", json!({"ids": [], "texts": null})),
            "identifiers",
        ),
        (with("identifiers", json!({"ids": "usr_42"})), "identifiers.ids"),
        (
            with("identifiers", json!({"ids": ["usr_42", 7]})),
            "identifiers.ids[1]",
        ),
        (
            with("identifiers", json!({"ids": ["a\u{0}b"]})),
            "identifiers.ids[0]",
        ),
        (with("identifiers", json!({"ids": [""]})), "identifiers.ids[0]"),
        (
            with("identifiers", json!({"ids": ["x"], "names": ["x"]})),
            "identifiers.names",
        ),
        (
            with(
                "identifiers",
                json!({"texts": ["Jane", "Jane Doe", "Mary", "Jo"]}),
            ),
            "identifiers.texts[3]",
        ),
        (
            with("identifiers", json!({"texts": ["----"]})),
            "identifiers.texts[0]",
        ),
        (
            with("identifiers", json!({"texts": ["Jane Doe\n"]})),
            "identifiers.texts[0]",
        ),
    ] {
        request(&master, erasure).expect_invalid(&[field]);
    }
    assert!(master.get("/erasures").send().list("erasures").is_empty());
}

fn identifiers_have_limits(database: DatabaseKind) {
    let master = Organization::fresh(database).master();
    let of = |ids: Vec<String>, texts: Vec<String>| {
        let identifiers = json!({"ids": ids, "texts": texts});
        request(&master, json!({"identifiers": identifiers, "basis": "other"}))
    };
    let texts = |count: usize| vec!["n".repeat(4); count];
    of(vec!["i".repeat(512)], vec!["é".repeat(512)]).expect_status(201);
    of(vec!["i".repeat(513)], vec!["é".repeat(513)])
        .expect_invalid(&["identifiers.ids[0]", "identifiers.texts[0]"]);
    of(vec!["i".to_owned()], texts(49)).expect_status(201);
    let refused = of(vec!["i".to_owned()], texts(50)).expect_invalid(&["identifiers"]);
    assert_eq!(
        refused.message_on("identifiers"),
        "must have at most 50 ids and texts together"
    );
}

fn a_list_is_not_confirmed_after_a_hold(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    store(&organization.project(), "usr_42", 1);
    let erasure = listed(&master, "usr_42");
    let hold = json!({"reason": "a case", "actor_id": "somebody else"});
    master.post("/holds").json(hold).send().expect_status(201);
    expect_conflict(
        confirm(&master, &erasure, &erasure["digest"]),
        "a hold was placed since the list was made: request the erasure again",
    );
    let again = listed(&master, "usr_42");
    confirm(&master, &again, &again["digest"]).expect_status(202);
    let hold = json!({"reason": "another case", "actor_id": "usr_43"});
    store(&organization.project(), "usr_43", 1);
    master.post("/holds").json(hold).send().expect_status(201);
    // Its only event is held, so there is nothing to confirm.
    let held = request(&master, of_id("usr_43")).expect_status(201);
    let held = in_state(&master, &held.body()["erasure"], "done");
    assert_eq!((&held["events"], &held["held"]), (&json!(0), &json!(1)));
}

fn an_erasure_that_is_not_there_is_not_found(database: DatabaseKind) {
    let (own, other) = (Organization::fresh(database), Organization::fresh(database));
    store(&other.project(), "usr_42", 1);
    let of_another = listed(&other.master(), "usr_42");
    let master = own.master();
    let digest = json!(format!("sha256:{}", "0".repeat(64)));
    for erasure in [json!({"id": UNKNOWN}), json!({"id": "nonsense"}), of_another] {
        for response in [
            master.get(&path(&erasure, "")).send(),
            master.delete(&path(&erasure, "")).send(),
            master.get(&path(&erasure, "/events")).send(),
            exclude(&master, &erasure, json!({"seqs": [0]})),
            confirm(&master, &erasure, &digest),
        ] {
            response.expect_error(404, "not_found");
        }
    }
}

fn open_erasures_are_limited(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    store(&organization.project(), "usr_42", 1);
    let mut last = Value::Null;
    for _ in 0..OPEN_MAX {
        let requested = request(&master, of_id("usr_42")).expect_status(201);
        last = requested.body()["erasure"].clone();
    }
    let one_more = || request(&master, of_id("usr_42"));
    expect_conflict(one_more(), "the log has 20 open erasures");
    master.delete(&path(&last, "")).send().expect_status(200);
    Deadline::seconds(LIST_SECONDS).poll("the end of a cancelled erasure", || {
        let response = master.get(&path(&last, "")).send();
        (response.status() == 404).then_some(())
    });
    one_more().expect_status(201);
}
