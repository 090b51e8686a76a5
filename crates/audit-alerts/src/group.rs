//! Groups of events that a rule counts together.

use audit_domain::{Facet, Facets, read_address};
use std::borrow::Cow;

audit_domain::words! {
    /// The field by which a rule groups events. An event without the field is in no group.
    pub enum GroupBy {
        /// Each actor of each tenant is a group.
        ActorId = "actor_id",
        /// Each tenant is a group.
        TenantId = "tenant_id",
        /// Each network address is a group, in each tenant.
        IpAddress = "ip_address",
        /// Each session is a group, in each tenant.
        SessionId = "session_id",
        /// Each target is a group, in each tenant.
        TargetId = "target_id",
    }
}

impl GroupBy {
    /// The field.
    pub const fn facet(self) -> Facet {
        match self {
            Self::ActorId => Facet::ActorId,
            Self::TenantId => Facet::TenantId,
            Self::IpAddress => Facet::IpAddress,
            Self::SessionId => Facet::SessionId,
            Self::TargetId => Facet::TargetId,
        }
    }
}

audit_domain::words! {
    /// The field whose distinct values a rule counts in each group. An event without the field does not count. The tenant is not among
    /// them, because a group has one.
    pub enum DistinctField {
        /// Actors.
        ActorId = "actor_id",
        /// Network addresses.
        IpAddress = "ip_address",
        /// Sessions.
        SessionId = "session_id",
        /// Targets.
        TargetId = "target_id",
    }
}

impl DistinctField {
    /// The field.
    pub const fn facet(self) -> Facet {
        match self {
            Self::ActorId => Facet::ActorId,
            Self::IpAddress => Facet::IpAddress,
            Self::SessionId => Facet::SessionId,
            Self::TargetId => Facet::TargetId,
        }
    }
}

/// The value of a field as rules compare it: an address in its canonical form (RFC 5952), as filters find it however it is written.
pub(crate) fn compared<'a>(event: &'a Facets<'_>, facet: Facet) -> Option<Cow<'a, str>> {
    let value = event.get(facet)?;
    let address = match facet {
        Facet::IpAddress => read_address(value),
        _ => None,
    };
    Some(address.map_or(Cow::Borrowed(value), |address| address.to_string().into()))
}

/// Events that one rule counts together. Groups are per tenant, so equal actor ids of two tenants are two groups. Groups
/// are also per project, environment and rule; the caller must add those to its key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group<'a> {
    group_by: GroupBy,
    tenant_id: &'a str,
    group_key: Cow<'a, str>,
}

impl<'a> Group<'a> {
    /// The group of an event with these fields; `None` if it lacks the one by which the rule groups.
    pub fn of(group_by: GroupBy, event: &'a Facets<'_>) -> Option<Self> {
        Some(Self {
            group_by,
            tenant_id: event.get(Facet::TenantId)?,
            group_key: compared(event, group_by.facet())?,
        })
    }

    pub(crate) const fn new(group_by: GroupBy, tenant_id: &'a str, group_key: &'a str) -> Self {
        Self {
            group_by,
            tenant_id,
            group_key: Cow::Borrowed(group_key),
        }
    }

    /// The field by which the events are grouped.
    pub const fn group_by(&self) -> GroupBy {
        self.group_by
    }

    /// The tenant that the group belongs to.
    pub const fn tenant_id(&self) -> &'a str {
        self.tenant_id
    }

    /// The `group_key` of alerts: the value of the field, such as the id of the actor. It does not identify the group.
    pub fn group_key(&self) -> &str {
        &self.group_key
    }

    /// What identifies the group within a project and environment.
    pub(crate) fn parts(&self) -> [&str; 3] {
        [self.group_by.as_str(), self.tenant_id, &self.group_key]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event<'a>(tenant_id: &'a str, actor_id: &'a str) -> Facets<'a> {
        Facets::default()
            .with(Facet::TenantId, tenant_id)
            .with(Facet::ActorId, actor_id)
    }

    #[test]
    fn words_round_trip_and_are_those_of_the_facets() {
        for group_by in GroupBy::ALL {
            assert_eq!(group_by.as_str().parse(), Ok(*group_by));
            assert_eq!(group_by.as_str(), group_by.facet().as_str());
        }
        for field in DistinctField::ALL {
            assert_eq!(field.as_str().parse(), Ok(*field));
            assert_eq!(field.as_str(), field.facet().as_str());
        }
        let error = "actor".parse::<GroupBy>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "must be one of actor_id, tenant_id, ip_address, session_id, target_id"
        );
    }

    #[test]
    fn equal_actors_of_two_tenants_are_two_groups_that_show_the_same_key() {
        let (acme, globex) = (event("acme", "u1"), event("globex", "u1"));
        let [acme, globex] = [&acme, &globex].map(|event| Group::of(GroupBy::ActorId, event).unwrap());
        assert_ne!(acme, globex);
        assert_eq!(acme.group_key(), globex.group_key());
        let (one, other) = (event("acme", "u1"), event("acme", "u2"));
        let [one, other] = [&one, &other].map(|event| Group::of(GroupBy::TenantId, event).unwrap());
        assert_eq!(one, other);
        assert_eq!(one.group_key(), "acme");
    }

    #[test]
    fn an_event_without_the_field_is_in_no_group() {
        let event = event("acme", "u1");
        for group_by in [GroupBy::IpAddress, GroupBy::SessionId, GroupBy::TargetId] {
            assert_eq!(Group::of(group_by, &event), None);
        }
        let event = event.with(Facet::IpAddress, "203.0.113.7");
        let group = Group::of(GroupBy::IpAddress, &event).unwrap();
        assert_eq!((group.tenant_id(), group.group_key()), ("acme", "203.0.113.7"));
    }

    #[test]
    fn an_address_is_one_group_however_it_is_written() {
        let written = |address: &'static str| event("acme", "u1").with(Facet::IpAddress, address);
        for (address, canonical) in [
            ("203.0.113.7", "203.0.113.7"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
            ("2001:DB8:0::1", "2001:db8::1"),
            ("no address", "no address"),
        ] {
            let of_address = written(address);
            let group = Group::of(GroupBy::IpAddress, &of_address).unwrap();
            assert_eq!(group.group_key(), canonical);
            // An id that reads like an address is an id.
            let of_actor = event("acme", address);
            let group = Group::of(GroupBy::ActorId, &of_actor).unwrap();
            assert_eq!(group.group_key(), address);
        }
    }
}
