//! What the directory of cells has.

use crate::database::url::{self, DatabaseUrl};
use crate::error::{Result, StoreError};
use crate::ids::StreamTokenHash;
use audit_domain::{Environment, ProjectId};

/// The number of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId(pub(crate) i64);

impl CellId {
    /// The cell of the directory.
    pub const HOME: Self = Self(0);
}

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its number.
    pub id: CellId,
    /// Its name.
    pub name: String,
    /// Its schema; `None`: that of the home cell.
    pub schema: Option<String>,
    /// Whether new projects are placed there.
    pub takes_projects: bool,
}

impl Cell {
    /// The URL of its database, for the deployment of this home cell.
    ///
    /// # Errors
    /// [`StoreError::CellsUnsupported`] on SQLite.
    pub fn database_url(&self, home: &DatabaseUrl) -> Result<DatabaseUrl> {
        match home {
            DatabaseUrl::Sqlite(_) => Err(StoreError::CellsUnsupported),
            DatabaseUrl::Postgres(home) => {
                Ok(DatabaseUrl::Postgres(url::of_cell(home, self.schema.as_deref())))
            }
        }
    }
}

/// A cell to be added to the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in Cell")]
pub struct NewCell {
    pub name: String,
    pub schema: String,
}

/// The place of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The project.
    pub project_id: ProjectId,
    /// Its cell.
    pub cell: CellId,
}

/// A claim of a stream by a project of another cell, until its events are stored there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct OpenClaim {
    pub token_hash: StreamTokenHash,
    pub project_id: ProjectId,
    pub environment: Environment,
}

/// The size of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellSize {
    /// The projects that it serves.
    pub projects: i64,
    /// Their events.
    pub events: i64,
    /// The bytes of its tables, with their indexes.
    pub bytes: i64,
}
