//! The way of an event in: read, check, redact, stamp, append.

use crate::authentication::Presented;
use crate::directory::ProjectConfiguration;
use crate::error::{AppError, Result};
use crate::redact_event::redact_and_record;
use crate::service::{AuditLog, Selection, environment_of, ledger_of};
use audit_auth::{Keys, Principal};
use audit_domain::json::{self, Json};
use audit_domain::{Environment, Event, EventId, ProjectId, Stamp, Timestamp, Violation, Violations};
use audit_store::{Appended, Destination, NewEvent, Reader, StoreError};
use std::sync::Arc;

/// Events of one request, at most.
pub const BATCH_EVENTS_MAX: usize = 100;
/// How often a request is prepared anew because the configuration changed while it was on its way. After that it takes
/// its turn among the changes, so that whoever keeps changing something keeps nobody from storing events.
const STALE_RETRIES_MAX: usize = 5;

/// What became of a request with events.
#[derive(Debug)]
pub struct Ingested {
    /// The stored events' ids, in the order they were sent; for a repeat, the id of the first.
    pub ids: Vec<EventId>,
    /// How many fields redaction changed.
    pub redacted_count: usize,
    /// Events of a batch that were refused.
    pub refused: Vec<RefusedEvent>,
    /// How many of `ids` were stored before, under the same idempotency key.
    pub repeated_count: usize,
    /// The size of a log that has all of them; a stream has no log.
    pub log_size: Option<u64>,
}

/// An event of a batch that was refused.
#[derive(Debug)]
pub struct RefusedEvent {
    /// Its place in the batch.
    pub index: usize,
    /// Why.
    pub error: AppError,
}

/// Where a sender's events go, and how they are redacted.
struct Sender {
    destination: Destination,
    project: Arc<ProjectConfiguration>,
}

/// Events on their way: what can be stored, and what cannot.
pub(crate) struct Prepared<E> {
    events: Vec<E>,
    /// Index in the request and redacted fields of each of `events`.
    places: Vec<(usize, usize)>,
    refused: Vec<RefusedEvent>,
    is_batch: bool,
}

impl Presented<Keys> {
    /// Stores the events of a request body: one object, or an array of up to [`BATCH_EVENTS_MAX`].
    ///
    /// When it returns `Ok`, every event in `ids` is committed; on an error nothing of the request is stored.
    ///
    /// # Errors
    /// The answer of the interface that applies; a batch of which nothing could be stored is invalid as a whole.
    pub async fn ingest(&self, selection: Selection, body: &[u8]) -> Result<Ingested> {
        // What is in memory is relied upon until the transaction says that it is stale; an error could be due to it
        // as well, so it stands only when a look at the database confirms it.
        if let Some(sender) = self.known_sender(selection) {
            let version = sender.destination.configuration_version;
            match self.service.attempt(&sender, body).await {
                Ok(ingested) => return Ok(ingested),
                Err(error) if is_final(&error) => return Err(error),
                Err(error) => {
                    let sender = self.sender(selection).await?;
                    if sender.destination.configuration_version == version {
                        return Err(error);
                    }
                }
            }
        }
        for _ in 0..STALE_RETRIES_MAX {
            let sender = self.sender(selection).await?;
            match self.service.attempt(&sender, body).await {
                Err(AppError::Unavailable(StoreError::Stale)) => {}
                outcome => return outcome,
            }
        }
        self.ingest_in_turn(selection, body).await
    }

    /// Prepares and stores in one transaction, during which nothing that is configured changes.
    async fn ingest_in_turn(&self, selection: Selection, body: &[u8]) -> Result<Ingested> {
        let (presented, body) = (self.clone(), body.to_vec());
        let stored = tokio::task::spawn_blocking(move || {
            let service = Arc::clone(&presented.service);
            service.store.configure(move |configurator| {
                let service = &presented.service;
                let sender = presented.find_sender(configurator, selection)?;
                let (events, rest) = service.prepare(&sender, &body)?.split();
                match configurator.append_sent(sender.destination, events, service.clock.now()) {
                    Ok(appended) => rest.conclude(appended.events, Some(appended.log_size)),
                    Err(error) => Err(service.append_error(error)),
                }
            })
        });
        let ingested = stored
            .await
            .unwrap_or_else(|error| Err(AppError::internal(error)))?;
        self.service.wake_deliveries();
        Ok(ingested)
    }

