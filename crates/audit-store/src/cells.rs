//! Cells: complete schemas of this database, among which projects are divided, and the directory that says which project is in
//! which cell. Only PostgreSQL has cells.
//!
//! A cell is opened as a store of its own. The directory is in the home cell, the schema that the deployment names. A project is
//! placed in a cell when it is created, and stays there.

pub(crate) mod rows;

use crate::access::{Reader, Writer};
use crate::configuration::{Key, KeyTextHash, Organization};
use crate::database::on_cells;
use crate::error::{Result, StoreError};
use crate::ids::StreamTokenHash;
use audit_domain::{KeyId, OrganizationId, Plan, ProjectId, Timestamp};
use rows::{Cell, CellId, CellSize, NewCell, OpenClaim, Placement};

/// The directory.
#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// All cells by number: the home cell first. None on SQLite.
    pub fn cells(&mut self) -> Result<Vec<Cell>> {
        on_cells!(self.session(), Ok(Vec::new()), cells())
    }

    /// Whether there is another cell than the home cell.
    pub fn has_cells(&mut self) -> Result<bool> {
        on_cells!(self.session(), Ok(false), has_cells())
    }

    /// The cell of a project.
    pub fn cell_of_project(&mut self, project_id: ProjectId) -> Result<CellId> {
        on_cells!(self.session(), Ok(CellId::HOME), cell_of_project(project_id))
    }

    /// The place of the project of a key; `None` when no cell but the home cell can have the key.
    pub fn placement_of_key(&mut self, hash: &KeyTextHash) -> Result<Option<Placement>> {
        on_cells!(self.session(), Ok(None), placement_of_key(hash))
    }

    /// [`Self::placement_of_key`] by the id of the key.
    pub fn placement_of_key_id(&mut self, id: KeyId) -> Result<Option<Placement>> {
        on_cells!(self.session(), Ok(None), placement_of_key_id(id))
    }

    /// The cells other than the home cell that have projects of an organization.
    pub fn cells_of_organization(&mut self, id: OrganizationId) -> Result<Vec<CellId>> {
        on_cells!(self.session(), Ok(Vec::new()), cells_of_organization(id))
    }

    /// The cell for a new project: of those that take projects, the one with the fewest.
    pub fn cell_for_new_project(&mut self) -> Result<CellId> {
        on_cells!(self.session(), Ok(CellId::HOME), cell_for_new_project())
    }

    /// The copies of organizations whose plan is not the present one, as cell and organization.
    pub fn outdated_organizations(&mut self) -> Result<Vec<(CellId, OrganizationId)>> {
        on_cells!(self.session(), Ok(Vec::new()), outdated_organizations())
    }

    /// The claim of a stream that is not complete.
    pub fn open_claim(&mut self, token_hash: &StreamTokenHash) -> Result<Option<OpenClaim>> {
        let hash = token_hash.as_slice();
        let found = on_cells!(self.session(), Ok(Vec::new()), open_claims(Some(hash), None))?;
        Ok(found.into_iter().next())
    }

    /// Some of the claims that were begun before `before` and are not complete.
    pub fn open_claims(&mut self, before: Timestamp) -> Result<Vec<OpenClaim>> {
        on_cells!(self.session(), Ok(Vec::new()), open_claims(None, Some(before)))
    }

    /// The size of this cell.
    pub fn cell_size(&mut self) -> Result<CellSize> {
        on_cells!(self.session(), Err(StoreError::CellsUnsupported), cell_size())
    }
}

/// Changes of the directory.
#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written, or on SQLite"
)]
impl Writer<'_> {
    /// The number of a cell to be created. It is not used again if the cell is not added.
    pub fn next_cell_id(&mut self) -> Result<CellId> {
        on_cells!(self.session(), Err(StoreError::CellsUnsupported), next_cell_id())
    }

    /// Numbers the ledgers of this cell apart from those of all other cells, so that a number is one of the deployment. Call it before
    /// the cell has a project.
    pub fn number_ledgers_of(&mut self, cell: CellId) -> Result<()> {
        on_cells!(
            self.session(),
            Err(StoreError::CellsUnsupported),
            number_ledgers_of(cell)
        )
    }

    /// Adds a cell, which takes no new projects yet; [`StoreError::Duplicate`] when there is one of this name.
    pub fn insert_cell(&mut self, id: CellId, cell: &NewCell, now: Timestamp) -> Result<()> {
        on_cells!(
            self.session(),
            Err(StoreError::CellsUnsupported),
            insert_cell(id, cell, now)
        )
    }

    /// Sets the cells that take new projects.
    pub fn place_new_projects_in(&mut self, cells: &[CellId]) -> Result<()> {
        on_cells!(
            self.session(),
            Err(StoreError::CellsUnsupported),
            place_new_projects_in(cells)
        )
    }

    /// Enters a key of a project that another cell has.
    pub fn insert_key_of_cell(&mut self, key: &Key, hash: &KeyTextHash) -> Result<()> {
        on_cells!(
            self.session(),
            Err(StoreError::CellsUnsupported),
            insert_key_of_cell(key, hash)
        )
    }

    /// Enters the plan that a copy of an organization has.
    pub fn note_plan_in_cell(&mut self, cell: CellId, id: OrganizationId, plan: Plan) -> Result<()> {
        on_cells!(
            self.session(),
            Err(StoreError::CellsUnsupported),
            note_plan(cell, id, plan)
        )
    }

    /// Adds a copy of an organization to this cell, unless it has one.
    pub fn copy_organization(&mut self, organization: &Organization) -> Result<()> {
        on_cells!(
            self.session(),
            Err(StoreError::CellsUnsupported),
            copy_organization(organization)
        )
    }

    /// Begins a claim by a project of another cell.
    pub fn insert_open_claim(&mut self, claim: &OpenClaim, now: Timestamp) -> Result<()> {
        on_cells!(
            self.session(),
            Err(StoreError::CellsUnsupported),
            insert_open_claim(claim, now)
        )
    }

    /// Completes a claim by a project of another cell.
    pub fn delete_open_claim(&mut self, token_hash: &StreamTokenHash) -> Result<()> {
        on_cells!(
            self.session(),
            Err(StoreError::CellsUnsupported),
            delete_open_claim(token_hash)
        )
    }

    /// The number of events that a claim has stored in this cell; `None` before it has.
    pub fn stored_claim(&mut self, token_hash: &StreamTokenHash) -> Result<Option<u64>> {
        on_cells!(
            self.session(),
            Err(StoreError::CellsUnsupported),
            stored_claim(token_hash)
        )
    }

    /// Enters that a claim has stored its events in this cell; [`StoreError::Duplicate`] when another transaction has.
    pub fn insert_stored_claim(&mut self, claim: &OpenClaim, events: u64) -> Result<()> {
        on_cells!(
            self.session(),
            Err(StoreError::CellsUnsupported),
            insert_stored_claim(claim, events)
        )
    }
}
