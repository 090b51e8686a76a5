//! The built-in rules, which every project has.

use crate::bounds::{CooldownSeconds, Threshold, WindowSeconds};
use crate::conditions::RuleConditions;
use crate::group::{DistinctField, GroupBy};
use crate::rule::RuleDefinition;
use crate::severity::Severity;
use audit_domain::{ActionGlob, Facet, Facets, Outcome};
use std::fmt;

/// A rule that every project has. It can be disabled but not deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BuiltinRule {
    /// Failed sign-ins of one actor.
    AuthBruteForce,
    /// Failed sign-ins of many actors from one network address.
    PasswordSpraying,
    /// Role changes by one actor.
    PrivilegeEscalationBurst,
    /// API keys created by one actor.
    RapidApiKeyCreation,
    /// Exports by one actor.
    BulkDataExport,
    /// Deletions in one tenant.
    AccountDeletionSpike,
    /// Plans and removals of retention and of erasures, and the end of holds.
    Retention,
}

/// Patterns of actions that are failed sign-ins by their name, whatever precedes it: as its last name (`login_failed`) or its last two
/// (`login.failed`).
const FAILED_LOGINS: &[&str] = &["login.failed", "*.login.failed", "*.login_failed"];

/// Actions that lead to a removal of events or of parts of them, beside those of retention itself.
const REMOVALS: &[&str] = &[
    "audit.hold.released",
    "audit.events.removed",
    "audit.erasure.planned",
    "audit.events.erased",
];

/// Patterns of sign-ins, which fail by their outcome.
const LOGINS: &[&str] = &["*.login", "*.logged_in", "*.sign_in", "*.signed_in", "*.signin"];

/// A pattern of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RulePattern {
    pub(crate) glob: ActionGlob,
    /// Whether an event counts only if its outcome says that the action failed.
    pub(crate) is_of_failures: bool,
}

impl RulePattern {
    /// Whether an event with these fields, whose action matches the pattern, counts.
    pub(crate) fn admits(is_of_failures: bool, event: &Facets<'_>) -> bool {
        let failures = [Outcome::Failure, Outcome::Denied].map(Outcome::as_str);
        !is_of_failures
            || event
                .get(Facet::Outcome)
                .is_some_and(|outcome| failures.contains(&outcome))
    }
}

/// One line of the table of built-in rules.
struct Line {
    id: &'static str,
    name: &'static str,
    action_pattern: &'static str,
    threshold: Threshold,
    window_seconds: WindowSeconds,
    group_by: GroupBy,
    severity: Severity,
}

