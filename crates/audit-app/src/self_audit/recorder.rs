//! Prepares the service's own events and appends them.

use super::{Requester, ServiceEvent};
use crate::directory::{ProjectConfiguration, load_present};
use crate::error::{AppError, Result};
use crate::ingest::{IngestTarget, destination, prepare_own_event};
use crate::redact_event::redact_and_record_own;
use crate::redaction::engines::{EngineInUse, ProjectRules};
use crate::service::AuditLog;
use crate::settings::Settings;
use audit_domain::{
    Actor, ActorType, Clock, ContentSalt, Context, Entropy, Environment, EventId, KeyId, Lifecycle,
    LifecycleEvent, ProjectId, SERVICE_TENANT_ID, Stamp,
};
use audit_store::{Key, NewEvent, StoreError, Writer};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The actor of changes by the command line.
const OPERATOR: &str = "operator";

/// What the events of a request need: everything that may not be read or compiled in a transaction.
pub(crate) struct Recorder {
    actor: Actor,
    context: Option<Context>,
    /// Of the redaction rules of the project when the request began, without those that name fields. A change of the rules must not hide
    /// its own event.
    engine: EngineInUse,
    settings: Settings,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    /// Counts events that are in another log than they should be.
    alarms: Arc<AtomicU64>,
}

impl Recorder {
    /// Compiles the rules, if no request has yet.
    pub(super) fn new(service: &AuditLog, rules: &ProjectRules, requester: &Requester) -> Result<Self> {
        Ok(Self {
            actor: requester.actor(service)?,
            context: requester.context(),
            engine: service.engines.compiled(&rules.without_fields())?,
            settings: service.settings.clone(),
            clock: Arc::clone(&service.clock),
            entropy: Arc::clone(&service.entropy),
            alarms: Arc::clone(service.signing.alarms()),
        })
    }

    /// Appends events to the live log of a project, whose configuration the transaction has locked. Where that log takes no events,
    /// those of a change that takes access away are appended to the log of test events, and
    /// if that takes none either, to no log: who can change a head must not be able to keep a stolen key valid.
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
        let is_urgent = events.iter().all(ServiceEvent::takes_access_away);
        let displaced = is_urgent.then(|| events.clone());
        let refused = match (
            self.append(writer, &project, Environment::Live, events),
            displaced,
        ) {
            (Err(AppError::LogStopped(_)), Some(events)) => events,
            (outcome, _) => return outcome,
        };
        let names: Vec<String> = refused.iter().map(ToString::to_string).collect();
        let (names, actor) = (names.join(", "), &self.actor.id);
        let displaced = refused.into_iter().map(ServiceEvent::displaced).collect();
        match self.append(writer, &project, Environment::Test, displaced) {
            Ok(()) => log::error!(
                "{names}, by {actor}, is in the log of test events of the project {project_id}: its live log takes no events"
            ),
            Err(AppError::LogStopped(_)) => {
                log::error!(
                    "{names}, by {actor}, is in no log: those of the project {project_id} take no events"
                );
            }
            Err(error) => return Err(error),
        }
        self.alarms.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Checks that readers will accept a lifecycle event at this position, behind those of `fold`: what is in the log stays there, and
    /// one event that contradicts those before it makes all of them useless.
    ///
    /// # Errors
    /// [`AppError::Internal`] when they will not.
    pub(super) fn check_chained(&self, event: &ServiceEvent, seq: u64, mut fold: Lifecycle) -> Result<()> {
        let received_at = self.clock.now();
        let stamp = Stamp {
            id: EventId::new(received_at, self.entropy.bytes()),
            received_at,
        };
        let event = event.clone().into_event(self.actor.clone(), self.context.clone());
        let mut event = event.map_err(AppError::internal)?;
        let (record, ..) = redact_and_record_own(&self.engine, None, &mut event, stamp);
        let object: Map<String, Value> =
            serde_json::from_str(record.canonical()).map_err(AppError::internal)?;
        let what = "lifecycle event";
        let read = LifecycleEvent::read(&object);
        let (previous, event) = read.ok_or_else(|| AppError::internal(StoreError::Damaged { what }))?;
        let at = received_at.truncated_to_millis();
        fold.add(seq, at, event, previous).map_err(AppError::internal)
    }

    /// Appends an event to the log of one environment of a project, whose configuration the transaction has locked, and to no other
    /// log.
    ///
    /// # Errors
    /// When it cannot be stored. The transaction must be rolled back then.
    pub(super) fn record_in(
        &self,
        writer: &mut Writer<'_>,
        project_id: ProjectId,
        environment: Environment,
        event: ServiceEvent,
    ) -> Result<()> {
        let project = load_present(writer, &self.settings, project_id)?;
        let project = Arc::new(project.ok_or(AppError::NotFound("project"))?);
        self.append(writer, &project, environment, vec![event])
    }

    fn append(
        &self,
        writer: &mut Writer<'_>,
        project: &Arc<ProjectConfiguration>,
        environment: Environment,
        events: Vec<ServiceEvent>,
    ) -> Result<()> {
        let target = IngestTarget {
            destination: destination(project, environment)?,
            project: Arc::clone(project),
            // Its actor is the key.
            sender: None,
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
            let event = prepare_own_event(target, &self.engine, digest_key, salt, event, stamp);
            prepared.push(event);
            stamp.id = stamp.id.successor();
        }
        Ok(NewEvent::all_hashed(prepared, &target.destination))
    }
}

impl Requester {
    /// The actor of an event. Reads the name of a key.
    fn actor(&self, service: &AuditLog) -> Result<Actor> {
        let (id, actor_type, name) = match self {
            Self::Operator => (
                OPERATOR.to_owned(),
                ActorType::System,
                Some("command line".to_owned()),
            ),
            Self::Service => (SERVICE_TENANT_ID.to_owned(), ActorType::System, None),
            Self::Key { id, .. } => (id.to_string(), ActorType::ApiKey, service.key_name(*id)?),
            Self::Viewer { tenant_id, .. } => (
                tenant_id.clone(),
                ActorType::User,
                Some("viewer token".to_owned()),
            ),
        };
        Ok(Actor {
            id,
            actor_type,
            name,
            email: None,
            on_behalf_of: None,
        })
    }
}

impl AuditLog {
    /// A key, which the home cell has if this cell does not.
    pub(crate) fn key_of_cells(&self, id: KeyId) -> Result<Option<Key>> {
        let found = match self.store.read(|reader| reader.key(id))? {
            None if self.is_cell() => self.home_store.read(|reader| reader.key(id))?,
            found => found,
        };
        Ok::<_, AppError>(found)
    }

    fn key_name(&self, id: KeyId) -> Result<Option<String>> {
        Ok(self.key_of_cells(id)?.map(|key| key.name))
    }
}
