//! Keys with an end, with networks, and with successors.

use audit_tests::{
    Client, Clock, Database, DatabaseKind, Deadline, Organization, Server, address, event, moment, now_plus,
    on_both_databases,
};
use serde_json::{Value, json};

const DAY: i64 = 24 * 60 * 60;

on_both_databases! {
    a_key_is_used_from_its_networks_only,
    a_key_ends_at_its_time,
    every_fault_of_limits_is_named,
    a_rotated_key_has_a_successor_and_ends,
    a_key_that_expires_is_followed_by_one_that_expires,
    a_key_is_no_wider_than_the_master_key_that_makes_it,
    a_key_for_viewer_tokens_alone_does_not_reach_the_services_own_events,
    what_is_not_valid_any_more_cannot_be_rotated,
    a_master_key_is_managed_over_http,
    the_last_master_key_stays,
    the_operator_manages_all_keys,
}

fn new_key(organization: &Organization, change: Value) -> Value {
    let body = json!({"project_id": organization.project_id, "type": "project", "name": "limited"});
    let request = organization
        .master()
        .post("/keys")
        .json(audit_tests::merge(body, change));
    request.send().expect_status(201).body().clone()
}

fn text(value: &Value, member: &str) -> String {
    value[member]
        .as_str()
        .unwrap_or_else(|| panic!("{member} in {value}"))
        .to_owned()
}

fn client(organization: &Organization, key: &Value) -> Client {
    organization.with_credential(&text(key, "key"))
}

fn listed(organization: &Organization, id: &str) -> Value {
    let keys = organization
        .master()
        .get("/keys")
        .send()
        .expect_status(200)
        .list("keys");
    keys.into_iter()
        .find(|key| key["id"] == id)
        .expect("it is listed")
}

/// The shared servers believe `X-Forwarded-For` from the tests' own address.
fn a_key_is_used_from_its_networks_only(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (inside, outside) = (address(), address());
    let key = new_key(&organization, json!({"networks": [inside, "2001:db8::/32"]}));
    assert_eq!(key["networks"], json!([format!("{inside}/32"), "2001:db8::/32"]));
    let from = |address: &str| client(&organization, &key).with_header("x-forwarded-for", address);
    from(&inside).store(event());
    from("2001:db8:5::1").store(event());
    // The key is known now, and still judged by the address of each request.
    for path in ["/events", "/keys", "/events/export"] {
        let refused = from(&outside).get(path).send().expect_error(403, "forbidden");
        assert!(
            refused.body()["error"]["message"]
                .as_str()
                .is_some_and(|text| text.contains("address"))
        );
    }
    from(&outside)
        .post("/events")
        .json(event())
        .send()
        .expect_error(403, "forbidden");
    assert_eq!(organization.project().count(), 2);
    let last = listed(&organization, &text(&key, "id"));
    assert_eq!(
        last["lastUsedFrom"],
        json!(outside),
        "an attempt shows where the key is"
    );
}

fn a_key_ends_at_its_time(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at(&now_plus(0)) else {
        return;
    };
    let database = Database::create(kind);
    let server = Server::start_at(&database, &[], &clock);
    let organization = Organization::create(&server, "enterprise");
    let end = now_plus(DAY);
    let key = new_key(&organization, json!({"expires_at": end}));
    assert_eq!(moment(&key["expiresAt"]), moment(&json!(end)));
    let client = client(&organization, &key);
    client.store(event());
    clock.advance_millis((DAY + 60) * 1_000);
    client
        .post("/events")
        .json(event())
        .send()
        .expect_error(401, "key_expired");
    client.get("/events").send().expect_error(401, "key_expired");
    assert_eq!(organization.project().count(), 1);
}

