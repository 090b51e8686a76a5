//! What each route that can change something records.

use audit_tests::{Answer, Client, Organization, Request, Stream, alert_rule, event};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The path of the URLs of webhooks here. It is a secret of the receiver.
pub(crate) const WEBHOOK_SECRET_PATH: &str = "/services/T0G9PQBBK";

/// A route, and what a request to it records.
pub(crate) struct Case {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) recorded: Recorded,
}

/// What is recorded.
#[derive(Clone, Copy)]
pub(crate) enum Recorded {
    /// One event of this action, for the prepared request.
    As(&'static str, fn(&Organization) -> Prepared),
    /// Nothing, for this reason.
    Nothing(&'static str),
}

/// Finds the target of an event, by the response.
type FindTarget = Box<dyn Fn(Option<&Answer>) -> Value>;

/// A request whose objects exist.
pub(crate) struct Prepared {
    pub(crate) send: Request,
    pub(crate) by_project_key: bool,
    /// The id of the target of the event.
    pub(crate) target_of: FindTarget,
    /// The project whose log has the event, if it is not that of the organization.
    pub(crate) project_of: fn(Option<&Answer>) -> Option<String>,
}

impl Case {
    /// As `audit-server routes` prints it.
    pub(crate) fn route(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

thread_local! {
    /// The tokens of the streams that were claimed, by project.
    static CLAIMED: RefCell<BTreeMap<String, String>> = const { RefCell::new(BTreeMap::new()) };
}

/// The token of the stream that an organization has claimed.
pub(crate) fn claim_token_of(organization: &Organization) -> Option<String> {
    CLAIMED.with_borrow(|claimed| claimed.get(&organization.project_id).cloned())
}

/// A request whose target is known.
fn on(request: Request, target: Value) -> Prepared {
    Prepared {
        send: request,
        by_project_key: false,
        target_of: Box::new(move |_| target.clone()),
        project_of: |_| None,
    }
}

/// A request that creates its target; `pointer` finds its id in the response.
fn creating(request: Request, pointer: &'static str) -> Prepared {
    Prepared {
        target_of: Box::new(move |answer| {
            let body = answer.expect("a response in JSON").body();
            let id = body.pointer(pointer);
            id.unwrap_or_else(|| panic!("{pointer} in {body}")).clone()
        }),
        ..on(request, Value::Null)
    }
}

fn path(resource: &str, id: &Value, rest: &str) -> String {
    format!("{resource}/{}{rest}", id.as_str().expect("an id"))
}

fn key(organization: &Organization) -> Value {
    let key = organization.create_key("live");
    super::id_of_key(&organization.master(), "/keys", "keys", &key)["id"].clone()
}

fn master_key(organization: &Organization) -> Value {
    let body = json!({"name": "another"});
    let answer = organization.master().post("/master-keys").json(body).send();
    answer.expect_status(201)["id"].clone()
}

fn rule(organization: &Organization) -> Value {
    let rule = json!({"type": "pattern", "name": "a rule", "pattern": "acme-[0-9]+"});
    organization.create_rule(rule)["id"].clone()
}

fn custom_alert_rule(organization: &Organization) -> Value {
    organization.create_alert_rule(alert_rule(json!({})))["id"].clone()
}

fn webhook(organization: &Organization) -> Value {
    let url = format!("https://127.0.0.1:1{WEBHOOK_SECRET_PATH}");
    organization.create_webhook(&url)["id"].clone()
}

fn tier(master: &Client) {
    let body = json!({"name": "support"});
    master.post("/viewer-tiers").json(body).send().expect_status(201);
}

macro_rules! cases {
    ($($method:ident $path:literal => $recorded:expr),+ $(,)?) => {
        &[$(Case { method: stringify!($method), path: $path, recorded: $recorded }),+]
    };
}

use Recorded::{As, Nothing};

/// The table.
pub(crate) const CASES: &[Case] = cases! {
    POST "/api/v1/events" => Nothing("it is an event already"),
    GET "/api/v1/events/export" => As("audit.events.exported", |of| Prepared {
        by_project_key: true,
        ..on(of.project().get("/events/export"), json!(of.project_id))
    }),
    POST "/api/v1/keys" => As("audit.api_key.created", |of| {
        let body = json!({"project_id": of.project_id, "type": "project", "name": "k", "scopes": ["admin"]});
        creating(of.master().post("/keys").json(body), "/id")
    }),
    DELETE "/api/v1/keys/:id" => As("audit.api_key.revoked", |of| {
        let id = key(of);
        Prepared { by_project_key: true, ..on(of.project().delete(&path("/keys", &id, "")), id) }
    }),
    POST "/api/v1/keys/:id/rotate" => As("audit.api_key.rotated", |of| {
        let id = key(of);
        on(of.master().post(&path("/keys", &id, "/rotate")).query("overlap", "60"), id)
    }),
    POST "/api/v1/master-keys" => As("audit.master_key.created", |of| {
        creating(of.master().post("/master-keys").json(json!({"name": "m"})), "/id")
    }),
    DELETE "/api/v1/master-keys/:id" => As("audit.master_key.revoked", |of| {
        let id = master_key(of);
        on(of.master().delete(&path("/master-keys", &id, "")), id)
    }),
    POST "/api/v1/master-keys/:id/rotate" => As("audit.master_key.rotated", |of| {
        let id = master_key(of);
        on(of.master().post(&path("/master-keys", &id, "/rotate")).query("overlap", "60"), id)
    }),
    POST "/api/v1/projects" => As("audit.project.created", |of| Prepared {
        project_of: |answer| Some(answer?.body().pointer("/project/id")?.as_str()?.to_owned()),
        ..creating(of.master().post("/projects").json(json!({"name": "another"})), "/project/id")
    }),
    POST "/api/v1/redaction/rules" => As("audit.redaction_rule.created", |of| {
        let body = json!({"type": "field_redact", "name": "f", "fields": ["metadata.ssn"]});
        creating(of.master().post("/redaction/rules").json(body), "/rule/id")
    }),
    PUT "/api/v1/redaction/rules/:id" => As("audit.redaction_rule.updated", |of| {
        let id = rule(of);
        on(of.master().put(&path("/redaction/rules", &id, "")).json(json!({"enabled": false})), id)
    }),
    DELETE "/api/v1/redaction/rules/:id" => As("audit.redaction_rule.deleted", |of| {
        let id = rule(of);
        on(of.master().delete(&path("/redaction/rules", &id, "")), id)
    }),
    POST "/api/v1/redaction/test" => Nothing("it stores nothing"),
    POST "/api/v1/viewer-tokens" => As("audit.viewer_token.created", |of| Prepared {
        by_project_key: true,
        ..on(of.project().post("/viewer-tokens").json(json!({"tenant_id": "acme"})), json!("acme"))
    }),
    PATCH "/api/v1/portal" => As("audit.portal.updated", |of| {
        on(of.master().patch("/portal").json(json!({"name": "Acme"})), json!(of.project_id))
    }),
    POST "/api/v1/viewer-tiers" => As("audit.viewer_tier.created", |of| {
        on(of.master().post("/viewer-tiers").json(json!({"name": "support"})), json!("support"))
    }),
    PATCH "/api/v1/viewer-tiers/:name" => As("audit.viewer_tier.updated", |of| {
        tier(&of.master());
        let body = json!({"categories": ["auth"]});
        on(of.master().patch("/viewer-tiers/support").json(body), json!("support"))
    }),
    DELETE "/api/v1/viewer-tiers/:name" => As("audit.viewer_tier.deleted", |of| {
        tier(&of.master());
        on(of.master().delete("/viewer-tiers/support"), json!("support"))
    }),
    POST "/api/v1/alerts/rules" => As("audit.alert_rule.created", |of| {
        creating(of.master().post("/alerts/rules").json(alert_rule(json!({}))), "/rule/id")
    }),
    PATCH "/api/v1/alerts/rules/:id" => As("audit.alert_rule.updated", |of| {
        let id = json!("auth_brute_force");
        on(of.master().patch(&path("/alerts/rules", &id, "")).json(json!({"enabled": false})), id)
    }),
    DELETE "/api/v1/alerts/rules/:id" => As("audit.alert_rule.deleted", |of| {
        let id = custom_alert_rule(of);
        on(of.master().delete(&path("/alerts/rules", &id, "")), id)
    }),
    POST "/api/v1/alerts/webhooks" => As("audit.webhook.created", |of| {
        let body = json!({"url": format!("https://127.0.0.1:1{WEBHOOK_SECRET_PATH}")});
        creating(of.master().post("/alerts/webhooks").json(body), "/webhook/id")
    }),
    PATCH "/api/v1/alerts/webhooks/:id" => As("audit.webhook.updated", |of| {
        let id = webhook(of);
        let body = json!({"url": format!("https://127.0.0.1:1{WEBHOOK_SECRET_PATH}?a=b")});
        on(of.master().patch(&path("/alerts/webhooks", &id, "")).json(body), id)
    }),
    DELETE "/api/v1/alerts/webhooks/:id" => As("audit.webhook.deleted", |of| {
        let id = webhook(of);
        on(of.master().delete(&path("/alerts/webhooks", &id, "")), id)
    }),
    POST "/api/v1/alerts/webhooks/:id/rotate-secret" => As("audit.webhook.secret_rotated", |of| {
        let id = webhook(of);
        on(of.master().post(&path("/alerts/webhooks", &id, "/rotate-secret")), id)
    }),
    POST "/api/v1/alerts/webhooks/:id/test" => Nothing("it changes no setting, and the delivery is listed"),
    POST "/api/v1/alerts/deliveries/:id/retry" => Nothing("it changes no setting, and the attempt is listed"),
    PATCH "/api/v1/alerts/:id" => As("audit.alert.updated", |of| {
        of.create_alert_rule(alert_rule(json!({})));
        let id = of.raise_alert()["id"].clone();
        let body = json!({"status": "acknowledged"});
        let request = of.project().patch(&path("/alerts", &id, "")).json(body);
        Prepared { by_project_key: true, ..on(request, id) }
    }),
    POST "/api/v1/streams/claim" => As("audit.stream.claimed", |of| {
        let stream = Stream::of(&of.anonymous().with_address(&audit_tests::address()));
        stream.store(event());
        CLAIMED.with_borrow_mut(|claimed| claimed.insert(of.project_id.clone(), stream.token.clone()));
        on(stream.claim(&of.master()), json!(super::atomicity::sha256(&stream.token)))
    }),
    POST "/api/v1/streams/:token/events" => Nothing("the events are of no project yet"),
};
