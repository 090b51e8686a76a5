//! What the records of a destination need of the log.

use crate::error::Result;
use crate::service::AuditLog;
use audit_store::LedgerId;

impl AuditLog {
    /// The log of this name (project and environment) as its checkpoints name it.
    pub(crate) fn log_origin(&self, name: &str) -> Result<String> {
        Ok(self.log_signer()?.origin(name)?.as_str().to_owned())
    }

    /// Signs the text of the note of a stream with the present key of the log. Returns the note.
    pub(crate) fn sign_stream(&self, text: &str) -> Result<String> {
        Ok(self.log_signer()?.sign_stream(text)?.note().to_owned())
    }

    /// A signed checkpoint of a log that covers at least its first `size` events.
    ///
    /// # Errors
    /// [`LogInconsistent`](crate::AppError::LogInconsistent) when the log does not continue its last checkpoint.
    pub(crate) fn checkpoint_covering(&self, ledger_id: LedgerId, name: &str, size: u64) -> Result<String> {
        Ok(self.covering_checkpoint(ledger_id, name, size)?.note)
    }
}
