//! Ingest: parse, validate, redact, stamp, append.

mod prepared;
mod sent;

pub use prepared::{BATCH_EVENTS_MAX, Ingested, LINES_EVENTS_MAX, RefusedEvent};
pub(crate) use prepared::{Prepared, read_events};
pub use sent::{EventsForm, SentEvents};

use crate::authentication::Presented;
use crate::cells::routing::is_of_other_cell;
use crate::directory::ProjectConfiguration;
use crate::error::{AppError, Result};
use crate::redact_event::{redact_and_record, redact_and_record_own};
use crate::redaction::engines::EngineInUse;
use crate::service::{AuditLog, Scope, Selection, environment_of, ledger_of};
use crate::telemetry::Timing;
use audit_auth::{EventsWrite, Keys, Principal};
use audit_domain::{ContentSalt, DigestKey, Environment, Event, ProjectId, Record, SentDigest, Stamp};
use audit_redact::Engine;
use audit_store::{
    Appended, ConfigurationVersion, Destination, EventSender, NewEvent, Reader, StoreError, UnhashedEvent,
};
use std::sync::Arc;

/// How often a request is prepared again because the project's configuration changed meanwhile. After that it runs with the
/// configuration locked, so that a client that changes it continuously cannot block ingest.
pub(crate) const STALE_RETRIES_MAX: usize = 5;
/// Bytes of a request that is prepared by the thread that serves its connection, and delays the other connections of the thread:
/// a millisecond or two, enough for 100 ordinary events. Larger requests, and those of projects with redaction rules of their own, wait for their turn.
const PREPARED_IN_PLACE_BYTES_MAX: usize = 96 * 1024;
/// As many alert rules cost about as much as parsing, redacting and hashing the event that they are matched with.
const ALERT_RULES_PER_PARSE: usize = 16;

/// The destination of a request's events and the configuration that redacts them.
#[derive(Clone)]
pub(crate) struct IngestTarget {
    pub(crate) destination: Destination,
    pub(crate) project: Arc<ProjectConfiguration>,
    /// Who sends the events; `None` without a key.
    pub(crate) sender: Option<EventSender>,
}

impl Presented<Keys<EventsWrite>> {
    /// Stores the events of a request. The credential was recognised before.
    ///
    /// On `Ok`, every event in `ids` is committed. On an error, no event of the request is stored, unless it is
    /// [`AppError::OutcomeUnknown`].
    ///
    /// # Errors
    /// An error of the credential or of a limit; [`AppError::Invalid`] or [`AppError::Conflict`] when no event of the request
    /// can be stored.
    pub async fn ingest(&self, selection: Selection, sent: &SentEvents<'_>) -> Result<Ingested> {
        let mut other = None::<Self>;
        loop {
            let presented = other.as_ref().unwrap_or(self);
            let error = match presented.ingest_here(selection, sent).await {
                Err(error) if is_of_other_cell(&error) => error,
                outcome => return outcome,
            };
            let refused = presented.clone();
            let look_up = move || refused.in_other_cell(selection.project_id, error);
            other = Some(self.request(look_up).await?);
        }
    }

    /// Stores the events with the cached configuration, which may be stale. The transaction detects that. What few requests wait
    /// for is boxed, here and below, so that the futures of the others have no room for it.
    async fn ingest_here(&self, selection: Selection, sent: &SentEvents<'_>) -> Result<Ingested> {
        let Some(target) = self.cached_target(selection) else {
            return Box::pin(self.ingest_looked_up(selection, sent, None)).await;
        };
        match self.attempt(&target, sent).await {
            Ok(ingested) => Ok(ingested),
            Err(error) if is_final(&error) => Err(error),
            Err(error) => {
                let cached = Some((target.destination.configuration_version, error));
                Box::pin(self.ingest_looked_up(selection, sent, cached)).await
            }
        }
    }

