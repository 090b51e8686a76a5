//! The conditions of alert rules.

use crate::schema::{Text, Word};
use audit_app::{RuleCondition, RuleConditions};
use audit_domain::{ActorType, Category, Fields, Outcome, limits};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Display;
use std::str::FromStr;

/// Conditions in a request.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ConditionsInput {
    /// Only events whose actor has one of these types; an empty list is no condition.
    #[schemars(length(max = RuleCondition::VALUES_MAX), extend("x-additive" = true))]
    actor_types: Option<Vec<Word<ActorType>>>,
    /// Only events of these categories; an empty list is no condition.
    #[schemars(length(max = RuleCondition::VALUES_MAX), extend("x-additive" = true))]
    categories: Option<Vec<Word<Category>>>,
    /// No events of these actors.
    #[schemars(length(max = RuleCondition::VALUES_MAX), extend("x-additive" = true))]
    not_actor_ids: Option<Vec<Text<1, { limits::ID_CHARS_MAX }>>>,
    /// Only events with one of these outcomes, none without an outcome; an empty list is no condition.
    #[schemars(length(max = RuleCondition::VALUES_MAX), extend("x-additive" = true))]
    outcomes: Option<Vec<Word<Outcome>>>,
}

/// Conditions of a rule; absent if the rule does not have it.
#[derive(Serialize, JsonSchema)]
pub(super) struct ConditionsBody {
    /// Only events whose actor has one of these types.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Word<ActorType>>", length(max = RuleCondition::VALUES_MAX), extend("x-additive" = true))]
    actor_types: Vec<String>,
    /// Only events of these categories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Word<Category>>", length(max = RuleCondition::VALUES_MAX), extend("x-additive" = true))]
    categories: Vec<String>,
    /// No events of these actors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Text<1, { limits::ID_CHARS_MAX }>>", length(max = RuleCondition::VALUES_MAX), extend("x-additive" = true))]
    not_actor_ids: Vec<String>,
    /// Only events with one of these outcomes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Word<Outcome>>", length(max = RuleCondition::VALUES_MAX), extend("x-additive" = true))]
    outcomes: Vec<String>,
}

impl From<&RuleConditions> for ConditionsBody {
    fn from(conditions: &RuleConditions) -> Self {
        let values = |of| conditions.values(of).into_iter().map(str::to_owned).collect();
        Self {
            actor_types: values(RuleCondition::ActorTypes),
            categories: values(RuleCondition::Categories),
            not_actor_ids: values(RuleCondition::NotActorIds),
            outcomes: values(RuleCondition::Outcomes),
        }
    }
}

/// The id of an actor, as in an event.
struct ActorId(String);

impl FromStr for ActorId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.chars().count() {
            1..=limits::ID_CHARS_MAX => Ok(Self(text.to_owned())),
            _ => Err(format!("must have 1 to {} characters", limits::ID_CHARS_MAX)),
        }
    }
}

/// The conditions that the request names.
pub(super) fn read_conditions(fields: &mut Fields<'_>) -> Vec<(RuleCondition, Vec<String>)> {
    fn words<T: FromStr<Err: Display> + Display>(fields: &mut Fields<'_>, name: &str) -> Option<Vec<String>> {
        let words: Vec<T> = fields.optional_list(name, RuleCondition::VALUES_MAX)?;
        Some(words.iter().map(T::to_string).collect())
    }
    let read = |of: &RuleCondition| {
        let name = of.as_str();
        let values = match of {
            RuleCondition::ActorTypes => words::<ActorType>(fields, name),
            RuleCondition::Categories => words::<Category>(fields, name),
            RuleCondition::Outcomes => words::<Outcome>(fields, name),
            RuleCondition::NotActorIds => {
                let ids: Option<Vec<ActorId>> = fields.optional_list(name, RuleCondition::VALUES_MAX);
                ids.map(|ids| ids.into_iter().map(|id| id.0).collect())
            }
        };
        values.map(|values| (*of, values))
    };
    RuleCondition::ALL.iter().filter_map(read).collect()
}
