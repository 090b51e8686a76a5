//! Alert rules: the settings of built-in rules that a project has changed, and its custom rules.

use super::schema::alert_rules;
use crate::access::{Configurator, Reader};
use crate::columns::{stored, stored_if_some};
use crate::error::{Result, StoreError};
use audit_alerts::{
    AlertRule, AlertRuleId, Revision, RuleChange, RuleCondition, RuleConditions, RuleDefinition, RuleOrigin,
};
use audit_domain::{ProjectId, Timestamp};
use diesel::prelude::*;
use std::collections::BTreeMap;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = alert_rules, treat_none_as_default_value = false)]
struct AlertRuleColumns {
    /// A UUID, or the id of a built-in rule.
    id: String,
    name: String,
    action_pattern: String,
    threshold: i64,
    window_seconds: i64,
    group_by: String,
    count_distinct: Option<String>,
    severity: String,
    enabled: bool,
    cooldown_seconds: i64,
    conditions: String,
    revision: i64,
    created_at: i64,
}

const WHAT: &str = "alert rule";

/// The values of each condition that the rule has, by its name.
fn write_conditions(conditions: &RuleConditions) -> String {
    let values = RuleCondition::ALL
        .iter()
        .map(|of| (of.as_str(), conditions.values(*of)));
    let present: BTreeMap<&str, Vec<&str>> = values.filter(|(_, values)| !values.is_empty()).collect();
    serde_json::json!(present).to_string()
}

fn read_conditions(text: &str) -> Result<Vec<(RuleCondition, Vec<String>)>> {
    let conditions: BTreeMap<String, Vec<String>> =
        serde_json::from_str(text).map_err(|_| StoreError::Damaged { what: WHAT })?;
    let read = |(name, values): (String, _)| Ok((stored(&name, WHAT)?, values));
    conditions.into_iter().map(read).collect()
}

impl AlertRuleColumns {
    /// `now` is the time of creation of a built-in rule's row.
    fn of(rule: &AlertRule, now: Timestamp) -> Self {
        let created_at = match rule.origin() {
            RuleOrigin::Builtin(_) => now,
            RuleOrigin::Custom { created_at, .. } => created_at,
        };
        let RuleDefinition {
            name,
            action_pattern,
            threshold,
            window_seconds,
            group_by,
            count_distinct,
            severity,
            enabled,
            cooldown_seconds,
            conditions,
        } = rule.definition();
        Self {
            id: rule.id().to_string(),
            name: name.to_string(),
            action_pattern: action_pattern.to_string(),
            threshold: threshold.get().into(),
            window_seconds: window_seconds.get().into(),
            group_by: group_by.to_string(),
            count_distinct: count_distinct.map(|field| field.to_string()),
            severity: severity.to_string(),
            enabled: *enabled,
            cooldown_seconds: cooldown_seconds.get().into(),
            conditions: write_conditions(conditions),
            revision: rule.revision().number().into(),
            created_at: created_at.as_micros(),
        }
    }

    fn read(self) -> Result<AlertRule> {
        fn number<T: TryFrom<i64>>(number: i64) -> Result<T> {
            T::try_from(number).map_err(|_| StoreError::Damaged { what: WHAT })
        }
        let rule = match stored(&self.id, WHAT)? {
            AlertRuleId::Builtin(builtin) => {
                let change = RuleChange {
                    threshold: Some(number(self.threshold)?),
                    window_seconds: Some(number(self.window_seconds)?),
                    enabled: Some(self.enabled),
                    cooldown_seconds: Some(number(self.cooldown_seconds)?),
                    conditions: read_conditions(&self.conditions)?,
                    ..RuleChange::default()
                };
                let changed = AlertRule::builtin(builtin).changed(change);
                changed.map_err(|_| StoreError::Damaged { what: WHAT })?
            }
            AlertRuleId::Custom(id) => {
                let definition = RuleDefinition {
                    name: stored(&self.name, WHAT)?,
                    action_pattern: stored(&self.action_pattern, WHAT)?,
                    threshold: number(self.threshold)?,
                    window_seconds: number(self.window_seconds)?,
                    group_by: stored(&self.group_by, WHAT)?,
                    count_distinct: stored_if_some(self.count_distinct.as_deref(), WHAT)?,
                    severity: stored(&self.severity, WHAT)?,
                    enabled: self.enabled,
                    cooldown_seconds: number(self.cooldown_seconds)?,
                    conditions: read_conditions(&self.conditions)?
                        .into_iter()
                        .fold(RuleConditions::default(), |all, (of, values)| {
                            all.with(of, values)
                        }),
                };
                AlertRule::custom(id, Timestamp::from_micros(self.created_at), definition)
            }
        };
        Ok(rule.at_revision(Revision::from_number(number(self.revision)?)))
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The stored rules of a project, oldest first: custom rules, and built-in rules whose settings were changed.
    pub fn alert_rules(&mut self, project_id: ProjectId) -> Result<Vec<AlertRule>> {
        let rows = alert_rules::table
            .filter(alert_rules::project_id.eq(project_id.to_string()))
            .order((alert_rules::created_at, alert_rules::id))
            .select(AlertRuleColumns::as_select())
            .load(self.session())?;
        rows.into_iter().map(AlertRuleColumns::read).collect()
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Configurator<'_, ProjectId> {
    /// Adds a rule, or replaces the one with its id.
    pub fn put_alert_rule(&mut self, rule: &AlertRule, now: Timestamp) -> Result<()> {
        self.delete_alert_rule(rule.id())?;
        let project = alert_rules::project_id.eq(self.owner().to_string());
        diesel::insert_into(alert_rules::table)
            .values((project, AlertRuleColumns::of(rule, now)))
            .execute(self.session()?)?;
        Ok(())
    }

    /// Removes a rule; `false` when there is none.
    pub fn delete_alert_rule(&mut self, id: AlertRuleId) -> Result<bool> {
        let row = alert_rules::table.find((self.owner().to_string(), id.to_string()));
        self.change_if_found(|session| Ok(diesel::delete(row).execute(session)? > 0))
    }
}
