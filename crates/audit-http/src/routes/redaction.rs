//! `/api/v1/redaction`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, ProjectParameters};
use crate::reply::{Created, Deleted, Reply};
use crate::schema::{FieldPathText, FreeFormObject, NameText, PatternText, Time, Word, absent_not_null};
use actix_web::web;
use audit_app::{
    Behavior, Builtin, FieldPath, NewRedactionRule, PatternText as PatternSource, RedactionRule,
    RedactionRuleChange, RedactionTrial, RuleSubject,
};
use audit_auth::{Keys, Master};
use audit_domain::{Fields, Name, json};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Paths of one rule, at most.
const RULE_FIELDS_MAX: usize = 100;

/// The types of rules.
const BUILTIN: &str = "builtin";
const PATTERN: &str = "pattern";
const FIELD_REDACT: &str = "field_redact";

/// A custom rule to be made: one struct for each value of `type`.
pub(super) struct NewRuleInput;

impl JsonSchema for NewRuleInput {
    fn schema_name() -> Cow<'static, str> {
        "RedactionRuleInput".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let pattern = generator.subschema_for::<PatternRuleInput>();
        let fields = generator.subschema_for::<FieldRuleInput>();
        json_schema!({
            "description": "The properties of a new custom rule.",
            "oneOf": [pattern, fields],
            "discriminator": {
                "propertyName": "type",
                "mapping": {PATTERN: pattern.get("$ref"), FIELD_REDACT: fields.get("$ref")},
            },
        })
    }
}

/// A rule that finds what a regular expression matches, in every string.
#[derive(JsonSchema)]
#[schemars(rename = "PatternRuleInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
struct PatternRuleInput {
    #[schemars(rename = "type", extend("enum" = [PATTERN]))]
    kind: String,
    /// Reported as `custom:<name>`.
    name: NameText,
    /// The syntax is that of the Rust crate `regex`: no look-around, no back-references. Must not match the empty
    /// string.
    pattern: PatternText,
    #[schemars(extend("default" = Behavior::default().as_str()))]
    behavior: Option<Word<Behavior>>,
    #[schemars(extend("default" = true))]
    enabled: Option<bool>,
}

/// A rule that finds the whole value at dot paths.
#[derive(JsonSchema)]
#[schemars(rename = "FieldRuleInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
struct FieldRuleInput {
    #[schemars(rename = "type", extend("enum" = [FIELD_REDACT]))]
    kind: String,
    /// Reported as `custom:<name>`.
    name: NameText,
    /// Such as `metadata.user.ssn` or `changes.*.before`; `*` stands for any one step.
    #[schemars(length(min = 1, max = RULE_FIELDS_MAX))]
    fields: Vec<FieldPathText>,
    #[schemars(extend("default" = Behavior::default().as_str()))]
    behavior: Option<Word<Behavior>>,
    #[schemars(extend("default" = true))]
    enabled: Option<bool>,
}

/// Changes of a rule. Absent fields keep their values. Of a built-in rule only `behavior` and `enabled` can change.
#[derive(JsonSchema)]
#[schemars(rename = "RedactionRuleChange", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct RuleChangeInput {
    name: Option<NameText>,
    /// Of a rule of the type `pattern` only.
    pattern: Option<PatternText>,
    /// Of a rule of the type `field_redact` only.
    #[schemars(length(min = 1, max = RULE_FIELDS_MAX))]
    fields: Option<Vec<FieldPathText>>,
    behavior: Option<Word<Behavior>>,
    enabled: Option<bool>,
}

/// An event to test the rules with.
#[derive(JsonSchema)]
#[schemars(rename = "RedactionTrial")]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct TrialInput {
    /// Any JSON object; it need not be a valid event.
    event: FreeFormObject,
}