    /// The sender, if everything about it is in memory.
    fn known_sender(&self, selection: Selection) -> Option<Sender> {
        let snapshot = self.service.directory.newest();
        let principal = self.identify_in_memory(&snapshot)?;
        let Principal::Project(own) = &*principal else {
            return None;
        };
        let project_id = own.project_id;
        if selection.project_id.is_some_and(|named| named != project_id) {
            return None;
        }
        let project = snapshot.known_project(project_id)?;
        let environment = environment_of(&principal, selection.environment).ok()?;
        let destination = destination(snapshot.version, &project, environment).ok()?;
        Some(Sender { destination, project })
    }

    async fn sender(&self, selection: Selection) -> Result<Sender> {
        let presented = self.clone();
        let found = tokio::task::spawn_blocking(move || {
            let store = &presented.service.store;
            store.read(|reader| presented.find_sender(reader, selection))
        });
        found.await.unwrap_or_else(|error| Err(AppError::internal(error)))
    }

    fn find_sender(&self, reader: &mut Reader<'_>, selection: Selection) -> Result<Sender> {
        let snapshot = self.service.directory.current(reader)?;
        let principal = self.identify(reader, &snapshot)?;
        let scope = self
            .service
            .scope_at(reader, Arc::clone(&snapshot), &principal, selection)?;
        let destination = destination(snapshot.version, &scope.project, scope.environment)?;
        Ok(Sender {
            destination,
            project: scope.project,
        })
    }
}

impl AuditLog {
    /// Stores events for a project without a credential, as the command line does.
    ///
    /// # Errors
    /// As [`Self::ingest`].
    pub fn ingest_blocking(
        &self,
        project_id: ProjectId,
        environment: Environment,
        body: &[u8],
    ) -> Result<Ingested> {
        for _ in 0..STALE_RETRIES_MAX {
            let sender = self.sender_for_project(project_id, environment)?;
            let (events, rest) = self.prepare(&sender, body)?.split();
            match self.store.append_blocking(sender.destination, events) {
                Ok(appended) => return rest.conclude(appended.events, Some(appended.log_size)),
                Err(StoreError::Stale) => {}
                Err(error) => return Err(self.append_error(error)),
            }
        }
        Err(AppError::Unavailable(StoreError::Stale))
    }

