//! An event as it is stored: its canonical text with the envelope the service added, and the hash over it.

use crate::{ContentHash, Event, EventId, EventText, Timestamp, canonical};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::fmt::Display;

/// The identity of a stored event, and when the service received it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The event's id.
    pub id: EventId,
    /// When it was received, to the millisecond.
    pub received_at: Timestamp,
}

impl Stamp {
    /// The earliest stamp at or after `self` that may follow `last` in a log, where ids increase strictly and
    /// `received_at` never decreases.
    #[must_use]
    pub fn following(self, last: Option<Stamp>) -> Self {
        match last {
            Some(last) if self.id <= last.id || self.received_at < last.received_at => Self {
                id: last.id.successor(),
                received_at: last.received_at.max(self.received_at),
            },
            _ => self,
        }
    }
}

impl Stamp {
    /// The later of both ids and of both times.
    #[must_use]
    pub fn latest(self, other: Option<Stamp>) -> Self {
        other.map_or(self, |other| Self {
            id: self.id.max(other.id),
            received_at: self.received_at.max(other.received_at),
        })
    }
}

/// A redacted event with its stamp, in the form that is hashed, stored and read back: the canonical JSON of
/// everything a full read returns but `content_hash` and `redacted`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    stamp: Stamp,
    occurred_at: Timestamp,
    occurred_when_received: bool,
    redacted: bool,
    canonical: String,
    offsets: EnvelopeOffsets,
    content_hash: ContentHash,
}

/// Byte offsets of the values that the service added to the canonical text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct EnvelopeOffsets {
    id: usize,
    occurred_at: usize,
    received_at: usize,
}

impl Record {
    /// Stamps an event that has been redacted.
    pub fn new(event: &Event, redacted: bool, stamp: Stamp) -> Self {
        Self::of_text(event, &event.to_text(), redacted, stamp)
    }

    /// [`Self::new`] for an event whose text has been written already.
    pub fn of_text(event: &Event, text: &EventText, redacted: bool, stamp: Stamp) -> Self {
        /// An upper bound of what the envelope adds.
        const ENVELOPE_BYTES: usize = 144;
        let received_at = stamp.received_at.truncated_to_millis();
        let occurred_at = event.occurred_at.unwrap_or(received_at);
        let mut canonical = String::with_capacity(text.as_str().len() + ENVELOPE_BYTES);
        let mut add = |before: &str, name: &str, value: &dyn Display| {
            canonical.extend([before, ",\"", name, "\":"]);
            let start = canonical.len() + 1;
            canonical::write_plain(&mut canonical, value);
            start
        };
        let [before_id, before_times, rest] = text.around_envelope();
        let offsets = EnvelopeOffsets {
            id: add(before_id, "id", &stamp.id),
            occurred_at: add(before_times, "occurred_at", &occurred_at),
            received_at: add("", "received_at", &received_at),
        };
        canonical.push_str(rest);
        let content_hash = ContentHash::of(&canonical);
        Self {
            stamp: Stamp { received_at, ..stamp },
            occurred_at,
            occurred_when_received: event.occurred_at.is_none(),
            redacted,
            canonical,
            offsets,
            content_hash,
        }
    }

    /// The record of an event that was stored before, after more was redacted of it. Its stamp and times stay.
    pub fn rewritten(
        object: &Map<String, Value>,
        redacted: bool,
        stamp: Stamp,
        occurred_at: Timestamp,
    ) -> Self {
        let mut canonical = String::with_capacity(768);
        let mut offsets = EnvelopeOffsets::default();
        canonical::write_object_noting(&mut canonical, object, |key, start| {
            // Past the opening quotation mark.
            match key {
                "id" => offsets.id = start + 1,
                "occurred_at" => offsets.occurred_at = start + 1,
                "received_at" => offsets.received_at = start + 1,
                _ => {}
            }
        });
        let content_hash = ContentHash::of(&canonical);
        Self {
            stamp,
            occurred_at,
            occurred_when_received: false,
            redacted,
            canonical,
            offsets,
            content_hash,
        }
    }

    /// Gives the record another stamp. Needed when a record was prepared before another that was stored first:
    /// stamps must follow each other in the order of the log. Costs one hash; ids and times have fixed widths.
    pub fn restamp(&mut self, stamp: Stamp) {
        let received_at = stamp.received_at.truncated_to_millis();
        self.stamp = Stamp { received_at, ..stamp };
        self.overwrite(self.offsets.id, &stamp.id.to_string());
        self.overwrite(self.offsets.received_at, &received_at.to_string());
        if self.occurred_when_received {
            self.occurred_at = received_at;
            self.overwrite(self.offsets.occurred_at, &received_at.to_string());
        }
        self.content_hash = ContentHash::of(&self.canonical);
    }

    fn overwrite(&mut self, offset: usize, text: &str) {
        self.canonical.replace_range(offset..offset + text.len(), text);
    }

    /// Id and time of receipt.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// When the event happened.
    pub fn occurred_at(&self) -> Timestamp {
        self.occurred_at
    }

    /// Whether redaction changed the event.
    pub fn redacted(&self) -> bool {
        self.redacted
    }

    /// The canonical JSON that is hashed and stored.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The hash over [`Self::canonical`].
    pub fn content_hash(&self) -> ContentHash {
        self.content_hash
    }
}

/// An event read back from the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its id.
    pub id: EventId,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// The canonical JSON that was stored.
    pub canonical: String,
    /// The hash that was stored beside it.
    pub content_hash: ContentHash,
    /// Whether redaction changed the event.
    pub redacted: bool,
}

