//! Conditions of a rule beside its action pattern.

use audit_domain::{Condition, Facet, FacetValues, Facets, ValuePattern};
use std::collections::{BTreeMap, BTreeSet};

audit_domain::words! {
    /// A condition that a rule may have, by the name of its field. A new one is a row here, in [`RuleCondition::facet`] and in
    /// [`RuleCondition::excludes`]; storage, responses and the service's own events follow by loops.
    pub enum RuleCondition {
        /// Only events of these types of actors.
        ActorTypes = "actor_types",
        /// Only events of these categories.
        Categories = "categories",
        /// No event of these actors.
        NotActorIds = "not_actor_ids",
        /// Only events with one of these outcomes. An event without an outcome does not count.
        Outcomes = "outcomes",
    }
}

impl RuleCondition {
    /// The maximum number of values of a condition.
    pub const VALUES_MAX: usize = 50;

    /// The field of the event.
    pub const fn facet(self) -> Facet {
        match self {
            Self::ActorTypes => Facet::ActorType,
            Self::Categories => Facet::Category,
            Self::NotActorIds => Facet::ActorId,
            Self::Outcomes => Facet::Outcome,
        }
    }

    /// Whether an event with one of the values does not count, instead of only such an event.
    pub const fn excludes(self) -> bool {
        match self {
            Self::ActorTypes | Self::Categories | Self::Outcomes => false,
            Self::NotActorIds => true,
        }
    }

    const fn patterns(self, condition: &Condition) -> &BTreeSet<ValuePattern> {
        match self.excludes() {
            true => &condition.none_of,
            false => &condition.any_of,
        }
    }
}

/// The conditions of a rule, all of which an event must meet. Each is a [`Condition`] on a facet, as in a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleConditions(BTreeMap<Facet, Condition>);

impl RuleConditions {
    /// The values of a condition, in ascending order; empty if the rule does not have it.
    pub fn values(&self, of: RuleCondition) -> Vec<&str> {
        let patterns = self.0.get(&of.facet()).map(|condition| of.patterns(condition));
        let values = patterns
            .into_iter()
            .flatten()
            .filter_map(|pattern| match pattern {
                ValuePattern::Is(value) => Some(value.as_str()),
                ValuePattern::ActionPrefix(_) | ValuePattern::Within(_) => None,
            });
        values.collect()
    }

    /// Replaces the values of a condition. Without values the rule does not have it.
    #[must_use]
    pub fn with(mut self, of: RuleCondition, values: impl IntoIterator<Item = String>) -> Self {
        let condition = self.0.entry(of.facet()).or_default();
        let patterns = values.into_iter().map(ValuePattern::Is).collect();
        match of.excludes() {
            true => condition.none_of = patterns,
            false => condition.any_of = patterns,
        }
        if *condition == Condition::default() {
            self.0.remove(&of.facet());
        }
        self
    }

    /// Whether an event with these fields meets all of them.
    pub fn matches(&self, event: &Facets<'_>) -> bool {
        let is_met = |(facet, condition): (&Facet, &Condition)| condition.matches(event.get(*facet));
        self.0.iter().all(is_met)
    }

    /// With each identifier in all forms in which redaction may have stored it.
    #[must_use]
    pub fn in_all_forms(self, forms: impl Fn(&str) -> Vec<String>) -> Self {
        let in_forms = |(facet, condition): (Facet, Condition)| match facet.values() {
            FacetValues::Identifier => (facet, condition.in_all_forms(&forms)),
            _ => (facet, condition),
        };
        Self(self.0.into_iter().map(in_forms).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(of: RuleCondition, values: &[&str]) -> RuleConditions {
        RuleConditions::default().with(of, values.iter().map(|value| (*value).to_owned()))
    }

    fn event() -> Facets<'static> {
        Facets::default()
            .with(Facet::ActorId, "backup")
            .with(Facet::ActorType, "service")
            .with(Facet::Category, "access")
            .with(Facet::Outcome, "denied")
    }

    #[test]
    fn an_event_must_meet_every_condition() {
        use RuleCondition::{ActorTypes, Categories, NotActorIds, Outcomes};
        assert!(RuleConditions::default().matches(&event()));
        for (of, values, is_met) in [
            (ActorTypes, &["user", "service"][..], true),
            (ActorTypes, &["user"], false),
            (Categories, &["access"], true),
            (Categories, &["auth", "admin"], false),
            (NotActorIds, &["restore"], true),
            (NotActorIds, &["restore", "backup"], false),
            (Outcomes, &["failure", "denied"], true),
            (Outcomes, &["success"], false),
        ] {
            assert_eq!(
                conditions(of, values).matches(&event()),
                is_met,
                "{of} {values:?}"
            );
        }
        let both = conditions(ActorTypes, &["service"]).with(NotActorIds, ["backup".to_owned()]);
        assert!(!both.matches(&event()));
        let without = Facets::default().with(Facet::ActorId, "u1");
        assert!(!conditions(Outcomes, &["success", "failure", "denied"]).matches(&without));
    }

    #[test]
    fn values_are_read_as_set_and_none_is_no_condition() {
        for of in RuleCondition::ALL {
            let some = conditions(*of, &["b", "a", "b"]);
            assert_eq!(some.values(*of), ["a", "b"]);
            assert_eq!(some.with(*of, []), RuleConditions::default());
        }
    }

    #[test]
    fn an_actor_is_excluded_in_every_form() {
        let forms = |id: &str| vec![id.to_owned(), format!("hash of {id}")];
        let by_id = conditions(RuleCondition::NotActorIds, &["jane"]).in_all_forms(forms);
        assert!(!by_id.matches(&event().with(Facet::ActorId, "hash of jane")));
        assert!(!by_id.matches(&event().with(Facet::ActorId, "jane")));
        let by_type = conditions(RuleCondition::ActorTypes, &["user"]);
        assert_eq!(by_type.clone().in_all_forms(forms), by_type);
    }
}
