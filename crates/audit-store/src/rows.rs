//! The tables as the application sees them, within one transaction or one read.

use crate::connection::AnyConnection;

/// Access to the tables. What can be asked and changed is spread over the modules of this crate by subject; a row that
/// is not there is `Ok(None)`, never an error.
pub struct Rows<'a> {
    pub(crate) connection: &'a mut AnyConnection,
    /// Whether something changed that others keep in memory.
    pub(crate) is_configuration_changed: bool,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(connection: &'a mut AnyConnection) -> Self {
        Self {
            connection,
            is_configuration_changed: false,
        }
    }
}