/// What [`StoredEvent::received_at`] reads.
#[derive(serde::Deserialize)]
struct Received<'a> {
    #[serde(borrow)]
    received_at: std::borrow::Cow<'a, str>,
}

/// The stored text is not one that the service writes.
#[derive(Debug, thiserror::Error)]
#[error("the stored text of event {id} is not an event")]
pub struct DamagedEvent {
    /// The event.
    pub id: EventId,
    #[source]
    source: serde_json::Error,
}

impl StoredEvent {
    /// The event as a read returns it, as JSON text: the stored text with `content_hash` and `redacted` added.
    ///
    /// # Errors
    /// [`DamagedEvent`] when the stored text is not a JSON object.
    pub fn to_json(&self) -> Result<Box<RawValue>, DamagedEvent> {
        let rest = self.canonical.strip_prefix('{').unwrap_or_default();
        let text = format!(
            "{{\"content_hash\":\"{}\",\"redacted\":{},{rest}",
            self.content_hash, self.redacted
        );
        RawValue::from_string(text).map_err(|source| DamagedEvent { id: self.id, source })
    }

    /// When the service received it, as the stored text says.
    ///
    /// # Errors
    /// [`DamagedEvent`] when the stored text is not a JSON object with this time.
    pub fn received_at(&self) -> Result<Timestamp, DamagedEvent> {
        let received: Received<'_> =
            serde_json::from_str(&self.canonical).map_err(|source| self.damaged(source))?;
        Timestamp::parse_rfc3339(&received.received_at)
            .map_err(|error| self.damaged(serde::de::Error::custom(error)))
    }

    /// The stored text as a JSON object.
    ///
    /// # Errors
    /// [`DamagedEvent`] when the stored text is not a JSON object.
    pub fn to_stored_object(&self) -> Result<Map<String, Value>, DamagedEvent> {
        serde_json::from_str(&self.canonical).map_err(|source| self.damaged(source))
    }

    /// The event as a read returns it, as a JSON object.
    ///
    /// # Errors
    /// [`DamagedEvent`] when the stored text is not a JSON object.
    pub fn to_object(&self) -> Result<Map<String, Value>, DamagedEvent> {
        let mut object = self.to_stored_object()?;
        object.insert("content_hash".to_owned(), self.content_hash.to_string().into());
        object.insert("redacted".to_owned(), self.redacted.into());
        Ok(object)
    }

    pub(crate) fn damaged(&self, source: serde_json::Error) -> DamagedEvent {
        DamagedEvent { id: self.id, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;
    use serde_json::json;

    fn event(occurred_at: Option<&str>) -> Event {
        let mut value = json!({
            "action": "user.created", "category": "mutation", "tenant_id": "t\u{1f600}", "idempotency_key": "k",
            "actor": {"id": "a", "type": "user", "name": "n", "email": "e"}, "target": {"id": "x", "type": "y", "name": "z"},
            "context": {"ip_address": "i", "user_agent": "u", "location": "l", "session_id": "s"},
            "metadata": {"b": 1.50, "a": [true, null]}, "changes": [{"field": "f", "before": 1, "after": {"z": 1, "a": 2}}, {"field": "g", "before": null}],
        });
        if let Some(occurred_at) = occurred_at {
            value["occurred_at"] = json!(occurred_at);
        }
        Event::from_json(value, Timestamp::from_seconds(1_768_473_000)).unwrap()
    }

    fn stamp(millis: i64, random: u8) -> Stamp {
        let received_at = Timestamp::from_millis(millis);
        Stamp {
            id: EventId::new(received_at, [random; 10]),
            received_at,
        }
    }

    #[test]
    fn the_text_is_canonical_and_the_hash_can_be_recomputed_from_a_read() {
        for occurred_at in [None, Some("2026-01-15T10:30:00+01:00")] {
            let record = Record::new(&event(occurred_at), true, stamp(1_768_473_000_123, 1));
            let value: Value = serde_json::from_str(record.canonical()).unwrap();
            assert_eq!(canonical::to_string(&value), record.canonical());
            let stored = StoredEvent {
                id: record.stamp().id,
                occurred_at: record.occurred_at(),
                canonical: record.canonical().to_owned(),
                content_hash: record.content_hash(),
                redacted: true,
            };
            let mut read: Map<String, Value> = serde_json::from_str(stored.to_json().unwrap().get()).unwrap();
            assert_eq!(read, stored.to_object().unwrap());
            assert_eq!(read.remove("redacted"), Some(json!(true)));
            let hash = read.remove("content_hash").unwrap();
            assert_eq!(
                hash,
                json!(ContentHash::of(&canonical::to_string(&Value::Object(read))).to_string())
            );
        }
    }

    #[test]
    fn a_restamped_record_equals_one_made_with_that_stamp() {
        for occurred_at in [None, Some("2026-01-15T10:30:00Z")] {
            let event = event(occurred_at);
            let mut record = Record::new(&event, false, stamp(1_768_473_000_123, 1));
            record.restamp(stamp(1_768_473_000_999, 2));
            assert_eq!(record, Record::new(&event, false, stamp(1_768_473_000_999, 2)));
        }
    }

    #[test]
    fn stamps_of_a_log_never_go_back() {
        let last = stamp(1_000, 5);
        assert_eq!(stamp(1_000, 6).following(Some(last)), stamp(1_000, 6));
        assert_eq!(stamp(2_000, 1).following(Some(last)), stamp(2_000, 1));
        for late in [stamp(1_000, 4), stamp(999, 9), last] {
            let moved = late.following(Some(last));
            assert!(moved.id > last.id && moved.received_at == last.received_at);
        }
        assert_eq!(last.following(None), last);
    }
}
