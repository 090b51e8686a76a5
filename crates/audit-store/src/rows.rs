//! The tables as the application sees them, within one transaction or one read.

use crate::connection::AnyConnection;
use crate::index::IndexCache;
use std::sync::Arc;

/// Access to the tables. What can be asked and changed is spread over the modules of this crate by subject; a row that
/// is not there is `Ok(None)`, never an error.
pub struct Rows<'a> {
    pub(crate) connection: &'a mut AnyConnection,
    /// What is in memory of SQLite's index.
    pub(crate) index_cache: &'a Arc<IndexCache>,
    /// Whether something changed that others keep in memory.
    pub(crate) is_configuration_changed: bool,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(connection: &'a mut AnyConnection, index_cache: &'a Arc<IndexCache>) -> Self {
        Self {
            connection,
            index_cache,
            is_configuration_changed: false,
        }
    }
}
