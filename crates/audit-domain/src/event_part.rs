//! The parts of an event that the content hash covers, each with a salt of its own.

use crate::{EventField, words};

words! {
    /// Fields of an event that are hashed together, with one salt. The order is that of their hashes in the content hash. A tier that
    /// hides one of its fields hides the part.
    ///
    /// A part for every field would cost more than ingest can afford, so fields are together that are hidden together, or never.
    pub enum EventPart {
        /// Words of small vocabularies: what was done, by and to which kind of thing.
        Kind = "kind",
        /// `actor.email`.
        ActorEmail = "actor.email",
        /// `actor.id`.
        ActorId = "actor.id",
        /// `actor.name`.
        ActorName = "actor.name",
        /// `changes`.
        Changes = "changes",
        /// From where: address and location.
        Network = "network",
        /// The client program and its session.
        Client = "client",
        /// `idempotency_key`.
        IdempotencyKey = "idempotency_key",
        /// `metadata`.
        Metadata = "metadata",
        /// `target.id`.
        TargetId = "target.id",
        /// `target.name`.
        TargetName = "target.name",
    }
}

impl EventPart {
    /// The number of parts.
    pub const COUNT: usize = Self::ALL.len();

    /// The fields that every event has and no tier hides, in the order in which they are hashed. [`EventField::ClaimedAt`] follows them
    /// where an event has it.
    pub const OPEN_FIELDS: [EventField; 4] = [
        EventField::Id,
        EventField::OccurredAt,
        EventField::ReceivedAt,
        EventField::TenantId,
    ];

    /// The fields of the part, in the order in which they are hashed.
    pub const fn fields(self) -> &'static [EventField] {
        match self {
            Self::Kind => &[
                EventField::Action,
                EventField::ActorType,
                EventField::Category,
                EventField::TargetType,
            ],
            Self::ActorEmail => &[EventField::ActorEmail],
            Self::ActorId => &[EventField::ActorId],
            Self::ActorName => &[EventField::ActorName],
            Self::Changes => &[EventField::Changes],
            Self::Network => &[EventField::IpAddress, EventField::Location],
            Self::Client => &[EventField::SessionId, EventField::UserAgent],
            Self::IdempotencyKey => &[EventField::IdempotencyKey],
            Self::Metadata => &[EventField::Metadata],
            Self::TargetId => &[EventField::TargetId],
            Self::TargetName => &[EventField::TargetName],
        }
    }
}

/// How the content hash covers a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashedIn {
    /// In a part, with the salt of the part. A tier may hide the field.
    Part(EventPart),
    /// Without a salt. Every reader sees the field.
    Open,
    /// Not at all.
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_hashed_where_it_says() {
        let mut hashed = 0;
        for part in EventPart::ALL {
            for field in part.fields() {
                assert_eq!(field.hashed_in(), HashedIn::Part(*part), "{field}");
                hashed += 1;
            }
            // The fields of a part are in the order of the canonical text.
            assert!(part.fields().is_sorted_by_key(|field| field.as_str()));
        }
        for field in EventPart::OPEN_FIELDS.into_iter().chain([EventField::ClaimedAt]) {
            assert_eq!(field.hashed_in(), HashedIn::Open, "{field}");
            hashed += 1;
        }
        let others = EventField::ALL
            .iter()
            .filter(|field| field.hashed_in() == HashedIn::Nothing);
        assert_eq!(hashed + others.count(), EventField::ALL.len());
    }
}
