//! The enabled rules of a project, compiled for matching.

use crate::matcher::Matcher;
use crate::rule::AlertRule;
use crate::watch::WatchingRule;
use std::sync::Arc;

/// The enabled rules of a project. Compiled once per configuration and matched against each event.
#[derive(Clone, Debug)]
pub struct RuleSet {
    rules: Vec<Arc<WatchingRule>>,
    matcher: Matcher,
}

impl RuleSet {
    /// The enabled ones among `rules`, in the same order.
    pub fn new(rules: impl IntoIterator<Item = AlertRule>) -> Self {
        let rules: Vec<Arc<WatchingRule>> = rules
            .into_iter()
            .filter(|rule| rule.definition().enabled)
            .map(|rule| Arc::new(WatchingRule::new(rule)))
            .collect();
        let matcher = Matcher::new(rules.iter().map(|rule| &rule.rule().definition().action_pattern));
        Self { rules, matcher }
    }

    /// The number of rules.
    pub fn count(&self) -> usize {
        self.rules.len()
    }

    /// The rules that count events of this action, in order. Shared, so that a [`crate::Watch`] can keep its rule.
    pub(crate) fn matching(&self, action: &str) -> impl Iterator<Item = &Arc<WatchingRule>> {
        self.matcher.matching(action).map(|index| &self.rules[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::CooldownSeconds;
    use crate::builtin::BuiltinRule;

    #[test]
    fn disabled_rules_match_nothing() {
        let rules = |enabled| {
            RuleSet::new(
                BuiltinRule::ALL
                    .iter()
                    .map(|rule| AlertRule::builtin(*rule, enabled, CooldownSeconds::default())),
            )
        };
        let ids: Vec<String> = rules(true)
            .matching("user.role.updated")
            .map(|rule| rule.rule().id().to_string())
            .collect();
        assert_eq!(ids, ["privilege_escalation_burst"]);
        assert_eq!(rules(false).matching("user.role.updated").count(), 0);
    }
}
