//! Events of an archive in the form in which the log stores them.

use crate::reader::ArchivedEvent;
use audit_domain::{EventField, StoredEvent, Timestamp};
use std::collections::BTreeMap;

impl ArchivedEvent {
    /// The event as the log stores it: with its canonical text. `None` where the columns are not those of an event.
    pub fn to_stored(&self) -> Option<StoredEvent> {
        let fields = self.fields();
        let text = |field: EventField| fields.get(field).trim_matches('"');
        Some(StoredEvent {
            id: text(EventField::Id).parse().ok()?,
            occurred_at: Timestamp::parse_rfc3339(text(EventField::OccurredAt)).ok()?,
            canonical: self.canonical(),
            content_hash: self.content_hash,
            content_salt: self.content_salt.clone(),
            redacted: self.redacted,
        })
    }

    /// Canonical JSON has the members of each object in the order of their names.
    fn canonical(&self) -> String {
        let fields = self.fields();
        // By the outer and the inner step of their paths.
        let mut members: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
        for field in EventField::ALL
            .iter()
            .filter(|field| !fields.get(**field).is_empty())
        {
            let path = field.as_str();
            let (outer, inner) = path.split_once('.').unwrap_or((path, ""));
            members
                .entry(outer)
                .or_default()
                .insert(inner, fields.get(*field));
        }
        object(members.iter().map(|(name, inner)| {
            let value = inner.get("").map(|text| (*text).to_owned());
            let of_object = || object(inner.iter().map(|(name, text)| (*name, (*text).to_owned())));
            (*name, value.unwrap_or_else(of_object))
        }))
    }
}

/// The names need no escapes.
fn object<'a>(members: impl Iterator<Item = (&'a str, String)>) -> String {
    let members: Vec<String> = members
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", members.join(","))
}
