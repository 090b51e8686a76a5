//! The parts of an event that the content hash covers, each with a salt of its own.

use crate::{EventField, words};

words! {
    /// Fields of an event that are hashed together, with one salt. The order is that of their hashes in the content hash. A tier that
    /// hides one of its fields hides the part.
    ///
    /// A part for every field would cost more than ingest can afford, so fields are together that are hidden together, or never.
    pub enum EventPart {
        /// Words of small vocabularies: what was done, by and to which kind of thing, and how it ended.
        Kind = "kind",
        /// `actor.email`.
        ActorEmail = "actor.email",
        /// `actor.id`.
        ActorId = "actor.id",
        /// `actor.name` and `actor.on_behalf_of`.
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
        /// `target.name` and `targets`.
        TargetName = "target.name",
    }
}

impl EventPart {
    /// The number of parts.
    pub const COUNT: usize = Self::ALL.len();

    /// The fields that no tier hides, in the order in which they are hashed. Every event has them but for the last.
    pub const OPEN_FIELDS: [EventField; 5] = [
        EventField::Id,
        EventField::OccurredAt,
        EventField::ReceivedAt,
        EventField::TenantId,
        EventField::ClaimedAt,
    ];

    /// The fields of the part, in the order in which they are hashed.
    pub const fn fields(self) -> &'static [EventField] {
        match self {
            Self::Kind => &[
                EventField::Action,
                EventField::ActorType,
                EventField::Category,
                EventField::TargetType,
                EventField::Outcome,
            ],
            Self::ActorEmail => &[EventField::ActorEmail],
            Self::ActorId => &[EventField::ActorId],
            Self::ActorName => &[EventField::ActorName, EventField::OnBehalfOf],
            Self::Changes => &[EventField::Changes],
            Self::Network => &[EventField::IpAddress, EventField::Location],
            Self::Client => &[EventField::SessionId, EventField::UserAgent],
            Self::IdempotencyKey => &[EventField::IdempotencyKey],
            Self::Metadata => &[EventField::Metadata],
            Self::TargetId => &[EventField::TargetId],
            Self::TargetName => &[EventField::TargetName, EventField::Targets],
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

    /// Two fields that an event may lack at the end would make the lines ambiguous.
    fn check_lines(fields: &[EventField]) {
        let first = fields.iter().take_while(|field| !field.is_appended());
        // These are in the order of the canonical text.
        assert!(first.clone().is_sorted_by_key(|field| field.as_str()));
        assert!(fields.len() - first.count() <= 1, "{fields:?}");
    }

    #[test]
    fn every_field_is_hashed_where_it_says() {
        let mut hashed = 0;
        for part in EventPart::ALL {
            for field in part.fields() {
                assert_eq!(field.hashed_in(), HashedIn::Part(*part), "{field}");
                hashed += 1;
            }
            check_lines(part.fields());
        }
        check_lines(&EventPart::OPEN_FIELDS);
        for field in EventPart::OPEN_FIELDS {
            assert_eq!(field.hashed_in(), HashedIn::Open, "{field}");
            hashed += 1;
        }
        let others = EventField::ALL
            .iter()
            .filter(|field| field.hashed_in() == HashedIn::Nothing);
        assert_eq!(hashed + others.count(), EventField::ALL.len());
    }
}
