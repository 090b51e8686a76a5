//! Redaction rules of a project.

mod changes;
pub(crate) mod engines;
pub(crate) mod trial;

use crate::error::{AppError, Result};
use audit_domain::{EventField, Name, Timestamp};
use audit_redact::{Behavior, Builtin, Engine, FieldPath, HashKey, Pattern, PatternError};
use audit_store::{RedactionRuleRow, StoreError};
use std::str::FromStr;

/// The maximum number of custom redaction rules of a project.
pub const CUSTOM_RULES_MAX: usize = 100;

/// The maximum size of the compiled rules of a project, in bytes. A hundred patterns such as `(?i)patient no\.?\s*\d{5,10}` take
/// less than half of it.
pub const RULES_COMPILED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The data that a rule redacts.
#[derive(Clone, Debug)]
pub enum RuleSubject {
    /// A built-in kind of data.
    Builtin(Builtin),
    /// The matches of a regular expression in any text.
    Pattern(PatternText),
    /// The values at these paths.
    Fields(Vec<FieldPath>),
}

/// The text of a pattern, of which all but the compiled size was checked. It is compiled where it is used: that takes long, and
/// lists of rules need only the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternText(String);

impl PatternText {
    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PatternText {
    type Err = PatternError;

    fn from_str(text: &str) -> std::result::Result<Self, PatternError> {
        Pattern::check(text)?;
        Ok(Self(text.to_owned()))
    }
}

/// A redaction rule of a project.
#[derive(Clone, Debug)]
pub struct RedactionRule {
    /// A UUID, or the id of a built-in rule.
    pub id: String,
    /// The display name. Redaction reports name custom rules by it.
    pub name: String,
    /// The data that it redacts.
    pub subject: RuleSubject,
    /// The replacement of the data.
    pub behavior: Behavior,
    /// Whether the rule is applied.
    pub enabled: bool,
    /// When it was created; `None` for built-in rules.
    pub created_at: Option<Timestamp>,
}

/// A custom rule to create.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "as in RedactionRule")]
pub struct NewRedactionRule {
    pub name: Name,
    pub subject: RuleSubject,
    pub behavior: Behavior,
    pub enabled: bool,
}

/// A change to a rule.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "as in RedactionRule")]
pub struct RedactionRuleChange {
    pub name: Option<Name>,
    pub pattern: Option<PatternText>,
    pub fields: Option<Vec<FieldPath>>,
    pub behavior: Option<Behavior>,
    pub enabled: Option<bool>,
}

/// The kinds of stored rules.
pub(crate) const BUILTIN: &str = "builtin";
const PATTERN: &str = "pattern";
const FIELDS: &str = "field_redact";

impl RedactionRule {
    fn builtin(builtin: Builtin) -> Self {
        Self {
            id: builtin.rule_id().to_owned(),
            name: builtin.title().to_owned(),
            subject: RuleSubject::Builtin(builtin),
            behavior: Behavior::Replace,
            enabled: builtin.enabled_by_default(),
            created_at: None,
        }
    }

    fn from_row(row: &RedactionRuleRow) -> Result<Self> {
        let subject = match row.kind.as_str() {
            PATTERN => RuleSubject::Pattern(PatternText(row.pattern.clone().unwrap_or_default())),
            FIELDS => {
                let paths = row.fields.iter().flatten().map(|path| FieldPath::parse(path));
                RuleSubject::Fields(paths.collect::<Result<_, _>>().map_err(|_| damaged())?)
            }
            _ => RuleSubject::Builtin(Builtin::from_rule_id(&row.id).ok_or_else(damaged)?),
        };
        let created_at = (!matches!(subject, RuleSubject::Builtin(_))).then_some(row.created_at);
        Ok(Self {
            id: row.id.clone(),
            name: row.name.clone(),
            subject,
            behavior: row.behavior.parse().map_err(|_| damaged())?,
            enabled: row.enabled,
            created_at,
        })
    }

