//! The fields of an event, as the one list from which everything that treats each of them differently is made.

use crate::{EventPart, HashedIn, words};
use serde_json::{Map, Value};

words! {
    /// A field of an event as a read returns it, by its dot path. The order is that of the columns of an export.
    ///
    /// The list and [`crate::Event`] cannot disagree: the tests of this crate destructure an event and hold its canonical
    /// text against the list. What differs by field (columns, tokens, what a tier hides) is decided in a `match` over the
    /// list, so that a new field does not compile until each of them has a decision.
    pub enum EventField {
        /// The id that the service gave the event.
        Id = "id",
        /// When it happened.
        OccurredAt = "occurred_at",
        /// When the service received it.
        ReceivedAt = "received_at",
        /// When it entered the log, if it was claimed from an anonymous stream, which received it before.
        ClaimedAt = "claimed_at",
        /// What was done.
        Action = "action",
        /// The kind of event.
        Category = "category",
        /// The caller's customer.
        TenantId = "tenant_id",
        /// Identifies the actor within the tenant.
        ActorId = "actor.id",
        /// The kind of actor.
        ActorType = "actor.type",
        /// The actor's name, for display.
        ActorName = "actor.name",
        /// The actor's e-mail address.
        ActorEmail = "actor.email",
        /// Identifies the target.
        TargetId = "target.id",
        /// The kind of target.
        TargetType = "target.type",
        /// The target's name, for display.
        TargetName = "target.name",
        /// Network address.
        IpAddress = "context.ip_address",
        /// The client program.
        UserAgent = "context.user_agent",
        /// Geographic or logical place.
        Location = "context.location",
        /// Groups the events of one session.
        SessionId = "context.session_id",
        /// Repeats with the same key are stored once.
        IdempotencyKey = "idempotency_key",
        /// Free-form details, with everything below it.
        Metadata = "metadata",
        /// What changed, with everything below it.
        Changes = "changes",
        /// Whether redaction changed the event.
        Redacted = "redacted",
        /// The hash over the canonical text.
        ContentHash = "content_hash",
        /// The random bytes from which the salts of the hash are derived.
        ContentSalt = "content_salt",
        /// How the action ended.
        Outcome = "outcome",
        /// The party that the actor acted for, with everything below it.
        OnBehalfOf = "actor.on_behalf_of",
        /// Every target, with everything below it.
        Targets = "targets",
    }
}

