//! `/api/v1/events/feed`.

use super::events::PageQuery;
use super::filter::FilterQuery;
use crate::caller::Bearer;
use crate::error::ApiError;
use crate::event_schema::VisibleEvent;
use crate::event_stream::{EVENT_STREAM, EventStream};
use crate::input::{Fielded, Parameters};
use crate::openapi::{Describe, Facts};
use crate::parameters::WholeNumber;
use crate::reply::{Reply, removed_before};
use crate::schema::absent_not_null;
use crate::streaming::{Gone, Pieces, streamed};
use actix_web::body::BoxBody;
use actix_web::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use actix_web::rt::time::sleep;
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, Responder, rt};
use audit_app::{AppError, FeedPage, FeedRequest, Follower};
use audit_auth::Readers;
use audit_domain::{EventJson, Fields};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// How long a request may wait for an event.
const WAIT_SECONDS_MAX: usize = 60;
/// The interval of heartbeats in a stream without events: less than the idle limits of proxies.
const HEARTBEAT_SECONDS: u64 = 15;
/// The pause of a stream when the service is busy.
const BUSY_PAUSE_SECONDS: u64 = 1;
const LAST_EVENT_ID: &str = "last-event-id";

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventFeedPage")]
pub(super) struct FeedBody {
    #[schemars(with = "Vec<VisibleEvent>")]
    events: Vec<EventJson>,
    /// Where to go on, also when there are no events; never `null`, because the feed has no end.
    cursor: String,
    /// Whether more was committed already; the next request then needs no `wait`.
    has_more: bool,
}

/// The cursor to continue from, and the wait.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct FeedQuery {
    /// The cursor of an earlier response to the same query, or `latest` for events from now on; without it the feed begins with the
    /// oldest event.
    after: Option<String>,
    /// Maximum time to wait for an event, in seconds.
    #[schemars(range(min = 0, max = WAIT_SECONDS_MAX), extend("default" = 0), example = 30)]
    wait: Option<u32>,
    #[schemars(flatten)]
    filter: FilterQuery,
    #[schemars(flatten)]
    page: PageQuery,
}

impl Fielded for FeedQuery {
    type Read = (FeedRequest, Duration);

    fn read(fields: &mut Fields<'_>) -> Option<Self::Read> {
        let wait = read_wait(fields);
        let request = FeedRequest {
            filter: FilterQuery::read(fields)?,
            after: fields.optional_text("after", 0, usize::MAX),
            limit: PageQuery::read(fields)?,
        };
        Some((request, wait))
    }

    fn is_repeatable(parameter: &str) -> bool {
        FilterQuery::is_repeatable(parameter)
    }
}

fn read_wait(fields: &mut Fields<'_>) -> Duration {
    let wait = fields.optional_parsed::<WholeNumber>("wait");
    let seconds = match wait.map(|number| number.0) {
        Some(seconds) if seconds > WAIT_SECONDS_MAX => {
            fields.violate("wait", format_args!("must be from 0 to {WAIT_SECONDS_MAX}"))
        }
        seconds => seconds,
    };
    Duration::from_secs(seconds.unwrap_or_default() as u64)
}

/// One page, or a stream of them.
pub(super) enum FeedResponse {
    Page(Reply<FeedBody>),
    Stream(HttpResponse),
}

impl Responder for FeedResponse {
    type Body = BoxBody;

    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        match self {
            Self::Page(page) => page.respond_to(request),
            Self::Stream(response) => response,
        }
    }
}

impl Describe for FeedResponse {
    fn describe(facts: &mut Facts) {
        Reply::<FeedBody>::describe(facts);
    }
}

/// The events behind a cursor in the order in which they were committed, as one response or as a stream.
pub(super) async fn follow(
    bearer: Bearer<Readers>,
    parameters: Parameters<FeedQuery>,
    request: HttpRequest,
) -> Result<FeedResponse, ApiError> {
    let (presented, (selection, (mut asked, wait))) = bearer.with(parameters.read()).await?;
    let is_stream = wants_stream(&request);
    if let Some(id) = last_event_id(&request).filter(|_| is_stream) {
        asked.after = Some(id);
    }
    let mut follower = presented.follow(selection, asked)?;
    if is_stream {
        let first = follower.next(Duration::ZERO).await?;
        return Ok(FeedResponse::Stream(event_stream(follower, first)));
    }
    let page = follower.next(wait).await?;
    let body = FeedBody {
        events: page.events.into_iter().map(|event| event.json).collect(),
        cursor: page.cursor,
        has_more: page.has_more,
    };
    Ok(FeedResponse::Page(
        Reply::ok(body).with_removed_before(page.removed_before),
    ))
}

/// Whether the client names the media type of streams. A client that accepts `*/*` gets one page.
fn wants_stream(request: &HttpRequest) -> bool {
    let accepted = request.headers().get_all(ACCEPT);
    accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .any(|range| range.trim().eq_ignore_ascii_case(EVENT_STREAM))
}

