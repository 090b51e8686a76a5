//! Alert rules of a project.

mod changes;

use audit_alerts::{AlertRule, AlertRuleId, BuiltinRule, RuleOrigin, RuleSet, SuppressedAlerts};
use audit_domain::{Plan, ProjectId};
use audit_redact::Engine;

/// The rules of a project.
#[derive(Clone, Debug)]
pub struct AlertRules {
    /// The built-in rules, then the custom ones, oldest first.
    pub rules: Vec<AlertRule>,
    /// The alerts of the last minute in which the rules raised too many, if that is less than a week ago.
    pub suppressed_alerts: Option<SuppressedAlerts>,
}

/// The built-in rules with the settings of the project, then its custom rules, oldest first.
fn rules_of(stored: Vec<AlertRule>) -> Vec<AlertRule> {
    let is_custom = |rule: &AlertRule| matches!(rule.origin(), RuleOrigin::Custom { .. });
    let builtin = |builtin: &BuiltinRule| {
        let changed = stored
            .iter()
            .find(|rule| rule.id() == AlertRuleId::Builtin(*builtin));
        let unchanged = || AlertRule::builtin(*builtin);
        changed.cloned().unwrap_or_else(unchanged)
    };
    let mut rules: Vec<AlertRule> = BuiltinRule::ALL.iter().map(builtin).collect();
    rules.extend(stored.into_iter().filter(is_custom));
    rules
}

/// The rules that count a project's events. Custom ones need a paid plan. `identifiers` has the keys of the hashes that redaction may
/// have replaced identifiers by. The hashes of distinct values have a key of the project, made with the first of them.
pub(crate) fn compile_rules(
    project_id: ProjectId,
    stored: Vec<AlertRule>,
    plan: Plan,
    identifiers: &Engine,
) -> RuleSet {
    let rules = rules_of(stored);
    let in_all_forms = |rule: AlertRule| rule.in_all_forms(|id| identifiers.identifier_forms(id));
    let counts = |rule: &AlertRule| plan != Plan::Free || matches!(rule.origin(), RuleOrigin::Builtin(_));
    let mut forms = identifiers.identifier_forms(&format!("distinct values {project_id}"));
    RuleSet::new(rules.into_iter().filter(counts).map(in_all_forms)).with_value_key(forms.swap_remove(1))
}
