//! What is sent to a destination: `/api/v1/destinations/{id}/test`, `…/preview` and `…/set-aside`.

use super::destinations::id_in;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, Parameters, ProjectParameters};
use crate::parameters::{LIMIT_DEFAULT, read_limit, read_numbers};
use crate::reply::Reply;
use crate::schema::{FreeForm, Id, Time, Word, absent_not_null};
use actix_web::web;
use audit_app::{
    DestinationAttempt, DestinationPreview, DestinationVerdict, RESENT_MAX, RecordFormat, ResendRequest,
    Resent, ResentEvent, SetAsideEvent, SetAsidePage,
};
use audit_auth::DestinationOwners;
use audit_domain::{EventId, Fields};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

/// Events of a page, at most.
const SET_ASIDE_MAX: usize = 100;

/// An attempt to send one record.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DestinationAttempt")]
pub(super) struct AttemptBody {
    #[schemars(with = "Word<DestinationVerdict>")]
    verdict: &'static str,
    /// The HTTP status of the response; `null` without one.
    status: Option<i64>,
    /// What was sent, without secrets.
    request: String,
    /// The beginning of the response, or why there is none.
    response: String,
}

impl From<DestinationAttempt> for AttemptBody {
    fn from(attempt: DestinationAttempt) -> Self {
        Self {
            verdict: attempt.verdict.as_str(),
            status: attempt.status.map(i64::from),
            request: attempt.request,
            response: attempt.response,
        }
    }
}

/// In which format the records are shown.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct PreviewQuery {
    /// By default that of the destination.
    #[schemars(example = &"ocsf")]
    format: Option<Word<RecordFormat>>,
}

impl Fielded for PreviewQuery {
    type Read = Option<RecordFormat>;

    fn read(fields: &mut Fields<'_>) -> Option<Self::Read> {
        Some(fields.optional_parsed("format"))
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DestinationPreview")]
pub(super) struct PreviewBody {
    #[schemars(with = "Word<RecordFormat>")]
    format: &'static str,
    /// At most ten: JSON objects, or a string each in `cef`.
    #[schemars(with = "Vec<FreeForm>")]
    records: Vec<Box<RawValue>>,
}

impl From<DestinationPreview> for PreviewBody {
    fn from(preview: DestinationPreview) -> Self {
        Self {
            format: preview.format.as_str(),
            records: preview.records,
        }
    }
}

/// Which page of the list.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct SetAsideQuery {
    /// From an earlier response to the same query.
    cursor: Option<String>,
    /// Events of a page.
    #[schemars(range(min = 1, max = SET_ASIDE_MAX), extend("default" = LIMIT_DEFAULT), example = 50)]
    limit: Option<u32>,
}

impl Fielded for SetAsideQuery {
    type Read = (Option<String>, usize);

    fn read(fields: &mut Fields<'_>) -> Option<Self::Read> {
        let cursor = fields.optional_text("cursor", 0, usize::MAX);
        let limit = read_limit(fields, SET_ASIDE_MAX)?;
        Some((cursor, limit))
    }
}

/// An event that the receiver refused.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SetAsideEvent")]
struct SetAsideBody {
    /// 0, or the number of a replay.
    #[schemars(range(min = 0))]
    run: i64,
    /// The number of its record in the run.
    #[schemars(range(min = 1))]
    position: i64,
    /// Its position in the log.
    #[schemars(range(min = 0))]
    seq: i64,
    #[schemars(with = "Id<EventId>")]
    event_id: String,
    /// When it was refused.
    #[schemars(with = "Time")]
    at: String,
    /// What the receiver responded.
    reason: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SetAsidePage")]
pub(super) struct SetAsidePageBody {
    /// By run and position.
    events: Vec<SetAsideBody>,
    /// Asks for the next page; `null` on the last.
    cursor: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

impl From<SetAsideEvent> for SetAsideBody {
    fn from(event: SetAsideEvent) -> Self {
        Self {
            run: event.run,
            position: event.position,
            seq: event.seq,
            event_id: event.event_id.to_string(),
            at: event.at.to_string(),
            reason: event.reason,
        }
    }
}

impl From<SetAsidePage> for SetAsidePageBody {
    fn from(page: SetAsidePage) -> Self {
        Self {
            has_more: page.cursor.is_some(),
            events: page.events.into_iter().map(SetAsideBody::from).collect(),
            cursor: page.cursor,
        }
    }
}

/// Which events are sent again.
#[derive(JsonSchema)]
#[schemars(rename = "ResendInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ResendInput {
    /// The run of the positions.
    #[schemars(range(min = 0), extend("default" = 0))]
    run: Option<i64>,
    /// By default the first ten of the list, of any run.
    #[schemars(length(min = 1, max = RESENT_MAX), inner(range(min = 1)))]
    positions: Option<Vec<i64>>,
}

impl Fielded for ResendInput {
    type Read = ResendRequest;

