//! The table itself.

use super::unique_name;
use audit_tests::{alert_rule, event};
use serde_json::{Value, json};

/// The expected outcome of a request with a credential.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// With this status.
    Success(u16),
    /// 403 `forbidden`: the wrong kind of credential.
    Forbidden,
    /// 404 `not_found`: an object of another organization.
    NotFound,
    /// 401 `unauthorized`.
    Unauthorized,
    /// 401 `key_revoked`.
    Revoked,
}

/// The new object of the organization under test that the path names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    None,
    Project,
    Event,
    /// The first tile of the log.
    Tile,
    Key,
    MasterKey,
    Rule,
    Tier,
    AlertRule,
    Alert,
    /// The same for every request.
    Webhook,
    /// For a request that deletes it.
    NewWebhook,
    Delivery,
    /// A stream with an event.
    Stream,
    /// The same, named by the body.
    ClaimToken,
}

/// The scope that a master key acts on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope {
    /// One project, which the header names.
    Project,
    /// The organization.
    Organization,
}

/// A row: a route, the request to it, and the expected outcome for each credential.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) target: Target,
    pub(crate) scope: Scope,
    /// Parameters that the route needs.
    pub(crate) query: &'static str,
    pub(crate) body: Option<fn(project_id: &str) -> Value>,
    pub(crate) master: Outcome,
    pub(crate) project: Outcome,
    pub(crate) test: Outcome,
    pub(crate) viewer: Outcome,
    pub(crate) revoked: Outcome,
    pub(crate) none: Outcome,
    pub(crate) strangers_master: Outcome,
    pub(crate) strangers_project: Outcome,
}

use Outcome::{Forbidden, NotFound, Revoked, Success, Unauthorized};

impl Route {
    /// The scope that a key needs; `None` where no credential is needed.
    pub(crate) fn key_scope(&self) -> Option<&'static str> {
        if matches!(self.none, Success(_)) {
            return None;
        }
        let path = self.path.strip_prefix("/api/v1/").unwrap_or(self.path);
        Some(match (self.method, path.split('/').next().unwrap_or(path)) {
            ("POST", "events") => "events:write",
            (_, "events" | "log" | "usage") | ("GET", "portal") => "events:read",
            (_, "alerts") => "alerts",
            (_, "viewer-tokens") => "viewer-tokens",
            (
                _,
                "keys" | "master-keys" | "projects" | "redaction" | "viewer-tiers" | "streams" | "portal",
            ) => "admin",
            (_, other) => panic!("which scope is {other}?"),
        })
    }
}

/// A route for master keys and project keys, test keys included: the most frequent kind. The stranger's master key names
/// the project under test, so it finds nothing; the stranger's project key acts on its own project.
const fn both(method: &'static str, path: &'static str, status: u16) -> Route {
    Route {
        method,
        path,
        target: Target::None,
        scope: Scope::Project,
        query: "",
        body: None,
        master: Success(status),
        project: Success(status),
        test: Success(status),
        viewer: Forbidden,
        revoked: Revoked,
        none: Unauthorized,
        strangers_master: NotFound,
        strangers_project: Success(status),
    }
}

/// A route for master keys alone.
const fn master(method: &'static str, path: &'static str, status: u16) -> Route {
    let both = both(method, path, status);
    Route {
        project: Forbidden,
        test: Forbidden,
        strangers_project: Forbidden,
        ..both
    }
}

/// A route on which master keys act on their own organization, whichever project they name.
const fn organization(method: &'static str, path: &'static str, status: u16) -> Route {
    Route {
        scope: Scope::Organization,
        strangers_master: Success(status),
        ..master(method, path, status)
    }
}

/// A route that needs no credential and ignores any.
const fn open(path: &'static str) -> Route {
    let success = Success(200);
    Route {
        viewer: success,
        revoked: success,
        none: success,
        strangers_master: success,
        ..both("GET", path, 200)
    }
}

/// A route that needs no credential, ignores any, and takes a body.
const fn anyone(path: &'static str) -> Route {
    let success = Success(201);
    Route {
        method: "POST",
        master: success,
        project: success,
        test: success,
        viewer: success,
        revoked: success,
        none: success,
        strangers_master: success,
        strangers_project: success,
        ..open(path)
    }
}

fn new_key(project_id: &str) -> Value {
    json!({"project_id": project_id, "type": "project", "name": "a key"})
}

fn new_rule(_: &str) -> Value {
    json!({"type": "pattern", "name": "a rule", "pattern": "zebra"})
}

fn new_webhook(_: &str) -> Value {
    json!({"url": "https://example.com/hook"})
}

