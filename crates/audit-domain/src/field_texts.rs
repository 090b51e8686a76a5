//! The canonical text of an event, cut into the values of its fields, for hashing.
//! [`crate::SearchedText`] lists what search reads.

use crate::{EventField, EventPart, canonical};
use serde_json::{Map, Value};
use std::ops::Range;

const FIELDS: usize = EventField::ALL.len();

/// Where the value of each hashed field is in the canonical text of an event. Empty ranges for the fields that it does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldRanges([(u32, u32); FIELDS]);

impl FieldRanges {
    /// Notes the value of a field.
    pub(crate) fn set(&mut self, field: EventField, range: Range<usize>) {
        // An event has at most some hundred thousand bytes.
        self.0[field as usize] = (range.start as u32, range.end as u32);
    }

    /// Where the value of a field begins.
    pub(crate) fn start(&self, field: EventField) -> usize {
        self.0[field as usize].0 as usize
    }

    /// Adds to the offsets of the values that begin at `offset` or later.
    pub(crate) fn shift_from(&mut self, offset: usize, by: usize) {
        for (start, end) in &mut self.0 {
            if *start as usize >= offset {
                *start += by as u32;
                *end += by as u32;
            }
        }
    }

    /// The value of a field in the text.
    pub(crate) fn text<'a>(&self, field: EventField, text: &'a str) -> Option<&'a str> {
        let (start, end) = self.0[field as usize];
        text.get(start as usize..end as usize)
    }

    /// The values in the text.
    pub(crate) fn of<'a>(&self, text: &'a str) -> FieldTexts<'a> {
        let value = |(start, end): (u32, u32)| text.get(start as usize..end as usize);
        FieldTexts(self.0.map(|range| value(range).unwrap_or_default()))
    }

    /// Finds the values in the canonical text of an event. `None` where it is not one that the service writes: each member is one that it
    /// knows, and they are in order.
    pub(crate) fn find(canonical: &str) -> Option<Self> {
        let mut ranges = Self::default();
        let end = ranges.find_members(canonical.as_bytes(), 0, "")?;
        let has = |field: &EventField| ranges.0[*field as usize] != (0, 0);
        let mut required = EventPart::OPEN_FIELDS.iter().filter(|field| !field.is_appended());
        (end == canonical.len() && required.all(has)).then_some(ranges)
    }

    /// Finds the members of the object that begins at `start`. Returns where it ends.
    fn find_members(&mut self, text: &[u8], start: usize, prefix: &str) -> Option<usize> {
        let mut at = start;
        let mut expected = b'{';
        let mut last: &[u8] = b"";
        loop {
            let name_at = at + 2;
            if text.get(at..name_at)? != [expected, b'"'] {
                return None;
            }
            let name_end = name_at + text[name_at..].iter().position(|byte| *byte == b'"')?;
            let name = &text[name_at..name_end];
            if *text.get(name_end + 1)? != b':' || name <= last {
                return None;
            }
            let value_at = name_end + 2;
            at = match (prefix, field_of(prefix, name)) {
                (_, Some(field)) => {
                    let end = end_of_value(text, value_at)?;
                    self.set(field, value_at..end);
                    end
                }
                ("", None) => self.find_members(text, value_at, str::from_utf8(name).ok()?)?,
                _ => return None,
            };
            (last, expected) = (name, b',');
            if *text.get(at)? == b'}' {
                return Some(at + 1);
            }
        }
    }
}

/// The hashed field with this path: a name, and the name of the object that it is in.
fn field_of(prefix: &str, name: &[u8]) -> Option<EventField> {
    Some(match (prefix, name) {
        ("", b"id") => EventField::Id,
        ("", b"occurred_at") => EventField::OccurredAt,
        ("", b"received_at") => EventField::ReceivedAt,
        ("", b"claimed_at") => EventField::ClaimedAt,
        ("", b"action") => EventField::Action,
        ("", b"category") => EventField::Category,
        ("", b"tenant_id") => EventField::TenantId,
        ("actor", b"id") => EventField::ActorId,
        ("actor", b"type") => EventField::ActorType,
        ("actor", b"name") => EventField::ActorName,
        ("actor", b"email") => EventField::ActorEmail,
        ("target", b"id") => EventField::TargetId,
        ("target", b"type") => EventField::TargetType,
        ("target", b"name") => EventField::TargetName,
        ("context", b"ip_address") => EventField::IpAddress,
        ("context", b"user_agent") => EventField::UserAgent,
        ("context", b"location") => EventField::Location,
        ("context", b"session_id") => EventField::SessionId,
        ("", b"idempotency_key") => EventField::IdempotencyKey,
        ("", b"metadata") => EventField::Metadata,
        ("", b"changes") => EventField::Changes,
        ("", b"outcome") => EventField::Outcome,
        ("actor", b"on_behalf_of") => EventField::OnBehalfOf,
        ("", b"targets") => EventField::Targets,
        _ => return None,
    })
}

