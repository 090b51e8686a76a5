//! `/api/v1/alerts`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, Parameters, ProjectParameters};
use crate::parameters::{LIMIT_DEFAULT, read_limit, read_time};
use crate::reply::Reply;
use crate::schema::{AnyTime, Id, NameText, Text, Time, Uuid, Word, absent_not_null};
use actix_web::web;
use audit_app::{
    AlertAction, AlertChange, AlertFilter, AlertId, AlertInContext, AlertNote, AlertStatus, AlertsRequest,
    AppError, DistinctField, GroupBy, Severity,
};
use audit_auth::{Alerts, Keys};
use audit_domain::{Bound, Environment, EventId, Fields, limits};
use schemars::JsonSchema;
use serde::Serialize;

/// Alerts of a page, at most.
const ALERTS_MAX: usize = 100;

/// An alert: a rule fired for a group of events.
#[derive(JsonSchema)]
#[schemars(rename = "Alert")]
#[expect(dead_code, reason = "describes what is sent: an `AlertInContext`")]
pub(crate) struct AlertBody {
    id: Id<AlertId>,
    /// The rule that fired.
    rule_id: String,
    /// The name of the rule at that time.
    rule_name: NameText,
    /// The severity of the rule at that time.
    severity: Word<Severity>,
    status: Word<AlertStatus>,
    /// The tenant of the events.
    #[schemars(extend("x-additive" = true))]
    tenant_id: String,
    /// The field by which the rule grouped events at that time.
    #[schemars(extend("x-additive" = true))]
    group_by: Word<GroupBy>,
    /// The value of that field in the events that reached the threshold, as stored.
    group_key: String,
    /// The field whose distinct values the rule counted at that time; absent if it counted events.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Word<DistinctField>", extend("x-additive" = true))]
    count_distinct: Option<Word<DistinctField>>,
    /// How many matching events were in the window when the rule fired; with `count_distinct` how many values, up to the threshold.
    event_count: u64,
    /// The newest ones, newest first; with `count_distinct` one for each value.
    #[schemars(length(max = 10))]
    sample_event_ids: Vec<Id<EventId>>,
    fired_at: Time,
    /// `null` until it is acknowledged.
    acknowledged_at: Option<Time>,
    /// `null` until it is resolved.
    resolved_at: Option<Time>,
    #[schemars(extend("x-additive" = true))]
    project_id: Uuid,
    /// The present name of the project.
    #[schemars(extend("x-additive" = true))]
    project_name: NameText,
    /// The environment of the events.
    #[schemars(extend("x-additive" = true))]
    environment: Word<Environment>,
    /// The name of the actor in the newest sample event, as stored; only if the rule groups by actor, and the key has the scope `events:read`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Text<0, { limits::NAME_CHARS_MAX }>", extend("x-additive" = true))]
    actor_name: Option<String>,
    /// Where the console shows the alert; absent unless the operator has set `AUDIT_PUBLIC_URL`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("x-additive" = true))]
    url: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AlertPage")]
pub(super) struct AlertsBody {
    #[schemars(with = "Vec<AlertBody>")]
    alerts: Vec<AlertInContext>,
    /// Asks for the next page; `null` on the last.
    cursor: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AlertResult")]
pub(super) struct OneAlertBody {
    #[schemars(with = "AlertBody")]
    alert: AlertInContext,
}

/// Which alerts, and how many of them.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct AlertsQuery {
    /// Exactly this rule.
    #[schemars(example = &"auth_brute_force")]
    rule_id: Option<Text<1, { limits::ID_CHARS_MAX }>>,
    #[schemars(example = &"high")]
    severity: Option<Word<Severity>>,
    #[schemars(example = &"open")]
    status: Option<Word<AlertStatus>>,
    /// Alerts that fired at this time or later: ISO 8601 with an
    /// offset, or a date alone, which is its first instant in UTC.
    #[schemars(example = &"2026-01-15T00:00:00Z")]
    start_date: Option<AnyTime>,
    /// Alerts that fired at this time or earlier: ISO 8601 with an
    /// offset, or a date alone, which is its last instant in UTC.
    #[schemars(example = &"2026-01-15T23:59:59.999Z")]
    end_date: Option<AnyTime>,
    /// From an earlier response to the same query.
    cursor: Option<String>,
    /// Alerts of a page.
    #[schemars(range(min = 1, max = ALERTS_MAX), extend("default" = LIMIT_DEFAULT), example = 50)]
    limit: Option<u32>,
}

/// The new status of an alert, a note, or both.
#[derive(JsonSchema)]
#[schemars(rename = "AlertChange", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ChangeInput {
    /// Required without `note`. An alert cannot be reopened.
    status: Option<Word<AlertAction>>,
    /// What was found. Without control characters.
    #[schemars(extend("x-additive" = true))]
    note: Option<Text<1, { AlertNote::CHARS_MAX }>>,
}

