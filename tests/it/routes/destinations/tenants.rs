//! Destinations that tenants have created with viewer tokens.

use super::{URL, create, https, path_of, post};
use audit_tests::{
    Client, Database, DatabaseKind, Organization, Receiver, Server, event_with, merge, on_both_databases,
};
use serde_json::{Value, json};

const TENANT_DESTINATIONS_MAX: usize = 3;
const TENANTS_DESTINATIONS_MAX: usize = 100;
const VIEWERS_READS_PER_MINUTE_MAX: usize = 60;

/// An organization with a tier that allows destinations.
fn organization(database: DatabaseKind) -> Organization {
    with_admins(Organization::fresh(database))
}

/// With a tier whose viewers may have destinations.
fn with_admins(organization: Organization) -> Organization {
    organization.create_tier(json!({"name": "admins", "routes": ["event", "destinations"]}));
    organization
}

fn admin(organization: &Organization, tenant: &str) -> Client {
    organization.viewer(tenant, "admins")
}

fn created(client: &Client, body: Value) -> Value {
    post(client, body).expect_status(201)["destination"].clone()
}

fn listed(client: &Client) -> Vec<Value> {
    let found = client.get("/destinations").send().expect_status(200);
    found
        .list("destinations")
        .iter()
        .map(|one| one["id"].clone())
        .collect()
}

on_both_databases! {
    a_tier_must_name_destinations_and_show_everything,
    a_tenant_has_destinations_for_its_own_events,
    a_filter_cannot_be_widened_to_another_tenant,
    a_destination_of_another_owner_is_not_found,
    a_receiver_of_a_tenant_has_a_public_address,
    a_tenant_has_at_most_three_destinations,
    the_tenants_of_a_project_have_at_most_a_hundred,
    the_kinds_are_those_of_the_portal,
    a_master_key_pauses_and_deletes_and_changes_nothing_else,
    an_event_names_the_tenant_and_the_token_and_no_secret,
    changes_of_a_tenant_are_limited_in_a_minute,
    a_right_that_is_withdrawn_ends_at_once,
}

fn a_tier_must_name_destinations_and_show_everything(database: DatabaseKind) {
    let organization = organization(database);
    for tier in ["full", "standard", "minimal"] {
        let viewer = organization.viewer("acme", tier);
        viewer.get("/destinations").send().expect_error(403, "forbidden");
        post(&viewer, https(URL)).expect_error(403, "forbidden");
    }
    let master = organization.master();
    for limit in [
        json!({"categories": ["auth"]}),
        json!({"actions": ["*"]}),
        json!({"hidden_fields": ["metadata.*.ssn"]}),
    ] {
        let tier = merge(json!({"name": "some", "routes": ["destinations"]}), limit.clone());
        let refused = master.post("/viewer-tiers").json(tier).send();
        refused.expect_invalid(&["routes"]);
        let refused = master.patch("/viewer-tiers/admins").json(limit).send();
        refused.expect_invalid(&["routes"]);
    }
    let named = json!({"routes": ["event", "destinations"]});
    let refused = master.patch("/viewer-tiers/standard").json(named).send();
    refused.expect_invalid(&["routes"]);
}

