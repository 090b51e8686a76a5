//! `/api/v1/redaction/rules`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, ProjectParameters};
use crate::reply::{Created, Deleted, Reply};
use crate::schema::{FieldPathText, NameText, PatternText, Time, Word, absent_not_null};
use actix_web::web;
use audit_app::{
    Behavior, Builtin, FieldPath, NewRedactionRule, PatternText as PatternSource, RedactionRule,
    RedactionRuleChange, RuleSubject,
};
use audit_auth::{Keys, Master};
use audit_domain::{Fields, Name};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
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
    /// Such as `metadata.user.ssn` or `changes.*.before`; `*` stands for any one step, `**` for any number of steps.
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

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::schema::Text;

    fn id() -> Option<PathParameter> {
        Some(PathParameter {
            description: "The id of the rule: `builtin_` and a word for a built-in rule, a UUID for a custom one.",
            schema: |generator| generator.subschema_for::<Text<1, 256>>(),
            example: "dd33a08f-e4cd-4638-b0cd-30008f3d598b",
            refusal: ErrorCode::NotFound,
        })
    }

    const RULE: &str = r#"{"rule": {
        "id": "dd33a08f-e4cd-4638-b0cd-30008f3d598b", "type": "pattern", "name": "employee number",
        "pattern": "EMP-[0-9]{6}", "behavior": "mask", "enabled": true, "created_at": "2026-01-15T10:30:00.016Z"
    }}"#;

    pub(crate) fn list() -> About {
        About {
            description: "The built-in rules, then the custom ones, oldest first.",
            outcome: "The rules.",
            responses: &[Sample(
                "example",
                r#"{"rules": [
                    {
                        "id": "builtin_email", "type": "builtin", "name": "Email", "behavior": "replace", "enabled": true,
                        "builtin_id": "email"
                    },
                    {
                        "id": "145ce0a1-8008-42c0-add0-43199332f0b2", "type": "field_redact", "name": "salary",
                        "fields": ["metadata.salary", "metadata.*.salary"], "behavior": "hash", "enabled": true,
                        "created_at": "2026-01-15T10:30:00.033Z"
                    }
                ]}"#,
            )],
            ..About::new("list_redaction_rules", Tag::Redaction, "List redaction rules")
        }
    }

    pub(crate) fn get() -> About {
        About {
            description: "A built-in rule is returned with the settings of the project.",
            path: id(),
            outcome: "The rule.",
            responses: &[Sample("example", RULE)],
            is_additive: true,
            ..About::new("get_redaction_rule", Tag::Redaction, "Read one redaction rule")
        }
    }

    pub(crate) fn create() -> About {
        About {
            description: "At most 100 custom rules of a project (403). Matching takes time linear in the text, \
                          whatever the pattern. What is found becomes `[REDACTED]` (`replace`), its SHA-256 or HMAC \
                          (`hash`), or stars with a recognisable rest (`mask`).",
            requests: &[
                Sample(
                    "pattern",
                    r#"{"type": "pattern", "name": "employee number", "pattern": "EMP-[0-9]{6}", "behavior": "mask", "enabled": true}"#,
                ),
                Sample(
                    "field_redact",
                    r#"{"type": "field_redact", "name": "salary", "fields": ["metadata.salary", "metadata.*.salary"], "behavior": "hash", "enabled": true}"#,
                ),
            ],
            outcome: "The rule.",
            responses: &[Sample("example", RULE)],
            ..About::new("create_redaction_rule", Tag::Redaction, "Create a redaction rule")
        }
    }

    pub(crate) fn change() -> About {
        About {
            description: "The type cannot change. A `pattern` rule takes no `fields`, a `field_redact` rule no \
                          `pattern`, and a built-in rule only `behavior` and `enabled` (403).",
            path: id(),
            requests: &[
                Sample(
                    "pattern",
                    r#"{"name": "employee number", "pattern": "EMP-[0-9]{6}", "behavior": "mask", "enabled": true}"#,
                ),
                Sample("fields", r#"{"fields": ["metadata.salary"]}"#),
            ],
            outcome: "The changed rule.",
            responses: &[Sample("example", RULE)],
            ..About::new("update_redaction_rule", Tag::Redaction, "Change a redaction rule")
        }
    }

    pub(crate) fn delete() -> About {
        About {
            description: "Custom rules only. A built-in rule is switched off with `enabled: false`; deleting one is 403.",
            path: id(),
            outcome: "The rule is deleted.",
            responses: &[Sample("example", r#"{"deleted": true}"#)],
            ..About::new("delete_redaction_rule", Tag::Redaction, "Delete a redaction rule")
        }
    }
}
