//! Transactions that write.

use crate::error::{Result, StoreError};
use diesel::QueryResult;
use diesel::connection::SimpleConnection;

/// Begins and ends transactions that write.
pub(crate) trait WriteTransactions: SimpleConnection {
    /// Begins a transaction that may write.
    fn begin(&mut self) -> QueryResult<()>;

    /// Commits it.
    fn commit(&mut self) -> QueryResult<()>;

    /// Rolls back after a commit that failed with `error`. Returns whether the transaction was rolled back for certain.
    fn roll_back_failed_commit(&mut self, error: &diesel::result::Error) -> bool;
}

/// Runs `work` in a transaction that may write, and commits it.
///
/// On [`StoreError::OutcomeUnknown`] the transaction may have been committed. On every other error it was rolled back: by this
/// function, or by the server, which rolls back the transaction of a connection that ends before the `COMMIT`.
pub(crate) fn write_transaction<S: WriteTransactions, T, E: From<StoreError>>(
    session: &mut S,
    work: impl FnOnce(&mut S) -> Result<T, E>,
) -> Result<T, E> {
    session.begin().map_err(StoreError::from)?;
    let outcome = work(session);
    let ended = match outcome {
        Ok(_) => session.commit(),
        Err(_) => session.batch_execute("ROLLBACK"),
    };
    match (outcome, ended) {
        (Ok(value), Ok(())) => Ok(value),
        (Ok(_), Err(error)) => match session.roll_back_failed_commit(&error) {
            true => Err(StoreError::from(error).into()),
            false => Err(StoreError::outcome_unknown(&error).into()),
        },
        (Err(error), Ok(())) => Err(error),
        (Err(error), Err(rollback)) => {
            log::warn!("cannot roll back a transaction: {rollback}");
            Err(error)
        }
    }
}
