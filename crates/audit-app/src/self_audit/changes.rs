//! Changes and reads that are recorded: each stores its events, or does not happen.

use super::recorder::Recorder;
use super::{Changed, Place, Requester, ServiceEvent};
use crate::error::{AppError, Result};
use crate::ingest::STALE_RETRIES_MAX;
use crate::lifecycle::CHAIN_EVENTS_MAX;
use crate::redaction::engines::ProjectRules;
use crate::service::{AuditLog, Scope};
use audit_domain::{Environment, LifecycleEvent, OrganizationId, ProjectId};
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

    /// Appends a lifecycle event to the log that it concerns, and does in the same transaction what `also` does with its position. It is
    /// recorded even while the service does not audit itself, and in no other log. `expected` is the position of the lifecycle event
    /// before it.
    ///
    /// # Errors
    /// [`StoreError::Stale`] when there is a newer lifecycle event; [`AppError::LogStopped`] when the log takes no events;
    /// [`AppError::Forbidden`] when it has too many lifecycle events; [`AppError::Internal`] when readers of the log would refuse the
    /// event; those of `also`. Nothing is changed then.
    pub(crate) fn append_lifecycle<T: Send + 'static>(
        &self,
        scope: &Scope,
        requester: &Requester,
        expected: Option<u64>,
        event: LifecycleEvent,
        also: impl FnOnce(&mut Configurator<'_, ProjectId>, u64) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let event = ServiceEvent::lifecycle(&event, expected, &scope.log());
        self.append_chained(scope, requester, expected, event, also)
    }

    /// [`Self::append_lifecycle`] of the event of the service that a lifecycle event is.
    pub(crate) fn append_chained<T: Send + 'static>(
        &self,
        scope: &Scope,
        requester: &Requester,
        expected: Option<u64>,
        event: ServiceEvent,
        also: impl FnOnce(&mut Configurator<'_, ProjectId>, u64) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let chain = self.lifecycle(scope)?;
        if chain.lifecycle_seq != expected {
            return Err(StoreError::Stale.into());
        }
        chain.check_room(CHAIN_EVENTS_MAX)?;
        let recorder = Recorder::new(self, &scope.project.rules, requester)?;
        let (project_id, environment) = (scope.project.project.id, scope.environment);
        let ledger_id = scope.ledger_id;
        let value = self.store.configure(project_id, move |configurator| {
            if configurator.lifecycle_seq(ledger_id)? != expected {
                return Err(StoreError::Stale.into());
            }
            // The heads are locked, so this is the position of the event.
            let seq = configurator.ledger_size(ledger_id)?;
            recorder.check_chained(&event, seq, chain.fold.clone())?;
            recorder.record_in(configurator, project_id, environment, event)?;
            also(configurator, seq)
        })?;
        self.wake_deliveries();
        self.wake_removals();
        Ok(value)
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
