//! What can go wrong below the application.

use audit_domain::DamagedEvent;

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// More is waiting to be written than the queue takes. Nothing was stored; try again later.
    #[error("the write queue is full")]
    Overloaded,
    /// No connection could be had, or the one in use broke. Nothing was acknowledged; try again later.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// The store is shutting down.
    #[error("the store is shutting down")]
    Stopped,
    /// What was prepared relied on keys, rules, limits or the end of a ledger that have changed since. Prepare it again.
    #[error("what this relied on has changed")]
    Stale,
    /// The events would pass the project's limit for the UTC day. Nothing of them was stored.
    #[error("the daily limit of {limit} events is reached")]
    DailyLimit {
        /// The limit, in events a day.
        limit: u64,
    },
    /// A row that must be unique is there already.
    #[error("there is one already")]
    Duplicate,
    /// The database was made by a newer version of the program.
    #[error("the database is newer than this program: it has migration {0}")]
    NewerSchema(String),
    /// Migrating the schema failed.
    #[error("the database could not be migrated: {0}")]
    Migration(String),
    /// A stored value is none that the program writes.
    #[error("the database holds a {what} that this program did not write")]
    Damaged {
        /// Which value.
        what: &'static str,
    },
    /// A stored event is no event.
    #[error(transparent)]
    DamagedEvent(#[from] DamagedEvent),
    /// The index is not as it was written.
    #[error(transparent)]
    DamagedIndex(#[from] audit_index::Damaged),
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
            Error::DatabaseError(_, information) if is_passing(information.message()) => {
                Self::Unreachable(information.message().to_owned())
            }
            other => Self::Database(other),
        }
    }
}

/// Whether a database says that it cannot do something now: it is being stopped, or somebody held a lock for too long.
/// Neither database gives these a kind of their own that diesel knows.
fn is_passing(message: &str) -> bool {
    const PASSING: [&str; 6] = [
        "terminating connection",
        "the database system is",
        "statement timeout",
        "lock timeout",
        "database is locked",
        "database table is locked",
    ];
    PASSING.iter().any(|passing| message.contains(passing))
}

/// The result of asking the store.
pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;
