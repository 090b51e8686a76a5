//! What the middleware of all frameworks share. `clients/conformance/README.md`, "Middleware", has the contract that the middleware of all
//! clients keep.

use crate::double::Record;
use crate::error::Error;
use crate::event::{EventBuilder, NewEvent};
use audit_domain::{ActorType, Outcome};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// From this status on, a request has failed.
const FAILED_STATUS: u16 = 400;
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

/// The actor where the function that knows it panics.
pub(crate) fn unknown_actor() -> ActorOf {
    ("unknown".to_owned(), ActorType::System)
}

/// What a function of the application gives. If it panics, that is `otherwise` and an error in the log: the request goes on.
pub(crate) fn given<T>(name: &str, otherwise: Option<T>, function: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(function)).unwrap_or_else(|_| {
        log::error!("the function of the {name} panicked: an event is not recorded, or not all of it");
        otherwise
    })
}

/// The events of a request that has ended with this status. One that is not valid is an error in the log.
pub(crate) fn events_of(seen: &Seen, status: u16, annotated: Vec<EventBuilder>) -> Vec<NewEvent> {
    let recorded = annotated.into_iter().filter_map(|event| match status {
        FAILED_STATUS.. => event.failed(),
        _ => Some(event),
    });
    let built = recorded.map(|event| completed(seen, status, event));
    built
        .filter_map(|event| match event {
            Ok(event) => Some(event),
            Err(error) => {
                log::error!("an event was not recorded: {error}");
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
fn completed(seen: &Seen, status: u16, mut event: EventBuilder) -> Result<NewEvent, Error> {
    if let Some(tenant_id) = seen.tenant_id.as_ref().filter(|_| !event.has("tenant_id")) {
        event = event.tenant_id(tenant_id);
    }
    if !event.has("actor") {
        event = match &seen.actor {
            Some((id, kind)) => event.actor(id, *kind),
            None => event.actor(ANONYMOUS, ActorType::User),
        };
    }
    if !event.has("outcome") {
        event = event.outcome(outcome_of(status));
    }
    if let Some(address) = seen.address {
        // An IPv4 address is not written as a socket for both versions has it.
        event = event.or_in("context", "ip_address", address.to_canonical().to_string().into());
    }
    if let Some(agent) = seen.user_agent.as_ref().filter(|agent| !agent.is_empty()) {
        let agent: String = agent.chars().take(USER_AGENT_CHARS_MAX).collect();
        event = event.or_in("context", "user_agent", agent.into());
    }
    event = event
        .or_in("metadata", "method", seen.method.as_str().into())
        .or_in("metadata", "status", status.into());
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

/// Records the events of a request. Waits for the disk with a spool, for room with `Overflow::Block`.
///
/// The response is decided already, so an event that cannot be recorded is an error in the log.
pub(crate) fn record_all(audit: &dyn Record, events: Vec<NewEvent>) {
    for event in events {
        match catch_unwind(AssertUnwindSafe(|| audit.record(event))) {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => {
                log::error!("an event was dropped: the queue is full, or the event is not valid")
            }
            Ok(Err(error)) => log::error!("an event was not recorded: {error}"),
            Err(_) => log::error!("an event was not recorded: the client panicked"),
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