impl Fielded for AlertsQuery {
    type Read = AlertsRequest;

    fn read(fields: &mut Fields<'_>) -> Option<AlertsRequest> {
        let filter = AlertFilter {
            rule_id: fields.optional_text("rule_id", 1, limits::ID_CHARS_MAX),
            severity: fields.optional_parsed("severity"),
            status: fields.optional_parsed("status"),
            start: read_time(fields, "start_date", Bound::Start),
            end: read_time(fields, "end_date", Bound::End),
        };
        let cursor = fields.optional_text("cursor", 0, usize::MAX);
        let limit = read_limit(fields, ALERTS_MAX)?;
        Some(AlertsRequest {
            filter,
            cursor,
            limit,
        })
    }
}

impl Fielded for ChangeInput {
    type Read = AlertChange;

    fn read(fields: &mut Fields<'_>) -> Option<AlertChange> {
        Some(AlertChange {
            action: fields.optional_parsed("status"),
            note: fields.optional_parsed("note"),
        })
    }
}

fn id_in(path: &str) -> Result<AlertId, AppError> {
    path.parse().map_err(|_| AppError::NotFound("alert"))
}

/// One page of alerts.
pub(super) async fn list(
    caller: Caller<Keys<Alerts>>,
    parameters: Parameters<AlertsQuery>,
) -> Result<Reply<AlertsBody>, ApiError> {
    let (selection, query) = parameters.read()?;
    let response = caller
        .read(move |service, principal| service.alerts(&principal, selection, &query))
        .await?;
    Ok(Reply::ok(AlertsBody {
        has_more: response.cursor.is_some(),
        alerts: response.alerts,
        cursor: response.cursor,
    }))
}

/// One alert.
pub(super) async fn get(
    caller: Caller<Keys<Alerts>>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<OneAlertBody>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let alert = caller.run(move |service, principal| service.alert(&principal, selection, id));
    Ok(Reply::ok(OneAlertBody { alert: alert.await? }))
}

