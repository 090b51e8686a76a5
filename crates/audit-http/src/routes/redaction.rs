//! `/api/v1/redaction`.

use crate::caller::{Caller, Keys, Master};
use crate::error::ApiError;
use crate::input::{JsonBody, read_selection};
use crate::reply::{Deleted, Reply};
use actix_web::{HttpRequest, web};
use audit_app::{
    Behavior, FieldPath, NewRedactionRule, Pattern, RedactionRule, RedactionRuleChange, RedactionTrial,
    RuleSubject,
};
use audit_auth::Principal;
use audit_domain::{Fields, Name};
use serde::Serialize;
use serde_json::Value;

/// Paths of one rule, at most.
const RULE_FIELDS_MAX: usize = 100;

#[derive(Serialize)]
struct RuleBody {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<String>>,
    behavior: &'static str,
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    builtin_id: Option<&'static str>,
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

#[derive(Serialize)]
pub(super) struct TrialBody {
    original: Value,
    redacted: Value,
    metadata: TrialMetadataBody,
}

#[derive(Serialize)]
struct TrialMetadataBody {
    was_redacted: bool,
    redacted_fields: Vec<String>,
    redacted_rules: Vec<String>,
    rules_evaluated: usize,
}

impl From<RedactionRule> for RuleBody {
    fn from(rule: RedactionRule) -> Self {
        let (kind, pattern, fields, builtin_id) = match rule.subject {
            RuleSubject::Builtin(builtin) => ("builtin", None, None, Some(builtin.name())),
            RuleSubject::Pattern(pattern) => ("pattern", Some(pattern.as_str().to_owned()), None, None),
            RuleSubject::Fields(paths) => (
                "field_redact",
                None,
                Some(paths.iter().map(|path| path.as_str().to_owned()).collect()),
                None,
            ),
        };
        Self {
            id: rule.id,
            kind,
            name: rule.name,
            pattern,
            fields,
            behavior: rule.behavior.as_str(),
            enabled: rule.enabled,
            builtin_id,
            created_at: rule.created_at.map(|time| time.to_string()),
        }
    }
}

impl From<RedactionTrial> for TrialBody {
    fn from(trial: RedactionTrial) -> Self {
        Self {
            original: trial.original,
            redacted: trial.redacted,
            metadata: TrialMetadataBody {
                was_redacted: trial.report.was_redacted(),
                redacted_fields: trial.report.fields().to_vec(),
                redacted_rules: trial.report.rules().to_vec(),
                rules_evaluated: trial.report.rules_evaluated(),
            },
        }
    }
}

fn read_pattern(fields: &mut Fields<'_>) -> Option<Pattern> {
    let text = fields.optional_text("pattern", 0, usize::MAX)?;
    match Pattern::parse(&text) {
        Ok(pattern) => Some(pattern),
        Err(error) => fields.violate("pattern", error),
    }
}

fn read_paths(fields: &mut Fields<'_>) -> Option<Vec<FieldPath>> {
    let texts = fields.optional_list::<String>("fields", RULE_FIELDS_MAX)?;
    if texts.is_empty() {
        return fields.violate("fields", "must name at least one field");
    }
    let mut paths = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        match FieldPath::parse(text) {
            Ok(path) => paths.push(path),
            Err(error) => {
                fields.violate::<()>(&format!("fields[{index}]"), error);
            }
        }
    }
    Some(paths)
}

fn read_new_rule(fields: &mut Fields<'_>) -> Option<NewRedactionRule> {
    const KINDS: &str = "must be one of pattern, field_redact";
    let kind = fields.required_text("type", 0, usize::MAX);
    let name = fields.required_parsed::<Name>("name");
    let behavior = fields
        .optional_parsed::<Behavior>("behavior")
        .unwrap_or(Behavior::Replace);
    let enabled = fields.optional_bool("enabled").unwrap_or(true);
    let subject = match kind.as_deref() {
        Some("pattern") => {
            let is_missing = !fields.has("pattern");
            if is_missing {
                fields.violate("pattern", "Required")
            } else {
                read_pattern(fields)
            }
            .map(RuleSubject::Pattern)
        }
        Some("field_redact") => {
            let is_missing = !fields.has("fields");
            if is_missing {
                fields.violate("fields", "Required")
            } else {
                read_paths(fields)
            }
            .map(RuleSubject::Fields)
        }
        Some(_) => fields.violate("type", KINDS),
        None => None,
    };
    Some(NewRedactionRule {
        name: name?,
        subject: subject?,
        behavior,
        enabled,
    })
}

fn read_change(fields: &mut Fields<'_>) -> Option<RedactionRuleChange> {
    Some(RedactionRuleChange {
        name: fields.optional_parsed("name"),
        pattern: read_pattern(fields),
        fields: read_paths(fields),
        behavior: fields.optional_parsed("behavior"),
        enabled: fields.optional_bool("enabled"),
    })
}

/// Lists the project's rules.
pub(super) async fn list(caller: Caller<Keys>, request: HttpRequest) -> Result<Reply<RulesBody>, ApiError> {
    let selection = read_selection(&request)?;
    let rules = caller
        .run(move |service, principal| service.redaction_rules(&principal, selection))
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
    let new = body.read(read_new_rule)?;
    let made = caller.run(move |service, master| {
        service.create_redaction_rule(&Principal::Master(master), selection, new)
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
    let id = id.into_inner();
    let changed = caller.run(move |service, master| {
        service.change_redaction_rule(&Principal::Master(master), selection, id, change)
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
    let id = id.into_inner();
    let deleted = caller
        .run(move |service, master| service.delete_redaction_rule(&Principal::Master(master), selection, id));
    deleted.await?;
    Ok(Reply::deleted())
}

/// Shows what the project's rules would do to an event; keeps nothing.
pub(super) async fn test(
    caller: Caller<Keys>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<Reply<TrialBody>, ApiError> {
    let selection = read_selection(&request)?;
    let event = body.read(|fields| fields.required_object("event"))?;
    let trial = caller
        .run(move |service, principal| service.try_redaction(&principal, selection, event))
        .await?;
    Ok(Reply::ok(trial.into()))
}
