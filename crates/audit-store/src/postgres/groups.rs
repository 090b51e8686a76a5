//! The number of groups into which the projects of a database are divided.

use super::schema::index_groups;
use crate::error::{Result, StoreError};
use crate::schema::ledgers;
use diesel::PgConnection;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;

/// Divides a database without projects into `groups` groups. A database with projects keeps its groups, because the index
/// of each project is in one of them.
///
/// # Errors
/// [`StoreError::Unsupported`] when a database with projects has another number of groups.
pub(crate) fn set(connection: &mut PgConnection, groups: u16) -> Result<()> {
    let wanted = i64::from(groups);
    connection.transaction(|connection| {
        let stored: i64 = index_groups::table.count().get_result(connection)?;
        if stored == wanted {
            return Ok(());
        }
        // Waits for transactions that have read the number to create a project.
        connection.batch_execute("LOCK TABLE index_groups")?;
        let projects: i64 = ledgers::table.count().get_result(connection)?;
        if projects > 0 {
            return Err(StoreError::Unsupported(format!(
                "the database has {stored} groups of projects and cannot have {wanted}: their number is fixed when the first \
                 project is created"
            )));
        }
        connection.batch_execute(&format!(
            "DELETE FROM index_groups WHERE id >= {wanted};
             INSERT INTO index_groups (id, token, expires_at) SELECT id, 0, '-infinity'
                 FROM generate_series(0, {wanted} - 1) AS id ON CONFLICT DO NOTHING"
        ))?;
        Ok(())
    })
}