/// Acknowledges or resolves an alert, or records a note.
pub(super) async fn change(
    caller: Caller<Keys<Alerts>>,
    parameters: ProjectParameters,
    id: web::Path<String>,
    body: JsonBody<ChangeInput>,
) -> Result<Reply<OneAlertBody>, ApiError> {
    let selection = parameters.read()?;
    let change = body.read(caller.room()).await?;
    let id = id_in(&id)?;
    let alert = caller
        .run(move |service, principal| service.change_alert(&principal, selection, id, change))
        .await?;
    Ok(Reply::ok(OneAlertBody { alert }))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::schema::Id;
    use audit_app::AlertId;

    fn id() -> Option<PathParameter> {
        Some(PathParameter {
            description: "The id of the alert.",
            schema: |generator| generator.subschema_for::<Id<AlertId>>(),
            example: "alt_01M7YBDWMHPH3PBPJD17B5KSK0",
            refusal: ErrorCode::NotFound,
        })
    }

    pub(crate) fn list() -> About {
        About {
            description: "Newest first: `fired_at` descending, then id descending. An alert must meet every \
                          parameter that is given. A project key sees the alerts of its own environment.",
            outcome: "One page of alerts.",
            responses: &[Sample(
                "example",
                r#"{"alerts": [{
                    "id": "alt_01M7YBDWMHPH3PBPJD17B5KSK0", "rule_id": "auth_brute_force", "rule_name": "Auth Brute Force",
                    "severity": "high", "status": "open", "tenant_id": "acme", "group_by": "actor_id",
                    "group_key": "user_3", "event_count": 5,
                    "sample_event_ids": ["evt_01M7YBDWMHNWK91QZQDZCEC02X", "evt_01M7YBDWM4JT39PVR6Q7GX6GD5"],
                    "fired_at": "2026-01-15T10:30:00.513Z", "acknowledged_at": null, "resolved_at": null,
                    "project_id": "8aefe29f-cd1a-4802-85e0-718cd30d0f63",
                    "project_name": "default", "environment": "live", "actor_name": "Ada Lovelace",
                    "url": "https://audit.example.com/console#/alerts?alert=alt_01M7YBDWMHPH3PBPJD17B5KSK0&project=8aefe29f-cd1a-4802-85e0-718cd30d0f63&environment=live"
                }], "cursor": "AQGh_LbykbRHZdpNCdZZ5mBwSfB5FUAPoW-h7-Q", "has_more": true}"#,
            )],
            ..About::new("list_alerts", Tag::Alerts, "Read alerts")
        }
    }

    pub(crate) fn get() -> About {
        About {
            description: "A project key finds the alerts of its own environment only.",
            path: id(),
            outcome: "The alert.",
            responses: &[Sample(
                "example",
                r#"{"alert": {
                    "id": "alt_01M7YBDWMHPH3PBPJD17B5KSK0", "rule_id": "auth_brute_force", "rule_name": "Auth Brute Force",
                    "severity": "high", "status": "open", "tenant_id": "acme", "group_by": "actor_id",
                    "group_key": "user_3", "event_count": 5,
                    "sample_event_ids": ["evt_01M7YBDWMHNWK91QZQDZCEC02X", "evt_01M7YBDWM4JT39PVR6Q7GX6GD5"],
                    "fired_at": "2026-01-15T10:30:00.513Z", "acknowledged_at": null, "resolved_at": null,
                    "project_id": "8aefe29f-cd1a-4802-85e0-718cd30d0f63",
                    "project_name": "default", "environment": "live", "actor_name": "Ada Lovelace",
                    "url": "https://audit.example.com/console#/alerts?alert=alt_01M7YBDWMHPH3PBPJD17B5KSK0&project=8aefe29f-cd1a-4802-85e0-718cd30d0f63&environment=live"
                }}"#,
            )],
            is_additive: true,
            ..About::new("get_alert", Tag::Alerts, "Read one alert")
        }
    }

    pub(crate) fn change() -> About {
        About {
            description: "An open alert can be acknowledged or resolved, an acknowledged one resolved. The same \
                          status again is 200 and changes nothing. A resolved alert cannot be acknowledged (409), \
                          and no alert can be reopened. A `note` is stored in the event `audit.alert.updated` of the \
                          change, which has no `changes` where the status stays, and nowhere else: those with the \
                          alert as `target_id` are its history. Redaction rules with a pattern apply to it. While \
                          the operator has switched the service's own events off, a note is refused (409).",
            path: id(),
            requests: &[
                Sample("example", r#"{"status": "acknowledged"}"#),
                Sample(
                    "note",
                    r#"{"status": "resolved", "note": "It was the backup job."}"#,
                ),
            ],
            outcome: "The changed alert.",
            responses: &[Sample(
                "example",
                r#"{"alert": {
                    "id": "alt_01M7YBDWMHPH3PBPJD17B5KSK0", "rule_id": "auth_brute_force", "rule_name": "Auth Brute Force",
                    "severity": "high", "status": "acknowledged", "tenant_id": "acme", "group_by": "actor_id",
                    "group_key": "user_3", "event_count": 5,
                    "sample_event_ids": ["evt_01M7YBDWMHNWK91QZQDZCEC02X", "evt_01M7YBDWM4JT39PVR6Q7GX6GD5"],
                    "fired_at": "2026-01-15T10:30:00.513Z", "acknowledged_at": "2026-01-15T10:31:00.549Z",
                    "resolved_at": null, "project_id": "8aefe29f-cd1a-4802-85e0-718cd30d0f63",
                    "project_name": "default", "environment": "live", "actor_name": "Ada Lovelace",
                    "url": "https://audit.example.com/console#/alerts?alert=alt_01M7YBDWMHPH3PBPJD17B5KSK0&project=8aefe29f-cd1a-4802-85e0-718cd30d0f63&environment=live"
                }}"#,
            )],
            errors: &[
                ErrorCode::InvalidTransition,
                ErrorCode::Conflict,
                ErrorCode::RateLimited,
            ],
            ..About::new("update_alert", Tag::Alerts, "Acknowledge or resolve an alert")
        }
    }
}
