//! The metadata of an event as a reader sees it, and the paths of its members by which events are filtered. No index has them: a query
//! that looks at them reads every candidate.

use crate::{Condition, DamagedEvent, EventField, HiddenField, StoredEvent, ViewerTier};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The characters of an event's metadata that are searched, at most.
const SEARCHED_CHARS_MAX: usize = 4_096;

/// The dot path of a member of the metadata, such as `metadata.order.id`. It is also the name of the parameter that filters by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetadataPath(String);

/// The text is not the path of a member of the metadata.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be the dot path of a member of metadata, such as metadata.order.id, without * and with at most {} characters",
    MetadataPath::CHARS_MAX
)]
pub struct MetadataPathError;

impl MetadataPath {
    /// The longest path, in characters.
    pub const CHARS_MAX: usize = HiddenField::CHARS_MAX;
    /// Paths that a project names, at most.
    pub const OF_PROJECT_MAX: usize = 16;
    /// With what every path begins.
    pub const PREFIX: &str = "metadata.";
    /// What the parameter that excludes values has before the path.
    pub const EXCLUSION: &str = "not_";
    /// With what every parameter that excludes values begins.
    pub const EXCLUDING_PREFIX: &str = "not_metadata.";

    /// The text of the path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The parameter of a condition: that which demands values if it has some, and otherwise that which excludes them.
    pub fn parameter(&self, condition: &Condition) -> String {
        match condition.any_of.is_empty() {
            false => self.0.clone(),
            true => format!("{}{self}", Self::EXCLUSION),
        }
    }

    fn steps(&self) -> Vec<&str> {
        self.0.split('.').skip(1).collect()
    }
}

impl FromStr for MetadataPath {
    type Err = MetadataPathError;

    fn from_str(text: &str) -> Result<Self, MetadataPathError> {
        let is_path = text.starts_with(Self::PREFIX)
            && text.parse::<HiddenField>().is_ok()
            && text.split('.').all(|step| step != "*");
        match is_path {
            true => Ok(Self(text.to_owned())),
            false => Err(MetadataPathError),
        }
    }
}

impl fmt::Display for MetadataPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The metadata of an event without what is hidden from the reader. By default none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisibleMetadata(Option<Value>);

#[derive(Deserialize)]
struct StoredMetadata {
    metadata: Option<Value>,
}

impl StoredEvent {
    /// The metadata that `tier` shows.
    ///
    /// # Errors
    /// [`DamagedEvent`] when the stored text is not an event.
    pub fn metadata(&self, tier: Option<&ViewerTier>) -> Result<VisibleMetadata, DamagedEvent> {
        let stored: StoredMetadata =
            serde_json::from_str(&self.canonical).map_err(|source| self.damaged(source))?;
        let (Some(metadata), Some(tier)) = (&stored.metadata, tier) else {
            return Ok(VisibleMetadata(stored.metadata));
        };
        let name = EventField::Metadata.as_str();
        let mut shown = Map::from_iter([(name.to_owned(), metadata.clone())]);
        tier.redact(&mut shown);
        Ok(VisibleMetadata(shown.remove(name)))
    }
}

impl VisibleMetadata {
    /// The texts, in the order of the stored text, with 4,096 characters at most in all. Names of members are none of them.
    pub fn texts(&self) -> Vec<String> {
        let (mut texts, mut chars_left) = (Vec::new(), SEARCHED_CHARS_MAX);
        if let Some(metadata) = &self.0 {
            add_texts(metadata, &mut chars_left, &mut texts);
        }
        texts
    }

