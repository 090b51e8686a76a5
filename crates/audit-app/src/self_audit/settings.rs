//! What the service's events say about the settings of an object, before and after a change.
//!
//! Each function takes its object apart without `..`, so that a new setting does not compile until it is decided whether it
//! may be shown.

use crate::destinations::Destination;
use crate::portal::{Logo, Portal};
use crate::webhooks::Webhook;
use audit_alerts::{AlertRule, RuleCondition, RuleDefinition};
use audit_domain::{ActionLabel, Change, Hold, KeyLimits, KeyScope, RetentionPolicy, ViewerTier};
use audit_store::{Key, Project, RedactionRuleRow};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// The longest value that is shown, in characters of JSON: an event must stay small.
const VALUE_CHARS_MAX: usize = 4_000;

/// Settings by name. `null` is a setting that limits nothing.
pub(super) type Settings = BTreeMap<&'static str, Value>;

/// The settings that differ. Long values are not shown.
pub(super) fn changes(before: Settings, after: Settings) -> Vec<Change> {
    differences(before, after, shown)
}

/// The settings that differ, each whole: verifiers and the service read them.
pub(super) fn whole_changes(before: Settings, after: Settings) -> Vec<Change> {
    differences(before, after, |value| value)
}

fn differences(mut before: Settings, mut after: Settings, shown: fn(Value) -> Value) -> Vec<Change> {
    let present = |value: Option<Value>| value.filter(|value| !value.is_null());
    let fields: BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
    let change = |field: &'static str| {
        let (before, after) = (present(before.remove(field)), present(after.remove(field)));
        (before != after).then(|| Change {
            field: field.to_owned(),
            before: before.map(shown),
            after: after.map(shown),
        })
    };
    fields.into_iter().filter_map(change).collect()
}

fn shown(value: Value) -> Value {
    match value.to_string().chars().count() {
        0..=VALUE_CHARS_MAX => value,
        chars => json!(format!("{chars} characters, not shown")),
    }
}

pub(super) fn text_or_null(value: Option<impl Display>) -> Value {
    value.map_or(Value::Null, |value| json!(value.to_string()))
}

fn texts<T: Display>(values: &[T]) -> Value {
    values.iter().map(ToString::to_string).collect()
}

fn texts_or_null<T: Display>(values: Option<&[T]>) -> Value {
    values.map_or(Value::Null, texts)
}

/// Scheme, host and port of a URL. Receivers often put a secret into the path.
pub(super) fn origin_of_url(url: &str) -> String {
    let authority_at = url.find("://").map_or(0, |at| at + "://".len());
    let end = url[authority_at..].find(['/', '?', '#', '\\']);
    url[..end.map_or(url.len(), |end| authority_at + end)].to_owned()
}

pub(super) fn of_key(key: &Key) -> Settings {
    let Key {
        id: _,
        organization_id: _,
        project,
        name,
        prefix: _,
        created_at: _,
        last_used_at: _,
        last_used_from: _,
        revoked_at: _,
        sessions_ended: _,
        limits,
    } = key;
    let KeyLimits {
        expires_at,
        scopes,
        networks,
    } = limits;
    let scopes = scopes.map(|scopes| scopes.iter().collect::<Vec<KeyScope>>());
    Settings::from([
        ("name", json!(name)),
        (
            "environment",
            text_or_null(project.map(|(_, environment)| environment)),
        ),
        ("expires_at", text_or_null(*expires_at)),
        ("scopes", texts_or_null(scopes.as_deref())),
        ("networks", texts_or_null(networks.as_deref())),
    ])
}

/// An archived project has an event of its own.
pub(super) fn of_project(project: &Project) -> Settings {
    let Project {
        id: _,
        organization_id: _,
        name,
        created_at: _,
        archived_at: _,
        metadata_filter_paths,
    } = project;
    Settings::from([
        ("name", json!(name)),
        ("metadata_filter_paths", texts(metadata_filter_paths)),
    ])
}

/// A logo is shown by its hash, because the image is too large.
pub(super) fn of_portal(portal: &Portal) -> Settings {
    let Portal {
        name,
        logo,
        destination_kinds,
        sign_in_url,
    } = portal;
    let digest = |logo: &Logo| {
        let hash = Sha256::digest(logo.to_string());
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{hex}")
    };
    Settings::from([
        ("name", text_or_null(name.as_ref())),
        ("logo", text_or_null(logo.as_ref().map(digest))),
        ("destination_kinds", texts_or_null(destination_kinds.as_deref())),
        ("sign_in_url", text_or_null(sign_in_url.as_ref())),
    ])
}

pub(super) fn of_action_label(label: &ActionLabel) -> Settings {
    let ActionLabel { icon, languages: _ } = label;
    Settings::from([
        ("icon", text_or_null(*icon)),
        ("languages", label.to_json()["languages"].take()),
    ])
}

pub(super) fn of_redaction_rule(rule: &RedactionRuleRow) -> Settings {
    let RedactionRuleRow {
        id: _,
        kind,
        name,
        pattern,
        fields,
        behavior,
        enabled,
        created_at: _,
    } = rule;
    Settings::from([
        ("type", json!(kind)),
        ("name", json!(name)),
        ("pattern", text_or_null(pattern.as_ref())),
        ("fields", texts_or_null(fields.as_deref())),
        ("behavior", json!(behavior)),
        ("enabled", json!(enabled)),
    ])
}

