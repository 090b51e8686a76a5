//! The middleware around every route: gives the request its id, renders errors, counts, and writes the log's line.

use crate::access_log::logged;
use crate::compression::{compressed, without_stream};
use crate::error::ApiError;
use crate::held::counted;
use crate::metrics::known_method;
use crate::patience::Patience;
use crate::rate_limit::Allowance;
use crate::routes::MatchedRoute;
use crate::state::HttpState;
use crate::unread::Unread;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest, web};
use audit_app::{AppError, AttributeValue, RequestSpan, Tracer};
use std::sync::Arc;
use std::time::Instant;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const PREFIX: &str = "req_";
pub(crate) const INCOMING_CHARS_MIN: usize = 8;
pub(crate) const INCOMING_CHARS_MAX: usize = 128;

/// The id of a request: `req_…`, or the client's `x-request-id` if it is well formed.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(Arc<str>);

impl RequestId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The id that the middleware gave the request.
    pub(crate) fn of(request: &HttpRequest) -> Self {
        request
            .extensions()
            .get::<Self>()
            .cloned()
            .unwrap_or_else(|| Self(PREFIX.into()))
    }

    fn incoming(request: &ServiceRequest) -> Option<Self> {
        let text = request.headers().get(HEADER)?.to_str().ok()?;
        let is_well_formed = (INCOMING_CHARS_MIN..=INCOMING_CHARS_MAX).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        is_well_formed.then(|| Self(text.into()))
    }

    fn generate(state: &HttpState) -> Self {
        const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let random: [u8; 20] = state.entropy.bytes();
        let mut text = String::with_capacity(PREFIX.len() + random.len());
        text.push_str(PREFIX);
        text.extend(
            random
                .iter()
                .map(|byte| char::from(ALPHABET[usize::from(byte & 31)])),
        );
        Self(text.into())
    }
}

/// Runs the request. Only this middleware renders errors.
pub(crate) async fn with_request_id(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let started = Instant::now();
    let state = request.app_data::<web::Data<HttpState>>().cloned();
    let Some(state) = state else {
        return next.call(request).await.map(ServiceResponse::map_into_boxed_body);
    };
    let id = RequestId::incoming(&request).unwrap_or_else(|| RequestId::generate(&state));
    request.extensions_mut().insert(id.clone());
    let unread = Unread::watch(&mut request);
    let span = begin_span(&state, &request);
    // Errors of handlers and extractors arrive as responses that carry them; any other error does not belong to a
    // request.
    let response = match &span {
        Some(span) => span.scope(next.call(request)).await?,
        None => next.call(request).await?,
    };
    let (request, response) = response.map_into_boxed_body().into_parts();
    let response = match response.error() {
        Some(error) => render(error, &id),
        None => {
            let response = compressed(&state, &request, response).await;
            counted(&state, &request, response).unwrap_or_else(|error| error.render(id.as_str()))
        }
    };
    let response = match request.method() {
        &Method::HEAD => without_stream(response),
        _ => response,
    };
    Patience::set(&request, response.body().size());
    let chunked_bytes = unread.as_ref().map(Unread::read_bytes);
    let response = match unread {
        Some(unread) => unread.closes(response),
        None => response,
    };
    let mut response = ServiceResponse::new(request, response);
    protect(response.headers_mut());
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(HEADER, value);
    }
    let allowance = response.request().extensions().get::<Allowance>().copied();
    if let Some(allowance) = allowance {
        allowance.write(response.headers_mut());
    }
    let route = count(&state, &response, started);
    if let (Some(tracer), Some(span)) = (&state.tracer, &span) {
        end_span(tracer, span, &response, route, &id);
    }
    Ok(logged(response, &state, id, route, started, chunked_bytes))
}

/// Begins the span of a request, in the trace of the client. Several `traceparent` headers are as none (W3C Trace Context).
fn begin_span(state: &HttpState, request: &ServiceRequest) -> Option<Arc<RequestSpan>> {
    let mut parents = request.headers().get_all(TRACEPARENT);
    let parent = parents.next().filter(|_| parents.next().is_none());
    state
        .tracer
        .as_ref()?
        .begin(parent.and_then(|parent| parent.to_str().ok()))
}

/// Ends it when the response is ready; exports and event streams go on. Names neither a path nor a person.
fn end_span(
    tracer: &Tracer,
    span: &RequestSpan,
    response: &ServiceResponse<BoxBody>,
    route: &str,
    id: &RequestId,
) {
    // The name of the semantic conventions for a method that HTTP does not define.
    let method = known_method(response.request().method().as_str()).unwrap_or("_OTHER");
    let status = response.status();
    let text = |text: &str| AttributeValue::Text(text.to_owned());
    let attributes = vec![
        ("http.request.method", text(method)),
        ("http.route", text(route)),
        (
            "http.response.status_code",
            AttributeValue::Number(i64::from(status.as_u16())),
        ),
        ("audit.request_id", text(id.as_str())),
    ];
    tracer.end(
        span,
        format!("{method} {route}"),
        attributes,
        status.is_server_error(),
    );
}

/// Responses have secrets and events of customers: no cache stores them, and no browser guesses what they are. What may be
/// stored says so itself.
fn protect(headers: &mut HeaderMap) {
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

fn render(error: &Error, id: &RequestId) -> actix_web::HttpResponse {
    match error.as_error::<ApiError>() {
        Some(error) => error.render(id.as_str()),
        None => {
            log::error!("{}: {error}", id.as_str());
            let cause = std::io::Error::other(error.to_string());
            ApiError::from(AppError::Internal(Box::new(cause))).render(id.as_str())
        }
    }
}

/// Counts the request, and returns the path of its route.
fn count(state: &HttpState, response: &ServiceResponse<BoxBody>, started: Instant) -> &'static str {
    let request = response.request();
    let route = MatchedRoute::of(request).map_or("unmatched", |route| route.path);
    state.metrics.request(
        request.method().as_str(),
        route,
        response.status(),
        started.elapsed().as_secs_f64(),
    );
    route
}
