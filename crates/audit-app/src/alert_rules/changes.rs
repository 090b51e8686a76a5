//! The alert rules of a project, listed and changed.

use super::{AlertRules, rules_of};
use crate::error::{AppError, Result};
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use audit_alerts::{AlertRule, AlertRuleId, BuiltinRule, CUSTOM_RULES_MAX, RuleChange, RuleDefinition};
use audit_auth::{KeyHolder, MasterKey, Principal};
use audit_domain::{Plan, ProjectId, RuleId, Violations};
use audit_store::Configurator;

/// The rule with this id.
fn rule_of(rules: Vec<AlertRule>, id: AlertRuleId) -> Result<AlertRule> {
    let rule = rules.into_iter().find(|rule| rule.id() == id);
    rule.ok_or(AppError::NotFound("alert rule"))
}

/// Refuses settings that are not valid together.
fn check(definition: &RuleDefinition) -> Result<()> {
    match definition.contradiction() {
        Some(contradiction) => Err(Violations::one(contradiction.field(), contradiction).into()),
        None => Ok(()),
    }
}

impl AuditLog {
    /// The rules of a project: built-in, then custom.
    ///
    /// # Errors
    /// When the principal has no access to the project.
    pub fn alert_rules(&self, principal: &KeyHolder, selection: Selection) -> Result<AlertRules> {
        self.store.read(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            Ok(AlertRules {
                rules: rules_of(reader.alert_rules(scope.project.project.id)?),
                suppressed_alerts: reader.suppressed_alerts(scope.ledger_id)?,
            })
        })
    }

    /// A rule of a project.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn alert_rule(
        &self,
        principal: &KeyHolder,
        selection: Selection,
        id: AlertRuleId,
    ) -> Result<AlertRule> {
        rule_of(self.alert_rules(principal, selection)?.rules, id)
    }

    /// Creates a custom rule.
    ///
    /// # Errors
    /// [`AppError::Invalid`] when two settings are not valid together. [`AppError::AlertRuleLimit`] on the free plan, and when the
    /// project has [`CUSTOM_RULES_MAX`] custom rules.
    pub fn create_alert_rule(
        &self,
        master: &MasterKey,
        selection: Selection,
        definition: RuleDefinition,
    ) -> Result<AlertRule> {
        check(&definition)?;
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        let now = self.clock.now();
        let rule = AlertRule::custom(RuleId::from_random(self.entropy.bytes()), now, definition);
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            if configurator.plan_of(project_id)? == Plan::Free {
                let message = "custom alert rules need a paid plan";
                return Err(AppError::AlertRuleLimit(message.to_owned()));
            }
            let rules = rules_of(configurator.alert_rules(project_id)?);
            if rules.len() - BuiltinRule::ALL.len() >= CUSTOM_RULES_MAX {
                let message = format!("a project has at most {CUSTOM_RULES_MAX} custom alert rules");
                return Err(AppError::AlertRuleLimit(message));
            }
            configurator.put_alert_rule(&rule, now)?;
            let event = ServiceEvent::alert_rule(None, Some(&rule));
            Ok(Changed::if_some(rule, event))
        })
    }

    /// Changes a rule. Takes effect with the next request and resets the windows of the rule.
    ///
    /// # Errors
    /// [`AppError::NotFound`], [`AppError::Forbidden`] for a fixed field of a built-in rule, or [`AppError::Invalid`] when two settings
    /// are not valid together.
    pub fn change_alert_rule(
        &self,
        master: &MasterKey,
        selection: Selection,
        id: AlertRuleId,
        change: RuleChange,
    ) -> Result<AlertRule> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        let now = self.clock.now();
        self.change_project(
            project_id,
            &Requester::from(master),
            move |configurator: &mut Configurator<'_, ProjectId>| {
                let rule = rule_of(rules_of(configurator.alert_rules(project_id)?), id)?;
                let changed = rule.changed(change)?;
                check(changed.definition())?;
                if changed == rule {
                    return Ok(Changed::nothing(changed));
                }
                configurator.put_alert_rule(&changed, now)?;
                let event = ServiceEvent::alert_rule(Some(&rule), Some(&changed));
                Ok(Changed::if_some(changed, event))
            },
        )
    }

    /// Deletes a custom rule. Keeps its alerts.
    ///
    /// # Errors
    /// [`AppError::NotFound`], or [`AppError::Forbidden`] for a built-in rule.
    pub fn delete_alert_rule(&self, master: &MasterKey, selection: Selection, id: AlertRuleId) -> Result<()> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            let rule = rule_of(rules_of(configurator.alert_rules(project_id)?), id)?;
            configurator.delete_alert_rule(AlertRuleId::Custom(rule.deletable()?))?;
            Ok(Changed::if_some((), ServiceEvent::alert_rule(Some(&rule), None)))
        })
    }
}
