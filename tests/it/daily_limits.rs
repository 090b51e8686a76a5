//! Events per UTC day. The shared servers allow 10 on the plan `free` and 20 on `pro`.

use audit_tests::{
    Client, Database, DatabaseKind, Organization, Response, Server, event, event_with, on_both_databases,
};
use serde_json::{Value, json};
use std::thread;

const FREE_EVENTS_MAX: usize = 10;
const PRO_EVENTS_MAX: usize = 20;
const DAY_SECONDS: u64 = 24 * 60 * 60;

/// On a server whose day does not end during a test. `None` without libfaketime.
fn on_plan(database: DatabaseKind, plan: &str) -> Option<Organization> {
    let server = Server::shared_on_stopped_clock(database)?;
    Some(Organization::create(server, plan))
}

fn post(client: &Client, count: usize) -> Response {
    client
        .post("/events")
        .json(Value::Array(vec![event(); count]))
        .send()
}

fn assert_limited(response: Response) {
    let response = response.expect_error(429, "daily_event_limit_reached");
    let retry_after = response
        .header("retry-after")
        .unwrap_or_else(|| panic!("no Retry-After: {response:?}"));
    let seconds: u64 = retry_after
        .parse()
        .unwrap_or_else(|_| panic!("{retry_after} is no number of seconds"));
    assert!((1..=DAY_SECONDS).contains(&seconds), "midnight is in {seconds} s");
}

on_both_databases! {
    a_batch_that_would_pass_the_limit_is_refused_whole,
    what_is_not_stored_does_not_count,
    test_events_count_against_nothing,
    each_project_and_plan_has_its_own_limit,
    another_plan_holds_from_the_next_request_on,
    simultaneous_writers_do_not_pass_the_limit_together,
    zero_means_no_limit,
}

fn a_batch_that_would_pass_the_limit_is_refused_whole(database: DatabaseKind) {
    let Some(organization) = on_plan(database, "free") else {
        return;
    };
    let project = organization.project();
    post(&project, FREE_EVENTS_MAX - 1).expect_status(201);
    assert_limited(post(&project, 2));
    assert_eq!(project.count(), FREE_EVENTS_MAX - 1);
    post(&project, 1).expect_status(201);
    assert_limited(post(&project, 1));
    assert_limited(organization.master().post("/events").json(event()).send());
    assert_eq!(project.count(), FREE_EVENTS_MAX);
}

fn what_is_not_stored_does_not_count(database: DatabaseKind) {
    let Some(organization) = on_plan(database, "free") else {
        return;
    };
    let project = organization.project();
    let keyed = || event_with(json!({"idempotency_key": "k"}));
    let id = project.store(keyed());
    for _ in 0..FREE_EVENTS_MAX {
        assert_eq!(project.store(keyed()), id);
        project.post("/events").json(json!({})).send().expect_status(400);
    }
    let mut batch = vec![event(); FREE_EVENTS_MAX - 1];
    batch.extend([json!({}), keyed()]);
    let response = project
        .post("/events")
        .json(Value::Array(batch))
        .send()
        .expect_status(201);
    assert_eq!(response.ids().len(), FREE_EVENTS_MAX);
    assert_eq!(
        project.store(keyed()),
        id,
        "a repeat succeeds at the limit as well"
    );
    assert_limited(post(&project, 1));
}

fn test_events_count_against_nothing(database: DatabaseKind) {
    let Some(organization) = on_plan(database, "free") else {
        return;
    };
    let test = organization.test();
    post(&test, FREE_EVENTS_MAX * 2).expect_status(201);
    post(&organization.project(), FREE_EVENTS_MAX).expect_status(201);
    post(&test, FREE_EVENTS_MAX * 2).expect_status(201);
}

fn each_project_and_plan_has_its_own_limit(database: DatabaseKind) {
    let Some(organization) = on_plan(database, "pro") else {
        return;
    };
    let other = organization.create_project("other");
    let other = organization.with_credential(&organization.create_key_of(&other, "live"));
    for project in [organization.project(), other] {
        assert_limited(post(&project, PRO_EVENTS_MAX + 1));
        post(&project, PRO_EVENTS_MAX).expect_status(201);
        assert_limited(post(&project, 1));
    }
    let enterprise = on_plan(database, "enterprise").expect("the library is there");
    post(&enterprise.project(), 100).expect_status(201);
}

fn another_plan_holds_from_the_next_request_on(database: DatabaseKind) {
    let Some(organization) = on_plan(database, "free") else {
        return;
    };
    let project = organization.project();
    post(&project, FREE_EVENTS_MAX).expect_status(201);
    assert_limited(post(&project, 1));
    let server = Server::shared_on_stopped_clock(database).expect("the library is there");
    let set_plan = |plan: &str| organization.set_plan(server, plan);
    set_plan("pro");
    post(&project, PRO_EVENTS_MAX - FREE_EVENTS_MAX).expect_status(201);
    assert_limited(post(&project, 1));
    set_plan("enterprise");
    post(&project, 50).expect_status(201);
    set_plan("free");
    assert_limited(post(&project, 1));
}

fn simultaneous_writers_do_not_pass_the_limit_together(database: DatabaseKind) {
    let Some(organization) = on_plan(database, "free") else {
        return;
    };
    let project = organization.project();
    let statuses: Vec<u16> = thread::scope(|scope| {
        let writer = |_| scope.spawn(|| post(&project.with_own_connections(), 1).status());
        let threads: Vec<_> = (0..FREE_EVENTS_MAX * 2).map(writer).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("an answer"))
            .collect()
    });
    let stored = statuses.iter().filter(|&&status| status == 201).count();
    assert_eq!(stored, FREE_EVENTS_MAX, "{statuses:?}");
    assert!(
        statuses.iter().all(|status| matches!(status, 201 | 429)),
        "{statuses:?}"
    );
    assert_eq!(project.count(), FREE_EVENTS_MAX);
}

fn zero_means_no_limit(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[("AUDIT_DAILY_LIMIT_FREE", "0")]);
    let project = Organization::create(&server, "free").project();
    for _ in 0..11 {
        post(&project, 100).expect_status(201);
    }
}
