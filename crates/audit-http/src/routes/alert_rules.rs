//! `/api/v1/alerts/rules`.

use super::rule_conditions::{ConditionsBody, ConditionsInput, read_conditions};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, ProjectParameters};
use crate::reply::{Created, Deleted, Reply};
use crate::schema::{GlobText, NameText, Nullable, Time, Word, absent_not_null};
use actix_web::web;
use audit_app::{
    AlertRule, AlertRuleId, AppError, BuiltinRule, CooldownSeconds, DistinctField, GroupBy, RuleChange,
    RuleConditions, RuleDefinition, RuleOrigin, Severity, SuppressedAlerts, Threshold, WindowSeconds,
};
use audit_auth::{Alerts, Keys, Master};
use audit_domain::Fields;
use schemars::JsonSchema;
use serde::Serialize;

/// The types of rules.
const BUILTIN: &str = "builtin";
const CUSTOM: &str = "custom";

/// The properties of a new custom rule. Numbers are written as whole ones: `5`, not `5.0`.
#[derive(JsonSchema)]
#[schemars(rename = "AlertRuleInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct NewRuleInput {
    name: NameText,
    /// Which actions count; `*` stands for any characters, dots included. An action must match as a whole.
    action_pattern: GlobText,
    /// The number of matching events of a group, or with `count_distinct` of values, that raises an alert.
    #[schemars(range(min = Threshold::MIN.get(), max = Threshold::MAX.get()))]
    threshold: u32,
    /// The length of the window, in seconds.
    #[schemars(range(min = WindowSeconds::MIN.get(), max = WindowSeconds::MAX.get()))]
    window_seconds: u32,
    group_by: Word<GroupBy>,
    /// Counts distinct values of this field instead of events: another than `group_by`, up to a threshold of 500. An event without the
    /// field does not count.
    #[schemars(extend("x-additive" = true))]
    count_distinct: Option<Word<DistinctField>>,
    severity: Word<Severity>,
    #[schemars(extend("default" = true))]
    enabled: Option<bool>,
    /// Seconds after an alert in which the group raises none.
    #[schemars(
        range(min = CooldownSeconds::MIN.get(), max = CooldownSeconds::MAX.get()),
        extend("default" = CooldownSeconds::default().get())
    )]
    cooldown_seconds: Option<u32>,
    #[schemars(flatten)]
    conditions: ConditionsInput,
}

/// Changes of a rule. Absent fields keep their values. Of a built-in rule the name, the pattern, the
/// grouping, `count_distinct` and the severity cannot change.
#[derive(JsonSchema)]
#[schemars(rename = "AlertRuleChange", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct RuleChangeInput {
    name: Option<NameText>,
    action_pattern: Option<GlobText>,
    #[schemars(range(min = Threshold::MIN.get(), max = Threshold::MAX.get()))]
    threshold: Option<u32>,
    #[schemars(range(min = WindowSeconds::MIN.get(), max = WindowSeconds::MAX.get()))]
    window_seconds: Option<u32>,
    group_by: Option<Word<GroupBy>>,
    /// `null` counts events again.
    #[schemars(extend("x-additive" = true))]
    count_distinct: Option<Nullable<Word<DistinctField>>>,
    severity: Option<Word<Severity>>,
    enabled: Option<bool>,
    #[schemars(range(min = CooldownSeconds::MIN.get(), max = CooldownSeconds::MAX.get()))]
    cooldown_seconds: Option<u32>,
    #[schemars(flatten)]
    conditions: ConditionsInput,
}

