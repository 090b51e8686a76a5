//! Alert rules and what of them may change.

use crate::bounds::{CooldownSeconds, Threshold, WindowSeconds};
use crate::builtin::BuiltinRule;
use crate::group::GroupBy;
use crate::severity::Severity;
use crate::window::Windowing;
use audit_domain::{ActionGlob, IdError, Name, RuleId, Timestamp};
use std::fmt;
use std::str::FromStr;

/// The most custom rules of a project.
pub const CUSTOM_RULES_MAX: usize = 100;

/// What names a rule: a readable word for a built-in one, a UUID for a custom one.
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

    /// The id of a built-in rule or any UUID; whether a custom rule has it is not known here.
    fn from_str(text: &str) -> Result<Self, IdError> {
        match BuiltinRule::from_id(text) {
            Some(builtin) => Ok(Self::Builtin(builtin)),
            None => text.parse().map(Self::Custom),
        }
    }
}

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleOrigin {
    /// Every project has it.
    Builtin(BuiltinRule),
    /// A project's users made it.
    Custom {
        /// Its id.
        id: RuleId,
        /// When it was made.
        created_at: Timestamp,
    },
}

/// What a rule looks for and what it says. Every field is valid on its own and they do not depend on each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleDefinition {
    /// What people call it.
    pub name: Name,
    /// The actions it counts.
    pub action_pattern: ActionGlob,
    /// How many matching events of a group raise an alert.
    pub threshold: Threshold,
    /// How long ago they may have occurred.
    pub window_seconds: WindowSeconds,
    /// Whose events are counted together.
    pub group_by: GroupBy,
    /// How much its alerts matter.
    pub severity: Severity,
    /// Whether it counts at all.
    pub enabled: bool,
    /// How long a group stays silent after an alert.
    pub cooldown_seconds: CooldownSeconds,
}

/// Counts the edits of a rule. What was counted under another revision no longer counts.
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
    pub severity: Option<Severity>,
    pub enabled: Option<bool>,
    pub cooldown_seconds: Option<CooldownSeconds>,
}

impl RuleChange {
    /// The first field named here that is fixed in built-in rules.
    fn fixed_in_builtin(&self) -> Option<&'static str> {
        let fixed = [
            ("name", self.name.is_some()),
            ("action_pattern", self.action_pattern.is_some()),
            ("threshold", self.threshold.is_some()),
            ("window_seconds", self.window_seconds.is_some()),
            ("group_by", self.group_by.is_some()),
            ("severity", self.severity.is_some()),
        ];
        fixed
            .into_iter()
            .find_map(|(field, is_named)| is_named.then_some(field))
    }
}

/// Something that built-in rules do not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BuiltinRuleError {
    /// The change names a field that is fixed, even if with the value it has.
    #[error("{field} of the built-in rule {rule} cannot change, only enabled and cooldown_seconds can")]
    FixedField {
        /// The rule.
        rule: BuiltinRule,
        /// The first such field, as the interface spells it.
        field: &'static str,
    },
    /// Built-in rules stay.
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
    /// A built-in rule with the two settings of it that a project may choose.
    pub fn builtin(builtin: BuiltinRule, enabled: bool, cooldown_seconds: CooldownSeconds) -> Self {
        Self {
            origin: RuleOrigin::Builtin(builtin),
            definition: RuleDefinition {
                enabled,
                cooldown_seconds,
                ..builtin.definition()
            },
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

    /// The same rule, as stored after some edits.
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

    /// Where the rule comes from.
    pub const fn origin(&self) -> RuleOrigin {
        self.origin
    }

    /// What it looks for and what it says.
    pub const fn definition(&self) -> &RuleDefinition {
        &self.definition
    }

    /// How often it was edited.
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// How it counts.
    pub const fn windowing(&self) -> Windowing {
        Windowing {
            revision: self.revision,
            threshold: self.definition.threshold,
            window_seconds: self.definition.window_seconds,
            cooldown_seconds: self.definition.cooldown_seconds,
        }
    }

    /// The rule after an edit, which starts its windows afresh. A change to the values that are there already is no
    /// edit: the revision stays.
    ///
    /// # Errors
    /// [`BuiltinRuleError::FixedField`] when the rule is built in and the change names anything but `enabled` and
    /// `cooldown_seconds`.
    pub fn changed(&self, change: RuleChange) -> Result<Self, BuiltinRuleError> {
        if let (RuleOrigin::Builtin(rule), Some(field)) = (self.origin, change.fixed_in_builtin()) {
            return Err(BuiltinRuleError::FixedField { rule, field });
        }
        let old = &self.definition;
        let definition = RuleDefinition {
            name: change.name.unwrap_or_else(|| old.name.clone()),
            action_pattern: change
                .action_pattern
                .unwrap_or_else(|| old.action_pattern.clone()),
            threshold: change.threshold.unwrap_or(old.threshold),
            window_seconds: change.window_seconds.unwrap_or(old.window_seconds),
            group_by: change.group_by.unwrap_or(old.group_by),
            severity: change.severity.unwrap_or(old.severity),
            enabled: change.enabled.unwrap_or(old.enabled),
            cooldown_seconds: change.cooldown_seconds.unwrap_or(old.cooldown_seconds),
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

    /// The id under which the rule can be deleted.
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
