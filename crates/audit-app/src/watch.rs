//! Counting events for alert rules while they are stored: what the store shows events to.

use audit_alerts::{Alert, AlertId, AlertRule, GroupState, RuleSet};
use audit_domain::{Event, Timestamp};
use audit_store::{AlertRow, Counted, GroupCount, GroupHash, SeenEvent, Watch, Watcher};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// One rule's count of one group.
#[derive(Clone, Debug)]
struct Group {
    rule: Arc<AlertRule>,
    tenant_id: String,
    actor_id: String,
    hash: GroupHash,
}

/// What a group remembers, in use.
#[derive(Debug)]
struct Count {
    group: Group,
    state: GroupState,
}

/// For whom an event is counted, as it will be stored. One that occurred too long ago counts for nobody, so an import
/// costs nothing here.
pub(crate) fn watches(rules: &RuleSet, event: &Event, now: Timestamp) -> Vec<Watch> {
    let matching = rules.matching(event.action.as_str());
    let counting = matching.filter(|rule| rule.windowing().counts(now, event.occurred_at.unwrap_or(now)));
    counting
        .map(|rule| {
            let group = Group::new(rule, &event.tenant_id, &event.actor.id);
            Watch {
                group: group.hash,
                watcher: Arc::new(group),
            }
        })
        .collect()
}

impl Group {
    fn new(rule: &Arc<AlertRule>, tenant_id: &str, actor_id: &str) -> Self {
        let group = rule.definition().group_by.group(tenant_id, actor_id);
        let rule_id = rule.id().to_string();
        let hash = match group.actor_id() {
            Some(actor_id) => GroupHash::of(&[&rule_id, tenant_id, actor_id]),
            None => GroupHash::of(&[&rule_id, tenant_id]),
        };
        Self {
            rule: Arc::clone(rule),
            tenant_id: tenant_id.to_owned(),
            actor_id: actor_id.to_owned(),
            hash,
        }
    }

    /// An id for the alert that `event` raises: as unpredictable as the event's own id, and needing no randomness in the
    /// transaction.
    fn alert_id(&self, event: &SeenEvent, fired_at: Timestamp) -> AlertId {
        let digest: [u8; 32] = Sha256::new()
            .chain_update(event.id.to_bytes())
            .chain_update(self.hash.as_bytes())
            .finalize()
            .into();
        let mut random = [0; 10];
        random.copy_from_slice(&digest[..10]);
        AlertId::new(fired_at, random)
    }
}

impl Watcher for Group {
    fn resume(&self, remembered: Option<&[u8]>) -> Box<dyn GroupCount> {
        let state = remembered.map_or(Ok(GroupState::default()), GroupState::decode);
        let state = state.unwrap_or_else(|error| {
            log::error!(
                "the count of a group of rule {} is reset: its stored state cannot be read: {error}",
                self.rule.id()
            );
            GroupState::default()
        });
        Box::new(Count {
            group: self.clone(),
            state,
        })
    }
}

impl GroupCount for Count {
    fn observe(&mut self, event: SeenEvent) -> Counted {
        let rule = &self.group.rule;
        let observed = self
            .state
            .observe(&rule.windowing(), event.arrived_at, event.occurred_at, event.id);
        match observed {
            audit_alerts::Observed::Unchanged => Counted::Unchanged,
            audit_alerts::Observed::Counted => Counted::Changed,
            audit_alerts::Observed::Fired(firing) => {
                let id = self.group.alert_id(&event, firing.fired_at);
                let group = rule
                    .definition()
                    .group_by
                    .group(&self.group.tenant_id, &self.group.actor_id);
                Counted::Raised(Box::new(alert_row(&Alert::raise(id, rule, group, firing))))
            }
        }
    }

    fn encode(&self) -> Vec<u8> {
        self.state.encode()
    }

    fn expires_at(&self) -> Timestamp {
        let expires_at = self.state.expires_at(&self.group.rule.windowing());
        expires_at.unwrap_or(Timestamp::from_micros(0))
    }
}

/// The alert as the store keeps it.
pub(crate) fn alert_row(alert: &Alert) -> AlertRow {
    AlertRow {
        id: alert.id.to_bytes(),
        rule_id: alert.rule_id.to_string(),
        rule_name: alert.rule_name.to_string(),
        severity: alert.severity.to_string(),
        status: alert.state.status().to_string(),
        group_key: alert.group_key.clone(),
        event_count: alert.event_count,
        sample_event_ids: alert.sample_event_ids.clone(),
        fired_at: alert.fired_at,
        acknowledged_at: alert.state.acknowledged_at(),
        resolved_at: alert.state.resolved_at(),
    }
}
