//! Anonymous streams: events that are sent without an account and can be claimed by a project later.

mod claims;
pub(crate) mod limits;

use crate::error::{AppError, Result};
use crate::ingest::{Ingested, Prepared, STALE_RETRIES_MAX, SentEvents, destination, read_events};
use crate::redact_event::redact_and_record;
use crate::redaction::engines::EngineInUse;
use crate::self_audit::recorder::Recorder;
use crate::self_audit::{Place, Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use audit_auth::{MasterKey, Principal};
use audit_domain::{ClaimToken, Comparison, ContentSalt, Entropy, Event, Facets, Record, Timestamp};
use audit_redact::{Engine, Shape};
use audit_store::{
    AnonymousStreams, Appended, Destination, EventSender, NewEvent, NewStreamEvent, Project, StoreError,
    StreamClientRow, StreamEvent, StreamRow, UnhashedEvent, Writer,
};
use limits::StreamLimits;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The time after which an unclaimed stream expires, in seconds.
const STREAM_LIFETIME_SECONDS: i64 = 7 * 86_400;
/// The window of the request limit, in seconds.
const REQUESTS_WINDOW_SECONDS: i64 = 60;

audit_domain::words! {
    /// The status of a stream.
    pub enum StreamStatus {
        /// It accepts events.
        Active = "active",
        /// A project has claimed its events.
        Claimed = "claimed",
        /// It was not claimed in time; its events are deleted.
        Expired = "expired",
    }
}

/// The information about a stream for the holder of its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamInfo {
    /// The token.
    pub claim_token: ClaimToken,
    /// The number of accepted events.
    pub event_count: u64,
    /// Its status.
    pub status: StreamStatus,
    /// When it was created by its first event.
    pub created_at: Timestamp,
    /// When it expires unless it is claimed.
    pub expires_at: Timestamp,
}

fn status_of(stream: &StreamRow, now: Timestamp) -> StreamStatus {
    match stream.claimed_at {
        Some(_) => StreamStatus::Claimed,
        None if stream.is_empty || stream.expires_at <= now.as_micros() => StreamStatus::Expired,
        None => StreamStatus::Active,
    }
}

/// The outer error rolls the transaction back. The inner error is a refusal, which is committed because the request counts
/// against its limit.
type Committed<T> = Result<Result<T>>;

impl AuditLog {
    /// Counts a request of `client` to store events in a stream. Call it before the body is read and before
    /// [`Self::ingest_stream`]: a request beyond the limit costs no more than this.
    ///
    /// # Errors
    /// [`AppError::RateLimited`].
    pub fn count_stream_request(&self, client: String) -> Result<()> {
        let limits = self.settings.stream_limits;
        let now = self.clock.now();
        self.store.write_for(AnonymousStreams, move |writer| {
            count_request(writer, &client, limits, now)
        })?
    }

    /// Stores events in a stream. The first event creates it. The limits of new streams and of events apply to `client`;
    /// [`Self::count_stream_request`] has counted the request.
    ///
    /// # Errors
    /// [`AppError::Invalid`], [`AppError::Conflict`], the errors of streams and of their limits. No event is stored then.
    pub fn ingest_stream(
        &self,
        token: ClaimToken,
        client: String,
        sent: &SentEvents<'_>,
    ) -> Result<Ingested> {
        let prepared = self.prepare_stream(sent)?;
        let (events, rest) = prepared.split();
        let limits = self.settings.stream_limits;
        let now = self.clock.now();
        let appended =
            self.store
                .write_for(AnonymousStreams, move |writer| -> Committed<Vec<Appended>> {
                    let opened = match open_stream(writer, token, &client, limits, now)? {
                        Ok(opened) => opened,
                        Err(error) => return Ok(Err(error)),
                    };
                    let appended = append_to_stream(writer, opened.stream.clone(), events, limits, now)?;
                    match (opened.creator, &appended) {
                        (Some(creator), Ok(_)) => writer.update_stream_client(&client, &creator, now)?,
                        // Only a stored event creates a stream.
                        (Some(_), Err(_)) => writer.delete_stream(&opened.stream)?,
                        (None, _) => {}
                    }
                    Ok(appended)
                })??;
        rest.conclude(appended, None)
    }

