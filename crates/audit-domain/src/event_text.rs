//! The canonical text of an event, to which a record adds the envelope: id and times.

use crate::event::{Actor, Change, Context, Event, OnBehalfOf, Target};
use crate::field_texts::FieldRanges;
use crate::{DigestKey, EventField, SentDigest, canonical};
use std::ops::Range;

/// The canonical JSON (RFC 8785) of an event without its envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventText {
    text: String,
    /// The offset at which the id is inserted.
    id_at: usize,
    /// The range that the time of the event replaces: `occurred_at` if it was sent, otherwise empty.
    occurred_at: Range<usize>,
    /// The offset at which the time of receipt is inserted.
    received_at_at: usize,
    /// The values of the fields.
    ranges: FieldRanges,
}

impl EventText {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The digest of the event as sent, which distinguishes a repeat from a conflict. Compute it before redaction: a rule
    /// that changes between two requests must not make a conflict.
    #[must_use]
    pub fn digest(&self, key: Option<&DigestKey>) -> SentDigest {
        SentDigest::of(&self.text, key)
    }

    /// The text before the id, from there to the time of the event, from there to the time of receipt, and the rest.
    pub(crate) fn around_envelope(&self) -> [&str; 4] {
        let Range { start, end } = self.occurred_at;
        [
            &self.text[..self.id_at],
            &self.text[self.id_at..start],
            &self.text[end..self.received_at_at],
            &self.text[self.received_at_at..],
        ]
    }

    /// The values of the fields, after these numbers of bytes were inserted for the id and for the time of receipt, and took the place of
    /// the time of the event.
    pub(crate) fn ranges_with_envelope(&self, [id, occurred_at, received_at]: [usize; 3]) -> FieldRanges {
        let Range { start, end } = self.occurred_at;
        let mut ranges = self.ranges;
        ranges.shift_from(self.received_at_at, received_at);
        ranges.shift_from(end, occurred_at - (end - start));
        ranges.shift_from(self.id_at, id);
        ranges
    }
}

impl Event {
    /// Its canonical text. The keys are written in the order that RFC 8785 sorts them into. A context without members is left out.
    #[must_use]
    pub fn to_text(&self) -> EventText {
        let Self {
            action,
            category,
            tenant_id,
            actor,
            target,
            targets,
            outcome,
            context,
            metadata,
            changes,
            idempotency_key,
            occurred_at,
        } = self;
        let mut out = Writer {
            text: String::with_capacity(640),
            ranges: FieldRanges::default(),
        };
        out.text.push('{');
        out.field(EventField::Action, "action", Some(action.as_str()));
        out.text.push_str(",\"actor\":");
        actor.write_canonical(&mut out);
        out.field(EventField::Category, "category", Some(category.as_str()));
        if let Some(changes) = changes {
            out.text.push_str(",\"changes\":");
            out.value(EventField::Changes, |text| write_changes(text, changes));
        }
        if let Some(context) = context.as_ref().filter(|context| !context.is_empty()) {
            out.text.push_str(",\"context\":");
            context.write_canonical(&mut out);
        }
        let id_at = out.text.len();
        out.field(
            EventField::IdempotencyKey,
            "idempotency_key",
            idempotency_key.as_deref(),
        );
        if let Some(metadata) = metadata {
            out.text.push_str(",\"metadata\":");
            out.value(EventField::Metadata, |text| {
                canonical::write_object(text, metadata)
            });
        }
        let occurred_at_at = out.text.len();
        if let Some(occurred_at) = *occurred_at {
            out.text.push_str(",\"occurred_at\":");
            canonical::write_plain(&mut out.text, occurred_at);
        }
        let occurred_at = occurred_at_at..out.text.len();
        let outcome = outcome.map(|outcome| outcome.as_str());
        out.field(EventField::Outcome, "outcome", outcome);
        let received_at_at = out.text.len();
        if let Some(target) = target {
            out.text.push_str(",\"target\":");
            target.write_canonical(&mut out);
        }
        if let Some(targets) = targets {
            out.text.push_str(",\"targets\":");
            out.value(EventField::Targets, |text| write_targets(text, targets));
        }
        out.field(EventField::TenantId, "tenant_id", Some(tenant_id));
        out.text.push('}');
        EventText {
            text: out.text,
            id_at,
            occurred_at,
            received_at_at,
            ranges: out.ranges,
        }
    }
}

