//! Events as an application records them.

use crate::ambient;
use crate::buffer::Entry;
use crate::error::Error;
use audit_domain::{ActorType, Category, Event, Outcome, Timestamp, Violations};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// An event to record: who did what, to what, for which customer.
///
/// ```
/// use audit_client::{ActorType, Category, NewEvent};
///
/// let event = NewEvent::builder("user.role.updated", Category::Admin, "acme", ("user_1", ActorType::User))
///     .actor_name("Jane Doe")
///     .target("user_2", "user")
///     .change("role", "member", "admin")
///     .metadata("ticket", 4711)
///     .build()?;
/// # Ok::<(), audit_client::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent(Map<String, Value>);

impl NewEvent {
    /// Begins an event with its required fields; `actor` is its id and its kind.
    pub fn builder(
        action: impl Into<String>,
        category: Category,
        tenant_id: impl Into<String>,
        actor: (impl Into<String>, ActorType),
    ) -> EventBuilder {
        EventBuilder::of_request(action, category)
            .tenant_id(tenant_id)
            .actor(actor.0, actor.1)
    }

    /// An event of the application's own type, or of `serde_json::json!`. Members that are `null` are left out. The service
    /// checks the fields; [`Self::check`] does the same here. A [`Value`] has no NaN and no infinity: serde writes `null` for them.
    ///
    /// # Errors
    /// [`Error::Argument`] if it is not a JSON object.
    pub fn from_serialize(event: &impl Serialize) -> Result<Self, Error> {
        match serde_json::to_value(event) {
            Ok(Value::Object(mut event)) => {
                event.retain(|_, value| !value.is_null());
                Ok(Self(event))
            }
            Ok(_) => Err(Error::argument("event", "must be a JSON object")),
            Err(error) => Err(Error::argument("event", error)),
        }
    }

    /// The event as JSON.
    pub fn as_object(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Checks all fields as the service does.
    ///
    /// # Errors
    /// Every field that is missing, unknown, of a wrong type or out of its limits.
    pub fn check(&self) -> Result<(), Violations> {
        Event::from_json(Value::Object(self.0.clone()), ambient::now()).map(drop)
    }

    /// The event with what a retry needs: the idempotency key, and the time, which would otherwise be that of the successful attempt.
    ///
    /// An event with a key of the caller gets no time: the caller may record it twice, and with another time the second would be a
    /// conflict instead of a repeat.
    pub(crate) fn completed(self) -> Self {
        let mut event = self.0;
        if !event.contains_key("idempotency_key") {
            event.insert("idempotency_key".to_owned(), ambient::uuid4().into());
            event
                .entry("occurred_at")
                .or_insert_with(|| ambient::now().to_string().into());
        }
        Self(event)
    }

    /// The event as it is sent.
    pub(crate) fn into_entry(self) -> Entry {
        Entry::new(Value::Object(self.completed().0).to_string().into_bytes())
    }
}

/// Adds the optional fields of an event.
#[derive(Clone, Debug)]
pub struct EventBuilder {
    event: Map<String, Value>,
    failed_action: Option<String>,
}

impl From<NewEvent> for EventBuilder {
    fn from(event: NewEvent) -> Self {
        Self {
            event: event.0,
            failed_action: None,
        }
    }
}

impl EventBuilder {
    /// Begins the event of a request. The middleware adds the tenant and the actor.
    pub fn of_request(action: impl Into<String>, category: Category) -> Self {
        let mut event = Map::new();
        event.insert("action".to_owned(), action.into().into());
        event.insert("category".to_owned(), category.as_str().into());
        Self {
            event,
            failed_action: None,
        }
    }

    /// The action of the event if its request fails, with a status of 400 or more, such as `auth.failed`. The middleware does not
    /// record such a request without one; nothing else uses it.
    #[must_use]
    pub fn failed_action(mut self, action: impl Into<String>) -> Self {
        self.failed_action = Some(action.into());
        self
    }

    /// `tenant_id`, in place of an earlier one.
    #[must_use]
    pub fn tenant_id(self, id: impl Into<String>) -> Self {
        self.set("tenant_id", id.into().into())
    }

    /// `actor.id` and `actor.type`, in place of an earlier actor.
    #[must_use]
    pub fn actor(self, id: impl Into<String>, kind: ActorType) -> Self {
        let actor = json!({"id": id.into(), "type": kind.as_str()});
        self.set("actor", actor)
    }

    /// Whether the field has been set.
    #[cfg(any(feature = "actix", feature = "tower"))]
    pub(crate) fn has(&self, field: &str) -> bool {
        self.event.contains_key(field)
    }

    /// Sets a member of an object, unless it is set already.
    #[cfg(any(feature = "actix", feature = "tower"))]
    pub(crate) fn or_in(mut self, object: &str, field: &str, value: Value) -> Self {
        if let Some(members) = self.members(object) {
            members.entry(field).or_insert(value);
        }
        self
    }

    /// The event of a failed request; `None` without a failed action. The key of the application is left to the event of a repeat that succeeds:
    /// the service would refuse that as a conflict.
    #[cfg(any(feature = "actix", feature = "tower"))]
    pub(crate) fn failed(mut self) -> Option<Self> {
        let action = self.failed_action.take()?;
        self.event.remove("idempotency_key");
        Some(self.set("action", action.into()))
    }