    /// The information about a stream.
    ///
    /// # Errors
    /// [`AppError::StreamNotFound`], [`AppError::RateLimited`].
    pub fn stream_info(&self, token: ClaimToken, client: String) -> Result<StreamInfo> {
        let limits = self.settings.stream_limits;
        let now = self.clock.now();
        let stream = self
            .store
            .write_for(AnonymousStreams, move |writer| -> Committed<StreamRow> {
                if let Err(error) = count_request(writer, &client, limits, now)? {
                    return Ok(Err(error));
                }
                Ok(writer.stream(&token.sha256())?.ok_or(AppError::StreamNotFound))
            })??;
        Ok(StreamInfo {
            claim_token: token,
            event_count: stream.event_count.unsigned_abs(),
            status: status_of(&stream, now),
            created_at: Timestamp::from_micros(stream.created_at),
            expires_at: Timestamp::from_micros(stream.expires_at),
        })
    }

    /// Moves the events of a stream into a project. Returns their number.
    ///
    /// # Errors
    /// [`AppError::StreamNotFound`], [`AppError::StreamExpired`], [`AppError::StreamClaimed`], [`AppError::ProjectArchived`].
    pub fn claim_stream(
        self: &Arc<Self>,
        master: &MasterKey,
        selection: Selection,
        token: ClaimToken,
    ) -> Result<u64> {
        if self.is_cell() {
            return self.claim_in_cell(master, selection, token);
        }
        let principal = Principal::Master(*master);
        for _ in 0..STALE_RETRIES_MAX {
            let scope = self
                .store
                .read(|reader| self.scope(reader, &principal, selection))?;
            // Not in the transaction, for which others wait.
            self.engines.compiled(&scope.project.rules)?;
            let place = Place::Project(scope.project.project.id);
            let recorder = self.recorder(place, &Requester::from(master))?;
            match self.claim_with_compiled_rules(&principal, selection, token, recorder) {
                Err(AppError::Unavailable(StoreError::Stale)) => {}
                outcome => return outcome,
            }
        }
        Err(AppError::Unavailable(StoreError::Stale))
    }

    fn claim_with_compiled_rules(
        self: &Arc<Self>,
        principal: &Principal,
        selection: Selection,
        token: ClaimToken,
        recorder: Option<Recorder>,
    ) -> Result<u64> {
        let (this, principal) = (Arc::clone(self), principal.clone());
        self.store.write(move |writer| {
            // The project's rules must not change meanwhile.
            let project_id = this.scope(writer, &principal, selection)?.project.project.id;
            writer.hold_configuration(project_id)?;
            let scope = this.scope(writer, &principal, selection)?;
            require_unarchived(&scope.project.project)?;
            let claiming = Claiming {
                engine: this
                    .engines
                    .cached(&scope.project.rules)
                    .ok_or(StoreError::Stale)?,
                destination: destination(&scope.project, scope.environment)?,
                sender: Requester::from(&principal).sender(&this.settings),
                entropy: Arc::clone(&this.entropy),
                now: this.clock.now(),
            };
            let stored = claim(writer, claiming, token)?;
            if let Some(recorder) = recorder {
                let event = ServiceEvent::stream_claimed(&token.sha256(), stored, scope.environment);
                recorder.record(writer, project_id, vec![event])?;
            }
            Ok(stored)
        })
    }

    fn prepare_stream(&self, sent: &SentEvents<'_>) -> Result<Prepared<NewStreamEvent>> {
        let now = self.clock.now();
        let engine = &self.stream_engine;
        let digest_key = self.settings.digest_key.as_ref();
        read_events(sent, now, self.entropy.bytes(), |mut event: Event, stamp| {
            let (record, digest, report) = redact_and_record(engine, digest_key, &mut event, stamp);
            let idempotency = event.idempotency_key.as_deref().zip(digest);
            let new = NewStreamEvent::new(record, &event.tenant_id, idempotency);
            (new, report.fields().len())
        })
    }
}

