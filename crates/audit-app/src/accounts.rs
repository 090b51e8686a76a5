//! Organizations and projects.

use crate::error::{AppError, Result};
use crate::self_audit::{Changed, Place, Requester, ServiceEvent};
use crate::service::AuditLog;
use audit_auth::{KeyText, MasterKey};
use audit_domain::{
    Environment, KeyLimits, MetadataPath, Name, OrganizationId, Plan, ProjectId, Timestamp, ViewerTier,
};
use audit_store::{CellId, Configurator, Deployment, Key, Organization, Project, ProjectUpdate, Reader};
use std::sync::Arc;

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

audit_domain::words! {
    /// Which projects are listed.
    pub enum ProjectListing {
        /// Those that are not archived.
        Active = "false",
        /// Those that are.
        Archived = "true",
        /// All.
        All = "all",
    }
}

impl ProjectListing {
    const fn includes(self, project: &Project) -> bool {
        match self {
            Self::Active => project.archived_at.is_none(),
            Self::Archived => project.archived_at.is_some(),
            Self::All => true,
        }
    }
}

/// What is changed of a project. Absent values are kept.
#[derive(Clone, Debug, Default)]
pub struct ProjectChange {
    /// Its name.
    pub name: Option<Name>,
    /// Whether it is archived: it takes no events of clients then. Everything else stays possible.
    pub is_archived: Option<bool>,
    /// The members of the metadata by which events can be filtered, each once.
    pub metadata_filter_paths: Option<Vec<MetadataPath>>,
}

impl ProjectChange {
    /// The project after the change. A project that is archived already keeps the time.
    fn applied_to(&self, project: Project, now: Timestamp) -> Project {
        let archived_at = match self.is_archived {
            Some(true) => project.archived_at.or(Some(now)),
            Some(false) => None,
            None => project.archived_at,
        };
        let name = self.name.as_ref().map(ToString::to_string);
        let metadata_filter_paths = self.metadata_filter_paths.clone();
        Project {
            name: name.unwrap_or(project.name),
            archived_at,
            metadata_filter_paths: metadata_filter_paths.unwrap_or(project.metadata_filter_paths),
            ..project
        }
    }
}

/// The maximum number of projects of an organization, archived ones included.
pub const PROJECTS_MAX: usize = 1_000;

impl AuditLog {
    /// Creates an organization with a project `default`, a master key and a live project key.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn create_organization(self: &Arc<Self>, name: &Name, plan: Plan) -> Result<NewOrganization> {
        let place = self.store.read(|reader| reader.cell_for_new_project())?;
        let (new, keys) = self.new_organization(name, plan);
        let project = Place::Project(new.project.id);
        let (new, keys) = self.change(Deployment, project, &Requester::Operator, move |configurator| {
            let events = insert_organization(configurator, &new, &keys, place)?;
            Ok(Changed::by_all((new, keys), events))
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
        let project = Place::Project(new.project.id);
        let created = self.change(Deployment, project, &Requester::Operator, move |configurator| {
            if !configurator.organizations()?.is_empty() {
                return Ok(Changed::nothing(None));
            }
            let events = insert_organization(configurator, &new, &keys, place)?;
            Ok(Changed::by_all(Some((new, keys)), events))
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
        let operator = &Requester::Operator;
        self.insert_project(new.project.clone(), place, operator)?;
        let hash = *new.project_key.hash().as_bytes();
        self.insert_key(live.clone(), hash, new.project.id, operator)
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
        let master = self.new_key(id, None, "master", KeyLimits::default());
        let live = self.new_key(
            id,
            Some((project.id, Environment::Live)),
            "default",
            KeyLimits::default(),
        );
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
            archived_at: None,
            metadata_filter_paths: Vec::new(),
        }
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
        self.change_organization(id, &Requester::Operator, move |configurator| {
            let before = configurator
                .organization(id)?
                .ok_or(AppError::NotFound("organization"))?;
            configurator.set_plan(plan)?;
            let event = (before.plan != plan).then(|| ServiceEvent::plan_updated(&before, plan));
            Ok(Changed::if_some((), event))
        })?;
        // A cell that cannot be reached now gets it from `complete_interrupted_changes`.
        self.complete_organizations(Some(id))
    }

    /// Projects of the principal's organization, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn projects(&self, master: &MasterKey, listed: ProjectListing) -> Result<Vec<Project>> {
        let mut projects = self
            .store
            .read(|reader| reader.projects(master.organization_id))?;
        projects.retain(|project| listed.includes(project));
        Ok(projects)
    }

    /// A project of the principal's organization.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn project(&self, master: &MasterKey, id: ProjectId) -> Result<Project> {
        let project = self.store.read(|reader| reader.project(id))?;
        let project = project.filter(|project| project.organization_id == master.organization_id);
        project.ok_or(AppError::NotFound("project"))
    }

