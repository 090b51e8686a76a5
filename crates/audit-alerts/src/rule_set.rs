//! The enabled rules of a project, compiled for matching.

use crate::matcher::Matcher;
use crate::rule::AlertRule;
use crate::watch::WatchingRule;
use audit_domain::ActionGlob;
use std::sync::Arc;

/// The enabled rules of a project. Compiled once per configuration and matched against each event.
#[derive(Clone, Debug)]
pub struct RuleSet {
    rules: Vec<Arc<WatchingRule>>,
    matcher: Matcher,
    /// For each pattern of the matcher, the index of its rule. Ascending.
    rule_of_pattern: Vec<usize>,
}

impl RuleSet {
    /// The enabled ones among `rules`, in the same order.
    pub fn new(rules: impl IntoIterator<Item = AlertRule>) -> Self {
        let rules: Vec<Arc<WatchingRule>> = rules
            .into_iter()
            .filter(|rule| rule.definition().enabled)
            .map(|rule| Arc::new(WatchingRule::new(rule)))
            .collect();
        let patterns = rules.iter().enumerate().flat_map(|(index, rule)| {
            let patterns = rule.rule().action_patterns().into_iter();
            patterns.map(move |pattern| (index, pattern))
        });
        let (rule_of_pattern, patterns): (Vec<usize>, Vec<ActionGlob>) = patterns.unzip();
        Self {
            matcher: Matcher::new(&patterns),
            rules,
            rule_of_pattern,
        }
    }

    /// The number of rules.
    pub fn count(&self) -> usize {
        self.rules.len()
    }

    /// The rules that count events of this action, in order. Shared, so that a [`crate::Watch`] can keep its rule.
    pub(crate) fn matching(&self, action: &str) -> impl Iterator<Item = &Arc<WatchingRule>> {
        let mut counted = None;
        let rules = self.matcher.matching(action).filter_map(move |pattern| {
            let rule = self.rule_of_pattern[pattern];
            // Several patterns of a rule are adjacent.
            (counted.replace(rule) != Some(rule)).then_some(rule)
        });
        rules.map(|rule| &self.rules[rule])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::BuiltinRule;
    use crate::rule::RuleChange;

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
            .matching("user.role.updated")
            .map(|rule| rule.rule().id().to_string())
            .collect();
        assert_eq!(ids, ["privilege_escalation_burst"]);
        assert_eq!(rules(false).matching("user.role.updated").count(), 0);
    }
    #[test]
    fn a_rule_counts_an_action_once_however_many_of_its_patterns_match() {
        let rules = RuleSet::new(BuiltinRule::ALL.iter().map(|rule| AlertRule::builtin(*rule)));
        let ids = |action: &str| -> Vec<String> {
            let rules = rules.matching(action);
            rules.map(|rule| rule.rule().id().to_string()).collect()
        };
        for action in ["login.failed", "auth.login_failed", "auth.failed.login_failed"] {
            assert_eq!(ids(action), ["auth_brute_force"], "{action}");
        }
        assert_eq!(rules.count(), BuiltinRule::ALL.len());
    }
}