    /// The values at a path: texts as they are, numbers and booleans as JSON. Arrays have those of all their items.
    pub fn values(&self, path: &MetadataPath) -> Vec<Cow<'_, str>> {
        let mut values = Vec::new();
        if let Some(metadata) = &self.0 {
            add_values(metadata, &path.steps(), &mut values);
        }
        values
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

fn add_values<'a>(value: &'a Value, steps: &[&str], values: &mut Vec<Cow<'a, str>>) {
    match (value, steps) {
        (Value::Array(items), _) => items.iter().for_each(|item| add_values(item, steps, values)),
        (Value::Object(members), [step, rest @ ..]) => {
            if let Some(member) = members.get(*step) {
                add_values(member, rest, values);
            }
        }
        (Value::String(text), []) => values.push(text.into()),
        (Value::Number(_) | Value::Bool(_), []) => values.push(value.to_string().into()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContentHash, ContentSalt, EventId, Timestamp};
    use serde_json::json;

    fn with_metadata(metadata: &Value) -> StoredEvent {
        StoredEvent {
            id: EventId::from_bytes([0; 16]),
            occurred_at: Timestamp::from_seconds(0),
            canonical: format!(r#"{{"action":"a.b","metadata":{metadata}}}"#),
            content_hash: ContentHash::from_bytes([7; 32]),
            content_salt: ContentSalt::from_bytes([7; 16]).into(),
            redacted: false,
        }
    }

    fn tier_without(hidden: &[&str]) -> ViewerTier {
        let mut tier = ViewerTier::initial().remove(0);
        tier.hidden_fields = hidden.iter().map(|path| path.parse().unwrap()).collect();
        tier
    }

    #[test]
    fn the_texts_are_those_that_the_tier_shows_up_to_a_limit() {
        let long = "é".repeat(SEARCHED_CHARS_MAX);
        let event = with_metadata(
            &json!({"a": {"n": 1, "ssn": "one"}, "b": ["two", {"c": "three"}], "d": long, "e": "never"}),
        );
        let texts = |tier: Option<&ViewerTier>| event.metadata(tier).expect("an event").texts();
        let all = texts(None);
        assert_eq!(all[..3], ["one", "two", "three"]);
        let rest = SEARCHED_CHARS_MAX - "onetwothree".len();
        assert_eq!(all[3..], ["é".repeat(rest)]);
        assert_eq!(texts(Some(&tier_without(&[]))), all);
        let partly = tier_without(&["metadata.*.ssn", "metadata.b.0", "metadata.d"]);
        assert_eq!(texts(Some(&partly)), ["three", "never"]);
        assert!(texts(Some(&tier_without(&["metadata"]))).is_empty());
    }

    #[test]
    fn the_values_at_a_path_are_scalars_and_those_of_all_items() {
        let event = with_metadata(&json!({
            "plan": "pro", "n": 9_007_199_254_740_993_u64, "half": 0.5, "on": true, "none": null, "empty": "",
            "order": {"id": 7, "lines": [{"sku": "a"}, {"sku": ["b", ["c"]]}, {"x": 1}, 2]}, "plan.x": "dotted",
        }));
        let at = |path: &str, tier: Option<&ViewerTier>| {
            let metadata = event.metadata(tier).expect("an event");
            let values = metadata.values(&path.parse().expect("a path"));
            values.into_iter().map(Cow::into_owned).collect::<Vec<_>>()
        };
        for (path, values) in [
            ("metadata.plan", &["pro"][..]),
            ("metadata.n", &["9007199254740993"]),
            ("metadata.half", &["0.5"]),
            ("metadata.on", &["true"]),
            ("metadata.empty", &[""]),
            ("metadata.none", &[]),
            ("metadata.absent", &[]),
            ("metadata.plan.x", &[]),
            ("metadata.order", &[]),
            ("metadata.order.id", &["7"]),
            ("metadata.order.lines", &["2"]),
            ("metadata.order.lines.sku", &["a", "b", "c"]),
        ] {
            assert_eq!(at(path, None), values, "{path}");
        }
        let partly = tier_without(&["metadata.order.lines.*.sku", "metadata.on"]);
        assert_eq!(at("metadata.order.lines.sku", Some(&partly)), [""; 0]);
        assert_eq!(at("metadata.on", Some(&partly)), [""; 0]);
        assert_eq!(at("metadata.plan", Some(&partly)), ["pro"]);
    }

    #[test]
    fn a_path_is_below_metadata_without_stars_and_of_limited_length() {
        let longest = format!(
            "metadata.{}",
            "é".repeat(MetadataPath::CHARS_MAX - "metadata.".len())
        );
        for path in ["metadata.plan", "metadata.order.id", "metadata.ü-1", &longest] {
            assert_eq!(
                path.parse().map(|path: MetadataPath| path.to_string()),
                Ok(path.to_owned())
            );
        }
        let longer = format!("{longest}x");
        for text in [
            "",
            "plan",
            "metadata",
            "metadata.",
            "metadata..a",
            "metadata.a.",
            "metadata.*.a",
            "metadata.*",
            "not_metadata.a",
            "metadata.a\0",
            &longer,
        ] {
            assert_eq!(text.parse::<MetadataPath>(), Err(MetadataPathError), "{text}");
        }
    }
}
