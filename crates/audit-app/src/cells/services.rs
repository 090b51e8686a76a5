//! The services of the cells, each opened when it is first needed, and what the home cell completes in them.

use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_domain::{OrganizationId, ProjectId};
use audit_store::{Cell, CellId, StoreError};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a request waits while another one opens its cell.
const OPENING_WAIT: Duration = Duration::from_secs(2);
/// How long no request tries to open a cell that could not be opened.
const FAILED_FOR: Duration = Duration::from_secs(2);

/// The error of a request whose cell cannot be reached.
fn unreachable(reason: &str) -> AppError {
    AppError::Unavailable(StoreError::Unreachable(reason.to_owned()))
}

impl AuditLog {
    /// Calls `listener` with each cell that this process has opened or opens, from the thread that opens it: to start its background work.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`] when a listener is set already.
    pub fn on_cell(&self, listener: impl Fn(&Arc<Self>) + Send + Sync + 'static) -> Result<()> {
        let is_set = self.cells.listener.set(Box::new(listener));
        is_set.map_err(|_| AppError::from(StoreError::Duplicate))?;
        if let Some(listener) = self.cells.listener.get() {
            // The first organization may be in one.
            self.cells.opened().iter().for_each(listener);
        }
        Ok(())
    }

    /// All cells of the directory; none on SQLite.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn cells(&self) -> Result<Vec<Cell>> {
        Ok(self.home_store.read(|reader| reader.cells())?)
    }

    /// Opens the cells that this process has not opened yet. Call it every few seconds. A cell that cannot be reached is tried again by
    /// the next call.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn open_cells(self: &Arc<Self>) -> Result<()> {
        let cells = self.cells()?;
        self.cells.follow_directory(self.home_store.generation());
        for cell in cells.iter().filter(|cell| cell.id != CellId::HOME) {
            self.cells.exist.store(true, Ordering::Relaxed);
            if let Err(error) = self.cell(cell.id) {
                log::warn!("cannot open the cell {}: {error}", cell.name);
            }
        }
        Ok(())
    }

    /// Completes changes of organizations and claims of streams that were interrupted before they had reached all cells. Call it after
    /// [`Self::open_cells`].
    ///
    /// # Errors
    /// When a database cannot be read or written.
    pub fn complete_interrupted_changes(self: &Arc<Self>) -> Result<()> {
        if !self.cells.exist.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.complete_organizations(None)?;
        self.complete_claims()
    }

    /// The service of a cell. Opens it if this process has not done so yet.
    pub(crate) fn cell(self: &Arc<Self>, id: CellId) -> Result<Arc<Self>> {
        if id == CellId::HOME {
            return Ok(Arc::clone(self));
        }
        let slot = Arc::clone(self.cells.opened.lock().entry(id).or_default());
        let mut slot = slot
            .try_lock_for(OPENING_WAIT)
            .ok_or_else(|| unreachable("the cell is being opened"))?;
        if let Some(service) = &slot.service {
            return Ok(Arc::clone(service));
        }
        if slot.failed_at.is_some_and(|at| at.elapsed() < FAILED_FOR) {
            return Err(unreachable("the cell could not be opened"));
        }
        match self.open_cell(id) {
            Ok(service) => {
                slot.service = Some(Arc::clone(&service));
                self.cells.exist.store(true, Ordering::Relaxed);
                if let Some(listener) = self.cells.listener.get() {
                    listener(&service);
                }
                Ok(service)
            }
            Err(error) => {
                slot.failed_at = Some(Instant::now());
                Err(error)
            }
        }
    }

    fn open_cell(&self, id: CellId) -> Result<Arc<Self>> {
        let cells = self.cells()?;
        let cell = cells.iter().find(|cell| cell.id == id);
        let cell = cell.ok_or(AppError::NotFound("cell"))?;
        let store = self.home_store.open_cell(cell, &self.clock)?;
        let service = self.in_cell(store)?;
        service.load_remembered()?;
        Ok(service)
    }

    /// Whether the service is that of a cell other than the home cell.
    pub(crate) fn is_cell(&self) -> bool {
        !Arc::ptr_eq(&self.store, &self.home_store)
    }

    /// The cell of a project; the home cell also where there is no such project.
    ///
    /// # Errors
    /// When the directory or the cell cannot be reached.
    pub fn cell_of_project(self: &Arc<Self>, project_id: ProjectId) -> Result<Arc<Self>> {
        let id = self
            .home_store
            .read(|reader| reader.cell_of_project(project_id))?;
        self.cell(id)
    }

    /// Gives the copies of organizations in other cells their present plan; only those of `organization`, if it is given.
    ///
    /// `organizations` in the home cell is changed first, so a change that is interrupted before it has reached all cells is
    /// found here, by every node.
    pub(crate) fn complete_organizations(
        self: &Arc<Self>,
        organization: Option<OrganizationId>,
    ) -> Result<()> {
        let outdated = self.home_store.read(|reader| reader.outdated_organizations())?;
        let mut first_error = None;
        for (cell, id) in outdated {
            if organization.is_some_and(|only| only != id) {
                continue;
            }
            if let Err(error) = self.complete_organization(cell, id) {
                log::warn!("cannot change the plan of organization {id} in a cell: {error}");
                first_error.get_or_insert(error);
            }
        }
        first_error.map_or(Ok(()), Err)
    }

    fn complete_organization(self: &Arc<Self>, cell: CellId, id: OrganizationId) -> Result<()> {
        let service = self.cell(cell)?;
        let found = self.home_store.read(|reader| reader.organization(id))?;
        let plan = found.ok_or(AppError::NotFound("organization"))?.plan;
        service
            .store
            .configure(id, move |configurator| configurator.set_plan(plan))?;
        service.wake_deliveries();
        Ok(self
            .home_store
            .write(move |writer| writer.note_plan_in_cell(cell, id, plan))?)
    }

    /// Adds a copy of an organization to a cell.
    pub(crate) fn copy_organization(self: &Arc<Self>, cell: CellId, id: OrganizationId) -> Result<()> {
        let found = self.home_store.read(|reader| reader.organization(id))?;
        let organization = found.ok_or(AppError::NotFound("organization"))?;
        let plan = organization.plan;
        // First, so that a change of the plan from now on reaches the copy.
        self.home_store
            .write(move |writer| writer.note_plan_in_cell(cell, id, plan))?;
        self.cell(cell)?
            .store
            .write(move |writer| writer.copy_organization(&organization))?;
        // The plan may have changed between the read and the note.
        let now = self.home_store.read(|reader| reader.organization(id))?;
        match now.is_some_and(|now| now.plan != plan) {
            true => self.complete_organization(cell, id),
            false => Ok(()),
        }
    }
}