    /// Stores the events with the configuration of the database. `cached`: the version of a cached one, and the error of the attempt
    /// with it, which is final if the database has the same version.
    async fn ingest_looked_up(
        &self,
        selection: Selection,
        sent: &SentEvents<'_>,
        cached: Option<(ConfigurationVersion, AppError)>,
    ) -> Result<Ingested> {
        if let Some((version, error)) = cached {
            let target = self.target(selection).await?;
            if target.destination.configuration_version == version {
                return Err(error);
            }
        }
        for _ in 0..STALE_RETRIES_MAX {
            let target = self.target(selection).await?;
            match self.attempt(&target, sent).await {
                Err(AppError::Unavailable(StoreError::Stale)) => {}
                outcome => return outcome,
            }
        }
        self.ingest_exclusively(selection, sent).await
    }

    /// Prepares and stores the events.
    async fn attempt(&self, target: &IngestTarget, sent: &SentEvents<'_>) -> Result<Ingested> {
        let service = &self.service;
        service.store.check_room(&target.destination, sent.bytes())?;
        let prepared = match service.engine_in_place(target, sent) {
            Some(engine) => service.prepare(target, &engine, sent)?,
            None => Box::pin(self.prepare_in_turn(target, sent)).await?,
        };
        let (events, rest) = prepared.split();
        let timing = Timing::begin("commit");
        let outcome = service.store.append(target.destination.clone(), events).await;
        drop(timing);
        match outcome {
            Ok(appended) => {
                let is_stored = |event: &&Appended| matches!(event, Appended::Stored(_));
                let stored = appended.events.iter().filter(is_stored).count();
                self.home
                    .activity
                    .note(target.destination.project_id, stored as u64);
                rest.conclude(appended.events, Some(appended.log_size))
            }
            Err(error) => Err(service.append_error(error)),
        }
    }

    /// Prepares the events on a thread that may be occupied, in the turn of the organization.
    async fn prepare_in_turn(
        &self,
        target: &IngestTarget,
        sent: &SentEvents<'_>,
    ) -> Result<Prepared<NewEvent>> {
        let turn = self.home.turns.preparation(&target.project.project).await?;
        let (service, target, sent) = (Arc::clone(&self.service), target.clone(), sent.owned());
        turn.run(move || {
            let engine = service.engines.compiled(&target.project.rules)?;
            service.prepare(&target, &engine, &sent)
        })
        .await
    }

    /// Prepares and stores the events in one transaction that locks the project's configuration. Only for a request that takes
    /// little work: others wait for the transaction.
    async fn ingest_exclusively(&self, selection: Selection, sent: &SentEvents<'_>) -> Result<Ingested> {
        let (presented, sent) = (self.clone(), sent.owned());
        let stored = self.request(move || {
            let service = Arc::clone(&presented.service);
            service.store.write(move |writer| {
                let service = &presented.service;
                let project_id = presented.load_target(writer, selection)?.destination.project_id;
                writer.hold_configuration(project_id)?;
                let target = presented.load_target(writer, selection)?;
                let engine = service.engine_in_place(&target, &sent).ok_or(StoreError::Stale)?;
                let (events, rest) = service.prepare(&target, &engine, &sent)?.split();
                match writer.append_sent(target.destination, events, service.clock.now()) {
                    Ok(appended) => rest.conclude(appended.events, Some(appended.log_size)),
                    Err(error) => Err(service.append_error(error)),
                }
            })
        });
        let ingested = stored.await?;
        self.service.wake_deliveries();
        Ok(ingested)
    }

    /// The target, if everything about it is cached.
    fn cached_target(&self, selection: Selection) -> Option<IngestTarget> {
        let directory = &self.service.directory;
        let (principal, version) = self.identify_cached(directory)?;
        let Principal::Project(own) = &*principal else {
            return None;
        };
        let project_id = own.project_id;
        if selection.project_id.is_some_and(|named| named != project_id) {
            return None;
        }
        let project = directory.cached_project(project_id)?;
        if project.version != version {
            return None;
        }
        let environment = environment_of(&principal, selection.environment).ok()?;
        let destination = destination(&project, environment).ok()?;
        Some(IngestTarget {
            destination,
            project,
            sender: self.service.sender(&principal),
        })
    }

