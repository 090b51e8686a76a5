//! Organizations, projects and keys.

use super::owner::{ConfigurationVersion, Deployment, Owner};
use super::schema::{api_keys, organizations, projects};
use super::viewers;
use crate::access::{Configurator, Reader, Writer};
use crate::append::LedgerId;
use crate::cells::CellId;
use crate::database::{AnySession, on_cells, on_database};
use crate::error::{Result, StoreError};
use crate::ledgers;
use crate::schema::ledgers as ledger_rows;
use audit_domain::{Environment, KeyId, OrganizationId, Plan, ProjectId, Timestamp, ViewerTier};
use diesel::prelude::*;
use std::collections::HashMap;
use std::str::FromStr;

/// An organization.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct Organization {
    pub id: OrganizationId,
    pub name: String,
    pub plan: Plan,
    pub created_at: Timestamp,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct Project {
    pub id: ProjectId,
    pub organization_id: OrganizationId,
    pub name: String,
    pub created_at: Timestamp,
}

/// A key, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct Key {
    pub id: KeyId,
    pub organization_id: OrganizationId,
    /// `None` for a master key.
    pub project: Option<(ProjectId, Environment)>,
    pub name: String,
    /// The first characters of the key.
    pub prefix: String,
    pub created_at: Timestamp,
    /// Up to a minute old.
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// The SHA-256 of a key's text.
pub type KeyTextHash = [u8; 32];

/// A key that was found by the hash of its text.
#[derive(Clone, Debug)]
pub struct FoundKey {
    /// The key.
    pub key: Key,
    /// The hash that is stored, for the caller to compare in constant time.
    pub hash: KeyTextHash,
    /// The version of its project's configuration, as of the same moment; `None` for a master key.
    pub configuration_version: Option<ConfigurationVersion>,
}

type OrganizationRow = (String, String, String, i64);
type ProjectRow = (String, String, String, i64);

#[derive(Queryable, Selectable)]
#[diesel(table_name = api_keys)]
struct KeyRow {
    id: String,
    organization_id: String,
    project_id: Option<String>,
    environment: Option<String>,
    name: String,
    prefix: String,
    created_at: i64,
    last_used_at: Option<i64>,
    revoked_at: Option<i64>,
}

/// Parses a stored value.
pub(crate) fn stored<T: FromStr>(text: &str, what: &'static str) -> Result<T> {
    text.parse().map_err(|_| StoreError::Damaged { what })
}

fn read_organization((id, name, plan, created_at): OrganizationRow) -> Result<Organization> {
    Ok(Organization {
        id: stored(&id, "organization id")?,
        name,
        plan: stored(&plan, "plan")?,
        created_at: Timestamp::from_micros(created_at),
    })
}

fn read_project((id, organization_id, name, created_at): ProjectRow) -> Result<Project> {
    Ok(Project {
        id: stored(&id, "project id")?,
        organization_id: stored(&organization_id, "organization id")?,
        name,
        created_at: Timestamp::from_micros(created_at),
    })
}

fn read_key(row: KeyRow) -> Result<Key> {
    let project = match (row.project_id, row.environment) {
        (Some(project_id), Some(environment)) => Some((
            stored(&project_id, "project id")?,
            stored(&environment, "environment")?,
        )),
        _ => None,
    };
    Ok(Key {
        id: stored(&row.id, "key id")?,
        organization_id: stored(&row.organization_id, "organization id")?,
        project,
        name: row.name,
        prefix: row.prefix,
        created_at: Timestamp::from_micros(row.created_at),
        last_used_at: row.last_used_at.map(Timestamp::from_micros),
        revoked_at: row.revoked_at.map(Timestamp::from_micros),
    })
}

