//! The content and the recipients of deliveries.

use audit_tests::{
    Database, DatabaseKind, Organization, Receiver, Reply, Server, Subscription, alert_rule, assert_signed,
    door_opened, merge, moment, on_both_databases, webhook_environment,
};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

/// The server and the test share a clock, so this only allows for a busy machine.
const SLACK: Duration = Duration::seconds(60);

on_both_databases! {
    an_alert_is_posted_as_the_decisions_say,
    every_enabled_webhook_of_the_project_gets_a_delivery_and_no_other,
    every_alert_is_a_message_of_its_own,
    a_message_names_the_actor_whose_id_redaction_replaced,
    a_webhook_of_a_key_with_the_scope_alerts_alone_gets_the_name,
    slack_and_teams_get_a_signed_text,
    a_server_with_a_public_url_links_each_alert_to_the_console,
    alerts_of_the_test_environment_are_not_delivered,
    a_disabled_webhook_gets_nothing_new,
    what_is_pending_waits_until_the_webhook_is_enabled_again,
    a_deleted_webhook_takes_its_deliveries_with_it,
    a_message_goes_where_the_webhook_leads_now,
    a_name_is_as_good_as_an_address,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the server under test runs on the real clock"
)]
fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

fn an_alert_is_posted_as_the_decisions_say(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let alert = subscription.organization.raise_alert();
    let request = subscription.wait_for(1).remove(0);
    assert_eq!(request.method, "POST");
    assert!(request.header("content-type").starts_with("application/json"));
    assert!(!request.header("user-agent").is_empty());
    let body = json!({"type": "alert.fired", "timestamp": alert["fired_at"], "data": alert});
    assert_eq!(request.json(), body);
    let id = alert["id"].as_str().expect("an id");
    assert_eq!(request.message_id(), id.replace("alt_", "msg_"));
    let timestamp: i64 = request.header("webhook-timestamp").parse().expect("seconds");
    let sent_at = OffsetDateTime::from_unix_timestamp(timestamp).expect("a time");
    assert!((now() - sent_at).abs() < SLACK, "{request:?}");
    assert_signed(&request, &[subscription.secret()]);
    let delivery = subscription.wait_for_status("delivered");
    assert!(moment(&delivery["created_at"]) - moment(&alert["fired_at"]) < SLACK);
    assert_eq!(subscription.wait_for(1).len(), 1);
}

fn every_enabled_webhook_of_the_project_gets_a_delivery_and_no_other(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let organization = &subscription.organization;
    let receiver = &subscription.receiver;
    let second = organization.create_webhook(&receiver.url("/second"));
    let disabled = organization.create_webhook(&receiver.url("/disabled"));
    subscription
        .master
        .change_webhook(&disabled, json!({"enabled": false}));
    let deleted = organization.create_webhook(&receiver.url("/deleted"));
    let path = format!("/alerts/webhooks/{}", deleted["id"].as_str().expect("an id"));
    subscription.master.delete(&path).send().expect_status(200);
    let project_id = organization.project_id.clone();
    let other = organization.create_project("other");
    subscription
        .master
        .with_header("x-project-id", &other)
        .post("/alerts/webhooks")
        .json(json!({"url": receiver.url("/other-project")}))
        .send()
        .expect_status(201);
    let stranger = Subscription::fresh(database);
    organization.raise_alert();
    let first = subscription.wait_for(1).remove(0);
    let other = receiver.first("/second");
    assert_eq!(first.message_id(), other.message_id());
    assert_eq!(first.body, other.body);
    assert_signed(&first, &[subscription.secret()]);
    assert_signed(&other, &[second["secret"].as_str().expect("a secret")]);
    let master = subscription.master.with_header("x-project-id", &project_id);
    for webhook in [&subscription.webhook, &second] {
        master.wait_for_status(webhook, "delivered");
    }
    // The alert and its deliveries are committed together: without an entry in the log there will be no delivery.
    assert_eq!(master.deliveries(&disabled).len(), 0);
    assert_eq!(stranger.master.deliveries(&stranger.webhook).len(), 0);
    for path in ["/disabled", "/deleted", "/other-project"] {
        assert_eq!(receiver.received(path).len(), 0, "{path}");
    }
    assert_eq!(receiver.connections(), 2);
}

