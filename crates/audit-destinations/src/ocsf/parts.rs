//! The parts of an event, taken out of it as the schema has a place for them.

use super::table::{GROUP_TYPES, OTHER, PRIVILEGE_WORDS, Shape, USER_TYPES};
use crate::record::text;
use audit_domain::{Timestamp, read_address};
use serde_json::{Map, Value, json};

/// `activity_id` of User Access Management for what takes privileges away.
const REVOKE: u32 = 2;
/// `src_endpoint.name` where a class requires an endpoint and the event has none.
const UNKNOWN: &str = "unknown";

/// An actor or a target.
#[derive(Clone, Debug)]
struct Thing {
    id: String,
    kind: String,
    name: Option<String>,
}

/// An event in parts. What is taken is no longer in [`Self::rest`].
pub(super) struct Parts {
    pub(super) action: String,
    pub(super) category: String,
    /// The actor as `user`.
    actor: Map<String, Value>,
    targets: Vec<Thing>,
    message: String,
    rest: Map<String, Value>,
}

impl Parts {
    pub(super) fn new(mut event: Map<String, Value>) -> Self {
        let action = take_text(&mut event, "action").unwrap_or_default();
        let category = text(&event, "category").unwrap_or_default().to_owned();
        let targets: Vec<Thing> = match event.get("targets") {
            Some(Value::Array(targets)) => targets.iter().filter_map(Thing::read).collect(),
            _ => event.get("target").and_then(Thing::read).into_iter().collect(),
        };
        let actor = event.get("actor").and_then(Thing::read);
        let message = message(&action, actor.as_ref(), targets.first());
        Self {
            actor: take_actor(&mut event),
            action,
            category,
            targets,
            message,
            rest: event,
        }
    }

    /// Who did what to what, in words.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// What has no place in the schema.
    pub(super) fn rest(self) -> Map<String, Value> {
        self.rest
    }

    /// The identity of the event, as members of `metadata`.
    pub(super) fn take_metadata(&mut self) -> Map<String, Value> {
        let mut members = Map::new();
        for (field, attribute) in [
            ("id", "uid"),
            ("tenant_id", "tenant_uid"),
            ("occurred_at", "original_time"),
        ] {
            if let Some(value) = take_text(&mut self.rest, field) {
                members.insert(attribute.to_owned(), value.into());
            }
        }
        let received_at =
            text(&self.rest, "received_at").and_then(|text| Timestamp::parse_rfc3339(text).ok());
        if let Some(received_at) = received_at {
            self.rest.remove("received_at");
            members.insert("logged_time".to_owned(), received_at.as_millis().into());
        }
        members
    }

    /// `actor`, `src_endpoint` and `http_request`.
    pub(super) fn take_origin(&mut self, shape: Shape) -> Map<String, Value> {
        let mut members = Map::new();
        let mut context = self.rest.remove("context").map(object).unwrap_or_default();
        let mut actor = object(json!({"user": self.actor}));
        if let Some(session) = take_text(&mut context, "session_id") {
            actor.insert("session".to_owned(), json!({"uid": session}));
        }
        members.insert("actor".to_owned(), actor.into());
        if let Some(user_agent) = take_text(&mut context, "user_agent") {
            members.insert("http_request".to_owned(), json!({"user_agent": user_agent}));
        }
        let endpoint = take_endpoint(&mut context);
        let required = (shape == Shape::Api).then(|| json!({"name": UNKNOWN}));
        if let Some(endpoint) = endpoint.or(required) {
            members.insert("src_endpoint".to_owned(), endpoint);
        }
        if !context.is_empty() {
            self.rest.insert("context".to_owned(), context.into());
        }
        members
    }

    /// What a class of this shape requires; `None` if the event does not have it.
    pub(super) fn of_shape(&self, shape: Shape, activity_id: u32) -> Option<Map<String, Value>> {
        let (user, group) = (self.target_of(USER_TYPES), self.target_of(GROUP_TYPES));
        self.required(shape, activity_id, user, group)
    }

