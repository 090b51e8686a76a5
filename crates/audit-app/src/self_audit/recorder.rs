//! Prepares the service's own events and appends them.

use super::{Requester, ServiceEvent};
use crate::directory::load_present;
use crate::error::{AppError, Result};
use crate::ingest::{IngestTarget, destination, prepare_event};
use crate::redaction::{EngineInUse, ProjectRules};
use crate::service::AuditLog;
use crate::settings::Settings;
use audit_domain::{Actor, Clock, ContentSalt, Context, Entropy, Environment, EventId, ProjectId, Stamp};
use audit_store::{NewEvent, Writer};
use std::sync::Arc;

/// What the events of a request need: everything that may not be read or compiled in a transaction.
pub(crate) struct Recorder {
    actor: Actor,
    context: Option<Context>,
    /// Of the redaction rules of the project when the request began. A change of the rules must not hide its own event.
    engine: EngineInUse,
    settings: Settings,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl Recorder {
    /// Compiles the rules, if no request has yet.
    pub(super) fn new(service: &AuditLog, rules: &ProjectRules, requester: &Requester) -> Result<Self> {
        Ok(Self {
            actor: requester.actor(service)?,
            context: requester.context(),
            engine: service.engines.compiled(rules)?,
            settings: service.settings.clone(),
            clock: Arc::clone(&service.clock),
            entropy: Arc::clone(&service.entropy),
        })
    }

    /// Appends events to the live log of a project, whose configuration the transaction has locked.
    ///
    /// # Errors
    /// When they cannot be stored. The transaction must be rolled back then.
    pub(crate) fn record(
        &self,
        writer: &mut Writer<'_>,
        project_id: ProjectId,
        events: Vec<ServiceEvent>,
    ) -> Result<()> {
        let project = load_present(writer, &self.settings, project_id)?;
        let project = Arc::new(project.ok_or(AppError::NotFound("project"))?);
        let target = IngestTarget {
            destination: destination(&project, Environment::Live)?,
            project,
        };
        let events = self.prepare(&target, events)?;
        writer.append_service(target.destination, events, self.clock.now())?;
        Ok(())
    }

    /// Redacts and prepares events.
    pub(super) fn prepare(&self, target: &IngestTarget, events: Vec<ServiceEvent>) -> Result<Vec<NewEvent>> {
        let now = self.clock.now();
        let mut stamp = Stamp {
            id: EventId::new(now, self.entropy.bytes()),
            received_at: now,
        };
        let mut prepared = Vec::with_capacity(events.len());
        for event in events {
            let event = event.into_event(self.actor.clone(), self.context.clone());
            let event = event.map_err(AppError::internal)?;
            let salt = ContentSalt::from_bytes(self.entropy.bytes());
            let digest_key = self.settings.digest_key.as_ref();
            let (event, _) = prepare_event(target, &self.engine, digest_key, salt, event, stamp);
            prepared.push(event);
            stamp.id = stamp.id.successor();
        }
        Ok(prepared)
    }
}
