//! Alert rules over audit events: which rules count an event, when they fire, and what becomes of the alert.
//!
//! Everything here is a value or a function of values. There is no I/O; the current time and randomness come in as
//! arguments, and what has to be remembered between events is a [`GroupState`], a few bytes that a database holds.
//!
//! ```
//! use audit_alerts::{Alert, AlertAction, AlertId, AlertRule, BuiltinRule, CooldownSeconds, GroupState, RuleSet};
//! use audit_domain::{EventId, Timestamp};
//!
//! let builtin = |rule: &BuiltinRule| AlertRule::builtin(*rule, true, CooldownSeconds::default());
//! let rules = RuleSet::new(BuiltinRule::ALL.iter().map(builtin));
//! let (now, mut alerts) = (Timestamp::parse_rfc3339("2026-01-15T10:30:00Z")?, Vec::new());
//! // Each rule has a state for each of its groups. Here one rule matches, and all events are of one actor.
//! let mut stored = GroupState::default().encode();
//! for n in 0..5 {
//!     for rule in rules.matching("auth.failed.password") {
//!         let mut state = GroupState::decode(&stored)?;
//!         let observed = state.observe(&rule.windowing(), now, now, EventId::new(now, [n; 10]));
//!         let group = rule.definition().group_by.group("acme", "u1");
//!         alerts.extend(observed.into_firing().map(|firing| Alert::raise(AlertId::new(now, [n; 10]), rule, group, firing)));
//!         stored = state.encode();
//!     }
//! }
//! let alert = alerts.pop().expect("five failures in five minutes").apply(AlertAction::Acknowledge, now)?;
//! assert_eq!((alert.rule_id.to_string().as_str(), alert.event_count), ("auth_brute_force", 5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! - [`Matcher::matching`] finds what trying each pattern with `ActionGlob::matches` finds, in the same order.
//! - [`GroupState::observe`] fires exactly when the sentences on alerts in the service's documentation say so; the tests
//!   hold it against an implementation of those sentences that forgets nothing.
//! - A state is bounded, whatever is shown to it: at most [`GroupState::TIMES_MAX`] times and
//!   [`Firing::SAMPLE_EVENTS_MAX`] ids. See [`GroupState`] for why nothing is lost by it.
//! - A state has one encoding, [`GroupState::decode`] accepts nothing else, and no bytes make it panic.
//! - A rule edit has another [`Revision`], by which states know that their windows start afresh; nobody has to find and
//!   delete them. A silence under way goes on, for as long as the rule's cooldown now says.
//! - Nothing leads out of [`AlertState::Resolved`].
//!
//! # What is left to the caller
//! - To read, observe and write a group's state under a lock, in the transaction that stores the event, so that there is
//!   one order of arrival on which all nodes agree.
//! - To key states by project, environment, rule and the tenant and actor of the [`Group`].
//! - To show each event once: a repeat by idempotency key is no event.

mod alert;
mod alert_id;
mod bounds;
mod builtin;
mod group;
mod matcher;
mod rule;
mod rule_set;
mod severity;
mod watch;
mod window;

pub use alert::{Alert, AlertAction, AlertState, AlertStatus, TransitionError};
pub use alert_id::AlertId;
pub use bounds::{CooldownSeconds, OutOfBounds, Threshold, WindowSeconds};
pub use builtin::BuiltinRule;
pub use group::{Group, GroupBy};
pub use matcher::Matcher;
pub use rule::{
    AlertRule, AlertRuleId, BuiltinRuleError, CUSTOM_RULES_MAX, Revision, RuleChange, RuleDefinition,
    RuleOrigin,
};
pub use rule_set::RuleSet;
pub use severity::Severity;
pub use watch::{CountedEvent, GroupHash, Watch};
pub use window::{DecodeError, Firing, GroupState, Observed, Windowing};

/// The readme's example compiles and holds.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
