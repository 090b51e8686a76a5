//! Redaction rules as rows; the application interprets them.

use super::schema::redaction_rules;
use crate::access::{Configurator, Reader};
use crate::error::{Result, StoreError};
use audit_domain::{ProjectId, Timestamp};
use diesel::prelude::*;

/// A stored rule, as text; the application parses it.
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
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The rules of a project, oldest first.
    pub fn redaction_rules(&mut self, project_id: ProjectId) -> Result<Vec<RedactionRuleRow>> {
        let rows = redaction_rules::table
            .filter(redaction_rules::project_id.eq(project_id.to_string()))
            .order((redaction_rules::created_at, redaction_rules::id))
            .load::<Columns>(self.session())?;
        rows.into_iter().map(read).collect()
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Configurator<'_, ProjectId> {
    /// Adds a rule, or replaces the one with its id.
    pub fn put_redaction_rule(&mut self, rule: &RedactionRuleRow) -> Result<()> {
        self.delete_redaction_rule(&rule.id)?;
        let project_id = self.owner().to_string();
        let fields = rule
            .fields
            .as_ref()
            .map(|fields| serde_json::Value::from(fields.clone()).to_string());
        diesel::insert_into(redaction_rules::table)
            .values((
                redaction_rules::project_id.eq(project_id),
                redaction_rules::id.eq(&rule.id),
                redaction_rules::kind.eq(&rule.kind),
                redaction_rules::name.eq(&rule.name),
                redaction_rules::pattern.eq(&rule.pattern),
                redaction_rules::fields.eq(fields),
                redaction_rules::behavior.eq(&rule.behavior),
                redaction_rules::enabled.eq(rule.enabled),
                redaction_rules::created_at.eq(rule.created_at.as_micros()),
            ))
            .execute(self.session()?)?;
        Ok(())
    }

    /// Removes a rule; `false` when there is none.
    pub fn delete_redaction_rule(&mut self, id: &str) -> Result<bool> {
        let row = redaction_rules::table.find((self.owner().to_string(), id.to_owned()));
        self.change_if_found(|session| Ok(diesel::delete(row).execute(session)? > 0))
    }
}