impl EventField {
    /// The steps of the field's path.
    pub fn path(self) -> impl DoubleEndedIterator<Item = &'static str> {
        self.as_str().split('.')
    }

    /// The fields of an event as a reader sees it that the content hash proves: those of the event that are not in `hidden` parts, and
    /// no other member.
    pub fn proved(event: &Map<String, Value>, hidden: &[EventPart]) -> Map<String, Value> {
        let mut proved = Map::new();
        for field in Self::ALL {
            match field.hashed_in() {
                HashedIn::Nothing => continue,
                HashedIn::Part(part) if hidden.contains(&part) => continue,
                HashedIn::Part(_) | HashedIn::Open => {}
            }
            let (mut holder, mut steps) = (Some(event), field.path());
            let last = steps.next_back().unwrap_or_default();
            let outer = steps.next();
            if let Some(outer) = outer {
                holder = event.get(outer).and_then(Value::as_object);
            }
            let Some(value) = holder.and_then(|holder| holder.get(last)) else {
                continue;
            };
            let target = match outer {
                None => Some(&mut proved),
                Some(outer) => proved
                    .entry(outer)
                    .or_insert_with(|| Map::new().into())
                    .as_object_mut(),
            };
            if let Some(target) = target {
                target.insert(last.to_owned(), value.clone());
            }
        }
        proved
    }

    /// Whether a tier may hide the field, itself or with the object that it is in. The other fields are those that every
    /// response must have, and the content salt, which no reader gets from whom any field is hidden.
    pub const fn is_hideable(self) -> bool {
        matches!(self.hashed_in(), HashedIn::Part(_))
    }

    /// How the content hash covers the field. A change is a new format of the hash.
    pub const fn hashed_in(self) -> HashedIn {
        HashedIn::Part(match self {
            Self::Id | Self::OccurredAt | Self::ReceivedAt | Self::TenantId | Self::ClaimedAt => {
                return HashedIn::Open;
            }
            Self::Redacted | Self::ContentHash | Self::ContentSalt => return HashedIn::Nothing,
            Self::Action | Self::ActorType | Self::Category | Self::TargetType | Self::Outcome => {
                EventPart::Kind
            }
            Self::ActorEmail => EventPart::ActorEmail,
            Self::ActorId => EventPart::ActorId,
            Self::ActorName | Self::OnBehalfOf => EventPart::ActorName,
            Self::Changes => EventPart::Changes,
            Self::IpAddress | Self::Location => EventPart::Network,
            Self::SessionId | Self::UserAgent => EventPart::Client,
            Self::IdempotencyKey => EventPart::IdempotencyKey,
            Self::Metadata => EventPart::Metadata,
            Self::TargetId => EventPart::TargetId,
            Self::TargetName | Self::Targets => EventPart::TargetName,
        })
    }

    /// Whether the field has a line in the input of a hash only where the event has it. It is the last line, so that events without the
    /// field have the hash that they had before the field existed.
    pub const fn is_appended(self) -> bool {
        matches!(
            self,
            Self::ClaimedAt | Self::Outcome | Self::OnBehalfOf | Self::Targets
        )
    }

    /// The paths that a path of the older members of an event names as well, for rules and tiers that name fields: what holds for a
    /// member of `actor` holds for the same member of `actor.on_behalf_of`, and what holds for `target` or its members holds for each of
    /// `targets`, of which `target` is the first.
    pub fn implied_paths(path: &str) -> Vec<String> {
        let (root, member) = match path.split_once('.') {
            Some((root, member)) => (root, Some(member)),
            None => (path, None),
        };
        match member {
            None if root == "target" => vec!["targets".to_owned()],
            Some("id" | "type" | "name" | "*") => {
                let member = member.unwrap_or_default();
                let of_actor = matches!(root, "actor" | "*").then(|| format!("actor.on_behalf_of.{member}"));
                let of_target = matches!(root, "target" | "*").then(|| format!("targets.*.{member}"));
                of_actor.into_iter().chain(of_target).collect()
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_of_an_actor_or_target_names_its_twins_as_well() {
        for (path, implied) in [
            ("actor.name", &["actor.on_behalf_of.name"][..]),
            ("actor.*", &["actor.on_behalf_of.*"]),
            ("target", &["targets"]),
            ("target.id", &["targets.*.id"]),
            ("*.name", &["actor.on_behalf_of.name", "targets.*.name"]),
            ("actor", &[]),
            ("actor.email", &[]),
            ("targets.*.name", &[]),
            ("metadata.name", &[]),
        ] {
            assert_eq!(EventField::implied_paths(path), implied, "{path}");
        }
    }

    #[test]
    fn what_is_not_proved_is_not_in_the_event() {
        let event = json!({
            "id": "evt_1", "action": "a.b", "redacted": true, "extra": 1,
            "actor": {"id": "u1", "name": "Jane", "title": "Dr."}, "metadata": {"a": {"b": 1}}, "target": "t",
        });
        let event = event.as_object().unwrap();
        let all = json!({"id": "evt_1", "action": "a.b", "actor": {"id": "u1", "name": "Jane"}, "metadata": {"a": {"b": 1}}});
        assert_eq!(Value::from(EventField::proved(event, &[])), all);
        let some = json!({"id": "evt_1", "actor": {"id": "u1"}, "metadata": {"a": {"b": 1}}});
        let hidden = [EventPart::Kind, EventPart::ActorName];
        assert_eq!(Value::from(EventField::proved(event, &hidden)), some);
    }
}
