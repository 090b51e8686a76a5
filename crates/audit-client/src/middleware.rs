//! What the middleware of all frameworks share. `clients/conformance/README.md`, "Middleware", has the contract that the middleware of all
//! clients keep.

use crate::double::Record;
use crate::error::Error;
use crate::event::{EventBuilder, NewEvent};
use audit_domain::{ActorType, Outcome};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// From this status on, a request has failed.
const FAILED_STATUS: u16 = 400;
/// The status of a handler that ends with an error in place of a response.
pub(crate) const ERROR_STATUS: u16 = 500;
/// The statuses of a request that the actor may not make (RFC 9110 §15.5.2 and §15.5.4).
const DENIED_STATUSES: [u16; 2] = [401, 403];
/// The id of the actor of an unauthenticated request.
const ANONYMOUS: &str = "anonymous";
const USER_AGENT_CHARS_MAX: usize = 512;
const REQUEST_ID_CHARS_MAX: usize = 128;

/// The id and the kind of an actor.
pub(crate) type ActorOf = (String, ActorType);

/// A request, as its framework and the functions of the application describe it.
pub(crate) struct Seen {
    pub(crate) began: Instant,
    pub(crate) method: String,
    /// The template of the path. The path itself may have secrets.
    pub(crate) route: Option<String>,
    pub(crate) address: Option<IpAddr>,
    pub(crate) user_agent: Option<String>,
    /// The header `X-Request-Id`.
    pub(crate) request_id: Option<String>,
    pub(crate) tenant_id: Option<String>,
    pub(crate) actor: Option<ActorOf>,
}

/// How a request ended.
#[derive(Clone, Copy)]
pub(crate) enum End {
    /// The handler responded with this status.
    Responded(u16),
    /// The server dropped the handler before it responded, because the client has gone. Whether it has done its work is unknown.
    Aborted,
}

impl End {
    /// The end of a request whose handler is being dropped.
    pub(crate) fn of_dropped() -> Self {
        if std::thread::panicking() {
            Self::Responded(ERROR_STATUS)
        } else {
            Self::Aborted
        }
    }
}

/// The actor where the function that knows it panics.
pub(crate) fn unknown_actor() -> ActorOf {
    ("unknown".to_owned(), ActorType::System)
}

/// What a function of the application gives. If it panics, that is `otherwise` and an error in the log, which the client counts if it is given: the
/// request goes on.
pub(crate) fn given<T>(
    audit: Option<&dyn Record>,
    name: &str,
    otherwise: Option<T>,
    function: impl FnOnce() -> Option<T>,
) -> Option<T> {
    catch_unwind(AssertUnwindSafe(function)).unwrap_or_else(|_| {
        log::error!("the function of the {name} panicked: an event is not recorded, or not all of it");
        if let Some(audit) = audit {
            audit.note_middleware_error();
        }
        otherwise
    })
}

/// An error in the log, which the client counts.
fn report(audit: &dyn Record, text: &str) {
    log::error!("{text}");
    audit.note_middleware_error();
}

/// The events of a request that has ended. One that is not valid is an error.
pub(crate) fn events_of(
    audit: &dyn Record,
    seen: &Seen,
    end: End,
    annotated: Vec<EventBuilder>,
) -> Vec<NewEvent> {
    let recorded = annotated.into_iter().filter_map(|event| match end {
        End::Responded(FAILED_STATUS..) => event.failed(),
        End::Responded(_) => Some(event),
        End::Aborted => Some(event.aborted()),
    });
    let built = recorded.map(|event| completed(seen, end, event));
    built
        .filter_map(|event| match event {
            Ok(event) => Some(event),
            Err(error) => {
                report(audit, &format!("an event was not recorded: {error}"));
                None
            }
        })
        .collect()
}

/// How a request with this status ended.
fn outcome_of(status: u16) -> Outcome {
    match status {
        _ if DENIED_STATUSES.contains(&status) => Outcome::Denied,
        FAILED_STATUS.. => Outcome::Failure,
        _ => Outcome::Success,
    }
}

