//! `PATCH /keys/:id`.

use audit_tests::{
    Client, DatabaseKind, Organization, Response, address, event, merge, moment, now_plus, on_both_databases,
};
use serde_json::{Value, json};

const DAY: i64 = 24 * 60 * 60;

on_both_databases! {
    a_renamed_key_works_as_before,
    changed_networks_hold_from_the_next_request_on,
    the_end_of_a_key_can_be_set_moved_and_lifted,
    what_is_not_given_stays,
    every_fault_of_a_change_is_named,
    a_key_that_is_not_valid_any_more_stays_so,
    a_change_makes_no_key_wider_than_the_master_key_that_makes_it,
    only_a_master_key_of_the_organization_changes_a_project_key,
}

fn text(value: &Value, member: &str) -> String {
    value[member]
        .as_str()
        .unwrap_or_else(|| panic!("{member} in {value}"))
        .to_owned()
}

fn new_key(organization: &Organization, limits: Value) -> Value {
    let body = json!({"project_id": organization.project_id, "type": "project", "name": "before"});
    let request = organization.master().post("/keys").json(merge(body, limits));
    request.send().expect_status(201).body().clone()
}

fn change(client: &Client, key: &Value, change: Value) -> Response {
    let path = format!("/keys/{}", text(key, "id"));
    client.patch(&path).json(change).send()
}

/// The key after a change.
fn changed(organization: &Organization, key: &Value, members: Value) -> Value {
    let response = change(&organization.master(), key, members).expect_status(200);
    let path = format!("/keys/{}", text(key, "id"));
    // The last use of a key is written some time after it.
    let without_use = |mut key: Value| {
        let members = key.as_object_mut().expect("a key");
        members.retain(|member, _| !member.starts_with("lastUsed"));
        key
    };
    let read = organization.master().one(&path, "key");
    assert_eq!(without_use(read), without_use(response["key"].clone()));
    response["key"].clone()
}

fn a_renamed_key_works_as_before(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let key = new_key(&organization, json!({"scopes": ["events:write"]}));
    let client = organization.with_credential(&text(&key, "key"));
    client.store(event());
    let after = changed(&organization, &key, json!({"name": "Küche"}));
    assert_eq!(after["name"], "Küche");
    for member in ["id", "prefix", "environment", "expiresAt", "scopes", "networks"] {
        assert_eq!(after[member], key[member], "{member}");
    }
    client.store(event());
    client.get("/events").send().expect_error(403, "forbidden");
}

/// The shared servers believe `X-Forwarded-For` from the tests' own address.
fn changed_networks_hold_from_the_next_request_on(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let key = new_key(&organization, json!({}));
    let client = organization.with_credential(&text(&key, "key"));
    let (inside, outside) = (address(), address());
    client.with_address(&outside).store(event());
    let after = changed(&organization, &key, json!({"networks": [inside]}));
    assert_eq!(after["networks"], json!([format!("{inside}/32")]));
    client.with_address(&inside).store(event());
    let refused = client.with_address(&outside).post("/events").json(event());
    refused.send().expect_error(403, "forbidden");
    let after = changed(&organization, &key, json!({"networks": null}));
    assert_eq!(after["networks"], json!(null));
    client.with_address(&outside).store(event());
    assert_eq!(organization.project().count(), 3);
}

fn the_end_of_a_key_can_be_set_moved_and_lifted(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let key = new_key(&organization, json!({}));
    for days in [2, 1, 3] {
        let end = now_plus(days * DAY);
        let after = changed(&organization, &key, json!({"expires_at": end}));
        assert_eq!(moment(&after["expiresAt"]), moment(&json!(end)));
    }
    let after = changed(&organization, &key, json!({"expires_at": null}));
    assert_eq!(after["expiresAt"], json!(null));
}

fn what_is_not_given_stays(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let limits = json!({"expires_at": now_plus(DAY), "networks": ["127.0.0.0/8", "10.0.0.0/8"]});
    let key = new_key(&organization, limits);
    let path = format!("/keys/{}", text(&key, "id"));
    let before = organization.master().one(&path, "key");
    assert_eq!(changed(&organization, &key, json!({})), before);
    let renamed = changed(&organization, &key, json!({"name": "after"}));
    assert_eq!(renamed, merge(before.clone(), json!({"name": "after"})));
    let narrowed = changed(&organization, &key, json!({"networks": ["127.0.0.1"]}));
    assert_eq!(narrowed, merge(renamed, json!({"networks": ["127.0.0.1/32"]})));
}

