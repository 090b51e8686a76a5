//! Whether an event names a person, and which of its parts go then.

use audit_domain::{EventField, EventPart, Extent, FoldedText, PartMask, SERVICE_TENANT_ID, StoredSalt};
use audit_redact::Engine;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;

/// What a person is found by.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Identifiers {
    /// Ids, as they were sent: whole values of events, in the same case.
    pub ids: Vec<String>,
    /// Addresses, names and numbers, as they were sent: they may be in longer texts, and case and accents do not matter.
    pub texts: Vec<String>,
}

/// They belong into no log.
impl fmt::Debug for Identifiers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Identifiers(…)")
    }
}

/// The identifiers of a person in all forms in which events have them. Masked ones are not among them.
pub(crate) struct Subject {
    ids: BTreeSet<String>,
    /// Folded.
    texts: Vec<String>,
    /// The hash forms of the texts.
    hashes: Vec<String>,
    /// A folded event that has none of these has no identifier of the person.
    needles: Vec<String>,
}

impl fmt::Debug for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Subject(…)")
    }
}

/// Where an event names a person.
#[derive(Debug)]
pub(crate) struct Found {
    parts: Vec<EventPart>,
    is_actor: bool,
    is_tenant: bool,
}

impl Subject {
    /// `engine` has the keys of hashes.
    pub(crate) fn new(engine: &Engine, identifiers: &Identifiers) -> Self {
        let folded = |text: &String| FoldedText::new(text).as_str().to_owned();
        let Identifiers { ids, texts } = identifiers;
        let ids: BTreeSet<String> = ids.iter().flat_map(|id| engine.identifier_forms(id)).collect();
        // The first form is the text itself.
        let hashes = texts
            .iter()
            .flat_map(|text| engine.identifier_forms(text).into_iter().skip(1));
        let hashes: Vec<String> = hashes.collect();
        let texts: Vec<String> = texts.iter().map(folded).filter(|text| !text.is_empty()).collect();
        let needles = ids.iter().map(folded).chain(texts.iter().chain(&hashes).cloned());
        Self {
            needles: needles.map(|folded| needle(&folded).to_owned()).collect(),
            ids,
            texts,
            hashes,
        }
    }

    /// Whether an event with this canonical text may name the person. Much faster than to read the event.
    pub(crate) fn may_be_in(&self, canonical: &str) -> bool {
        let folded = FoldedText::new(canonical);
        self.needles
            .iter()
            .any(|needle| folded.as_str().contains(needle.as_str()))
    }

    /// Where a stored event names the person, if it does. Names of members are not looked at, nor are the words of small vocabularies.
    pub(crate) fn find(&self, event: &Map<String, Value>) -> Option<Found> {
        let is_in = |field: &EventField| value_of(event, *field).is_some_and(|value| self.is_in(value));
        let parts = EventPart::ALL.iter().copied();
        let parts = parts.filter(|part| *part != EventPart::Kind && part.fields().iter().any(is_in));
        // No rule redacts the id of a tenant. The tenant of the service is not a person.
        let tenant = event.get("tenant_id").and_then(Value::as_str);
        let found = Found {
            parts: parts.collect(),
            is_actor: [EventField::ActorId, EventField::ActorEmail, EventField::ActorName]
                .iter()
                .any(is_in),
            is_tenant: tenant.is_some_and(|id| id != SERVICE_TENANT_ID && self.ids.contains(id)),
        };
        (found.is_tenant || !found.parts.is_empty()).then_some(found)
    }

    fn is_in(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_named_by(text),
            Value::Number(number) => self.is_named_by(&number.to_string()),
            Value::Array(values) => values.iter().any(|value| self.is_in(value)),
            Value::Object(members) => members.values().any(|value| self.is_in(value)),
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn is_named_by(&self, text: &str) -> bool {
        let folded = FoldedText::new(text);
        self.ids.contains(text)
            || self.hashes.iter().any(|hash| text.contains(hash.as_str()))
            || self.texts.iter().any(|part| folded.has_whole(part))
    }
}

/// The longest piece of a folded text that JSON does not escape.
fn needle(folded: &str) -> &str {
    let is_escaped = |character: char| matches!(character, '"' | '\\') || character.is_control();
    let pieces = folded.split(is_escaped);
    pieces.max_by_key(|piece| piece.len()).unwrap_or_default()
}

fn value_of(event: &Map<String, Value>, field: EventField) -> Option<&Value> {
    let mut steps = field.path();
    let first = event.get(steps.next()?)?;
    steps.try_fold(first, |value, step| value.get(step))
}

/// What of an event goes. A person who acted goes with all that the event says of the act, one who was acted on with what was done to him;
/// anywhere else goes what names the person. `None` where it is gone already.
pub(crate) fn mask(extent: Extent, found: &Found, salt: &StoredSalt) -> Option<PartMask> {
    if found.is_tenant || extent == Extent::Row {
        return Some(PartMask::ROW);
    }
    let Found { parts, is_actor, .. } = found;
    let is_target = parts.contains(&EventPart::TargetId) || parts.contains(&EventPart::TargetName);
    let goes = |part: &EventPart| match part {
        EventPart::Kind => false,
        EventPart::IdempotencyKey => true,
        _ if extent == Extent::All => true,
        EventPart::TargetId | EventPart::TargetName => is_target,
        EventPart::Metadata | EventPart::Changes if is_target => true,
        part => *is_actor || parts.contains(part),
    };
    let is_gone = |part: &EventPart| {
        let erased = salt.erased();
        erased.is_some_and(|erased| erased.proofs().hidden().any(|hidden| hidden == *part))
    };
    let parts = EventPart::ALL.iter().copied();
    PartMask::of_parts(parts.filter(|part| goes(part) && !is_gone(part)))
}

#[cfg(test)]
mod tests;
