//! The two ends of a copy: it goes from SQLite to PostgreSQL.

use crate::database::DatabaseUrl;
use crate::error::{Result, StoreError};
pub(crate) use crate::postgres::copy::Target;
pub(crate) use crate::sqlite::copy::{LockedSource, Source, SourceReader};

/// Opens the source, which changes nothing.
pub(crate) fn open_source(url: &DatabaseUrl) -> Result<Source> {
    match url {
        DatabaseUrl::Sqlite(path) => Source::open(path),
        DatabaseUrl::Postgres(_) => Err(refused("the source of a copy is an SQLite database, sqlite:PATH")),
    }
}

/// Opens the target. A new database gets its tables.
pub(crate) fn open_target(url: &DatabaseUrl) -> Result<Target> {
    match url {
        DatabaseUrl::Postgres(url) => Target::open(url),
        DatabaseUrl::Sqlite(_) => Err(refused(
            "the target of a copy is a PostgreSQL database, postgres://USER@HOST/DATABASE",
        )),
    }
}

pub(crate) fn refused(reason: impl Into<String>) -> StoreError {
    StoreError::CopyRefused(reason.into())
}
