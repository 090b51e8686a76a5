//! Alert rules as rows. What they mean is the application's business.

use crate::error::Result;
use crate::rows::Rows;
use crate::schema::alert_rules;
use audit_domain::ProjectId;
use diesel::prelude::*;

/// A rule as it is stored. Words are kept as they are; the application reads them.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = alert_rules)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct AlertRuleRow {
    /// A UUID, or the id of a built-in rule whose settings were changed.
    pub id: String,
    pub name: String,
    pub action_pattern: String,
    pub threshold: i64,
    pub window_seconds: i64,
    pub group_by: String,
    pub severity: String,
    pub enabled: bool,
    pub cooldown_seconds: i64,
    /// Counts the edits.
    pub revision: i64,
    /// Microseconds since the Unix epoch.
    pub created_at: i64,
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be asked"
)]
impl Rows<'_> {
    /// The rules of a project, oldest first.
    pub fn alert_rules(&mut self, project_id: ProjectId) -> Result<Vec<AlertRuleRow>> {
        Ok(alert_rules::table
            .filter(alert_rules::project_id.eq(project_id.to_string()))
            .order((alert_rules::created_at, alert_rules::id))
            .select(AlertRuleRow::as_select())
            .load(self.connection)?)
    }

    /// Adds a rule, or puts it in the place of the one with its id.
    pub fn put_alert_rule(&mut self, project_id: ProjectId, rule: &AlertRuleRow) -> Result<()> {
        self.delete_alert_rule(project_id, &rule.id)?;
        diesel::insert_into(alert_rules::table)
            .values((alert_rules::project_id.eq(project_id.to_string()), rule.clone()))
            .execute(self.connection)?;
        self.is_configuration_changed = true;
        Ok(())
    }

    /// Removes a rule; `false` when there was none.
    pub fn delete_alert_rule(&mut self, project_id: ProjectId, id: &str) -> Result<bool> {
        let row = alert_rules::table.find((project_id.to_string(), id.to_owned()));
        let deleted = diesel::delete(row).execute(self.connection)? > 0;
        self.is_configuration_changed |= deleted;
        Ok(deleted)
    }
}