fn every_fault_of_a_change_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let key = new_key(&organization, json!({}));
    let refused = |members: Value| change(&organization.master(), &key, members);
    let faults = json!({"name": "", "networks": ["all"], "expires_at": "soon", "scopes": ["admin"]});
    let response = refused(faults).expect_invalid(&["name", "networks[0]", "expires_at", "scopes"]);
    assert_eq!(response.message_on("scopes"), "Unrecognized field");
    refused(json!({"networks": []})).expect_invalid(&["networks"]);
    refused(json!({"networks": vec!["10.0.0.0/8"; 33]})).expect_invalid(&["networks"]);
    let response = refused(json!({"expires_at": now_plus(-60)})).expect_invalid(&["expires_at"]);
    assert_eq!(response.message_on("expires_at"), "must be in the future");
    organization.with_credential(&text(&key, "key")).store(event());
}

fn a_key_that_is_not_valid_any_more_stays_so(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    let [revoked, expired] = [(); 2].map(|()| new_key(&organization, json!({})));
    master
        .delete(&format!("/keys/{}", text(&revoked, "id")))
        .send()
        .expect_status(200);
    master
        .post(&format!("/keys/{}/rotate?overlap=0", text(&expired, "id")))
        .send()
        .expect_status(201);
    for (key, code) in [(&revoked, "key_revoked"), (&expired, "key_expired")] {
        for members in [json!({"expires_at": null}), json!({"name": "again"})] {
            change(&master, key, members).expect_error(409, "conflict");
        }
        let client = organization.with_credential(&text(key, "key"));
        client.get("/events").send().expect_error(401, code);
    }
}

fn a_change_makes_no_key_wider_than_the_master_key_that_makes_it(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let inside = address();
    let limited = organization.master().post("/master-keys");
    let limited = limited
        .json(json!({"name": "limited", "networks": [inside, "10.0.0.0/8"], "expires_at": now_plus(2 * DAY)}))
        .send()
        .expect_status(201);
    let master = organization
        .with_credential(&limited.text("key"))
        .with_address(&inside);
    let narrow = json!({"networks": ["10.1.0.0/16"], "expires_at": now_plus(DAY)});
    let key = new_key(&organization, narrow.clone());
    change(&master, &key, json!({"networks": ["10.0.0.0/8"]})).expect_status(200);
    for (members, field, message) in [
        (
            json!({"networks": ["192.0.2.0/24"]}),
            "networks",
            "must be within those of the key that makes or changes it",
        ),
        (
            json!({"networks": null}),
            "networks",
            "must be within those of the key that makes or changes it",
        ),
        (
            json!({"expires_at": now_plus(3 * DAY)}),
            "expires_at",
            "must not be later than that of the key that makes or changes it",
        ),
        (
            json!({"expires_at": null}),
            "expires_at",
            "must not be later than that of the key that makes or changes it",
        ),
    ] {
        let response = change(&master, &key, members).expect_invalid(&[field]);
        assert_eq!(response.message_on(field), message);
    }
    // A limited master key cannot prolong a wider key, which works from networks where the master key does not.
    let everywhere = new_key(&organization, json!({"expires_at": now_plus(DAY)}));
    let longer = json!({"expires_at": now_plus(DAY + 60)});
    change(&master, &everywhere, longer).expect_invalid(&["networks"]);
    // It may be renamed and narrowed.
    change(&master, &everywhere, json!({"name": "renamed"})).expect_status(200);
    let narrowed = change(&master, &everywhere, json!({"networks": ["192.0.2.0/24"]}));
    assert_eq!(
        narrowed.expect_status(200)["key"]["networks"],
        json!(["192.0.2.0/24"])
    );
}

fn only_a_master_key_of_the_organization_changes_a_project_key(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let key = new_key(&organization, json!({}));
    let members = || json!({"name": "other"});
    change(&organization.project(), &key, members()).expect_error(403, "forbidden");
    change(&Organization::fresh(database).master(), &key, members()).expect_error(404, "not_found");
    let masters = organization
        .master()
        .get("/master-keys")
        .send()
        .list("master_keys");
    change(&organization.master(), &masters[0], members()).expect_error(404, "not_found");
    let path = format!("/keys/{}", text(&key, "id"));
    assert_eq!(organization.master().one(&path, "key")["name"], "before");
}