/// Writes the text, and notes where the values of the fields are.
struct Writer {
    text: String,
    ranges: FieldRanges,
}

impl Writer {
    /// Appends `"name":"value"`, with a comma unless it is the object's first.
    fn field(&mut self, field: EventField, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            write_name(&mut self.text, name);
            self.value(field, |text| canonical::write_string(text, value));
        }
    }

    /// Appends the value of a field.
    fn value(&mut self, field: EventField, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        self.ranges.set(field, start..self.text.len());
    }
}

impl Actor {
    fn write_canonical(&self, out: &mut Writer) {
        let Self {
            id,
            actor_type,
            name,
            email,
            on_behalf_of,
        } = self;
        out.text.push('{');
        out.field(EventField::ActorEmail, "email", email.as_deref());
        out.field(EventField::ActorId, "id", Some(id));
        out.field(EventField::ActorName, "name", name.as_deref());
        if let Some(OnBehalfOf { id, actor_type, name }) = on_behalf_of {
            write_name(&mut out.text, "on_behalf_of");
            out.value(EventField::OnBehalfOf, |text| {
                write_party(text, id, name.as_deref(), actor_type.as_str());
            });
        }
        out.field(EventField::ActorType, "type", Some(actor_type.as_str()));
        out.text.push('}');
    }
}

impl Target {
    fn write_canonical(&self, out: &mut Writer) {
        let Self {
            id,
            target_type,
            name,
        } = self;
        out.text.push('{');
        out.field(EventField::TargetId, "id", Some(id));
        out.field(EventField::TargetName, "name", name.as_deref());
        out.field(EventField::TargetType, "type", Some(target_type));
        out.text.push('}');
    }
}

impl Context {
    /// Whether it has no members.
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn write_canonical(&self, out: &mut Writer) {
        let Self {
            ip_address,
            user_agent,
            location,
            session_id,
        } = self;
        out.text.push('{');
        out.field(EventField::IpAddress, "ip_address", ip_address.as_deref());
        out.field(EventField::Location, "location", location.as_deref());
        out.field(EventField::SessionId, "session_id", session_id.as_deref());
        out.field(EventField::UserAgent, "user_agent", user_agent.as_deref());
        out.text.push('}');
    }
}

fn write_targets(out: &mut String, targets: &[Target]) {
    for (index, target) in targets.iter().enumerate() {
        out.push(if index > 0 { ',' } else { '[' });
        let Target {
            id,
            target_type,
            name,
        } = target;
        write_party(out, id, name.as_deref(), target_type);
    }
    out.push(']');
}

/// Appends an object with an id, a type, and a name if there is one.
fn write_party(out: &mut String, id: &str, name: Option<&str>, kind: &str) {
    out.push('{');
    for (member, value) in [("id", Some(id)), ("name", name), ("type", Some(kind))] {
        if let Some(value) = value {
            write_name(out, member);
            canonical::write_string(out, value);
        }
    }
    out.push('}');
}

fn write_changes(out: &mut String, changes: &[Change]) {
    out.push('[');
    for (index, change) in changes.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        change.write_canonical(out);
    }
    out.push(']');
}

impl Change {
    fn write_canonical(&self, out: &mut String) {
        let Self { field, before, after } = self;
        out.push('{');
        for (name, value) in [("after", after), ("before", before)] {
            if let Some(value) = value {
                write_name(out, name);
                canonical::write_value(out, value);
            }
        }
        write_name(out, "field");
        canonical::write_string(out, field);
        out.push('}');
    }
}

/// Appends `"name":`, with a comma unless it is the object's first.
fn write_name(out: &mut String, name: &str) {
    if !out.ends_with('{') {
        out.push(',');
    }
    out.extend(["\"", name, "\":"]);
}
