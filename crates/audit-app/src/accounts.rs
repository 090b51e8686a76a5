//! Organizations, projects and keys.

use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_auth::{KeyHolder, KeyKind, KeyText, MasterKey, Principal};
use audit_domain::{Environment, KeyId, Name, OrganizationId, Plan, ProjectId, ViewerTier};
use audit_store::{
    CellId, Configurator, Deployment, Key, KeyTextHash, Organization, Project, Reader, StoreError,
};
use std::sync::Arc;

/// A new key. Its text is not stored, so it cannot be shown again.
#[derive(Debug)]
pub struct NewKey {
    /// The full key.
    pub text: KeyText,
    /// The stored metadata.
    pub key: Key,
}

/// A new organization with its first project and keys.
#[derive(Debug)]
pub struct NewOrganization {
    /// The organization.
    pub organization: Organization,
    /// Its first project.
    pub project: Project,
    /// Its master key.
    pub master_key: KeyText,
    /// A live key of the project.
    pub project_key: KeyText,
}

/// The maximum number of keys of a project that are not revoked.
pub const PROJECT_KEYS_MAX: usize = 1_000;
/// The maximum number of projects of an organization.
pub const PROJECTS_MAX: usize = 1_000;

impl AuditLog {
    /// Creates an organization with a project `default`, a master key and a live project key.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn create_organization(self: &Arc<Self>, name: &Name, plan: Plan) -> Result<NewOrganization> {
        let place = self.store.read(|reader| reader.cell_for_new_project())?;
        let (new, keys) = self.new_organization(name, plan);
        let (new, keys) = self.store.configure(Deployment, move |configurator| {
            insert_organization(configurator, &new, &keys, place)?;
            Ok::<_, AppError>((new, keys))
        })?;
        self.insert_first_project(&new, &keys, place)?;
        Ok(new)
    }

    /// Creates the organization `default` if there is no organization, as on first start. If several nodes start at the
    /// same time, one creates it; the others get `None`.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn create_first_organization(self: &Arc<Self>) -> Result<Option<NewOrganization>> {
        if !self.store.read(|reader| reader.organizations())?.is_empty() {
            return Ok(None);
        }
        let name = "default".parse::<Name>().map_err(AppError::internal)?;
        let place = self.store.read(|reader| reader.cell_for_new_project())?;
        let (new, keys) = self.new_organization(&name, Plan::Enterprise);
        let created = self.store.configure(Deployment, move |configurator| {
            if !configurator.organizations()?.is_empty() {
                return Ok(None);
            }
            insert_organization(configurator, &new, &keys, place)?;
            Ok::<_, AppError>(Some((new, keys)))
        })?;
        let Some((new, keys)) = created else {
            return Ok(None);
        };
        self.insert_first_project(&new, &keys, place)?;
        Ok(Some(new))
    }

    /// Adds the project of a new organization, and its key, where they are not in the home cell.
    fn insert_first_project(
        self: &Arc<Self>,
        new: &NewOrganization,
        [_, live]: &[Key; 2],
        place: CellId,
    ) -> Result<()> {
        if place == CellId::HOME {
            return Ok(());
        }
        self.insert_project(new.project.clone(), place)?;
        self.insert_key(live.clone(), *new.project_key.hash().as_bytes(), new.project.id)
    }

    fn new_organization(&self, name: &Name, plan: Plan) -> (NewOrganization, [Key; 2]) {
        let created_at = self.clock.now();
        let id = OrganizationId::from_random(self.entropy.bytes());
        let organization = Organization {
            id,
            name: name.to_string(),
            plan,
            created_at,
        };
        let project = self.new_project(id, "default");
        let master = self.new_key(id, None, "master");
        let live = self.new_key(id, Some((project.id, Environment::Live)), "default");
        let keys = [master.key, live.key];
        (
            NewOrganization {
                organization,
                project,
                master_key: master.text,
                project_key: live.text,
            },
            keys,
        )
    }

    fn new_project(&self, organization_id: OrganizationId, name: &str) -> Project {
        let id = ProjectId::from_random(self.entropy.bytes());
        Project {
            id,
            organization_id,
            name: name.to_owned(),
            created_at: self.clock.now(),
        }
    }

    fn new_key(
        &self,
        organization_id: OrganizationId,
        project: Option<(ProjectId, Environment)>,
        name: &str,
    ) -> NewKey {
        let kind = project.map_or(KeyKind::Master, |(_, environment)| KeyKind::Project(environment));
        let text = KeyText::generate(kind, self.entropy.bytes());
        let key = Key {
            id: KeyId::from_random(self.entropy.bytes()),
            organization_id,
            project,
            name: name.to_owned(),
            prefix: text.prefix().to_owned(),
            created_at: self.clock.now(),
            last_used_at: None,
            revoked_at: None,
        };
        NewKey { text, key }
    }

    /// All organizations with their projects.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn organizations(&self) -> Result<Vec<(Organization, Vec<Project>)>> {
        self.store.read(|reader| {
            let organizations = reader.organizations()?;
            organizations
                .into_iter()
                .map(|one| reader.projects(one.id).map(|projects| (one, projects)))
                .collect::<Result<_, _>>()
                .map_err(AppError::from)
        })
    }

    /// Changes the plan of an organization. Takes effect with the next request.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn set_plan(self: &Arc<Self>, id: OrganizationId, plan: Plan) -> Result<()> {
        self.store
            .configure(id, move |configurator| match configurator.set_plan(plan)? {
                true => Ok(()),
                false => Err(AppError::NotFound("organization")),
            })?;
        // A cell that cannot be reached now gets it from `refresh_cells`.
        self.complete_organizations(Some(id))
    }

    /// The projects of the principal's organization, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn projects(&self, master: &MasterKey) -> Result<Vec<Project>> {
        let organization_id = master.organization_id;
        self.store
            .read(|reader| reader.projects(organization_id).map_err(AppError::from))
    }

    /// Creates a project.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the organization does not exist, [`AppError::Forbidden`] when it has
    /// [`PROJECTS_MAX`] projects.
    pub fn create_project(self: &Arc<Self>, organization_id: OrganizationId, name: &Name) -> Result<Project> {
        let place = self.store.read(|reader| reader.cell_for_new_project())?;
        self.insert_project(self.new_project(organization_id, name.as_str()), place)
    }

    /// Adds a project to a cell, and then to the list of projects. A project that was not added to the list cannot be used.
    fn insert_project(self: &Arc<Self>, project: Project, place: CellId) -> Result<Project> {
        let organization_id = project.organization_id;
        if place != CellId::HOME {
            self.store
                .read(|reader| check_new_project(reader, organization_id))?;
            self.copy_organization(place, organization_id)?;
            let project = project.clone();
            self.cell(place)?
                .store
                .configure(organization_id, move |configurator| {
                    configurator.insert_project(&project, &ViewerTier::initial())
                })?;
        }
        self.store.configure(organization_id, move |configurator| {
            check_new_project(configurator, organization_id)?;
            match place == CellId::HOME {
                true => configurator.insert_project(&project, &ViewerTier::initial())?,
                false => configurator.insert_project_of_cell(&project, place)?,
            }
            Ok(project)
        })
    }

    /// Creates a key for a project of the organization, or of any organization if `organization_id` is `None` (command
    /// line).
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the organization has no such project, [`AppError::Forbidden`] when the project has
    /// [`PROJECT_KEYS_MAX`] keys.
    pub fn create_project_key(
        self: &Arc<Self>,
        organization_id: Option<OrganizationId>,
        project_id: ProjectId,
        environment: Environment,
        name: &Name,
    ) -> Result<NewKey> {
        let project = self
            .store
            .read(|reader| reader.project(project_id).map_err(AppError::from))?;
        let owner = project.map(|project| project.organization_id);
        let owner = owner.filter(|owner| organization_id.is_none_or(|id| id == *owner));
        let owner = owner.ok_or(AppError::NotFound("project"))?;
        let new = self.new_key(owner, Some((project_id, environment)), name.as_str());
        self.insert_key(new.key.clone(), *new.text.hash().as_bytes(), project_id)?;
        Ok(new)
    }

    /// Adds a key to a project in its cell. The directory gets it first: a key that only the directory has is unknown.
    fn insert_key(self: &Arc<Self>, key: Key, hash: KeyTextHash, project_id: ProjectId) -> Result<()> {
        self.in_cell_of(
            |reader| reader.cell_of_project(project_id),
            |service| {
                if service.is_cell() {
                    let key = key.clone();
                    let entered = self
                        .store
                        .write(move |writer| writer.insert_key_of_cell(&key, &hash));
                    match entered {
                        // By an attempt before the project was moved.
                        Ok(()) | Err(StoreError::Duplicate) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                let key = key.clone();
                service.store.configure(project_id, move |configurator| {
                    let keys = configurator.project_keys(key.organization_id, Some(project_id))?;
                    if keys.iter().filter(|key| key.revoked_at.is_none()).count() >= PROJECT_KEYS_MAX {
                        return Err(AppError::Forbidden(format!(
                            "a project has at most {PROJECT_KEYS_MAX} keys that are not revoked"
                        )));
                    }
                    Ok(configurator.insert_key(&key, &hash)?)
                })
            },
        )
    }

    /// Creates another master key of an organization.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the organization does not exist.
    pub fn create_master_key(&self, organization_id: OrganizationId) -> Result<NewKey> {
        let found = self
            .store
            .read(|reader| reader.organization(organization_id).map_err(AppError::from))?;
        found.ok_or(AppError::NotFound("organization"))?;
        let new = self.new_key(organization_id, None, "master");
        self.store.configure(organization_id, move |configurator| {
            configurator.insert_master_key(&new.key, new.text.hash().as_bytes())?;
            Ok(new)
        })
    }

    /// Project keys. A master key lists those of its organization, optionally of one project; a project key lists those of
    /// its own project.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the principal has no access to the named project.
    pub fn keys(self: &Arc<Self>, principal: &KeyHolder, project_id: Option<ProjectId>) -> Result<Vec<Key>> {
        let own = match &**principal {
            Principal::Project(own) => Some(own.project_id),
            _ => project_id,
        };
        if let Some(only) = own {
            return self.in_cell_of(
                |reader| reader.cell_of_project(only),
                |service| service.keys_here(principal, project_id),
            );
        }
        let mut keys = self.keys_here(principal, None)?;
        let organization_id = principal.organization_id();
        let cells = self
            .home_store
            .read(|reader| reader.cells_of_organization(organization_id))?;
        if cells.is_empty() {
            return Ok(keys);
        }
        for cell in cells {
            keys.extend(self.cell(cell)?.keys_here(principal, None)?);
        }
        keys.sort_by_key(|key| (key.created_at, key.id.to_string()));
        Ok(keys)
    }

    /// [`Self::keys`] of the projects that this cell serves.
    fn keys_here(&self, principal: &KeyHolder, project_id: Option<ProjectId>) -> Result<Vec<Key>> {
        let mut keys = self.store.read(|reader| {
            let project_id = match (&**principal, project_id) {
                (Principal::Project(own), Some(named)) if named != own.project_id => {
                    return Err(AppError::NotFound("project"));
                }
                (Principal::Project(own), _) => Some(own.project_id),
                (_, None) => None,
                (_, Some(named)) => {
                    let project = reader.project(named)?;
                    let accessible =
                        project.filter(|project| project.organization_id == principal.organization_id());
                    Some(accessible.ok_or(AppError::NotFound("project"))?.id)
                }
            };
            Ok(reader.project_keys(principal.organization_id(), project_id)?)
        })?;
        for key in &mut keys {
            key.last_used_at = key.last_used_at.max(self.unwritten_use(key.id));
        }
        Ok(keys)
    }

    /// Revokes a project key. Does nothing to a revoked key.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the principal has no access to the key, and for master keys, which cannot be managed over
    /// HTTP.
    pub fn revoke_key(self: &Arc<Self>, principal: &KeyHolder, id: KeyId) -> Result<()> {
        self.in_cell_of(
            |reader| {
                let placement = reader.placement_of_key_id(id)?;
                Ok(placement.map_or(CellId::HOME, |placement| placement.cell))
            },
            |service| service.revoke_key_here(principal, id),
        )
    }

    fn revoke_key_here(&self, principal: &KeyHolder, id: KeyId) -> Result<()> {
        let now = self.clock.now();
        let key = self.store.read(|reader| reader.key(id).map_err(AppError::from))?;
        let project_id = key.and_then(|key| managed_project(principal, &key));
        let project_id = project_id.ok_or(AppError::NotFound("key"))?;
        self.store.configure(project_id, move |configurator| {
            Ok(configurator.revoke_key(id, now)?)
        })
    }
}

/// The project of a key that the principal can manage.
fn managed_project(principal: &Principal, key: &Key) -> Option<ProjectId> {
    let (project_id, _) = key.project?;
    let can_manage = match principal {
        Principal::Master(master) => master.organization_id == key.organization_id,
        Principal::Project(own) => own.project_id == project_id,
        Principal::Viewer(_) => false,
    };
    can_manage.then_some(project_id)
}

/// Adds an organization with its master key; also its project and the key of the project, if they are in the home cell.
fn insert_organization(
    configurator: &mut Configurator<'_, Deployment>,
    new: &NewOrganization,
    [master, live]: &[Key; 2],
    place: CellId,
) -> Result<()> {
    configurator.insert_organization(&new.organization)?;
    configurator.insert_first_key(master, new.master_key.hash().as_bytes())?;
    if place == CellId::HOME {
        configurator.insert_project(&new.project, &ViewerTier::initial())?;
        configurator.insert_first_key(live, new.project_key.hash().as_bytes())?;
    }
    Ok(())
}

/// Fails unless the organization exists and may have another project.
fn check_new_project(reader: &mut Reader<'_>, organization_id: OrganizationId) -> Result<()> {
    reader
        .organization(organization_id)?
        .ok_or(AppError::NotFound("organization"))?;
    match reader.projects(organization_id)?.len() < PROJECTS_MAX {
        true => Ok(()),
        false => Err(AppError::Forbidden(format!(
            "an organization has at most {PROJECTS_MAX} projects"
        ))),
    }
}