    /// The same for a class that the operator has assigned. The assignment says what the target is: without a target of a type in
    /// [`USER_TYPES`] or [`GROUP_TYPES`], the user or group is the first target of a type that is in no list.
    pub(super) fn of_assigned_shape(&self, shape: Shape, activity_id: u32) -> Option<Map<String, Value>> {
        let is_own = |target: &&Thing| {
            let known = [USER_TYPES, GROUP_TYPES, PRIVILEGE_WORDS];
            !known.iter().any(|types| target.is_of(types))
        };
        let own = || self.targets.iter().find(is_own);
        let user = self.target_of(USER_TYPES).or_else(own);
        let group = self.target_of(GROUP_TYPES).or_else(own);
        self.required(shape, activity_id, user, group)
    }

    fn required(
        &self,
        shape: Shape,
        activity_id: u32,
        user: Option<&Thing>,
        group: Option<&Thing>,
    ) -> Option<Map<String, Value>> {
        let members = match shape {
            Shape::Account => json!({"user": user?.resource()}),
            Shape::OwnAccount => json!({"user": self.user(user)}),
            Shape::Authentication => {
                json!({"user": self.user(self.target_of(USER_TYPES)), "service": self.service()})
            }
            Shape::Entity => json!({"entity": self.targets.first()?.resource()}),
            Shape::UserAccess => json!({
                "user": user?.resource(), "privileges": self.privileges(activity_id)?, "resources": self.resources(),
            }),
            Shape::Group => {
                let group = group?.resource();
                match self.target_of(USER_TYPES) {
                    Some(user) => json!({"group": group, "user": user.resource()}),
                    None => json!({"group": group}),
                }
            }
            Shape::Api => return Some(self.of_api()),
        };
        Some(object(members))
    }

    /// What the class of any event requires.
    pub(super) fn of_api(&self) -> Map<String, Value> {
        let mut members = object(json!({"api": {"operation": self.action}}));
        if !self.targets.is_empty() {
            members.insert("resources".to_owned(), self.resources());
        }
        members
    }

    /// Removes the targets if a class of this shape has shown them: all of them, or the only one.
    pub(super) fn remove_targets(&mut self, shape: Shape) {
        let are_shown = match shape {
            Shape::Api | Shape::UserAccess => true,
            Shape::Account | Shape::Entity | Shape::Group => self.targets.len() == 1,
            // A `service` has no type.
            Shape::OwnAccount | Shape::Authentication => {
                self.targets.len() == 1 && self.target_of(USER_TYPES).is_some()
            }
        };
        if are_shown {
            self.rest.remove("target");
            self.rest.remove("targets");
        }
    }

    fn target_of(&self, types: &[&str]) -> Option<&Thing> {
        self.targets.iter().find(|target| target.is_of(types))
    }

    /// Whose account or log-in it is: the target that is a user, else the actor.
    fn user(&self, target: Option<&Thing>) -> Value {
        let actor = || self.actor.clone().into();
        target.map_or_else(actor, Thing::resource)
    }

    /// What a user logged in to: a target that is no user.
    fn service(&self) -> Value {
        let target = self.targets.iter().find(|target| !target.is_of(USER_TYPES));
        target.map_or_else(|| json!({"name": UNKNOWN}), Thing::service)
    }

    fn resources(&self) -> Value {
        self.targets.iter().map(Thing::resource).collect()
    }

    /// The names of the privileges that were given or taken: of the changes, else of targets.
    fn privileges(&self, activity_id: u32) -> Option<Value> {
        let side = if activity_id == REVOKE { "before" } else { "after" };
        let changes = self.rest.get("changes").and_then(Value::as_array);
        let of_privileges = changes.into_iter().flatten().filter(|change| {
            let field = change["field"].as_str().unwrap_or_default();
            field
                .split(['.', '_'])
                .any(|word| PRIVILEGE_WORDS.contains(&word))
        });
        let mut names = Vec::new();
        for change in of_privileges {
            match &change[side] {
                Value::String(name) => names.push(name.clone()),
                Value::Array(items) => {
                    names.extend(items.iter().filter_map(Value::as_str).map(str::to_owned))
                }
                _ => {}
            }
        }
        if names.is_empty() {
            let targets = self.targets.iter().filter(|target| target.is_of(PRIVILEGE_WORDS));
            names.extend(targets.map(|target| target.shown_name().to_owned()));
        }
        (!names.is_empty()).then(|| names.into())
    }
}

