use audit_tests::{Client, DatabaseKind, Deadline, Organization, event, on_both_databases};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// More than the minute that `lastUsedAt` may lag.
const LAST_USED_SECONDS_MAX: u64 = 75;

fn listed(client: &Client) -> Vec<Value> {
    client.get("/keys").send().expect_status(200).list("keys")
}

fn id_of_prefix(client: &Client, prefix: &str) -> String {
    let keys = listed(client);
    let key = keys
        .iter()
        .find(|key| key["prefix"] == prefix)
        .unwrap_or_else(|| panic!("{prefix} in {keys:?}"));
    key["id"].as_str().expect("an id").to_owned()
}

fn ids(client: &Client, parameters: &[(&str, &str)]) -> BTreeSet<String> {
    let keys = client
        .get("/keys")
        .queries(parameters)
        .send()
        .expect_status(200)
        .list("keys");
    keys.iter()
        .map(|key| key["id"].as_str().expect("an id").to_owned())
        .collect()
}

on_both_databases! {
    a_created_key_works_and_is_shown_once,
    a_listed_key_has_the_documented_members,
    each_key_is_read_by_its_id,
    keys_are_all_different_and_long,
    every_fault_of_a_new_key_is_named,
    a_revoked_key_is_refused_at_once_and_stays_listed,
    revoking_twice_keeps_the_first_time,
    a_key_can_revoke_itself,
    a_project_key_never_reaches_outside_its_project,
    a_master_key_lists_the_whole_organization_and_can_narrow_it,
    an_unknown_key_id_is_not_found,
    the_last_use_of_a_key_is_recorded,
}

fn a_created_key_works_and_is_shown_once(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let body = json!({"project_id": organization.project_id, "type": "project", "name": "backend"});
    let response = organization
        .master()
        .post("/keys")
        .json(body)
        .send()
        .expect_status(201);
    let key = response.text("key");
    assert!(key.starts_with("pk_live_"), "live is the default: {key}");
    assert_eq!(response["prefix"], json!(&key[..12]));
    assert_eq!(response["type"], "project");
    assert_eq!(response["name"], "backend");
    assert_eq!(response["environment"], "live");
    organization.with_credential(&key).store(event());
    let text = json!(listed(&organization.master())).to_string();
    assert!(text.contains(&key[..12]) && !text.contains(&key), "{text}");
}

fn a_listed_key_has_the_documented_members(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let keys = listed(&organization.project());
    assert_eq!(keys.len(), 1);
    for member in [
        "id",
        "prefix",
        "type",
        "name",
        "lastUsedAt",
        "createdAt",
        "revokedAt",
    ] {
        assert!(keys[0].get(member).is_some(), "{member} in {}", keys[0]);
    }
    assert!(keys[0].get("key").is_none());
    assert_eq!(keys[0]["prefix"], json!(&organization.project_key[..12]));
    assert_eq!(keys[0]["type"], "project");
    assert_eq!(keys[0]["revokedAt"], json!(null));
    assert!(
        keys[0]["createdAt"]
            .as_str()
            .is_some_and(|time| time.ends_with('Z')),
        "{}",
        keys[0]
    );
}

fn each_key_is_read_by_its_id(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.revoke_key(&organization.create_key("test"));
    let other_project = organization.create_project("other");
    let master = organization.master();
    for key in listed(&master) {
        let path = format!("/keys/{}", key["id"].as_str().expect("an id"));
        assert_eq!(master.one(&path, "key"), key);
        let in_other = master.get(&path).query("project_id", &other_project);
        in_other.send().expect_error(404, "not_found");
    }
}

fn keys_are_all_different_and_long(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let keys: BTreeSet<String> = (0..5).map(|_| organization.create_key("test")).collect();
    assert_eq!(keys.len(), 5);
    for key in keys {
        let random = key.strip_prefix("pk_test_").unwrap_or_else(|| panic!("{key}"));
        // 128 bits in base62 are 22 characters, and a checksum follows.
        assert!(
            random.len() > 22 && random.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            "{key}"
        );
    }
}

fn every_fault_of_a_new_key_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let post = |body: Value| organization.master().post("/keys").json(body).send();
    let response = post(json!({})).expect_invalid(&["project_id", "type", "name"]);
    assert_eq!(response.message_on("name"), "Required");
    let valid = json!({"project_id": organization.project_id, "type": "project", "name": "x"});
    let with = |change: Value| audit_tests::merge(valid.clone(), change);
    post(with(json!({"type": "master"}))).expect_invalid(&["type"]);
    post(with(json!({"name": ""}))).expect_invalid(&["name"]);
    post(with(json!({"name": "é".repeat(101)}))).expect_invalid(&["name"]);
    post(with(json!({"name": 5, "environment": "staging"}))).expect_invalid(&["name", "environment"]);
    post(with(json!({"project_id": "nonsense"}))).expect_invalid(&["project_id"]);
    let response = post(with(json!({"colour": "red"}))).expect_invalid(&["colour"]);
    assert_eq!(response.message_on("colour"), "Unrecognized field");
    post(with(
        json!({"project_id": "67e55044-10b1-426f-9247-bb680e5fe0c8"}),
    ))
    .expect_error(404, "not_found");
    post(with(json!({"name": "é".repeat(100)}))).expect_status(201);
    assert_eq!(listed(&organization.master()).len(), 2);
}

