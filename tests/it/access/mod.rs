//! Authorization: every route with every kind of credential. The first test fails if the table lacks a route.

mod console_session;
mod key_limits;
mod objects;
mod route;
mod table;

pub(crate) use objects::{Objects, WEBHOOK_SECRET_PATH};
pub(crate) use route::{Outcome, Recorded, Route, Subject, Target};
pub(crate) use table::ROUTES;

use audit_tests::{
    Client, DatabaseKind, Organization, RawResponse, Response, Server, event, merge, on_both_databases,
};
use route::Scope;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const SCOPES: [&str; 5] = ["events:write", "events:read", "alerts", "viewer-tokens", "admin"];

/// The objects of the organization under test, another organization, and a credential of each kind.
struct Fixture {
    objects: Objects,
    stranger: Organization,
    test_key: String,
    viewer_token: String,
    revoked_key: String,
}

impl Fixture {
    fn new(database: DatabaseKind) -> Self {
        let own = Organization::fresh(database);
        let revoked_key = own.create_key("live");
        own.revoke_key(&revoked_key);
        Self {
            stranger: Organization::fresh(database),
            test_key: own.create_key("test"),
            viewer_token: own.viewer_token("tenant-1", "full"),
            revoked_key,
            objects: Objects::of(own),
        }
    }

    fn send(&self, route: &Route, client: &Client) -> RawResponse {
        let object = self.objects.object(route.target);
        self.objects.request(route, &object, client).send_raw()
    }

    /// Another organization's master key, which names the project under test in the way that the route allows.
    fn strangers_master(&self, route: &Route) -> Client {
        let client = self.stranger.master();
        match route.scope {
            Scope::Project => client.with_header("x-project-id", &self.objects.organization.project_id),
            Scope::Organization => client,
        }
    }
}

fn key_id(organization: &Organization, key: &str) -> String {
    let keys = organization
        .master()
        .get("/keys")
        .send()
        .expect_status(200)
        .list("keys");
    let listed = keys
        .iter()
        .find(|listed| listed["prefix"] == key[..12])
        .expect("a new key is listed");
    listed["id"].as_str().expect("an id").to_owned()
}

fn assert_outcome(route: &Route, credential: &str, outcome: Outcome, response: RawResponse) {
    let expected = match outcome {
        Outcome::Success(status) => (status, ""),
        Outcome::Forbidden => (403, "forbidden"),
        Outcome::NotFound => (404, "not_found"),
        Outcome::Conflict => (409, "conflict"),
        Outcome::Unauthorized => (401, "unauthorized"),
        Outcome::Revoked => (401, "key_revoked"),
    };
    let Route { method, path, .. } = route;
    let what = format!("{method} {path} with {credential}: {response:?}");
    // Checkpoints, tiles and keys are not JSON; errors always are.
    if response.status == 200 && !response.is_json() {
        return assert_eq!((response.status, ""), expected, "{what}");
    }
    let response = Response::check(response);
    assert_eq!((response.status(), response.code()), expected, "{what}");
}

#[test]
fn the_table_lists_every_route_of_the_server_and_no_other() {
    let output = audit_tests::command_line(&["routes"]).success();
    let offered: BTreeSet<&str> = output
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let listed: BTreeSet<String> = ROUTES.iter().map(Route::name).collect();
    let listed: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
    let missing: Vec<_> = offered.difference(&listed).collect();
    assert!(
        missing.is_empty(),
        "routes of the server that the table of credentials does not list: {missing:?}"
    );
    let gone: Vec<_> = listed.difference(&offered).collect();
    assert!(
        gone.is_empty(),
        "routes of the table that the server does not offer: {gone:?}"
    );
}

on_both_databases! {
    each_route_admits_the_credentials_of_the_table_and_no_others,
    each_route_needs_one_scope_of_a_key,
    a_refused_request_changes_nothing,
    a_credential_is_judged_before_the_body,
    a_credential_is_judged_before_the_parameters,
    what_is_no_known_credential_is_unauthorized,
    a_mistyped_key_is_invalid,
}

fn each_route_admits_the_credentials_of_the_table_and_no_others(database: DatabaseKind) {
    let fixture = Fixture::new(database);
    let own = &fixture.objects.organization;
    for route in ROUTES {
        let columns = [
            ("a master key", own.master(), route.master),
            ("a project key", own.project(), route.project),
            ("a test key", own.with_credential(&fixture.test_key), route.test),
            (
                "a viewer token",
                own.with_credential(&fixture.viewer_token),
                route.viewer,
            ),
            (
                "a revoked key",
                own.with_credential(&fixture.revoked_key),
                route.revoked,
            ),
            ("no credential", own.anonymous().clone(), route.none),
            (
                "another organization's master key",
                fixture.strangers_master(route),
                route.strangers_master,
            ),
            (
                "another organization's project key",
                fixture.stranger.project(),
                route.strangers_project,
            ),
        ];
        for (credential, client, outcome) in columns {
            // Routes whose response does not have the common form need no credential.
            if matches!(
                route.path,
                "/metrics" | "/docs" | "/docs/scalar.js" | "/api/v1/openapi.json"
            ) {
                let response = client.request(route.method, route.path).send_raw();
                assert_eq!(response.status, 200, "{} with {credential}", route.path);
                continue;
            }
            assert_outcome(route, credential, outcome, fixture.send(route, &client));
        }
    }
}