fn a_tenant_has_destinations_for_its_own_events(database: DatabaseKind) {
    let organization = organization(database);
    let acme = admin(&organization, "acme");
    let of = |tenant: &str| event_with(json!({"tenant_id": tenant}));
    organization
        .project()
        .store_all(vec![of("acme"), of("other"), of("acme"), of("other")]);
    let filter = json!({"filter": {"categories": ["auth", "access", "mutation"]}});
    let destination = created(&acme, merge(https(URL), filter));
    assert_eq!(destination["created_by_tenant"], "acme");
    assert_eq!(destination["environment"], "live");
    let filter = json!({"categories": ["auth", "access", "mutation"], "tenant_ids": ["acme"]});
    assert_eq!(destination["filter"], filter);
    assert_eq!(listed(&acme), [destination["id"].clone()]);

    let path = path_of(&destination);
    acme.patch(&path)
        .json(json!({"filter": {}}))
        .send()
        .expect_status(200);
    let shown = acme.one(&path, "destination");
    assert_eq!(shown["filter"], json!({"tenant_ids": ["acme"]}));
    let preview = acme.get(&format!("{path}/preview")).send().expect_status(200);
    let records = preview.list("records");
    assert!(!records.is_empty());
    assert!(
        records.iter().all(|record| record["tenant_id"] == "acme"),
        "{records:?}"
    );
    let replay = format!("{path}/replay");
    let counted = acme
        .post(&replay)
        .json(json!({"from_seq": 0, "dry_run": true}))
        .send();
    assert_eq!(counted.expect_status(200)["count"]["matching"], 2);
    acme.post(&replay)
        .json(json!({"from_seq": 0}))
        .send()
        .expect_status(200);
    acme.delete(&replay).send().expect_status(200);
    acme.get(&format!("{path}/set-aside")).send().expect_status(200);
    acme.patch(&path)
        .json(json!({"paused": false}))
        .send()
        .expect_status(200);
    acme.delete(&path).send().expect_status(200);
    assert!(listed(&acme).is_empty());
    // Viewers see live events.
    let of_test = merge(https(URL), json!({"environment": "test"}));
    post(&acme, of_test).expect_invalid(&["environment"]);
}

fn a_filter_cannot_be_widened_to_another_tenant(database: DatabaseKind) {
    let organization = organization(database);
    let acme = admin(&organization, "acme");
    for tenants in [
        json!(["other"]),
        json!(["acme", "other"]),
        json!(["audit-server"]),
    ] {
        let wider = json!({"filter": {"tenant_ids": tenants}});
        post(&acme, merge(https(URL), wider.clone())).expect_invalid(&["filter.tenant_ids"]);
        let own = created(&acme, https(URL));
        let change = acme.patch(&path_of(&own)).json(wider).send();
        change.expect_invalid(&["filter.tenant_ids"]);
        acme.delete(&path_of(&own)).send().expect_status(200);
    }
    let named = json!({"filter": {"tenant_ids": ["acme"]}});
    created(&acme, merge(https(URL), named));
}

fn a_destination_of_another_owner_is_not_found(database: DatabaseKind) {
    let organization = organization(database);
    let (acme, other) = (admin(&organization, "acme"), admin(&organization, "other"));
    let of_project = create(&organization, https(URL));
    let of_other = created(&other, https(URL));
    let unknown = json!({"id": "dst_01M7YBWVWMHR5F0HZ7FNJ76A1V"});
    assert!(listed(&acme).is_empty());
    for destination in [of_project, of_other.clone(), unknown] {
        let path = path_of(&destination);
        for request in [
            acme.get(&path),
            acme.patch(&path).json(json!({"paused": true})),
            acme.patch(&path).json(json!({"name": "mine"})),
            acme.delete(&path),
            acme.post(&format!("{path}/test")),
            acme.get(&format!("{path}/preview")),
            acme.post(&format!("{path}/replay")).json(json!({"from_seq": 0})),
            acme.post(&format!("{path}/replay"))
                .json(json!({"from_seq": 0, "dry_run": true})),
            acme.delete(&format!("{path}/replay")),
            acme.get(&format!("{path}/set-aside")),
            acme.post(&format!("{path}/set-aside/resend")).json(json!({})),
        ] {
            let refused = request.send().expect_error(404, "not_found");
            assert_eq!(refused["error"]["message"], "destination not found");
        }
    }
    // A tenant of the same name in another project of the organization.
    let project = organization.create_project("second");
    acme.get(&path_of(&of_other))
        .header("x-project-id", &project)
        .send()
        .expect_error(404, "not_found");
}

