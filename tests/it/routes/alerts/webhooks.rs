//! Administration of webhooks: `/alerts/webhooks`.

use audit_tests::{DatabaseKind, Organization, Receiver, alert_rule, merge, on_both_databases};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An address that nothing is sent to, because no alert fires here.
const URL: &str = "https://hooks.example.com/audit?team=a";

fn id_of(webhook: &Value) -> &str {
    webhook["id"].as_str().expect("a webhook has an id")
}

fn path_of(webhook: &Value) -> String {
    format!("/alerts/webhooks/{}", id_of(webhook))
}

fn listed(organization: &Organization) -> Vec<Value> {
    organization
        .master()
        .get("/alerts/webhooks")
        .send()
        .expect_status(200)
        .list("webhooks")
}

/// The webhook as later responses show it, with its secret redacted.
fn redacted(webhook: &Value) -> Value {
    let mut redacted = webhook.clone();
    redacted["secret"] = listed_secret();
    redacted
}

fn listed_secret() -> Value {
    json!(LISTED_SECRET)
}

/// The number of asterisks is unspecified, so tests compare with this after [`with_few_asterisks`].
const LISTED_SECRET: &str = "whsec_*[REDACTED]";

/// The same webhook with one asterisk in its secret. Panics when the secret is not redacted.
fn with_few_asterisks(webhook: &Value) -> Value {
    let secret = webhook["secret"].as_str().expect("a secret");
    let stars = secret
        .strip_prefix("whsec_")
        .and_then(|rest| rest.strip_suffix("[REDACTED]"))
        .unwrap_or_else(|| panic!("{secret} is not redacted"));
    assert!(
        stars.len() >= 4 && stars.bytes().all(|byte| byte == b'*'),
        "{secret}"
    );
    merge(webhook.clone(), json!({"secret": LISTED_SECRET}))
}

fn assert_is_secret(secret: &Value) {
    let secret = secret.as_str().expect("a secret is a string");
    let key = secret
        .strip_prefix("whsec_")
        .unwrap_or_else(|| panic!("{secret}"));
    let key = STANDARD.decode(key).unwrap_or_else(|_| panic!("{secret}"));
    assert_eq!(key.len(), 32, "{secret}");
}

on_both_databases! {
    a_created_webhook_shows_its_secret_once,
    webhooks_are_listed_with_redacted_secrets,
    secrets_and_ids_are_all_different,
    a_webhook_can_be_changed_in_every_field,
    an_empty_change_changes_nothing,
    a_deleted_webhook_is_gone,
    a_new_secret_is_shown_once,
    a_webhook_that_does_not_exist_is_not_found,
    a_webhook_belongs_to_one_project,
}

fn a_created_webhook_shows_its_secret_once(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let webhook = organization.create_webhook(URL);
    let members: Vec<&String> = webhook.as_object().expect("an object").keys().collect();
    let members: BTreeSet<&str> = members.into_iter().map(String::as_str).collect();
    let expected = BTreeSet::from(["id", "url", "format", "enabled", "secret", "created_at"]);
    assert_eq!(members, expected);
    assert!(id_of(&webhook).starts_with("wh_"), "{webhook}");
    assert_eq!(
        (&webhook["url"], &webhook["format"], &webhook["enabled"]),
        (&json!(URL), &json!("json"), &json!(true))
    );
    let created_at = webhook["created_at"].as_str().expect("a time");
    assert!(created_at.ends_with('Z'), "{created_at}");
    assert_is_secret(&webhook["secret"]);
    let disabled = organization
        .master()
        .post("/alerts/webhooks")
        .json(json!({"url": URL, "enabled": false}))
        .send()
        .expect_status(201);
    assert_eq!(disabled["webhook"]["enabled"], false);
}

fn webhooks_are_listed_with_redacted_secrets(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    assert_eq!(listed(&organization).len(), 0);
    let created = [(); 3].map(|()| organization.create_webhook(URL));
    for webhook in listed(&organization) {
        let one = organization.master().one(&path_of(&webhook), "webhook");
        assert_eq!(one, webhook);
    }
    let text = json!(listed(&organization)).to_string();
    for webhook in &created {
        let secret = webhook["secret"].as_str().expect("a secret");
        assert!(!text.contains(&secret[6..14]), "{secret} in {text}");
    }
    let mut webhooks: Vec<Value> = listed(&organization).iter().map(with_few_asterisks).collect();
    let mut expected: Vec<Value> = created.iter().map(redacted).collect();
    webhooks.sort_by_key(|webhook| id_of(webhook).to_owned());
    expected.sort_by_key(|webhook| id_of(webhook).to_owned());
    assert_eq!(webhooks, expected);
}

fn secrets_and_ids_are_all_different(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let created: Vec<Value> = (0..5).map(|_| organization.create_webhook(URL)).collect();
    for member in ["id", "secret"] {
        let values = created.iter().map(|webhook| webhook[member].to_string());
        assert_eq!(values.collect::<BTreeSet<_>>().len(), 5, "{created:?}");
    }
}

