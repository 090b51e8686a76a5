//! Redaction rules of a project, and redaction trials.

use crate::error::{AppError, Result};
use crate::service::{AuditLog, Selection};
use audit_auth::{KeyHolder, MasterKey, Principal};
use audit_domain::json::Json;
use audit_domain::{Name, ProjectId, RuleId, Timestamp, check_free_form};
use audit_redact::{Behavior, Builtin, Engine, FieldPath, HashKey, Pattern, Report, Shape};
use audit_store::{Configurator, RedactionRuleRow, StoreError};
use serde_json::{Map, Value};

/// The maximum number of custom redaction rules of a project.
pub const CUSTOM_RULES_MAX: usize = 100;

/// The data that a rule redacts.
#[derive(Clone, Debug)]
pub enum RuleSubject {
    /// A built-in kind of data.
    Builtin(Builtin),
    /// The matches of a regular expression in any text.
    Pattern(Pattern),
    /// The values at these paths.
    Fields(Vec<FieldPath>),
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
    pub pattern: Option<Pattern>,
    pub fields: Option<Vec<FieldPath>>,
    pub behavior: Option<Behavior>,
    pub enabled: Option<bool>,
}

/// The effect of redaction on an event.
#[derive(Clone, Debug)]
pub struct RedactionTrial {
    /// The changed parts, before redaction.
    pub original: Value,
    /// The same parts after redaction.
    pub redacted: Value,
    /// The redacted fields and the rules that matched.
    pub report: Report,
}

