//! The access log: one line for each request, written when its response is complete.
//!
//! The members of a line are stable. It has routes, not paths: a path can hold a stream's token or a customer's id.

use crate::client_address::address_of;
use crate::input::selected_project;
use crate::request_id::RequestId;
use crate::state::HttpState;
use actix_web::HttpMessage;
use actix_web::HttpRequest;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::ServiceResponse;
use actix_web::http::Method;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::Bytes;
use audit_app::Identity;
use audit_domain::{KeyId, ProjectId};
use log::kv::{ToValue, Value};
use std::fmt::Display;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

const TARGET: &str = "audit_http::access";
/// Bytes of a method in the log, at most. The longest registered one has 17 (RFC 3253).
const METHOD_BYTES_SHOWN_MAX: usize = 32;

/// A line that still lacks the end of its response.
struct Line {
    started: Instant,
    request_id: RequestId,
    method: Method,
    route: &'static str,
    status: u16,
    client: Option<IpAddr>,
    key_id: Option<KeyId>,
    /// Of the key or token, or else the one that the request names.
    project_id: Option<ProjectId>,
    request_bytes: u64,
}

impl Line {
    fn of(
        response: &ServiceResponse<BoxBody>,
        state: &HttpState,
        request_id: RequestId,
        route: &'static str,
        started: Instant,
        chunked_bytes: Option<u64>,
    ) -> Self {
        let request = response.request();
        let identity = request.extensions().get::<Identity>().cloned();
        let identity = identity.unwrap_or_default();
        Self {
            started,
            request_id,
            method: request.method().clone(),
            route,
            status: response.status().as_u16(),
            client: address_of(request, &state.trusted_proxies),
            key_id: identity.key_id(),
            project_id: identity.project_id().or_else(|| selected_project(request)),
            request_bytes: chunked_bytes.unwrap_or_else(|| declared_bytes(request)),
        }
    }

    fn write(&self, response_bytes: u64) {
        // A tenth of a millisecond is as precise as the clock of a busy machine.
        let duration_ms = (self.started.elapsed().as_secs_f64() * 10_000.0).round() / 10.0;
        log::info!(
            target: TARGET,
            request_id = self.request_id.as_str(),
            method:% = shown(self.method.as_str()),
            route = self.route,
            status = self.status,
            duration_ms,
            client = optional(&self.client),
            key_id = optional(&self.key_id),
            project_id = optional(&self.project_id),
            request_bytes = self.request_bytes,
            response_bytes;
            "request"
        );
    }
}

/// The value of a member that the request does not have.
static NOTHING: () = ();

fn optional<T: Display>(value: &Option<T>) -> Value<'_> {
    match value {
        Some(value) => Value::from_display(value),
        None => NOTHING.to_value(),
    }
}

/// The bytes that a request announces for its body. They may not have been sent.
fn declared_bytes(request: &HttpRequest) -> u64 {
    let declared = request.headers().get(CONTENT_LENGTH);
    let declared = declared.and_then(|length| length.to_str().ok()?.parse().ok());
    declared.unwrap_or_default()
}

/// The beginning of a method. A client may send a method of any length.
fn shown(method: &str) -> impl Display {
    // Methods are ASCII (RFC 9110, section 9.1).
    let beginning = method.get(..METHOD_BYTES_SHOWN_MAX).unwrap_or(method);
    beginning.escape_debug()
}

/// The body of a response whose size is not known before its end. Its line is written then, also if the client disconnects.
struct CountedBody {
    body: BoxBody,
    bytes: u64,
    line: Line,
}

impl MessageBody for CountedBody {
    type Error = Box<dyn std::error::Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let next = self.body.as_pin_mut().poll_next(context);
        if let Poll::Ready(Some(Ok(bytes))) = &next {
            self.bytes += bytes.len() as u64;
        }
        next
    }
}

impl Drop for CountedBody {
    fn drop(&mut self) {
        self.line.write(self.bytes);
    }
}

/// Writes the line of a response, at once or at its end. `chunked_bytes` are those that were read of a chunked body.
pub(crate) fn logged(
    response: ServiceResponse<BoxBody>,
    state: &HttpState,
    request_id: RequestId,
    route: &'static str,
    started: Instant,
    chunked_bytes: Option<u64>,
) -> ServiceResponse<BoxBody> {
    if !log::log_enabled!(target: TARGET, log::Level::Info) {
        return response;
    }
    let line = Line::of(&response, state, request_id, route, started, chunked_bytes);
    let bytes = match response.response().body().size() {
        BodySize::None => 0,
        BodySize::Sized(bytes) => bytes,
        BodySize::Stream => {
            return response.map_body(|_, body| BoxBody::new(CountedBody { body, bytes: 0, line }));
        }
    };
    line.write(bytes);
    response
}