/// Counts a request of a client, or refuses it at the limit.
fn count_request(
    writer: &mut Writer<'_>,
    client: &str,
    limits: StreamLimits,
    now: Timestamp,
) -> Committed<()> {
    let Some(max) = limits.requests_per_minute else {
        return Ok(Ok(()));
    };
    let mut known = writer.lock_stream_client(client)?;
    let window_start = now.as_millis() - REQUESTS_WINDOW_SECONDS * 1_000;
    known.requests.retain(|time| time.as_millis() > window_start);
    if known.requests.len() >= max {
        let first_to_expire = known.requests[known.requests.len() - max];
        let wait_millis = first_to_expire.as_millis() - window_start;
        // A clock that was set back must not lengthen the wait.
        let wait_millis = wait_millis.clamp(1, REQUESTS_WINDOW_SECONDS * 1_000);
        let retry_after_seconds = wait_millis.unsigned_abs().div_ceil(1_000);
        return Ok(Err(AppError::RateLimited {
            message: format!("streams allow at most {max} requests a minute"),
            retry_after_seconds,
        }));
    }
    known.requests.push(now);
    writer.update_stream_client(client, &known, now)?;
    Ok(Ok(()))
}

/// A locked stream that accepts events.
struct OpenStream {
    stream: StreamRow,
    /// The client with its new counts, if this request created the stream.
    creator: Option<StreamClientRow>,
}

/// Locks the stream of a token, and creates it if there is none.
fn open_stream(
    writer: &mut Writer<'_>,
    token: ClaimToken,
    client: &str,
    limits: StreamLimits,
    now: Timestamp,
) -> Committed<OpenStream> {
    let hash = token.sha256();
    let existing = |stream| OpenStream {
        stream,
        creator: None,
    };
    if let Some(stream) = writer.lock_stream(&hash)? {
        return Ok(require_active(stream, now).map(existing));
    }
    let mut known = writer.lock_stream_client(client)?;
    if known.day != now.utc_day() {
        (known.day, known.new_streams) = (now.utc_day(), 0);
    }
    if let Some(max) = limits
        .new_per_day
        .filter(|max| known.new_streams.unsigned_abs() >= *max)
    {
        // The last one may be this stream, created by another node while it held the lock on the client.
        if let Some(created) = writer.lock_stream(&hash)? {
            return Ok(require_active(created, now).map(existing));
        }
        return Ok(Err(AppError::RateLimited {
            message: format!("at most {max} streams may be created on one day"),
            retry_after_seconds: now.seconds_to_midnight(),
        }));
    }
    let created_at = now.truncated_to_millis();
    let stream = StreamRow {
        token_hash: hash.to_vec(),
        created_at: created_at.as_micros(),
        expires_at: created_at.plus_seconds(STREAM_LIFETIME_SECONDS).as_micros(),
        claimed_at: None,
        event_count: 0,
        day: now.utc_day(),
        day_events: 0,
        is_empty: false,
    };
    if !writer.insert_stream(&stream)? {
        // Another node created it at the same time.
        let created = writer.lock_stream(&hash)?.ok_or(AppError::StreamNotFound)?;
        return Ok(require_active(created, now).map(existing));
    }
    known.new_streams += 1;
    Ok(Ok(OpenStream {
        stream,
        creator: Some(known),
    }))
}

fn require_active(stream: StreamRow, now: Timestamp) -> Result<StreamRow> {
    match status_of(&stream, now) {
        StreamStatus::Active => Ok(stream),
        StreamStatus::Claimed => Err(AppError::StreamClaimed),
        StreamStatus::Expired => Err(AppError::StreamExpired),
    }
}

/// Refuses a claim by an archived project. The plan of an append refuses new events alone, but a claim also uses up the stream.
fn require_unarchived(project: &Project) -> Result<()> {
    match project.archived_at {
        None => Ok(()),
        Some(_) => Err(AppError::ProjectArchived(project.id)),
    }
}

/// Stores the events that are not repeats. Past a limit, stores none of them.
fn append_to_stream(
    writer: &mut Writer<'_>,
    mut stream: StreamRow,
    events: Vec<NewStreamEvent>,
    limits: StreamLimits,
    now: Timestamp,
) -> Committed<Vec<Appended>> {
    if stream.day != now.utc_day() {
        (stream.day, stream.day_events) = (now.utc_day(), 0);
    }
    let mut appended = Vec::with_capacity(events.len());
    let first = stream.event_count;
    for event in events {
        if let Some((id, digest)) = writer.stream_event_by_key(&stream, &event)? {
            appended.push(match event.compare(&digest) {
                Comparison::Same | Comparison::Unknown => Appended::Repeated(id),
                Comparison::Different => Appended::Conflicting(id),
            });
            continue;
        }
        let id = writer.insert_stream_event(&stream, stream.event_count, event)?;
        stream.event_count += 1;
        stream.day_events += 1;
        appended.push(Appended::Stored(id));
    }
    if stream.event_count > first
        && let Some(error) = exceeded_limit(&stream, limits, now)
    {
        // A rollback would also undo the count of the client's request.
        writer.delete_stream_events_from(&stream, first)?;
        return Ok(Err(error));
    }
    writer.update_stream(&stream)?;
    Ok(Ok(appended))
}