/// The kinds of stored rules.
const BUILTIN: &str = "builtin";
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
        let damaged = || {
            AppError::from(StoreError::Damaged {
                what: "redaction rule",
            })
        };
        let subject = match row.kind.as_str() {
            PATTERN => {
                let pattern = Pattern::parse_stored(row.pattern.as_deref().unwrap_or_default());
                RuleSubject::Pattern(pattern.map_err(|_| damaged())?)
            }
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
    /// [`AppError::Forbidden`] for a field that cannot change.
    fn change(&mut self, change: RedactionRuleChange) -> Result<()> {
        let forbidden = |message: &str| Err(AppError::Forbidden(message.to_owned()));
        let is_builtin = matches!(self.subject, RuleSubject::Builtin(_));
        if is_builtin && (change.name.is_some() || change.pattern.is_some() || change.fields.is_some()) {
            return forbidden("of a built-in rule only behavior and enabled can be changed");
        }
        match (&mut self.subject, change.pattern, change.fields) {
            (RuleSubject::Pattern(_), _, Some(_)) => return forbidden("a pattern rule has no fields"),
            (RuleSubject::Fields(_), Some(_), _) => return forbidden("a field_redact rule has no pattern"),
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

/// Compiles the enabled rules of a project.
pub(crate) fn compile_rules(rows: &[RedactionRuleRow], hash_key: Option<&HashKey>) -> Result<Engine> {
    let mut builder = Engine::builder().hash_key(hash_key.cloned());
    for rule in rules_of(rows)?.into_iter().filter(|rule| rule.enabled) {
        builder = match rule.subject {
            RuleSubject::Builtin(builtin) => builder.builtin(builtin, rule.behavior),
            RuleSubject::Pattern(pattern) => builder.pattern(&rule.name, pattern, rule.behavior),
            RuleSubject::Fields(paths) => builder.fields(&rule.name, paths, rule.behavior),
        };
    }
    Ok(builder.build())
}

impl AuditLog {
    /// The rules of a project: built-in, then custom.
    ///
    /// # Errors
    /// When the principal has no access to the project.
    pub fn redaction_rules(&self, principal: &KeyHolder, selection: Selection) -> Result<Vec<RedactionRule>> {
        self.store.read(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            rules_of(&reader.redaction_rules(scope.project.project.id)?)
        })
    }

    /// Creates a custom rule.
    ///
    /// # Errors
    /// [`AppError::Forbidden`] when the project has [`CUSTOM_RULES_MAX`] custom rules.
    pub fn create_redaction_rule(
        &self,
        master: &MasterKey,
        selection: Selection,
        new: NewRedactionRule,
    ) -> Result<RedactionRule> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        let now = self.clock.now();
        let rule = RedactionRule {
            id: RuleId::from_random(self.entropy.bytes()).to_string(),
            name: new.name.to_string(),
            subject: new.subject,
            behavior: new.behavior,
            enabled: new.enabled,
            created_at: Some(now),
        };
        self.store.configure(project_id, move |configurator| {
            let custom = |row: &&RedactionRuleRow| row.kind != BUILTIN;
            if configurator
                .redaction_rules(project_id)?
                .iter()
                .filter(custom)
                .count()
                >= CUSTOM_RULES_MAX
            {
                let message = format!("a project has at most {CUSTOM_RULES_MAX} custom redaction rules");
                return Err(AppError::Forbidden(message));
            }
            configurator.put_redaction_rule(&rule.to_row(now))?;
            Ok(rule)
        })
    }

    /// Changes a rule.
    ///
    /// # Errors
    /// [`AppError::NotFound`], or [`AppError::Forbidden`] for a field that cannot change.
    pub fn change_redaction_rule(
        &self,
        master: &MasterKey,
        selection: Selection,
        id: String,
        change: RedactionRuleChange,
    ) -> Result<RedactionRule> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        let now = self.clock.now();
        self.store.configure(
            project_id,
            move |configurator: &mut Configurator<'_, ProjectId>| {
                let rules = rules_of(&configurator.redaction_rules(project_id)?)?;
                let mut rule = rules
                    .into_iter()
                    .find(|rule| rule.id == id)
                    .ok_or(AppError::NotFound("redaction rule"))?;
                let before = rule.to_row(now);
                rule.change(change)?;
                let after = rule.to_row(now);
                if after != before {
                    configurator.put_redaction_rule(&after)?;
                }
                Ok(rule)
            },
        )
    }

    /// Deletes a custom rule.
    ///
    /// # Errors
    /// [`AppError::NotFound`], or [`AppError::Forbidden`] for a built-in rule.
    pub fn delete_redaction_rule(&self, master: &MasterKey, selection: Selection, id: String) -> Result<()> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        if Builtin::from_rule_id(&id).is_some() {
            let message = "a built-in rule cannot be deleted; set enabled to false to switch it off";
            return Err(AppError::Forbidden(message.to_owned()));
        }
        self.store.configure(project_id, move |configurator| {
            match configurator.delete_redaction_rule(&id)? {
                true => Ok(()),
                false => Err(AppError::NotFound("redaction rule")),
            }
        })
    }

    /// Applies the rules of the project to `event`. Stores nothing.
    ///
    /// # Errors
    /// When the principal has no access to the project, or the event exceeds the limits of size or depth.
    pub fn try_redaction(
        &self,
        principal: &KeyHolder,
        selection: Selection,
        event: Map<String, Value>,
    ) -> Result<RedactionTrial> {
        let scope = self
            .store
            .read(|reader| self.scope(reader, principal, selection))?;
        let event = Json::from(Value::Object(event));
        check_free_form(&event, "event")?;
        let original = Value::from(event);
        let mut redacted = original.clone();
        let report = scope.project.engine.redact(&mut redacted, &Shape::audit_event());
        let empty = || Value::Object(Map::new());
        let (original, redacted) = differing_parts(original, redacted).unwrap_or_else(|| (empty(), empty()));
        Ok(RedactionTrial {
            original,
            redacted,
            report,
        })
    }
}

/// The parts in which two values differ. Objects are compared key by key, all other values as a whole.
fn differing_parts(before: Value, after: Value) -> Option<(Value, Value)> {
    match (before, after) {
        (before, after) if before == after => None,
        (Value::Object(before), Value::Object(mut after)) => {
            let (mut only_before, mut only_after) = (Map::new(), Map::new());
            for (key, value) in before {
                match after.remove(&key) {
                    Some(changed) => {
                        if let Some((value, changed)) = differing_parts(value, changed) {
                            only_before.insert(key.clone(), value);
                            only_after.insert(key, changed);
                        }
                    }
                    None => {
                        only_before.insert(key, value);
                    }
                }
            }
            only_after.extend(after);
            Some((Value::Object(only_before), Value::Object(only_after)))
        }
        (before, after) => Some((before, after)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_differing_parts_are_shown() {
        let before = json!({"a": {"b": 1, "c": 2}, "d": [1, 2], "k@x": 1, "e": 5});
        let after = json!({"a": {"b": 1, "c": 3}, "d": [1, 3], "[REDACTED]": 1, "e": 5});
        assert_eq!(
            differing_parts(before, after),
            Some((
                json!({"a": {"c": 2}, "d": [1, 2], "k@x": 1}),
                json!({"a": {"c": 3}, "d": [1, 3], "[REDACTED]": 1})
            ))
        );
        assert_eq!(differing_parts(json!({"a": 1}), json!({"a": 1})), None);
    }
}