impl BuiltinRule {
    /// Every built-in rule, in the order of listings.
    pub const ALL: &'static [Self] = &[
        Self::AuthBruteForce,
        Self::PasswordSpraying,
        Self::PrivilegeEscalationBurst,
        Self::RapidApiKeyCreation,
        Self::BulkDataExport,
        Self::AccountDeletionSpike,
        Self::Retention,
    ];

    /// The id of the rule, for example `auth_brute_force`.
    pub const fn id(self) -> &'static str {
        self.line().id
    }

    /// The rule with this id.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.id() == id)
    }

    /// The rule as in a new project: enabled, with the default cooldown.
    pub fn definition(self) -> RuleDefinition {
        let line = self.line();
        RuleDefinition {
            name: line.name.parse().expect("a built-in rule has a valid name"),
            action_pattern: line
                .action_pattern
                .parse()
                .expect("a built-in rule has a valid pattern"),
            threshold: line.threshold,
            window_seconds: line.window_seconds,
            group_by: line.group_by,
            count_distinct: self.count_distinct(),
            severity: line.severity,
            enabled: true,
            cooldown_seconds: CooldownSeconds::default(),
            conditions: RuleConditions::default(),
        }
    }

    /// The patterns that the rule has beside the `action_pattern` of its definition: an action that one of them matches counts too.
    pub const fn further_action_patterns(self) -> &'static [&'static str] {
        match self {
            Self::AuthBruteForce | Self::PasswordSpraying => FAILED_LOGINS,
            Self::Retention => REMOVALS,
            _ => &[],
        }
    }

    /// The patterns of actions that count if the outcome of the event is `failure` or `denied`.
    pub const fn failed_action_patterns(self) -> &'static [&'static str] {
        match self.counts_logins() {
            true => LOGINS,
            false => &[],
        }
    }

    const fn counts_logins(self) -> bool {
        matches!(self, Self::AuthBruteForce | Self::PasswordSpraying)
    }

    const fn count_distinct(self) -> Option<DistinctField> {
        match self {
            Self::PasswordSpraying => Some(DistinctField::ActorId),
            _ => None,
        }
    }

    /// All its patterns.
    pub(crate) fn patterns(self) -> Vec<RulePattern> {
        let pattern = |is_of_failures| {
            move |text: &&str| RulePattern {
                glob: text.parse().expect("a built-in rule has valid patterns"),
                is_of_failures,
            }
        };
        let named = [&[self.line().action_pattern], self.further_action_patterns()].concat();
        let named = named.iter().map(pattern(false));
        let failed = self.failed_action_patterns().iter().map(pattern(true));
        named.chain(failed).collect()
    }

    /// Whether an event with these fields is one that the rule counts, before its conditions.
    pub(crate) fn counts(self, event: &Facets<'_>) -> bool {
        let action = event.get(Facet::Action).unwrap_or_default();
        let is_counted = |pattern: &RulePattern| {
            pattern.glob.matches(action) && RulePattern::admits(pattern.is_of_failures, event)
        };
        self.patterns().iter().any(is_counted)
    }

    const fn line(self) -> Line {
        let (id, name, action_pattern, threshold, seconds, group_by, severity) = match self {
            Self::AuthBruteForce => (
                "auth_brute_force",
                "Auth Brute Force",
                "auth.failed*",
                5,
                300,
                GroupBy::ActorId,
                Severity::High,
            ),
            Self::PasswordSpraying => (
                "password_spraying",
                "Password Spraying",
                "auth.failed*",
                5,
                300,
                GroupBy::IpAddress,
                Severity::High,
            ),
            Self::PrivilegeEscalationBurst => (
                "privilege_escalation_burst",
                "Privilege Escalation Burst",
                "*.role.updated",
                3,
                600,
                GroupBy::ActorId,
                Severity::Critical,
            ),
            Self::RapidApiKeyCreation => (
                "rapid_api_key_creation",
                "Rapid API Key Creation",
                "*.api_key.created",
                3,
                300,
                GroupBy::ActorId,
                Severity::Medium,
            ),
            Self::BulkDataExport => (
                "bulk_data_export",
                "Bulk Data Export",
                "*.exported",
                5,
                600,
                GroupBy::ActorId,
                Severity::Medium,
            ),
            Self::AccountDeletionSpike => (
                "account_deletion_spike",
                "Account Deletion Spike",
                "*.deleted",
                5,
                600,
                GroupBy::TenantId,
                Severity::High,
            ),
            Self::Retention => (
                "retention",
                "Retention",
                "audit.retention.*",
                1,
                60,
                GroupBy::ActorId,
                Severity::High,
            ),
        };
        Line {
            id,
            name,
            action_pattern,
            threshold: Threshold::known(threshold),
            window_seconds: WindowSeconds::known(seconds),
            group_by,
            severity,
        }
    }
}

