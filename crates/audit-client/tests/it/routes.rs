//! The client has a method for every route, parameter and member of the OpenAPI document, as `clients/conformance/routes.py` counts
//! them. A route of the service without a method here fails this test.

use crate::kit;
use audit_client::{
    ActorType, Category, Client, Environment, EventQuery, NewEvent, Object, Outcome, Resource, Spool,
};
use serde_json::{Value, json};
use std::io::Read;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

fn event() -> NewEvent {
    let event = NewEvent::builder("a.b", Category::Auth, "acme", ("u1", ActorType::User));
    event.build().expect("a valid event")
}

/// Every filter of `GET /events`.
fn query() -> EventQuery {
    feed_query()
        .start_date("2026-01-01")
        .end_date("2026-01-02")
        .search("words")
        .set("search_mode", "prefix")
        .oldest_first()
        .add("search_in", "names")
        .add("search_in", "ids")
}

/// Every filter of the feed.
fn feed_query() -> EventQuery {
    export_filters().limit(10)
}

fn export_filters() -> EventQuery {
    EventQuery::new()
        .tenant_id("acme")
        .actor_id("u1")
        .actor_type(ActorType::User)
        .action("a.*")
        .category(Category::Auth)
        .target_id("t1")
        .target_type("todo")
        .ip_address("192.0.2.1")
        .session_id("s1")
        .outcome(Outcome::Denied)
        .metadata("order.id", "1001")
        .metadata("order.id", "1002")
        .add("not_metadata.plan", "free")
        .add("not_tenant_id", "acme")
        .add("not_actor_id", "u1")
        .add("not_actor_id", "u2")
        .add("not_actor_type", "user")
        .add("not_action", "a.*")
        .add("not_category", "auth")
        .add("not_target_id", "t1")
        .add("not_target_type", "todo")
        .add("not_ip_address", "192.0.2.1")
        .add("not_session_id", "s1")
        .add("not_outcome", "success")
}

fn export_query() -> EventQuery {
    export_filters()
        .start_date("2026-01-01")
        .end_date("2026-01-02")
        .search("words")
        .set("search_mode", "prefix")
        .add("search_in", "names")
        .add("search_in", "ids")
}

/// All entries of a list.
fn all(pages: impl IntoIterator<Item = Result<Object, audit_client::Error>>) -> Vec<Object> {
    pages.into_iter().map(|entry| entry.expect("an entry")).collect()
}

fn use_events(client: &Client) -> Result<(), audit_client::Error> {
    client.ingest(event())?;
    client.ingest_with_receipt(event())?;
    assert_eq!(client.ingest_all([event(), event()])?.len(), 2);
    assert!(
        all(client.events(query().id("evt_1").id("evt_2"))).len() > 1,
        "events of two pages"
    );
    let zoned = export_query().set("time_zone", "Europe/Berlin");
    let summary = client.summary(&zoned, Some("day"), true)?;
    assert_eq!(summary["total"], 3);
    client.event("evt_1")?;
    client.feed(&feed_query(), Some("a_cursor"), MINUTE)?;
    assert_eq!(all(client.export(&export_query())?).len(), 0);
    let excel = export_query()
        .set("for", "excel")
        .set("separator", "semicolon")
        .set("labels", "de")
        .set("utc_offset", "+02:00");
    let zoned = zoned.set("for", "excel");
    for query in [excel, zoned] {
        let mut csv = client.export_csv(&query)?;
        assert_eq!(csv.read_to_end(&mut Vec::new()).expect("a body"), 0);
    }
    let mut workbook = client.export_xlsx(&export_query())?;
    assert_eq!(workbook.read_to_end(&mut Vec::new()).expect("a body"), 0);
    client.proof("evt_1")?;
    client.receipt("evt_1")?;
    client.viewer_token("acme", Some("support"), MINUTE)?;
    // The kit responds with the first example, which is that of a request without a link.
    let link = client.portal_url("acme", None, MINUTE);
    assert!(link.is_err_and(|error| error.to_string().contains("portal_url")));
    Ok(())
}

fn use_log(client: &Client) -> Result<(), audit_client::Error> {
    let log = client.log();
    log.key()?;
    log.key_rotations()?;
    log.checkpoint()?;
    log.cosigned_checkpoint()?;
    log.tile("0/000.p/12")?;
    log.consistency(1, 2)?;
    log.completeness(Some("acme"))?;
    log.tenants()?;
    Ok(())
}