/// Where the JSON value that begins at `start` ends, if the text is canonical JSON.
fn end_of_value(text: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = start;
    loop {
        match *text.get(at)? {
            b'"' => at = end_of_string(text, at + 1)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            _ if depth > 0 => at += 1,
            // Neither a string nor within an array or object: no field of an event has such a value.
            _ => return None,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Where the string ends whose content begins at `start`: behind its closing quotation mark.
fn end_of_string(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        at += canonical::first_escaped(text.get(at..)?)?;
        match text[at] {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => return None,
        }
    }
}

/// The canonical JSON of each hashed field, empty where the event does not have it.
#[derive(Clone, Copy, Debug)]
pub struct FieldTexts<'a>([&'a str; FIELDS]);

impl<'a> FieldTexts<'a> {
    /// Those of the canonical text of an event. `None` where it is not one that the service writes.
    pub fn find(canonical: &'a str) -> Option<Self> {
        Some(FieldRanges::find(canonical)?.of(canonical))
    }

    /// Those that `text` returns. They are hashed as they are, so a hash proves that they are canonical.
    pub fn from_fn(mut text: impl FnMut(EventField) -> &'a str) -> Self {
        Self(std::array::from_fn(|index| text(EventField::ALL[index])))
    }

    /// The value of a field.
    pub fn get(&self, field: EventField) -> &'a str {
        self.0[field as usize]
    }

    /// The canonical text of an event with these values. `None` where one is not JSON.
    pub fn to_canonical(&self) -> Option<String> {
        let mut event = Map::new();
        for field in EventField::ALL
            .iter()
            .filter(|field| !self.get(**field).is_empty())
        {
            let value: Value = serde_json::from_str(self.get(*field)).ok()?;
            match field.as_str().split_once('.') {
                None => drop(event.insert(field.to_string(), value)),
                Some((outer, name)) => {
                    let outer = event.entry(outer).or_insert_with(|| Map::new().into());
                    outer.as_object_mut()?.insert(name.to_owned(), value);
                }
            }
        }
        Some(canonical::to_string(&event.into()))
    }
}

/// The canonical JSON of the fields that a reader sees.
pub(crate) struct VisibleTexts([String; FIELDS]);

impl VisibleTexts {
    /// Those of an event as a reader sees it.
    pub(crate) fn of(event: &Map<String, Value>) -> Self {
        Self(std::array::from_fn(|index| {
            let mut path = EventField::ALL[index].path();
            let first = path.next().and_then(|name| event.get(name));
            let value = first.and_then(|first| path.try_fold(first, |value, name| value.get(name)));
            value.map(canonical::to_string).unwrap_or_default()
        }))
    }

    pub(crate) fn texts(&self) -> FieldTexts<'_> {
        FieldTexts(self.0.each_ref().map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, EventId, HashedIn, Record, Stamp, Timestamp};
    use serde_json::json;

    const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

