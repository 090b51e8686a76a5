//! The fields of an event, as the one list from which everything that treats each of them differently is made.

use crate::{EventPart, HashedIn, words};

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
    }
}

impl EventField {
    /// The steps of the field's path.
    pub fn path(self) -> impl Iterator<Item = &'static str> {
        self.as_str().split('.')
    }

    /// Whether a tier may hide the field, itself or with the object that it is in. The other fields are those that every
    /// response must have, and the content salt, which no reader gets from whom any field is hidden.
    pub const fn is_hideable(self) -> bool {
        matches!(self.hashed_in(), HashedIn::Part(_))
    }

    /// How the content hash covers the field. A change is a new format of the hash.
    pub const fn hashed_in(self) -> HashedIn {
        HashedIn::Part(match self {
            Self::Id | Self::OccurredAt | Self::ReceivedAt | Self::TenantId => return HashedIn::Open,
            Self::Redacted | Self::ContentHash | Self::ContentSalt => return HashedIn::Nothing,
            Self::Action | Self::ActorType | Self::Category | Self::TargetType => EventPart::Kind,
            Self::ActorEmail => EventPart::ActorEmail,
            Self::ActorId => EventPart::ActorId,
            Self::ActorName => EventPart::ActorName,
            Self::Changes => EventPart::Changes,
            Self::IpAddress | Self::Location => EventPart::Network,
            Self::SessionId | Self::UserAgent => EventPart::Client,
            Self::IdempotencyKey => EventPart::IdempotencyKey,
            Self::Metadata => EventPart::Metadata,
            Self::TargetId => EventPart::TargetId,
            Self::TargetName => EventPart::TargetName,
        })
    }
}
