//! The fields whose most frequent values a summary of events has.

use crate::{Facet, words};

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
    /// The facet that it is.
    #[must_use]
    pub const fn facet(self) -> Facet {
        match self {
            Self::ActorId => Facet::ActorId,
            Self::Action => Facet::Action,
            Self::Category => Facet::Category,
            Self::TargetType => Facet::TargetType,
            Self::TenantId => Facet::TenantId,
        }
    }
}
