//! Counting events for alert rules in the transaction that stores them.
//!
//! An event carries the groups that count it ([`Watch`]). The plan reads the states of those groups, counts every
//! event it stores, in the order of the ledger, and writes the changed states and the raised alerts with the events. So an
//! alert exists if and only if its events do. One more state for each ledger counts the alerts of a minute ([`AlertRate`]).

use super::request::AppendRequest;
use crate::ids::LedgerId;
use audit_alerts::{
    Admission, Alert, AlertRate, CountedEvent, GroupHash, GroupState, GroupStates, Observed, RuleKey, Watch,
};
use audit_domain::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Encoded states, for the groups of a commit that have some.
pub(crate) type AlertGroups = HashMap<(LedgerId, GroupHash), Vec<u8>>;

/// The groups that count the events of some requests.
pub(crate) fn of_requests(requests: &[AppendRequest]) -> BTreeSet<(LedgerId, GroupHash)> {
    let mut groups = BTreeSet::new();
    for request in requests {
        let watches = request.events.iter().flat_map(|event| &event.watches);
        groups.extend(watches.map(|watch| (request.destination.ledger_id, watch.group_hash())));
    }
    let ledgers: BTreeSet<LedgerId> = groups.iter().map(|(ledger_id, _)| *ledger_id).collect();
    groups.extend(
        ledgers
            .into_iter()
            .map(|ledger_id| (ledger_id, AlertRate::group_hash())),
    );
    groups
}

/// The effect of a commit's events on the groups that count them.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    stored: AlertGroups,
    groups: HashMap<(LedgerId, GroupHash), CountedGroup>,
    /// When the last event arrived.
    now: Option<Timestamp>,
    /// The alerts of a minute, for the ledgers in which a rule has fired.
    rates: HashMap<LedgerId, AlertRate>,
    pub(crate) suppressed: Suppressed,
}

/// The alerts of a commit that exceeded the limit of their minute.
#[derive(Debug, Default)]
pub(crate) struct Suppressed {
    pub(crate) count: u64,
    /// The ledgers that have reached the limit of the minute with this commit.
    pub(crate) begun: Vec<LedgerId>,
}

/// An alert that a commit raises.
#[derive(Debug)]
pub(crate) struct RaisedAlert {
    pub(crate) ledger_id: LedgerId,
    pub(crate) alert: Alert,
    /// The webhooks whose deliveries the dispatcher has to write.
    pub(crate) undelivered_to: Arc<[String]>,
}

/// The states of one group during a commit: those that were stored, and those of the rules that have counted an event of the commit.
#[derive(Debug)]
struct CountedGroup {
    stored: GroupStates,
    counts: BTreeMap<RuleKey, Count>,
}

/// The state of one group and rule during a commit.
#[derive(Debug)]
struct Count {
    /// The watch of its first event, which has the rule.
    watch: Watch,
    state: GroupState,
    is_changed: bool,
}

impl Counts {
    pub(crate) fn new(stored: AlertGroups) -> Self {
        Self {
            stored,
            ..Self::default()
        }
    }

    /// Counts an event in its groups. Returns the alerts that it raises.
    pub(crate) fn observe(
        &mut self,
        ledger_id: LedgerId,
        watches: &[Watch],
        event: CountedEvent,
    ) -> Vec<Alert> {
        let mut raised = Vec::new();
        self.now = self.now.max(Some(event.arrived_at));
        for watch in watches {
            let key = (ledger_id, watch.group_hash());
            let group = self.groups.entry(key).or_insert_with(|| CountedGroup {
                stored: decode_group(ledger_id, self.stored.get(&key).map(Vec::as_slice)),
                counts: BTreeMap::new(),
            });
            let count = group.counts.entry(watch.rule_key()).or_insert_with(|| Count {
                watch: watch.clone(),
                state: state_of(watch, &group.stored),
                is_changed: false,
            });
            match watch.observe(&mut count.state, event) {
                Observed::Unchanged => {}
                Observed::Counted => count.is_changed = true,
                Observed::Fired(firing) => {
                    count.is_changed = true;
                    let alert = watch.alert(event.id, firing);
                    let rate = self.rates.entry(ledger_id);
                    let rate = rate.or_insert_with(|| decode_rate(ledger_id, &self.stored));
                    match rate.admit(alert.fired_at) {
                        Admission::Raised => raised.push(alert),
                        Admission::Suppressed { is_first } => self.suppressed.note(ledger_id, is_first),
                    }
                }
            }
        }
        raised
    }

    /// Whether no state has to be written.
    pub(crate) fn are_unchanged(&self) -> bool {
        self.groups.values().all(|group| !group.is_changed())
    }

    /// The states to write, each with the time from which it can be deleted, in the order of the table's key.
    pub(crate) fn changed(&self) -> BTreeMap<(LedgerId, GroupHash), (Vec<u8>, Timestamp)> {
        let now = self.now.unwrap_or(Timestamp::from_micros(0));
        let changed = self.groups.iter().filter(|(_, group)| group.is_changed());
        let changed = changed.map(|(key, group)| (*key, group.encode(now)));
        let rates = self.rates.iter().map(|(ledger_id, rate)| {
            let key = (*ledger_id, AlertRate::group_hash());
            (key, (rate.encode(), rate.expires_at()))
        });
        changed.chain(rates).collect()
    }
}

impl CountedGroup {
    fn is_changed(&self) -> bool {
        self.counts.values().any(|count| count.is_changed)
    }

    fn encode(&self, now: Timestamp) -> (Vec<u8>, Timestamp) {
        let mut states = self.stored.clone();
        for (rule, count) in self.counts.iter().filter(|(_, count)| count.is_changed) {
            states.set(*rule, &count.state, count.watch.expires_at(&count.state));
        }
        states.encode(now)
    }
}

impl Suppressed {
    fn note(&mut self, ledger_id: LedgerId, is_first: bool) {
        self.count += 1;
        if is_first {
            self.begun.push(ledger_id);
        }
    }
}

/// The stored count of a ledger's alerts. One that cannot be decoded restarts.
fn decode_rate(ledger_id: LedgerId, stored: &AlertGroups) -> AlertRate {
    let Some(bytes) = stored.get(&(ledger_id, AlertRate::group_hash())) else {
        return AlertRate::default();
    };
    AlertRate::decode(bytes).unwrap_or_else(|| {
        log::error!(
            "the count of the alerts of ledger {} is damaged, it restarts",
            ledger_id.0
        );
        AlertRate::default()
    })
}

/// The stored states of a group. Those that cannot be decoded count from zero: refusing the event would cost more than its count.
fn decode_group(ledger_id: LedgerId, stored: Option<&[u8]>) -> GroupStates {
    let states = stored.map_or_else(|| Some(GroupStates::default()), GroupStates::decode);
    states.unwrap_or_else(|| {
        log::error!(
            "the stored counts of a group of ledger {} are damaged, counting restarts",
            ledger_id.0
        );
        GroupStates::default()
    })
}

/// The stored state for a rule.
fn state_of(watch: &Watch, stored: &GroupStates) -> GroupState {
    stored.get(watch.rule_key()).unwrap_or_else(|error| {
        log::error!(
            "the stored count of a group of alert rule {} is damaged, counting restarts: {error}",
            watch.rule().id()
        );
        GroupState::default()
    })
}
