//! The version of the configuration: it rises once per transaction that changes cached data, and not otherwise.

use crate::{NOW, create_project, open};
use audit_alerts::{AlertRule, CooldownSeconds, GroupBy, RuleDefinition, Severity};
use audit_domain::{Environment, KeyId, OrganizationId, Plan, ProjectId, RuleId, ViewerTier};
use audit_store::{Configurator, Key, RedactionRuleRow, Store, StoreError, WebhookRow};

const ORGANIZATION: [u8; 16] = [1; 16];

/// One step of a transaction that may change the configuration.
type Step = fn(&mut Configurator<'_>, ProjectId) -> Result<(), StoreError>;

fn version(store: &Store) -> i64 {
    store
        .read(|reader| reader.configuration_version())
        .expect("the version is read")
}

fn organization_id() -> OrganizationId {
    OrganizationId::from_random(ORGANIZATION)
}

fn key_id(number: u8) -> KeyId {
    KeyId::from_random([number; 16])
}

fn key(number: u8, project_id: ProjectId) -> Key {
    Key {
        id: key_id(number),
        organization_id: organization_id(),
        project: Some((project_id, Environment::Live)),
        name: "k".to_owned(),
        prefix: "p".to_owned(),
        created_at: NOW,
        last_used_at: None,
        revoked_at: None,
    }
}

fn redaction_rule() -> RedactionRuleRow {
    RedactionRuleRow {
        id: "r".to_owned(),
        kind: "pattern".to_owned(),
        name: "n".to_owned(),
        pattern: Some("p".to_owned()),
        fields: None,
        behavior: "redact".to_owned(),
        enabled: true,
        created_at: NOW,
    }
}

fn alert_rule() -> AlertRule {
    let definition = RuleDefinition {
        name: "every third".parse().expect("a valid value"),
        action_pattern: "a.b".parse().expect("a valid value"),
        threshold: 3.try_into().expect("a valid value"),
        window_seconds: 3_600.try_into().expect("a valid value"),
        group_by: GroupBy::TenantId,
        severity: Severity::High,
        enabled: true,
        cooldown_seconds: CooldownSeconds::try_from(0).expect("a valid value"),
    };
    AlertRule::custom(RuleId::from_random([7; 16]), NOW, definition)
}

fn tier() -> ViewerTier {
    ViewerTier::initial().into_iter().next().expect("a tier")
}

fn webhook(project_id: ProjectId, url: &str, enabled: bool) -> WebhookRow {
    WebhookRow {
        id: "w".to_owned(),
        project_id: project_id.to_string(),
        url: url.to_owned(),
        enabled,
        created_at: 0,
    }
}

const URL: &str = "https://a.example/";
const OTHER_URL: &str = "https://b.example/";

/// The methods of the configurator, in an order in which each finds the rows it needs: the call, whether it raises the
/// version, and the step.
const STEPS: [(&str, bool, Step); 34] = [
    ("the plan", true, |c, _| {
        c.set_plan(organization_id(), Plan::Pro).map(drop)
    }),
    ("the plan of an unknown organization", false, |c, _| {
        c.set_plan(OrganizationId::from_random([9; 16]), Plan::Pro)
            .map(drop)
    }),
    ("a new key", false, |c, project_id| {
        c.insert_key(&key(1, project_id), &[1; 32])
    }),
    ("revoke a key", true, |c, _| c.revoke_key(key_id(1), NOW)),
    ("revoke it again", false, |c, _| c.revoke_key(key_id(1), NOW)),
    ("revoke an unknown key", false, |c, _| {
        c.revoke_key(key_id(9), NOW)
    }),
    ("a redaction rule", true, |c, project_id| {
        c.put_redaction_rule(project_id, &redaction_rule())
    }),
    ("replace it", true, |c, project_id| {
        c.put_redaction_rule(project_id, &redaction_rule())
    }),
    ("delete it", true, |c, project_id| {
        c.delete_redaction_rule(project_id, "r").map(drop)
    }),
    ("delete it again", false, |c, project_id| {
        c.delete_redaction_rule(project_id, "r").map(drop)
    }),
    ("an alert rule", true, |c, project_id| {
        c.put_alert_rule(project_id, &alert_rule(), NOW)
    }),
    ("replace it", true, |c, project_id| {
        c.put_alert_rule(project_id, &alert_rule(), NOW)
    }),
    ("delete it", true, |c, project_id| {
        c.delete_alert_rule(project_id, alert_rule().id()).map(drop)
    }),
    ("delete it again", false, |c, project_id| {
        c.delete_alert_rule(project_id, alert_rule().id()).map(drop)
    }),
    ("update a missing tier", false, |c, project_id| {
        c.update_tier(project_id, &tier())
    }),
    ("a tier", true, |c, project_id| {
        c.insert_tier(project_id, &tier(), NOW)
    }),
    ("update it", true, |c, project_id| {
        c.update_tier(project_id, &tier())
    }),
    ("delete it", true, |c, project_id| {
        c.delete_tier(project_id, &tier().name).map(drop)
    }),
    ("delete it again", false, |c, project_id| {
        c.delete_tier(project_id, &tier().name).map(drop)
    }),
    ("a signing secret", true, |c, _| {
        c.rotate_viewer_secret(("kid", &[1; 32]), NOW, NOW)
    }),
    ("a webhook", true, |c, project_id| {
        c.insert_webhook(&webhook(project_id, URL, true), b"1")
    }),
    ("its URL", false, |c, project_id| {
        c.update_webhook(
            &webhook(project_id, URL, true),
            &webhook(project_id, OTHER_URL, true),
        )
    }),
    ("disable it", true, |c, project_id| {
        c.update_webhook(
            &webhook(project_id, OTHER_URL, true),
            &webhook(project_id, OTHER_URL, false),
        )
    }),
    ("enable it", true, |c, project_id| {
        c.update_webhook(
            &webhook(project_id, OTHER_URL, false),
            &webhook(project_id, OTHER_URL, true),
        )
    }),
    ("a new secret for it", false, |c, _| {
        c.rotate_webhook_secret("w", b"2", NOW, NOW.plus_seconds(1))
    }),
    ("disable it at another URL", false, |c, _| {
        c.disable_webhook("w", URL).map(drop)
    }),
    ("disable it at its URL", true, |c, _| {
        c.disable_webhook("w", OTHER_URL).map(drop)
    }),
    ("disable it again", false, |c, _| {
        c.disable_webhook("w", OTHER_URL).map(drop)
    }),
    ("delete it", true, |c, project_id| {
        c.delete_webhook(project_id, "w", NOW).map(drop)
    }),
    ("delete it again", false, |c, project_id| {
        c.delete_webhook(project_id, "w", NOW).map(drop)
    }),
    ("a secret of the service", false, |c, _| {
        c.insert_secret("s", b"1", NOW)
    }),
    ("delete it", false, |c, _| c.delete_secret("s")),
    ("a write without the configuration", false, |c, _| {
        c.set_key_last_used(key_id(1), NOW)
    }),
    ("nothing", false, |_, _| Ok(())),
];

#[test]
fn each_change_of_cached_data_raises_the_version_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let created = version(&store);
    let project_id = create_project(&store, 1).project_id;
    assert_eq!(
        version(&store),
        created,
        "no node caches a new organization or project"
    );
    for (number, (name, is_change, step)) in STEPS.into_iter().enumerate() {
        let before = version(&store);
        store
            .configure(move |configurator| step(configurator, project_id))
            .unwrap();
        assert_eq!(
            version(&store) - before,
            i64::from(is_change),
            "step {number}: {name}"
        );
    }
}

#[test]
fn a_transaction_of_many_changes_raises_the_version_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let project_id = create_project(&store, 1).project_id;
    let before = version(&store);
    let all = store.configure(move |configurator| {
        STEPS
            .into_iter()
            .try_for_each(|(_, _, step)| step(configurator, project_id))
    });
    all.unwrap();
    assert_eq!(version(&store), before + 1);
}

#[test]
fn a_change_that_is_rolled_back_does_not_raise_the_version() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    create_project(&store, 1);
    let before = version(&store);
    let refused = store.configure(|configurator| {
        configurator.set_plan(organization_id(), Plan::Pro)?;
        Err::<(), _>(StoreError::Stopped)
    });
    assert!(matches!(refused, Err(StoreError::Stopped)), "{refused:?}");
    let organization = store
        .read(|reader| reader.organization(organization_id()))
        .unwrap();
    assert_eq!(organization.unwrap().plan, Plan::Enterprise);
    assert_eq!(version(&store), before);
}
