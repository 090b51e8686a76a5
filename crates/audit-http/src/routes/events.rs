//! `/api/v1/events`.

use super::filter::HistoryQuery;
use crate::caller::Bearer;
use crate::error::{ApiError, ErrorBody, item_error};
use crate::event_schema::{EventsInput, VisibleEvent};
use crate::input::{Fielded, JsonBody, Parameters, ProjectParameters};
use crate::parameters::{WholeNumber, take};
use crate::preference::ReceiptPreference;
use crate::reply::{Created, Reply};
use crate::schema::{Id, absent_not_null};
use crate::state::HttpState;
use actix_web::web;
use audit_app::{AppError, EventsRequest, Ingested};
use audit_auth::{EventsWrite, Keys, Readers};
use audit_domain::{EventId, Fields, PageLimit};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "IngestResult")]
pub(super) struct IngestedBody {
    /// Ids of the stored events in the order they were sent; for a repeat, the id of the first.
    #[schemars(with = "Vec<Id<EventId>>")]
    ids: Vec<EventId>,
    /// The number of redacted fields (fields, not matches; repeats are counted).
    redacted_count: usize,
    /// The number of `ids` that were stored before; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize", range(min = 1), extend("x-additive" = true))]
    repeated_count: Option<usize>,
    /// The refused events of an array; absent when none was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1), extend("x-additive" = true))]
    errors: Vec<RefusedBody>,
    /// Where the events are in the verifiable log; a stream has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "LogBody", extend("x-additive" = true))]
    log: Option<LogBody>,
    /// For each of `ids` the proof that it is in the signed log, as text in the format of C2SP `tlog-proof`; only with the
    /// header `Prefer: receipt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", extend("x-additive" = true))]
    receipts: Option<Vec<String>>,
}

/// Where events are in the verifiable log.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LogPosition")]
struct LogBody {
    /// The size of a log that has all of them.
    size: u64,
}

/// An event of an array that was refused.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RefusedEvent")]
struct RefusedBody {
    /// Its place in the array, from 0.
    index: usize,
    #[serde(flatten)]
    error: ErrorBody,
}

impl From<Ingested> for IngestedBody {
    fn from(ingested: Ingested) -> Self {
        let refused = ingested.refused.iter();
        let errors = refused.map(|refused| RefusedBody {
            index: refused.index,
            error: item_error(&refused.error),
        });
        Self {
            errors: errors.collect(),
            ids: ingested.ids,
            redacted_count: ingested.redacted_count,
            repeated_count: Some(ingested.repeated_count).filter(|count| *count > 0),
            log: ingested.log_size.map(|size| LogBody { size }),
            receipts: None,
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventPage")]
pub(super) struct EventsBody {
    #[schemars(with = "Vec<VisibleEvent>")]
    events: Vec<Box<RawValue>>,
    /// Asks for the next page; `null` on the last.
    cursor: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventResult")]
pub(super) struct EventBody {
    #[schemars(with = "VisibleEvent")]
    event: Box<RawValue>,
}

/// How many events a page holds.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct PageQuery {
    /// Events of a page, at most. A page also ends when its events have 1 MiB together: it may have fewer than `limit`
    /// although there are more.
    #[schemars(
        range(min = 1, max = PageLimit::EVENTS_MAX),
        extend("default" = PageLimit::DEFAULT.get()),
        example = 50
    )]
    limit: Option<u32>,
}

/// Which events, and how many of them.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct EventsQuery {
    #[schemars(flatten)]
    history: HistoryQuery,
    /// From an earlier response to the same query.
    cursor: Option<String>,
    #[schemars(flatten)]
    page: PageQuery,
}

impl Fielded for PageQuery {
    type Read = PageLimit;

    fn read(fields: &mut Fields<'_>) -> Option<PageLimit> {
        let limit = fields.optional_parsed::<WholeNumber>("limit");
        let limit = limit.and_then(|number| take(fields, PageLimit::new(number.0)));
        Some(limit.unwrap_or(PageLimit::DEFAULT))
    }
}

impl Fielded for EventsQuery {
    type Read = EventsRequest;

    fn read(fields: &mut Fields<'_>) -> Option<EventsRequest> {
        let filter = HistoryQuery::read(fields)?;
        let limit = PageQuery::read(fields)?;
        let cursor = fields.optional_text("cursor", 0, usize::MAX);
        Some(EventsRequest {
            filter,
            cursor,
            limit,
        })
    }

    fn is_repeatable(parameter: &str) -> bool {
        HistoryQuery::is_repeatable(parameter)
    }
}

/// Stores one event or an array of them.
pub(super) async fn ingest(
    bearer: Bearer<Keys<EventsWrite>>,
    state: web::Data<HttpState>,
    parameters: ProjectParameters,
    preference: ReceiptPreference,
    mut body: JsonBody<EventsInput>,
) -> Result<Reply<IngestedBody, Created>, ApiError> {
    let caller = bearer.admit().await?;
    let selection = caller.checked(parameters.read()).await?;
    if preference.is_given() {
        caller.require_room_for_responses()?;
    }
    let bytes = caller.checked(body.bytes(caller.room()).await).await?;
    let presented = caller.presented;
    let ingested = presented.ingest(selection, &bytes).await?;
    state.metrics.ingested(&ingested);
    if !preference.is_given() {
        return Ok(Reply::created(ingested.into()));
    }
    match Box::pin(presented.receipts(selection, &ingested)).await {
        Ok(receipts) => {
            let mut body = IngestedBody::from(ingested);
            body.receipts = Some(receipts.iter().map(ToString::to_string).collect());
            Ok(preference.applied(Reply::created(body)))
        }
        // The events are stored. A preference may be ignored.
        Err(error) => {
            log::warn!("events were stored, but their receipts cannot be made: {error}");
            Ok(Reply::created(ingested.into()))
        }
    }
}

/// One page of events.
pub(super) async fn list(
    bearer: Bearer<Readers>,
    parameters: Parameters<EventsQuery>,
) -> Result<Reply<EventsBody>, ApiError> {
    let (presented, (selection, query)) = bearer.with(parameters.read()).await?;
    let answer = presented
        .query(move |presented| presented.events(selection, query))
        .await?;
    let body = EventsBody {
        has_more: answer.cursor.is_some(),
        events: answer.events,
        cursor: answer.cursor,
    };
    Ok(Reply::ok(body))
}

/// One event.
pub(super) async fn get(
    bearer: Bearer<Readers>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<EventBody>, ApiError> {
    let input = parameters.read().and_then(|selection| {
        let id = id.parse::<EventId>();
        Ok((selection, id.map_err(|_| AppError::NotFound("event"))?))
    });
    let (presented, (selection, id)) = bearer.with(input).await?;
    let event = presented
        .query(move |presented| presented.event(selection, id))
        .await?;
    Ok(Reply::ok(EventBody { event }))
}
