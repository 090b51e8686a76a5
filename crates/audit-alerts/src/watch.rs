//! Watches: the groups that count an event. They lead from an event to the states it changes, and from a firing to its
//! alert.

use crate::alert::Alert;
use crate::alert_id::AlertId;
use crate::group::{DistinctField, Group, GroupBy, compared};
use crate::rule::AlertRule;
use crate::rule_set::RuleSet;
use crate::states::RuleKey;
use crate::value_hash::{ValueHash, first_bytes};
use crate::window::{Firing, GroupState, Observed};
use audit_domain::{EventId, Facets, Timestamp, write_with_length};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Identifies a group within a ledger: the first 128 bits of a SHA-256 over the field by which it groups, the tenant, and the
/// value of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupHash([u8; 16]);

impl GroupHash {
    /// The hash from its stored bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes, for a database key.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    pub(crate) fn of(parts: &[&str]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            write_with_length(part.as_bytes(), |bytes| hasher.update(bytes));
        }
        Self(first_bytes(hasher))
    }
}

impl RuleKey {
    /// The key of the rule with this id.
    fn of(rule_id: &str) -> Self {
        Self(first_bytes(Sha256::new_with_prefix(rule_id)))
    }
}

/// The id of the alert that a rule raised for a group at `fired_at`, because of the event `event_id`. It is as unpredictable as the
/// event's id.
pub(crate) fn alert_id_of(
    rule_id: &str,
    group: &Group<'_>,
    count_distinct: Option<DistinctField>,
    event_id: EventId,
    fired_at: Timestamp,
) -> AlertId {
    let [group_by, tenant_id, group_key] = group.parts();
    let mut parts = vec![rule_id, group_by, tenant_id, group_key];
    parts.extend(count_distinct.map(DistinctField::as_str));
    let of_rule = GroupHash::of(&parts);
    let hasher = Sha256::new()
        .chain_update(event_id.to_bytes())
        .chain_update(of_rule.as_bytes());
    AlertId::new(fired_at, first_bytes(hasher))
}

/// The fields of a stored event that a group needs to count it.
#[derive(Clone, Copy, Debug)]
pub struct CountedEvent {
    /// The id of the stored event.
    pub id: EventId,
    /// The time of arrival by the clock of the node that accepted the event. Not the `received_at` of the ledger: it never
    /// decreases, so one node with a fast clock would shift it for all nodes.
    pub arrived_at: Timestamp,
    /// When it occurred.
    pub occurred_at: Timestamp,
}

/// A group of one rule that counts an event. Clones share its parts: a commit that may be repeated copies its events.
#[derive(Clone, Debug)]
pub struct Watch {
    rule: Arc<WatchingRule>,
    group: Arc<WatchedGroup>,
    /// The value of the event, for a rule that counts distinct ones.
    value: Option<ValueHash>,
}

/// A rule of a set, with the key of its states.
#[derive(Debug)]
pub(crate) struct WatchingRule {
    rule: AlertRule,
    key: RuleKey,
}

impl WatchingRule {
    pub(crate) fn new(rule: AlertRule) -> Self {
        let key = RuleKey::of(&rule.id().to_string());
        Self { rule, key }
    }

    pub(crate) const fn rule(&self) -> &AlertRule {
        &self.rule
    }
}

/// A group that counts an event.
#[derive(Debug)]
struct WatchedGroup {
    group_by: GroupBy,
    tenant_id: String,
    group_key: String,
    hash: GroupHash,
}

impl WatchedGroup {
    fn of(group: &Group<'_>) -> Self {
        Self {
            group_by: group.group_by(),
            tenant_id: group.tenant_id().to_owned(),
            group_key: group.group_key().to_owned(),
            hash: GroupHash::of(&group.parts()),
        }
    }

    fn group(&self) -> Group<'_> {
        Group::new(self.group_by, &self.tenant_id, &self.group_key)
    }
}

impl RuleSet {
    /// The groups that count an event with these fields. A rule is skipped if the event does not meet its conditions, lacks the
    /// field by which it groups or whose values it counts, or occurred before its window, so an import of old events reads no group.
    pub fn watches(&self, event: &Facets<'_>, occurred_at: Timestamp, now: Timestamp) -> Vec<Watch> {
        let rules = self.matching(event).filter(|rule| {
            rule.rule.windowing().counts(now, occurred_at) && rule.rule.definition().conditions.matches(event)
        });
        // Each group and each value is hashed once, however many rules count it.
        let (mut groups, mut values) = (BTreeMap::new(), BTreeMap::new());
        let mut value_of = |field: DistinctField| {
            *values.entry(field).or_insert_with(|| {
                let value = compared(event, field.facet())?;
                Some(ValueHash::of(&self.value_key, field, &value))
            })
        };
        let watch = |rule: &Arc<WatchingRule>| {
            let group_by = rule.rule.definition().group_by;
            let value = match rule.rule.definition().count_distinct {
                Some(field) => Some(value_of(field)?),
                None => None,
            };
            let group = groups
                .entry(group_by)
                .or_insert_with(|| Some(Arc::new(WatchedGroup::of(&Group::of(group_by, event)?))));
            Some(Watch {
                group: group.clone()?,
                rule: Arc::clone(rule),
                value,
            })
        };
        rules.filter_map(watch).collect()
    }
}

