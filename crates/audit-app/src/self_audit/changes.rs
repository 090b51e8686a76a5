//! Changes and reads that are recorded: each stores its events, or does not happen.

use super::recorder::Recorder;
use super::{Changed, Place, Requester, ServiceEvent};
use crate::error::{AppError, Result};
use crate::ingest::STALE_RETRIES_MAX;
use crate::redaction::engines::ProjectRules;
use crate::service::AuditLog;
use audit_domain::{Environment, OrganizationId, ProjectId};
use audit_store::{Configurator, Owner, StoreError};

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
    pub(super) fn store_event(
        &self,
        project_id: ProjectId,
        requester: &Requester,
        event: &ServiceEvent,
    ) -> Result<()> {
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
