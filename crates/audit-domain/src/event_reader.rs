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
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

    fn read(value: Value) -> Result<Event, Violations> {
        Event::from_json(value, NOW)
    }

    fn fields_of(result: Result<Event, Violations>) -> Vec<String> {
        let violations = result.unwrap_err().into_vec();
        violations
            .into_iter()
            .map(|violation| format!("{}: {}", violation.field, violation.message))
            .collect()
    }

    fn valid() -> Value {
        json!({"action": "user.created", "category": "mutation", "tenant_id": "t", "actor": {"id": "a", "type": "user"}})
    }

    fn with(field: &str, value: Value) -> Value {
        let mut event = valid();
        event[field] = value;
        event
    }

    #[test]
    fn every_failing_field_is_named() {
        let found = fields_of(read(json!({
            "action": "User", "category": 7, "actor": {"type": "robot", "extra": 1}, "occured_at": "x",
            "target": [], "changes": [{"field": "f"}, 3, {"before": 1}]
        })));
        assert_eq!(
            found,
            [
                "action: must be dot-namespaced lower case like user.created, with at most 256 characters",
                "category: Expected string, received number",
                "tenant_id: Required",
                "actor.id: Required",
                "actor.type: must be one of user, api_key, service, system",
                "actor.extra: Unrecognized field",
                "target: Expected object, received array",
                "changes[1]: Expected object, received number",
                "changes[2].field: Required",
                "occured_at: Unrecognized field",
            ]
        );
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        assert!(read(with("tenant_id", json!("é".repeat(256)))).is_ok());
        assert_eq!(
            fields_of(read(with("tenant_id", json!("é".repeat(257))))),
            ["tenant_id: must have at most 256 characters"]
        );
        assert_eq!(
            fields_of(read(with("tenant_id", json!("")))),
            ["tenant_id: must not be empty"]
        );
        let name = |length| {
            with(
                "actor",
                json!({"id": "a", "type": "user", "name": "n".repeat(length)}),
            )
        };
        assert!(read(name(512)).is_ok());
        assert_eq!(
            fields_of(read(name(513))),
            ["actor.name: must have at most 512 characters"]
        );
    }

    #[test]
    fn nesting_ends_at_16_levels() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!({"k": inner}));
        // The event and `metadata` are two levels themselves.
        assert!(read(with("metadata", json!({"k": nested(14)}))).is_ok());
        assert!(
            fields_of(read(with("metadata", json!({"k": nested(15)}))))[0]
                .ends_with("more than 16 levels deep")
        );
        let change = |levels| with("changes", json!([{"field": "f", "after": nested(levels)}]));
        assert!(read(change(13)).is_ok());
        assert!(read(change(14)).is_err());
    }

    #[test]
    fn changes_end_at_200_items() {
        let changes = |items: usize| with("changes", Value::Array(vec![json!({"field": "f"}); items]));
        assert!(read(changes(200)).is_ok());
        assert_eq!(
            fields_of(read(changes(201))),
            ["changes: must have at most 200 items, has 201"]
        );
    }

    #[test]
    fn the_target_is_the_first_of_the_targets() {
        let [one, other] = ["1", "2"].map(|id| json!({"id": id, "type": "doc"}));
        let with_both = |target: &Value, targets: Value| {
            let mut event = with("targets", targets);
            event["target"] = target.clone();
            read(event)
        };
        let targets = json!([one, other]);
        let sent_once = read(with("targets", targets.clone())).unwrap();
        assert_eq!(
            sent_once.target.as_ref(),
            sent_once.targets.as_deref().unwrap().first()
        );
        // A repeat that names the target as well is no conflict.
        assert_eq!(
            with_both(&one, targets.clone()).unwrap().to_text(),
            sent_once.to_text()
        );
        assert_eq!(
            fields_of(with_both(&other, targets)),
            ["targets[0]: must equal target, which is the first of targets"]
        );
        for none in [json!([]), Value::Null] {
            assert_eq!(with_both(&one, none.clone()), read(with("target", one.clone())));
            assert_eq!(read(with("targets", none)), read(valid()));
        }
        let found = fields_of(with_both(&other, json!([3, {"id": ""}])));
        let expected = [
            "targets[0]: Expected object, received number",
            "targets[1].id: must not be empty",
            "targets[1].type: Required",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn targets_end_at_16_items() {
        let targets = |items: usize| {
            with(
                "targets",
                Value::Array(vec![json!({"id": "i", "type": "t"}); items]),
            )
        };
        assert_eq!(read(targets(16)).unwrap().targets.unwrap().len(), 16);
        assert_eq!(
            fields_of(read(targets(17))),
            ["targets: must have at most 16 items, has 17"]
        );
    }

    #[test]
    fn outcome_and_the_party_acted_for_are_checked() {
        assert_eq!(
            fields_of(read(with("outcome", json!("ok")))),
            ["outcome: must be one of success, failure, denied"]
        );
        let on_behalf_of = |party: Value| {
            let actor = json!({"id": "a", "type": "user", "on_behalf_of": party});
            read(with("actor", actor))
        };
        let found = fields_of(on_behalf_of(
            json!({"type": "robot", "name": "n".repeat(513), "email": "e"}),
        ));
        let expected = [
            "actor.on_behalf_of.id: Required",
            "actor.on_behalf_of.type: must be one of user, api_key, service, system",
            "actor.on_behalf_of.name: must have at most 512 characters",
            "actor.on_behalf_of.email: Unrecognized field",
        ];
        assert_eq!(found, expected);
        assert_eq!(on_behalf_of(Value::Null), read(valid()));
        let party = json!({"id": "b", "type": "user", "name": null});
        assert_eq!(on_behalf_of(party).unwrap().actor.on_behalf_of.unwrap().id, "b");
    }

    #[test]
    fn nul_is_refused_wherever_it_hides() {
        for (field, value) in [
            ("tenant_id", json!("a\0")),
            ("metadata", json!({"a": ["x", {"b": "\0"}]})),
            ("metadata", json!({"a\0": 1})),
            ("changes", json!([{"field": "f", "before": "\0"}])),
        ] {
            assert!(fields_of(read(with(field, value)))[0].contains("NUL"), "{field}");
        }
    }

    #[test]
    fn an_event_may_lie_24_hours_ahead_and_not_more() {
        let at = |time: Timestamp| with("occurred_at", json!(time.to_string()));
        let limit = NOW.plus_seconds(24 * 3600);
        assert_eq!(read(at(limit)).unwrap().occurred_at, Some(limit));
        let past = Timestamp::from_millis(limit.as_millis() + 1);
        assert_eq!(
            fields_of(read(at(past))),
            ["occurred_at: must not be more than 24 hours in the future"]
        );
        assert!(
            fields_of(read(with("occurred_at", json!("2026-01-15"))))[0]
                .starts_with("occurred_at: must be a date and time with an offset")
        );
    }

    #[test]
    fn an_event_ends_at_64_kib() {
        let sized = |chars: usize| {
            let empty = with("metadata", json!({"k": ""})).to_string().chars().count();
            with("metadata", json!({"k": "é".repeat(chars - empty)}))
        };
        assert!(read(sized(limits::EVENT_CHARS_MAX)).is_ok());
        assert_eq!(
            fields_of(read(sized(limits::EVENT_CHARS_MAX + 1))),
            ["event: must have at most 65536 characters as JSON"]
        );
    }

    #[test]
    fn an_event_like_one_of_the_services_own_is_refused() {
        let of = |tenant_id: &str, action: &str| {
            let mut event = with("action", json!(action));
            event["tenant_id"] = json!(tenant_id);
            read(event)
        };
        let message = "action: must not begin with audit. for the tenant audit-server or one that looks like it: these are the \
                       service's own events";
        for tenant_id in [
            "audit-server",
            "Audit Server",
            "\u{430}udit\u{2010}server",
            "audit\u{ad}server",
        ] {
            assert_eq!(
                fields_of(of(tenant_id, "audit.api_key.created")),
                [message],
                "{tenant_id}"
            );
        }
        for (tenant_id, action) in [
            ("audit-server", "audits.x"),
            ("audit", "audit.api_key.created"),
            ("audit-servers", "audit.api_key.created"),
            (
                "\u{410}\u{443}\u{434}\u{438}\u{442}\u{421}\u{435}\u{440}\u{432}\u{435}\u{440}",
                "audit.api_key.created",
            ),
        ] {
            assert!(of(tenant_id, action).is_ok(), "{tenant_id} {action}");
        }
    }

    #[test]
    fn null_stands_for_an_absent_field() {
        let nulls = json!({
            "action": "user.created", "category": "mutation", "tenant_id": "t",
            "actor": {"id": "a", "type": "user", "name": null, "email": null},
            "target": null, "context": null, "metadata": null, "changes": null, "idempotency_key": null,
            "occurred_at": null,
        });
        let absent = read(valid()).unwrap();
        let read_nulls = read(nulls).unwrap();
        assert_eq!(read_nulls, absent);
        // The digest of what was sent is that of the canonical text, so a repeat with `null` is no conflict.
        assert_eq!(read_nulls.to_text(), absent.to_text());
        let inner = |field, value| read(with(field, value)).unwrap();
        let target = inner("target", json!({"id": "i", "type": "t", "name": null}));
        assert_eq!(target.target.unwrap().name, None);
        let context = inner("context", json!({"ip_address": null, "session_id": "s"}));
        assert_eq!(context.context.unwrap().session_id.as_deref(), Some("s"));
        // The value of a changed field may be `null`.
        let changes = inner("changes", json!([{"field": "f", "before": null}]))
            .changes
            .unwrap();
        assert_eq!(
            (&changes[0].before, &changes[0].after),
            (&Some(Value::Null), &None)
        );
    }

    #[test]
    fn null_is_no_value_of_a_required_field() {
        assert_eq!(
            fields_of(read(with("action", Value::Null))),
            ["action: Expected string, received null"]
        );
        assert_eq!(
            fields_of(read(with("actor", Value::Null))),
            ["actor: Expected object, received null"]
        );
    }
}
