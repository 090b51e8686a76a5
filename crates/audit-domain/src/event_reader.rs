//! From JSON to [`Event`]: every rule of the interface, every failing field named.

use crate::event::{Action, Actor, ActorType, Category, Change, Context, Event, OnBehalfOf, Outcome, Target};
use crate::fields::Fields;
use crate::json::{self, Json, Members};
use crate::service_event::{SERVICE_ACTION_PREFIX, SERVICE_TENANT_ID, resembles_service_event};
use crate::{Timestamp, Violation, Violations};
use serde_json::Value;
use std::fmt;

/// Limits on a single event. Lengths are counted in characters.
pub mod limits {
    /// The whole event, as compact JSON.
    pub const EVENT_CHARS_MAX: usize = 64 * 1024;
    /// `tenant_id`, `actor.id`, `actor.on_behalf_of.id`, `target.id`, `target.type`, `context.session_id` and `idempotency_key`.
    pub const ID_CHARS_MAX: usize = 256;
    /// `actor.name`, `actor.email`, `actor.on_behalf_of.name`, `target.name` and `changes[].field`.
    pub const NAME_CHARS_MAX: usize = 512;
    /// A key of a free-form object.
    pub const KEY_CHARS_MAX: usize = 512;
    /// Objects and arrays inside one another, the event itself included.
    pub const DEPTH_LEVELS_MAX: usize = 16;
    /// Items of `changes`.
    pub const CHANGES_ITEMS_MAX: usize = 200;
    /// Items of `targets`.
    pub const TARGETS_ITEMS_MAX: usize = 16;
    /// How far in the future `occurred_at` may lie.
    pub const FUTURE_SECONDS_MAX: i64 = 24 * 3600;
}

impl Event {
    /// Reads an event from JSON that [`crate::json::parse`] made of a request.
    ///
    /// # Errors
    /// Every field that is missing, unknown, of a wrong type or out of its limits.
    pub fn from_json<'j>(value: impl Into<Json<'j>>, now: Timestamp) -> Result<Self, Violations> {
        let value = value.into();
        check_size(&value, "event")?;
        Fields::read(value, |fields| read_event(fields, now))
    }
}

/// Refuses JSON that is larger than an event may be, before it is walked.
///
/// # Errors
/// A violation of `field`.
fn check_size(value: &Json<'_>, field: &str) -> Result<(), Violations> {
    match json::has_at_most(value, limits::EVENT_CHARS_MAX) {
        true => Ok(()),
        false => {
            let message = format_args!("must have at most {} characters as JSON", limits::EVENT_CHARS_MAX);
            Err(Violations::one(field, message))
        }
    }
}

/// Refuses free-form JSON that is larger than an event, nested too deeply, or has keys that are too long, or NUL
/// characters.
///
/// # Errors
/// Violations of `field`, or below it.
pub fn check_free_form(value: &Json<'_>, field: &str) -> Result<(), Violations> {
    check_size(value, field)?;
    let mut found = Vec::new();
    check_value(&mut Fields::noting(&mut found), &Place::Field(field), value, 1);
    Violations::check(found)
}