/// The server allows private addresses, which are for the receivers of the operator.
fn a_receiver_of_a_tenant_has_a_public_address(database: DatabaseKind) {
    let organization = organization(database);
    let acme = admin(&organization, "acme");
    let receiver = Receiver::start();
    let private = receiver.url("/hook");
    create(&organization, https(&private));
    post(&acme, https(&private)).expect_invalid(&["settings.url"]);
    let bucket = json!({
        "name": "b", "kind": "s3", "settings": {"url": "http://s3.example.com/bucket", "region": "r"},
        "credentials": {"access_key": "a", "secret_key": "b"},
    });
    post(&acme, bucket).expect_invalid(&["settings.url"]);
    post(&acme, https("https://localhost/hook")).expect_invalid(&["settings.url"]);
    let own = created(&acme, https(URL));
    let change = json!({"settings": {"url": private}, "credentials": {}});
    acme.patch(&path_of(&own))
        .json(change)
        .send()
        .expect_invalid(&["settings.url"]);
    assert_eq!(receiver.connections(), 0);
}

fn a_tenant_has_at_most_three_destinations(database: DatabaseKind) {
    let organization = organization(database);
    let (acme, other) = (admin(&organization, "acme"), admin(&organization, "other"));
    let mut last = Value::Null;
    for _ in 0..TENANT_DESTINATIONS_MAX {
        last = created(&acme, https(URL));
    }
    post(&acme, https(URL)).expect_error(403, "forbidden");
    created(&other, https(URL));
    create(&organization, https(URL));
    acme.delete(&path_of(&last)).send().expect_status(200);
    created(&acme, https(URL));
}

fn the_tenants_of_a_project_have_at_most_a_hundred(database: DatabaseKind) {
    let organization = organization(database);
    for number in 0..TENANTS_DESTINATIONS_MAX {
        let tenant = format!("tenant-{}", number / TENANT_DESTINATIONS_MAX);
        created(&admin(&organization, &tenant), https(URL));
    }
    post(&admin(&organization, "one-more"), https(URL)).expect_error(403, "forbidden");
    create(&organization, https(URL));
    let all = organization
        .master()
        .get("/destinations")
        .send()
        .list("destinations");
    assert_eq!(all.len(), TENANTS_DESTINATIONS_MAX + 1);
}

fn the_kinds_are_those_of_the_portal(database: DatabaseKind) {
    let organization = organization(database);
    let acme = admin(&organization, "acme");
    let kinds = |client: &Client| client.one("/portal", "portal")["destination_kinds"].clone();
    let all = json!(["https", "s3", "splunk_hec", "datadog", "otlp", "syslog"]);
    assert_eq!(
        (kinds(&acme), kinds(&organization.project())),
        (all.clone(), all.clone())
    );
    assert_eq!(kinds(&organization.viewer("acme", "full")), json!([]));
    let set = |kinds: Value| {
        let request = organization.master().patch("/portal");
        request.json(json!({"destination_kinds": kinds})).send()
    };
    set(json!([])).expect_invalid(&["destination_kinds"]);
    set(json!(["kafka"])).expect_invalid(&["destination_kinds[0]"]);
    set(json!(["otlp", "syslog"])).expect_status(200);
    assert_eq!(kinds(&acme), json!(["otlp", "syslog"]));
    post(&acme, https(URL)).expect_invalid(&["kind"]);
    let syslog =
        json!({"name": "s", "kind": "syslog", "settings": {"host": "syslog.example.com"}, "paused": true});
    let syslog = created(&acme, syslog);
    create(&organization, https(URL));
    set(json!(["otlp"])).expect_status(200);
    // What is there stays.
    let changed = acme.patch(&path_of(&syslog)).json(json!({"name": "t"})).send();
    changed.expect_status(200);
    set(Value::Null).expect_status(200);
    assert_eq!(kinds(&acme), all);
}

