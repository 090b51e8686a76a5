//! The canonical text of an event, to which a record adds the envelope: id and times.

use crate::event::{Actor, Change, Context, Event, Target};
use crate::{DigestKey, SentDigest, canonical};
use std::ops::Range;

/// The canonical JSON (RFC 8785) of an event without its envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventText {
    text: String,
    /// The offset at which the id is inserted.
    id_at: usize,
    /// The range that the times replace: `occurred_at` if it was sent, otherwise empty.
    times: Range<usize>,
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

    /// The text before the id, between the id and the times, and after the times.
    pub(crate) fn around_envelope(&self) -> [&str; 3] {
        let Range { start, end } = self.times;
        [
            &self.text[..self.id_at],
            &self.text[self.id_at..start],
            &self.text[end..],
        ]
    }
}

impl Event {
    /// Its canonical text. The keys are written in the order that RFC 8785 sorts them into.
    #[must_use]
    pub fn to_text(&self) -> EventText {
        let Self {
            action,
            category,
            tenant_id,
            actor,
            target,
            context,
            metadata,
            changes,
            idempotency_key,
            occurred_at,
        } = self;
        let mut text = String::with_capacity(640);
        let out = &mut text;
        out.push_str("{\"action\":");
        canonical::write_string(out, action.as_str());
        out.push_str(",\"actor\":");
        actor.write_canonical(out);
        write_text_field(out, "category", Some(category.as_str()));
        if let Some(changes) = changes {
            out.push_str(",\"changes\":[");
            for (index, change) in changes.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                change.write_canonical(out);
            }
            out.push(']');
        }
        if let Some(context) = context {
            out.push_str(",\"context\":");
            context.write_canonical(out);
        }
        let id_at = out.len();
        write_text_field(out, "idempotency_key", idempotency_key.as_deref());
        if let Some(metadata) = metadata {
            out.push_str(",\"metadata\":");
            canonical::write_object(out, metadata);
        }
        let times_at = out.len();
        if let Some(occurred_at) = *occurred_at {
            out.push_str(",\"occurred_at\":");
            canonical::write_plain(out, occurred_at);
        }
        let times = times_at..out.len();
        if let Some(target) = target {
            out.push_str(",\"target\":");
            target.write_canonical(out);
        }
        write_text_field(out, "tenant_id", Some(tenant_id));
        out.push('}');
        EventText { text, id_at, times }
    }
}

impl Actor {
    fn write_canonical(&self, out: &mut String) {
        let Self {
            id,
            actor_type,
            name,
            email,
        } = self;
        out.push('{');
        write_text_field(out, "email", email.as_deref());
        write_text_field(out, "id", Some(id));
        write_text_field(out, "name", name.as_deref());
        write_text_field(out, "type", Some(actor_type.as_str()));
        out.push('}');
    }
}

impl Target {
    fn write_canonical(&self, out: &mut String) {
        let Self {
            id,
            target_type,
            name,
        } = self;
        out.push('{');
        write_text_field(out, "id", Some(id));
        write_text_field(out, "name", name.as_deref());
        write_text_field(out, "type", Some(target_type));
        out.push('}');
    }
}

impl Context {
    fn write_canonical(&self, out: &mut String) {
        let Self {
            ip_address,
            user_agent,
            location,
            session_id,
        } = self;
        out.push('{');
        write_text_field(out, "ip_address", ip_address.as_deref());
        write_text_field(out, "location", location.as_deref());
        write_text_field(out, "session_id", session_id.as_deref());
        write_text_field(out, "user_agent", user_agent.as_deref());
        out.push('}');
    }
}

impl Change {
    fn write_canonical(&self, out: &mut String) {
        let Self { field, before, after } = self;
        out.push('{');
        if let Some(after) = after {
            out.push_str("\"after\":");
            canonical::write_value(out, after);
        }
        if let Some(before) = before {
            out.push_str(if after.is_some() {
                ",\"before\":"
            } else {
                "\"before\":"
            });
            canonical::write_value(out, before);
        }
        write_text_field(out, "field", Some(field));
        out.push('}');
    }
}

/// Appends `"key":"text"`, with a comma unless it is the object's first.
fn write_text_field(out: &mut String, key: &str, text: Option<&str>) {
    let Some(text) = text else { return };
    if !out.ends_with('{') {
        out.push(',');
    }
    out.push('"');
    out.push_str(key);
    out.push_str("\":");
    canonical::write_string(out, text);
}
