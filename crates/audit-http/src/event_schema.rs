//! The schemas of events in requests and responses. The domain parses and writes events; these types only describe
//! them, and tests compare them with the domain.

use crate::input::JsonBody;
use crate::openapi::{Describe, Facts, Input};
use crate::schema::{
    ActionText, AnyTime, ContentHashText, ContentSaltText, FreeForm, FreeFormObject, Id, Text, Time, Word,
    absent_not_null, exactly_one,
};
use audit_app::BATCH_EVENTS_MAX;
use audit_domain::limits::{
    CHANGES_ITEMS_MAX, EVENT_CHARS_MAX, ID_CHARS_MAX, NAME_CHARS_MAX, TARGETS_ITEMS_MAX,
};
use audit_domain::{ActorType, Category, EventField, EventId, HiddenField, Outcome};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

type IdText = Text<1, ID_CHARS_MAX>;
type DisplayText = Text<0, NAME_CHARS_MAX>;
type ContextText = Text<0, EVENT_CHARS_MAX>;

/// One event, or an array of them.
#[derive(JsonSchema)]
#[schemars(untagged, transform = exactly_one)]
#[expect(dead_code, reason = "describes a body")]
pub(crate) enum EventsInput {
    One(EventInput),
    Many(EventBatch),
}

/// Events to be stored.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes a body")]
pub(crate) struct EventBatch(#[schemars(length(min = 1, max = BATCH_EVENTS_MAX))] Vec<EventInput>);

impl Describe for JsonBody<EventsInput> {
    fn describe(facts: &mut Facts) {
        let content = Input {
            schema: |generator| generator.subschema_for::<EventsInput>(),
            #[cfg(test)]
            check: tests::check_events,
        };
        Self::describe_as(facts, content);
    }
}

/// A new event. At most 65,536 characters as compact JSON, and 16 levels deep.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what the domain reads")]
pub(crate) struct EventInput {
    /// The action: a dot-namespaced name such as `user.role.updated`.
    action: ActionText,
    category: Word<Category>,
    /// Your customer's id. Redaction never touches it.
    tenant_id: IdText,
    actor: ActorInput,
    target: Option<TargetInput>,
    /// All objects of the action. `target` is the first of them and need not be sent as well.
    #[schemars(length(max = TARGETS_ITEMS_MAX), extend("x-additive" = true))]
    targets: Option<Vec<TargetInput>>,
    #[schemars(extend("x-additive" = true))]
    outcome: Option<Word<Outcome>>,
    context: Option<ContextInput>,
    /// Any fields. Integers keep all their digits, up to 308; other numbers become the nearest double.
    metadata: Option<FreeFormObject>,
    /// The changed fields.
    #[schemars(length(max = CHANGES_ITEMS_MAX))]
    changes: Option<Vec<ChangeInput>>,
    /// Unique per project, environment and `tenant_id` within the window of idempotency keys. The same event again is stored
    /// once and returns the id of the first; another event with the same key is a `conflict`.
    idempotency_key: Option<IdText>,
    /// When it happened: a date and time with any offset, between the years 1700 and 2240, at most 24 hours in the future.
    /// Kept to the millisecond. When absent, the time at which it is received.
    occurred_at: Option<AnyTime>,
}

/// The actor.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what the domain reads")]
struct ActorInput {
    /// Identifies the actor within the tenant.
    id: IdText,
    #[schemars(rename = "type")]
    kind: Word<ActorType>,
    /// For display and `search`.
    name: Option<DisplayText>,
    email: Option<DisplayText>,
    #[schemars(extend("x-additive" = true))]
    on_behalf_of: Option<OnBehalfOfInput>,
}

/// The party that the actor acted for, by impersonation or delegation.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what the domain reads")]
struct OnBehalfOfInput {
    /// Identifies the party within the tenant, as an actor's id does.
    id: IdText,
    #[schemars(rename = "type")]
    kind: Word<ActorType>,
    /// For display.
    name: Option<DisplayText>,
}

/// The object of the action.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what the domain reads")]
struct TargetInput {
    id: IdText,
    /// A type of your choice.
    #[schemars(rename = "type")]
    kind: IdText,
    /// For display and `search`.
    name: Option<DisplayText>,
}

/// The origin of the action. The form of these texts is not checked.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what the domain reads")]
struct ContextInput {
    ip_address: Option<ContextText>,
    user_agent: Option<ContextText>,
    location: Option<ContextText>,
    session_id: Option<Text<0, ID_CHARS_MAX>>,
}

/// One changed field.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what the domain reads")]
struct ChangeInput {
    field: Text<1, NAME_CHARS_MAX>,
    /// Its value before; absent when there was none.
    #[schemars(skip_serializing_if = "Option::is_none")]
    before: Option<FreeForm>,
    /// Its value after; absent when there is none.
    #[schemars(skip_serializing_if = "Option::is_none")]
    after: Option<FreeForm>,
}

/// A stored event, as keys read it.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what the domain writes")]
struct Event {
    id: Id<EventId>,
    action: String,
    category: Word<Category>,
    tenant_id: String,
    actor: Actor,
    target: Option<Target>,
    /// All objects of the action, if they were sent. `target` is the first of them.
    targets: Option<Vec<Target>>,
    outcome: Option<Word<Outcome>>,
    context: Option<Context>,
    metadata: Option<FreeFormObject>,
    changes: Option<Vec<Change>>,
    idempotency_key: Option<String>,
    /// As sent, in UTC, or the time at which it was received.
    occurred_at: Time,
    /// When the service received it.
    received_at: Time,
    /// When it entered the log, if it was claimed from an anonymous stream, which had received it before.
    claimed_at: Option<Time>,
    /// SHA-256 over the log and all fields but `content_hash`, `content_salt`, `redacted`, `erased` and `parts`, with salts that are
    /// derived from `content_salt`.
    content_hash: ContentHashText,
    /// 16 random bytes. Not for a viewer from whom any field is hidden, and not of an event of which an erasure took parts.
    content_salt: ContentSaltText,
    /// The erasures that took parts of the event.
    erased: Option<Vec<EventErasure>>,
    /// Of an event of which an erasure took parts, in the place of `content_salt`: by part `{"salt": …}`, or `{"hash": …}` where it was
    /// erased, in hexadecimal. Not for a viewer from whom any field is hidden.
    parts: Option<FreeFormObject>,
    /// Whether redaction changed the event.
    redacted: bool,
}

/// The actor.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what the domain writes")]
struct Actor {
    /// As sent, or its hash where redaction hit it.
    id: String,
    #[schemars(rename = "type")]
    kind: Word<ActorType>,
    name: Option<String>,
    email: Option<String>,
    on_behalf_of: Option<OnBehalfOf>,
}

/// The party that the actor acted for, by impersonation or delegation.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what the domain writes")]
#[schemars(rename = "ActorOnBehalfOf")]
struct OnBehalfOf {
    /// As sent, or its hash where redaction hit it.
    id: String,
    #[schemars(rename = "type")]
    kind: Word<ActorType>,
    name: Option<String>,
}

/// The object of the action.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what the domain writes")]
struct Target {
    /// As sent, or its hash where redaction hit it.
    id: String,
    #[schemars(rename = "type")]
    kind: String,
    name: Option<String>,
}

/// From where it was done.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what the domain writes")]
#[schemars(rename = "EventContext")]
struct Context {
    ip_address: Option<String>,
    user_agent: Option<String>,
    location: Option<String>,
    session_id: Option<String>,
}

/// One changed field.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what the domain writes")]
#[schemars(rename = "EventChange")]
struct Change {
    field: String,
    #[schemars(skip_serializing_if = "Option::is_none")]
    before: Option<FreeForm>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    after: Option<FreeForm>,
}

/// An erasure, and what it took of the event.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what the domain writes")]
struct EventErasure {
    /// The position in the log of the event that authorises it. Not for viewer tokens.
    seq: Option<u64>,
    /// `kind`, `actor.email`, `actor.id`, `actor.name`, `changes`, `network`, `client`, `idempotency_key`, `metadata`, `target.id`,
    /// `target.name`.
    parts: Vec<String>,
}

/// An event as far as the reader may see it: an [`Event`] without what a viewer tier can hide.
pub(crate) struct VisibleEvent;

impl JsonSchema for VisibleEvent {
    fn schema_name() -> Cow<'static, str> {
        "StoredEvent".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Event::json_schema(generator).to_value();
        relax(&mut schema, "", generator.definitions_mut());
        let about = "A stored event: everything that was sent, redacted, and what the service added. With a viewer \
                     token, its tier may have left out every field that is not required here; with a key, only \
                     fields that were not sent, or were erased, are absent.";
        schema["description"] = json!(about);
        schema.try_into().unwrap_or_default()
    }
}

