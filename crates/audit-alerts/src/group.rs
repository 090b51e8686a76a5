//! Groups of events that a rule counts together.

audit_domain::words! {
    /// The field by which a rule groups events.
    pub enum GroupBy {
        /// Each actor of each tenant is a group.
        ActorId = "actor_id",
        /// Each tenant is a group.
        TenantId = "tenant_id",
    }
}

impl GroupBy {
    /// The group of an event of this tenant and actor.
    pub const fn group<'a>(self, tenant_id: &'a str, actor_id: &'a str) -> Group<'a> {
        match self {
            Self::ActorId => Group::Actor { tenant_id, actor_id },
            Self::TenantId => Group::Tenant { tenant_id },
        }
    }
}

/// Events that one rule counts together. Groups are per tenant, so equal actor ids of two tenants are two groups. Groups
/// are also per project, environment and rule; the caller must add those to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group<'a> {
    /// Events of one actor of one tenant.
    Actor {
        /// The actor's tenant.
        tenant_id: &'a str,
        /// The actor.
        actor_id: &'a str,
    },
    /// Events of one tenant.
    Tenant {
        /// The tenant.
        tenant_id: &'a str,
    },
}

impl<'a> Group<'a> {
    /// The tenant that the group belongs to.
    pub const fn tenant_id(self) -> &'a str {
        match self {
            Self::Actor { tenant_id, .. } | Self::Tenant { tenant_id } => tenant_id,
        }
    }

    /// The actor, if the rule groups by actor.
    pub const fn actor_id(self) -> Option<&'a str> {
        match self {
            Self::Actor { actor_id, .. } => Some(actor_id),
            Self::Tenant { .. } => None,
        }
    }

    /// The `group_key` of alerts: the id of the actor or of the tenant. It does not identify the group.
    pub const fn group_key(self) -> &'a str {
        match self {
            Self::Actor { actor_id, .. } => actor_id,
            Self::Tenant { tenant_id } => tenant_id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip() {
        for group_by in GroupBy::ALL {
            assert_eq!(group_by.as_str().parse(), Ok(*group_by));
        }
        let error = "actor".parse::<GroupBy>().unwrap_err();
        assert_eq!(error.to_string(), "must be one of actor_id, tenant_id");
    }

    #[test]
    fn equal_actors_of_two_tenants_are_two_groups_that_show_the_same_key() {
        let (acme, globex) = (
            GroupBy::ActorId.group("acme", "u1"),
            GroupBy::ActorId.group("globex", "u1"),
        );
        assert_ne!(acme, globex);
        assert_eq!(acme.group_key(), globex.group_key());
        assert_eq!(
            GroupBy::TenantId.group("acme", "u1"),
            GroupBy::TenantId.group("acme", "u2")
        );
        assert_eq!(GroupBy::TenantId.group("acme", "u1").group_key(), "acme");
    }
}
