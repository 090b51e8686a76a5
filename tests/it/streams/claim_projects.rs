//! Who may claim, and into which project.

use audit_tests::{
    Database, DatabaseKind, Organization, Server, Stream, address, event, event_with, merge, move_by,
    on_both_databases,
};
use serde_json::{Value, json};

fn begun(database: DatabaseKind, count: usize) -> Stream {
    let stream = Stream::fresh(database);
    stream.store_all(vec![event(); count]);
    stream
}

fn keyed(key: &str, name: &str) -> Value {
    event_with(json!({"idempotency_key": key, "actor": {"name": name}}))
}

on_both_databases! {
    only_a_master_key_claims,
    any_organization_with_the_token_can_claim,
    the_claim_goes_to_the_named_project,
    a_claim_into_the_test_environment,
    the_events_of_the_project_stay_when_a_key_is_there_already,
    claimed_keys_count_from_then_on,
    keys_of_other_projects_and_environments_are_others,
    keys_of_other_tenants_are_others,
    two_streams_with_the_same_keys_are_claimed_into_one_project,
}

fn only_a_master_key_claims(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let stream = begun(database, 1);
    let refused = [
        organization.project(),
        organization.test(),
        organization.viewer("tenant-1", "full"),
    ];
    for claimant in refused {
        stream.claim(&claimant).send().expect_error(403, "forbidden");
    }
    stream
        .claim(organization.anonymous())
        .send()
        .expect_error(401, "unauthorized");
    let mistyped = organization.with_credential("mk_mistyped");
    stream
        .claim(&mistyped)
        .send()
        .expect_error(401, "invalid_api_key");
    assert_eq!(stream.state(), ("active".to_owned(), 1));
    assert_eq!(organization.project().count(), 0);
    assert_eq!(stream.move_to(&organization.master()), 1);
}

fn any_organization_with_the_token_can_claim(database: DatabaseKind) {
    let (one, other) = (Organization::fresh(database), Organization::fresh(database));
    let stream = begun(database, 2).held_by(&one.project().with_address(&address()));
    // An event sent with a credential does not bind the stream to the organization of that credential.
    stream.store(event());
    assert_eq!(stream.move_to(&other.master()), 3);
    assert_eq!(other.project().count(), 3);
    assert_eq!(one.project().count(), 0);
}

fn the_claim_goes_to_the_named_project(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let second = organization.create_project("second");
    let keys = [
        organization.project_key.clone(),
        organization.create_key_of(&second, "live"),
    ];
    let count = |key: &String| organization.with_credential(key).count();
    let stream = begun(database, 2);
    let master = organization.master();
    stream.claim(&master).send().expect_invalid(&["project_id"]);
    let stranger = Organization::fresh(database).project_id;
    let elsewhere = master.with_header("x-project-id", &stranger);
    stream.claim(&elsewhere).send().expect_error(404, "not_found");
    stream
        .claim(&master)
        .query("project_id", "nonsense")
        .send()
        .expect_invalid(&["project_id"]);
    assert_eq!(stream.state(), ("active".to_owned(), 2));
    assert_eq!(move_by(stream.claim(&master).query("project_id", &second)), 2);
    assert_eq!(keys.each_ref().map(count), [0, 2]);
    let named = master.with_header("x-project-id", &organization.project_id);
    assert_eq!(begun(database, 3).move_to(&named), 3);
    assert_eq!(keys.each_ref().map(count), [3, 2]);
}

fn a_claim_into_the_test_environment(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let test = organization.test();
    let stream = begun(database, 2);
    let request = stream.claim(&organization.master());
    assert_eq!(move_by(request.query("environment", "test")), 2);
    assert_eq!((test.count(), organization.project().count()), (2, 0));
    let stream = begun(database, 1);
    let request = stream.claim(&organization.master());
    assert_eq!(move_by(request.query("environment", "live")), 1);
    assert_eq!((test.count(), organization.project().count()), (2, 1));
    let stream = begun(database, 1);
    let request = stream.claim(&organization.master());
    request
        .query("environment", "x")
        .send()
        .expect_invalid(&["environment"]);
    assert_eq!(stream.state().0, "active");
}

