//! Organizations and projects.

use super::keys::insert_key;
use super::owner::{Deployment, Owner};
use super::rows::{Key, KeyTextHash, Organization, Project, ProjectUpdate};
use super::schema::{organizations, projects};
use super::viewers;
use crate::access::{Configurator, Reader};
use crate::cells::rows::CellId;
use crate::columns::{read_list, stored, write_list};
use crate::database::{AnySession, on_cells};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::ledgers;
use audit_domain::{Environment, OrganizationId, Plan, ProjectId, Timestamp, ViewerTier};
use diesel::prelude::*;
use std::collections::HashMap;

type OrganizationRow = (String, String, String, i64);
type ProjectRow = (String, String, String, i64, Option<i64>, String);

fn read_organization((id, name, plan, created_at): OrganizationRow) -> Result<Organization> {
    Ok(Organization {
        id: stored(&id, "organization id")?,
        name,
        plan: stored(&plan, "plan")?,
        created_at: Timestamp::from_micros(created_at),
    })
}

fn read_project(
    (id, organization_id, name, created_at, archived_at, metadata_filter_paths): ProjectRow,
) -> Result<Project> {
    Ok(Project {
        id: stored(&id, "project id")?,
        organization_id: stored(&organization_id, "organization id")?,
        name,
        created_at: Timestamp::from_micros(created_at),
        archived_at: archived_at.map(Timestamp::from_micros),
        metadata_filter_paths: read_list(&metadata_filter_paths, "path of a filter")?,
    })
}

/// The columns of a change; those without a value stay.
#[derive(AsChangeset)]
#[diesel(table_name = projects)]
struct ProjectColumns<'a> {
    name: Option<&'a str>,
    archived_at: Option<Option<i64>>,
    metadata_filter_paths: Option<String>,
}

impl<'a> ProjectColumns<'a> {
    /// `None` if nothing is changed, for which there is no statement.
    fn of(change: &'a ProjectUpdate) -> Option<Self> {
        let is_change = *change != ProjectUpdate::default();
        is_change.then(|| Self {
            name: change.name.as_deref(),
            archived_at: change.archived_at.map(|at| at.map(Timestamp::as_micros)),
            metadata_filter_paths: change.metadata_filter_paths.as_deref().map(write_list),
        })
    }
}

