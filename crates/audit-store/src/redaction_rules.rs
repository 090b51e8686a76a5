//! Redaction rules as rows. What they mean is the application's business.

use crate::error::{Result, StoreError};
use crate::rows::Rows;
use crate::schema::redaction_rules;
use audit_domain::{ProjectId, Timestamp};
use diesel::prelude::*;

/// A rule as it is stored. Words are kept as they are; the application reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct RedactionRuleRow {
    /// A UUID, or the id of a built-in rule whose settings were changed.
    pub id: String,
    /// `pattern`, `field_redact` or `builtin`.
    pub kind: String,
    pub name: String,
    pub pattern: Option<String>,
    pub fields: Option<Vec<String>>,
    pub behavior: String,
    pub enabled: bool,
    pub created_at: Timestamp,
}

type Columns = (
    String,
    String,
    String,
    String,
    Option<String>,
    Option<String>,
    String,
    bool,
    i64,
);

fn read(
    (_, id, kind, name, pattern, fields, behavior, enabled, created_at): Columns,
) -> Result<RedactionRuleRow> {
    let fields = fields
        .map(|text| {
            serde_json::from_str(&text).map_err(|_| StoreError::Damaged {
                what: "list of fields",
            })
        })
        .transpose()?;
    let created_at = Timestamp::from_micros(created_at);
    Ok(RedactionRuleRow {
        id,
        kind,
        name,
        pattern,
        fields,
        behavior,
        enabled,
        created_at,
    })
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be asked"
)]
impl Rows<'_> {
    /// The rules of a project, oldest first.
    pub fn redaction_rules(&mut self, project_id: ProjectId) -> Result<Vec<RedactionRuleRow>> {
        let rows = redaction_rules::table
            .filter(redaction_rules::project_id.eq(project_id.to_string()))
            .order((redaction_rules::created_at, redaction_rules::id))
            .load::<Columns>(self.connection)?;
        rows.into_iter().map(read).collect()
    }

    /// Adds a rule, or puts it in the place of the one with its id.
    pub fn put_redaction_rule(&mut self, project_id: ProjectId, rule: &RedactionRuleRow) -> Result<()> {
        self.delete_redaction_rule(project_id, &rule.id)?;
        let fields = rule
            .fields
            .as_ref()
            .map(|fields| serde_json::Value::from(fields.clone()).to_string());
        diesel::insert_into(redaction_rules::table)
            .values((
                redaction_rules::project_id.eq(project_id.to_string()),
                redaction_rules::id.eq(&rule.id),
                redaction_rules::kind.eq(&rule.kind),
                redaction_rules::name.eq(&rule.name),
                redaction_rules::pattern.eq(&rule.pattern),
                redaction_rules::fields.eq(fields),
                redaction_rules::behavior.eq(&rule.behavior),
                redaction_rules::enabled.eq(rule.enabled),
                redaction_rules::created_at.eq(rule.created_at.as_micros()),
            ))
            .execute(self.connection)?;
        self.is_configuration_changed = true;
        Ok(())
    }

    /// Removes a rule; `false` when there was none.
    pub fn delete_redaction_rule(&mut self, project_id: ProjectId, id: &str) -> Result<bool> {
        let row = redaction_rules::table.find((project_id.to_string(), id.to_owned()));
        let deleted = diesel::delete(row).execute(self.connection)? > 0;
        self.is_configuration_changed |= deleted;
        Ok(deleted)
    }
}