fn read_event(fields: &mut Fields<'_>, now: Timestamp) -> Option<Event> {
    let action = fields.required_parsed::<Action>("action");
    let category = fields.required_parsed::<Category>("category");
    let tenant_id = fields.required_text("tenant_id", 1, limits::ID_CHARS_MAX);
    let actor = fields
        .required_object("actor")
        .map(|members| read_actor(fields.nested("actor", members)));
    let target = fields
        .optional_object("target")
        .map(|members| read_target(fields.nested("target", members)));
    let targets = fields
        .optional_array("targets")
        .map(|items| read_targets(items, target.as_ref(), fields));
    let outcome = fields.optional_parsed::<Outcome>("outcome");
    let context = fields
        .optional_object("context")
        .map(|members| read_context(fields.nested("context", members)));
    let metadata = fields.optional_object("metadata").map(|members| {
        check_members(fields, &Place::Field("metadata"), &members, 2);
        json::to_map(members)
    });
    let changes = fields
        .optional_array("changes")
        .map(|items| read_changes(items, fields));
    let idempotency_key = fields.optional_text("idempotency_key", 1, limits::ID_CHARS_MAX);
    let occurred_at = fields
        .optional_text("occurred_at", 0, usize::MAX)
        .and_then(|text| match Timestamp::parse_instant(&text) {
            Ok(time) if time > now.plus_seconds(limits::FUTURE_SECONDS_MAX) => {
                fields.violate("occurred_at", "must not be more than 24 hours in the future")
            }
            Ok(time) => Some(time.truncated_to_millis()),
            Err(error) => fields.violate("occurred_at", error),
        });
    let (action, tenant_id) = (action?, tenant_id?);
    if resembles_service_event(&tenant_id, &action) {
        let message = format_args!(
            "must not begin with {SERVICE_ACTION_PREFIX} for the tenant {SERVICE_TENANT_ID} or one that looks like it: these are the service's own events"
        );
        return fields.violate("action", message);
    }
    let targets = targets.flatten().filter(|targets| !targets.is_empty());
    let first = targets.as_ref().and_then(|targets| targets.first().cloned());
    Some(Event {
        action,
        category: category?,
        tenant_id,
        actor: actor??,
        target: first.or(target.flatten()),
        targets,
        outcome,
        context,
        metadata,
        changes,
        idempotency_key,
        occurred_at,
    })
}

fn read_actor(mut fields: Fields<'_>) -> Option<Actor> {
    let id = fields.required_text("id", 1, limits::ID_CHARS_MAX);
    let actor_type = fields.required_parsed::<ActorType>("type");
    let name = fields.optional_text("name", 0, limits::NAME_CHARS_MAX);
    let email = fields.optional_text("email", 0, limits::NAME_CHARS_MAX);
    let on_behalf_of = fields
        .optional_object("on_behalf_of")
        .map(|members| read_on_behalf_of(fields.nested("on_behalf_of", members)));
    fields.refuse_the_rest();
    Some(Actor {
        id: id?,
        actor_type: actor_type?,
        name,
        email,
        on_behalf_of: on_behalf_of.flatten(),
    })
}

fn read_on_behalf_of(mut fields: Fields<'_>) -> Option<OnBehalfOf> {
    let id = fields.required_text("id", 1, limits::ID_CHARS_MAX);
    let actor_type = fields.required_parsed::<ActorType>("type");
    let name = fields.optional_text("name", 0, limits::NAME_CHARS_MAX);
    fields.refuse_the_rest();
    Some(OnBehalfOf {
        id: id?,
        actor_type: actor_type?,
        name,
    })
}

fn read_target(mut fields: Fields<'_>) -> Option<Target> {
    let id = fields.required_text("id", 1, limits::ID_CHARS_MAX);
    let target_type = fields.required_text("type", 1, limits::ID_CHARS_MAX);
    let name = fields.optional_text("name", 0, limits::NAME_CHARS_MAX);
    fields.refuse_the_rest();
    Some(Target {
        id: id?,
        target_type: target_type?,
        name,
    })
}

/// The targets, the first of which must equal `target` if that was sent. `None` when any is invalid.
fn read_targets(
    items: Vec<Json<'_>>,
    target: Option<&Option<Target>>,
    fields: &mut Fields<'_>,
) -> Option<Vec<Target>> {
    if items.len() > limits::TARGETS_ITEMS_MAX {
        let message = format!(
            "must have at most {} items, has {}",
            limits::TARGETS_ITEMS_MAX,
            items.len()
        );
        return fields.violate("targets", message);
    }
    let mut targets = Some(Vec::with_capacity(items.len()));
    for (index, item) in items.into_iter().enumerate() {
        let path = format!("targets[{index}]");
        let members = fields.as_object(&path, item);
        let read = members.and_then(|members| read_target(fields.nested(&path, members)));
        targets = targets.zip(read).map(|(mut targets, read)| {
            targets.push(read);
            targets
        });
    }
    let targets = targets?;
    match (target, targets.first()) {
        (Some(Some(target)), Some(first)) if target != first => {
            fields.violate("targets[0]", "must equal target, which is the first of targets")
        }
        _ => Some(targets),
    }
}