/// A rule by which events raise alerts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AlertRule")]
struct RuleBody {
    /// A word for a built-in rule, a UUID for a custom one.
    id: String,
    #[serde(rename = "type")]
    #[schemars(extend("enum" = [BUILTIN, CUSTOM]))]
    kind: &'static str,
    #[schemars(with = "NameText")]
    name: String,
    /// Which actions count; `*` stands for any characters, dots included.
    #[schemars(with = "GlobText")]
    action_pattern: String,
    /// Further patterns of a built-in rule: an action that one of them matches counts too.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schemars(with = "Vec<GlobText>", extend("x-additive" = true))]
    further_action_patterns: &'static [&'static str],
    /// Patterns of a built-in rule for failures: an action that one of them matches counts if the outcome is `failure` or `denied`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schemars(with = "Vec<GlobText>", extend("x-additive" = true))]
    failed_action_patterns: &'static [&'static str],
    /// The number of matching events of a group, or with `count_distinct` of values, that raises an alert.
    #[schemars(range(min = Threshold::MIN.get(), max = Threshold::MAX.get()))]
    threshold: u32,
    /// The length of the window, in seconds.
    #[schemars(range(min = WindowSeconds::MIN.get(), max = WindowSeconds::MAX.get()))]
    window_seconds: u32,
    #[schemars(with = "Word<GroupBy>")]
    group_by: &'static str,
    /// The field whose distinct values count; absent if events count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Word<DistinctField>", extend("x-additive" = true))]
    count_distinct: Option<&'static str>,
    #[schemars(with = "Word<Severity>")]
    severity: &'static str,
    enabled: bool,
    /// Seconds after an alert in which the group raises none.
    #[schemars(range(min = CooldownSeconds::MIN.get(), max = CooldownSeconds::MAX.get()))]
    cooldown_seconds: u32,
    /// The conditions that the rule has.
    #[serde(flatten)]
    conditions: ConditionsBody,
    /// Of custom rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time")]
    created_at: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AlertRuleResult")]
pub(super) struct OneRuleBody {
    rule: RuleBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AlertRuleList")]
pub(super) struct RulesBody {
    rules: Vec<RuleBody>,
    /// The last minute in which the rules raised more alerts than a minute may have; absent if there was none within a week.
    #[serde(skip_serializing_if = "Option::is_none")]
    suppressed_alerts: Option<SuppressedBody>,
}

/// Alerts of a minute that were counted, but not raised.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SuppressedAlerts")]
struct SuppressedBody {
    /// Their number.
    count: u64,
    /// The beginning of the minute.
    #[schemars(with = "Time")]
    minute: String,
}

impl From<SuppressedAlerts> for SuppressedBody {
    fn from(suppressed: SuppressedAlerts) -> Self {
        Self {
            count: suppressed.count,
            minute: suppressed.minute.to_string(),
        }
    }
}

impl From<AlertRule> for RuleBody {
    fn from(rule: AlertRule) -> Self {
        let (kind, builtin, created_at) = match rule.origin() {
            RuleOrigin::Builtin(builtin) => (BUILTIN, Some(builtin), None),
            RuleOrigin::Custom { created_at, .. } => (CUSTOM, None, Some(created_at.to_string())),
        };
        let definition = rule.definition();
        Self {
            id: rule.id().to_string(),
            kind,
            name: definition.name.to_string(),
            action_pattern: definition.action_pattern.to_string(),
            further_action_patterns: builtin.map_or(&[][..], BuiltinRule::further_action_patterns),
            failed_action_patterns: builtin.map_or(&[][..], BuiltinRule::failed_action_patterns),
            threshold: definition.threshold.get(),
            window_seconds: definition.window_seconds.get(),
            group_by: definition.group_by.as_str(),
            count_distinct: definition.count_distinct.map(DistinctField::as_str),
            severity: definition.severity.as_str(),
            enabled: definition.enabled,
            cooldown_seconds: definition.cooldown_seconds.get(),
            conditions: ConditionsBody::from(&definition.conditions),
            created_at,
        }
    }
}

impl Fielded for NewRuleInput {
    type Read = RuleDefinition;