impl fmt::Display for BuiltinRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table in the documentation of the service.
    const TABLE: &str = "\
auth_brute_force · auth.failed* · 5 in 300 s · actor_id · high
password_spraying · auth.failed* · 5 actor_id in 300 s · ip_address · high
privilege_escalation_burst · *.role.updated · 3 in 600 s · actor_id · critical
rapid_api_key_creation · *.api_key.created · 3 in 300 s · actor_id · medium
bulk_data_export · *.exported · 5 in 600 s · actor_id · medium
account_deletion_spike · *.deleted · 5 in 600 s · tenant_id · high
retention · audit.retention.* · 1 in 60 s · actor_id · high
";

    #[test]
    fn the_built_in_rules_are_those_of_the_table() {
        let mut table = String::new();
        for rule in BuiltinRule::ALL {
            let RuleDefinition {
                action_pattern,
                threshold,
                window_seconds,
                group_by,
                count_distinct,
                severity,
                enabled,
                cooldown_seconds,
                ..
            } = rule.definition();
            let counted = count_distinct.map_or(String::new(), |field| format!(" {field}"));
            table += &format!(
                "{rule} · {action_pattern} · {threshold}{counted} in {window_seconds} s · {group_by} · {severity}\n"
            );
            assert!(enabled);
            assert_eq!(cooldown_seconds.get(), 3_600);
        }
        assert_eq!(table, TABLE);
    }

    #[test]
    fn a_brute_force_is_of_actions_that_end_in_a_failed_login() {
        let counts = |action: &'static str| {
            let event = Facets::default().with(Facet::Action, action);
            BuiltinRule::AuthBruteForce.counts(&event)
        };
        for action in [
            "auth.failed",
            "auth.failed_totp",
            "auth.login_failed",
            "auth.login.failed",
            "user.login.failed",
            "login.failed",
            "user.login_failed",
        ] {
            assert!(counts(action), "{action}");
        }
        for action in [
            "login.failed_over",
            "user.login_failed_over",
            "user.login.failed.over",
            "relogin.failed",
            "user.relogin_failed",
            "user.logins_failed",
            "job.failed",
        ] {
            assert!(!counts(action), "{action}");
        }
    }

    #[test]
    fn a_brute_force_is_also_of_logins_whose_outcome_is_a_failure() {
        let counts = |action: &'static str, outcome: Option<&'static str>| {
            let event = Facets::default().with(Facet::Action, action);
            let event = match outcome {
                Some(outcome) => event.with(Facet::Outcome, outcome),
                None => event,
            };
            BuiltinRule::AuthBruteForce.counts(&event)
        };
        for action in [
            "user.login",
            "auth.login",
            "user.logged_in",
            "sso.sign_in",
            "user.signed_in",
            "user.signin",
        ] {
            assert!(counts(action, Some("failure")), "{action}");
            assert!(counts(action, Some("denied")), "{action}");
            assert!(!counts(action, Some("success")), "{action}");
            assert!(!counts(action, None), "{action}");
        }
        assert!(counts("auth.failed", None));
        for action in ["user.relogin", "user.logins", "invoice.deleted"] {
            assert!(!counts(action, Some("failure")), "{action}");
        }
    }

    #[test]
    fn a_plan_a_removal_an_erasure_and_the_end_of_a_hold_are_of_retention() {
        let counts = |action: &'static str| {
            let event = Facets::default().with(Facet::Action, action);
            BuiltinRule::Retention.counts(&event)
        };
        for action in [
            "audit.retention.changed",
            "audit.retention.planned",
            "audit.events.removed",
            "audit.hold.released",
            "audit.erasure.planned",
            "audit.events.erased",
        ] {
            assert!(counts(action), "{action}");
        }
        for action in [
            "audit.hold.placed",
            "audit.erasure.requested",
            "audit.erasure.cancelled",
            "audit.events.exported",
            "user.retention.changed",
        ] {
            assert!(!counts(action), "{action}");
        }
    }

    #[test]
    fn a_built_in_rule_is_found_by_its_id() {
        for rule in BuiltinRule::ALL {
            assert_eq!(BuiltinRule::from_id(rule.id()), Some(*rule));
        }
        assert_eq!(BuiltinRule::from_id("Auth Brute Force"), None);
        assert_eq!(
            BuiltinRule::AuthBruteForce.definition().name.as_str(),
            "Auth Brute Force"
        );
    }
}
