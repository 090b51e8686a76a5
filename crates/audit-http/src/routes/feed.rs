//! `/api/v1/events/feed`.

use super::events::{read_filter, read_page_limit};
use crate::caller::{Caller, Readers, credential_of};
use crate::error::ApiError;
use crate::event_stream::EventStream;
use crate::input::{read_query, selection};
use crate::parameters::WholeNumber;
use crate::reply::Reply;
use crate::state::HttpState;
use crate::streaming::{Gone, Pieces, streamed};
use actix_web::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use actix_web::rt::time::sleep;
use actix_web::{HttpRequest, HttpResponse, Responder, rt, web};
use audit_app::{AppError, FeedPage, FeedRequest, Follower, Selection};
use audit_domain::Fields;
use serde::Serialize;
use serde_json::value::RawValue;
use std::time::Duration;

/// How long a request may wait for an event.
const WAIT_SECONDS_MAX: usize = 60;
/// After how long without an event a stream says that it is still there: less than the idle limits of proxies.
const HEARTBEAT_SECONDS: u64 = 15;
/// How long a stream waits when the service is busy.
const BUSY_PAUSE_SECONDS: u64 = 1;
const EVENT_STREAM: &str = "text/event-stream";
const LAST_EVENT_ID: &str = "last-event-id";

#[derive(Serialize)]
struct FeedBody {
    events: Vec<Box<RawValue>>,
    cursor: String,
    has_more: bool,
}

struct FeedQuery {
    selection: Selection,
    request: FeedRequest,
    wait: Duration,
}

/// The events behind a cursor in the order in which they were committed, as one answer or as a stream.
pub(super) async fn follow(
    _: Caller<Readers>,
    request: HttpRequest,
    state: web::Data<HttpState>,
) -> Result<HttpResponse, ApiError> {
    let query = read_query(&request, read_feed_query(&request))?;
    let FeedQuery {
        selection,
        request: mut asked,
        wait,
    } = query;
    let is_stream = wants_stream(&request);
    if let Some(id) = last_event_id(&request).filter(|_| is_stream) {
        asked.after = Some(id);
    }
    let credential = credential_of(&request)?;
    let mut follower = state.service.follow(credential, selection, asked);
    if is_stream {
        let first = follower.next(Duration::ZERO).await?;
        return Ok(event_stream(follower, first));
    }
    let page = follower.next(wait).await?;
    let body = FeedBody {
        events: page.events.into_iter().map(|event| event.json).collect(),
        cursor: page.cursor,
        has_more: page.has_more,
    };
    Ok(Reply::ok(body).respond_to(&request))
}

fn read_feed_query(request: &HttpRequest) -> impl FnOnce(&mut Fields<'_>) -> Option<FeedQuery> {
    move |fields| {
        let wait = fields.optional_parsed::<WholeNumber>("wait");
        let wait = match wait.map(|number| number.0) {
            Some(seconds) if seconds > WAIT_SECONDS_MAX => {
                fields.violate("wait", format_args!("must be from 0 to {WAIT_SECONDS_MAX}"))
            }
            seconds => seconds,
        };
        Some(FeedQuery {
            selection: selection(request, fields),
            wait: Duration::from_secs(wait.unwrap_or_default() as u64),
            request: FeedRequest {
                filter: read_filter(fields),
                after: fields.optional_text("after", 0, usize::MAX),
                limit: read_page_limit(fields),
            },
        })
    }
}

/// Whether the client names the type of streams. One that takes anything gets an answer that ends.
fn wants_stream(request: &HttpRequest) -> bool {
    let accepted = request.headers().get_all(ACCEPT);
    accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .any(|range| range.trim().eq_ignore_ascii_case(EVENT_STREAM))
}

/// Where a client that comes back was. It knows better than the address that it was given at first.
fn last_event_id(request: &HttpRequest) -> Option<String> {
    let id = request.headers().get(LAST_EVENT_ID)?;
    // What is no text is no cursor either.
    let id = id.to_str().unwrap_or("?");
    Some(id.to_owned()).filter(|id| !id.is_empty())
}

fn event_stream(follower: Follower, first: FeedPage) -> HttpResponse {
    let (pieces, body) = streamed();
    rt::spawn(async move {
        if send_pages(&pieces, follower, first).await.is_ok()
            && let Err(Gone) = pieces.end().await
        {
            log::debug!("a reader of the feed hung up at its end");
        }
    });
    HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, EVENT_STREAM))
        .insert_header((CACHE_CONTROL, "no-store"))
        // Some proxies collect an answer before they pass it on, unless they are told not to.
        .insert_header((HeaderName::from_static("x-accel-buffering"), "no"))
        .body(body)
}

/// Sends page after page until the credential no longer holds or the process is about to end.
async fn send_pages(pieces: &Pieces, mut follower: Follower, first: FeedPage) -> Result<(), Gone> {
    let mut stream = EventStream::default();
    pieces.send(stream.page(&first).into()).await?;
    drop(first);
    while !follower.is_stopping() {
        let next = follower.next(Duration::from_secs(HEARTBEAT_SECONDS));
        match pieces.unless_gone(next).await? {
            Ok(page) => pieces.send(stream.page(&page).into()).await?,
            Err(AppError::Unavailable(error)) => {
                log::warn!("a stream of the feed waits: {error}");
                pieces.send(EventStream::still_here().into()).await?;
                pieces
                    .unless_gone(sleep(Duration::from_secs(BUSY_PAUSE_SECONDS)))
                    .await?;
            }
            Err(error) => {
                log::debug!("a stream of the feed ends: {error}");
                return pieces.send(EventStream::end(&error).into()).await;
            }
        }
    }
    Ok(())
}
