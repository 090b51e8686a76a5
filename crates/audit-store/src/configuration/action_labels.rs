//! The catalogue of a project's actions, as rows; the application interprets the entries.

use super::schema::action_labels;
use crate::access::{Configurator, Reader};
use crate::error::Result;
use audit_domain::ProjectId;
use diesel::prelude::*;

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// Up to `limit` actions of a project's catalogue that follow `after`, in order, each with its entry.
    pub fn action_labels(
        &mut self,
        project_id: ProjectId,
        after: &str,
        limit: i64,
    ) -> Result<Vec<(String, String)>> {
        Ok(action_labels::table
            .filter(action_labels::project_id.eq(project_id.to_string()))
            .filter(action_labels::action.gt(after))
            .select((action_labels::action, action_labels::entry))
            .order(action_labels::action)
            .limit(limit)
            .load(self.session())?)
    }

    /// The entry of an action.
    pub fn action_label(&mut self, project_id: ProjectId, action: &str) -> Result<Option<String>> {
        Ok(action_labels::table
            .find((project_id.to_string(), action.to_owned()))
            .select(action_labels::entry)
            .get_result(self.session())
            .optional()?)
    }

    /// The number of entries of a project's catalogue.
    pub fn action_label_count(&mut self, project_id: ProjectId) -> Result<i64> {
        Ok(action_labels::table
            .filter(action_labels::project_id.eq(project_id.to_string()))
            .count()
            .get_result(self.session())?)
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Configurator<'_, ProjectId> {
    /// Adds the entry of an action, or replaces it.
    pub fn put_action_label(&mut self, action: &str, entry: &str) -> Result<()> {
        self.delete_action_label(action)?;
        diesel::insert_into(action_labels::table)
            .values((
                action_labels::project_id.eq(self.owner().to_string()),
                action_labels::action.eq(action),
                action_labels::entry.eq(entry),
            ))
            // No node caches it.
            .execute(self.uncached_session())?;
        Ok(())
    }

    /// Removes the entry of an action.
    pub fn delete_action_label(&mut self, action: &str) -> Result<()> {
        let row = action_labels::table.find((self.owner().to_string(), action.to_owned()));
        diesel::delete(row).execute(self.uncached_session())?;
        Ok(())
    }
}