fn every_alert_is_a_message_of_its_own(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let project = subscription.organization.project();
    let actors = ["a", "b", "c", "a", "b"];
    project.store_all(actors.map(door_opened).to_vec());
    let requests = subscription.wait_for(actors.len());
    let mut told: Vec<Value> = requests
        .iter()
        .map(|request| request.json()["data"].clone())
        .collect();
    let mut alerts = project.all_alerts();
    assert_eq!(alerts.len(), actors.len());
    for list in [&mut told, &mut alerts] {
        list.sort_by_key(|alert| alert["id"].to_string());
    }
    assert_eq!(told, alerts);
    let built_in = audit_tests::event_with(json!({"action": "auth.failed"}));
    project.store_all(vec![built_in; 5]);
    let requests = subscription.wait_for(actors.len() + 1);
    let last = requests.last().expect("one more request").json();
    assert_eq!(last["data"]["rule_id"], "auth_brute_force");
}

fn a_message_names_the_actor_whose_id_redaction_replaced(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let named = json!({"actor": {"name": "Jane Doe"}, "tenant_id": "tenant-7"});
    let project = subscription.organization.project();
    project.store(merge(door_opened("jane@example.com"), named));
    let data = subscription.wait_for(1).remove(0).json()["data"].clone();
    assert_eq!(data["actor_name"], "Jane Doe");
    assert_eq!(
        (&data["tenant_id"], &data["group_by"]),
        (&json!("tenant-7"), &json!("actor_id"))
    );
    assert_ne!(data["group_key"], "jane@example.com");
}

/// The scope `alerts` decides where messages go. The responses to such a key have no name.
fn a_webhook_of_a_key_with_the_scope_alerts_alone_gets_the_name(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let body = json!({"name": "limited", "scopes": ["alerts"]});
    let created = subscription.master.post("/master-keys").json(body).send();
    let key = created.expect_status(201).text("key");
    let limited = subscription.organization.with_credential(&key);
    let url = subscription.receiver.url("/limited");
    let webhook = limited.post("/alerts/webhooks").json(json!({"url": url}));
    webhook.send().expect_status(201);
    let named = json!({"actor": {"name": "Jane Doe"}});
    let project = subscription.organization.project();
    project.store(merge(door_opened("jane"), named));
    let data = subscription.receiver.first("/limited").json()["data"].clone();
    assert_eq!(data["actor_name"], "Jane Doe");
    assert_eq!(limited.only_alert().get("actor_name"), None);
}

fn slack_and_teams_get_a_signed_text(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let texts = [
        ("slack", "/blocks/0/elements/1/elements/0/text"),
        ("teams", "/attachments/0/content/body/1/inlines/0/text"),
    ];
    let label = json!({"languages": {"en": {"label": "Door opened"}}});
    let labelled = subscription.master.put("/actions/door.opened").json(label);
    labelled.send().expect_status(200);
    for (index, (format, pointer)) in texts.into_iter().enumerate() {
        let change = json!({"format": format});
        subscription.master.change_webhook(&subscription.webhook, change);
        let actor = format!("actor-of-{format}");
        subscription.organization.project().store(door_opened(&actor));
        let request = subscription.wait_for(index + 1).remove(index);
        assert_signed(&request, &[subscription.secret()]);
        let body = request.json();
        let text = body.pointer(pointer).and_then(Value::as_str).expect("a text");
        assert!(text.contains(&format!("actor_id {actor}, events: 1")), "{text}");
        let message = body.to_string();
        assert!(
            message.contains("latest event: Door opened (door.opened)"),
            "{message}"
        );
    }
}

fn a_server_with_a_public_url_links_each_alert_to_the_console(database: DatabaseKind) {
    let public_url = [("AUDIT_PUBLIC_URL", "https://audit.example")];
    let settings = [&webhook_environment()[..], &public_url].concat();
    let server = Server::start(&Database::create(database), &settings);
    let subscription = Subscription::on(&server);
    let organization = &subscription.organization;
    let slack = organization.create_webhook(&subscription.receiver.url("/slack"));
    subscription
        .master
        .change_webhook(&slack, json!({"format": "slack"}));
    let alert = organization.raise_alert();
    let url = format!(
        "https://audit.example/console#/alerts?alert={}&project={}&environment=live",
        alert["id"].as_str().expect("an id"),
        organization.project_id
    );
    assert_eq!(alert["url"], url);
    assert_eq!(subscription.wait_for(1).remove(0).json()["data"], alert);
    let message = subscription.receiver.first("/slack").json();
    let sections = message["blocks"][0]["elements"].as_array().expect("sections");
    let last = sections.last().map(|section| &section["elements"][0]);
    assert_eq!(last, Some(&json!({"type": "link", "url": url})));
    // Without the pages there is nothing to link to.
    let without = [
        ("AUDIT_PUBLIC_URL", "https://audit.example"),
        ("AUDIT_PAGES", "off"),
    ];
    let server = Server::start(&Database::create(database), &without);
    let organization = Organization::create(&server, "enterprise");
    organization.create_alert_rule(alert_rule(json!({})));
    assert_eq!(organization.raise_alert().get("url"), None);
}