fn every_fault_of_limits_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let post = |path: &str, change: Value| {
        let body = match path {
            "/keys" => json!({"project_id": organization.project_id, "type": "project", "name": "limited"}),
            _ => json!({"name": "limited"}),
        };
        organization
            .master()
            .post(path)
            .json(audit_tests::merge(body, change))
            .send()
    };
    for path in ["/keys", "/master-keys"] {
        let response = post(
            path,
            json!({"scopes": ["everything"], "networks": ["all"], "expires_at": "soon"}),
        );
        let response = response.expect_invalid(&["scopes[0]", "networks[0]", "expires_at"]);
        assert!(response.message_on("scopes[0]").contains("events:write"));
        post(path, json!({"scopes": [], "networks": []})).expect_invalid(&["scopes", "networks"]);
        let response = post(path, json!({"expires_at": now_plus(-60)})).expect_invalid(&["expires_at"]);
        assert_eq!(response.message_on("expires_at"), "must be in the future");
        post(path, json!({"networks": vec!["10.0.0.0/8"; 33]})).expect_invalid(&["networks"]);
    }
    let id = text(&new_key(&organization, json!({})), "id");
    for query in ["", "?overlap=-1", "?overlap=2592001", "?overlap=a%20day"] {
        let path = format!("/keys/{id}/rotate{query}");
        organization
            .master()
            .post(&path)
            .send()
            .expect_invalid(&["overlap"]);
    }
    assert_eq!(organization.master().get("/keys").send().list("keys").len(), 2);
}

fn a_rotated_key_has_a_successor_and_ends(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at(&now_plus(0)) else {
        return;
    };
    let database = Database::create(kind);
    let server = Server::start_at(&database, &[], &clock);
    let organization = Organization::create(&server, "enterprise");
    let limits = json!({"scopes": ["events:write", "events:read"], "networks": ["127.0.0.0/8"], "environment": "test"});
    let old = new_key(&organization, limits);
    let old_client = client(&organization, &old);
    old_client.store(event());
    let path = format!("/keys/{}/rotate?overlap=3600", text(&old, "id"));
    let new = organization
        .master()
        .post(&path)
        .send()
        .expect_status(201)
        .body()
        .clone();
    assert_ne!(new["id"], old["id"]);
    for member in ["name", "type", "environment", "scopes", "networks", "expiresAt"] {
        assert_eq!(new[member], old[member], "{member}");
    }
    let new_client = client(&organization, &new);
    new_client.store(event());
    old_client.store(event());
    clock.advance_millis(3_700_000);
    old_client
        .post("/events")
        .json(event())
        .send()
        .expect_error(401, "key_expired");
    new_client.store(event());
    assert_eq!(new_client.count(), 4);
}

fn a_key_that_expires_is_followed_by_one_that_expires(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let old = new_key(&organization, json!({"expires_at": now_plus(DAY)}));
    let path = format!("/keys/{}/rotate?overlap=0", text(&old, "id"));
    let new = organization
        .master()
        .post(&path)
        .send()
        .expect_status(201)
        .body()
        .clone();
    // It lives as long as the one before it. Each of the four times is cut to a millisecond.
    let lifetime = |key: &Value| {
        let created_at = &listed(&organization, &text(key, "id"))["createdAt"];
        moment(&key["expiresAt"]) - moment(created_at)
    };
    let difference = lifetime(&new) - lifetime(&old);
    assert!(difference.whole_milliseconds().abs() <= 1, "{difference}");
    client(&organization, &old)
        .get("/events")
        .send()
        .expect_error(401, "key_expired");
    client(&organization, &new).store(event());
}