impl Watch {
    /// The key of the group's states, within the ledger of the event.
    pub fn group_hash(&self) -> GroupHash {
        self.group.hash
    }

    /// The rule.
    pub fn rule(&self) -> &AlertRule {
        &self.rule.rule
    }

    /// The key of the rule among those that count the group.
    pub fn rule_key(&self) -> RuleKey {
        self.rule.key
    }

    /// Counts an event. Pass every event once, in the order of arrival.
    pub fn observe(&self, state: &mut GroupState, event: CountedEvent) -> Observed {
        let (
            rule,
            CountedEvent {
                id,
                arrived_at,
                occurred_at,
            },
        ) = (self.rule().windowing(), event);
        match self.value {
            Some(value) => state.observe_value(&rule, arrived_at, occurred_at, id, value),
            None => state.observe(&rule, arrived_at, occurred_at, id),
        }
    }

    /// The alert for a firing that `event_id` caused. Its id is derived from the event's id, the rule and the group, so the transaction
    /// needs no randomness.
    pub fn alert(&self, event_id: EventId, firing: Firing) -> Alert {
        let rule = self.rule();
        let group = self.group.group();
        let distinct = rule.definition().count_distinct;
        let id = alert_id_of(
            &rule.id().to_string(),
            &group,
            distinct,
            event_id,
            firing.fired_at,
        );
        Alert::raise(id, rule, &group, firing)
    }

    /// The time from which the state can be deleted; see [`GroupState::expires_at`].
    pub fn expires_at(&self, state: &GroupState) -> Timestamp {
        let expires_at = state.expires_at(&self.rule().windowing());
        expires_at.unwrap_or(Timestamp::from_micros(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::BuiltinRule;
    use crate::conditions::RuleCondition;
    use crate::rule::RuleChange;
    use audit_domain::{Facet, RuleId};

    const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

    fn rules() -> RuleSet {
        RuleSet::new(BuiltinRule::ALL.iter().map(|rule| AlertRule::builtin(*rule)))
    }

    fn event<'a>(action: &'a str, tenant_id: &'a str, actor_id: &'a str) -> Facets<'a> {
        Facets::default()
            .with(Facet::Action, action)
            .with(Facet::TenantId, tenant_id)
            .with(Facet::ActorId, actor_id)
    }

    /// A rule on failed sign-ins with this grouping and condition.
    fn rule(group_by: GroupBy, conditions: Vec<(RuleCondition, Vec<String>)>) -> RuleSet {
        let definition = BuiltinRule::AuthBruteForce.definition();
        let rule = AlertRule::custom(RuleId::from_random([7; 16]), NOW, definition);
        let change = RuleChange {
            group_by: Some(group_by),
            conditions,
            ..RuleChange::default()
        };
        RuleSet::new([rule.changed(change).expect("a custom rule can change")])
    }

    fn watch(action: &str, tenant_id: &str, actor_id: &str) -> Watch {
        let watches = rules().watches(&event(action, tenant_id, actor_id), NOW, NOW);
        let [watch] = watches.try_into().expect("one rule counts the action");
        watch
    }

    #[test]
    fn a_state_is_identified_by_rule_tenant_and_actor() {
        let key = |watch: &Watch| (watch.group_hash(), watch.rule_key());
        let one = key(&watch("auth.failed", "acme", "u1"));
        assert_eq!(one, key(&watch("auth.failed.again", "acme", "u1")));
        for other in [
            watch("auth.failed", "acme", "u2"),
            watch("auth.failed", "acm", "eu1"),
            watch("user.role.updated", "acme", "u1"),
        ] {
            assert_ne!(one, key(&other), "{other:?}");
        }
        // All rules that count an actor have their states in one row.
        assert_eq!(one.0, watch("user.role.updated", "acme", "u1").group_hash());
        let by_tenant = |actor| watch("user.deleted", "acme", actor).group_hash();
        assert_eq!(by_tenant("u1"), by_tenant("u2"));
    }

    #[test]
    fn no_group_counts_an_event_older_than_every_window() {
        let day_before = NOW.plus_seconds(-86_400);
        let event = event("auth.failed", "acme", "u1");
        assert!(rules().watches(&event, day_before, NOW).is_empty());
    }

    #[test]
    fn one_address_is_a_group_of_many_actors_and_an_event_without_one_is_in_none() {
        let by_address = rule(GroupBy::IpAddress, Vec::new());
        let hash = |actor_id, address: &'static str| {
            let event = event("auth.failed", "acme", actor_id).with(Facet::IpAddress, address);
            let [watch] = by_address
                .watches(&event, NOW, NOW)
                .try_into()
                .expect("one group");
            watch.group_hash()
        };
        assert_eq!(hash("u1", "203.0.113.7"), hash("u2", "203.0.113.7"));
        assert_ne!(hash("u1", "203.0.113.7"), hash("u1", "203.0.113.8"));
        let without = event("auth.failed", "acme", "u1");
        assert!(by_address.watches(&without, NOW, NOW).is_empty());
        // An address that is also the id of an actor is another group.
        let by_actor = rule(GroupBy::ActorId, Vec::new());
        let [watch] = by_actor
            .watches(&event("auth.failed", "acme", "203.0.113.7"), NOW, NOW)
            .try_into()
            .expect("one group");
        assert_ne!(watch.group_hash(), hash("u1", "203.0.113.7"));
    }