fn exceeded_limit(stream: &StreamRow, limits: StreamLimits, now: Timestamp) -> Option<AppError> {
    let exceeded = |count: i64, limit: Option<u64>| limit.filter(|limit| count.unsigned_abs() > *limit);
    if let Some(limit) = exceeded(stream.event_count, limits.events_total) {
        return Some(AppError::StreamEventLimit { limit });
    }
    exceeded(stream.day_events, limits.events_per_day).map(|limit| AppError::StreamDailyLimit {
        limit,
        retry_after_seconds: now.seconds_to_midnight(),
    })
}

/// Where the events of a claimed stream are stored, and how.
struct Claiming {
    /// Of the rules of the project, which the transaction has locked.
    engine: EngineInUse,
    destination: Destination,
    /// Who claims them; `None` for a claim that the service completes.
    sender: Option<EventSender>,
    entropy: Arc<dyn Entropy>,
    now: Timestamp,
}

fn claim(writer: &mut Writer<'_>, claiming: Claiming, token: ClaimToken) -> Result<u64> {
    let now = claiming.now;
    let stream = writer
        .lock_stream(&token.sha256())?
        .ok_or(AppError::StreamNotFound)?;
    let mut stream = require_active(stream, now)?;
    let events = writer.stream_events(&stream)?;
    let stored = append_claimed(writer, claiming, events)?;
    writer.delete_stream_events(&stream)?;
    stream.claimed_at = Some(now.as_micros());
    stream.is_empty = true;
    writer.update_stream(&stream)?;
    Ok(stored)
}

/// Stores the events of a stream in a project. Returns the number of those that were not stored before.
fn append_claimed(writer: &mut Writer<'_>, claiming: Claiming, events: Vec<StreamEvent>) -> Result<u64> {
    let Claiming {
        engine,
        destination,
        sender,
        entropy,
        now,
    } = claiming;
    let prepare = |event| {
        let salt = ContentSalt::from_bytes(entropy.bytes());
        claimed_event(event, &engine, &destination, salt, now).map(|event| event.sent_by(sender))
    };
    let events = events.into_iter().map(prepare).collect::<Result<Vec<_>>>()?;
    let events = NewEvent::all_hashed(events, &destination);
    let appended = writer.append_claimed(destination, events, now)?;
    let is_stored = |appended: &&Appended| matches!(appended, Appended::Stored(_));
    Ok(appended.events.iter().filter(is_stored).count() as u64)
}

/// A stream's event for a project: additionally redacted by the project's rules, otherwise unchanged.
fn claimed_event(
    event: StreamEvent,
    engine: &Engine,
    destination: &Destination,
    content_salt: ContentSalt,
    now: Timestamp,
) -> Result<UnhashedEvent> {
    let StreamEvent {
        stamp,
        occurred_at,
        redacted,
        canonical,
        sent_digest,
    } = event;
    let mut object: Map<String, Value> = serde_json::from_str(&canonical).map_err(AppError::internal)?;
    // Redaction must not change the fields that the service wrote.
    let envelope = ["id", "received_at"].map(|name| object.remove_entry(name));
    let mut value = Value::Object(object);
    let report = engine.redact(&mut value, &Shape::audit_event());
    let redacted = redacted || report.was_redacted();
    let mut object = match value {
        Value::Object(object) => object,
        other => Map::from_iter([("event".to_owned(), other)]),
    };
    object.extend(envelope.into_iter().flatten());
    let key = object.get("idempotency_key").and_then(Value::as_str);
    let key = key.map(str::to_owned);
    let record = Record::claimed(object, redacted, stamp, occurred_at, now)?;
    let canonical = record.canonical().to_owned();
    let facets = Facets::read(&canonical).map_err(AppError::internal)?;
    Ok(UnhashedEvent::new(
        destination,
        record,
        content_salt,
        &facets,
        key.as_deref().zip(sent_digest),
    ))
}
