//! An event as a receipt discloses it: whole, or the parts that a viewer sees, with what is needed to compute its content hash.

use crate::{ContentHash, ContentSalt, EventField, EventPart, LogName, PartProofs, canonical, json};
use serde_json::{Map, Value};

/// The event in a receipt, which proves all of its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisclosedEvent {
    /// Its fields.
    pub fields: Map<String, Value>,
    /// The parts of which the receipt shows nothing.
    pub hidden: Vec<EventPart>,
    /// Its content hash.
    pub content_hash: ContentHash,
}

impl DisclosedEvent {
    /// The extra data of the receipt of a whole event with this canonical text: the text with the salt in front.
    pub fn whole(text: &str, salt: &ContentSalt) -> String {
        let rest = text.strip_prefix('{').unwrap_or_default();
        format!("{{\"content_salt\":\"{salt}\",{rest}")
    }

    /// The extra data for a viewer who sees `event`: the fields that the parts prove, and the proofs of all parts.
    pub fn parts(event: &Map<String, Value>, proofs: &PartProofs) -> String {
        let hidden: Vec<EventPart> = proofs.hidden().collect();
        let event = canonical::to_string(&EventField::proved(event, &hidden).into());
        let proofs = canonical::to_string(&proofs.to_json().into());
        format!("{{\"event\":{event},\"parts\":{proofs}}}")
    }

    /// Reads the extra data of a receipt of this log; `None` where they are not what [`Self::whole`] or [`Self::parts`] writes.
    pub fn read(extra: &str, log: &LogName) -> Option<Self> {
        let Value::Object(mut members) = Value::from(json::parse(extra.as_bytes()).ok()?) else {
            return None;
        };
        if let Some(salt) = members.remove("content_salt") {
            let salt = salt.as_str()?.parse().ok()?;
            let text = canonical::to_string(&Value::Object(members.clone()));
            let disclosed = Self {
                content_hash: ContentHash::of(&text, &salt, log)?,
                fields: members,
                hidden: Vec::new(),
            };
            return (Self::whole(&text, &salt) == extra).then_some(disclosed);
        }
        let proofs = PartProofs::from_json(members.get("parts")?)?;
        let Some(Value::Object(fields)) = members.remove("event") else {
            return None;
        };
        let disclosed = Self {
            content_hash: ContentHash::of_visible(&fields, &proofs, log),
            hidden: proofs.hidden().collect(),
            fields,
        };
        (Self::parts(&disclosed.fields, &proofs) == extra).then_some(disclosed)
    }
}
