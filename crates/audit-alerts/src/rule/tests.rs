use super::*;

fn builtin() -> AlertRule {
    AlertRule::builtin(BuiltinRule::AuthBruteForce)
}

fn custom() -> AlertRule {
    let definition = BuiltinRule::AuthBruteForce.definition();
    AlertRule::custom(
        RuleId::from_random([7; 16]),
        Timestamp::from_seconds(1_768_473_000),
        definition,
    )
}

/// For each field, its name and a change to another value.
fn changes() -> Vec<(&'static str, RuleChange)> {
    let none = RuleChange::default;
    let threshold = Threshold::try_from(10).ok();
    let cooldown_seconds = CooldownSeconds::try_from(0).ok();
    vec![
        (
            "name",
            RuleChange {
                name: "n".parse().ok(),
                ..none()
            },
        ),
        (
            "action_pattern",
            RuleChange {
                action_pattern: "*".parse().ok(),
                ..none()
            },
        ),
        ("threshold", RuleChange { threshold, ..none() }),
        (
            "window_seconds",
            RuleChange {
                window_seconds: Some(WindowSeconds::MAX),
                ..none()
            },
        ),
        (
            "group_by",
            RuleChange {
                group_by: Some(GroupBy::TenantId),
                ..none()
            },
        ),
        (
            "count_distinct",
            RuleChange {
                count_distinct: Some(Some(DistinctField::IpAddress)),
                ..none()
            },
        ),
        (
            "severity",
            RuleChange {
                severity: Some(Severity::Low),
                ..none()
            },
        ),
        (
            "enabled",
            RuleChange {
                enabled: Some(false),
                ..none()
            },
        ),
        (
            "cooldown_seconds",
            RuleChange {
                cooldown_seconds,
                ..none()
            },
        ),
        (
            "not_actor_ids",
            RuleChange {
                conditions: vec![(RuleCondition::NotActorIds, vec!["backup".to_owned()])],
                ..none()
            },
        ),
    ]
}

#[test]
fn every_field_of_a_custom_rule_can_change_and_each_change_is_an_edit() {
    for (field, change) in changes() {
        let edited = custom().changed(change).unwrap();
        assert_ne!(edited.definition(), custom().definition(), "{field}");
        assert_eq!(edited.revision(), Revision::from_number(1), "{field}");
        assert_eq!(edited.origin(), custom().origin(), "{field}");
    }
}

#[test]
fn the_identity_of_a_built_in_rule_cannot_change() {
    for (field, change) in changes() {
        let edited = builtin().changed(change);
        if ["name", "action_pattern", "group_by", "count_distinct", "severity"].contains(&field) {
            let rule = BuiltinRule::AuthBruteForce;
            assert_eq!(edited, Err(BuiltinRuleError::FixedField { rule, field }));
        } else {
            assert_eq!(edited.unwrap().revision(), Revision::from_number(1));
        }
    }
}

#[test]
fn a_rule_counts_distinct_values_of_another_field_than_its_group_up_to_a_threshold() {
    let contradiction = |group_by, field, threshold: u32| {
        let definition = RuleDefinition {
            group_by,
            count_distinct: Some(field),
            threshold: i64::from(threshold).try_into().unwrap(),
            ..BuiltinRule::AuthBruteForce.definition()
        };
        definition.contradiction().map(RuleContradiction::field)
    };
    let most = DISTINCT_THRESHOLD_MAX;
    assert_eq!(
        contradiction(GroupBy::IpAddress, DistinctField::ActorId, most),
        None
    );
    assert_eq!(
        contradiction(GroupBy::IpAddress, DistinctField::ActorId, most + 1),
        Some("threshold")
    );
    assert_eq!(
        contradiction(GroupBy::ActorId, DistinctField::ActorId, 2),
        Some("count_distinct")
    );
    for rule in BuiltinRule::ALL {
        assert_eq!(rule.definition().contradiction(), None, "{rule}");
    }
}

#[test]
fn a_fixed_field_is_refused_even_with_its_present_value() {
    let change = RuleChange {
        severity: Some(builtin().definition().severity),
        enabled: Some(false),
        ..RuleChange::default()
    };
    assert_eq!(
        builtin().changed(change).unwrap_err().to_string(),
        "severity of the built-in rule auth_brute_force cannot change, only threshold, window_seconds, cooldown_seconds, \
         enabled and conditions can"
    );
}

#[test]
fn a_change_to_the_present_values_is_not_an_edit() {
    let rule = custom().at_revision(Revision::from_number(4));
    let change = RuleChange {
        enabled: Some(true),
        threshold: Some(rule.definition().threshold),
        ..RuleChange::default()
    };
    assert_eq!(rule.changed(change), Ok(rule.clone()));
    assert_eq!(rule.changed(RuleChange::default()), Ok(rule));
}

#[test]
fn only_custom_rules_can_be_deleted() {
    assert_eq!(custom().deletable(), Ok(RuleId::from_random([7; 16])));
    assert_eq!(
        builtin().deletable().unwrap_err().to_string(),
        "the built-in rule auth_brute_force cannot be deleted, set enabled to false instead"
    );
}

#[test]
fn rule_ids_are_words_or_uuids() {
    for rule in [builtin(), custom()] {
        assert_eq!(rule.id().to_string().parse(), Ok(rule.id()));
    }
    assert!("auth_brute".parse::<AlertRuleId>().is_err());
}