impl Thing {
    fn read(value: &Value) -> Option<Self> {
        let member = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            id: member("id")?,
            kind: member("type")?,
            name: member("name"),
        })
    }

    fn is_of(&self, types: &[&str]) -> bool {
        types.iter().any(|kind| self.kind.eq_ignore_ascii_case(kind))
    }

    /// The name, or the id where there is none.
    fn shown_name(&self) -> &str {
        self.name
            .as_deref()
            .filter(|name| !name.is_empty())
            .unwrap_or(&self.id)
    }

    /// As a `service`, which has no `type`.
    fn service(&self) -> Value {
        let mut members = object(self.resource());
        members.remove("type");
        members.into()
    }

    /// As a `user`, `group`, `entity` or resource: each has `uid`, `name` and `type`.
    fn resource(&self) -> Value {
        let mut members = object(json!({"uid": self.id, "type": self.kind}));
        if let Some(name) = &self.name {
            members.insert("name".to_owned(), name.as_str().into());
        }
        members.into()
    }
}

fn message(action: &str, actor: Option<&Thing>, target: Option<&Thing>) -> String {
    let part = |preposition: &str, thing: Option<&Thing>| {
        thing.map_or_else(String::new, |thing| {
            format!(" {preposition} {}", thing.shown_name())
        })
    };
    format!("{action}{}{}", part("by", actor), part("on", target))
}

/// The actor as a `user`; what has no place there stays in the event.
fn take_actor(event: &mut Map<String, Value>) -> Map<String, Value> {
    let mut actor = event.remove("actor").map(object).unwrap_or_default();
    let mut user = Map::new();
    let uid = take_text(&mut actor, "id").unwrap_or_else(|| UNKNOWN.to_owned());
    user.insert("uid".to_owned(), uid.into());
    if let Some(name) = take_text(&mut actor, "name") {
        user.insert("name".to_owned(), name.into());
    }
    if text(&actor, "email").is_some_and(is_email_address)
        && let Some(address) = actor.remove("email")
    {
        user.insert("email_addr".to_owned(), address);
    }
    if let Some(kind) = take_text(&mut actor, "type") {
        let type_id = match kind.as_str() {
            "user" => 1,
            "system" => 3,
            "service" => 4,
            _ => OTHER,
        };
        user.insert("type_id".to_owned(), type_id.into());
        if type_id == OTHER {
            user.insert("type".to_owned(), kind.into());
        }
    }
    if !actor.is_empty() {
        event.insert("actor".to_owned(), actor.into());
    }
    user
}

/// The address of a client, or its name if the text is one. Another text, such as a placeholder, stays in the context.
fn take_endpoint(context: &mut Map<String, Value>) -> Option<Value> {
    let shown = text(context, "ip_address")?;
    let endpoint = match read_address(shown) {
        Some(address) => json!({"ip": address.to_string()}),
        None if is_host_name(shown) => json!({"name": shown}),
        None => return None,
    };
    context.remove("ip_address");
    Some(endpoint)
}

fn is_host_name(text: &str) -> bool {
    let is_label = |label: &str| {
        label.starts_with(|first: char| first.is_ascii_alphanumeric())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    text.split('.').all(is_label) && text.contains(|character: char| character.is_ascii_alphabetic())
}

/// Whether the text is of the schema's type `email_t`, and no address that redaction has masked (`a***@example.com`).
fn is_email_address(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else {
        return false;
    };
    let is_local = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'+,-./=?^_`{|}~".contains(&byte);
    let is_label = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let Some((first, rest)) = domain.split_once('.') else {
        return false;
    };
    !local.is_empty()
        && local.bytes().all(is_local)
        && !first.is_empty()
        && first.bytes().all(is_label)
        && !rest.is_empty()
        && rest.bytes().all(|byte| is_label(byte) || byte == b'.')
}

/// Takes a member out if it is text.
fn take_text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    match members.remove(name)? {
        Value::String(text) => Some(text),
        other => {
            members.insert(name.to_owned(), other);
            None
        }
    }
}

/// The members of what is an object.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
