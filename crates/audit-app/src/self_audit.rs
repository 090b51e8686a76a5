//! The service audits itself: a change of keys, rules, tiers, webhooks, alerts, streams, projects and plans is an event in
//! the log of the project that it concerns. So are exports and new viewer tokens.
//!
//! The event is stored in the transaction of the change, so neither exists without the other. A change is made through
//! [`AuditLog::change`], whose closure returns [`Changed`]: it has to say which events the change is.
//!
//! Lock order: the change locks first what it always does. The ledger of its event is locked with the configuration of its
//! project, or, for a change of an organization, after the ledgers of its projects. `deployment` is locked last.

mod catalogue;
mod limit;
mod recorder;
mod requester;
mod settings;
mod switch;

pub use catalogue::ServiceAction;
pub(crate) use catalogue::ServiceEvent;
pub(crate) use limit::ReadLimit;
pub use limit::{KEY_READS_PER_MINUTE_MAX, VIEWERS_READS_PER_MINUTE_MAX};
pub(crate) use recorder::Recorder;
pub use requester::Requester;
pub(crate) use switch::{SELF_AUDIT, SelfAudit};

use crate::error::{AppError, Result};
use crate::ingest::STALE_RETRIES_MAX;
use crate::redaction::ProjectRules;
use crate::service::AuditLog;
use audit_domain::{Environment, OrganizationId, ProjectId};
use audit_store::{Configurator, Owner, Reader, StoreError};

/// The result of a change, and the events that it is.
pub(crate) struct Changed<T> {
    value: T,
    events: Vec<ServiceEvent>,
}

impl<T> Changed<T> {
    /// Nothing was changed that has an event.
    pub(crate) const fn nothing(value: T) -> Self {
        Self {
            value,
            events: Vec::new(),
        }
    }

    /// A change that is one event.
    pub(crate) fn by(value: T, event: ServiceEvent) -> Self {
        Self {
            value,
            events: vec![event],
        }
    }

    /// [`Self::by`] if something was changed, otherwise [`Self::nothing`].
    pub(crate) fn if_some(value: T, event: Option<ServiceEvent>) -> Self {
        Self {
            value,
            events: event.into_iter().collect(),
        }
    }

    /// A change that is several events.
    pub(crate) const fn by_all(value: T, events: Vec<ServiceEvent>) -> Self {
        Self { value, events }
    }
}

/// The log that records a change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// In that of the project that it concerns.
    Project(ProjectId),
    /// In that of the oldest project of an organization, for a change that concerns all of them: an organization has up to a
    /// thousand projects, and an event in each would occupy the writer for long.
    FirstProjectOf(OrganizationId),
}

impl Place {
    /// The project; `None` where this cell has none.
    fn project(self, reader: &mut Reader<'_>) -> Result<Option<ProjectId>> {
        match self {
            Self::Project(id) => Ok(Some(id)),
            Self::FirstProjectOf(organization_id) => first_project(reader, organization_id),
        }
    }
}

/// The oldest project of an organization that this cell has.
fn first_project(reader: &mut Reader<'_>, organization_id: OrganizationId) -> Result<Option<ProjectId>> {
    for project in reader.projects(organization_id)? {
        if reader.configuration_version(project.id)?.is_some() {
            return Ok(Some(project.id));
        }
    }
    Ok(None)
}

impl AuditLog {
    /// Changes the configuration of `owner`, and stores the events of the change in the same transaction.
    ///
    /// # Errors
    /// Those of `work` and of [`audit_store::Store::configure`]. Nothing is changed then.
    pub(crate) fn change<O, T>(
        &self,
        owner: O,
        place: Place,
        requester: &Requester,
        work: impl FnOnce(&mut Configurator<'_, O>) -> Result<Changed<T>> + Send + 'static,
    ) -> Result<T>
    where
        O: Copy + Into<Owner> + Send + 'static,
        T: Send + 'static,
    {
        let recorder = self.recorder(place, requester)?;
        let is_recorded = recorder.is_some();
        let value = self.store.configure(owner, move |configurator| {
            let Changed { value, events } = work(configurator)?;
            if let Some(recorder) = recorder
                && !events.is_empty()
                && let Some(project_id) = place.project(configurator)?
            {
                if let Place::FirstProjectOf(_) = place {
                    configurator.hold_configuration(project_id)?;
                }
                recorder.record(configurator, project_id, events)?;
            }
            Ok::<_, AppError>(value)
        })?;
        if is_recorded {
            // An event may have raised an alert.
            self.wake_deliveries();
        }
        Ok(value)
    }

    /// [`Self::change`] of the configuration of a project.
    pub(crate) fn change_project<T: Send + 'static>(
        &self,
        project_id: ProjectId,
        requester: &Requester,
        work: impl FnOnce(&mut Configurator<'_, ProjectId>) -> Result<Changed<T>> + Send + 'static,
    ) -> Result<T> {
        self.change(project_id, Place::Project(project_id), requester, work)
    }

    /// [`Self::change`] of the configuration of an organization.
    pub(crate) fn change_organization<T: Send + 'static>(
        &self,
        organization_id: OrganizationId,
        requester: &Requester,
        work: impl FnOnce(&mut Configurator<'_, OrganizationId>) -> Result<Changed<T>> + Send + 'static,
    ) -> Result<T> {
        let place = Place::FirstProjectOf(organization_id);
        self.change(organization_id, place, requester, work)
    }

    /// What records the events of a change in its transaction; `None` while the service does not audit itself.
    pub(crate) fn recorder(&self, place: Place, requester: &Requester) -> Result<Option<Recorder>> {
        if !self.self_audit.is_on() {
            return Ok(None);
        }
        let project = self.store.read(|reader| match place.project(reader)? {
            Some(id) => self.directory.present().project(reader, &self.settings, id),
            None => Ok(None),
        })?;
        let recorder = match project {
            Some(project) => Recorder::new(self, &project.rules, requester),
            // It is created by the change.
            None => Recorder::new(self, &ProjectRules::new(Vec::new()), requester),
        };
        recorder.map(Some)
    }

    /// Stores the event of a read before its response begins.
    ///
    /// # Errors
    /// [`AppError::RateLimited`] when the requester reads too often; when the event cannot be stored.
    pub(crate) fn record_read(
        &self,
        project_id: ProjectId,
        requester: &Requester,
        event: ServiceEvent,
    ) -> Result<()> {
        if !self.self_audit.is_on() {
            return Ok(());
        }
        self.read_limit.count(project_id, requester, self.clock.now())?;
        self.store_event(project_id, requester, &event)
    }

    /// Stores an event of the service through the write queue.
    fn store_event(&self, project_id: ProjectId, requester: &Requester, event: &ServiceEvent) -> Result<()> {
        for _ in 0..STALE_RETRIES_MAX {
            let target = self.target_for_project(project_id, Environment::Live)?;
            let recorder = Recorder::new(self, &target.project.rules, requester)?;
            let destination = target.destination.clone();
            let events = recorder.prepare(&target, vec![event.clone()])?;
            match self.store.append_service_blocking(destination, events) {
                Ok(_) => return Ok(()),
                Err(StoreError::Stale) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(AppError::Unavailable(StoreError::Stale))
    }
}