/// A rule by which texts are redacted before an event is stored.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RedactionRule")]
struct RuleBody {
    /// `builtin_` and a word for a built-in rule, a UUID for a custom one.
    id: String,
    #[serde(rename = "type")]
    #[schemars(extend("enum" = [BUILTIN, PATTERN, FIELD_REDACT]))]
    kind: &'static str,
    #[schemars(with = "NameText")]
    name: String,
    /// With the type `pattern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PatternText")]
    pattern: Option<String>,
    /// With the type `field_redact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<FieldPathText>")]
    fields: Option<Vec<String>>,
    #[schemars(with = "Word<Behavior>")]
    behavior: &'static str,
    enabled: bool,
    /// With the type `builtin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Word<Builtin>")]
    builtin_id: Option<&'static str>,
    /// Of custom rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time")]
    created_at: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RedactionRuleResult")]
pub(super) struct OneRuleBody {
    rule: RuleBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RedactionRuleList")]
pub(super) struct RulesBody {
    rules: Vec<RuleBody>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RedactionTrialResult")]
pub(super) struct TrialBody {
    /// The parts of the event that change, before redaction.
    #[schemars(with = "FreeFormObject")]
    original: Value,
    /// The same parts after redaction.
    #[schemars(with = "FreeFormObject")]
    redacted: Value,
    metadata: TrialMetadataBody,
}

/// The matches of the rules.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RedactionReport")]
struct TrialMetadataBody {
    was_redacted: bool,
    /// Dot paths, with the indexes of arrays as steps.
    redacted_fields: Vec<String>,
    /// `builtin:<name>` or `custom:<name>`.
    redacted_rules: Vec<String>,
    /// How many rules are enabled.
    rules_evaluated: usize,
}

impl From<RedactionRule> for RuleBody {
    fn from(rule: RedactionRule) -> Self {
        let (kind, pattern, fields, builtin_id) = match rule.subject {
            RuleSubject::Builtin(builtin) => (BUILTIN, None, None, Some(builtin.name())),
            RuleSubject::Pattern(pattern) => (PATTERN, Some(pattern.as_str().to_owned()), None, None),
            RuleSubject::Fields(paths) => (
                FIELD_REDACT,
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

/// The pattern's text. Its compiled size is checked where it may take time.
fn read_pattern(fields: &mut Fields<'_>) -> Option<PatternSource> {
    fields.optional_parsed::<PatternSource>("pattern")
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
        Some(PATTERN) => {
            let is_missing = !fields.has("pattern");
            if is_missing {
                fields.violate("pattern", "Required")
            } else {
                read_pattern(fields)
            }
            .map(RuleSubject::Pattern)
        }
        Some(FIELD_REDACT) => {
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

impl Fielded for NewRuleInput {
    type Read = NewRedactionRule;

    fn read(fields: &mut Fields<'_>) -> Option<NewRedactionRule> {
        read_new_rule(fields)
    }
}

impl Fielded for RuleChangeInput {
    type Read = RedactionRuleChange;

    fn read(fields: &mut Fields<'_>) -> Option<RedactionRuleChange> {
        Some(RedactionRuleChange {
            name: fields.optional_parsed("name"),
            pattern: read_pattern(fields),
            fields: read_paths(fields),
            behavior: fields.optional_parsed("behavior"),
            enabled: fields.optional_bool("enabled"),
        })
    }
}

impl Fielded for TrialInput {
    type Read = Map<String, Value>;

    fn read(fields: &mut Fields<'_>) -> Option<Map<String, Value>> {
        fields.required_object("event").map(json::to_map)
    }
}

/// Lists the project's rules.
pub(super) async fn list(
    caller: Caller<Keys>,
    parameters: ProjectParameters,
) -> Result<Reply<RulesBody>, ApiError> {
    let selection = parameters.read()?;
    let rules = caller
        .run(move |service, principal| service.redaction_rules(&principal, selection))
        .await?;
    Ok(Reply::ok(RulesBody {
        rules: rules.into_iter().map(RuleBody::from).collect(),
    }))
}

/// One rule.
pub(super) async fn get(
    caller: Caller<Keys>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<OneRuleBody>, ApiError> {
    let selection = parameters.read()?;
    let id = id.into_inner();
    let rule = caller.run(move |service, principal| service.redaction_rule(&principal, selection, &id));
    Ok(Reply::ok(OneRuleBody {
        rule: rule.await?.into(),
    }))
}

/// Makes a custom rule.
pub(super) async fn create(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    body: JsonBody<NewRuleInput>,
) -> Result<Reply<OneRuleBody, Created>, ApiError> {
    let selection = parameters.read()?;
    let new = body.read(caller.room()).await?;
    let made = caller.run(move |service, master| service.create_redaction_rule(&master, selection, new));
    Ok(Reply::created(OneRuleBody {
        rule: made.await?.into(),
    }))
}

/// Changes a rule.
pub(super) async fn change(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    id: web::Path<String>,
    body: JsonBody<RuleChangeInput>,
) -> Result<Reply<OneRuleBody>, ApiError> {
    let selection = parameters.read()?;
    let change = body.read(caller.room()).await?;
    let id = id.into_inner();
    let changed =
        caller.run(move |service, master| service.change_redaction_rule(&master, selection, id, change));
    Ok(Reply::ok(OneRuleBody {
        rule: changed.await?.into(),
    }))
}

/// Deletes a custom rule.
pub(super) async fn delete(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<Deleted>, ApiError> {
    let selection = parameters.read()?;
    let id = id.into_inner();
    let deleted = caller.run(move |service, master| service.delete_redaction_rule(&master, selection, id));
    deleted.await?;
    Ok(Reply::deleted())
}

/// Shows the effect of the project's rules on an event. Nothing is stored.
pub(super) async fn test(
    caller: Caller<Keys>,
    parameters: ProjectParameters,
    body: JsonBody<TrialInput>,
) -> Result<Reply<TrialBody>, ApiError> {
    let selection = parameters.read()?;
    let event = body.read(caller.room()).await?;
    let (presented, principal) = caller.into_parts();
    let trial = presented.try_redaction(principal, selection, event).await?;
    Ok(Reply::ok(trial.into()))
}