fn a_master_key_pauses_and_deletes_and_changes_nothing_else(database: DatabaseKind) {
    let organization = organization(database);
    let (master, acme) = (organization.master(), admin(&organization, "acme"));
    let destination = created(&acme, https(URL));
    let path = path_of(&destination);
    assert_eq!(listed(&master), [destination["id"].clone()]);
    assert_eq!(master.one(&path, "destination")["created_by_tenant"], "acme");
    for change in [
        json!({"filter": {}}),
        json!({"filter": {"tenant_ids": ["other"]}, "paused": true}),
        json!({"name": "x"}),
        json!({"format": "ocsf"}),
        json!({"include_raw": true}),
        json!({"ocsf_classes": []}),
        json!({"settings": {"url": URL}, "credentials": {}}),
        json!({"credentials": {}}),
    ] {
        let refused = master.patch(&path).json(change).send();
        refused.expect_error(403, "forbidden");
    }
    for paused in [false, true] {
        let changed = master.patch(&path).json(json!({"paused": paused})).send();
        assert_eq!(changed.expect_status(200)["destination"]["paused"], paused);
    }
    master.delete(&path).send().expect_status(200);
    assert!(listed(&acme).is_empty());
}

fn an_event_names_the_tenant_and_the_token_and_no_secret(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[("AUDIT_SELF_AUDIT", "on")]);
    let organization = with_admins(Organization::create(&server, "pro"));
    let acme = admin(&organization, "acme");
    let secret = json!({"credentials": {"headers": {"authorization": "Bearer of-the-receiver"}}});
    let destination = created(&acme, merge(https(URL), secret.clone()));
    let shown = acme.one(&path_of(&destination), "destination");
    assert!(!shown.to_string().contains("of-the-receiver"), "{shown}");
    let changed = merge(json!({"name": "renamed"}), secret);
    acme.patch(&path_of(&destination))
        .json(changed)
        .send()
        .expect_status(200);
    for action in [
        "audit.destination.created",
        "audit.destination.updated",
        "audit.destination.credentials_rotated",
    ] {
        let request = organization.master().get("/events");
        let events = request
            .query("tenant_id", "audit-server")
            .query("action", action)
            .send()
            .expect_status(200)
            .list("events");
        let [event] = events.as_slice() else {
            panic!("{events:?}")
        };
        assert!(!event.to_string().contains("of-the-receiver"), "{event}");
        assert_eq!(event["actor"]["id"], "acme");
        assert_eq!(event["actor"]["name"], "viewer token");
        assert_eq!(event["metadata"]["tenant_id"], "acme");
        assert!(event["context"]["session_id"].is_string(), "{event}");
    }
    // The tenant does not see the events of the service.
    assert_eq!(acme.count(), 0);
    server.stop().success();
}

fn changes_of_a_tenant_are_limited_in_a_minute(database: DatabaseKind) {
    let organization = organization(database);
    let (acme, other) = (admin(&organization, "acme"), admin(&organization, "other"));
    let destination = created(&acme, https(URL));
    let path = path_of(&destination);
    let change = |paused: bool| acme.patch(&path).json(json!({"paused": paused})).send();
    // A minute of the clock can begin meanwhile, once.
    let limited = (0..2 * VIEWERS_READS_PER_MINUTE_MAX).any(|number| change(number % 2 == 0).status() == 429);
    assert!(limited);
    created(&other, https(URL));
    let master = organization.master();
    master.delete(&path).send().expect_status(200);
}

fn a_right_that_is_withdrawn_ends_at_once(database: DatabaseKind) {
    let organization = organization(database);
    let (master, acme) = (organization.master(), admin(&organization, "acme"));
    let destination = created(&acme, https(URL));
    let routes = |routes: Value| {
        let request = master.patch("/viewer-tiers/admins");
        request.json(json!({"routes": routes})).send().expect_status(200)
    };
    routes(Value::Null);
    acme.get(&path_of(&destination))
        .send()
        .expect_error(403, "forbidden");
    acme.delete(&path_of(&destination))
        .send()
        .expect_error(403, "forbidden");
    routes(json!(["destinations"]));
    acme.get(&path_of(&destination)).send().expect_status(200);
}