/// Each kind of object, what is sent to make one, and what to change one.
fn resources() -> Vec<(Resource, Vec<Value>, Option<Value>)> {
    let limits = json!({"expires_at": "2027-01-01T00:00:00Z", "name": "n", "networks": [], "scopes": []});
    let with = |members: Value| {
        let mut all = limits.clone();
        let members = members.as_object().cloned().expect("an object");
        all.as_object_mut().expect("an object").extend(members);
        all
    };
    let pattern =
        json!({"type": "pattern", "name": "n", "pattern": "p", "behavior": "mask", "enabled": true});
    let fields = json!({"type": "field_redact", "name": "n", "fields": ["metadata.a"]});
    let rule_change =
        json!({"name": "n", "pattern": "p", "fields": ["metadata.a"], "behavior": "mask", "enabled": true});
    let rule = json!({
        "name": "n", "action_pattern": "a.*", "threshold": 1, "window_seconds": 60, "group_by": "actor_id",
        "count_distinct": "ip_address", "outcomes": ["failure"], "severity": "low", "cooldown_seconds": 60, "enabled": true,
        "actor_types": ["user"], "categories": ["auth"], "not_actor_ids": ["backup"],
    });
    let webhook = json!({"url": "https://example.com", "format": "slack", "enabled": true});
    let destination_change = json!({
        "name": "n", "format": "ocsf", "include_raw": true, "filter": {"categories": ["auth"]},
        "settings": {"url": "https://example.com"}, "credentials": {"headers": {}}, "paused": true,
        "ocsf_classes": [{"action": "a.*", "class_uid": 3001, "activity_id": 1}],
    });
    let mut destination = destination_change.clone();
    destination["kind"] = json!("https");
    destination["environment"] = json!("live");
    let tier =
        json!({"name": "n", "actions": null, "categories": null, "hidden_fields": [], "routes": ["events"]});
    let mut tier_change = tier.clone();
    tier_change.as_object_mut().expect("an object").remove("name");
    vec![
        (
            Resource::Projects,
            vec![json!({"name": "n"})],
            Some(json!({"name": "n", "archived": true, "metadata_filter_paths": ["metadata.plan"]})),
        ),
        (
            Resource::Keys,
            vec![with(
                json!({"project_id": "p", "type": "project", "environment": "live"}),
            )],
            Some(json!({"name": "n", "expires_at": "2027-01-01T00:00:00Z", "networks": null})),
        ),
        (Resource::MasterKeys, vec![with(json!({}))], None),
        (Resource::RedactionRules, vec![pattern, fields], Some(rule_change)),
        (Resource::AlertRules, vec![rule.clone()], Some(rule)),
        (Resource::Webhooks, vec![webhook.clone()], Some(webhook)),
        (
            Resource::Destinations,
            vec![destination],
            Some(destination_change),
        ),
        (Resource::ViewerTiers, vec![tier], Some(tier_change)),
    ]
}

fn use_administration(client: &Client) -> Result<(), audit_client::Error> {
    for (resource, made, changed) in resources() {
        client.list(resource)?;
        client.read(resource, "id")?;
        for members in &made {
            client.create(resource, members)?;
        }
        if let Some(members) = changed {
            client.update(resource, "id", &members)?;
        }
        if resource != Resource::Projects {
            client.delete(resource, "id")?;
        }
    }
    client.projects("all")?;
    client.rotate_key(Resource::Keys, "id", 0)?;
    client.rotate_key(Resource::MasterKeys, "id", 0)?;
    client.rotate_webhook_secret("id")?;
    client.test_webhook("id")?;
    all(client.deliveries("id", &[("status", "failed"), ("limit", "10")])?);
    client.delivery("id")?;
    client.retry_delivery("id")?;
    client.test_redaction(&json!({}))?;
    client.usage()?;
    assert!(all(client.tenants(10)).len() > 1, "tenants of two pages");
    all(client.actions(10));
    client.action_labels("de")?;
    client.put_action_label(
        "a.b",
        &json!({"icon": "key", "languages": {"en": {"label": "x", "template": "{actor}"}}}),
    )?;
    client.delete_action_label("a.b")?;
    client.portal()?;
    client.update_portal(&json!({
        "name": "n", "logo": null, "destination_kinds": ["https"], "sign_in_url": "https://app.example.com/"
    }))?;
    client.portal_sign_in_url("id")?;
    let filters = [
        ("status", "open"),
        ("severity", "low"),
        ("rule_id", "r"),
        ("start_date", "2026-01-01"),
        ("end_date", "2026-01-02"),
        ("limit", "10"),
    ];
    all(client.alerts(&filters));
    client.alert("id")?;
    client.acknowledge_alert("id")?;
    client.resolve_alert("id")?;
    client.add_alert_note("id", "the backup job")?;
    Ok(())
}

