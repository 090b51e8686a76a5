//! `/api/v1/alerts/rules`.

use crate::caller::{Caller, Keys, Master};
use crate::error::ApiError;
use crate::input::{JsonBody, read_selection};
use crate::reply::{Deleted, Reply};
use actix_web::{HttpRequest, web};
use audit_app::{AlertRule, AlertRuleId, AppError, RuleChange, RuleDefinition, RuleOrigin};
use audit_auth::Principal;
use audit_domain::Fields;
use serde::Serialize;

#[derive(Serialize)]
struct RuleBody {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    action_pattern: String,
    threshold: u32,
    window_seconds: u32,
    group_by: &'static str,
    severity: &'static str,
    enabled: bool,
    cooldown_seconds: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
}

#[derive(Serialize)]
pub(super) struct OneRuleBody {
    rule: RuleBody,
}

#[derive(Serialize)]
pub(super) struct RulesBody {
    rules: Vec<RuleBody>,
}

impl From<AlertRule> for RuleBody {
    fn from(rule: AlertRule) -> Self {
        let (kind, created_at) = match rule.origin() {
            RuleOrigin::Builtin(_) => ("builtin", None),
            RuleOrigin::Custom { created_at, .. } => ("custom", Some(created_at.to_string())),
        };
        let definition = rule.definition();
        Self {
            id: rule.id().to_string(),
            kind,
            name: definition.name.to_string(),
            action_pattern: definition.action_pattern.to_string(),
            threshold: definition.threshold.get(),
            window_seconds: definition.window_seconds.get(),
            group_by: definition.group_by.as_str(),
            severity: definition.severity.as_str(),
            enabled: definition.enabled,
            cooldown_seconds: definition.cooldown_seconds.get(),
            created_at,
        }
    }
}

fn read_definition(fields: &mut Fields<'_>) -> Option<RuleDefinition> {
    // All of them first, so that every one that is not as it must be is told.
    let name = fields.required_parsed("name");
    let action_pattern = fields.required_parsed("action_pattern");
    let threshold = fields.required_number("threshold");
    let window_seconds = fields.required_number("window_seconds");
    let group_by = fields.required_parsed("group_by");
    let severity = fields.required_parsed("severity");
    let enabled = fields.optional_bool("enabled").unwrap_or(true);
    let cooldown_seconds = fields.optional_number("cooldown_seconds").unwrap_or_default();
    Some(RuleDefinition {
        name: name?,
        action_pattern: action_pattern?,
        threshold: threshold?,
        window_seconds: window_seconds?,
        group_by: group_by?,
        severity: severity?,
        enabled,
        cooldown_seconds,
    })
}

fn read_change(fields: &mut Fields<'_>) -> Option<RuleChange> {
    Some(RuleChange {
        name: fields.optional_parsed("name"),
        action_pattern: fields.optional_parsed("action_pattern"),
        threshold: fields.optional_number("threshold"),
        window_seconds: fields.optional_number("window_seconds"),
        group_by: fields.optional_parsed("group_by"),
        severity: fields.optional_parsed("severity"),
        enabled: fields.optional_bool("enabled"),
        cooldown_seconds: fields.optional_number("cooldown_seconds"),
    })
}

fn id_in(path: &str) -> Result<AlertRuleId, AppError> {
    path.parse().map_err(|_| AppError::NotFound("alert rule"))
}

/// Lists the project's rules.
pub(super) async fn list(caller: Caller<Keys>, request: HttpRequest) -> Result<Reply<RulesBody>, ApiError> {
    let selection = read_selection(&request)?;
    let rules = caller
        .run(move |service, principal| service.alert_rules(&principal, selection))
        .await?;
    Ok(Reply::ok(RulesBody {
        rules: rules.into_iter().map(RuleBody::from).collect(),
    }))
}

/// Makes a custom rule.
pub(super) async fn create(
    caller: Caller<Master>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<Reply<OneRuleBody>, ApiError> {
    let selection = read_selection(&request)?;
    let definition = body.read(read_definition)?;
    let made = caller.run(move |service, master| {
        service.create_alert_rule(&Principal::Master(master), selection, definition)
    });
    Ok(Reply::created(OneRuleBody {
        rule: made.await?.into(),
    }))
}

/// Changes a rule.
pub(super) async fn change(
    caller: Caller<Master>,
    request: HttpRequest,
    id: web::Path<String>,
    body: JsonBody,
) -> Result<Reply<OneRuleBody>, ApiError> {
    let selection = read_selection(&request)?;
    let change = body.read(read_change)?;
    let id = id_in(&id)?;
    let changed = caller.run(move |service, master| {
        service.change_alert_rule(&Principal::Master(master), selection, id, change)
    });
    Ok(Reply::ok(OneRuleBody {
        rule: changed.await?.into(),
    }))
}

/// Deletes a custom rule.
pub(super) async fn delete(
    caller: Caller<Master>,
    request: HttpRequest,
    id: web::Path<String>,
) -> Result<Reply<Deleted>, ApiError> {
    let selection = read_selection(&request)?;
    let id = id_in(&id)?;
    let deleted = caller
        .run(move |service, master| service.delete_alert_rule(&Principal::Master(master), selection, id));
    deleted.await?;
    Ok(Reply::deleted())
}
