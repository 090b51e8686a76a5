//! Alert rules over audit events: which rules count an event, when they fire, and which states an alert goes through.
//!
//! Everything here is a value or a function of values. There is no I/O; the current time and randomness are arguments. The
//! state between events is a [`GroupStates`], a few bytes that the caller stores in a database.
//!
//! ```
//! use audit_alerts::{AlertAction, AlertRule, BuiltinRule, CountedEvent, GroupStates, RuleSet};
//! use audit_domain::{EventId, Facet, Facets, Timestamp};
//!
//! let rules = RuleSet::new(BuiltinRule::ALL.iter().map(|rule| AlertRule::builtin(*rule)));
//! let (now, mut alerts) = (Timestamp::parse_rfc3339("2026-01-15T10:30:00Z")?, Vec::new());
//! // The states of all rules for one group are stored together. Here one rule matches, and all events have the same actor.
//! let (mut stored, _) = GroupStates::default().encode(now);
//! let fields = [(Facet::Action, "auth.failed.password"), (Facet::TenantId, "acme"), (Facet::ActorId, "u1")];
//! let fields = fields.iter().fold(Facets::default(), |fields, (facet, value)| fields.with(*facet, *value));
//! for n in 0..5 {
//!     let event = CountedEvent { id: EventId::new(now, [n; 10]), arrived_at: now, occurred_at: now };
//!     for watch in rules.watches(&fields, event.occurred_at, now) {
//!         // The row of `watch.group_hash()`.
//!         let mut states = GroupStates::decode(&stored).expect("states that were encoded");
//!         let mut state = states.get(watch.rule_key())?;
//!         let firing = watch.observe(&mut state, event).into_firing();
//!         alerts.extend(firing.map(|firing| watch.alert(event.id, firing)));
//!         states.set(watch.rule_key(), &state, watch.expires_at(&state));
//!         (stored, _) = states.encode(now);
//!     }
//! }
//! let alert = alerts.pop().expect("five failures in five minutes").apply(AlertAction::Acknowledge, now)?;
//! assert_eq!((alert.rule_id.to_string().as_str(), alert.event_count), ("auth_brute_force", 5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! - [`Matcher::matching`] gives the same result, in the same order, as `ActionGlob::matches` for each pattern.
//! - [`GroupState::observe`] fires exactly as the documentation of the service specifies. The tests compare it with a
//!   reference implementation that keeps every event.
//! - The size of a state is bounded: at most [`GroupState::TIMES_MAX`] times and [`Firing::SAMPLE_EVENTS_MAX`] ids, or as many
//!   values as the threshold of a rule that counts distinct values, 27 bytes each.
//!   [`GroupState`] explains why this loses nothing.
//! - A state has one encoding. [`GroupState::decode`] refuses all other bytes and never panics.
//! - Every edit of a rule changes its [`Revision`]. A state with an older revision resets its window when it next counts an
//!   event, so no edit has to find and delete states. A running cooldown continues, with the length of the edited rule.
//! - [`AlertState::Resolved`] is final.
//!
//! # Duties of the caller
//! - Read, observe and write the state of a group under a lock, in the transaction that stores the event. This gives all
//!   nodes the same order of arrival.
//! - Key states by project, environment and [`Watch::group_hash`].
//! - Pass each event once. A repeat by idempotency key is not an event.

mod alert;
mod alert_id;
mod bounds;
mod builtin;
mod conditions;
mod evidence;
mod group;
mod matcher;
mod rate;
mod rule;
mod rule_set;
mod severity;
mod states;
mod value_hash;
mod watch;
mod window;

pub use alert::{Alert, AlertAction, AlertNote, AlertNoteError, AlertState, AlertStatus, TransitionError};
pub use alert_id::AlertId;
pub use bounds::{CooldownSeconds, OutOfBounds, Threshold, WindowSeconds};
pub use builtin::BuiltinRule;
pub use conditions::{RuleCondition, RuleConditions};
pub use evidence::SampleEvent;
pub use group::{DistinctField, Group, GroupBy};
pub use matcher::Matcher;
pub use rate::{ALERTS_PER_MINUTE_MAX, Admission, AlertRate, SuppressedAlerts};
pub use rule::{
    AlertRule, AlertRuleId, BuiltinRuleError, CUSTOM_RULES_MAX, DISTINCT_THRESHOLD_MAX, Revision, RuleChange,
    RuleContradiction, RuleDefinition, RuleOrigin,
};
pub use rule_set::RuleSet;
pub use severity::Severity;
pub use states::{GroupStates, RuleKey};
pub use value_hash::ValueHash;
pub use watch::{CountedEvent, GroupHash, Watch};
pub use window::{DecodeError, Firing, GroupState, Observed, Windowing};

/// Compiles and runs the example in the readme.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