/// Makes the fields below `path` optional that a tier can hide. Nothing else refers to the parts of an event, so they
/// are changed where they are defined.
fn relax(schema: &mut Value, path: &str, definitions: &mut Map<String, Value>) {
    if let Some(name) = referred_object(schema, definitions) {
        let mut definition = definitions.remove(&name).unwrap_or_default();
        relax(&mut definition, path, definitions);
        definitions.insert(name, definition);
        return;
    }
    let is_shown =
        |path: &str| path.parse::<HiddenField>().is_err() && path != EventField::ContentSalt.as_str();
    let below = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| is_shown(&below(name.as_str().unwrap_or_default())));
        if required.is_empty() {
            schema.as_object_mut().map(|schema| schema.remove("required"));
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties {
            relax(property, &below(name), definitions);
        }
    }
    if let Some(items) = schema.get_mut("items")
        && !is_shown(path)
    {
        // A hidden item becomes `null`.
        relax(items, &below("0"), definitions);
        *items = json!({"anyOf": [items.take(), {"type": "null"}]});
    }
}

/// The name of the object that the schema refers to, if any.
fn referred_object(schema: &Value, definitions: &Map<String, Value>) -> Option<String> {
    let name = schema.get("$ref")?.as_str()?.rsplit('/').next()?;
    definitions.get(name)?.get("properties")?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests;
