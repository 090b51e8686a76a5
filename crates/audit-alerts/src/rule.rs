//! Alert rules and their changes.

use crate::bounds::{CooldownSeconds, Threshold, WindowSeconds};
use crate::builtin::{BuiltinRule, RulePattern};
use crate::conditions::{RuleCondition, RuleConditions};
use crate::group::{DistinctField, GroupBy};
use crate::severity::Severity;
use crate::window::Windowing;
use audit_domain::{ActionGlob, IdError, Name, RuleId, Timestamp};
use std::fmt;
use std::str::FromStr;

/// The most custom rules of a project.
pub const CUSTOM_RULES_MAX: usize = 100;

/// The largest threshold of a rule that counts distinct values: its state has an entry for each of them.
pub const DISTINCT_THRESHOLD_MAX: u32 = 500;

/// The id of a rule: a word for a built-in rule, a UUID for a custom one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertRuleId {
    /// A rule that every project has.
    Builtin(BuiltinRule),
    /// A rule of one project.
    Custom(RuleId),
}

impl fmt::Display for AlertRuleId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(builtin) => builtin.fmt(formatter),
            Self::Custom(id) => id.fmt(formatter),
        }
    }
}

impl FromStr for AlertRuleId {
    type Err = IdError;

    /// Parses the id of a built-in rule or any UUID. Does not check that a custom rule has this UUID.
    fn from_str(text: &str) -> Result<Self, IdError> {
        match BuiltinRule::from_id(text) {
            Some(builtin) => Ok(Self::Builtin(builtin)),
            None => text.parse().map(Self::Custom),
        }
    }
}

/// Whether a rule is built in or custom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleOrigin {
    /// Every project has it.
    Builtin(BuiltinRule),
    /// A user of the project created it.
    Custom {
        /// Its id.
        id: RuleId,
        /// When it was created.
        created_at: Timestamp,
    },
}

/// The settings of a rule. [`Self::contradiction`] finds fields that are not valid together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleDefinition {
    /// The display name.
    pub name: Name,
    /// The actions it counts.
    pub action_pattern: ActionGlob,
    /// The number of matching events of a group, or of distinct values, that raises an alert.
    pub threshold: Threshold,
    /// The length of the sliding window.
    pub window_seconds: WindowSeconds,
    /// The field by which events are grouped.
    pub group_by: GroupBy,
    /// The field whose distinct values count instead of events.
    pub count_distinct: Option<DistinctField>,
    /// The severity of its alerts.
    pub severity: Severity,
    /// Whether the rule counts events.
    pub enabled: bool,
    /// The time after an alert in which the group raises no further one.
    pub cooldown_seconds: CooldownSeconds,
    /// What an event must meet beside the pattern.
    pub conditions: RuleConditions,
}

/// Two settings of a rule that are not valid together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RuleContradiction {
    /// Each group has one value of the field by which it groups.
    #[error("must be another field than group_by, because each group has one value of that")]
    DistinctGroup,
    /// The state of a group has an entry for each value.
    #[error("must be a whole number from 1 to {DISTINCT_THRESHOLD_MAX} in a rule with count_distinct")]
    DistinctThreshold,
}

impl RuleContradiction {
    /// The name of the field in the API that has to change.
    pub const fn field(self) -> &'static str {
        match self {
            Self::DistinctGroup => "count_distinct",
            Self::DistinctThreshold => "threshold",
        }
    }
}

impl RuleDefinition {
    /// The first two settings that are not valid together.
    pub fn contradiction(&self) -> Option<RuleContradiction> {
        let distinct = self.count_distinct?;
        if distinct.facet() == self.group_by.facet() {
            return Some(RuleContradiction::DistinctGroup);
        }
        (self.threshold.get() > DISTINCT_THRESHOLD_MAX).then_some(RuleContradiction::DistinctThreshold)
    }
}

/// The number of edits of a rule. Events that were counted under another revision no longer count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u32);

impl Revision {
    /// From the number of edits.
    pub const fn from_number(edits: u32) -> Self {
        Self(edits)
    }

    /// The number of edits.
    pub const fn number(self) -> u32 {
        self.0
    }

    const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// New values for some of a rule's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in RuleDefinition")]
pub struct RuleChange {
    pub name: Option<Name>,
    pub action_pattern: Option<ActionGlob>,
    pub threshold: Option<Threshold>,
    pub window_seconds: Option<WindowSeconds>,
    pub group_by: Option<GroupBy>,
    /// `Some(None)`: the rule counts events.
    pub count_distinct: Option<Option<DistinctField>>,
    pub severity: Option<Severity>,
    pub enabled: Option<bool>,
    pub cooldown_seconds: Option<CooldownSeconds>,
    /// The new values of the conditions that change; without values the rule loses the condition.
    pub conditions: Vec<(RuleCondition, Vec<String>)>,
}

impl RuleChange {
    /// The first changed field that is fixed in built-in rules.
    fn fixed_in_builtin(&self) -> Option<&'static str> {
        let fixed = [
            ("name", self.name.is_some()),
            ("action_pattern", self.action_pattern.is_some()),
            ("group_by", self.group_by.is_some()),
            ("count_distinct", self.count_distinct.is_some()),
            ("severity", self.severity.is_some()),
        ];
        fixed
            .into_iter()
            .find_map(|(field, is_changed)| is_changed.then_some(field))
    }
}

