//! What a removal of events needs of the log.

use super::head_of;
use crate::error::Result;
use crate::service::{AuditLog, Scope};
use audit_ledger::TreeHead;

impl AuditLog {
    /// The head of a signed checkpoint that covers at least the first `size` events of a log. Signs one if there is none.
    ///
    /// # Errors
    /// [`LogInconsistent`](crate::AppError::LogInconsistent) when the log does not continue its last checkpoint.
    pub(crate) fn signed_head(&self, scope: &Scope, size: u64) -> Result<TreeHead> {
        head_of(
            &self
                .covering_checkpoint(scope.ledger_id, &scope.log_name(), size)?
                .note,
        )
    }

    /// Whether a quorum of witnesses has cosigned a checkpoint that covers the first `size` events of a log, or none are asked.
    pub(crate) fn has_quorum_over(&self, scope: &Scope, size: u64) -> Result<bool> {
        if self.witnessing.stored_cosignatures().is_none() {
            return Ok(true);
        }
        let origin = self.log_signer()?.origin(&scope.log_name())?;
        let signed = self.last_with_quorum(scope.ledger_id, &origin)?;
        Ok(signed.is_some_and(|signed| signed.head().size >= size))
    }
}