fn read_context(mut fields: Fields<'_>) -> Context {
    let context = Context {
        ip_address: fields.optional_text("ip_address", 0, limits::EVENT_CHARS_MAX),
        user_agent: fields.optional_text("user_agent", 0, limits::EVENT_CHARS_MAX),
        location: fields.optional_text("location", 0, limits::EVENT_CHARS_MAX),
        session_id: fields.optional_text("session_id", 0, limits::ID_CHARS_MAX),
    };
    fields.refuse_the_rest();
    context
}

fn read_changes(items: Vec<Json<'_>>, fields: &mut Fields<'_>) -> Vec<Change> {
    if items.len() > limits::CHANGES_ITEMS_MAX {
        let message = format!(
            "must have at most {} items, has {}",
            limits::CHANGES_ITEMS_MAX,
            items.len()
        );
        fields.violate::<()>("changes", message);
        return Vec::new();
    }
    let mut changes = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let path = format!("changes[{index}]");
        let Some(members) = fields.as_object(&path, item) else {
            continue;
        };
        let mut item = fields.nested(&path, members);
        let field = item.required_text("field", 1, limits::NAME_CHARS_MAX);
        let before = read_free_form(&mut item, "before");
        let after = read_free_form(&mut item, "after");
        item.refuse_the_rest();
        if let Some(field) = field {
            changes.push(Change { field, before, after });
        }
    }
    changes
}

/// A value of any shape, below `changes[]`, so three levels down.
fn read_free_form(fields: &mut Fields<'_>, name: &str) -> Option<Value> {
    let value = fields.take_any(name)?;
    let path = fields.path(name);
    check_value(fields, &Place::Field(&path), &value, 4);
    Some(value.into())
}

/// The path of a free-form value. It is formatted only for a violation.
enum Place<'a> {
    Field(&'a str),
    Key(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(path) => formatter.write_str(path),
            Self::Key(object, key) => write!(formatter, "{object}.{key}"),
            Self::Item(array, index) => write!(formatter, "{array}[{index}]"),
        }
    }
}

/// Checks free-form JSON at depth `level`: nesting, and NUL in texts and keys.
fn check_value(fields: &mut Fields<'_>, place: &Place<'_>, value: &Json<'_>, level: usize) {
    match value {
        Json::String(text) if text.contains('\0') => {
            fields.note(Violation::new(
                place.to_string(),
                "must not contain a NUL character",
            ));
        }
        Json::Array(_) | Json::Object(_) if level > limits::DEPTH_LEVELS_MAX => {
            let message = format!(
                "must not be nested more than {} levels deep",
                limits::DEPTH_LEVELS_MAX
            );
            fields.note(Violation::new(place.to_string(), message));
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if fields.is_full() {
                    return;
                }
                check_value(fields, &Place::Item(place, index), item, level + 1);
            }
        }
        Json::Object(members) => check_members(fields, place, members, level),
        _ => {}
    }
}

fn check_members(fields: &mut Fields<'_>, place: &Place<'_>, members: &Members<'_>, level: usize) {
    for (key, value) in members {
        if fields.is_full() {
            return;
        }
        if key.len() > limits::KEY_CHARS_MAX && key.chars().count() > limits::KEY_CHARS_MAX {
            let message = format!("must have keys of at most {} characters", limits::KEY_CHARS_MAX);
            fields.note(Violation::new(place.to_string(), message));
        }
        if key.contains('\0') {
            fields.note(Violation::new(
                place.to_string(),
                "must not have a key with a NUL character",
            ));
        }
        check_value(fields, &Place::Key(place, key), value, level + 1);
    }
}

#[cfg(test)]
mod tests;