    fn to_row(&self, now: Timestamp) -> RedactionRuleRow {
        let (kind, pattern, fields) = match &self.subject {
            RuleSubject::Builtin(_) => (BUILTIN, None, None),
            RuleSubject::Pattern(pattern) => (PATTERN, Some(pattern.as_str().to_owned()), None),
            RuleSubject::Fields(paths) => (
                FIELDS,
                None,
                Some(paths.iter().map(|path| path.as_str().to_owned()).collect()),
            ),
        };
        RedactionRuleRow {
            id: self.id.clone(),
            kind: kind.to_owned(),
            name: self.name.clone(),
            pattern,
            fields,
            behavior: self.behavior.as_str().to_owned(),
            enabled: self.enabled,
            created_at: self.created_at.unwrap_or(now),
        }
    }

    /// Applies a change.
    ///
    /// # Errors
    /// [`AppError::Forbidden`] for a fixed field of a built-in rule, [`AppError::Invalid`] for a field that a rule of this
    /// type does not have.
    fn change(&mut self, change: RedactionRuleChange) -> Result<()> {
        let wrong = |field: &str, message: &str| Err(audit_domain::Violations::one(field, message).into());
        let is_builtin = matches!(self.subject, RuleSubject::Builtin(_));
        if is_builtin && (change.name.is_some() || change.pattern.is_some() || change.fields.is_some()) {
            let message = "of a built-in rule only behavior and enabled can be changed";
            return Err(AppError::Forbidden(message.to_owned()));
        }
        match (&mut self.subject, change.pattern, change.fields) {
            (RuleSubject::Pattern(_), _, Some(_)) => return wrong("fields", "a pattern rule has none"),
            (RuleSubject::Fields(_), Some(_), _) => return wrong("pattern", "a field_redact rule has none"),
            (RuleSubject::Pattern(pattern), Some(changed), None) => *pattern = changed,
            (RuleSubject::Fields(fields), None, Some(changed)) => *fields = changed,
            _ => {}
        }
        if let Some(name) = change.name {
            self.name = name.to_string();
        }
        self.behavior = change.behavior.unwrap_or(self.behavior);
        self.enabled = change.enabled.unwrap_or(self.enabled);
        Ok(())
    }
}

/// The built-in rules with the settings of the project, then its custom rules, oldest first.
fn rules_of(rows: &[RedactionRuleRow]) -> Result<Vec<RedactionRule>> {
    let stored: Vec<RedactionRule> = rows.iter().map(RedactionRule::from_row).collect::<Result<_>>()?;
    let mut rules: Vec<RedactionRule> = Vec::with_capacity(stored.len() + Builtin::ALL.len());
    for builtin in Builtin::ALL {
        let changed = stored.iter().find(|rule| rule.id == builtin.rule_id());
        rules.push(
            changed
                .cloned()
                .unwrap_or_else(|| RedactionRule::builtin(*builtin)),
        );
    }
    rules.extend(
        stored
            .into_iter()
            .filter(|rule| !matches!(rule.subject, RuleSubject::Builtin(_))),
    );
    Ok(rules)
}

fn damaged() -> AppError {
    AppError::from(StoreError::Damaged {
        what: "redaction rule",
    })
}

/// Compiles the enabled rules of a project.
fn compile_rules(rows: &[RedactionRuleRow], hash_key: Option<&HashKey>) -> Result<Engine> {
    let mut builder = Engine::builder().hash_key(hash_key.cloned());
    for rule in rules_of(rows)?.into_iter().filter(|rule| rule.enabled) {
        builder = match rule.subject {
            RuleSubject::Builtin(builtin) => builder.builtin(builtin, rule.behavior),
            RuleSubject::Pattern(text) => {
                let pattern = Pattern::parse_stored(text.as_str()).map_err(|_| damaged())?;
                builder.pattern(&rule.name, pattern, rule.behavior)
            }
            RuleSubject::Fields(mut paths) => {
                let implied = paths
                    .iter()
                    .flat_map(|path| EventField::implied_paths(path.as_str()));
                let implied: Vec<_> = implied.flat_map(|path| FieldPath::parse(&path)).collect();
                paths.extend(implied);
                builder.fields(&rule.name, paths, rule.behavior)
            }
        };
    }
    Ok(builder.build())
}
