//! The enabled rules of a project, compiled for matching.

use crate::builtin::RulePattern;
use crate::matcher::Matcher;
use crate::rule::AlertRule;
use crate::watch::WatchingRule;
use audit_domain::{Facet, Facets};
use std::sync::Arc;

/// The enabled rules of a project. Compiled once per configuration and matched against each event.
#[derive(Clone, Debug)]
pub struct RuleSet {
    rules: Vec<Arc<WatchingRule>>,
    matcher: Matcher,
    /// For each pattern of the matcher, the index of its rule, ascending, and [`RulePattern::is_of_failures`].
    patterns: Vec<(usize, bool)>,
    /// The key of the hashes of distinct values.
    pub(crate) value_key: String,
}

impl RuleSet {
    /// The enabled ones among `rules`, in the same order.
    pub fn new(rules: impl IntoIterator<Item = AlertRule>) -> Self {
        let rules: Vec<Arc<WatchingRule>> = rules
            .into_iter()
            .filter(|rule| rule.definition().enabled)
            .map(|rule| Arc::new(WatchingRule::new(rule)))
            .collect();
        let patterns: Vec<(usize, RulePattern)> = rules
            .iter()
            .enumerate()
            .flat_map(|(index, rule)| {
                let patterns = rule.rule().patterns().into_iter();
                patterns.map(move |pattern| (index, pattern))
            })
            .collect();
        Self {
            matcher: Matcher::new(patterns.iter().map(|(_, pattern)| &pattern.glob)),
            rules,
            patterns: patterns
                .iter()
                .map(|(rule, pattern)| (*rule, pattern.is_of_failures))
                .collect(),
            value_key: String::new(),
        }
    }

    /// The same rules with a key for the hashes by which states know distinct values. All nodes need the same key. After a change of
    /// it, a value that was counted before counts once more in the running windows.
    #[must_use]
    pub fn with_value_key(self, value_key: String) -> Self {
        Self { value_key, ..self }
    }

    /// The number of rules.
    pub fn count(&self) -> usize {
        self.rules.len()
    }

    /// The rules whose patterns count an event with these fields, in order. Shared, so that a [`crate::Watch`] can keep its rule.
    pub(crate) fn matching(&self, event: &Facets<'_>) -> impl Iterator<Item = &Arc<WatchingRule>> {
        let action = event.get(Facet::Action).unwrap_or_default();
        let mut counted = None;
        let rules = self.matcher.matching(action).filter_map(move |pattern| {
            let (rule, is_of_failures) = self.patterns[pattern];
            // Several patterns of a rule are adjacent.
            let is_new = RulePattern::admits(is_of_failures, event) && counted != Some(rule);
            is_new.then(|| *counted.insert(rule))
        });
        rules.map(|rule| &self.rules[rule])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::BuiltinRule;
    use crate::rule::RuleChange;

    fn event(action: &'static str) -> Facets<'static> {
        Facets::default().with(Facet::Action, action)
    }

    #[test]
    fn disabled_rules_match_nothing() {
        let rules = |enabled| {
            let change = || RuleChange {
                enabled: Some(enabled),
                ..RuleChange::default()
            };
            let rule = |rule: &BuiltinRule| AlertRule::builtin(*rule).changed(change()).unwrap();
            RuleSet::new(BuiltinRule::ALL.iter().map(rule))
        };
        let ids: Vec<String> = rules(true)
            .matching(&event("user.role.updated"))
            .map(|rule| rule.rule().id().to_string())
            .collect();
        assert_eq!(ids, ["privilege_escalation_burst"]);
        assert_eq!(rules(false).matching(&event("user.role.updated")).count(), 0);
    }

    #[test]
    fn a_rule_counts_an_action_once_however_many_of_its_patterns_match() {
        let rules = RuleSet::new(BuiltinRule::ALL.iter().map(|rule| AlertRule::builtin(*rule)));
        let ids = |action: &'static str| -> Vec<String> {
            let event = event(action).with(Facet::Outcome, "failure");
            let rules = rules.matching(&event);
            rules.map(|rule| rule.rule().id().to_string()).collect()
        };
        for action in [
            "login.failed",
            "auth.login_failed",
            "auth.failed.login_failed",
            "user.login",
            "auth.failed.login",
        ] {
            assert_eq!(ids(action), ["auth_brute_force", "password_spraying"], "{action}");
        }
        assert_eq!(rules.count(), BuiltinRule::ALL.len());
    }
}