fn use_destinations(client: &Client) -> Result<(), audit_client::Error> {
    assert_eq!(client.test_destination("id")?["verdict"], "credentials");
    assert_eq!(
        client.preview_destination("id", Some("ocsf"))?["records"][0]["tenant_id"],
        "acme"
    );
    client.replay_destination("id", &json!({"from_seq": 0}))?;
    let range = json!({"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z", "dry_run": true});
    assert_eq!(client.replay_destination("id", &range)?["count"]["matching"], 40);
    client.stop_replay("id")?;
    assert!(
        all(client.set_aside("id", 10)?).len() > 1,
        "set-aside events of two pages"
    );
    let resent = client.resend_set_aside("id", &json!({"run": 0, "positions": [12]}))?;
    assert_eq!(resent["remaining"], 0);
    Ok(())
}

fn use_retention(client: &Client) -> Result<(), audit_client::Error> {
    assert_eq!(client.retention()?["minimum_days"], 93);
    let categories =
        json!({"auth": 400, "access": 400, "mutation": 400, "admin": 730, "security": 2190, "system": 366});
    client.set_retention(&json!({"days": 365, "categories": categories}))?;
    client.set_retention(&json!({"preset": "hipaa", "archive": true}))?;
    assert_eq!(client.preview_retention(&[("days", "365")])?["estimated"], true);
    client.preview_retention(&[("preset", "cnil")])?;
    client.confirm_retention("2026-01-01T00:00:00Z")?;
    client.cancel_removal(1203)?;
    assert_eq!(client.holds(true)?[0]["second_key"], true);
    client.place_hold(&json!({
        "reason": "Case 1", "tenant_id": "acme", "actor_id": "u1", "target_id": "t1",
        "from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z", "second_key": true,
    }))?;
    client.release_hold("id", "closed")?;
    assert_eq!(client.removals()?[0]["kind"], "retention");
    assert!(client.report()?["counts"].is_object());
    client.report_html()?;
    Ok(())
}

fn use_erasures(client: &Client) -> Result<(), audit_client::Error> {
    assert!(client.erasures()?[0]["state"].is_string());
    client.erasure("id")?;
    let requested = client.request_erasure(&json!({
        "identifiers": {"ids": ["usr_42"], "texts": ["jane@example.com"]},
        "extent": "person", "basis": "gdpr_17", "ticket": "DSR-118",
    }))?;
    assert_eq!(requested["basis"], "gdpr_17");
    assert!(
        all(client.erasure_events("id", 10)?).len() > 1,
        "events of two pages"
    );
    client.exclude_from_erasure("id", &[12, 40])?;
    client.confirm_erasure("id", &format!("sha256:{}", "0".repeat(64)))?;
    client.cancel_erasure("id")
}

fn use_streams(base_url: &str, client: &Client) -> Result<(), audit_client::Error> {
    let stream = Client::builder(base_url).stream().build()?;
    stream.ingest(event())?;
    let token = stream.claim_token().expect("a token");
    stream.stream_info(token)?;
    client.claim_stream(token)?;
    Ok(())
}

#[test]
fn the_client_uses_everything_that_the_document_declares() {
    let Some(server) = kit::Server::start("routes.py", &[]) else {
        return;
    };
    let builder = Client::builder(&server.base_url)
        .api_key("mk_test")
        .project_id("p");
    let client = builder.environment(Environment::Live).build().expect("a client");
    use_events(&client).expect("events");
    use_log(&client).expect("the log");
    use_administration(&client).expect("administration");
    use_destinations(&client).expect("destinations");
    use_retention(&client).expect("retention");
    use_erasures(&client).expect("erasures");
    use_streams(&server.base_url, &client).expect("streams");
    let verdict = server.report(&Value::Null);
    assert_eq!(verdict["problems"], json!([]));
}

#[test]
fn a_spool_of_a_stream_needs_a_token_that_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let builder = || Client::builder("http://127.0.0.1:9").spool(Spool::new(directory.path()));
    let error = builder().stream().build().expect_err("no token");
    assert!(error.to_string().starts_with("claim_token: "), "{error}");
    let token = "6f2b0f0e-3f0e-4c7e-9d0a-0d1f7f6f5a11";
    builder().claim_token(token).build().expect("a client");
}