    #[test]
    fn a_rule_of_distinct_values_counts_no_event_without_the_field_and_each_value_once() {
        let change = RuleChange {
            count_distinct: Some(Some(DistinctField::SessionId)),
            threshold: 2.try_into().ok(),
            ..RuleChange::default()
        };
        let definition = BuiltinRule::AuthBruteForce.definition();
        let rule = AlertRule::custom(RuleId::from_random([7; 16]), NOW, definition);
        let rules = RuleSet::new([rule.changed(change).expect("a custom rule can change")]);
        let without = event("auth.failed", "acme", "u1");
        assert!(rules.watches(&without, NOW, NOW).is_empty());
        let mut state = GroupState::default();
        let mut fires = |n: u8, session: &'static str| {
            let event = event("auth.failed", "acme", "u1").with(Facet::SessionId, session);
            let counted = CountedEvent {
                id: EventId::new(NOW, [n; 10]),
                arrived_at: NOW,
                occurred_at: NOW,
            };
            let watches = rules.watches(&event, NOW, NOW);
            let firing = watches[0].observe(&mut state, counted).into_firing()?;
            Some(watches[0].alert(counted.id, firing))
        };
        assert_eq!((fires(0, "s1"), fires(1, "s1")), (None, None));
        let alert = fires(2, "s2").expect("two sessions");
        assert_eq!(
            (alert.event_count, alert.count_distinct),
            (2, Some(DistinctField::SessionId))
        );
    }

    #[test]
    fn an_address_is_one_value_however_it_is_written() {
        let change = RuleChange {
            count_distinct: Some(Some(DistinctField::IpAddress)),
            ..RuleChange::default()
        };
        let definition = BuiltinRule::AuthBruteForce.definition();
        let rule = AlertRule::custom(RuleId::from_random([7; 16]), NOW, definition);
        let rules = RuleSet::new([rule.changed(change).expect("a custom rule can change")]);
        let value = |address: &'static str| {
            let event = event("auth.failed", "acme", "u1").with(Facet::IpAddress, address);
            rules.watches(&event, NOW, NOW)[0].value.expect("a value")
        };
        assert_eq!(value("203.0.113.7"), value("::ffff:203.0.113.7"));
        assert_ne!(value("203.0.113.7"), value("203.0.113.8"));
    }

    #[test]
    fn a_rule_does_not_count_events_that_miss_its_conditions() {
        let excluded = vec![(RuleCondition::NotActorIds, vec!["backup".to_owned()])];
        let rules = rule(GroupBy::TenantId, excluded);
        let count = |actor_id| {
            rules
                .watches(&event("auth.failed", "acme", actor_id), NOW, NOW)
                .len()
        };
        assert_eq!((count("u1"), count("backup")), (1, 0));
    }

    #[test]
    fn the_event_that_reaches_the_threshold_raises_one_alert() {
        let watch = watch("auth.failed", "acme", "u1");
        let mut state = GroupState::default();
        let mut alerts = Vec::new();
        for n in 0..6 {
            let event = CountedEvent {
                id: EventId::new(NOW, [n; 10]),
                arrived_at: NOW,
                occurred_at: NOW,
            };
            let firing = watch.observe(&mut state, event).into_firing();
            alerts.extend(firing.map(|firing| (n, watch.alert(event.id, firing))));
        }
        let [(4, alert)] = alerts.as_slice() else {
            panic!("one alert, by the fifth event: {alerts:?}")
        };
        assert_eq!((alert.group_key.as_str(), alert.event_count), ("u1", 5));
        assert!(watch.expires_at(&state) > NOW);
    }
}