fn the_events_of_the_project_stay_when_a_key_is_there_already(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let stream = Stream::fresh(database);
    let same = project.store(keyed("same", "Alice"));
    let other = project.store(keyed("other", "Alice"));
    let ids = stream.store_all(vec![
        keyed("new", "Bob"),
        keyed("same", "Alice"),
        keyed("other", "Bob"),
        event(),
    ]);
    assert_eq!(stream.move_to(&organization.master()), 2);
    let mut expected = vec![same, other.clone(), ids[0].clone(), ids[3].clone()];
    let mut found = project.find_ids(&[]);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    assert_eq!(project.event(&other)["actor"]["name"], "Alice");
    for id in &ids[1..3] {
        project
            .get(&format!("/events/{id}"))
            .send()
            .expect_error(404, "not_found");
    }
    assert_eq!(
        stream.state(),
        ("claimed".to_owned(), 4),
        "the stream stored four events"
    );
}

fn claimed_keys_count_from_then_on(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    project.store(keyed("before", "Alice"));
    let stream = Stream::fresh(database);
    // The event is redacted twice. The comparison uses the content as sent.
    organization.create_rule(json!({"type": "pattern", "name": "zebra", "pattern": "zebra"}));
    let sent = keyed("k", "zebra, jane@example.com");
    let id = stream.store(sent.clone());
    stream.move_to(&organization.master());
    assert_eq!(project.event(&id)["actor"]["name"], "[REDACTED], [REDACTED]");
    assert_eq!(project.store(sent.clone()), id, "a repeat");
    assert_eq!(project.store_all(vec![event(), sent.clone()])[1], id);
    let other = merge(sent, json!({"actor": {"name": "zebra, john@example.com"}}));
    project
        .post("/events")
        .json(other)
        .send()
        .expect_error(409, "conflict");
    assert_eq!(project.count(), 3);
}

fn keys_of_other_projects_and_environments_are_others(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.project().store(keyed("k", "Alice"));
    let test = organization.test();
    let claim = || {
        let stream = Stream::fresh(database);
        stream.store(keyed("k", "Bob"));
        stream
    };
    let request = claim().claim(&organization.master());
    assert_eq!(move_by(request.query("environment", "test")), 1);
    assert_eq!(test.count(), 1);
    assert_eq!(claim().move_to(&Organization::fresh(database).master()), 1);
    assert_eq!(
        claim().move_to(&organization.master()),
        0,
        "the key exists in this project"
    );
    assert_eq!(organization.project().find(&[])[0]["actor"]["name"], "Alice");
}

/// Uses a separate server, so that its key filter starts empty.
fn keys_of_other_tenants_are_others(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let of_tenant = |tenant: &str, name: &str| merge(keyed("k", name), json!({"tenant_id": tenant}));
    project.store(of_tenant("tenant-1", "project's"));
    let stream = Stream::fresh(database);
    stream.store_all(vec![
        of_tenant("tenant-1", "stream's"),
        of_tenant("tenant-2", "stream's"),
    ]);
    assert_eq!(stream.move_to(&organization.master()), 1);
    for (tenant, name) in [("tenant-1", "project's"), ("tenant-2", "stream's")] {
        let found = project.find(&[("tenant_id", tenant)]);
        assert_eq!(found.len(), 1, "{tenant}");
        assert_eq!(found[0]["actor"]["name"], name);
    }
}

fn two_streams_with_the_same_keys_are_claimed_into_one_project(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), super::UNLIMITED);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let streams = [(); 2].map(|()| Stream::of(&server.client()));
    for (stream, name) in streams.iter().zip(["Alice", "Bob"]) {
        stream.store_all((0..5).map(|n| keyed(&format!("k{n}"), name)).collect());
        stream.store(keyed(name, name));
    }
    assert_eq!(streams[0].move_to(&organization.master()), 6);
    assert_eq!(
        project
            .store_all(vec![keyed("k0", "Alice"), keyed("sent", "Carol")])
            .len(),
        2
    );
    assert_eq!(streams[1].move_to(&organization.master()), 1);
    project
        .post("/events")
        .json(keyed("Bob", "Carol"))
        .send()
        .expect_error(409, "conflict");
    project.store(keyed("Bob", "Bob"));
    assert_eq!(project.count(), 8);
}