/// Organizations and projects.
#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
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

    /// Adds a master key. Only the hash of its text is stored.
    pub fn insert_master_key(&mut self, key: &Key, hash: &KeyTextHash) -> Result<()> {
        // Master keys are read at each use.
        insert_key(self.uncached_session(), key, hash)
    }

    /// Revokes a master key, unless it is revoked already. Requests of the key that are being prepared are refused as stale.
    pub fn revoke_master_key(&mut self, id: KeyId, now: Timestamp) -> Result<()> {
        let key = api_keys::table
            .find(id.to_string())
            .filter(api_keys::organization_id.eq(self.owner().to_string()))
            .filter(api_keys::project_id.is_null())
            .filter(api_keys::revoked_at.is_null());
        self.change_if_found(|session| {
            let revoked = diesel::update(key)
                .set(api_keys::revoked_at.eq(Some(now.as_micros())))
                .execute(session)?;
            Ok(revoked > 0)
        })?;
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

/// Keys.
#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The key whose text has this hash, revoked or not. The index compares SHA-256 hashes, which reveals nothing about the
    /// text.
    pub fn key_by_hash(&mut self, hash: &KeyTextHash) -> Result<Option<FoundKey>> {
        let live_ledger = ledger_rows::project_id
            .nullable()
            .eq(api_keys::project_id)
            .and(ledger_rows::environment.eq(Environment::Live.as_str()));
        let row = api_keys::table
            .left_join(ledger_rows::table.on(live_ledger))
            .filter(api_keys::key_hash.eq(hash.as_slice()))
            .select((
                KeyRow::as_select(),
                api_keys::key_hash,
                ledger_rows::configuration_version.nullable(),
            ))
            .get_result::<(KeyRow, Vec<u8>, Option<i64>)>(self.session())
            .optional()?;
        let Some((row, stored_hash, version)) = row else {
            return Ok(None);
        };
        let stored_hash = stored_hash
            .try_into()
            .map_err(|_| StoreError::Damaged { what: "key hash" })?;
        Ok(Some(FoundKey {
            key: read_key(row)?,
            hash: stored_hash,
            configuration_version: version.map(ConfigurationVersion::served).transpose()?,
        }))
    }

    /// The project of a key with this hash, whether this cell serves it or not.
    pub fn key_project(&mut self, hash: &KeyTextHash) -> Result<Option<ProjectId>> {
        let project_id = api_keys::table
            .filter(api_keys::key_hash.eq(hash.as_slice()))
            .select(api_keys::project_id)
            .get_result::<Option<String>>(self.session())
            .optional()?;
        project_id
            .flatten()
            .map(|id| stored(&id, "project id"))
            .transpose()
    }

    /// One key.
    pub fn key(&mut self, id: KeyId) -> Result<Option<Key>> {
        let row = api_keys::table
            .find(id.to_string())
            .select(KeyRow::as_select())
            .get_result(self.session())
            .optional()?;
        row.map(read_key).transpose()
    }

    /// The project keys of an organization, oldest first; those of one project when it is given. Without the projects that
    /// this cell does not serve.
    pub fn project_keys(
        &mut self,
        organization_id: OrganizationId,
        project_id: Option<ProjectId>,
    ) -> Result<Vec<Key>> {
        let served = ledger_rows::table
            .filter(ledger_rows::configuration_version.ne(ConfigurationVersion::NOT_SERVED))
            .select(ledger_rows::project_id.nullable());
        let mut query = api_keys::table
            .filter(api_keys::organization_id.eq(organization_id.to_string()))
            .filter(api_keys::project_id.eq_any(served))
            .select(KeyRow::as_select())
            .order((api_keys::created_at, api_keys::id))
            .into_boxed();
        if let Some(project_id) = project_id {
            query = query.filter(api_keys::project_id.eq(project_id.to_string()));
        }
        query.load(self.session())?.into_iter().map(read_key).collect()
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Stores when keys were last used, unless a later use is stored. On PostgreSQL it leaves out the keys that another
    /// transaction has locked, so it never waits for one and cannot deadlock; another node then stores a use of the same seconds,
    /// or the key is being revoked.
    pub fn set_keys_last_used(&mut self, uses: &[(KeyId, Timestamp)]) -> Result<()> {
        let uses: Vec<(String, i64)> = uses
            .iter()
            .map(|(id, at)| (id.to_string(), at.as_micros()))
            .collect();
        on_database!(self.session(), key_uses::write(&uses))
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Configurator<'_, ProjectId> {
    /// Adds a key. Only the hash of its text is stored.
    pub fn insert_key(&mut self, key: &Key, hash: &KeyTextHash) -> Result<()> {
        insert_key(self.session()?, key, hash)
    }

    /// Revokes a key, unless it is revoked already.
    pub fn revoke_key(&mut self, id: KeyId, now: Timestamp) -> Result<()> {
        let active = api_keys::table
            .find(id.to_string())
            .filter(api_keys::project_id.eq(self.owner().to_string()))
            .filter(api_keys::revoked_at.is_null());
        self.change_if_found(|session| {
            let revoked = diesel::update(active)
                .set(api_keys::revoked_at.eq(Some(now.as_micros())))
                .execute(session)?;
            Ok(revoked > 0)
        })?;
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
        ))
        .execute(session)?;
    Ok(())
}

fn insert_key(session: &mut AnySession, key: &Key, hash: &KeyTextHash) -> Result<()> {
    let (project_id, environment) = key.project.unzip();
    diesel::insert_into(api_keys::table)
        .values((
            api_keys::id.eq(key.id.to_string()),
            api_keys::organization_id.eq(key.organization_id.to_string()),
            api_keys::project_id.eq(project_id.map(|id| id.to_string())),
            api_keys::environment.eq(environment.map(Environment::as_str)),
            api_keys::name.eq(&key.name),
            api_keys::prefix.eq(&key.prefix),
            api_keys::key_hash.eq(hash.as_slice()),
            api_keys::created_at.eq(key.created_at.as_micros()),
        ))
        .execute(session)?;
    Ok(())
}
