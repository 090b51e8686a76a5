//! The record of a copy in its two databases: the only row of `database_copy`.

use crate::database::AnySession;
use crate::error::{Result, StoreError};
use crate::schema::database_copy;
use diesel::prelude::*;

/// The key of the row.
pub(crate) const ONLY_ROW: i64 = 1;
/// The target, until the copy is complete.
pub(crate) const UNFINISHED: &str = "unfinished";
/// The target of a complete copy.
pub(crate) const COMPLETE: &str = "complete";
/// The source of a complete copy.
pub(crate) const MOVED: &str = "moved";

/// The record of a copy.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Insertable)]
#[diesel(table_name = database_copy)]
pub(crate) struct CopyRecord {
    id: i64,
    pub(crate) state: String,
    pub(crate) copy_id: Vec<u8>,
    pub(crate) deployment_id: Vec<u8>,
    pub(crate) other_url: String,
    changed_at: i64,
}

impl CopyRecord {
    pub(crate) fn new(
        state: &str,
        copy_id: &[u8],
        deployment_id: &[u8],
        other_url: String,
        now: i64,
    ) -> Self {
        Self {
            id: ONLY_ROW,
            state: state.to_owned(),
            copy_id: copy_id.to_owned(),
            deployment_id: deployment_id.to_owned(),
            other_url,
            changed_at: now,
        }
    }

    pub(crate) fn is(&self, state: &str) -> bool {
        self.state == state
    }
}

/// Fails unless the database may be served: an unfinished copy has not all events, and a database that was moved would get
/// events that the other one does not have.
pub(crate) fn refuse_unserved(session: &mut AnySession) -> Result<()> {
    let record: Option<CopyRecord> = database_copy::table
        .find(ONLY_ROW)
        .get_result(session)
        .optional()?;
    match record {
        None => Ok(()),
        Some(record) if record.is(COMPLETE) => Ok(()),
        Some(record) if record.is(MOVED) => Err(StoreError::Moved(record.other_url)),
        Some(record) => Err(StoreError::UnfinishedCopy(record.other_url)),
    }
}