/// Organizations and projects.
#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// All projects with their cells.
    pub fn placed_projects(&mut self) -> Result<Vec<(String, CellId)>> {
        let ids: Vec<String> = projects::table.select(projects::id).load(self.session())?;
        let elsewhere = on_cells!(self.session(), Ok(HashMap::new()), placements())?;
        let place = |id: String| {
            let cell = elsewhere.get(&id).copied().unwrap_or(CellId::HOME);
            (id, cell)
        };
        Ok(ids.into_iter().map(place).collect())
    }

    /// One organization.
    pub fn organization(&mut self, id: OrganizationId) -> Result<Option<Organization>> {
        let row = organizations::table
            .find(id.to_string())
            .get_result::<OrganizationRow>(self.session())
            .optional()?;
        row.map(read_organization).transpose()
    }

    /// The plan of a project's organization; the free plan where there is none.
    pub fn plan_of(&mut self, project_id: ProjectId) -> Result<Plan> {
        let organization = match self.project(project_id)? {
            Some(project) => self.organization(project.organization_id)?,
            None => None,
        };
        Ok(organization.map_or(Plan::Free, |organization| organization.plan))
    }

    /// All organizations, oldest first.
    pub fn organizations(&mut self) -> Result<Vec<Organization>> {
        let rows = organizations::table
            .order((organizations::created_at, organizations::id))
            .load::<OrganizationRow>(self.session())?;
        rows.into_iter().map(read_organization).collect()
    }

    /// One project.
    pub fn project(&mut self, id: ProjectId) -> Result<Option<Project>> {
        let row = projects::table
            .find(id.to_string())
            .get_result::<ProjectRow>(self.session())
            .optional()?;
        row.map(read_project).transpose()
    }

    /// The projects of an organization, oldest first.
    pub fn projects(&mut self, organization_id: OrganizationId) -> Result<Vec<Project>> {
        let rows = projects::table
            .filter(projects::organization_id.eq(organization_id.to_string()))
            .order((projects::created_at, projects::id))
            .load::<ProjectRow>(self.session())?;
        rows.into_iter().map(read_project).collect()
    }

    /// The ledger of each environment of a project.
    pub fn ledgers(&mut self, project_id: ProjectId) -> Result<HashMap<Environment, LedgerId>> {
        ledgers::ledgers_of(self.session(), project_id)
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Configurator<'_, Deployment> {
    /// Adds an organization.
    pub fn insert_organization(&mut self, organization: &Organization) -> Result<()> {
        diesel::insert_into(organizations::table)
            .values((
                organizations::id.eq(organization.id.to_string()),
                organizations::name.eq(&organization.name),
                organizations::plan.eq(organization.plan.as_str()),
                organizations::created_at.eq(organization.created_at.as_micros()),
            ))
            .execute(self.uncached_session())?;
        Ok(())
    }

    /// Adds a key of an organization that this transaction has added.
    pub fn insert_first_key(&mut self, key: &Key, hash: &KeyTextHash) -> Result<()> {
        insert_key(self.uncached_session(), key, hash)
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Configurator<'_, OrganizationId> {
    /// Adds a project that another cell has to the list of projects.
    pub fn insert_project_of_cell(&mut self, project: &Project, cell: CellId) -> Result<()> {
        insert_project_row(self.uncached_session(), project)?;
        on_cells!(
            self.uncached_session(),
            Err(StoreError::CellsUnsupported),
            place(project.id, cell)
        )
    }

    /// Changes a project of another cell in the list of projects.
    pub fn update_project_of_cell(&mut self, id: ProjectId, change: &ProjectUpdate) -> Result<()> {
        let Some(columns) = ProjectColumns::of(change) else {
            return Ok(());
        };
        let organization_id = self.owner().to_string();
        let row = projects::table
            .find(id.to_string())
            .filter(projects::organization_id.eq(organization_id));
        // Only the cell of the project caches it.
        diesel::update(row)
            .set(columns)
            .execute(self.uncached_session())?;
        Ok(())
    }

    /// Changes the organization's plan; `false` when there is no such organization.
    pub fn set_plan(&mut self, plan: Plan) -> Result<bool> {
        let id = self.owner().to_string();
        let is_found = self.change_if_found(|session| {
            let changed = diesel::update(organizations::table.find(id))
                .set(organizations::plan.eq(plan.as_str()))
                .execute(session)?;
            Ok(changed > 0)
        })?;
        if is_found && plan != Plan::Free {
            self.release_deliveries();
        }
        Ok(is_found)
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Configurator<'_, ProjectId> {
    /// Changes the project.
    pub fn update_project(&mut self, change: &ProjectUpdate) -> Result<()> {
        let Some(columns) = ProjectColumns::of(change) else {
            return Ok(());
        };
        let row = projects::table.find(self.owner().to_string());
        diesel::update(row).set(columns).execute(self.session()?)?;
        Ok(())
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl<O: Copy + Into<Owner>> Configurator<'_, O> {
    /// Adds a project with its ledgers and its first tiers. No node caches it yet.
    pub fn insert_project(&mut self, project: &Project, tiers: &[ViewerTier]) -> Result<()> {
        insert_project_row(self.uncached_session(), project)?;
        ledgers::create_ledgers(self.uncached_session(), project.id)?;
        for tier in tiers {
            viewers::insert_tier(self.uncached_session(), project.id, tier, project.created_at)?;
        }
        Ok(())
    }
}

fn insert_project_row(session: &mut AnySession, project: &Project) -> Result<()> {
    diesel::insert_into(projects::table)
        .values((
            projects::id.eq(project.id.to_string()),
            projects::organization_id.eq(project.organization_id.to_string()),
            projects::name.eq(&project.name),
            projects::created_at.eq(project.created_at.as_micros()),
            projects::archived_at.eq(project.archived_at.map(Timestamp::as_micros)),
            projects::metadata_filter_paths.eq(write_list(&project.metadata_filter_paths)),
        ))
        .execute(session)?;
    Ok(())
}
