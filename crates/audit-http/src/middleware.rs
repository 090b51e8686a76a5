//! The middleware around every route: gives the request its id, limits its rate, renders errors, lets pages read, counts, and
//! writes the log's line. It is one function, because each middleware of the framework costs every request an allocation and a
//! service call.

use crate::access_log::logged;
use crate::caller::credential_text;
use crate::compression::{compressed, without_stream};
use crate::console_session;
use crate::cors;
use crate::error::ApiError;
use crate::held::counted;
use crate::metrics::known_method;
use crate::rate_limit::Allowance;
use crate::request_id::{self, RequestId};
use crate::routes::MatchedRoute;
use crate::state::HttpState;
use crate::unread::Unread;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use actix_web::http::{ConnectionType, Method};
use actix_web::middleware::Next;
use actix_web::{Error, HttpRequest, web};
use audit_app::{AppError, AttributeValue, RequestSpan, Tracer};
use audit_transport::Patience;
use std::sync::Arc;
use std::time::Instant;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Runs the request. Only this middleware renders errors.
pub(crate) async fn around_route(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let started = Instant::now();
    let state = request.app_data::<web::Data<HttpState>>().cloned();
    let Some(state) = state else {
        return next.call(request).await.map(ServiceResponse::map_into_boxed_body);
    };
    console_session::present(&mut request, &state);
    let id = RequestId::give(&request, &state);
    let unread = Unread::watch(&mut request);
    let span = begin_span(&state, &request);
    let allowance = take_allowance(&state, request.request());
    // Errors of handlers and extractors arrive as responses that carry them; any other error does not belong to a
    // request.
    let refusal = allowance.and_then(|allowance| allowance.refusal("this credential asks too often"));
    let response = match (refusal, &span) {
        (Some(refusal), _) => request.error_response(refusal),
        (None, Some(span)) => span.scope(next.call(request)).await?.map_into_boxed_body(),
        (None, None) => next.call(request).await?.map_into_boxed_body(),
    };
    let (request, response) = response.into_parts();
    let response = match response.error() {
        Some(error) => render(error, &id),
        None => {
            let response = compressed(&state.compressors, &state.trusted_proxies, &request, response).await;
            counted(&state.responses, &state.trusted_proxies, &request, response)
                .unwrap_or_else(|error| error.render(id.as_str()))
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
    if state.is_draining() {
        let head = response.response_mut().head_mut();
        head.set_connection_type(ConnectionType::Close);
    }
    protect(response.headers_mut());
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(request_id::HEADER, value);
    }
    if let Some(allowance) = allowance {
        allowance.write(response.headers_mut());
    }
    let route = MatchedRoute::of(response.request());
    // Errors too: a page may read them.
    if route.is_some_and(|route| route.is_viewer_read) {
        cors::let_read(&state, &mut response);
    }
    let path = route.map_or("unmatched", |route| route.path);
    state.metrics.request(
        response.request().app_data(),
        response.request().method(),
        path,
        response.status(),
        started.elapsed().as_secs_f64(),
    );
    if let (Some(tracer), Some(span)) = (&state.tracer, &span) {
        end_span(tracer, span, &response, path, &id);
    }
    Ok(logged(response, &state, id, path, started, chunked_bytes))
}

/// Takes a token from the bucket of the request's credential. `None` without a limit, and without a credential.
fn take_allowance(state: &HttpState, request: &HttpRequest) -> Option<Allowance> {
    let buckets = state.buckets.as_ref()?;
    let text = credential_text(request)?;
    Some(Allowance::take(buckets, text))
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