fn a_webhook_can_be_changed_in_every_field(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let other = organization.create_webhook(URL);
    let mut webhook = redacted(&organization.create_webhook(URL));
    for change in [
        json!({"url": "https://example.org/"}),
        json!({"enabled": false}),
        json!({"format": "teams"}),
        json!({"url": "https://example.com:8443/hook", "enabled": true, "format": "json"}),
    ] {
        let changed = organization.master().change_webhook(&webhook, change.clone());
        let changed = with_few_asterisks(&changed);
        assert_eq!(changed, merge(webhook, change));
        let webhooks: Vec<Value> = listed(&organization).iter().map(with_few_asterisks).collect();
        assert!(webhooks.contains(&changed), "{webhooks:?}");
        assert!(
            webhooks.contains(&redacted(&other)),
            "the other webhook is unchanged"
        );
        webhook = changed;
    }
}

fn an_empty_change_changes_nothing(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let webhook = organization.create_webhook(URL);
    let unchanged = organization.master().change_webhook(&webhook, json!({}));
    assert_eq!(with_few_asterisks(&unchanged), redacted(&webhook));
}

fn a_deleted_webhook_is_gone(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (webhook, other) = (organization.create_webhook(URL), organization.create_webhook(URL));
    let master = organization.master();
    let response = master.delete(&path_of(&webhook)).send().expect_status(200);
    assert_eq!(response["deleted"], true);
    let webhooks = listed(&organization);
    assert_eq!(webhooks.len(), 1);
    assert_eq!(id_of(&webhooks[0]), id_of(&other));
    master
        .delete(&path_of(&webhook))
        .send()
        .expect_error(404, "not_found");
    let deliveries = format!("{}/deliveries", path_of(&webhook));
    master.get(&deliveries).send().expect_error(404, "not_found");
}

fn a_new_secret_is_shown_once(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let webhook = organization.create_webhook(URL);
    let rotated = organization.master().rotate_secret(&webhook);
    assert_is_secret(&rotated["secret"]);
    assert_ne!(rotated["secret"], webhook["secret"]);
    assert_eq!(
        redacted(&rotated),
        redacted(&webhook),
        "all other members are unchanged"
    );
    let text = json!(listed(&organization)).to_string();
    let secret = rotated["secret"].as_str().expect("a secret");
    assert!(!text.contains(&secret[6..14]), "{text}");
}

fn a_webhook_that_does_not_exist_is_not_found(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let stranger = Organization::fresh(database);
    let foreign = stranger.create_webhook(URL);
    let master = organization.master();
    let unknown = format!("wh_{}", "0".repeat(id_of(&foreign).len() - 3));
    for id in [
        unknown.as_str(),
        "wh_",
        "nonsense",
        &id_of(&foreign)[3..],
        id_of(&foreign),
    ] {
        let path = format!("/alerts/webhooks/{id}");
        let requests = [
            master.get(&path),
            master.patch(&path).json(json!({"enabled": false})),
            master.delete(&path),
            master.get(&format!("{path}/deliveries")),
            master.post(&format!("{path}/test")),
            master.post(&format!("{path}/rotate-secret")),
        ];
        for request in requests {
            request.send().expect_error(404, "not_found");
        }
    }
    assert_eq!(
        with_few_asterisks(&listed(&stranger)[0]),
        redacted(&foreign),
        "the webhook is unchanged"
    );
}

fn a_webhook_belongs_to_one_project(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let receiver = Receiver::start();
    let webhook = organization.create_webhook(&receiver.url("/default"));
    organization.create_alert_rule(alert_rule(json!({})));
    let default = organization.project_id.clone();
    let other = organization.create_project("other");
    let in_other = organization.master().with_header("x-project-id", &other);
    let in_default = organization.master().with_header("x-project-id", &default);
    for request in [
        in_other.get(&path_of(&webhook)),
        in_other.patch(&path_of(&webhook)).json(json!({"enabled": false})),
        in_other.delete(&path_of(&webhook)),
        in_other.post(&format!("{}/test", path_of(&webhook))),
        in_other.post(&format!("{}/rotate-secret", path_of(&webhook))),
        in_other.get(&format!("{}/deliveries", path_of(&webhook))),
    ] {
        request.send().expect_error(404, "not_found");
    }
    let list = |query: &[(&str, &str)]| {
        let request = organization.master().get("/alerts/webhooks").queries(query);
        request.send().expect_status(200).list("webhooks").len()
    };
    assert_eq!(list(&[("project_id", &other)]), 0);
    assert_eq!(list(&[("project_id", &default)]), 1);
    assert_eq!(list(&[("project_id", &default), ("environment", "test")]), 1);
    organization.raise_alert();
    let delivery = in_default.only_delivery(&webhook);
    let path = format!("/alerts/deliveries/{}", id_of(&delivery));
    let retry = format!("{path}/retry");
    for stranger in [in_other, Organization::fresh(database).master()] {
        stranger.get(&path).send().expect_error(404, "not_found");
        stranger.post(&retry).send().expect_error(404, "not_found");
    }
    in_default.retry_delivery(&delivery);
}