    /// The event of a request without a response: under its failed action if it has one, and without the key of the application, as in [`Self::failed`].
    #[cfg(any(feature = "actix", feature = "tower"))]
    pub(crate) fn aborted(mut self) -> Self {
        self.event.remove("idempotency_key");
        match self.failed_action.take() {
            Some(action) => self.set("action", action.into()),
            None => self,
        }
    }

    fn set(mut self, field: &str, value: Value) -> Self {
        self.event.insert(field.to_owned(), value);
        self
    }

    fn set_in(mut self, object: &str, field: &str, value: Value) -> Self {
        if let Some(members) = self.members(object) {
            members.insert(field.to_owned(), value);
        }
        self
    }

    /// The members of an object of the event. `None` if the application has set something else, which [`Self::build`] names.
    fn members(&mut self, object: &str) -> Option<&mut Map<String, Value>> {
        let value = self.event.entry(object).or_insert_with(|| json!({}));
        value.as_object_mut()
    }

    /// `actor.name`.
    #[must_use]
    pub fn actor_name(self, name: impl Into<String>) -> Self {
        self.set_in("actor", "name", name.into().into())
    }

    /// `actor.email`.
    #[must_use]
    pub fn actor_email(self, email: impl Into<String>) -> Self {
        self.set_in("actor", "email", email.into().into())
    }

    /// `actor.on_behalf_of`: the party that the actor acts for, by impersonation or delegation.
    #[must_use]
    pub fn on_behalf_of(self, id: impl Into<String>, kind: ActorType) -> Self {
        let party = json!({"id": id.into(), "type": kind.as_str()});
        self.set_in("actor", "on_behalf_of", party)
    }

    /// What was acted upon: `target.id` and `target.type`.
    #[must_use]
    pub fn target(self, id: impl Into<String>, kind: impl Into<String>) -> Self {
        let (id, kind) = (id.into(), kind.into());
        self.set_in("target", "id", id.into())
            .set_in("target", "type", kind.into())
    }

    /// `target.name`.
    #[must_use]
    pub fn target_name(self, name: impl Into<String>) -> Self {
        self.set_in("target", "name", name.into().into())
    }

    /// One more of several targets: an entry of `targets`, which begins with the target as it is now. So call it after [`Self::target`] and
    /// [`Self::target_name`].
    #[must_use]
    pub fn further_target(mut self, id: impl Into<String>, kind: impl Into<String>) -> Self {
        let further = json!({"id": id.into(), "type": kind.into()});
        let first: Vec<Value> = self.event.get("target").cloned().into_iter().collect();
        match self.event.entry("targets").or_insert_with(|| Value::Array(first)) {
            Value::Array(targets) => targets.push(further),
            other => *other = json!([further]),
        }
        self
    }

    /// `outcome`: how it ended.
    #[must_use]
    pub fn outcome(self, outcome: Outcome) -> Self {
        self.set("outcome", outcome.as_str().into())
    }

    /// `context.ip_address`.
    #[must_use]
    pub fn ip_address(self, address: std::net::IpAddr) -> Self {
        self.set_in("context", "ip_address", address.to_string().into())
    }

    /// `context.user_agent`.
    #[must_use]
    pub fn user_agent(self, agent: impl Into<String>) -> Self {
        self.set_in("context", "user_agent", agent.into().into())
    }

    /// `context.location`.
    #[must_use]
    pub fn location(self, location: impl Into<String>) -> Self {
        self.set_in("context", "location", location.into().into())
    }

    /// `context.session_id`.
    #[must_use]
    pub fn session_id(self, id: impl Into<String>) -> Self {
        self.set_in("context", "session_id", id.into().into())
    }

    /// One more entry of `changes`: a field, its value before and after.
    #[must_use]
    pub fn change(
        mut self,
        field: impl Into<String>,
        before: impl Into<Value>,
        after: impl Into<Value>,
    ) -> Self {
        let change = json!({"field": field.into(), "before": before.into(), "after": after.into()});
        match self.event.entry("changes").or_insert_with(|| json!([])) {
            Value::Array(changes) => changes.push(change),
            other => *other = json!([change]),
        }
        self
    }

    /// One member of `metadata`.
    #[must_use]
    pub fn metadata(self, key: &str, value: impl Into<Value>) -> Self {
        self.set_in("metadata", key, value.into())
    }

    /// When it happened. Without it, and without a key of the caller: when it is recorded.
    #[must_use]
    pub fn occurred_at(self, time: Timestamp) -> Self {
        self.set("occurred_at", time.to_string().into())
    }

    /// A key of the caller, by which repeats are recognised: also those of a job that runs again.
    #[must_use]
    pub fn idempotency_key(self, key: impl Into<String>) -> Self {
        self.set("idempotency_key", key.into().into())
    }

    /// The event, checked as the service does.
    ///
    /// # Errors
    /// [`Error::Argument`] names every field that is out of its limits.
    pub fn build(self) -> Result<NewEvent, Error> {
        let event = NewEvent(self.event);
        event.check()?;
        Ok(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_should_be_an_object_is_refused_by_its_name() {
        let event = json!({
            "action": "invoice.deleted", "category": "mutation", "tenant_id": "acme", "actor": "user_1", "metadata": "duplicate",
        });
        let event = EventBuilder::from(NewEvent::from_serialize(&event).unwrap());
        let text = event
            .actor_name("Jane")
            .metadata("ticket", 7)
            .build()
            .unwrap_err()
            .to_string();
        assert!(text.contains("actor") && text.contains("metadata"), "{text}");
    }
}
