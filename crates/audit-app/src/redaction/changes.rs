//! The redaction rules of a project, listed and changed.
//!
//! The patterns of a project together have a largest compiled size. Compiling them takes too long for a transaction, so a change
//! compiles the rules that it would lead to first, and its transaction stores them if the rules are still those of before.

use super::engines::ProjectRules;
use super::{
    BUILTIN, CUSTOM_RULES_MAX, NewRedactionRule, PatternText, RULES_COMPILED_BYTES_MAX, RedactionRule,
    RedactionRuleChange, RuleSubject, rules_of,
};
use crate::error::{AppError, Result};
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use audit_auth::{KeyHolder, MasterKey, Principal};
use audit_domain::{ProjectId, RuleId, Timestamp, Violations};
use audit_redact::Builtin;
use audit_store::{RedactionRuleRow, StoreError};

/// How often a change is tried while others change rules of the project.
const ATTEMPTS_MAX: usize = 32;

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

    /// A rule of a project.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn redaction_rule(
        &self,
        principal: &KeyHolder,
        selection: Selection,
        id: &str,
    ) -> Result<RedactionRule> {
        let mut rules = self.redaction_rules(principal, selection)?.into_iter();
        let rule = rules.find(|rule| rule.id == id);
        rule.ok_or(AppError::NotFound("redaction rule"))
    }

    /// Creates a custom rule. Blocks while it is compiled.
    ///
    /// # Errors
    /// [`AppError::Forbidden`] when the project has [`CUSTOM_RULES_MAX`] custom rules; [`AppError::Invalid`] when the pattern
    /// compiles to more than [`audit_redact::PATTERN_COMPILED_BYTES_MAX`], or the rules of the project to more than
    /// [`RULES_COMPILED_BYTES_MAX`].
    pub fn create_redaction_rule(
        &self,
        master: &MasterKey,
        selection: Selection,
        new: NewRedactionRule,
    ) -> Result<RedactionRule> {
        let now = self.clock.now();
        let rule = RedactionRule {
            id: RuleId::from_random(self.entropy.bytes()).to_string(),
            name: new.name.to_string(),
            subject: new.subject,
            behavior: new.behavior,
            enabled: new.enabled,
            created_at: Some(now),
        };
        if let RuleSubject::Pattern(pattern) = &rule.subject {
            self.check_pattern(pattern)?;
        }
        self.put_rule(master, selection, now, |rows| {
            let is_custom = |row: &&RedactionRuleRow| row.kind != BUILTIN;
            if rows.iter().filter(is_custom).count() >= CUSTOM_RULES_MAX {
                let message = format!("a project has at most {CUSTOM_RULES_MAX} custom redaction rules");
                return Err(AppError::Forbidden(message));
            }
            Ok((rule.clone(), "pattern"))
        })
    }

    /// Changes a rule. Blocks while it is compiled.
    ///
    /// # Errors
    /// [`AppError::NotFound`], [`AppError::Forbidden`] for a fixed field of a built-in rule, and [`AppError::Invalid`] for a
    /// field that a rule of this type does not have, and as in [`Self::create_redaction_rule`].
    pub fn change_redaction_rule(
        &self,
        master: &MasterKey,
        selection: Selection,
        id: String,
        change: RedactionRuleChange,
    ) -> Result<RedactionRule> {
        if let Some(pattern) = &change.pattern {
            self.check_pattern(pattern)?;
        }
        let field = if change.pattern.is_some() {
            "pattern"
        } else {
            "enabled"
        };
        self.put_rule(master, selection, self.clock.now(), |rows| {
            let mut rule = rules_of(rows)?
                .into_iter()
                .find(|rule| rule.id == id)
                .ok_or(AppError::NotFound("redaction rule"))?;
            rule.change(change.clone())?;
            Ok((rule, field))
        })
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
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            let rules = configurator.redaction_rules(project_id)?;
            let rule = rules.iter().find(|rule| rule.id == id);
            let rule = rule.ok_or(AppError::NotFound("redaction rule"))?;
            configurator.delete_redaction_rule(&id)?;
            Ok(Changed::if_some(
                (),
                ServiceEvent::redaction_rule(Some(rule), None),
            ))
        })
    }

    fn check_pattern(&self, pattern: &PatternText) -> Result<()> {
        let checked = self.engines.check_pattern(pattern.as_str());
        Ok(checked.map_err(|error| Violations::one("pattern", error))?)
    }

    /// Stores the rule that `rule` makes of the present rules. With it comes the field to blame if the rules get too large.
    fn put_rule(
        &self,
        master: &MasterKey,
        selection: Selection,
        now: Timestamp,
        rule: impl Fn(&[RedactionRuleRow]) -> Result<(RedactionRule, &'static str)>,
    ) -> Result<RedactionRule> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        for _ in 0..ATTEMPTS_MAX {
            let before = self.store.read(|reader| reader.redaction_rules(project_id))?;
            let (rule, field) = rule(&before)?;
            let row = rule.to_row(now);
            let present = rules_of(&before)?;
            let present = present.iter().find(|present| present.id == rule.id);
            let present = present.map(|present| present.to_row(now));
            if present.as_ref() == Some(&row) {
                return Ok(rule);
            }
            let event = ServiceEvent::redaction_rule(present.as_ref(), Some(&row));
            let after = with_row(&before, &row);
            self.check_compiled_bytes(after, field)?;
            match self.store_rule(master, project_id, before, row, event) {
                Err(AppError::Unavailable(StoreError::Stale)) => {}
                outcome => return outcome.map(|()| rule),
            }
        }
        Err(AppError::Unavailable(StoreError::Stale))
    }

    /// Compiles rules. The next request with events finds them compiled.
    fn check_compiled_bytes(&self, rows: Vec<RedactionRuleRow>, field: &'static str) -> Result<()> {
        let compiled_bytes = self.engines.compiled(&ProjectRules::new(rows))?.compiled_bytes();
        if compiled_bytes > RULES_COMPILED_BYTES_MAX {
            let message = format!(
                "the enabled rules of a project compile to at most {RULES_COMPILED_BYTES_MAX} bytes, with this one to {compiled_bytes}"
            );
            return Err(Violations::one(field, message).into());
        }
        Ok(())
    }

    /// Stores a rule if the rules are still those of `before`.
    fn store_rule(
        &self,
        master: &MasterKey,
        project_id: ProjectId,
        before: Vec<RedactionRuleRow>,
        row: RedactionRuleRow,
        event: Option<ServiceEvent>,
    ) -> Result<()> {
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            if configurator.redaction_rules(project_id)? != before {
                return Err(AppError::Unavailable(StoreError::Stale));
            }
            configurator.put_redaction_rule(&row)?;
            Ok(Changed::if_some((), event))
        })
    }
}

/// The rules with one replaced, or added as the newest.
fn with_row(rows: &[RedactionRuleRow], row: &RedactionRuleRow) -> Vec<RedactionRuleRow> {
    let mut rows = rows.to_vec();
    match rows.iter_mut().find(|present| present.id == row.id) {
        Some(present) => present.clone_from(row),
        None => rows.push(row.clone()),
    }
    rows
}