    async fn attempt(&self, sender: &Sender, body: &[u8]) -> Result<Ingested> {
        let prepared = self.prepare(sender, body)?;
        let (events, rest) = prepared.split();
        match self.store.append(sender.destination.clone(), events).await {
            Ok(appended) => rest.conclude(appended.events, Some(appended.log_size)),
            Err(error) => Err(self.append_error(error)),
        }
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

    fn sender_for_project(&self, project_id: ProjectId, environment: Environment) -> Result<Sender> {
        self.store.read(|reader| {
            let snapshot = self.directory.current(reader)?;
            let project = snapshot
                .project(reader, &self.settings, project_id)?
                .ok_or(AppError::NotFound("project"))?;
            let destination = destination(snapshot.version, &project, environment)?;
            Ok(Sender { destination, project })
        })
    }

    /// Everything that can be done before it is the events' turn to be written.
    fn prepare(&self, sender: &Sender, body: &[u8]) -> Result<Prepared<NewEvent>> {
        let now = self.clock.now();
        read_events(body, now, self.entropy.bytes(), |event, stamp| {
            self.prepare_event(sender, event, stamp)
        })
    }

    fn prepare_event(&self, sender: &Sender, mut event: Event, stamp: Stamp) -> (NewEvent, usize) {
        let (engine, digest_key) = (&sender.project.engine, self.settings.digest_key.as_ref());
        let (record, digest, report) = redact_and_record(engine, digest_key, &mut event, stamp);
        let idempotency = event.idempotency_key.as_deref().zip(digest);
        let watches = sender.project.alert_rules.watches(
            event.action.as_str(),
            &event.tenant_id,
            &event.actor.id,
            event.occurred_at.unwrap_or(stamp.received_at),
            stamp.received_at,
        );
        let new = NewEvent::new(&sender.destination, record, &event.facets(), idempotency).watched(watches);
        (new, report.fields().len())
    }
}

/// Errors that do not depend on what is configured.
fn is_final(error: &AppError) -> bool {
    match error {
        AppError::Unavailable(StoreError::Stale) => false,
        AppError::Unavailable(_) | AppError::Internal(_) => true,
        _ => false,
    }
}

pub(crate) fn destination(
    configuration_version: i64,
    project: &ProjectConfiguration,
    environment: Environment,
) -> Result<Destination> {
    Ok(Destination {
        ledger_id: ledger_of(project, environment)?,
        project_id: project.project.id,
        environment,
        configuration_version,
        daily_events_max: project.daily_events_max,
        webhook_ids: match environment {
            Environment::Live => Arc::clone(&project.webhook_ids),
            Environment::Test => Arc::new([]),
        },
    })
}

/// Reads the events of a request body, one or an array, and prepares each that is valid.
pub(crate) fn read_events<E>(
    body: &[u8],
    now: Timestamp,
    random: [u8; 10],
    mut prepare: impl FnMut(Event, Stamp) -> (E, usize),
) -> Result<Prepared<E>> {
    let value = json::parse(body).map_err(|error| Violations::one("body", error))?;
    let (batch, only) = match value {
        Json::Array(items) => (items, None),
        object @ Json::Object(_) => (Vec::new(), Some(object)),
        _ => return Err(Violations::one("body", "must be an event or an array of events").into()),
    };
    let is_batch = only.is_none();
    if is_batch && !(1..=BATCH_EVENTS_MAX).contains(&batch.len()) {
        let message = format!("must hold 1 to {BATCH_EVENTS_MAX} events, holds {}", batch.len());
        return Err(Violations::one("body", message).into());
    }
    let mut prepared = Prepared {
        events: Vec::with_capacity(batch.len().max(1)),
        places: Vec::new(),
        refused: Vec::new(),
        is_batch,
    };
    let mut stamp = Stamp {
        id: EventId::new(now, random),
        received_at: now,
    };
    for (index, item) in batch.into_iter().chain(only).enumerate() {
        match Event::from_json(item, now) {
            Ok(event) => {
                let (event, redacted_fields) = prepare(event, stamp);
                prepared.events.push(event);
                prepared.places.push((index, redacted_fields));
                stamp.id = stamp.id.successor();
            }
            Err(violations) => prepared.refused.push(RefusedEvent {
                index,
                error: violations.into(),
            }),
        }
    }
    if prepared.events.is_empty() {
        return Err(prepared.refusal());
    }
    Ok(prepared)
}

impl<E> Prepared<E> {
    pub(crate) fn split(mut self) -> (Vec<E>, Self) {
        (std::mem::take(&mut self.events), self)
    }

    /// What to answer, given what the store says of each event.
    pub(crate) fn conclude(mut self, appended: Vec<Appended>, log_size: Option<u64>) -> Result<Ingested> {
        let mut ingested = Ingested {
            ids: Vec::new(),
            redacted_count: 0,
            refused: Vec::new(),
            repeated_count: 0,
            log_size,
        };
        for ((index, redacted_fields), appended) in std::mem::take(&mut self.places).into_iter().zip(appended)
        {
            match appended {
                Appended::Stored(id) => ingested.ids.push(id),
                Appended::Repeated(id) => {
                    ingested.ids.push(id);
                    ingested.repeated_count += 1;
                }
                Appended::Conflicting(id) => {
                    let message = format!("the idempotency key was used for event {id} with other content");
                    self.refused.push(RefusedEvent {
                        index,
                        error: AppError::Conflict(message),
                    });
                    continue;
                }
            }
            ingested.redacted_count += redacted_fields;
        }
        if ingested.ids.is_empty() {
            return Err(self.refusal());
        }
        self.refused.sort_by_key(|refused| refused.index);
        ingested.refused = self.refused;
        Ok(ingested)
    }

    /// The error that stands for the whole request when none of its events could be stored.
    fn refusal(mut self) -> AppError {
        self.refused.sort_by_key(|refused| refused.index);
        if let Some(only) = self.refused.pop_if(|_| !self.is_batch) {
            return only.error;
        }
        let all_conflict = self
            .refused
            .iter()
            .all(|refused| matches!(refused.error, AppError::Conflict(_)));
        if all_conflict {
            return AppError::Conflict("every idempotency key was used for other content".to_owned());
        }
        let mut found = Vec::new();
        for refused in self.refused {
            let prefix = format!("[{}]", refused.index);
            match refused.error {
                AppError::Invalid(violations) => found.extend(violations.below(&prefix).into_vec()),
                other => found.push(Violation::new(format!("{prefix}.idempotency_key"), other)),
            }
        }
        match Violations::check(found) {
            Err(violations) => violations.into(),
            Ok(()) => Violations::one("body", "holds no event that can be stored").into(),
        }
    }
}