fn each_route_needs_one_scope_of_a_key(database: DatabaseKind) {
    let fixture = Fixture::new(database);
    let own = &fixture.objects.organization;
    let mut keys = BTreeMap::new();
    let mut limited = |is_master: bool, scopes: Vec<&'static str>| {
        let key = keys.entry((is_master, scopes.clone())).or_insert_with(|| {
            let body = json!({"name": "limited", "scopes": scopes});
            let of_project = json!({"type": "project", "project_id": own.project_id});
            let request = match is_master {
                true => own.master().post("/master-keys").json(body),
                false => own.master().post("/keys").json(merge(body, of_project)),
            };
            request.send().expect_status(201).text("key")
        });
        own.with_credential(key)
    };
    for route in ROUTES {
        let Some(scope) = route.key_scope() else { continue };
        let is_master = route.master.is_admitted();
        let outcome = if is_master { route.master } else { route.project };
        let others = SCOPES.into_iter().filter(|other| *other != scope).collect();
        let with = limited(is_master, vec![scope]);
        assert_outcome(route, scope, outcome, fixture.send(route, &with));
        let without = limited(is_master, others);
        let refused = Response::check(fixture.send(route, &without)).expect_error(403, "forbidden");
        let message = refused.body()["error"]["message"].as_str().expect("a message");
        assert!(
            message.ends_with(scope),
            "{} {}: {message}",
            route.method,
            route.path
        );
    }
}

fn a_refused_request_changes_nothing(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let viewer = organization.viewer("tenant-1", "full");
    viewer
        .post("/events")
        .json(event())
        .send()
        .expect_error(403, "forbidden");
    organization
        .anonymous()
        .post("/events")
        .json(event())
        .send()
        .expect_error(401, "unauthorized");
    let rule = json!({"type": "pattern", "name": "x", "pattern": "x"});
    organization
        .project()
        .post("/redaction/rules")
        .json(rule)
        .send()
        .expect_error(403, "forbidden");
    assert_eq!(organization.project().count(), 0);
    let rules = organization
        .project()
        .get("/redaction/rules")
        .send()
        .list("rules");
    assert!(rules.iter().all(|rule| rule["type"] == "builtin"), "{rules:?}");
}

fn a_credential_is_judged_before_the_body(database: DatabaseKind) {
    let server = Server::shared(database);
    server
        .client()
        .post("/events")
        .raw_json("{")
        .send()
        .expect_error(401, "unauthorized");
    let viewer = Organization::fresh(database).viewer("tenant-1", "full");
    viewer
        .post("/events")
        .raw_json("{")
        .send()
        .expect_error(403, "forbidden");
}

fn a_credential_is_judged_before_the_parameters(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let key = organization.create_key("live");
    let id = key_id(&organization, &key);
    let client = organization.with_credential(&key);
    let paths = [
        "/events",
        "/events/feed",
        "/events/export",
        "/events/nonsense/proof",
    ];
    let ask = |path: &str| client.get(path).query("nonsense", "1").send();
    for path in paths {
        ask(path).expect_error(400, "validation_error");
    }
    organization
        .master()
        .delete(&format!("/keys/{id}"))
        .send()
        .expect_status(200);
    for path in paths {
        ask(path).expect_error(401, "key_revoked");
    }
}

fn what_is_no_known_credential_is_unauthorized(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let get = |value: &str| {
        organization
            .anonymous()
            .get("/events")
            .header("authorization", value)
            .send()
    };
    let key = &organization.project_key;
    let values = [
        "",
        "Bearer",
        "Bearer ",
        "Basic dXNlcjpwYXNz",
        "Bearer nonsense",
        "Bearer sk_live_x",
        key.as_str(),
    ];
    for value in values {
        get(value).expect_error(401, "unauthorized");
    }
    get(&format!("bearer {key}")).expect_status(200);
    let twice = organization
        .project()
        .get("/events")
        .header("authorization", &format!("Bearer {key}"))
        .send();
    assert!(matches!(twice.status(), 200 | 400 | 401), "{twice:?}");
}

fn a_mistyped_key_is_invalid(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    for key in [&organization.project_key, &organization.master_key] {
        let last = key.chars().last().expect("a key has characters");
        let other = if last == 'a' { 'b' } else { 'a' };
        let mistyped = [
            format!("{}{other}", &key[..key.len() - 1]),
            format!("{key}a"),
            key[..key.len() - 1].to_owned(),
            key.replace("_live_", "_test_").replace("mk_", "mk_0"),
        ];
        for key in mistyped {
            organization
                .with_credential(&key)
                .get("/events")
                .send()
                .expect_error(401, "invalid_api_key");
        }
    }
}
