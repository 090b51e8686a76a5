//! The versions of configurations: locking what an owner has, and drawing another version.
//!
//! The version of a project's configuration is in the rows of its ledgers, which every commit locks, compares and writes
//! anyway. So a commit reads no row that other projects share, and a change in one project affects no other.
//!
//! Rows are locked in one order: organization, ledgers by id, `deployment`. Commits lock only ledgers, in the same order,
//! so commits and changes cannot deadlock. A transaction that locks `deployment` first locks no existing ledger.

use super::owner::{ConfigurationVersion, Owner};
use super::schema::{organizations, projects};
use crate::access::{Reader, Writer};
use crate::database::{AnySession, on_database, select_for_no_key_update, select_for_update};
use crate::error::Result;
use crate::schema::{deployment, ledgers};
use audit_domain::{Environment, OrganizationId, ProjectId};
use diesel::prelude::*;

impl ConfigurationVersion {
    /// A new version.
    pub(crate) fn random(session: &mut AnySession) -> Result<Self> {
        on_database!(session, append::random_number()).map(Self)
    }
}

/// The key of the only row of `deployment`.
const ONLY_ROW: i64 = 1;

impl Owner {
    /// Lets one transaction at a time change what the owner has. Transactions lock at their beginning, so that none reads
    /// rows that another is about to change.
    ///
    /// The lock of a project is the lock on the heads of its ledgers, so no commit of its events runs meanwhile either.
    pub(crate) fn lock(self, session: &mut AnySession) -> Result<()> {
        match self {
            Self::Deployment => lock_deployment(session),
            Self::Organization(id) => lock_organization(session, id),
            Self::Project(id) => lock_ledgers(session, vec![id.to_string()]).map(drop),
        }
    }

    /// Draws another version for the configuration of the owner. The owner is locked.
    pub(crate) fn renew_version(self, session: &mut AnySession) -> Result<()> {
        let project_ids = match self {
            Self::Deployment => return renew_deployment_version(session),
            Self::Organization(id) => projects_of(session, id)?,
            Self::Project(id) => vec![id.to_string()],
        };
        let ledger_ids = lock_ledgers(session, project_ids)?;
        let version = ConfigurationVersion::random(session)?;
        diesel::update(ledgers::table.filter(ledgers::id.eq_any(ledger_ids)))
            .set(ledgers::configuration_version.eq(version.0))
            .execute(session)?;
        Ok(())
    }
}

fn lock_deployment(session: &mut AnySession) -> Result<()> {
    let row = deployment::table.find(ONLY_ROW).select(deployment::id);
    let _: i64 = select_for_update!(session, row, get_result)?;
    Ok(())
}

/// Tells the nodes that a webhook may have come into use.
fn renew_deployment_version(session: &mut AnySession) -> Result<()> {
    let version = ConfigurationVersion::random(session)?;
    diesel::update(deployment::table.find(ONLY_ROW))
        .set(deployment::version.eq(version.0))
        .execute(session)?;
    Ok(())
}

/// Locks the row of an organization, but not its key: a change of a project holds its ledgers while it inserts a row that
/// refers to the organization.
fn lock_organization(session: &mut AnySession, id: OrganizationId) -> Result<()> {
    let row = organizations::table
        .find(id.to_string())
        .select(organizations::id);
    let locked: QueryResult<String> = select_for_no_key_update!(session, row, get_result);
    locked.optional()?;
    Ok(())
}

fn projects_of(session: &mut AnySession, id: OrganizationId) -> Result<Vec<String>> {
    Ok(projects::table
        .filter(projects::organization_id.eq(id.to_string()))
        .select(projects::id)
        .load(session)?)
}

/// Locks the ledgers of projects in the order of their ids, as commits do.
fn lock_ledgers(session: &mut AnySession, project_ids: Vec<String>) -> Result<Vec<i64>> {
    let rows = ledgers::table
        .filter(ledgers::project_id.eq_any(project_ids))
        .order(ledgers::id)
        .select(ledgers::id);
    Ok(select_for_update!(session, rows, load)?)
}

impl Reader<'_> {
    /// The version of a project's configuration; `None` when there is no such project. Every change of its keys, plan,
    /// rules, tiers and webhooks draws another one.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn configuration_version(&mut self, project_id: ProjectId) -> Result<Option<ConfigurationVersion>> {
        let version: Option<i64> = ledgers::table
            .filter(ledgers::project_id.eq(project_id.to_string()))
            .filter(ledgers::environment.eq(Environment::Live.as_str()))
            .select(ledgers::configuration_version)
            .get_result(self.session())
            .optional()?;
        Ok(version.map(ConfigurationVersion))
    }

    /// The version of the deployment. It changes when a webhook may have come into use.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn deployment_version(&mut self) -> Result<ConfigurationVersion> {
        let version = deployment::table
            .find(ONLY_ROW)
            .select(deployment::version)
            .get_result(self.session())?;
        Ok(ConfigurationVersion(version))
    }
}

impl Writer<'_> {
    /// Locks the configuration of a project until the end of the transaction. Neither changes of it nor other commits of
    /// events to the project run meanwhile.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn hold_configuration(&mut self, project_id: ProjectId) -> Result<()> {
        Owner::Project(project_id).lock(self.session())
    }
}