fn a_key_is_no_wider_than_the_master_key_that_makes_it(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (inside, outside) = (address(), address());
    let end = now_plus(DAY);
    let limited = organization.master().post("/master-keys");
    let limited = limited
        .json(json!({"name": "limited", "networks": [inside, "10.0.0.0/8"], "expires_at": end}))
        .send()
        .expect_status(201)
        .body()
        .clone();
    let master = client(&organization, &limited).with_header("X-Forwarded-For", &inside.to_string());
    let bodies = [
        (
            "/keys",
            json!({"project_id": organization.project_id, "type": "project", "name": "k"}),
        ),
        ("/master-keys", json!({"name": "k"})),
    ];
    for (path, body) in bodies {
        let make = |change: Value| {
            let body = audit_tests::merge(body.clone(), change);
            master.post(path).json(body).send()
        };
        let same = make(json!({})).expect_status(201);
        assert_eq!(
            (&same["networks"], &same["expires_at"]),
            (&limited["networks"], &limited["expires_at"]),
            "{path}"
        );
        make(json!({"networks": ["10.1.0.0/16"], "expires_at": now_plus(60)})).expect_status(201);
        let wider = json!({"networks": [outside]});
        let refused = make(wider).expect_invalid(&["networks"]);
        assert_eq!(
            refused.message_on("networks"),
            "must be within those of the key that makes or changes it"
        );
        make(json!({"expires_at": now_plus(2 * DAY)})).expect_invalid(&["expires_at"]);
    }
    // It rotates itself, and does not live longer by that; nor does what it rotates.
    let path = |key: &Value, kind: &str| format!("/{kind}/{}/rotate?overlap=60", text(key, "id"));
    let rotated = master
        .post(&path(&limited, "master-keys"))
        .send()
        .expect_status(201);
    assert_eq!(rotated["expires_at"], limited["expires_at"]);
    let everywhere = new_key(&organization, json!({}));
    master
        .post(&path(&everywhere, "keys"))
        .send()
        .expect_error(403, "forbidden");
    let lasting = new_key(&organization, json!({"networks": ["10.2.0.0/16"]}));
    let rotated = master.post(&path(&lasting, "keys")).send().expect_status(201);
    assert_eq!(rotated["expires_at"], limited["expires_at"]);
}

fn a_key_for_viewer_tokens_alone_does_not_reach_the_services_own_events(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let tokens = new_key(&organization, json!({"scopes": ["viewer-tokens"]}));
    let create = |key: &Value, tenant_id: &str| {
        let request = client(&organization, key).post("/viewer-tokens");
        request.json(json!({"tenant_id": tenant_id})).send()
    };
    create(&tokens, "acme").expect_status(201);
    let refused = create(&tokens, "audit-server").expect_error(403, "forbidden");
    let message = &refused.body()["error"]["message"];
    assert!(
        message.as_str().is_some_and(|text| text.contains("events:read")),
        "{message}"
    );
    let reads = new_key(&organization, json!({"scopes": ["viewer-tokens", "events:read"]}));
    create(&reads, "audit-server").expect_status(201);
}

fn what_is_not_valid_any_more_cannot_be_rotated(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let id = text(&new_key(&organization, json!({})), "id");
    let rotate = || {
        organization
            .master()
            .post(&format!("/keys/{id}/rotate?overlap=0"))
            .send()
    };
    rotate().expect_status(201);
    rotate().expect_error(409, "conflict");
    organization
        .master()
        .delete(&format!("/keys/{id}"))
        .send()
        .expect_status(200);
    rotate().expect_error(409, "conflict");
    // A master key is no project key, and the other way round.
    let masters = organization
        .master()
        .get("/master-keys")
        .send()
        .list("master_keys");
    let master = text(&masters[0], "id");
    for (method, path) in [
        ("GET", format!("/keys/{master}")),
        ("GET", format!("/master-keys/{id}")),
        ("POST", format!("/keys/{master}/rotate?overlap=0")),
        ("DELETE", format!("/keys/{master}")),
        ("POST", format!("/master-keys/{id}/rotate?overlap=0")),
        ("DELETE", format!("/master-keys/{id}")),
    ] {
        let path = format!("/api/v1{path}");
        organization
            .master()
            .request(method, &path)
            .send()
            .expect_error(404, "not_found");
    }
}

fn a_master_key_is_managed_over_http(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    let new = |change: Value| {
        let body = audit_tests::merge(json!({"name": "deploy"}), change);
        master
            .post("/master-keys")
            .json(body)
            .send()
            .expect_status(201)
            .body()
            .clone()
    };
    let second = new(json!({"scopes": ["admin"]}));
    let client = client(&organization, &second);
    client.get("/projects").send().expect_status(200);
    let keys = client
        .get("/master-keys")
        .send()
        .expect_status(200)
        .list("master_keys");
    let names: Vec<_> = keys.iter().map(|key| text(key, "name")).collect();
    assert_eq!(names, ["master", "deploy"]);
    assert!(!json!(keys).to_string().contains(&text(&second, "key")));
    assert!(
        keys[0]["lastUsedAt"].is_string() && keys[0]["lastUsedFrom"].is_string(),
        "{}",
        keys[0]
    );

    // The one that nothing uses meanwhile.
    let path = format!("/master-keys/{}", text(&keys[0], "id"));
    assert_eq!(client.one(&path, "master_key"), keys[0]);

    let rotate = format!("/master-keys/{}/rotate?overlap=0", text(&second, "id"));
    let third = master.post(&rotate).send().expect_status(201).body().clone();
    client.get("/projects").send().expect_error(401, "key_expired");
    let third_client = organization.with_credential(&text(&third, "key"));
    third_client.get("/projects").send().expect_status(200);
    let revoke = format!("/master-keys/{}", text(&third, "id"));
    assert_eq!(
        master.delete(&revoke).send().expect_status(200).body()["revoked"],
        true
    );
    third_client
        .get("/projects")
        .send()
        .expect_error(401, "key_revoked");
    master.delete(&revoke).send().expect_status(200);
}