    fn read(fields: &mut Fields<'_>) -> Option<ResendRequest> {
        Some(ResendRequest {
            run: fields.optional_integer("run", 0..=i64::MAX).unwrap_or(0),
            positions: read_numbers(fields, "positions", 1, RESENT_MAX),
        })
    }
}

/// An event that was sent again.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ResentEvent")]
struct ResentBody {
    #[schemars(range(min = 0))]
    run: i64,
    /// As before.
    #[schemars(range(min = 1))]
    position: i64,
    #[schemars(with = "Word<DestinationVerdict>")]
    verdict: &'static str,
    /// The HTTP status of the response; `null` without one.
    status: Option<i64>,
    /// What was sent, without secrets.
    request: String,
    /// The beginning of the response, or why there is none.
    response: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ResendResult")]
pub(super) struct ResentEventsBody {
    /// In the order in which they were sent. Delivered ones are no longer in the list.
    events: Vec<ResentBody>,
    /// The number of events that are still in the list.
    #[schemars(range(min = 0))]
    remaining: i64,
}

impl From<ResentEvent> for ResentBody {
    fn from(event: ResentEvent) -> Self {
        let attempt = AttemptBody::from(event.attempt);
        Self {
            run: event.run,
            position: event.position,
            verdict: attempt.verdict,
            status: attempt.status,
            request: attempt.request,
            response: attempt.response,
        }
    }
}

impl From<Resent> for ResentEventsBody {
    fn from(resent: Resent) -> Self {
        Self {
            events: resent.events.into_iter().map(ResentBody::from).collect(),
            remaining: resent.remaining,
        }
    }
}

/// Sends a made-up record.
pub(super) async fn test(
    caller: Caller<DestinationOwners>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<AttemptBody>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let sent = caller.send(move |service, owner| service.test_destination(&owner, selection, id));
    Ok(Reply::ok(sent.await?.into()))
}

/// The next records.
pub(super) async fn preview(
    caller: Caller<DestinationOwners>,
    parameters: Parameters<PreviewQuery>,
    id: web::Path<String>,
) -> Result<Reply<PreviewBody>, ApiError> {
    let (selection, format) = parameters.read()?;
    let id = id_in(&id)?;
    let read = caller.read(move |service, owner| service.preview_destination(&owner, selection, id, format));
    Ok(Reply::ok(read.await?.into()))
}

/// One page of the events that the receiver refused.
pub(super) async fn set_aside(
    caller: Caller<DestinationOwners>,
    parameters: Parameters<SetAsideQuery>,
    id: web::Path<String>,
) -> Result<Reply<SetAsidePageBody>, ApiError> {
    let (selection, (cursor, limit)) = parameters.read()?;
    let id = id_in(&id)?;
    let page =
        caller.read(move |service, owner| service.set_aside(&owner, selection, id, cursor.as_deref(), limit));
    Ok(Reply::ok(page.await?.into()))
}

/// Sends events again that the receiver refused.
pub(super) async fn resend(
    caller: Caller<DestinationOwners>,
    parameters: ProjectParameters,
    id: web::Path<String>,
    body: JsonBody<ResendInput>,
) -> Result<Reply<ResentEventsBody>, ApiError> {
    let selection = parameters.read()?;
    let request = body.read(caller.room()).await?;
    let id = id_in(&id)?;
    let sent = caller.send(move |service, owner| service.resend_set_aside(&owner, selection, id, &request));
    Ok(Reply::ok(sent.await?.into()))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about;
