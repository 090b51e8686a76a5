//! Alerts and their states: open, acknowledged, resolved.

use crate::alert_id::AlertId;
use crate::group::{DistinctField, Group, GroupBy};
use crate::rule::{AlertRule, AlertRuleId};
use crate::severity::Severity;
use crate::window::Firing;
use audit_domain::{EventId, Name, Timestamp};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use std::str::FromStr;

/// The state of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertState {
    /// Neither acknowledged nor resolved.
    Open,
    /// A user is handling it.
    Acknowledged {
        /// When it was acknowledged.
        at: Timestamp,
    },
    /// It is closed; this state is final.
    Resolved {
        /// When it was acknowledged; `None` if it was resolved while open.
        acknowledged_at: Option<Timestamp>,
        /// When it was resolved.
        at: Timestamp,
    },
}

audit_domain::words! {
    /// The name of an [`AlertState`].
    pub enum AlertStatus {
        /// [`AlertState::Open`].
        Open = "open",
        /// [`AlertState::Acknowledged`].
        Acknowledged = "acknowledged",
        /// [`AlertState::Resolved`].
        Resolved = "resolved",
    }
}

audit_domain::words! {
    /// A transition of an alert, named by the status that it leads to. There is none to `open`: no alert is reopened.
    pub enum AlertAction {
        /// To `acknowledged`.
        Acknowledge = "acknowledged",
        /// To `resolved`.
        Resolve = "resolved",
    }
}

/// What an operator has found about an alert: 1 to 1,000 characters, none of them a control character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertNote(String);

/// A note is empty, too long, or holds a control character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must have 1 to {} characters, none of them a control character",
    AlertNote::CHARS_MAX
)]
pub struct AlertNoteError;

impl AlertNote {
    /// The longest note, in characters.
    pub const CHARS_MAX: usize = 1_000;

    /// The text of the note.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AlertNote {
    type Err = AlertNoteError;

    fn from_str(text: &str) -> Result<Self, AlertNoteError> {
        let chars = text.chars().count();
        if chars == 0 || chars > Self::CHARS_MAX || text.chars().any(char::is_control) {
            return Err(AlertNoteError);
        }
        Ok(Self(text.to_owned()))
    }
}

/// There is no transition between the two statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an alert cannot go from {from} to {to}")]
pub struct TransitionError {
    from: AlertStatus,
    to: AlertStatus,
}

impl AlertState {
    /// Acknowledges an open alert. Does nothing to an acknowledged one.
    ///
    /// # Errors
    /// [`TransitionError`] when it is resolved.
    pub const fn acknowledge(self, now: Timestamp) -> Result<Self, TransitionError> {
        match self {
            Self::Open => Ok(Self::Acknowledged { at: now }),
            Self::Acknowledged { .. } => Ok(self),
            Self::Resolved { .. } => Err(TransitionError {
                from: AlertStatus::Resolved,
                to: AlertStatus::Acknowledged,
            }),
        }
    }

    /// Resolves an open or acknowledged alert. Does nothing to a resolved one.
    ///
    /// # Errors
    /// None at present: every state can be resolved. The signature is that of [`Self::acknowledge`].
    pub const fn resolve(self, now: Timestamp) -> Result<Self, TransitionError> {
        let acknowledged_at = self.acknowledged_at();
        match self {
            Self::Open | Self::Acknowledged { .. } => Ok(Self::Resolved {
                acknowledged_at,
                at: now,
            }),
            Self::Resolved { .. } => Ok(self),
        }
    }

    /// Applies a transition.
    ///
    /// # Errors
    /// [`TransitionError`] when this state does not allow it.
    pub const fn apply(self, action: AlertAction, now: Timestamp) -> Result<Self, TransitionError> {
        match action {
            AlertAction::Acknowledge => self.acknowledge(now),
            AlertAction::Resolve => self.resolve(now),
        }
    }

    /// The name of the state.
    pub const fn status(self) -> AlertStatus {
        match self {
            Self::Open => AlertStatus::Open,
            Self::Acknowledged { .. } => AlertStatus::Acknowledged,
            Self::Resolved { .. } => AlertStatus::Resolved,
        }
    }

    /// When it was acknowledged.
    pub const fn acknowledged_at(self) -> Option<Timestamp> {
        match self {
            Self::Open => None,
            Self::Acknowledged { at } => Some(at),
            Self::Resolved { acknowledged_at, .. } => acknowledged_at,
        }
    }

    /// When it was resolved.
    pub const fn resolved_at(self) -> Option<Timestamp> {
        match self {
            Self::Open | Self::Acknowledged { .. } => None,
            Self::Resolved { at, .. } => Some(at),
        }
    }
}

/// An alert, which a rule raised for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// Its id.
    pub id: AlertId,
    /// The rule that fired.
    pub rule_id: AlertRuleId,
    /// The name of the rule when it fired.
    pub rule_name: Name,
    /// The severity of the rule when it fired.
    pub severity: Severity,
    /// Its state.
    pub state: AlertState,
    /// The tenant of the events.
    pub tenant_id: String,
    /// The field by which the rule grouped events when it fired.
    pub group_by: GroupBy,
    /// The value of that field in the events that reached the threshold.
    pub group_key: String,
    /// The field whose distinct values the rule counted when it fired; `None` if it counted events.
    pub count_distinct: Option<DistinctField>,
    /// The number of matching events in the window; with `count_distinct` one for each value.
    pub event_count: u64,
    /// The ids of up to [`Firing::SAMPLE_EVENTS_MAX`] of them, newest first.
    pub sample_event_ids: Vec<EventId>,
    /// When the rule fired.
    pub fired_at: Timestamp,
}

