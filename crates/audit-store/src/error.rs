//! Errors of the store.

use crate::shortage::with_advice;
use audit_domain::{DamagedEvent, ProjectId};
use diesel::result::DatabaseErrorInformation;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The write queue is full. Nothing was stored; retry later.
    #[error("the write queue is full")]
    Overloaded,
    /// No connection is available, the one in use broke, or the database temporarily cannot run the statement. Nothing was
    /// acknowledged; retry later.
    #[error("the database is unavailable: {0}")]
    Unreachable(String),
    /// The database did not confirm a commit, because the connection broke or the response took too long. The data may be stored
    /// or not. A retry with the same idempotency keys stores nothing twice.
    #[error("the database did not confirm the commit: {0}")]
    OutcomeUnknown(String),
    /// The database, or a pooler before it, cannot be used.
    #[error("{0}")]
    Unsupported(String),
    /// SQLite has no cells.
    #[error("SQLite has no cells: they need PostgreSQL")]
    CellsUnsupported,
    /// The store is shutting down.
    #[error("the store is shutting down")]
    Stopped,
    /// The configuration or the head of the ledger has changed since the events were prepared. Prepare them again.
    #[error("the configuration has changed since the request was prepared")]
    Stale,
    /// The head of the ledger is not one that the service wrote: it takes no events until it is repaired.
    #[error("the head of ledger {ledger_id} was changed; `audit-server log verify` has details")]
    ForgedHead {
        /// The number of the ledger.
        ledger_id: i64,
    },
    /// The ledger takes no events, because it could not be signed for too long, or has fewer events than it had.
    #[error(
        "ledger {ledger_id} was not signed in time or lost events; `audit-server log verify` has details"
    )]
    Unsigned {
        /// The number of the ledger.
        ledger_id: i64,
    },
    /// The row of an idempotency key is not one that the service wrote: whether the event of the request is stored is not known.
    #[error(
        "the row of an idempotency key of ledger {ledger_id} was changed; `audit-server log verify` has details"
    )]
    ForgedRow {
        /// The number of the ledger.
        ledger_id: i64,
    },
    /// The key of the heads is not the one of this database.
    #[error("{0}")]
    HeadKey(String),
    /// Another process has the database open.
    #[error("{0}")]
    InUse(String),
    /// The directory places the project, or its key, in a cell that does not have it: one of their servers has lost commits.
    #[error("the cell of the project does not have it")]
    NotInCell,
    /// The events would exceed the project's limit for the UTC day. None was stored.
    #[error("the daily limit of {limit} events is reached")]
    DailyLimit {
        /// The limit, in events a day.
        limit: u64,
    },
    /// The project is archived and takes no events of clients. None was stored.
    #[error("the project {0} is archived")]
    ProjectArchived(ProjectId),
    /// A row that must be unique exists already.
    #[error("a row with the same key exists already")]
    Duplicate,
    /// A newer version of the program created the database.
    #[error("the database is newer than this program: it has migration {0}")]
    NewerSchema(String),
    /// Migrating the schema failed.
    #[error("the database could not be migrated: {0}")]
    Migration(String),
    /// A stored value is invalid.
    #[error("the database has an invalid {what}")]
    Damaged {
        /// The kind of the value.
        what: &'static str,
    },
    /// A stored event is invalid.
    #[error(transparent)]
    DamagedEvent(#[from] DamagedEvent),
    /// The index is damaged.
    #[error(transparent)]
    DamagedIndex(#[from] audit_index::Damaged),
    /// The index cannot be verified.
    #[error("the index cannot be verified: {0}")]
    Unverifiable(&'static str),
    /// The database is the target of a copy that has not ended.
    #[error(
        "the database is an unfinished copy of {0}; `audit-server db copy` with --finish completes it, and nothing else may use it"
    )]
    UnfinishedCopy(String),
    /// The database was copied as a whole, and the copy is the deployment now.
    #[error("the database was moved to {0}, which is served instead")]
    Moved(String),
    /// A copy cannot begin or continue.
    #[error("{0}")]
    CopyRefused(String),
    /// A backup, or a restored database, cannot be written, or is damaged.
    #[error("{0}")]
    CopyFailed(String),
    /// An event of the source of a copy is damaged.
    #[error("event {seq} of {ledger} is damaged in the source: {what}")]
    DamagedSource {
        /// Its project and environment.
        ledger: String,
        /// Its position in the log.
        seq: i64,
        /// The damage.
        what: &'static str,
    },
    /// The database refused a statement.
    #[error("the database refused a statement: {0}")]
    Database(#[source] diesel::result::Error),
}

impl From<diesel::result::Error> for StoreError {
    fn from(error: diesel::result::Error) -> Self {
        use diesel::result::{DatabaseErrorKind, Error};
        match error {
            Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => Self::Duplicate,
            Error::DatabaseError(
                DatabaseErrorKind::ClosedConnection
                | DatabaseErrorKind::UnableToSendCommand
                | DatabaseErrorKind::SerializationFailure
                | DatabaseErrorKind::ReadOnlyTransaction,
                information,
            ) => Self::Unreachable(information.message().to_owned()),
            Error::BrokenTransactionManager => Self::Unreachable("the connection broke".to_owned()),
            Error::DatabaseError(DatabaseErrorKind::Unknown, information)
                if is_temporary(information.as_ref()) =>
            {
                Self::Unreachable(with_advice(information.message()))
            }
            other => Self::Database(other),
        }
    }
}

impl StoreError {
    /// Of a commit that failed and may be stored.
    pub(crate) fn outcome_unknown(error: &diesel::result::Error) -> Self {
        Self::OutcomeUnknown(with_advice(&error.to_string()))
    }
}

/// Whether an error of [`diesel::result::DatabaseErrorKind::Unknown`] is temporary: the database cannot run the statement
/// now, but the statement is right.
///
/// PostgreSQL translates its messages (`lc_messages`), and diesel does not expose its SQLSTATE. Diesel's kinds cover the
/// constraints (class 23) and lost connections (class 08). An undefined table or column and a syntax error (class 42) have a
/// position in the text of the statement, in every language. The rest is a timeout, a lock, a shutdown, a shortage or a
/// missing privilege (classes 40, 53, 55, 57, 58 and 42501), which an operator can end.
///
/// SQLite's messages are constants of its source: those that name a fault of the statement or of the file are permanent,
/// the rest is a lock or a shortage.
fn is_temporary(information: &(dyn DatabaseErrorInformation + Send + Sync)) -> bool {
    const PERMANENT: [&str; 6] = [
        "no such",
        "syntax error",
        "malformed",
        "not a database",
        "mismatch",
        "has no column",
    ];
    let message = information.message();
    information.statement_position().is_none() && !PERMANENT.iter().any(|part| message.contains(part))
}

/// The result of a call to the store.
pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;