fn new_tier(_: &str) -> Value {
    json!({"name": unique_name()})
}

pub(crate) const ROUTES: &[Route] = &[
    Route {
        body: Some(|_| event()),
        ..both("POST", "/api/v1/events", 201)
    },
    Route {
        viewer: Success(200),
        ..both("GET", "/api/v1/events", 200)
    },
    Route {
        viewer: Success(200),
        ..both("GET", "/api/v1/events/summary", 200)
    },
    Route {
        viewer: Success(200),
        ..both("GET", "/api/v1/events/feed", 200)
    },
    Route {
        viewer: Success(200),
        ..both("GET", "/api/v1/events/export", 200)
    },
    // The event is a live one, so a test key of the same project does not find it.
    Route {
        target: Target::Event,
        test: NotFound,
        viewer: Success(200),
        strangers_project: NotFound,
        ..both("GET", "/api/v1/events/:id", 200)
    },
    Route {
        target: Target::Event,
        test: NotFound,
        viewer: Success(200),
        strangers_project: NotFound,
        ..both("GET", "/api/v1/events/:id/proof", 200)
    },
    Route {
        target: Target::Event,
        test: NotFound,
        viewer: Success(200),
        strangers_project: NotFound,
        ..both("GET", "/api/v1/events/:id/receipt", 200)
    },
    both("GET", "/api/v1/log/checkpoint", 200),
    // The key is that of the deployment, not of a project.
    Route {
        strangers_master: Success(200),
        ..both("GET", "/api/v1/log/key", 200)
    },
    Route {
        strangers_master: Success(200),
        ..both("GET", "/api/v1/log/key/rotations", 200)
    },
    Route {
        query: "?tenant_id=tenant-1",
        viewer: Success(200),
        ..both("GET", "/api/v1/log/completeness", 200)
    },
    both("GET", "/api/v1/log/tenants", 200),
    Route {
        query: "?from=0&to=0",
        ..both("GET", "/api/v1/log/consistency", 200)
    },
    // Each key has stored an event before, with the first route of this table.
    Route {
        target: Target::Tile,
        ..both("GET", "/api/v1/log/tile/:path", 200)
    },
    Route {
        body: Some(new_key),
        ..master("POST", "/api/v1/keys", 201)
    },
    // Without a project the list is that of the whole organization, so a stranger sees its own.
    Route {
        scope: Scope::Organization,
        strangers_master: Success(200),
        ..both("GET", "/api/v1/keys", 200)
    },
    Route {
        target: Target::Key,
        strangers_project: NotFound,
        ..both("GET", "/api/v1/keys/:id", 200)
    },
    Route {
        target: Target::Key,
        strangers_project: NotFound,
        ..both("DELETE", "/api/v1/keys/:id", 200)
    },
    Route {
        target: Target::Key,
        query: "?overlap=0",
        ..master("POST", "/api/v1/keys/:id/rotate", 201)
    },
    organization("GET", "/api/v1/master-keys", 200),
    Route {
        target: Target::MasterKey,
        strangers_master: NotFound,
        ..organization("GET", "/api/v1/master-keys/:id", 200)
    },
    Route {
        body: Some(|_| json!({"name": "another"})),
        ..organization("POST", "/api/v1/master-keys", 201)
    },
    Route {
        target: Target::MasterKey,
        query: "?overlap=0",
        strangers_master: NotFound,
        ..organization("POST", "/api/v1/master-keys/:id/rotate", 201)
    },
    Route {
        target: Target::MasterKey,
        strangers_master: NotFound,
        ..organization("DELETE", "/api/v1/master-keys/:id", 200)
    },
    both("GET", "/api/v1/redaction/rules", 200),
    Route {
        target: Target::Rule,
        strangers_project: NotFound,
        ..both("GET", "/api/v1/redaction/rules/:id", 200)
    },
    Route {
        body: Some(new_rule),
        ..master("POST", "/api/v1/redaction/rules", 201)
    },
    Route {
        target: Target::Rule,
        body: Some(|_| json!({"enabled": false})),
        ..master("PUT", "/api/v1/redaction/rules/:id", 200)
    },
    Route {
        target: Target::Rule,
        ..master("DELETE", "/api/v1/redaction/rules/:id", 200)
    },
    Route {
        body: Some(|_| json!({"event": {}})),
        ..both("POST", "/api/v1/redaction/test", 200)
    },
    // For live project keys alone; a master key belongs to an organization, and a token to a project.
    Route {
        body: Some(|_| json!({"tenant_id": "tenant-1"})),
        master: Forbidden,
        test: Forbidden,
        strangers_master: Forbidden,
        ..both("POST", "/api/v1/viewer-tokens", 201)
    },
    organization("GET", "/api/v1/projects", 200),
    Route {
        target: Target::Project,
        strangers_master: NotFound,
        ..organization("GET", "/api/v1/projects/:id", 200)
    },
    both("GET", "/api/v1/usage", 200),
    Route {
        viewer: Success(200),
        ..both("GET", "/api/v1/portal", 200)
    },
    Route {
        body: Some(|_| json!({"name": unique_name()})),
        ..master("PATCH", "/api/v1/portal", 200)
    },
    master("GET", "/api/v1/viewer-tiers", 200),
    Route {
        target: Target::Tier,
        ..master("GET", "/api/v1/viewer-tiers/:name", 200)
    },
    Route {
        body: Some(new_tier),
        ..master("POST", "/api/v1/viewer-tiers", 201)
    },
    Route {
        target: Target::Tier,
        body: Some(|_| json!({"hidden_fields": ["metadata"]})),
        ..master("PATCH", "/api/v1/viewer-tiers/:name", 200)
    },
    Route {
        target: Target::Tier,
        ..master("DELETE", "/api/v1/viewer-tiers/:name", 200)
    },
    both("GET", "/api/v1/alerts/rules", 200),
    Route {
        target: Target::AlertRule,
        strangers_project: NotFound,
        ..both("GET", "/api/v1/alerts/rules/:id", 200)
    },
    Route {
        body: Some(|_| alert_rule(json!({"action_pattern": "never.used"}))),
        ..master("POST", "/api/v1/alerts/rules", 201)
    },
    Route {
        target: Target::AlertRule,
        body: Some(|_| json!({"enabled": false})),
        ..master("PATCH", "/api/v1/alerts/rules/:id", 200)
    },
    Route {
        target: Target::AlertRule,
        ..master("DELETE", "/api/v1/alerts/rules/:id", 200)
    },
    both("GET", "/api/v1/alerts", 200),
    // The alert is of a live event, so a test key of the same project does not find it.
    Route {
        target: Target::Alert,
        test: NotFound,
        strangers_project: NotFound,
        ..both("GET", "/api/v1/alerts/:id", 200)
    },
    Route {
        target: Target::Alert,
        body: Some(|_| json!({"status": "acknowledged"})),
        test: NotFound,
        strangers_project: NotFound,
        ..both("PATCH", "/api/v1/alerts/:id", 200)
    },
    master("GET", "/api/v1/alerts/webhooks", 200),
    Route {
        target: Target::Webhook,
        ..master("GET", "/api/v1/alerts/webhooks/:id", 200)
    },
    Route {
        body: Some(new_webhook),
        ..master("POST", "/api/v1/alerts/webhooks", 201)
    },
    Route {
        target: Target::Webhook,
        body: Some(|_| json!({"enabled": true})),
        ..master("PATCH", "/api/v1/alerts/webhooks/:id", 200)
    },
    Route {
        target: Target::NewWebhook,
        ..master("DELETE", "/api/v1/alerts/webhooks/:id", 200)
    },
    Route {
        target: Target::Webhook,
        ..master("GET", "/api/v1/alerts/webhooks/:id/deliveries", 200)
    },
    Route {
        target: Target::Webhook,
        ..master("POST", "/api/v1/alerts/webhooks/:id/test", 202)
    },
    Route {
        target: Target::Webhook,
        ..master("POST", "/api/v1/alerts/webhooks/:id/rotate-secret", 200)
    },
    Route {
        target: Target::Delivery,
        ..master("GET", "/api/v1/alerts/deliveries/:id", 200)
    },
    Route {
        target: Target::Delivery,
        ..master("POST", "/api/v1/alerts/deliveries/:id/retry", 202)
    },
    Route {
        target: Target::Stream,
        body: Some(|_| event()),
        ..anyone("/api/v1/streams/:token/events")
    },
    Route {
        target: Target::Stream,
        ..open("/api/v1/streams/:token/info")
    },
    Route {
        target: Target::ClaimToken,
        ..master("POST", "/api/v1/streams/claim", 200)
    },
    // After all rows in which a master key names no project: from here on the organization has several.
    Route {
        body: Some(|_| json!({"name": "another"})),
        ..organization("POST", "/api/v1/projects", 201)
    },
    open("/healthz"),
    open("/readyz"),
    open("/metrics"),
    open("/api/v1/openapi.json"),
    open("/docs"),
    open("/docs/scalar.js"),
];