impl Alert {
    /// Creates the alert of a firing.
    pub fn raise(id: AlertId, rule: &AlertRule, group: &Group<'_>, firing: Firing) -> Self {
        Self {
            id,
            rule_id: rule.id(),
            rule_name: rule.definition().name.clone(),
            severity: rule.definition().severity,
            state: AlertState::Open,
            tenant_id: group.tenant_id().to_owned(),
            group_by: group.group_by(),
            group_key: group.group_key().to_owned(),
            count_distinct: rule.definition().count_distinct,
            event_count: firing.event_count,
            sample_event_ids: firing.sample_event_ids,
            fired_at: firing.fired_at,
        }
    }

    /// The alert as it was when the rule fired.
    #[must_use]
    pub fn as_fired(self) -> Self {
        let state = AlertState::Open;
        Self { state, ..self }
    }

    /// Applies a transition.
    ///
    /// # Errors
    /// [`TransitionError`] when the state of the alert does not allow it.
    pub fn apply(self, action: AlertAction, now: Timestamp) -> Result<Self, TransitionError> {
        let state = self.state.apply(action, now)?;
        Ok(Self { state, ..self })
    }
}

/// The JSON form of the API and of webhooks.
impl Serialize for Alert {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let mut fields =
            serializer.serialize_struct("Alert", 13 + usize::from(self.count_distinct.is_some()))?;
        fields.serialize_field("id", &self.id)?;
        fields.serialize_field("rule_id", &self.rule_id.to_string())?;
        fields.serialize_field("rule_name", self.rule_name.as_str())?;
        fields.serialize_field("severity", self.severity.as_str())?;
        fields.serialize_field("status", self.state.status().as_str())?;
        fields.serialize_field("tenant_id", &self.tenant_id)?;
        fields.serialize_field("group_by", self.group_by.as_str())?;
        fields.serialize_field("group_key", &self.group_key)?;
        match self.count_distinct {
            Some(field) => fields.serialize_field("count_distinct", field.as_str())?,
            None => fields.skip_field("count_distinct")?,
        }
        fields.serialize_field("event_count", &self.event_count)?;
        fields.serialize_field("sample_event_ids", &self.sample_event_ids)?;
        fields.serialize_field("fired_at", &self.fired_at.to_string())?;
        fields.serialize_field("acknowledged_at", &time(self.state.acknowledged_at()))?;
        fields.serialize_field("resolved_at", &time(self.state.resolved_at()))?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T1: Timestamp = Timestamp::from_seconds(1);
    const T2: Timestamp = Timestamp::from_seconds(2);

    #[test]
    fn an_alert_is_acknowledged_and_then_resolved() {
        let acknowledged = AlertState::Open.acknowledge(T1).unwrap();
        assert_eq!(acknowledged, AlertState::Acknowledged { at: T1 });
        let resolved = acknowledged.resolve(T2).unwrap();
        assert_eq!(
            (
                resolved.status(),
                resolved.acknowledged_at(),
                resolved.resolved_at()
            ),
            (AlertStatus::Resolved, Some(T1), Some(T2))
        );
    }

    #[test]
    fn resolving_an_open_alert_leaves_acknowledged_at_empty() {
        let resolved = AlertState::Open.resolve(T1).unwrap();
        assert_eq!(
            (resolved.acknowledged_at(), resolved.resolved_at()),
            (None, Some(T1))
        );
    }

    #[test]
    fn the_same_status_again_leaves_the_timestamps() {
        let acknowledged = AlertState::Acknowledged { at: T1 };
        assert_eq!(acknowledged.acknowledge(T2), Ok(acknowledged));
        let resolved = acknowledged.resolve(T1).unwrap();
        assert_eq!(resolved.resolve(T2), Ok(resolved));
    }

    #[test]
    fn nothing_leads_out_of_resolved() {
        let resolved = AlertState::Open.resolve(T1).unwrap();
        let error = resolved.apply(AlertAction::Acknowledge, T2).unwrap_err();
        assert_eq!(
            error.to_string(),
            "an alert cannot go from resolved to acknowledged"
        );
    }

    #[test]
    fn a_note_has_a_bounded_length_and_no_control_character() {
        let longest = "é".repeat(AlertNote::CHARS_MAX);
        assert_eq!(longest.parse::<AlertNote>().unwrap().as_str(), longest);
        for text in ["", "a\nb", "\u{1b}[2J", &format!("{longest}é")] {
            assert_eq!(text.parse::<AlertNote>(), Err(AlertNoteError), "{text:?}");
        }
    }

    #[test]
    fn open_is_a_status_but_not_an_action() {
        for status in AlertStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(*status));
        }
        for action in AlertAction::ALL {
            assert_eq!(action.as_str().parse(), Ok(*action));
        }
        let error = "open".parse::<AlertAction>().unwrap_err();
        assert_eq!(error.to_string(), "must be one of acknowledged, resolved");
    }
}
