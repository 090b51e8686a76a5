//! The events of a request as they were sent.

use super::prepared::{BATCH_EVENTS_MAX, LINES_EVENTS_MAX};
use audit_domain::Violations;
use audit_domain::json::{self, Json};
use std::borrow::Cow;

/// The form of a body that has events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventsForm {
    /// JSON: an event, or an array of up to [`BATCH_EVENTS_MAX`].
    Json,
    /// JSON lines (NDJSON): a batch of up to [`LINES_EVENTS_MAX`] events, one on each line. Empty lines do not count.
    Lines,
}

/// The events of a request as they were sent. A UTF-8 byte order mark before them is skipped.
#[derive(Clone, Debug)]
pub struct SentEvents<'a> {
    body: Cow<'a, [u8]>,
    form: EventsForm,
    idempotency_key: Option<String>,
}

/// The events of a request: each as JSON, or why it is none.
pub(super) struct ReadEvents<'a> {
    pub(super) events: Vec<Result<Json<'a>, Violations>>,
    pub(super) is_batch: bool,
}

impl<'a> SentEvents<'a> {
    /// A body of this form.
    pub const fn new(body: &'a [u8], form: EventsForm) -> Self {
        Self {
            body: Cow::Borrowed(body),
            form,
            idempotency_key: None,
        }
    }

    /// The same, with the key of the header `Idempotency-Key`. It is the `idempotency_key` of the only event.
    #[must_use]
    pub fn with_key(self, idempotency_key: Option<String>) -> Self {
        Self {
            idempotency_key,
            ..self
        }
    }

    /// A copy that owns the body.
    pub(super) fn owned(&self) -> SentEvents<'static> {
        SentEvents {
            body: Cow::Owned(self.body.to_vec()),
            form: self.form,
            idempotency_key: self.idempotency_key.clone(),
        }
    }

    /// The length of the body.
    pub(super) fn bytes(&self) -> usize {
        self.body.len()
    }

    /// The length of an array that may take as much work: lines of the same length may have more events.
    pub(super) fn work_bytes(&self) -> usize {
        match self.form {
            EventsForm::Json => self.bytes(),
            EventsForm::Lines => self.bytes() * (LINES_EVENTS_MAX / BATCH_EVENTS_MAX),
        }
    }

    /// Reads the JSON. What is wrong with one line is no fault of the others.
    pub(super) fn read(&self) -> Result<ReadEvents<'_>, Violations> {
        let text = json::without_byte_order_mark(&self.body);
        let read = match self.form {
            EventsForm::Json => read_json(text)?,
            EventsForm::Lines => read_lines(text)?,
        };
        match &self.idempotency_key {
            None => Ok(read),
            Some(_) if read.is_batch => Err(violation(
                "the header Idempotency-Key is for a request with one event: give each event of a batch its own idempotency_key",
            )),
            Some(key) => {
                let keyed = |event| with_key(event?, key);
                Ok(ReadEvents {
                    events: read.events.into_iter().map(keyed).collect(),
                    ..read
                })
            }
        }
    }
}

fn violation(message: &str) -> Violations {
    Violations::one("idempotency_key", message)
}

fn check_count(events: usize, events_max: usize) -> Result<(), Violations> {
    match (1..=events_max).contains(&events) {
        true => Ok(()),
        false => {
            let message = format!("must hold 1 to {events_max} events, holds {events}");
            Err(Violations::one("body", message))
        }
    }
}

fn read_json(text: &[u8]) -> Result<ReadEvents<'_>, Violations> {
    match json::parse(text).map_err(|error| Violations::one("body", error))? {
        Json::Array(events) => {
            check_count(events.len(), BATCH_EVENTS_MAX)?;
            Ok(ReadEvents {
                events: events.into_iter().map(Ok).collect(),
                is_batch: true,
            })
        }
        event @ Json::Object(_) => Ok(ReadEvents {
            events: vec![Ok(event)],
            is_batch: false,
        }),
        _ => Err(Violations::one("body", "must be an event or an array of events")),
    }
}

fn read_lines(text: &[u8]) -> Result<ReadEvents<'_>, Violations> {
    let lines = || {
        let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|line| !line.is_empty())
    };
    // Before any of them is read: a body has room for many more.
    check_count(lines().count(), LINES_EVENTS_MAX)?;
    let read = |line| json::parse(line).map_err(|error| Violations::one("event", error));
    Ok(ReadEvents {
        events: lines().map(read).collect(),
        is_batch: true,
    })
}

/// The event with this key, unless it has another one.
fn with_key<'a>(event: Json<'a>, key: &str) -> Result<Json<'a>, Violations> {
    const NAME: &str = "idempotency_key";
    let Json::Object(mut members) = event else {
        return Ok(event);
    };
    members.retain(|(name, value)| name != NAME || *value != Json::Null);
    match members.iter().find(|(name, _)| name == NAME) {
        Some((_, Json::String(own))) if own == key => {}
        Some(_) => return Err(violation("must be the key of the header Idempotency-Key")),
        None => members.push((NAME.into(), Json::String(key.to_owned().into()))),
    }
    Ok(Json::Object(members))
}
