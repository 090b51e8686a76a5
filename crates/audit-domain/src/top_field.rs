//! The fields whose most frequent values a summary of events has.

use crate::{EventField, Facets, words};

words! {
    /// A field whose most frequent values a summary of events has.
    pub enum TopField {
        /// The id of the actor.
        ActorId = "actor_id",
        /// The action.
        Action = "action",
        /// The category.
        Category = "category",
        /// The type of the target, for events that have a target.
        TargetType = "target_type",
        /// The tenant.
        TenantId = "tenant_id",
    }
}

impl TopField {
    /// The field of the event, which a tier can hide.
    #[must_use]
    pub const fn field(self) -> EventField {
        match self {
            Self::ActorId => EventField::ActorId,
            Self::Action => EventField::Action,
            Self::Category => EventField::Category,
            Self::TargetType => EventField::TargetType,
            Self::TenantId => EventField::TenantId,
        }
    }

    /// The value of the field.
    #[must_use]
    pub fn of<'a>(self, facets: &'a Facets<'_>) -> Option<&'a str> {
        match self {
            Self::ActorId => facets.actor_id.as_deref(),
            Self::Action => Some(&facets.action),
            Self::Category => Some(&facets.category),
            Self::TargetType => facets.target_type.as_deref(),
            Self::TenantId => Some(&facets.tenant_id),
        }
    }
}