    fn read(fields: &mut Fields<'_>) -> Option<RuleDefinition> {
        // Read all fields first, so that every violation is reported.
        let name = fields.required_parsed("name");
        let action_pattern = fields.required_parsed("action_pattern");
        let threshold = fields.required_number("threshold");
        let window_seconds = fields.required_number("window_seconds");
        let group_by = fields.required_parsed("group_by");
        let count_distinct = fields.optional_parsed("count_distinct");
        let severity = fields.required_parsed("severity");
        let enabled = fields.optional_bool("enabled").unwrap_or(true);
        let cooldown_seconds = fields.optional_number("cooldown_seconds").unwrap_or_default();
        let conditions = read_conditions(fields).into_iter();
        let conditions = conditions.fold(RuleConditions::default(), |all, (of, values)| {
            all.with(of, values)
        });
        Some(RuleDefinition {
            name: name?,
            action_pattern: action_pattern?,
            threshold: threshold?,
            window_seconds: window_seconds?,
            group_by: group_by?,
            count_distinct,
            severity: severity?,
            enabled,
            cooldown_seconds,
            conditions,
        })
    }
}

impl Fielded for RuleChangeInput {
    type Read = RuleChange;

    fn read(fields: &mut Fields<'_>) -> Option<RuleChange> {
        Some(RuleChange {
            name: fields.optional_parsed("name"),
            action_pattern: fields.optional_parsed("action_pattern"),
            threshold: fields.optional_number("threshold"),
            window_seconds: fields.optional_number("window_seconds"),
            group_by: fields.optional_parsed("group_by"),
            count_distinct: match fields.take_null("count_distinct") {
                true => Some(None),
                false => fields.optional_parsed("count_distinct").map(Some),
            },
            severity: fields.optional_parsed("severity"),
            enabled: fields.optional_bool("enabled"),
            cooldown_seconds: fields.optional_number("cooldown_seconds"),
            conditions: read_conditions(fields),
        })
    }
}

fn id_in(path: &str) -> Result<AlertRuleId, AppError> {
    path.parse().map_err(|_| AppError::NotFound("alert rule"))
}

/// Lists the project's rules.
pub(super) async fn list(
    caller: Caller<Keys<Alerts>>,
    parameters: ProjectParameters,
) -> Result<Reply<RulesBody>, ApiError> {
    let selection = parameters.read()?;
    let found = caller
        .run(move |service, principal| service.alert_rules(&principal, selection))
        .await?;
    Ok(Reply::ok(RulesBody {
        rules: found.rules.into_iter().map(RuleBody::from).collect(),
        suppressed_alerts: found.suppressed_alerts.map(SuppressedBody::from),
    }))
}

/// One rule.
pub(super) async fn get(
    caller: Caller<Keys<Alerts>>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<OneRuleBody>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let rule = caller.run(move |service, principal| service.alert_rule(&principal, selection, id));
    Ok(Reply::ok(OneRuleBody {
        rule: rule.await?.into(),
    }))
}

/// Makes a custom rule.
pub(super) async fn create(
    caller: Caller<Master<Alerts>>,
    parameters: ProjectParameters,
    body: JsonBody<NewRuleInput>,
) -> Result<Reply<OneRuleBody, Created>, ApiError> {
    let selection = parameters.read()?;
    let definition = body.read(caller.room()).await?;
    let made = caller.run(move |service, master| service.create_alert_rule(&master, selection, definition));
    Ok(Reply::created(OneRuleBody {
        rule: made.await?.into(),
    }))
}

/// Changes a rule.
pub(super) async fn change(
    caller: Caller<Master<Alerts>>,
    parameters: ProjectParameters,
    id: web::Path<String>,
    body: JsonBody<RuleChangeInput>,
) -> Result<Reply<OneRuleBody>, ApiError> {
    let selection = parameters.read()?;
    let change = body.read(caller.room()).await?;
    let id = id_in(&id)?;
    let changed =
        caller.run(move |service, master| service.change_alert_rule(&master, selection, id, change));
    Ok(Reply::ok(OneRuleBody {
        rule: changed.await?.into(),
    }))
}

/// Deletes a custom rule.
pub(super) async fn delete(
    caller: Caller<Master<Alerts>>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<Deleted>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let deleted = caller.run(move |service, master| service.delete_alert_rule(&master, selection, id));
    deleted.await?;
    Ok(Reply::deleted())
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::schema::Text;

    fn id() -> Option<PathParameter> {
        Some(PathParameter {
            description: "The id of the rule: a word for a built-in rule, a UUID for a custom one.",
            schema: |generator| generator.subschema_for::<Text<1, 256>>(),
            example: "4349c662-19f6-4227-8e7b-3d33e0ef5103",
            refusal: ErrorCode::NotFound,
        })
    }

    const RULE: &str = r#"{"rule": {
        "id": "4349c662-19f6-4227-8e7b-3d33e0ef5103", "type": "custom", "name": "Permission changes",
        "action_pattern": "*.permission.*", "threshold": 3, "window_seconds": 600, "group_by": "tenant_id",
        "severity": "medium", "enabled": true, "cooldown_seconds": 60, "created_at": "2026-01-15T10:30:00.179Z"
    }}"#;

    pub(crate) fn list() -> About {
        About {
            description: "The seven built-in rules, then the custom ones, oldest first. Rules belong to the project; \
                          its two environments are counted apart.",
            outcome: "The rules.",
            responses: &[Sample(
                "example",
                r#"{"rules": [{
                    "id": "auth_brute_force", "type": "builtin", "name": "Auth Brute Force",
                    "action_pattern": "auth.failed*",
                    "further_action_patterns": ["login.failed", "*.login.failed", "*.login_failed"],
                    "failed_action_patterns": ["*.login", "*.logged_in", "*.sign_in", "*.signed_in", "*.signin"],
                    "threshold": 5, "window_seconds": 300, "group_by": "actor_id",
                    "severity": "high", "enabled": true, "cooldown_seconds": 3600
                }]}"#,
            )],
            ..About::new("list_alert_rules", Tag::Alerts, "List alert rules")
        }
    }

    pub(crate) fn get() -> About {
        About {
            description: "A built-in rule is returned with the settings of the project.",
            path: id(),
            outcome: "The rule.",
            responses: &[Sample("example", RULE)],
            is_additive: true,
            ..About::new("get_alert_rule", Tag::Alerts, "Read one alert rule")
        }
    }

    pub(crate) fn create() -> About {
        About {
            description: "Needs a paid plan. At most 100 custom rules of a project. Both limits are 403 \
                          `alert_rule_limit_reached`.",
            requests: &[Sample(
                "example",
                r#"{
                    "name": "Permission changes", "action_pattern": "*.permission.*", "threshold": 3,
                    "window_seconds": 600, "group_by": "tenant_id", "count_distinct": "target_id", "severity": "medium",
                    "enabled": true, "cooldown_seconds": 60, "actor_types": ["user"], "categories": ["admin"],
                    "not_actor_ids": ["backup"], "outcomes": ["success"]
                }"#,
            )],
            outcome: "The rule.",
            responses: &[Sample("example", RULE)],
            errors: &[ErrorCode::AlertRuleLimitReached],
            ..About::new("create_alert_rule", Tag::Alerts, "Create an alert rule")
        }
    }

    pub(crate) fn change() -> About {
        About {
            description: "On every plan. Holds from the next request on, and starts the rule's windows afresh. The \
                          name, pattern, grouping, `count_distinct` and severity of a built-in rule cannot change (403).",
            path: id(),
            requests: &[Sample(
                "example",
                r#"{
                    "name": "Permission changes", "action_pattern": "*.permission.*", "threshold": 3,
                    "window_seconds": 600, "group_by": "tenant_id", "count_distinct": "target_id", "severity": "medium",
                    "enabled": true, "cooldown_seconds": 60, "actor_types": ["user"], "categories": ["admin"],
                    "not_actor_ids": ["backup"], "outcomes": ["success"]
                }"#,
            )],
            outcome: "The changed rule.",
            responses: &[Sample("example", RULE)],
            ..About::new("update_alert_rule", Tag::Alerts, "Change an alert rule")
        }
    }

    pub(crate) fn delete() -> About {
        About {
            description: "Custom rules only, on every plan. Its alerts stay. A built-in rule is switched off with \
                          `enabled: false`; deleting one is 403.",
            path: id(),
            outcome: "The rule is deleted.",
            responses: &[Sample("example", r#"{"deleted": true}"#)],
            ..About::new("delete_alert_rule", Tag::Alerts, "Delete an alert rule")
        }
    }
}
