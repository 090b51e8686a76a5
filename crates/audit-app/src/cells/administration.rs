//! The administration of cells.

use crate::error::{AppError, Result};
use crate::secrets::ServiceSecret;
use crate::service::AuditLog;
use audit_store::{Cell, CellId, CellSize, Deployment, NewCell, Store, StoreError};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The secret of a cell that says which deployment it belongs to.
const DEPLOYMENT_MARK: &str = "cell_of_deployment";

/// A cell and its size.
#[derive(Clone, Debug)]
pub struct CellReport {
    /// Its name.
    pub name: String,
    /// Its database, without the password.
    pub url: String,
    /// The server that has its tables, as host and port, if Citus has placed them.
    pub server: Option<String>,
    /// Whether new projects are placed there.
    pub takes_projects: bool,
    /// Its size; `None` when it cannot be reached.
    pub size: Option<CellSize>,
}

impl AuditLog {
    /// Creates a cell: its schema with all tables, and its entry in the directory. Where its database has Citus, Citus places it on
    /// one of its servers.
    ///
    /// # Errors
    /// [`AppError::Conflict`] when there is a cell of this name, or the schema belongs to another deployment or is the home
    /// cell; when a database fails.
    pub fn create_cell(&self, cell: &NewCell) -> Result<()> {
        let conflict = |message: &str| Err(AppError::Conflict(message.to_owned()));
        let is_same = |known: &Cell| known.schema.as_deref() == Some(&cell.schema);
        let known = self.cells()?;
        if known.iter().any(|known| known.name == cell.name) {
            return conflict("there is a cell of this name");
        }
        if known.iter().any(is_same) {
            return conflict("the schema is a cell already");
        }
        let id = self.store.write(|writer| writer.next_cell_id())?;
        let unnamed = Cell {
            id,
            name: cell.name.clone(),
            schema: Some(cell.schema.clone()),
            takes_projects: false,
        };
        let store = self.store.open_cell(&unnamed, &self.clock)?;
        let prepared = self.prepare_cell(&store, id);
        store.close();
        prepared?;
        store.distribute()?;
        let (cell, now) = (cell.clone(), self.clock.now());
        Ok(self
            .store
            .write(move |writer| writer.insert_cell(id, &cell, now))?)
    }

    /// Marks a store as a cell of this deployment.
    fn prepare_cell(&self, store: &Store, id: CellId) -> Result<()> {
        let now = self.clock.now();
        let cursor_key = ServiceSecret::CursorKey;
        let key = self.store.read(|reader| reader.secret(cursor_key.name()))?;
        let key = cursor_key.open(&key.unwrap_or_default(), &self.settings.encryption)?;
        let mark = Sha256::new_with_prefix("cell of ").chain_update(key.as_bytes());
        let mark = mark.finalize().to_vec();
        let expected = mark.clone();
        let found = store.configure(Deployment, move |configurator| -> Result<Vec<u8>> {
            if let Some(found) = configurator.secret(DEPLOYMENT_MARK)? {
                return Ok(found);
            }
            if !configurator.organizations()?.is_empty() {
                return Err(AppError::Conflict(
                    "the schema has data of another deployment".to_owned(),
                ));
            }
            configurator.insert_secret(DEPLOYMENT_MARK, &mark, now)?;
            configurator.number_ledgers_of(id)?;
            Ok(mark)
        })?;
        if found != expected {
            return Err(AppError::Conflict(
                "the schema is a cell of another deployment".to_owned(),
            ));
        }
        if self
            .store
            .read(|reader| reader.secret(DEPLOYMENT_MARK))?
            .is_some()
        {
            let unmarked = self.store.configure(Deployment, |configurator| {
                configurator.delete_secret(DEPLOYMENT_MARK)
            });
            unmarked?;
            return Err(AppError::Conflict(
                "the schema is that of the home cell".to_owned(),
            ));
        }
        Ok(())
    }

    /// All cells with their sizes; the home cell is the first one.
    ///
    /// # Errors
    /// [`StoreError::CellsUnsupported`] on SQLite; when the directory cannot be read.
    pub fn cell_reports(self: &Arc<Self>) -> Result<Vec<CellReport>> {
        let cells = self.cells()?;
        if cells.is_empty() {
            return Err(StoreError::CellsUnsupported.into());
        }
        cells.into_iter().map(|cell| self.cell_report(cell)).collect()
    }

    fn cell_report(self: &Arc<Self>, cell: Cell) -> Result<CellReport> {
        let url = self.store.cell_url(cell.schema.as_deref())?;
        let service = self.cell(cell.id);
        let server = service.as_ref().ok().and_then(|service| service.store.location());
        let size = service.and_then(|service| Ok(service.store.query(|reader| reader.cell_size())?));
        Ok(CellReport {
            server,
            size: size
                .inspect_err(|error| log::warn!("cannot read the size of the cell {}: {error}", cell.name))
                .ok(),
            name: cell.name,
            url: url.to_string(),
            takes_projects: cell.takes_projects,
        })
    }

    /// Places new projects in exactly these cells.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when there is no cell of one of the names.
    pub fn place_new_projects_in(&self, names: &[String]) -> Result<()> {
        let ids = names.iter().map(|name| self.cell_named(name));
        let ids: Vec<CellId> = ids.collect::<Result<_>>()?;
        Ok(self
            .store
            .write(move |writer| writer.place_new_projects_in(&ids))?)
    }

    fn cell_named(&self, name: &str) -> Result<CellId> {
        let cells = self.cells()?;
        if cells.is_empty() {
            return Err(StoreError::CellsUnsupported.into());
        }
        let found = cells.iter().find(|cell| cell.name == name);
        Ok(found.ok_or(AppError::NotFound("cell"))?.id)
    }
}
