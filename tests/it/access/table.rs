//! The table of routes. What several tests need to know of a route is a field of its row.

use super::objects::{new_destination, nobody, unique_name};
use super::route::Outcome::{Conflict, Forbidden, NotFound, Success};
use super::route::Recorded::{As, Nothing};
use super::route::Subject::{self, InResponse, Object};
use super::route::{
    READ, Route, Scope, Target, anyone, both, delete, get, master, open, organization, patch, post, put,
};
use audit_tests::{alert_rule, event};
use serde_json::{Value, json};

fn new_key(project_id: &str) -> Value {
    json!({"project_id": project_id, "type": "project", "name": "a key"})
}

fn new_rule(_: &str) -> Value {
    json!({"type": "pattern", "name": "a rule", "pattern": "zebra"})
}

fn new_webhook(_: &str) -> Value {
    json!({"url": nobody()})
}

fn new_tier(_: &str) -> Value {
    json!({"name": unique_name()})
}

pub(crate) const ROUTES: &[Route] = &[
    Route {
        body: Some(|_| event()),
        ..both(post(Nothing("it is an event already")), "/api/v1/events", 201)
    },
    Route {
        viewer: Success(200),
        ..both(READ, "/api/v1/events", 200)
    },
    Route {
        viewer: Success(200),
        ..both(READ, "/api/v1/events/summary", 200)
    },
    Route {
        viewer: Success(200),
        ..both(READ, "/api/v1/events/feed", 200)
    },
    Route {
        viewer: Success(200),
        ..both(
            get(As("audit.events.exported", Subject::Project)),
            "/api/v1/events/export",
            200,
        )
    },
    // The event is a live one, so a test key of the same project does not find it.
    Route {
        target: Target::Event,
        test: NotFound,
        viewer: Success(200),
        strangers_project: NotFound,
        ..both(READ, "/api/v1/events/:id", 200)
    },
    Route {
        target: Target::Event,
        test: NotFound,
        viewer: Success(200),
        strangers_project: NotFound,
        ..both(READ, "/api/v1/events/:id/proof", 200)
    },
    Route {
        target: Target::Event,
        test: NotFound,
        viewer: Success(200),
        strangers_project: NotFound,
        ..both(READ, "/api/v1/events/:id/receipt", 200)
    },
    both(READ, "/api/v1/log/checkpoint", 200),
    // The key is that of the deployment, not of a project.
    Route {
        strangers_master: Success(200),
        ..both(READ, "/api/v1/log/key", 200)
    },
    Route {
        strangers_master: Success(200),
        ..both(READ, "/api/v1/log/key/rotations", 200)
    },
    Route {
        query: "?tenant_id=tenant-1",
        viewer: Success(200),
        ..both(READ, "/api/v1/log/completeness", 200)
    },
    both(READ, "/api/v1/log/tenants", 200),
    both(READ, "/api/v1/log/removals", 200),
    both(READ, "/api/v1/log/report", 200),
    both(READ, "/api/v1/tenants", 200),
    Route {
        query: "?from=0&to=0",
        ..both(READ, "/api/v1/log/consistency", 200)
    },
    // Each key has stored an event before, with the first route of this table.
    Route {
        target: Target::Tile,
        ..both(READ, "/api/v1/log/tile/:path", 200)
    },
    Route {
        body: Some(new_key),
        ..master(
            post(As("audit.api_key.created", InResponse("/id"))),
            "/api/v1/keys",
            201,
        )
    },
    // Without a project the list is that of the whole organization, so a stranger sees its own.
    Route {
        scope: Scope::Organization,
        strangers_master: Success(200),
        ..both(READ, "/api/v1/keys", 200)
    },
    Route {
        target: Target::Key,
        strangers_project: NotFound,
        ..both(READ, "/api/v1/keys/:id", 200)
    },
    Route {
        target: Target::Key,
        body: Some(|_| json!({"name": unique_name()})),
        ..master(
            patch(As("audit.api_key.updated", Object)),
            "/api/v1/keys/:id",
            200,
        )
    },
    Route {
        target: Target::Key,
        strangers_project: NotFound,
        ..both(
            delete(As("audit.api_key.revoked", Object)),
            "/api/v1/keys/:id",
            200,
        )
    },
    Route {
        target: Target::Key,
        query: "?overlap=0",
        ..master(
            post(As("audit.api_key.rotated", Object)),
            "/api/v1/keys/:id/rotate",
            201,
        )
    },
    organization(READ, "/api/v1/master-keys", 200),
    Route {
        target: Target::MasterKey,
        strangers_master: NotFound,
        ..organization(READ, "/api/v1/master-keys/:id", 200)
    },
    Route {
        body: Some(|_| json!({"name": "another"})),
        ..organization(
            post(As("audit.master_key.created", InResponse("/id"))),
            "/api/v1/master-keys",
            201,
        )
    },
    Route {
        target: Target::MasterKey,
        query: "?overlap=0",
        strangers_master: NotFound,
        ..organization(
            post(As("audit.master_key.rotated", Object)),
            "/api/v1/master-keys/:id/rotate",
            201,
        )
    },
    Route {
        target: Target::MasterKey,
        strangers_master: NotFound,
        ..organization(
            delete(As("audit.master_key.revoked", Object)),
            "/api/v1/master-keys/:id",
            200,
        )
    },
    both(READ, "/api/v1/redaction/rules", 200),
    Route {
        target: Target::Rule,
        strangers_project: NotFound,
        ..both(READ, "/api/v1/redaction/rules/:id", 200)
    },
    Route {
        body: Some(new_rule),
        ..master(
            post(As("audit.redaction_rule.created", InResponse("/rule/id"))),
            "/api/v1/redaction/rules",
            201,
        )
    },
    Route {
        target: Target::Rule,
        body: Some(|_| json!({"enabled": false})),
        ..master(
            put(As("audit.redaction_rule.updated", Object)),
            "/api/v1/redaction/rules/:id",
            200,
        )
    },
    Route {
        target: Target::Rule,
        ..master(
            delete(As("audit.redaction_rule.deleted", Object)),
            "/api/v1/redaction/rules/:id",
            200,
        )
    },
    Route {
        body: Some(|_| json!({"event": {}})),
        ..both(post(Nothing("it stores nothing")), "/api/v1/redaction/test", 200)
    },
    // For live project keys alone; a master key belongs to an organization, and a token to a project.
    Route {
        body: Some(|_| json!({"tenant_id": "tenant-1"})),
        master: Forbidden,
        test: Forbidden,
        strangers_master: Forbidden,
        ..both(
            post(As("audit.viewer_token.created", Subject::Text("tenant-1"))),
            "/api/v1/viewer-tokens",
            201,
        )
    },
    organization(READ, "/api/v1/projects", 200),
    Route {
        target: Target::Project,
        strangers_master: NotFound,
        ..organization(READ, "/api/v1/projects/:id", 200)
    },
    Route {
        target: Target::Project,
        body: Some(|_| json!({"name": unique_name()})),
        strangers_master: NotFound,
        ..organization(
            patch(As("audit.project.updated", Object)),
            "/api/v1/projects/:id",
            200,
        )
    },
    both(READ, "/api/v1/usage", 200),
    Route {
        viewer: Success(200),
        ..both(READ, "/api/v1/portal", 200)
    },
    Route {
        body: Some(|_| json!({"name": unique_name()})),
        ..master(
            patch(As("audit.portal.updated", Subject::Project)),
            "/api/v1/portal",
            200,
        )
    },
    Route {
        target: Target::SignIn,
        ..open("/api/v1/portal/:project_id/sign-in")
    },
    both(READ, "/api/v1/actions", 200),
    Route {
        query: "?language=de-AT",
        viewer: Success(200),
        ..both(READ, "/api/v1/actions/labels", 200)
    },
    Route {
        target: Target::Action,
        body: Some(|_| json!({"languages": {"en": {"label": unique_name()}}})),
        ..master(
            put(As("audit.action_label.updated", Object)),
            "/api/v1/actions/:action",
            200,
        )
    },
    Route {
        target: Target::Action,
        ..master(
            delete(As("audit.action_label.deleted", Object)),
            "/api/v1/actions/:action",
            200,
        )
    },
    master(READ, "/api/v1/viewer-tiers", 200),
    Route {
        target: Target::Tier,
        ..master(READ, "/api/v1/viewer-tiers/:name", 200)
    },
    Route {
        body: Some(new_tier),
        ..master(
            post(As("audit.viewer_tier.created", InResponse("/viewer_tier/name"))),
            "/api/v1/viewer-tiers",
            201,
        )
    },
    Route {
        target: Target::Tier,
        body: Some(|_| json!({"categories": ["auth"]})),
        ..master(
            patch(As("audit.viewer_tier.updated", Object)),
            "/api/v1/viewer-tiers/:name",
            200,
        )
    },
    Route {
        target: Target::Tier,
        ..master(
            delete(As("audit.viewer_tier.deleted", Object)),
            "/api/v1/viewer-tiers/:name",
            200,
        )
    },
    both(READ, "/api/v1/alerts/rules", 200),
    Route {
        target: Target::AlertRule,
        strangers_project: NotFound,
        ..both(READ, "/api/v1/alerts/rules/:id", 200)
    },
    Route {
        body: Some(|_| alert_rule(json!({"action_pattern": "never.used"}))),
        ..master(
            post(As("audit.alert_rule.created", InResponse("/rule/id"))),
            "/api/v1/alerts/rules",
            201,
        )
    },
    Route {
        target: Target::AlertRule,
        body: Some(|_| json!({"enabled": false})),
        ..master(
            patch(As("audit.alert_rule.updated", Object)),
            "/api/v1/alerts/rules/:id",
            200,
        )
    },
    Route {
        target: Target::AlertRule,
        ..master(
            delete(As("audit.alert_rule.deleted", Object)),
            "/api/v1/alerts/rules/:id",
            200,
        )
    },
    both(READ, "/api/v1/alerts", 200),
    // The alert is of a live event, so a test key of the same project does not find it.
    Route {
        target: Target::Alert,
        test: NotFound,
        strangers_project: NotFound,
        ..both(READ, "/api/v1/alerts/:id", 200)
    },
    Route {
        target: Target::Alert,
        body: Some(|_| json!({"status": "acknowledged"})),
        test: NotFound,
        strangers_project: NotFound,
        ..both(
            patch(As("audit.alert.updated", Object)),
            "/api/v1/alerts/:id",
            200,
        )
    },
    master(READ, "/api/v1/alerts/webhooks", 200),
    Route {
        target: Target::Webhook,
        ..master(READ, "/api/v1/alerts/webhooks/:id", 200)
    },
    Route {
        body: Some(new_webhook),
        ..master(
            post(As("audit.webhook.created", InResponse("/webhook/id"))),
            "/api/v1/alerts/webhooks",
            201,
        )
    },
    Route {
        target: Target::Webhook,
        body: Some(|_| json!({"url": format!("{}?a=b", nobody())})),
        ..master(
            patch(As("audit.webhook.updated", Object)),
            "/api/v1/alerts/webhooks/:id",
            200,
        )
    },
    Route {
        target: Target::NewWebhook,
        ..master(
            delete(As("audit.webhook.deleted", Object)),
            "/api/v1/alerts/webhooks/:id",
            200,
        )
    },
    Route {
        target: Target::Webhook,
        ..master(READ, "/api/v1/alerts/webhooks/:id/deliveries", 200)
    },
    Route {
        target: Target::Webhook,
        ..master(
            post(Nothing("it changes no setting, and the delivery is listed")),
            "/api/v1/alerts/webhooks/:id/test",
            202,
        )
    },
    Route {
        target: Target::Webhook,
        ..master(
            post(As("audit.webhook.secret_rotated", Object)),
            "/api/v1/alerts/webhooks/:id/rotate-secret",
            200,
        )
    },
    Route {
        target: Target::Delivery,
        ..master(READ, "/api/v1/alerts/deliveries/:id", 200)
    },
    Route {
        target: Target::Delivery,
        ..master(
            post(Nothing("it changes no setting, and the attempt is listed")),
            "/api/v1/alerts/deliveries/:id/retry",
            202,
        )
    },
    master(READ, "/api/v1/destinations", 200),
    Route {
        body: Some(new_destination),
        ..master(
            post(As("audit.destination.created", InResponse("/destination/id"))),
            "/api/v1/destinations",
            201,
        )
    },
    Route {
        target: Target::Destination,
        ..master(READ, "/api/v1/destinations/:id", 200)
    },
    Route {
        target: Target::Destination,
        body: Some(|_| json!({"name": unique_name()})),
        ..master(
            patch(As("audit.destination.updated", Object)),
            "/api/v1/destinations/:id",
            200,
        )
    },
    Route {
        target: Target::NewDestination,
        ..master(
            delete(As("audit.destination.deleted", Object)),
            "/api/v1/destinations/:id",
            200,
        )
    },
    Route {
        target: Target::Destination,
        ..master(
            post(Nothing("it changes nothing")),
            "/api/v1/destinations/:id/test",
            200,
        )
    },
    Route {
        target: Target::Destination,
        ..master(READ, "/api/v1/destinations/:id/preview", 200)
    },
    Route {
        target: Target::NotReplayed,
        body: Some(|_| json!({"from_seq": 0})),
        ..master(
            post(As("audit.destination.replay_started", Object)),
            "/api/v1/destinations/:id/replay",
            200,
        )
    },
    Route {
        target: Target::Replayed,
        ..master(
            delete(As("audit.destination.replay_stopped", Object)),
            "/api/v1/destinations/:id/replay",
            200,
        )
    },
    Route {
        target: Target::Destination,
        ..master(READ, "/api/v1/destinations/:id/set-aside", 200)
    },
    Route {
        target: Target::Destination,
        body: Some(|_| json!({})),
        ..master(
            post(Nothing("it changes no setting")),
            "/api/v1/destinations/:id/set-aside/resend",
            200,
        )
    },
    master(READ, "/api/v1/retention", 200),
    Route {
        body: Some(|_| json!({"days": 365})),
        ..master(
            put(As("audit.retention.changed", Subject::Log)),
            "/api/v1/retention",
            200,
        )
    },
    Route {
        query: "?days=365",
        ..master(READ, "/api/v1/retention/preview", 200)
    },
    Route {
        target: Target::Policy,
        body: Some(|_| json!({"until": "2020-01-01T00:00:00Z"})),
        ..master(
            post(As("audit.retention.confirmed", Subject::Log)),
            "/api/v1/retention/confirm",
            200,
        )
    },
    // A plan needs events that are older than the window of idempotency keys.
    Route {
        body: Some(|_| json!({"plan": 0})),
        master: Conflict,
        ..master(post(Nothing("no plan is open")), "/api/v1/retention/cancel", 200)
    },
    master(READ, "/api/v1/holds", 200),
    Route {
        // It keeps nothing that the erasures behind it list.
        body: Some(|_| json!({"reason": "a case", "tenant_id": unique_name()})),
        ..master(post(As("audit.hold.placed", Subject::Log)), "/api/v1/holds", 201)
    },
    Route {
        target: Target::Hold,
        body: Some(|_| json!({"reason": "the case is closed"})),
        ..master(
            post(As("audit.hold.released", Subject::Log)),
            "/api/v1/holds/:id/release",
            200,
        )
    },
    Route {
        body: Some(|_| json!({"identifiers": {"ids": [unique_name()]}, "basis": "gdpr_17"})),
        ..master(
            post(As("audit.erasure.requested", Subject::Log)),
            "/api/v1/erasures",
            201,
        )
    },
    master(READ, "/api/v1/erasures", 200),
    Route {
        target: Target::Erasure,
        ..master(READ, "/api/v1/erasures/:id", 200)
    },
    Route {
        target: Target::NewErasure,
        ..master(
            delete(Nothing("the log has nothing of it before it is confirmed")),
            "/api/v1/erasures/:id",
            200,
        )
    },
    Route {
        target: Target::Erasure,
        ..master(READ, "/api/v1/erasures/:id/events", 200)
    },
    // The position is not of the list, which stays as it is.
    Route {
        target: Target::Erasure,
        body: Some(|_| json!({"seqs": [0]})),
        ..master(
            post(Nothing("the log has nothing of it before it is confirmed")),
            "/api/v1/erasures/:id/exclude",
            200,
        )
    },
    Route {
        target: Target::Erasure,
        body: Some(|_| json!({"digest": format!("sha256:{}", "0".repeat(64))})),
        master: Conflict,
        ..master(
            post(Nothing("the list has another digest")),
            "/api/v1/erasures/:id/confirm",
            202,
        )
    },
    Route {
        target: Target::Stream,
        body: Some(|_| event()),
        ..anyone(
            post(Nothing("the events are of no project yet")),
            "/api/v1/streams/:token/events",
            201,
        )
    },
    Route {
        target: Target::Stream,
        ..open("/api/v1/streams/:token/info")
    },
    Route {
        target: Target::ClaimToken,
        ..master(
            post(As("audit.stream.claimed", Subject::Digest)),
            "/api/v1/streams/claim",
            200,
        )
    },
    // After all rows in which a master key names no project: from here on the organization has several.
    Route {
        body: Some(|_| json!({"name": "another"})),
        ..organization(
            post(As("audit.project.created", Subject::NewProject)),
            "/api/v1/projects",
            201,
        )
    },
    open("/healthz"),
    open("/readyz"),
    open("/metrics"),
    open("/api/v1/openapi.json"),
    open("/docs"),
    open("/docs/scalar.js"),
];
