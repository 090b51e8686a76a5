//! `/api/v1/events`.

use crate::caller::{Caller, Keys, Readers, credential_of};
use crate::error::{ApiError, ErrorBody, item_error};
use crate::input::{JsonBody, read_query, read_selection, selection};
use crate::parameters::{WholeNumber, read_time, take};
use crate::reply::Reply;
use crate::state::HttpState;
use actix_web::{HttpRequest, web};
use audit_app::{AppError, EventsRequest, Ingested, Selection};
use audit_domain::{ActionFilter, EventFilter, EventId, Fields, PageLimit, Search, Violations, limits};
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
pub(super) struct IngestedBody {
    ids: Vec<EventId>,
    redacted_count: usize,
    /// How many of `ids` were stored before; absent when none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeated_count: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<RefusedBody>,
}

#[derive(Serialize)]
struct RefusedBody {
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
        }
    }
}

#[derive(Serialize)]
pub(super) struct EventsBody {
    events: Vec<Box<RawValue>>,
    cursor: Option<String>,
    has_more: bool,
}

#[derive(Serialize)]
pub(super) struct EventBody {
    event: Box<RawValue>,
}

/// Stores one event or an array of them. Master and project keys; the service looks at the credential itself.
pub(super) async fn ingest(
    request: HttpRequest,
    state: web::Data<HttpState>,
    body: JsonBody,
) -> Result<Reply<IngestedBody>, ApiError> {
    let credential = credential_of(&request)?;
    let input = read_selection(&request).and_then(|selection| Ok((selection, body.bytes()?)));
    let (selection, bytes) = match input {
        Ok(input) => input,
        Err(error) => {
            // Whoever may not send events learns that, and not what is wrong with them.
            Caller::<Keys>::check(&state, credential).await?;
            return Err(error);
        }
    };
    let ingested = state.service.ingest(&credential, selection, &bytes).await?;
    state.metrics.ingested(&ingested);
    Ok(Reply::created(ingested.into()))
}

/// One page of events.
pub(super) async fn list(
    caller: Caller<Readers>,
    request: HttpRequest,
) -> Result<Reply<EventsBody>, ApiError> {
    let (selection, query) = read_query(&request, |fields| read_events_query(&request, fields))?;
    let answer = caller
        .run(move |service, principal| service.events(&principal, selection, query))
        .await?;
    Ok(Reply::ok(EventsBody {
        has_more: answer.cursor.is_some(),
        events: answer.events,
        cursor: answer.cursor,
    }))
}

/// One event.
pub(super) async fn get(
    caller: Caller<Keys>,
    request: HttpRequest,
    id: web::Path<String>,
) -> Result<Reply<EventBody>, ApiError> {
    let selection = read_selection(&request)?;
    let id: EventId = id.parse().map_err(|_| AppError::NotFound("event"))?;
    let event = caller
        .run(move |service, principal| service.event(&principal, selection, id))
        .await?;
    Ok(Reply::ok(EventBody { event }))
}

fn read_events_query(request: &HttpRequest, fields: &mut Fields<'_>) -> Option<(Selection, EventsRequest)> {
    let selection = selection(request, fields);
    let filter = read_filter(fields);
    let filter = read_times_and_search(fields, filter);
    let limit = read_page_limit(fields);
    let cursor = fields.optional_text("cursor", 0, usize::MAX);
    Some((
        selection,
        EventsRequest {
            filter,
            cursor,
            limit,
        },
    ))
}

/// What every list of events can be narrowed by.
pub(super) fn read_filter(fields: &mut Fields<'_>) -> EventFilter {
    EventFilter {
        tenant_id: fields.optional_text("tenant_id", 1, limits::ID_CHARS_MAX),
        actor_ids: fields
            .optional_text("actor_id", 1, limits::ID_CHARS_MAX)
            .map(|id| vec![id]),
        actor_type: fields.optional_parsed("actor_type"),
        action: read_with(fields, "action", ActionFilter::parse),
        category: fields.optional_parsed("category"),
        target_ids: fields
            .optional_text("target_id", 1, limits::ID_CHARS_MAX)
            .map(|id| vec![id]),
        target_type: fields.optional_text("target_type", 1, limits::ID_CHARS_MAX),
        ..EventFilter::default()
    }
}

/// What a list of what has happened can be narrowed by besides.
pub(super) fn read_times_and_search(fields: &mut Fields<'_>, filter: EventFilter) -> EventFilter {
    EventFilter {
        start: read_time(fields, "start_date"),
        end: read_time(fields, "end_date"),
        search: read_with(fields, "search", Search::parse),
        ..filter
    }
}

/// The number of events of a page.
pub(super) fn read_page_limit(fields: &mut Fields<'_>) -> PageLimit {
    let limit = fields.optional_parsed::<WholeNumber>("limit");
    let limit = limit.and_then(|number| take(fields, PageLimit::new(number.0)));
    limit.unwrap_or(PageLimit::DEFAULT)
}

fn read_with<T>(
    fields: &mut Fields<'_>,
    name: &str,
    parse: impl FnOnce(&str) -> Result<T, Violations>,
) -> Option<T> {
    let text = fields.optional_text(name, 0, usize::MAX)?;
    take(fields, parse(&text))
}