fn alerts_of_the_test_environment_are_not_delivered(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let test = subscription.organization.test();
    test.store(door_opened("trial"));
    assert_eq!(test.all_alerts().len(), 1);
    assert_eq!(subscription.master.deliveries(&subscription.webhook).len(), 0);
    subscription.organization.raise_alert();
    let request = subscription.wait_for(1).remove(0);
    assert_eq!(request.json()["data"]["group_key"], "actor-1");
    subscription.master.only_delivery(&subscription.webhook);
}

fn a_disabled_webhook_gets_nothing_new(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let switch = |enabled: bool| {
        subscription
            .master
            .change_webhook(&subscription.webhook, json!({"enabled": enabled}))
    };
    switch(false);
    subscription.organization.raise_alert();
    assert_eq!(subscription.master.deliveries(&subscription.webhook).len(), 0);
    switch(true);
    let alert = subscription.organization.raise_alert();
    let request = subscription.wait_for(1).remove(0);
    assert_eq!(request.json()["data"]["id"], alert["id"]);
    subscription.wait_for_status("delivered");
}

fn what_is_pending_waits_until_the_webhook_is_enabled_again(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let witness = Subscription::fresh(database);
    for subscription in [&subscription, &witness] {
        subscription.reply([Reply::Status(500), Reply::Status(200)]);
        subscription.organization.raise_alert();
        subscription.wait_for_attempts(1);
    }
    let switch = |enabled: bool| {
        subscription
            .master
            .change_webhook(&subscription.webhook, json!({"enabled": enabled}))
    };
    switch(false);
    // The witness is retried after its five seconds. The retry of the disabled webhook was due before that.
    witness.wait_for_status("delivered");
    let waiting = subscription.master.only_delivery(&subscription.webhook);
    assert_eq!(waiting["status"], "pending");
    assert_eq!(subscription.receiver.received(Subscription::PATH).len(), 1);
    switch(true);
    let requests = subscription.wait_for(2);
    assert_eq!(requests[0].body, requests[1].body);
    let delivered = subscription.wait_for_status("delivered");
    assert_eq!(delivered["id"], waiting["id"]);
}

fn a_deleted_webhook_takes_its_deliveries_with_it(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let witness = Subscription::fresh(database);
    for subscription in [&subscription, &witness] {
        subscription.reply([Reply::Status(500), Reply::Status(200)]);
        subscription.organization.raise_alert();
        subscription.wait_for_attempts(1);
    }
    subscription
        .master
        .delete(&subscription.path())
        .send()
        .expect_status(200);
    subscription.organization.raise_alert();
    witness.wait_for_status("delivered");
    assert_eq!(subscription.receiver.received(Subscription::PATH).len(), 1);
}

fn a_message_goes_where_the_webhook_leads_now(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    subscription.reply([Reply::Status(500)]);
    subscription.organization.raise_alert();
    let pending = subscription.wait_for_attempts(1);
    let elsewhere = Receiver::start();
    let change = json!({"url": elsewhere.url("/new")});
    subscription.master.change_webhook(&subscription.webhook, change);
    subscription.master.retry_delivery(&pending);
    let request = elsewhere.first("/new");
    assert_eq!(pending["message_id"], request.message_id());
    assert_signed(&request, &[subscription.secret()]);
    subscription.wait_for_status("delivered");
}

fn a_name_is_as_good_as_an_address(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let organization = &subscription.organization;
    organization.create_alert_rule(alert_rule(json!({"action_pattern": "never.used"})));
    let url = subscription
        .receiver
        .url_on("localhost", "/by-name?token=a%20b&c=d");
    let webhook = organization.create_webhook(&url);
    subscription.master.test_webhook(&webhook);
    let request = subscription.receiver.first("/by-name?token=a%20b&c=d");
    assert!(request.header("host").starts_with("localhost:"), "{request:?}");
    subscription.master.wait_for_status(&webhook, "delivered");
}
