//! The texts in the metadata of an event. No index has them: a search that looks at them reads every candidate.

use crate::{DamagedEvent, StoredEvent, ViewerTier};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The characters of an event's metadata that are searched, at most.
pub(crate) const METADATA_CHARS_MAX: usize = 4_096;

#[derive(Deserialize)]
struct StoredMetadata {
    metadata: Option<Value>,
}

impl StoredEvent {
    /// The texts of the metadata that `tier` shows, in the order of the stored text, with 4,096 characters at most in all. Names of members
    /// are none of them.
    ///
    /// # Errors
    /// [`DamagedEvent`] when the stored text is not an event.
    pub fn metadata_texts(&self, tier: Option<&ViewerTier>) -> Result<Vec<String>, DamagedEvent> {
        let stored: StoredMetadata =
            serde_json::from_str(&self.canonical).map_err(|source| self.damaged(source))?;
        let Some(metadata) = stored.metadata else {
            return Ok(Vec::new());
        };
        let mut shown = Map::from_iter([("metadata".to_owned(), metadata)]);
        if let Some(tier) = tier {
            tier.redact(&mut shown);
        }
        let (mut texts, mut chars_left) = (Vec::new(), METADATA_CHARS_MAX);
        for value in shown.values() {
            add_texts(value, &mut chars_left, &mut texts);
        }
        Ok(texts)
    }
}

fn add_texts(value: &Value, chars_left: &mut usize, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if *chars_left > 0 => {
            let text: String = text.chars().take(*chars_left).collect();
            *chars_left -= text.chars().count();
            texts.push(text);
        }
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, chars_left, texts)),
        Value::Object(members) => members
            .values()
            .for_each(|member| add_texts(member, chars_left, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContentHash, ContentSalt, EventId, Timestamp};

    #[test]
    fn the_texts_are_those_that_the_tier_shows_up_to_a_limit() {
        let long = "é".repeat(METADATA_CHARS_MAX);
        let metadata = serde_json::json!({"a": {"n": 1, "ssn": "one"}, "b": ["two", {"c": "three"}], "d": long, "e": "never"});
        let event = StoredEvent {
            id: EventId::from_bytes([0; 16]),
            occurred_at: Timestamp::from_seconds(0),
            canonical: format!(r#"{{"action":"a.b","metadata":{metadata}}}"#),
            content_hash: ContentHash::from_bytes([7; 32]),
            content_salt: ContentSalt::from_bytes([7; 16]),
            redacted: false,
        };
        let mut tier = ViewerTier::initial().remove(0);
        let texts = |tier: Option<&ViewerTier>| event.metadata_texts(tier).expect("an event");
        let all = texts(None);
        assert_eq!(all[..3], ["one", "two", "three"]);
        let rest = METADATA_CHARS_MAX - "onetwothree".len();
        assert_eq!(all[3..], ["é".repeat(rest)]);
        assert_eq!(texts(Some(&tier)), all);
        tier.hidden_fields = ["metadata.*.ssn", "metadata.b.0", "metadata.d"]
            .map(|path| path.parse().unwrap())
            .into();
        assert_eq!(texts(Some(&tier)), ["three", "never"]);
        tier.hidden_fields = vec!["metadata".parse().unwrap()];
        assert!(texts(Some(&tier)).is_empty());
    }
}