    /// The target, looked up in the turn of the owner.
    async fn target(&self, selection: Selection) -> Result<IngestTarget> {
        let presented = self.clone();
        self.request(move || {
            let store = &presented.service.store;
            store.read(|reader| presented.load_target(reader, selection))
        })
        .await
    }

    /// The project, environment and ledger that store the events of a request.
    pub(crate) async fn scope_of_requests(&self, selection: Selection) -> Result<Scope> {
        let IngestTarget {
            destination, project, ..
        } = self.target(selection).await?;
        Ok(Scope {
            project,
            environment: destination.environment,
            ledger_id: destination.ledger_id,
        })
    }

    fn load_target(&self, reader: &mut Reader<'_>, selection: Selection) -> Result<IngestTarget> {
        let present = &mut self.service.directory.present();
        let principal = self.identify(reader, present)?;
        let scope = self.service.scope_at(reader, present, &principal, selection)?;
        if matches!(*principal, Principal::Master(_)) {
            // Again, after the version was read: the commit detects only revocations after that.
            self.identify(reader, present)?;
        }
        let destination = destination(&scope.project, scope.environment)?;
        Ok(IngestTarget {
            destination,
            project: scope.project,
            sender: self.service.sender(&principal),
        })
    }
}

impl AuditLog {
    /// The sender of events of this principal. Viewers send none.
    fn sender(&self, principal: &Principal) -> Option<EventSender> {
        match principal {
            Principal::Master(key) => Some(self.settings.sender(key.key_id, key.client)),
            Principal::Project(key) => Some(self.settings.sender(key.key_id, key.client)),
            Principal::Viewer(_) => None,
        }
    }

    /// Stores events of a project without a credential, for the command line.
    ///
    /// # Errors
    /// As [`Presented::ingest`], except for errors of the credential.
    pub fn ingest_blocking(
        self: &Arc<Self>,
        project_id: ProjectId,
        environment: Environment,
        sent: &SentEvents<'_>,
    ) -> Result<Ingested> {
        let service = self.cell_of_project(project_id)?;
        service.ingest_blocking_here(project_id, environment, sent)
    }

    fn ingest_blocking_here(
        &self,
        project_id: ProjectId,
        environment: Environment,
        sent: &SentEvents<'_>,
    ) -> Result<Ingested> {
        for _ in 0..STALE_RETRIES_MAX {
            let target = self.target_for_project(project_id, environment)?;
            let engine = self.engines.compiled(&target.project.rules)?;
            let (events, rest) = self.prepare(&target, &engine, sent)?.split();
            match self.store.append_blocking(target.destination, events) {
                Ok(appended) => return rest.conclude(appended.events, Some(appended.log_size)),
                Err(StoreError::Stale) => {}
                Err(error) => return Err(self.append_error(error)),
            }
        }
        Err(AppError::Unavailable(StoreError::Stale))
    }

    /// The engine that redacts a request, if the thread that serves its connection may do so.
    fn engine_in_place(&self, target: &IngestTarget, sent: &SentEvents<'_>) -> Option<EngineInUse> {
        let rules = &target.project.rules;
        // Each event is matched with each alert rule.
        let matching = 1 + target.project.alert_rules.count() / ALERT_RULES_PER_PARSE;
        let is_small = sent.work_bytes() * matching <= PREPARED_IN_PLACE_BYTES_MAX && !rules.has_custom();
        is_small.then(|| self.engines.cached(rules)).flatten()
    }

    fn append_error(&self, error: StoreError) -> AppError {
        match error {
            StoreError::DailyLimit { limit } => AppError::DailyLimit {
                limit,
                retry_after_seconds: self.clock.now().seconds_to_midnight(),
            },
            other => other.into(),
        }
    }

