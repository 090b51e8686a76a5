//! The valid addresses of webhooks, and the limit of their number.

use audit_tests::{DatabaseKind, Organization, Receiver, Response, Server, alert_rule, on_both_databases};
use serde_json::{Value, json};
use std::thread;

const WEBHOOKS_MAX: usize = 20;
const URL_CHARS_MAX: usize = 2_048;

fn post(organization: &Organization, body: Value) -> Response {
    let master = organization.master().with_own_connections();
    master.post("/alerts/webhooks").json(body).send()
}

fn post_url(organization: &Organization, url: &str) -> Response {
    post(organization, json!({"url": url}))
}

fn count(organization: &Organization) -> usize {
    let response = organization.master().get("/alerts/webhooks").send();
    response.expect_status(200).list("webhooks").len()
}

fn path_of(webhook: &Value) -> String {
    format!("/alerts/webhooks/{}", webhook["id"].as_str().expect("an id"))
}

/// A valid address of this many characters.
fn url_of_length(characters: usize) -> String {
    let start = "https://example.com/";
    format!("{start}{}", "a".repeat(characters - start.len()))
}

on_both_databases! {
    an_address_may_have_a_port_a_path_a_query_and_2048_characters,
    an_address_that_cannot_be_delivered_to_is_refused,
    every_fault_of_a_webhook_is_named,
    a_project_has_at_most_twenty_webhooks,
    simultaneous_creators_do_not_pass_the_limit_together,
    the_free_plan_has_no_webhooks,
    webhooks_of_a_paid_plan_rest_on_the_free_one,
}

fn an_address_may_have_a_port_a_path_a_query_and_2048_characters(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    for url in [
        "https://example.com",
        "https://example.com/",
        "https://example.com:8443/a/b?c=d&e=%20f",
        "https://hooks.example.co.uk/services/T0/B1/x-y_z~",
        "https://1.1.1.1/hook",
        "https://[2606:4700:4700::1111]:8443/hook",
        &url_of_length(URL_CHARS_MAX),
    ] {
        let webhook = post_url(&organization, url).expect_status(201)["webhook"].clone();
        let change = json!({"url": url});
        let changed = organization.master().change_webhook(&webhook, change);
        assert_eq!(changed["url"], webhook["url"]);
    }
}

fn an_address_that_cannot_be_delivered_to_is_refused(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let valid = "https://example.com/";
    let webhook = organization.create_webhook(valid);
    let too_long = url_of_length(URL_CHARS_MAX + 1);
    for url in [
        "",
        "nonsense",
        "/hook",
        "//example.com/hook",
        "example.com/hook",
        "http://example.com/hook",
        "HTTP://example.com/hook",
        "ftp://example.com/hook",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https://:8443/hook",
        "https://example.com:99999/hook",
        "https://example.com:port/hook",
        "https://user@example.com/hook",
        "https://user:password@example.com/hook",
        "https://:password@example.com/hook",
        "https://exa mple.com/hook",
        "https://example.com/ho\u{0}ok",
        "https://[::1/hook",
        &too_long,
    ] {
        post_url(&organization, url).expect_invalid(&["url"]);
        organization
            .master()
            .patch(&path_of(&webhook))
            .json(json!({"url": url}))
            .send()
            .expect_invalid(&["url"]);
    }
    assert_eq!(count(&organization), 1);
    let unchanged = organization.master().change_webhook(&webhook, json!({}));
    assert_eq!(unchanged["url"], valid);
}

fn every_fault_of_a_webhook_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let response = post(&organization, json!({})).expect_invalid(&["url"]);
    assert_eq!(response.message_on("url"), "Required");
    let faults = json!({"url": 5, "format": "xml", "enabled": "yes", "secret": "whsec_mine"});
    let response = post(&organization, faults).expect_invalid(&["url", "format", "enabled", "secret"]);
    assert_eq!(response.message_on("secret"), "Unrecognized field");
    let webhook = organization.create_webhook("https://example.com/");
    let change = |body: Value| {
        let request = organization.master().patch(&path_of(&webhook)).json(body);
        request.send()
    };
    change(json!({"enabled": 1, "secret": "x"})).expect_invalid(&["enabled", "secret"]);
    change(json!([])).expect_error(400, "validation_error");
    let list = organization.master().get("/alerts/webhooks");
    list.query("colour", "red").send().expect_invalid(&["colour"]);
}

fn a_project_has_at_most_twenty_webhooks(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let mut last = json!(null);
    for _ in 0..WEBHOOKS_MAX {
        last = post_url(&organization, "https://example.com/").expect_status(201)["webhook"].clone();
    }
    post_url(&organization, "https://example.com/").expect_error(403, "forbidden");
    assert_eq!(count(&organization), WEBHOOKS_MAX);
    let master = organization.master();
    master.delete(&path_of(&last)).send().expect_status(200);
    post_url(&organization, "https://example.com/").expect_status(201);
    let other = organization.create_project("other");
    let in_other = master.with_header("x-project-id", &other);
    in_other
        .post("/alerts/webhooks")
        .json(json!({"url": "https://example.com/"}))
        .send()
        .expect_status(201);
}

fn simultaneous_creators_do_not_pass_the_limit_together(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    for _ in 0..WEBHOOKS_MAX - 3 {
        post_url(&organization, "https://example.com/").expect_status(201);
    }
    let mut statuses: Vec<u16> = thread::scope(|scope| {
        let create = || post_url(&organization, "https://example.com/").status();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(create)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("an answer"))
            .collect()
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 201, 201, 403, 403, 403, 403, 403]);
    assert_eq!(count(&organization), WEBHOOKS_MAX);
}

fn the_free_plan_has_no_webhooks(database: DatabaseKind) {
    let server = Server::shared(database);
    let organization = Organization::create(server, "free");
    post_url(&organization, "https://example.com/").expect_error(403, "webhooks_not_available");
    assert_eq!(count(&organization), 0);
    organization.set_plan(server, "pro");
    post_url(&organization, "https://example.com/").expect_status(201);
}

fn webhooks_of_a_paid_plan_rest_on_the_free_one(database: DatabaseKind) {
    let server = Server::shared(database);
    let organization = Organization::create(server, "pro");
    organization.change_alert_rule("account_deletion_spike", json!({"cooldown_seconds": 0}));
    organization.create_alert_rule(alert_rule(json!({})));
    let receiver = Receiver::start();
    let webhook = organization.create_webhook(&receiver.url("/hook"));
    let master = organization.master();
    organization.raise_alert();
    receiver.first("/hook");
    let delivery = master.wait_for_status(&webhook, "delivered");
    organization.set_plan(server, "free");
    let id = delivery["id"].as_str().expect("an id");
    for path in [
        format!("{}/test", path_of(&webhook)),
        format!("/alerts/deliveries/{id}/retry"),
    ] {
        let response = master.post(&path).send();
        response.expect_error(403, "webhooks_not_available");
    }
    let deletion = audit_tests::event_with(json!({"action": "user.deleted"}));
    organization.project().store_all(vec![deletion; 5]);
    let rules: Vec<Value> = organization.project().alerts(&[]);
    assert_eq!(
        rules[0]["rule_id"], "account_deletion_spike",
        "built-in rules stay active"
    );
    assert_eq!(
        master.only_delivery(&webhook),
        delivery,
        "but no delivery is created"
    );
    assert_eq!(count(&organization), 1);
    master.change_webhook(&webhook, json!({"enabled": false}));
    master.delete(&path_of(&webhook)).send().expect_status(200);
    assert_eq!(receiver.received("/hook").len(), 1);
}