    /// Changes a project of the principal's organization: in its cell, and then in the list of projects. A request whose events are not
    /// committed yet when the project is archived is prepared again with the changed configuration, which refuses it.
    ///
    /// # Errors
    /// [`AppError::NotFound`]; when the database cannot be written. Repeat it then: the list may not have the change yet.
    pub fn update_project(
        self: &Arc<Self>,
        master: &MasterKey,
        id: ProjectId,
        change: &ProjectChange,
    ) -> Result<Project> {
        let listed = self.project(master, id)?;
        let requester = &Requester::from(master);
        let service = self.cell_of_project(id)?;
        let (requested, now) = (change.clone(), self.clock.now());
        let project = service.change_project(id, requester, move |configurator| {
            let before = configurator.project(id)?.ok_or(AppError::NotFound("project"))?;
            let after = requested.applied_to(before.clone(), now);
            configurator.update_project(&ProjectUpdate {
                name: (after.name != before.name).then(|| after.name.clone()),
                archived_at: (after.archived_at != before.archived_at).then_some(after.archived_at),
                metadata_filter_paths: (after.metadata_filter_paths != before.metadata_filter_paths)
                    .then(|| after.metadata_filter_paths.clone()),
            })?;
            let events = ServiceEvent::project_changed(&before, &after);
            Ok(Changed::by_all(after, events))
        })?;
        if service.is_cell() {
            let (owner, requested) = (listed.organization_id, change.clone());
            self.change(owner, Place::Project(id), requester, move |configurator| {
                // As the cell has it now: a later change of it may be in the list already.
                let present = service.store.read(|reader| reader.project(id))?;
                let present = present.ok_or(AppError::NotFound("project"))?;
                // All that was requested, also if the cell had it: the list may not.
                let update = ProjectUpdate {
                    name: requested.name.is_some().then_some(present.name),
                    archived_at: requested.is_archived.map(|_| present.archived_at),
                    metadata_filter_paths: requested
                        .metadata_filter_paths
                        .is_some()
                        .then_some(present.metadata_filter_paths),
                };
                configurator.update_project_of_cell(id, &update)?;
                Ok(Changed::nothing(()))
            })?;
        }
        Ok(project)
    }

    /// Creates a project.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the organization does not exist, [`AppError::Forbidden`] when it has
    /// [`PROJECTS_MAX`] projects.
    pub fn create_project(
        self: &Arc<Self>,
        organization_id: OrganizationId,
        name: &Name,
        requester: &Requester,
    ) -> Result<Project> {
        let place = self.store.read(|reader| reader.cell_for_new_project())?;
        self.insert_project(self.new_project(organization_id, name.as_str()), place, requester)
    }

    /// Adds a project to a cell, and then to the list of projects. A project that was not added to the list cannot be used.
    fn insert_project(
        self: &Arc<Self>,
        project: Project,
        place: CellId,
        requester: &Requester,
    ) -> Result<Project> {
        let organization_id = project.organization_id;
        let of_project = Place::Project(project.id);
        if place != CellId::HOME {
            self.store
                .read(|reader| check_new_project(reader, organization_id))?;
            self.copy_organization(place, organization_id)?;
            let project = project.clone();
            self.cell(place)?
                .change(organization_id, of_project, requester, move |configurator| {
                    configurator.insert_project(&project, &ViewerTier::initial())?;
                    Ok(Changed::by((), ServiceEvent::project_created(&project)))
                })?;
        }
        self.change(organization_id, of_project, requester, move |configurator| {
            check_new_project(configurator, organization_id)?;
            if place != CellId::HOME {
                configurator.insert_project_of_cell(&project, place)?;
                return Ok(Changed::nothing(project));
            }
            configurator.insert_project(&project, &ViewerTier::initial())?;
            let event = ServiceEvent::project_created(&project);
            Ok(Changed::by(project, event))
        })
    }
}

/// Adds an organization with its master key; also its project and the key of the project, if they are in the home cell. Returns
/// the events for the log of that project.
fn insert_organization(
    configurator: &mut Configurator<'_, Deployment>,
    new: &NewOrganization,
    [master, live]: &[Key; 2],
    place: CellId,
) -> Result<Vec<ServiceEvent>> {
    configurator.insert_organization(&new.organization)?;
    configurator.insert_first_key(master, new.master_key.hash().as_bytes())?;
    if place != CellId::HOME {
        return Ok(Vec::new());
    }
    configurator.insert_project(&new.project, &ViewerTier::initial())?;
    configurator.insert_first_key(live, new.project_key.hash().as_bytes())?;
    Ok(vec![
        ServiceEvent::project_created(&new.project),
        ServiceEvent::key_created(master),
        ServiceEvent::key_created(live),
    ])
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
