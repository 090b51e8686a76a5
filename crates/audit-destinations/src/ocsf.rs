//! Events in the Open Cybersecurity Schema Framework (<https://schema.ocsf.io>).
//!
//! What the schema has an attribute for moves there; everything else of the event stays as it is below `unmapped`, so nothing is lost. A
//! value that does not fit the type of its attribute, such as a masked e-mail address, counts as everything else.

mod classes;
mod parts;
mod table;

use crate::action::{ActionName, succeeded};
use crate::record::{CHECKPOINT, CheckpointRecord, EventRecord, StreamPart};
pub use classes::OcsfClasses;
use parts::{Parts, object};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use table::{BASE_CLASS_UID, OTHER, Rule, Shape, V1_8_0, Version};

/// The version that is written.
const VERSION: &Version = &V1_8_0;
/// `metadata.product`. It has no version: after an upgrade a batch that is sent again must have the same bytes.
const PRODUCT: &str = "audit-log";
/// `severity_id` of Informational.
const INFORMATIONAL: u32 = 1;
/// `severity_id` of Low, for what failed or was refused: "the user decides if action is needed".
const LOW: u32 = 2;
/// `status_id`.
const SUCCESS: u32 = 1;
const FAILURE: u32 = 2;

/// How records in OCSF are written. Other formats have no options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OcsfOptions {
    /// Whether a record also has the whole event as text (`raw_data`).
    pub include_raw: bool,
    /// The classes that replace those of the table.
    pub classes: OcsfClasses,
}

/// The record of an event, whose text is `json`.
pub(crate) fn event(record: EventRecord<'_>, json: &str, options: &OcsfOptions) -> String {
    let EventRecord {
        stream,
        stream_member,
        seq,
        event,
        time,
    } = record;
    let status = succeeded(&event);
    let mut parts = Parts::new(event);
    let mut members = class_members(&mut parts, &options.classes);
    let mut metadata = metadata(&stream, &parts.action);
    metadata.extend(parts.take_metadata());
    if let Some(seq) = seq {
        metadata.insert("sequence".to_owned(), seq.into());
    }
    members.extend(object(json!({
        "time": time.as_millis(), "message": parts.message(), "metadata": metadata,
        "severity_id": if status == Some(false) { LOW } else { INFORMATIONAL },
    })));
    if let Some(succeeded) = status {
        let status_id = if succeeded { SUCCESS } else { FAILURE };
        members.insert("status_id".to_owned(), status_id.into());
    }
    if options.include_raw {
        members.extend(object(json!({
            "raw_data": json, "raw_data_size": json.len(),
            "raw_data_hash": {"algorithm": "SHA-256", "algorithm_id": 3, "value": base16ct::lower::encode_string(&Sha256::digest(json))},
        })));
    }
    let mut unmapped = parts.rest();
    unmapped.insert("stream".to_owned(), stream_member);
    members.insert("unmapped".to_owned(), unmapped.into());
    Value::Object(members).to_string()
}

/// The record of a checkpoint: an event of the base class, because it has no actor.
pub(crate) fn checkpoint(record: &CheckpointRecord<'_>) -> String {
    let mut members = numbers(BASE_CLASS_UID, OTHER);
    members.extend(object(json!({
        "activity_name": "checkpoint", "severity_id": INFORMATIONAL, "time": record.time.as_millis(),
        "message": "Signed checkpoint of the stream", "metadata": metadata(&record.stream, CHECKPOINT),
        "unmapped": record.members,
    })));
    Value::Object(members).to_string()
}

fn metadata(stream: &StreamPart<'_>, event_code: &str) -> Map<String, Value> {
    object(json!({
        "version": VERSION.version, "product": {"name": PRODUCT, "vendor_name": PRODUCT},
        "log_name": stream.log, "event_code": event_code,
    }))
}

/// The numbers that name class and activity.
fn numbers(class_uid: u32, activity_id: u32) -> Map<String, Value> {
    object(json!({
        "class_uid": class_uid, "category_uid": class_uid / 1000, "activity_id": activity_id, "type_uid": class_uid * 100 + activity_id,
    }))
}

/// A class, an activity, and what the class requires of the event.
struct Classified {
    class_uid: u32,
    shape: Shape,
    activity_id: u32,
    special: Map<String, Value>,
}

/// The class of an event, and what the class requires: that of the operator, otherwise that of the first rule that fits. An event that
/// lacks what its class requires is of the class that requires nothing.
fn class_members(parts: &mut Parts, classes: &OcsfClasses) -> Map<String, Value> {
    let action = parts.action.clone();
    let name = ActionName::new(&action);
    let found = match classes.of(&action) {
        Some(assigned) => assigned.shape().and_then(|shape| {
            Some(Classified {
                class_uid: assigned.class_uid,
                shape,
                activity_id: assigned.activity_id,
                special: parts.of_assigned_shape(shape, assigned.activity_id)?,
            })
        }),
        None => by_rules(parts, &name),
    };
    let Classified {
        class_uid,
        shape,
        activity_id,
        special,
    } = found.unwrap_or_else(|| Classified {
        class_uid: VERSION.other.class_uid,
        shape: VERSION.other.shape,
        activity_id: VERSION.other.activity(&name, &parts.category).unwrap_or(OTHER),
        special: parts.of_api(),
    });
    let mut members = numbers(class_uid, activity_id);
    if activity_id == OTHER {
        members.insert("activity_name".to_owned(), name.deed().into());
    }
    parts.remove_targets(shape);
    members.extend(parts.take_origin(shape));
    members.extend(special);
    members
}

/// The class of the first rule that fits, and whose requirement the event meets.
fn by_rules(parts: &Parts, name: &ActionName<'_>) -> Option<Classified> {
    VERSION.rules.iter().find_map(|rule| {
        let activity_id = rule.activity(name, &parts.category)?;
        Some(Classified {
            class_uid: rule.class_uid,
            shape: rule.shape,
            activity_id,
            special: parts.of_shape(rule.shape, activity_id)?,
        })
    })
}

impl Rule {
    /// The activity of an action, if the rule fits.
    fn activity(&self, name: &ActionName<'_>, category: &str) -> Option<u32> {
        let fits = self.categories.is_empty() || self.categories.contains(&category);
        let is_done = |verb: &str| match self.nouns {
            [] => name.is(verb),
            nouns => name.noun(verb).is_some_and(|noun| nouns.contains(&noun)),
        };
        let activity = self
            .activities
            .iter()
            .find(|(_, verbs)| verbs.iter().any(|verb| is_done(verb)));
        activity.filter(|_| fits).map(|(activity_id, _)| *activity_id)
    }
}

#[cfg(test)]
mod tests;