/// The cursor of a client that reconnects. It is later than the one in the URL with which the client first connected.
fn last_event_id(request: &HttpRequest) -> Option<String> {
    let id = request.headers().get(LAST_EVENT_ID)?;
    // A header that is not text becomes an invalid cursor.
    let id = id.to_str().unwrap_or("?");
    Some(id.to_owned()).filter(|id| !id.is_empty())
}

fn event_stream(follower: Follower, first: FeedPage) -> HttpResponse {
    let (pieces, body) = streamed();
    let removed_before = removed_before(first.removed_before);
    rt::spawn(async move {
        if send_pages(&pieces, follower, first).await.is_ok()
            && let Err(Gone) = pieces.end().await
        {
            log::debug!("a feed client disconnected at the end of its stream");
        }
    });
    let mut response = HttpResponse::Ok();
    for header in removed_before {
        response.insert_header(header);
    }
    response
        .insert_header((CONTENT_TYPE, EVENT_STREAM))
        .insert_header((CACHE_CONTROL, "no-store"))
        // Some proxies buffer a response unless this header says not to.
        .insert_header((HeaderName::from_static("x-accel-buffering"), "no"))
        .body(body)
}

/// The text of a page. Takes the page, so that a stalled reader holds only the text.
fn text_of(stream: &mut EventStream, page: FeedPage) -> Bytes {
    stream.page(&page).into()
}

/// Sends page after page until the credential no longer holds or the process is about to end.
async fn send_pages(pieces: &Pieces, mut follower: Follower, first: FeedPage) -> Result<(), Gone> {
    let mut stream = EventStream::default();
    pieces.send(text_of(&mut stream, first)).await?;
    while !follower.is_stopping() {
        let next = follower.next(Duration::from_secs(HEARTBEAT_SECONDS));
        match pieces.unless_gone(next).await? {
            Ok(page) => pieces.send(text_of(&mut stream, page)).await?,
            Err(AppError::Unavailable(error)) => {
                log::warn!("a feed stream is waiting: {error}");
                pieces.send(EventStream::still_here().into()).await?;
                pieces
                    .unless_gone(sleep(Duration::from_secs(BUSY_PAUSE_SECONDS)))
                    .await?;
            }
            Err(error) => {
                log::debug!("a feed stream ends: {error}");
                return pieces.send(EventStream::end(&error).into()).await;
            }
        }
    }
    Ok(())
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, HeaderParameter, Plain, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::event_stream::EVENT_STREAM;
    use schemars::json_schema;

    pub(crate) fn follow() -> About {
        About {
            description: "Events in the order in which they were committed, each once and none left out, whichever \
                          node stored them. Store `cursor` and send it as `after` to continue. With `wait` the \
                          response comes as soon as there is an event. A response without events is no error. \
                          `metadata.<path>` and `not_metadata.<path>` filter by what the project has in \
                          `metadata_filter_paths`.\n\n\
                          With `Accept: text/event-stream` the response is a stream of server-sent events that does \
                          not end: `event: audit` with an event as `data`, and as `id` the cursor behind it, which a \
                          client that comes back sends in `Last-Event-ID`. `event: end` says why the server ends a \
                          stream; its `data` has `code` and `message`. Lines that begin with `:` keep the connection \
                          alive.\n\n\
                          Where a removal has taken events behind `after` the response is 410, and \
                          `error.cursor` is the same position for a reader that knows it.\n\n\
                          With a viewer token the feed has the live events of its tenant that its tier shows.",
            headers: &[HeaderParameter {
                name: "Last-Event-ID",
                description: "The `id` of the last event that a stream brought; it goes before `after`. Only streams \
                              look at it.",
                schema: |_| json_schema!({"type": "string"}),
                example: "Am3Qv1kBvOJ6cD2PqFQk7v1vKq1J",
                is_required: false,
            }],
            errors: &[ErrorCode::EventsRemoved],
            outcome: "The events behind the cursor.",
            responses: &[Sample(
                "page",
                r#"{"events": [{
                    "id": "evt_01M7Y455KA2AA367HSAWZTY9SY", "action": "auth.failed", "category": "auth",
                    "tenant_id": "acme", "actor": {"id": "user_1", "type": "user"},
                    "occurred_at": "2026-01-15T10:31:00.000Z", "received_at": "2026-01-15T10:31:00.012Z",
                    "redacted": false,
                    "content_hash": "sha256:a1ebdad9f621be1e8fc041d2095f5cc8942ee3780da10f1ae303346b635b0b21",
                    "content_salt": "c5a9e2c0f1b04d7f8a6d3c2b1e0f9a87"
                }], "cursor": "Am3Qv1kBvOJ6cD2PqFQk7v1vKq1J", "has_more": false}"#,
            )],
            plain: Some(Plain {
                status: 200,
                content_types: &[EVENT_STREAM],
                json_type: "string",
            }),
            is_additive: true,
            ..About::new("follow_events", Tag::Events, "Follow events")
        }
    }
}
