//! An audit event as an application sends it: who did what, to what, for which customer.

use crate::Timestamp;
use crate::words;
use serde_json::{Map, Value};
use std::fmt;
use std::str::FromStr;

/// The verb of an event: a dot-namespaced name such as `user.role.updated`.
///
/// Matches `^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$` and has at most [`Action::CHARS_MAX`] characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Action(String);

/// The text is not a dot-namespaced action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be dot-namespaced lower case like user.created, with at most {} characters",
    Action::CHARS_MAX
)]
pub struct ActionError;

impl Action {
    /// The longest action, in characters.
    pub const CHARS_MAX: usize = 256;

    /// The text of the action.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Action {
    type Err = ActionError;

    fn from_str(text: &str) -> Result<Self, ActionError> {
        let is_segment = |segment: &str| {
            segment.starts_with(|first: char| first.is_ascii_lowercase())
                && segment
                    .bytes()
                    .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        };
        let is_action =
            text.len() <= Self::CHARS_MAX && text.contains('.') && text.split('.').all(is_segment);
        if is_action {
            Ok(Self(text.to_owned()))
        } else {
            Err(ActionError)
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

words! {
    /// The kind of an event.
    pub enum Category {
        /// Log-in, log-out, failed attempts.
        Auth = "auth",
        /// Data was read.
        Access = "access",
        /// Data was changed.
        Mutation = "mutation",
        /// Administration of the system.
        Admin = "admin",
        /// Relevant to security.
        Security = "security",
        /// The system acted on its own.
        System = "system",
    }
}

words! {
    /// What kind of actor did it.
    pub enum ActorType {
        /// A person.
        User = "user",
        /// A program with a key.
        ApiKey = "api_key",
        /// Another service.
        Service = "service",
        /// The system itself.
        System = "system",
    }
}

words! {
    /// How an action ended.
    pub enum Outcome {
        /// It was done.
        Success = "success",
        /// It failed.
        Failure = "failure",
        /// It was refused: the actor may not do it.
        Denied = "denied",
    }
}

/// An event as sent, valid in every field. Redaction rewrites its texts in place, before anything is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What was done.
    pub action: Action,
    /// The kind of event.
    pub category: Category,
    /// The caller's customer.
    pub tenant_id: String,
    /// Who did it.
    pub actor: Actor,
    /// What it was done to.
    pub target: Option<Target>,
    /// Everything that it was done to: not empty, and [`Self::target`] is the first.
    pub targets: Option<Vec<Target>>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// From where.
    pub context: Option<Context>,
    /// Free-form details.
    pub metadata: Option<Map<String, Value>>,
    /// What changed.
    pub changes: Option<Vec<Change>>,
    /// Repeats with the same key are stored once.
    pub idempotency_key: Option<String>,
    /// When it happened, to the millisecond; when absent, the time at which it is received.
    pub occurred_at: Option<Timestamp>,
}

/// Who did it.
#[derive(Clone, Debug, PartialEq)]
pub struct Actor {
    /// Identifies the actor within the tenant.
    pub id: String,
    /// What kind of actor it is.
    pub actor_type: ActorType,
    /// For display.
    pub name: Option<String>,
    /// E-mail address.
    pub email: Option<String>,
    /// The party that the actor acted for, by impersonation or delegation.
    pub on_behalf_of: Option<OnBehalfOf>,
}

/// The party that an actor acted for.
#[derive(Clone, Debug, PartialEq)]
pub struct OnBehalfOf {
    /// Identifies the party within the tenant, as an actor's id does.
    pub id: String,
    /// What kind of actor it is.
    pub actor_type: ActorType,
    /// For display.
    pub name: Option<String>,
}

/// What it was done to.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Identifies the object.
    pub id: String,
    /// What kind of object it is, in the application's own words.
    pub target_type: String,
    /// For display.
    pub name: Option<String>,
}

/// From where it was done.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Context {
    /// Network address, as the application saw it.
    pub ip_address: Option<String>,
    /// The client program.
    pub user_agent: Option<String>,
    /// Geographic or logical place.
    pub location: Option<String>,
    /// Groups the events of one session.
    pub session_id: Option<String>,
}

/// One changed field.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Which field.
    pub field: String,
    /// Its value before; absent when there was none.
    pub before: Option<Value>,
    /// Its value after; absent when there is none.
    pub after: Option<Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_dot_namespaced_lower_case() {
        for text in [
            "user.created",
            "s3.get_bucket_acl",
            "a.b.c_1",
            &format!("a.{}", "b".repeat(254)),
        ] {
            assert!(text.parse::<Action>().is_ok(), "{text}");
        }
        let too_long = format!("a.{}", "b".repeat(255));
        for text in [
            "",
            "user",
            "User.created",
            "user.",
            ".created",
            "user..created",
            "1user.created",
            "user.1",
            "user.créé",
            "user created.x",
            &too_long,
        ] {
            assert!(text.parse::<Action>().is_err(), "{text}");
        }
    }
}