/// A change that built-in rules do not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BuiltinRuleError {
    /// The change contains a fixed field, possibly with its present value.
    #[error(
        "{field} of the built-in rule {rule} cannot change, only threshold, window_seconds, cooldown_seconds, enabled and conditions can"
    )]
    FixedField {
        /// The rule.
        rule: BuiltinRule,
        /// The name of the first such field in the API.
        field: &'static str,
    },
    /// Built-in rules cannot be deleted.
    #[error("the built-in rule {rule} cannot be deleted, set enabled to false instead")]
    Deletion {
        /// The rule.
        rule: BuiltinRule,
    },
}

/// A rule of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertRule {
    origin: RuleOrigin,
    definition: RuleDefinition,
    revision: Revision,
}

impl AlertRule {
    /// A built-in rule as in a new project.
    pub fn builtin(builtin: BuiltinRule) -> Self {
        Self {
            origin: RuleOrigin::Builtin(builtin),
            definition: builtin.definition(),
            revision: Revision::default(),
        }
    }

    /// A custom rule.
    pub const fn custom(id: RuleId, created_at: Timestamp, definition: RuleDefinition) -> Self {
        Self {
            origin: RuleOrigin::Custom { id, created_at },
            definition,
            revision: Revision::from_number(0),
        }
    }

    /// The same rule at another revision, as read from the database.
    #[must_use]
    pub fn at_revision(self, revision: Revision) -> Self {
        Self { revision, ..self }
    }

    /// The rule's id.
    pub const fn id(&self) -> AlertRuleId {
        match self.origin {
            RuleOrigin::Builtin(builtin) => AlertRuleId::Builtin(builtin),
            RuleOrigin::Custom { id, .. } => AlertRuleId::Custom(id),
        }
    }

    /// Whether the rule is built in or custom.
    pub const fn origin(&self) -> RuleOrigin {
        self.origin
    }

    /// Its settings.
    pub const fn definition(&self) -> &RuleDefinition {
        &self.definition
    }

    /// The patterns of the actions that it counts.
    pub(crate) fn patterns(&self) -> Vec<RulePattern> {
        match self.origin {
            RuleOrigin::Builtin(builtin) => builtin.patterns(),
            RuleOrigin::Custom { .. } => vec![RulePattern {
                glob: self.definition.action_pattern.clone(),
                is_of_failures: false,
            }],
        }
    }

    /// The same rule with each identifier of its conditions in all forms in which redaction may have stored it.
    #[must_use]
    pub fn in_all_forms(mut self, forms: impl Fn(&str) -> Vec<String>) -> Self {
        self.definition.conditions = self.definition.conditions.in_all_forms(forms);
        self
    }

    /// The number of its edits.
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Its counting parameters.
    pub const fn windowing(&self) -> Windowing {
        Windowing {
            revision: self.revision,
            threshold: self.definition.threshold,
            window_seconds: self.definition.window_seconds,
            cooldown_seconds: self.definition.cooldown_seconds,
        }
    }

    /// The rule after an edit. An edit increases the revision, which resets the windows. A change to the present values is
    /// not an edit: the revision stays the same.
    ///
    /// # Errors
    /// [`BuiltinRuleError::FixedField`] when the rule is built in and the change contains its name, pattern, grouping,
    /// `count_distinct` or severity.
    pub fn changed(&self, change: RuleChange) -> Result<Self, BuiltinRuleError> {
        if let (RuleOrigin::Builtin(rule), Some(field)) = (self.origin, change.fixed_in_builtin()) {
            return Err(BuiltinRuleError::FixedField { rule, field });
        }
        let old = &self.definition;
        let conditions = change.conditions.into_iter();
        let definition = RuleDefinition {
            name: change.name.unwrap_or_else(|| old.name.clone()),
            action_pattern: change
                .action_pattern
                .unwrap_or_else(|| old.action_pattern.clone()),
            threshold: change.threshold.unwrap_or(old.threshold),
            window_seconds: change.window_seconds.unwrap_or(old.window_seconds),
            group_by: change.group_by.unwrap_or(old.group_by),
            count_distinct: change.count_distinct.unwrap_or(old.count_distinct),
            severity: change.severity.unwrap_or(old.severity),
            enabled: change.enabled.unwrap_or(old.enabled),
            cooldown_seconds: change.cooldown_seconds.unwrap_or(old.cooldown_seconds),
            conditions: conditions.fold(old.conditions.clone(), |conditions, (of, values)| {
                conditions.with(of, values)
            }),
        };
        let revision = if definition == *old {
            self.revision
        } else {
            self.revision.next()
        };
        Ok(Self {
            origin: self.origin,
            definition,
            revision,
        })
    }

    /// The id of the rule, if it can be deleted.
    ///
    /// # Errors
    /// [`BuiltinRuleError::Deletion`] when the rule is built in.
    pub const fn deletable(&self) -> Result<RuleId, BuiltinRuleError> {
        match self.origin {
            RuleOrigin::Custom { id, .. } => Ok(id),
            RuleOrigin::Builtin(rule) => Err(BuiltinRuleError::Deletion { rule }),
        }
    }
}

#[cfg(test)]
mod tests;