    pub(crate) fn target_for_project(
        &self,
        project_id: ProjectId,
        environment: Environment,
    ) -> Result<IngestTarget> {
        self.store.read(|reader| {
            let project = self
                .directory
                .present()
                .project(reader, &self.settings, project_id)?
                .ok_or(AppError::NotFound("project"))?;
            let destination = destination(&project, environment)?;
            Ok(IngestTarget {
                destination,
                project,
                sender: None,
            })
        })
    }

    /// Does all work that needs no lock of the database.
    fn prepare(
        &self,
        target: &IngestTarget,
        engine: &Engine,
        sent: &SentEvents<'_>,
    ) -> Result<Prepared<NewEvent>> {
        let now = self.clock.now();
        let prepared = read_events(sent, now, self.entropy.bytes(), |event, stamp| {
            self.prepare_event(target, engine, event, stamp)
        })?;
        Ok(prepared.map_events(|events| NewEvent::all_hashed(events, &target.destination)))
    }

    fn prepare_event(
        &self,
        target: &IngestTarget,
        engine: &Engine,
        event: Event,
        stamp: Stamp,
    ) -> (UnhashedEvent, usize) {
        let digest_key = self.settings.digest_key.as_ref();
        let salt = ContentSalt::from_bytes(self.entropy.bytes());
        prepare_event(target, engine, digest_key, salt, event, stamp)
    }
}

/// Redacts an event and prepares it for the store.
pub(crate) fn prepare_event(
    target: &IngestTarget,
    engine: &Engine,
    digest_key: Option<&DigestKey>,
    salt: ContentSalt,
    mut event: Event,
    stamp: Stamp,
) -> (UnhashedEvent, usize) {
    let (record, digest, report) = redact_and_record(engine, digest_key, &mut event, stamp);
    let idempotency = event.idempotency_key.as_deref().zip(digest);
    let new = watched(target, salt, &event, record, idempotency, stamp);
    (new, report.fields().len())
}

/// Prepares an event of the service itself for the store. `engine` has no rules that name fields.
pub(crate) fn prepare_own_event(
    target: &IngestTarget,
    engine: &Engine,
    digest_key: Option<&DigestKey>,
    salt: ContentSalt,
    mut event: Event,
    stamp: Stamp,
) -> UnhashedEvent {
    let (record, digest, _) = redact_and_record_own(engine, digest_key, &mut event, stamp);
    let idempotency = event.idempotency_key.as_deref().zip(digest);
    watched(target, salt, &event, record, idempotency, stamp)
}

/// The event for the store, with the groups of alert rules that count it.
fn watched(
    target: &IngestTarget,
    salt: ContentSalt,
    event: &Event,
    record: Record,
    idempotency: Option<(&str, SentDigest)>,
    stamp: Stamp,
) -> UnhashedEvent {
    let facets = event.facets();
    let watches = target.project.alert_rules.watches(
        &facets,
        event.occurred_at.unwrap_or(stamp.received_at),
        stamp.received_at,
    );
    let new = UnhashedEvent::new(&target.destination, record, salt, &facets, idempotency);
    new.watched(watches).sent_by(target.sender)
}

/// Whether the error does not depend on the configuration.
fn is_final(error: &AppError) -> bool {
    match error {
        AppError::Unavailable(StoreError::Stale) => false,
        AppError::Unavailable(_)
        | AppError::LogStopped(_)
        | AppError::OutcomeUnknown(_)
        | AppError::Internal(_) => true,
        _ => false,
    }
}

pub(crate) fn destination(project: &ProjectConfiguration, environment: Environment) -> Result<Destination> {
    Ok(Destination {
        ledger_id: ledger_of(project, environment)?,
        project_id: project.project.id,
        organization_id: project.project.organization_id,
        environment,
        configuration_version: project.version,
        daily_events_max: project.daily_events_max,
        is_archived: project.project.archived_at.is_some(),
        webhook_ids: match environment {
            Environment::Live => Arc::clone(&project.webhook_ids),
            Environment::Test => Arc::new([]),
        },
    })
}

#[cfg(test)]
mod tests;
