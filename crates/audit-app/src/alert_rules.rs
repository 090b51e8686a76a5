//! Alert rules of a project.

use crate::error::{AppError, Result};
use crate::service::{AuditLog, Selection};
use audit_alerts::{
    AlertRule, AlertRuleId, BuiltinRule, CUSTOM_RULES_MAX, Revision, RuleChange, RuleDefinition, RuleOrigin,
    RuleSet,
};
use audit_auth::{KeyHolder, MasterKey, Principal};
use audit_domain::{Plan, RuleId, Timestamp};
use audit_store::{AlertRuleRow, Rows, StoreError};

fn damaged() -> AppError {
    StoreError::Damaged { what: "alert rule" }.into()
}

fn from_row(row: &AlertRuleRow) -> Result<AlertRule> {
    fn number<T: TryFrom<i64>>(number: i64) -> Result<T> {
        T::try_from(number).map_err(|_| damaged())
    }
    let rule = match row.id.parse().map_err(|_| damaged())? {
        AlertRuleId::Builtin(builtin) => {
            AlertRule::builtin(builtin, row.enabled, number(row.cooldown_seconds)?)
        }
        AlertRuleId::Custom(id) => {
            let definition = RuleDefinition {
                name: row.name.parse().map_err(|_| damaged())?,
                action_pattern: row.action_pattern.parse().map_err(|_| damaged())?,
                threshold: number(row.threshold)?,
                window_seconds: number(row.window_seconds)?,
                group_by: row.group_by.parse().map_err(|_| damaged())?,
                severity: row.severity.parse().map_err(|_| damaged())?,
                enabled: row.enabled,
                cooldown_seconds: number(row.cooldown_seconds)?,
            };
            AlertRule::custom(id, Timestamp::from_micros(row.created_at), definition)
        }
    };
    Ok(rule.at_revision(Revision::from_number(number(row.revision)?)))
}

fn to_row(rule: &AlertRule, now: Timestamp) -> AlertRuleRow {
    let created_at = match rule.origin() {
        RuleOrigin::Builtin(_) => now,
        RuleOrigin::Custom { created_at, .. } => created_at,
    };
    let definition = rule.definition();
    AlertRuleRow {
        id: rule.id().to_string(),
        name: definition.name.to_string(),
        action_pattern: definition.action_pattern.to_string(),
        threshold: definition.threshold.get().into(),
        window_seconds: definition.window_seconds.get().into(),
        group_by: definition.group_by.to_string(),
        severity: definition.severity.to_string(),
        enabled: definition.enabled,
        cooldown_seconds: definition.cooldown_seconds.get().into(),
        revision: rule.revision().number().into(),
        created_at: created_at.as_micros(),
    }
}

/// The built-in rules as a project has set them, then its custom rules, oldest first.
fn rules_of(rows: &[AlertRuleRow]) -> Result<Vec<AlertRule>> {
    let stored: Vec<AlertRule> = rows.iter().map(from_row).collect::<Result<_>>()?;
    let is_custom = |rule: &AlertRule| matches!(rule.origin(), RuleOrigin::Custom { .. });
    let builtin = |builtin: &BuiltinRule| {
        let changed = stored
            .iter()
            .find(|rule| rule.id() == AlertRuleId::Builtin(*builtin));
        let unchanged = || AlertRule::builtin(*builtin, true, Default::default());
        changed.cloned().unwrap_or_else(unchanged)
    };
    let mut rules: Vec<AlertRule> = BuiltinRule::ALL.iter().map(builtin).collect();
    rules.extend(stored.into_iter().filter(is_custom));
    Ok(rules)
}

/// The rules that count a project's events. Custom ones need a paid plan.
pub(crate) fn compile_rules(rows: &[AlertRuleRow], plan: Plan) -> Result<RuleSet> {
    let rules = rules_of(rows)?;
    let counts = |rule: &AlertRule| plan != Plan::Free || matches!(rule.origin(), RuleOrigin::Builtin(_));
    Ok(RuleSet::new(rules.into_iter().filter(counts)))
}

impl AuditLog {
    /// The rules of a project: built-in, then custom.
    ///
    /// # Errors
    /// When the principal does not reach the project.
    pub fn alert_rules(&self, principal: &KeyHolder, selection: Selection) -> Result<Vec<AlertRule>> {
        self.store.read(|rows| {
            let scope = self.scope(rows, principal, selection)?;
            rules_of(&rows.alert_rules(scope.project.project.id)?)
        })
    }

    /// Makes a custom rule.
    ///
    /// # Errors
    /// [`AppError::AlertRuleLimit`] on the free plan, and when the project has [`CUSTOM_RULES_MAX`] already.
    pub fn create_alert_rule(
        &self,
        master: &MasterKey,
        selection: Selection,
        definition: RuleDefinition,
    ) -> Result<AlertRule> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        let now = self.clock.now();
        let rule = AlertRule::custom(RuleId::from_random(self.entropy.bytes()), now, definition);
        self.store.configure(move |rows| {
            if rows.plan_of(project_id)? == Plan::Free {
                let message = "custom alert rules need a paid plan";
                return Err(AppError::AlertRuleLimit(message.to_owned()));
            }
            let rules = rules_of(&rows.alert_rules(project_id)?)?;
            if rules.len() - BuiltinRule::ALL.len() >= CUSTOM_RULES_MAX {
                let message = format!("a project has at most {CUSTOM_RULES_MAX} custom alert rules");
                return Err(AppError::AlertRuleLimit(message));
            }
            rows.put_alert_rule(project_id, &to_row(&rule, now))?;
            Ok(rule)
        })
    }

    /// Changes a rule, from the next request on; its windows start afresh.
    ///
    /// # Errors
    /// [`AppError::NotFound`], or [`AppError::Forbidden`] for what is fixed in a built-in rule.
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
        self.store.configure(move |rows: &mut Rows<'_>| {
            let rules = rules_of(&rows.alert_rules(project_id)?)?;
            let rule = rules
                .into_iter()
                .find(|rule| rule.id() == id)
                .ok_or(AppError::NotFound("alert rule"))?;
            let changed = rule.changed(change)?;
            if changed != rule {
                rows.put_alert_rule(project_id, &to_row(&changed, now))?;
            }
            Ok(changed)
        })
    }

    /// Deletes a custom rule. Its alerts stay.
    ///
    /// # Errors
    /// [`AppError::NotFound`], or [`AppError::Forbidden`] for a built-in rule.
    pub fn delete_alert_rule(&self, master: &MasterKey, selection: Selection, id: AlertRuleId) -> Result<()> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        self.store.configure(move |rows| {
            let rules = rules_of(&rows.alert_rules(project_id)?)?;
            let rule = rules.iter().find(|rule| rule.id() == id);
            let id = rule.ok_or(AppError::NotFound("alert rule"))?.deletable()?;
            rows.delete_alert_rule(project_id, &id.to_string())?;
            Ok(())
        })
    }
}