    fn record(changes: &Value) -> Record {
        let mut value = json!({
            "action": "user.created", "category": "mutation", "tenant_id": "t\"\\", "idempotency_key": "k",
            "actor": {"id": "a", "type": "user", "name": "n\u{1}", "email": "e", "on_behalf_of": {"id": "}", "type": "user", "name": "m"}},
            "target": {"id": "x", "type": "y", "name": "z"}, "outcome": "denied",
            "targets": [{"id": "x", "type": "y", "name": "z"}, {"id": "]", "type": "w"}],
            "context": {"ip_address": "i", "user_agent": "}u{", "location": "l", "session_id": "s"},
            "metadata": {"b": 1.50, "a": [true, null, "]}\\\""]}, "changes": [{"field": "f", "before": 1}, {"field": "g"}],
            "occurred_at": "2026-01-15T10:30:00+01:00",
        });
        for (pointer, change) in changes.as_object().unwrap() {
            let (object, name) = pointer.rsplit_once('/').unwrap();
            let object = value.pointer_mut(object).unwrap().as_object_mut().unwrap();
            match change {
                Value::Null => drop(object.remove(name)),
                change => drop(object.insert(name.to_owned(), change.clone())),
            }
        }
        let event = Event::from_json(value, NOW).unwrap();
        let id = EventId::new(NOW, [7; 10]);
        Record::new(&event, false, Stamp { id, received_at: NOW })
    }

    #[test]
    fn ranges_that_the_writer_notes_are_those_in_the_text() {
        for changes in [
            json!({}),
            json!({"/occurred_at": null}),
            json!({"/idempotency_key": null, "/metadata": null, "/occurred_at": null}),
            json!({"/target": null, "/changes": null}),
            json!({"/target": null, "/targets": null, "/outcome": null}),
            json!({"/occurred_at": null, "/outcome": null, "/targets": [{"id": "x", "type": "y", "name": "z"}, {"id": "x", "type": "\"w", "name": ""}]}),
            json!({"/actor/on_behalf_of": null, "/actor/name": null}),
            json!({"/actor/on_behalf_of/name": null, "/targets": [{"id": "x", "type": "y", "name": "z"}]}),
            json!({"/context": null, "/actor/email": null, "/metadata": {}}),
            json!({"/context": {}, "/changes": [], "/target/name": null, "/targets": null}),
            json!({"/metadata": {"}": {"\"": "\\"}}}),
        ] {
            let record = record(&changes);
            let text = record.canonical();
            let found = FieldRanges::find(text);
            assert_eq!(found.as_ref(), Some(record.field_ranges()), "{text}");
            let (texts, object) = (found.unwrap().of(text), serde_json::from_str(text).unwrap());
            assert_eq!(texts.to_canonical().as_deref(), Some(text));
            let visible = VisibleTexts::of(&object);
            for field in EventField::ALL {
                assert_eq!(
                    texts.get(*field),
                    visible.texts().get(*field),
                    "{field} of {text}"
                );
            }
        }
    }

    #[test]
    fn only_texts_that_the_service_writes_have_fields() {
        let record = record(&json!({}));
        let text = record.canonical();
        for other in [
            "",
            "{}",
            "[]",
            &text[..text.len() - 1],
            &format!("{text} "),
            &format!(" {text}"),
            &text.replace(",\"category\":\"mutation\"", ", \"category\":\"mutation\""),
            &text.replace(",\"category\":", ",\"categorx\":"),
            &text.replace(",\"category\":\"mutation\"", ",\"action\":\"a.b\""),
            &text.replace("\"category\":\"mutation\"", "\"category\":1"),
            &text.replace("\"context\":{", "\"context\":{},\"cpntext\":{"),
            &text.replace("\"name\":\"z\"", "\"name\":\"z\",\"other\":\"z\""),
            &text.replace("\"target\":{", "\"target\":[],\"tarhet\":{"),
            &text.replace("\"tenant_id\":\"t\\\"\\\\\"", "\"tenant_ie\":\"t\""),
            r#"{"action":"a.b","actor":{},"id":"","occurred_at":"","received_at":"","tenant_id":""}"#,
            r#"{"action":"a.b","context":"","id":"","occurred_at":"","received_at":"","tenant_id":""}"#,
        ] {
            assert_eq!(FieldRanges::find(other), None, "{other}");
        }
        let smallest = r#"{"id":"","occurred_at":"","received_at":"","tenant_id":""}"#;
        assert!(FieldRanges::find(smallest).is_some());
    }

    #[test]
    fn the_fields_that_are_found_are_those_that_are_hashed() {
        for field in EventField::ALL {
            let (prefix, name) = field.as_str().split_once('.').unwrap_or(("", field.as_str()));
            let expected = (field.hashed_in() != HashedIn::Nothing).then_some(*field);
            assert_eq!(field_of(prefix, name.as_bytes()), expected, "{field}");
        }
    }
}