fn a_revoked_key_is_refused_at_once_and_stays_listed(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let key = organization.create_key("live");
    let client = organization.with_credential(&key);
    client.store(event());
    let id = id_of_prefix(&organization.master(), &key[..12]);
    let response = organization
        .master()
        .delete(&format!("/keys/{id}"))
        .send()
        .expect_status(200);
    assert_eq!(response["revoked"], true);
    client
        .post("/events")
        .json(event())
        .send()
        .expect_error(401, "key_revoked");
    client.get("/events").send().expect_error(401, "key_revoked");
    let keys = listed(&organization.project());
    let revoked = keys
        .iter()
        .find(|listed| listed["id"] == json!(id))
        .expect("it is still listed");
    assert!(revoked["revokedAt"].is_string(), "{revoked}");
    assert_eq!(organization.project().count(), 1);
}

fn revoking_twice_keeps_the_first_time(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let key = organization.create_key("live");
    let id = id_of_prefix(&organization.master(), &key[..12]);
    let path = format!("/keys/{id}");
    let revoked_at = || {
        let keys = listed(&organization.project());
        keys.iter()
            .find(|key| key["id"] == json!(id))
            .expect("it is listed")["revokedAt"]
            .clone()
    };
    organization.master().delete(&path).send().expect_status(200);
    let first = revoked_at();
    assert!(first.is_string());
    assert_eq!(
        organization.master().delete(&path).send().expect_status(200)["revoked"],
        true
    );
    assert_eq!(revoked_at(), first);
}

fn a_key_can_revoke_itself(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let client = organization.with_credential(&organization.create_key("live"));
    let own: BTreeSet<String> = ids(&client, &[]);
    assert_eq!(own.len(), 2);
    let prefix = &organization.project_key[..12];
    let id = id_of_prefix(&client, prefix);
    organization
        .project()
        .delete(&format!("/keys/{id}"))
        .send()
        .expect_status(200);
    organization
        .project()
        .get("/keys")
        .send()
        .expect_error(401, "key_revoked");
    assert_eq!(ids(&client, &[]), own);
}

fn a_project_key_never_reaches_outside_its_project(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let other_project = organization.create_project("other");
    let other = organization.with_credential(&organization.create_key_of(&other_project, "live"));
    let (own, others) = (ids(&organization.project(), &[]), ids(&other, &[]));
    assert!(own.is_disjoint(&others) && own.len() == 1 && others.len() == 1);
    let path = format!("/keys/{}", others.first().expect("one key"));
    for stranger in [organization.project(), Organization::fresh(database).master()] {
        stranger.get(&path).send().expect_error(404, "not_found");
        stranger.delete(&path).send().expect_error(404, "not_found");
    }
    other.store(event());
}

fn a_master_key_lists_the_whole_organization_and_can_narrow_it(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let other_project = organization.create_project("other");
    let other = organization.with_credential(&organization.create_key_of(&other_project, "live"));
    let (own, others) = (ids(&organization.project(), &[]), ids(&other, &[]));
    let master = organization.master();
    assert_eq!(ids(&master, &[]), &own | &others);
    assert_eq!(ids(&master, &[("project_id", &other_project)]), others);
    let foreign = Organization::fresh(database).project_id;
    master
        .get("/keys")
        .query("project_id", &foreign)
        .send()
        .expect_error(404, "not_found");
    assert!(
        listed(&master).iter().all(|key| key["type"] == "project"),
        "master keys are not managed here"
    );
}

fn an_unknown_key_id_is_not_found(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let path = "/keys/67e55044-10b1-426f-9247-bb680e5fe0c8";
    for client in [organization.master(), organization.project()] {
        client.get(path).send().expect_error(404, "not_found");
        client.delete(path).send().expect_error(404, "not_found");
    }
}

fn the_last_use_of_a_key_is_recorded(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let key = organization.create_key("live");
    let last_used = || {
        let keys = listed(&organization.master());
        keys.iter()
            .find(|listed| listed["prefix"] == key[..12])
            .expect("it is listed")["lastUsedAt"]
            .clone()
    };
    assert_eq!(last_used(), json!(null));
    organization.with_credential(&key).store(event());
    let time = Deadline::seconds(LAST_USED_SECONDS_MAX)
        .poll("lastUsedAt", || last_used().as_str().map(str::to_owned));
    assert!(time.ends_with('Z'), "{time}");
}
