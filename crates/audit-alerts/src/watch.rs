//! Watches: the groups that count an event. They lead from an event to the states it changes, and from a firing to its
//! alert.

use crate::alert::Alert;
use crate::alert_id::AlertId;
use crate::group::Group;
use crate::rule::AlertRule;
use crate::rule_set::RuleSet;
use crate::window::{Firing, GroupState, Observed};
use audit_domain::{EventId, Timestamp};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Identifies a group within a ledger: the first 128 bits of a SHA-256 over rule, tenant and, where the rule groups by
/// actor, actor.
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

    fn of_group(rule_id: &str, group: Group<'_>) -> Self {
        match group.actor_id() {
            Some(actor_id) => Self::of(&[rule_id, group.tenant_id(), actor_id]),
            None => Self::of(&[rule_id, group.tenant_id()]),
        }
    }

    pub(crate) fn of(parts: &[&str]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            // Length-prefixed, so that no two lists of parts have the same input.
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        Self(first_bytes(hasher))
    }
}

/// The first bytes of a finished SHA-256.
fn first_bytes<const N: usize>(hasher: Sha256) -> [u8; N] {
    let digest: [u8; 32] = hasher.finalize().into();
    std::array::from_fn(|index| digest[index])
}

fn alert_id(event_id: EventId, group_hash: GroupHash, fired_at: Timestamp) -> AlertId {
    let hasher = Sha256::new()
        .chain_update(event_id.to_bytes())
        .chain_update(group_hash.as_bytes());
    AlertId::new(fired_at, first_bytes(hasher))
}

/// The id of the alert that a rule raised for a group at `fired_at`, because of the event `event_id`.
pub(crate) fn alert_id_of(
    rule_id: &str,
    group: Group<'_>,
    event_id: EventId,
    fired_at: Timestamp,
) -> AlertId {
    alert_id(event_id, GroupHash::of_group(rule_id, group), fired_at)
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

/// A group of one rule that counts an event. Clones share it: a commit that may be repeated copies its events.
#[derive(Clone, Debug)]
pub struct Watch {
    group: Arc<WatchedGroup>,
    group_hash: GroupHash,
}

#[derive(Debug)]
struct WatchedGroup {
    rule: Arc<AlertRule>,
    tenant_id: String,
    actor_id: String,
}

impl RuleSet {
    /// The groups that count an event of this action, tenant and actor. A rule is skipped if the event occurred before its
    /// window, so an import of old events reads no group.
    pub fn watches(
        &self,
        action: &str,
        tenant_id: &str,
        actor_id: &str,
        occurred_at: Timestamp,
        now: Timestamp,
    ) -> Vec<Watch> {
        self.matching(action)
            .filter(|rule| rule.windowing().counts(now, occurred_at))
            .map(|rule| Watch::new(rule, tenant_id, actor_id))
            .collect()
    }
}

impl Watch {
    fn new(rule: &Arc<AlertRule>, tenant_id: &str, actor_id: &str) -> Self {
        let group = rule.definition().group_by.group(tenant_id, actor_id);
        let group_hash = GroupHash::of_group(&rule.id().to_string(), group);
        let group = WatchedGroup {
            rule: Arc::clone(rule),
            tenant_id: tenant_id.to_owned(),
            actor_id: actor_id.to_owned(),
        };
        Self {
            group: Arc::new(group),
            group_hash,
        }
    }

    /// The key of the group's state, within the ledger of the event.
    pub const fn group_hash(&self) -> GroupHash {
        self.group_hash
    }

    /// The rule.
    pub fn rule(&self) -> &AlertRule {
        &self.group.rule
    }

    /// Counts an event. Pass every event once, in the order of arrival.
    pub fn observe(&self, state: &mut GroupState, event: CountedEvent) -> Observed {
        state.observe(
            &self.group.rule.windowing(),
            event.arrived_at,
            event.occurred_at,
            event.id,
        )
    }

    /// The alert for a firing that `event_id` caused. Its id is derived from the event's id and the group: it is as
    /// unpredictable as the event's id, and the transaction needs no randomness.
    pub fn alert(&self, event_id: EventId, firing: Firing) -> Alert {
        let id = alert_id(event_id, self.group_hash, firing.fired_at);
        let WatchedGroup {
            rule,
            tenant_id,
            actor_id,
        } = &*self.group;
        let group = rule.definition().group_by.group(tenant_id, actor_id);
        Alert::raise(id, rule, group, firing)
    }

    /// The time from which the state can be deleted; see [`GroupState::expires_at`].
    pub fn expires_at(&self, state: &GroupState) -> Timestamp {
        let expires_at = state.expires_at(&self.group.rule.windowing());
        expires_at.unwrap_or(Timestamp::from_micros(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::CooldownSeconds;
    use crate::builtin::BuiltinRule;

    const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

    fn rules() -> RuleSet {
        let builtin = |rule: &BuiltinRule| AlertRule::builtin(*rule, true, CooldownSeconds::default());
        RuleSet::new(BuiltinRule::ALL.iter().map(builtin))
    }

    fn watch(action: &str, tenant_id: &str, actor_id: &str) -> Watch {
        let watches = rules().watches(action, tenant_id, actor_id, NOW, NOW);
        let [watch] = watches.try_into().expect("one rule counts the action");
        watch
    }

    #[test]
    fn a_group_is_identified_by_rule_tenant_and_actor() {
        let one = watch("auth.failed", "acme", "u1").group_hash();
        assert_eq!(one, watch("auth.failed.again", "acme", "u1").group_hash());
        for other in [
            watch("auth.failed", "acme", "u2"),
            watch("auth.failed", "acm", "eu1"),
            watch("user.role.updated", "acme", "u1"),
        ] {
            assert_ne!(one, other.group_hash(), "{other:?}");
        }
        let by_tenant = |actor| watch("user.deleted", "acme", actor).group_hash();
        assert_eq!(by_tenant("u1"), by_tenant("u2"));
    }

    #[test]
    fn no_group_counts_an_event_older_than_every_window() {
        let day_before = NOW.plus_seconds(-86_400);
        assert!(
            rules()
                .watches("auth.failed", "acme", "u1", day_before, NOW)
                .is_empty()
        );
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
