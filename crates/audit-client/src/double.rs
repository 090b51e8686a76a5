//! What a program's own tests use in place of a client.

use crate::client::Client;
use crate::error::Error;
use crate::event::NewEvent;
use parking_lot::Mutex;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What takes events: a [`Client`] in the program, a [`RecordedEvents`] in its tests.
pub trait Record: Send + Sync {
    /// Takes an event. As [`Client::record`].
    ///
    /// # Errors
    /// As [`Client::record`].
    fn record(&self, event: NewEvent) -> Result<bool, Error>;

    /// Counts an error that a middleware has reported. Does nothing unless it is implemented.
    fn note_middleware_error(&self) {}
}

impl Record for Client {
    fn record(&self, event: NewEvent) -> Result<bool, Error> {
        Self::record(self, event)
    }

    fn note_middleware_error(&self) {
        self.count_middleware_error();
    }
}

/// Keeps the events that a program records, and asserts on them. Clones share one list.
///
/// ```
/// use audit_client::{ActorType, Category, NewEvent, Record, RecordedEvents};
///
/// fn sign_up(audit: &dyn Record) -> Result<(), audit_client::Error> {
///     audit.record(NewEvent::builder("user.created", Category::Auth, "acme", ("u1", ActorType::User)).build()?)?;
///     Ok(())
/// }
///
/// let audit = RecordedEvents::default();
/// sign_up(&audit)?;
/// audit.assert_recorded(&[("action", "user.created"), ("actor.id", "u1")]);
/// # Ok::<(), audit_client::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RecordedEvents {
    events: Arc<Mutex<Vec<NewEvent>>>,
    middleware_errors: Arc<AtomicU64>,
}

impl RecordedEvents {
    /// The events, in the order in which they were recorded.
    pub fn events(&self) -> Vec<NewEvent> {
        self.events.lock().clone()
    }

    /// As [`Stats::middleware_errors`](crate::Stats::middleware_errors).
    pub fn middleware_errors(&self) -> u64 {
        self.middleware_errors.load(Ordering::Relaxed)
    }

    /// Forgets the events.
    pub fn clear(&self) {
        self.events.lock().clear();
    }

    /// The first event whose fields, by dot paths (`actor.id`), have these texts.
    ///
    /// # Panics
    /// If there is none. The message has all events.
    #[track_caller]
    pub fn assert_recorded(&self, fields: &[(&str, &str)]) -> NewEvent {
        let events = self.events();
        let matches = |event: &&NewEvent| fields.iter().all(|(path, text)| has(event, path, text));
        match events.iter().find(matches) {
            Some(event) => event.clone(),
            None => {
                let text = |event: &NewEvent| Value::from(event.as_object().clone()).to_string();
                let texts: Vec<String> = events.iter().map(text).collect();
                let count = texts.len();
                panic!(
                    "no event with {fields:?} was recorded, but {count} others:\n{}",
                    texts.join("\n")
                )
            }
        }
    }

    /// Asserts that there is no event.
    ///
    /// # Panics
    /// If there is one.
    #[track_caller]
    pub fn assert_nothing_recorded(&self) {
        let events = self.events();
        assert!(events.is_empty(), "events were recorded: {events:?}");
    }
}

impl Record for RecordedEvents {
    /// Refuses what the service would refuse.
    fn record(&self, event: NewEvent) -> Result<bool, Error> {
        event.check()?;
        self.events.lock().push(event);
        Ok(true)
    }

    fn note_middleware_error(&self) {
        self.middleware_errors.fetch_add(1, Ordering::Relaxed);
    }
}

fn has(event: &NewEvent, path: &str, text: &str) -> bool {
    let mut steps = path.split('.');
    let first = steps.next().and_then(|name| event.as_object().get(name));
    let found = steps.fold(first, |value, step| value.and_then(|value| value.get(step)));
    found.and_then(Value::as_str) == Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::{ActorType, Category};

    fn recorded() -> RecordedEvents {
        let events = RecordedEvents::default();
        let event = NewEvent::builder("user.created", Category::Auth, "acme", ("u1", ActorType::User));
        events.record(event.build().unwrap()).unwrap();
        events
    }

    #[test]
    fn an_event_is_found_by_its_fields() {
        let event = recorded().assert_recorded(&[("tenant_id", "acme"), ("actor.type", "user")]);
        assert_eq!(event.as_object()["action"], "user.created");
        RecordedEvents::default().assert_nothing_recorded();
    }

    #[test]
    #[should_panic(expected = "no event with [(\"actor.id\", \"u2\")] was recorded, but 1 others")]
    fn another_event_is_not_found() {
        recorded().assert_recorded(&[("actor.id", "u2")]);
    }

    #[test]
    #[should_panic(expected = "events were recorded")]
    fn an_event_is_not_nothing() {
        recorded().assert_nothing_recorded();
    }

    #[test]
    fn what_the_service_would_refuse_is_refused() {
        let event = NewEvent::from_serialize(&serde_json::json!({"action": "Signup"})).unwrap();
        let text = recorded().record(event).unwrap_err().to_string();
        assert!(
            text.contains("action: ") && text.contains("tenant_id: "),
            "{text}"
        );
    }
}
