//! The events of a request, parsed and prepared for the store, and its result.

use super::sent::SentEvents;
use crate::error::{AppError, Result};
use audit_domain::{Event, EventId, Stamp, Timestamp, Violation, Violations};
use audit_store::Appended;

/// The maximum number of events in an array.
pub const BATCH_EVENTS_MAX: usize = 100;
/// The maximum number of events in JSON lines, which forwarders of logs send in larger batches.
pub const LINES_EVENTS_MAX: usize = 1_000;

/// The result of a request with events.
#[derive(Debug)]
pub struct Ingested {
    /// The ids of the stored events, in the order of the request. For a repeat, the id of the first event.
    pub ids: Vec<EventId>,
    /// The number of fields that redaction changed.
    pub redacted_count: usize,
    /// Events of a batch that were refused.
    pub refused: Vec<RefusedEvent>,
    /// The number of `ids` that were stored before, under the same idempotency key.
    pub repeated_count: usize,
    /// A size of the log at which it contains all of them; `None` for a stream, which has no log.
    pub log_size: Option<u64>,
}

/// An event of a batch that was refused.
#[derive(Debug)]
pub struct RefusedEvent {
    /// Its index in the batch.
    pub index: usize,
    /// The reason.
    pub error: AppError,
}

/// The events of a request: prepared for the store, or refused.
pub(crate) struct Prepared<E> {
    events: Vec<E>,
    /// For each of `events`: its index in the request, and the number of its redacted fields.
    origins: Vec<(usize, usize)>,
    refused: Vec<RefusedEvent>,
    is_batch: bool,
}

/// Parses the events of a request and prepares each valid one.
pub(crate) fn read_events<E>(
    sent: &SentEvents<'_>,
    now: Timestamp,
    random: [u8; 10],
    mut prepare: impl FnMut(Event, Stamp) -> (E, usize),
) -> Result<Prepared<E>> {
    let read = sent.read()?;
    let mut prepared = Prepared {
        events: Vec::with_capacity(read.events.len()),
        origins: Vec::new(),
        refused: Vec::new(),
        is_batch: read.is_batch,
    };
    let mut stamp = Stamp {
        id: EventId::new(now, random),
        received_at: now,
    };
    for (index, event) in read.events.into_iter().enumerate() {
        match event.and_then(|event| Event::from_json(event, now)) {
            Ok(event) => {
                let (event, redacted_fields) = prepare(event, stamp);
                prepared.events.push(event);
                prepared.origins.push((index, redacted_fields));
                stamp.id = stamp.id.successor();
            }
            Err(violations) => prepared.refused.push(RefusedEvent {
                index,
                error: violations.into(),
            }),
        }
    }
    if prepared.events.is_empty() {
        return Err(prepared.refusal());
    }
    Ok(prepared)
}

impl<E> Prepared<E> {
    /// The same, with other forms of the events, in their order.
    pub(crate) fn map_events<T>(self, map: impl FnOnce(Vec<E>) -> Vec<T>) -> Prepared<T> {
        Prepared {
            events: map(self.events),
            origins: self.origins,
            refused: self.refused,
            is_batch: self.is_batch,
        }
    }

    pub(crate) fn split(mut self) -> (Vec<E>, Self) {
        (std::mem::take(&mut self.events), self)
    }

    /// The result of the request, given the store's result for each event.
    pub(crate) fn conclude(mut self, appended: Vec<Appended>, log_size: Option<u64>) -> Result<Ingested> {
        let mut ingested = Ingested {
            ids: Vec::new(),
            redacted_count: 0,
            refused: Vec::new(),
            repeated_count: 0,
            log_size,
        };
        for ((index, redacted_fields), appended) in
            std::mem::take(&mut self.origins).into_iter().zip(appended)
        {
            match appended {
                Appended::Stored(id) => ingested.ids.push(id),
                Appended::Repeated(id) => {
                    ingested.ids.push(id);
                    ingested.repeated_count += 1;
                }
                Appended::Conflicting(id) => {
                    let message = format!("the idempotency key was used for event {id} with other content");
                    self.refused.push(RefusedEvent {
                        index,
                        error: AppError::Conflict(message),
                    });
                    continue;
                }
            }
            ingested.redacted_count += redacted_fields;
        }
        if ingested.ids.is_empty() {
            return Err(self.refusal());
        }
        self.refused.sort_by_key(|refused| refused.index);
        ingested.refused = self.refused;
        Ok(ingested)
    }

    /// The error of a request of which no event could be stored.
    fn refusal(mut self) -> AppError {
        self.refused.sort_by_key(|refused| refused.index);
        if let Some(only) = self.refused.pop_if(|_| !self.is_batch) {
            return only.error;
        }
        let all_conflict = self
            .refused
            .iter()
            .all(|refused| matches!(refused.error, AppError::Conflict(_)));
        if all_conflict {
            return AppError::Conflict("every idempotency key was used for other content".to_owned());
        }
        let mut violations = Vec::new();
        for refused in self.refused {
            let prefix = format!("[{}]", refused.index);
            match refused.error {
                AppError::Invalid(found) => violations.extend(found.below(&prefix).into_vec()),
                other => violations.push(Violation::new(format!("{prefix}.idempotency_key"), other)),
            }
        }
        match Violations::check(violations) {
            Err(violations) => violations.into(),
            Ok(()) => Violations::one("body", "holds no event that can be stored").into(),
        }
    }
}