pub(super) fn of_alert_rule(rule: &AlertRule) -> Settings {
    let RuleDefinition {
        name,
        action_pattern,
        threshold,
        window_seconds,
        group_by,
        count_distinct,
        severity,
        enabled,
        cooldown_seconds,
        conditions,
    } = rule.definition();
    let of_condition = |of: &RuleCondition| {
        let values = Some(conditions.values(*of)).filter(|values| !values.is_empty());
        (of.as_str(), json!(values))
    };
    let settings = Settings::from([
        ("name", json!(name.as_str())),
        ("action_pattern", json!(action_pattern.to_string())),
        ("threshold", json!(threshold.get())),
        ("window_seconds", json!(window_seconds.get())),
        ("group_by", json!(group_by.as_str())),
        ("count_distinct", text_or_null(*count_distinct)),
        ("severity", json!(severity.as_str())),
        ("enabled", json!(enabled)),
        ("cooldown_seconds", json!(cooldown_seconds.get())),
    ]);
    let conditions = RuleCondition::ALL.iter().map(of_condition);
    settings.into_iter().chain(conditions).collect()
}

pub(super) fn of_tier(tier: &ViewerTier) -> Settings {
    let ViewerTier {
        name: _,
        categories,
        actions,
        hidden_fields,
        routes,
    } = tier;
    Settings::from([
        ("categories", texts_or_null(categories.as_deref())),
        ("actions", texts_or_null(actions.as_deref())),
        ("hidden_fields", texts(hidden_fields)),
        ("routes", texts_or_null(routes.as_deref())),
    ])
}

pub(super) fn of_webhook(webhook: &Webhook) -> Settings {
    let Webhook {
        id: _,
        url,
        format,
        enabled,
        created_at: _,
        secret: _,
    } = webhook;
    Settings::from([
        ("url", json!(origin_of_url(url))),
        ("format", json!(format.as_str())),
        ("enabled", json!(enabled)),
    ])
}

/// Of where the events go, only the host: settings may hold what protects a receiver, such as a path. A pause and new credentials have
/// events of their own, and each event has the environment.
pub(super) fn of_destination(destination: &Destination) -> Settings {
    let Destination {
        id: _,
        environment: _,
        name,
        kind,
        format,
        include_raw,
        ocsf_classes,
        filter,
        settings: _,
        credentials,
        host,
        paused: _,
        created_at: _,
        created_by_tenant: _,
        has_previous_credentials: _,
        signing_secret: _,
    } = destination;
    Settings::from([
        ("name", json!(name)),
        ("kind", json!(kind.as_str())),
        ("format", json!(format.as_str())),
        ("include_raw", json!(include_raw)),
        ("ocsf_classes", ocsf_classes.to_json()),
        ("filter", filter.to_json()),
        ("host", json!(host)),
        ("credentials", json!(credentials)),
    ])
}

pub(super) fn of_policy(policy: &RetentionPolicy) -> Settings {
    let RetentionPolicy {
        days,
        categories,
        preset,
        archive,
    } = policy;
    Settings::from([
        ("days", json!(days)),
        (
            "categories",
            json!(Some(categories).filter(|categories| !categories.is_empty())),
        ),
        ("preset", text_or_null(preset.as_ref())),
        ("archive", json!(Some(archive).filter(|archive| **archive))),
    ])
}

/// The conditions of a hold. Readers of the log compute from them which events it covers.
pub(super) fn of_hold(hold: &Hold) -> Settings {
    let Hold {
        hold: _,
        reason: _,
        tenant_id,
        actor_id,
        target_id,
        from,
        to,
    } = hold;
    let forms = |ids: &Vec<String>| json!(Some(ids).filter(|ids| !ids.is_empty()));
    Settings::from([
        ("tenant_id", forms(tenant_id)),
        ("actor_id", forms(actor_id)),
        ("target_id", forms(target_id)),
        ("from", text_or_null(*from)),
        ("to", text_or_null(*to)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_a_change() {
        let before = Settings::from([
            ("kept", json!(1)),
            ("changed", json!(1)),
            ("unlimited", Value::Null),
        ]);
        let after = Settings::from([
            ("kept", json!(1)),
            ("changed", json!(2)),
            ("unlimited", json!(["a"])),
        ]);
        let changes = changes(before, after);
        let of = |field: &str| {
            let change = changes.iter().find(|change| change.field == field).unwrap();
            (change.before.clone(), change.after.clone())
        };
        assert_eq!(changes.len(), 2, "{changes:?}");
        assert_eq!(of("changed"), (Some(json!(1)), Some(json!(2))));
        assert_eq!(of("unlimited"), (None, Some(json!(["a"]))));
    }

    #[test]
    fn a_large_value_is_not_shown() {
        let (at, past) = ("a".repeat(VALUE_CHARS_MAX - 2), "a".repeat(VALUE_CHARS_MAX - 1));
        assert_eq!(shown(json!(at)), json!(at));
        assert_eq!(shown(json!(past)), json!("4001 characters, not shown"));
    }

    #[test]
    fn of_a_url_only_the_origin_is_shown() {
        for (url, origin) in [
            (
                "https://hooks.example.com/services/T0/B0/secret",
                "https://hooks.example.com",
            ),
            (
                "https://example.com:8443?token=secret",
                "https://example.com:8443",
            ),
            ("https://example.com#secret", "https://example.com"),
            ("https://example.com", "https://example.com"),
        ] {
            assert_eq!(origin_of_url(url), origin);
        }
    }
}