/// Adds what the handler has not said.
fn completed(seen: &Seen, end: End, mut event: EventBuilder) -> Result<NewEvent, Error> {
    if let Some(tenant_id) = seen.tenant_id.as_ref().filter(|_| !event.has("tenant_id")) {
        event = event.tenant_id(tenant_id);
    }
    if !event.has("actor") {
        event = match &seen.actor {
            Some((id, kind)) => event.actor(id, *kind),
            None => event.actor(ANONYMOUS, ActorType::User),
        };
    }
    event = match end {
        End::Responded(status) => {
            if !event.has("outcome") {
                event = event.outcome(outcome_of(status));
            }
            event.or_in("metadata", "status", status.into())
        }
        End::Aborted => event.or_in("metadata", "aborted", true.into()),
    };
    if let Some(address) = seen.address {
        // An IPv4 address is not written as a socket for both versions has it.
        event = event.or_in("context", "ip_address", address.to_canonical().to_string().into());
    }
    if let Some(agent) = seen.user_agent.as_ref().filter(|agent| !agent.is_empty()) {
        let agent: String = agent.chars().take(USER_AGENT_CHARS_MAX).collect();
        event = event.or_in("context", "user_agent", agent.into());
    }
    event = event.or_in("metadata", "method", seen.method.as_str().into());
    if let Some(route) = &seen.route {
        event = event.or_in("metadata", "route", template_of(route).into());
    }
    // With a key of the application only what its repeats have too: the service compares them.
    if !event.has("idempotency_key") {
        let duration = u64::try_from(seen.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        event = event.or_in("metadata", "duration_ms", duration.into());
        if let Some(id) = seen.request_id.as_ref().filter(|id| is_request_id(id)) {
            event = event.or_in("metadata", "request_id", id.as_str().into());
        }
    }
    event.build()
}

/// `{id:[0-9]+}` as `{id}`.
fn template_of(route: &str) -> String {
    let mut template = String::with_capacity(route.len());
    let (mut depth, mut is_pattern) = (0_u32, false);
    for character in route.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ':' if depth == 1 => is_pattern = true,
            _ => {}
        }
        is_pattern &= depth > 0;
        if !is_pattern {
            template.push(character);
        }
    }
    template
}

fn is_request_id(text: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !text.is_empty() && text.len() <= REQUEST_ID_CHARS_MAX && text.bytes().all(is_known)
}

/// Starts to record the events of a request, in a thread for blocking work of the tokio runtime: a client may wait for the disk or for room.
/// Without a runtime it waits itself.
pub(crate) fn start_recording(audit: Arc<dyn Record>, events: Vec<NewEvent>) -> Option<JoinHandle<()>> {
    if events.is_empty() {
        return None;
    }
    let recording = Recording { audit, events };
    if let Ok(runtime) = Handle::try_current() {
        #[expect(clippy::disallowed_methods, reason = "a thread of the application")]
        let started = runtime.spawn_blocking(move || recording.run());
        return Some(started);
    }
    recording.run();
    None
}

/// Waits until the events are recorded. They are also if this is dropped, because the client of the request has gone.
pub(crate) async fn finish(recording: Option<JoinHandle<()>>) {
    if let Some(recording) = recording {
        // `Recording` has logged an error.
        drop(recording.await);
    }
}

/// The response is decided already, so an event that cannot be recorded is an error in the log.
struct Recording {
    audit: Arc<dyn Record>,
    events: Vec<NewEvent>,
}

impl Recording {
    fn run(mut self) {
        for event in std::mem::take(&mut self.events) {
            let audit = &*self.audit;
            match catch_unwind(AssertUnwindSafe(|| audit.record(event))) {
                Ok(Ok(true)) => {}
                // Counted by the client.
                Ok(Ok(false)) => {
                    log::error!("an event was dropped: the queue is full, or the event is not valid")
                }
                Ok(Err(error)) => report(audit, &format!("an event was not recorded: {error}")),
                Err(_) => report(audit, "an event was not recorded: the client panicked"),
            }
        }
    }
}

impl Drop for Recording {
    /// A runtime that ends does not run what it was given.
    fn drop(&mut self) {
        for _ in &self.events {
            report(&*self.audit, "an event was not recorded: the runtime has ended");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::template_of;

    #[test]
    fn a_template_has_no_patterns() {
        for (route, template) in [
            ("/invoices/{id}", "/invoices/{id}"),
            ("/a/{id:[0-9]{2,3}}/b/{name}", "/a/{id}/b/{name}"),
            ("/a:b/{*rest}", "/a:b/{*rest}"),
        ] {
            assert_eq!(template_of(route), template);
        }
    }
}
