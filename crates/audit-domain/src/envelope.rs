//! The fields of a stored event's text that are compared with other rows.

use crate::{EventId, IdError, Timestamp, TimestampError};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The fields of a stored event's text that its row also has, for comparing the two, and its tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The event's id.
    pub id: EventId,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// When the service received it.
    pub received_at: Timestamp,
    /// When it entered the log: the time of the claim, or else that of receipt. Never decreases along the log.
    pub logged_at: Timestamp,
    /// The key that its sender gave it.
    pub idempotency_key: Option<String>,
    /// Its tenant.
    pub tenant_id: String,
}

/// A text is not that of a stored event.
#[derive(Debug, thiserror::Error)]
pub enum EnvelopeError {
    /// It is not a JSON object that has them.
    #[error("the text is not that of an event")]
    Json(#[from] serde_json::Error),
    /// Its id is none of an event.
    #[error("the text has no id of an event")]
    Id(#[from] IdError),
    /// Its time is none.
    #[error("the text has no time")]
    Time(#[from] TimestampError),
}

// The canonical form escapes nothing that occurs in ids and times, so they can be borrowed.
#[derive(Deserialize)]
struct Text<'a> {
    id: &'a str,
    occurred_at: &'a str,
    received_at: &'a str,
    claimed_at: Option<&'a str>,
    idempotency_key: Option<String>,
    tenant_id: String,
}

/// When the log received an event, as the event says: the time of its claim, or else that of receipt.
#[must_use]
pub fn logged_at(event: &Map<String, Value>) -> Option<Timestamp> {
    let time = event.get("claimed_at").or_else(|| event.get("received_at"))?;
    Timestamp::parse_rfc3339(time.as_str()?).ok()
}

impl Envelope {
    /// Reads the canonical text of a stored event.
    ///
    /// # Errors
    /// [`EnvelopeError`] when it is not one.
    pub fn read(canonical: &str) -> Result<Self, EnvelopeError> {
        let text: Text<'_> = serde_json::from_str(canonical)?;
        Ok(Self {
            id: text.id.parse()?,
            occurred_at: Timestamp::parse_rfc3339(text.occurred_at)?,
            received_at: Timestamp::parse_rfc3339(text.received_at)?,
            logged_at: Timestamp::parse_rfc3339(text.claimed_at.unwrap_or(text.received_at))?,
            idempotency_key: text.idempotency_key,
            tenant_id: text.tenant_id,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_is_read_from_a_stored_text_and_from_nothing_else() {
        let id = EventId::new(Timestamp::from_millis(1_768_473_000_000), [7; 10]);
        let time = Timestamp::from_millis(1_768_473_000_123);
        let text = format!(
            r#"{{"actor":{{"id":"x"}},"id":"{id}","metadata":{{"id":[1e5]}},"occurred_at":"{time}","received_at":"{time}","tenant_id":"acme"}}"#
        );
        let mut envelope = Envelope {
            id,
            occurred_at: time,
            received_at: time,
            logged_at: time,
            idempotency_key: None,
            tenant_id: "acme".to_owned(),
        };
        assert_eq!(Envelope::read(&text).unwrap(), envelope);
        let with_key = text.replace(r#""id":"evt"#, r#""idempotency_key":"a\"b","id":"evt"#);
        envelope.idempotency_key = Some("a\"b".to_owned());
        assert_eq!(Envelope::read(&with_key).unwrap(), envelope);
        envelope.logged_at = Timestamp::from_millis(1_768_473_000_124);
        let claimed = with_key.replacen('{', &format!(r#"{{"claimed_at":"{}","#, envelope.logged_at), 1);
        assert_eq!(Envelope::read(&claimed).unwrap(), envelope);
        for broken in [
            "",
            "[]",
            &text[1..],
            &text.replace("evt_", "evt-"),
            &text.replace(".123Z", ""),
            &text.replace(r#""id":"evt"#, r#""ID":"evt"#),
        ] {
            assert!(Envelope::read(broken).is_err(), "{broken}");
        }
    }
}