fn the_last_master_key_stays(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    let id = text(&master.get("/master-keys").send().list("master_keys")[0], "id");
    let revoke = || master.delete(&format!("/master-keys/{id}")).send();
    revoke().expect_error(403, "forbidden");
    for limits in [
        json!({"scopes": ["alerts"]}),
        json!({"expires_at": now_plus(DAY)}),
    ] {
        let body = audit_tests::merge(json!({"name": "limited"}), limits);
        master.post("/master-keys").json(body).send().expect_status(201);
        revoke().expect_error(403, "forbidden");
    }
    master
        .post("/master-keys")
        .json(json!({"name": "heir"}))
        .send()
        .expect_status(201);
    revoke().expect_status(200);
    master.get("/projects").send().expect_error(401, "key_revoked");
}

fn the_operator_manages_all_keys(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let create = [
        "key",
        "create",
        "--project",
        &organization.project_id,
        "--name",
        "cli",
        "--scopes",
        "events:write,events:read",
        "--networks",
        "127.0.0.0/8",
        "--json",
    ];
    let key = server.command_line(&create).json();
    assert_eq!(key["scopes"], json!(["events:write", "events:read"]));
    let key_client = client(&organization, &key);
    key_client.store(event());
    key_client.get("/keys").send().expect_error(403, "forbidden");
    let rotated = server
        .command_line(&["key", "rotate", &text(&key, "id"), "--overlap", "0", "--json"])
        .json();
    key_client.get("/events").send().expect_error(401, "key_expired");
    let rotated_client = client(&organization, &rotated);
    rotated_client.store(event());
    server
        .command_line(&["key", "revoke", &text(&rotated, "id")])
        .success();
    rotated_client
        .get("/events")
        .send()
        .expect_error(401, "key_revoked");
    let list = server
        .command_line(&["key", "list", "--project", &organization.project_id])
        .success();
    assert!(
        list.contains("only events:write,events:read") && list.contains("from 127.0.0.0/8"),
        "{list}"
    );
    assert!(
        list.contains("revoked") && !list.contains(&text(&rotated, "key")),
        "{list}"
    );

    // The operator may revoke the last master key, and create another one.
    let masters = [
        "master-key",
        "list",
        "--organization",
        &organization.organization_id,
        "--json",
    ];
    let masters = server.command_line(&masters).json();
    let id = text(&masters[0], "id");
    server.command_line(&["master-key", "revoke", &id]).success();
    Deadline::seconds(60).poll("revoked", || {
        (organization.master().get("/projects").send().code() == "key_revoked").then_some(())
    });
    let create = [
        "master-key",
        "create",
        "--organization",
        &organization.organization_id,
        "--json",
    ];
    let master = server.command_line(&create).json();
    let master_client = organization.with_credential(&text(&master, "master_key"));
    master_client.get("/projects").send().expect_status(200);
    let past = [
        "key",
        "create",
        "--project",
        &organization.project_id,
        "--name",
        "late",
        "--expires-at",
        "2020-01-01T00:00:00Z",
    ];
    let refusal = server.command_line(&past).refusal();
    assert!(
        refusal.contains("--expires-at must be in the future"),
        "{refusal}"
    );
    let wrong = [
        "key",
        "create",
        "--project",
        &organization.project_id,
        "--name",
        "x",
        "--scopes",
        "root",
    ];
    assert!(server.command_line(&wrong).refusal().contains("events:write"));
}
