//! The version of a project's configuration: a transaction that changes cached data draws another one, and no other does.

use crate::destinations::{destination_row, run_row};
use crate::{NOW, create_project, open};
use audit_alerts::{AlertRule, CooldownSeconds, GroupBy, RuleConditions, RuleDefinition, Severity};
use audit_domain::{Environment, KeyId, KeyLimits, OrganizationId, Plan, ProjectId, RuleId, ViewerTier};
use audit_store::{
    ConfigurationVersion, Configurator, Deployment, DestinationRow, Key, KeyUse, ProjectUpdate,
    RedactionRuleRow, Store, StoreError, WebhookRow,
};

const ORGANIZATION: [u8; 16] = [1; 16];

fn renamed() -> ProjectUpdate {
    ProjectUpdate {
        name: Some("renamed".to_owned()),
        ..ProjectUpdate::default()
    }
}

/// One step of a transaction that may change the configuration.
#[derive(Clone, Copy)]
enum Step {
    Project(fn(&mut Configurator<'_, ProjectId>, ProjectId) -> Result<(), StoreError>),
    Organization(fn(&mut Configurator<'_, OrganizationId>) -> Result<(), StoreError>),
    Deployment(fn(&mut Configurator<'_, Deployment>) -> Result<(), StoreError>),
}

impl Step {
    fn run(self, store: &Store, project_id: ProjectId) {
        let run = match self {
            Self::Project(step) => store.configure(project_id, move |c| step(c, project_id)),
            Self::Organization(step) => store.configure(organization_id(), step),
            Self::Deployment(step) => store.configure(Deployment, step),
        };
        run.expect("the transaction commits");
    }
}

fn version(store: &Store, project_id: ProjectId) -> ConfigurationVersion {
    store
        .read(|reader| reader.configuration_version(project_id))
        .expect("the version is read")
        .expect("the project has a version")
}

fn organization_id() -> OrganizationId {
    OrganizationId::from_random(ORGANIZATION)
}

fn key_id(number: u8) -> KeyId {
    KeyId::from_random([number; 16])
}

pub(crate) fn key(number: u8, project_id: Option<ProjectId>) -> Key {
    Key {
        id: key_id(number),
        organization_id: organization_id(),
        project: project_id.map(|project_id| (project_id, Environment::Live)),
        name: "k".to_owned(),
        prefix: "p".to_owned(),
        created_at: NOW,
        last_used_at: None,
        last_used_from: None,
        revoked_at: None,
        sessions_ended: 0,
        limits: KeyLimits::default(),
    }
}

pub(crate) fn redaction_rule(id: &str) -> RedactionRuleRow {
    RedactionRuleRow {
        id: id.to_owned(),
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
        count_distinct: None,
        severity: Severity::High,
        enabled: true,
        cooldown_seconds: CooldownSeconds::try_from(0).expect("a valid value"),
        conditions: RuleConditions::default(),
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
        url: url.as_bytes().to_vec(),
        format: "json".to_owned(),
        enabled,
        created_at: 0,
    }
}

const URL: &str = "https://a.example/";
const OTHER_URL: &str = "https://b.example/";

/// The methods of the configurators, in an order in which each finds the rows it needs: the call, whether it draws another
/// version, and the step.
const STEPS: [(&str, bool, Step); 48] = [
    (
        "the plan",
        true,
        Step::Organization(|c| c.set_plan(Plan::Pro).map(drop)),
    ),
    (
        "a master key",
        false,
        Step::Organization(|c| c.insert_master_key(&key(2, None), &[2; 32])),
    ),
    (
        "revoke it",
        true,
        Step::Organization(|c| c.revoke_master_key(key_id(2), NOW).map(drop)),
    ),
    (
        "revoke it again",
        false,
        Step::Organization(|c| c.revoke_master_key(key_id(2), NOW).map(drop)),
    ),
    (
        "a new key",
        true,
        Step::Project(|c, project_id| c.insert_key(&key(1, Some(project_id)), &[1; 32])),
    ),
    (
        "change it",
        true,
        Step::Project(|c, project_id| c.update_key(&key(1, Some(project_id))).map(drop)),
    ),
    (
        "revoke it as a master key",
        false,
        Step::Organization(|c| c.revoke_master_key(key_id(1), NOW).map(drop)),
    ),
    (
        "revoke a key",
        true,
        Step::Project(|c, _| c.revoke_key(key_id(1), NOW).map(drop)),
    ),
    (
        "revoke it again",
        false,
        Step::Project(|c, _| c.revoke_key(key_id(1), NOW).map(drop)),
    ),
    (
        "change a revoked key",
        false,
        Step::Project(|c, project_id| c.update_key(&key(1, Some(project_id))).map(drop)),
    ),
    (
        "change a master key",
        false,
        Step::Project(|c, _| c.update_key(&key(2, None)).map(drop)),
    ),
    (
        "the name of the project",
        true,
        Step::Project(|c, _| c.update_project(&renamed())),
    ),
    (
        "archive the project",
        true,
        Step::Project(|c, _| {
            c.update_project(&ProjectUpdate {
                archived_at: Some(Some(NOW)),
                ..ProjectUpdate::default()
            })
        }),
    ),
    (
        "nothing of the project",
        false,
        Step::Project(|c, _| c.update_project(&ProjectUpdate::default())),
    ),
    (
        "the name of a project of another cell",
        false,
        Step::Organization(|c| c.update_project_of_cell(ProjectId::from_random([7; 16]), &renamed())),
    ),
    (
        "revoke an unknown key",
        false,
        Step::Project(|c, _| c.revoke_key(key_id(9), NOW).map(drop)),
    ),
    (
        "a redaction rule",
        true,
        Step::Project(|c, _| c.put_redaction_rule(&redaction_rule("r"))),
    ),
    (
        "replace it",
        true,
        Step::Project(|c, _| c.put_redaction_rule(&redaction_rule("r"))),
    ),
    (
        "delete it",
        true,
        Step::Project(|c, _| c.delete_redaction_rule("r").map(drop)),
    ),
    (
        "delete it again",
        false,
        Step::Project(|c, _| c.delete_redaction_rule("r").map(drop)),
    ),
    (
        "an alert rule",
        true,
        Step::Project(|c, _| c.put_alert_rule(&alert_rule(), NOW)),
    ),
    (
        "replace it",
        true,
        Step::Project(|c, _| c.put_alert_rule(&alert_rule(), NOW)),
    ),
    (
        "delete it",
        true,
        Step::Project(|c, _| c.delete_alert_rule(alert_rule().id()).map(drop)),
    ),
    (
        "delete it again",
        false,
        Step::Project(|c, _| c.delete_alert_rule(alert_rule().id()).map(drop)),
    ),
    (
        "update a missing tier",
        false,
        Step::Project(|c, _| c.update_tier(&tier())),
    ),
    ("a tier", true, Step::Project(|c, _| c.insert_tier(&tier(), NOW))),
    ("update it", true, Step::Project(|c, _| c.update_tier(&tier()))),
    (
        "delete it",
        true,
        Step::Project(|c, _| c.delete_tier(&tier().name).map(drop)),
    ),
    (
        "delete it again",
        false,
        Step::Project(|c, _| c.delete_tier(&tier().name).map(drop)),
    ),
    (
        "a webhook",
        true,
        Step::Project(|c, project_id| c.insert_webhook(&webhook(project_id, URL, true), b"1")),
    ),
    (
        "its URL",
        false,
        Step::Project(|c, project_id| {
            c.update_webhook(
                &webhook(project_id, URL, true),
                &webhook(project_id, OTHER_URL, true),
            )
        }),
    ),
    (
        "disable it",
        true,
        Step::Project(|c, project_id| {
            c.update_webhook(
                &webhook(project_id, OTHER_URL, true),
                &webhook(project_id, OTHER_URL, false),
            )
        }),
    ),
    (
        "enable it",
        true,
        Step::Project(|c, project_id| {
            c.update_webhook(
                &webhook(project_id, OTHER_URL, false),
                &webhook(project_id, OTHER_URL, true),
            )
        }),
    ),
    (
        "a new secret for it",
        false,
        Step::Project(|c, _| c.rotate_webhook_secret("w", |_| b"2".to_vec(), NOW, NOW.plus_seconds(1))),
    ),
    (
        "disable it at another URL",
        false,
        Step::Project(|c, _| c.disable_webhook("w", URL.as_bytes()).map(drop)),
    ),
    (
        "disable it at its URL",
        true,
        Step::Project(|c, _| c.disable_webhook("w", OTHER_URL.as_bytes()).map(drop)),
    ),
    (
        "disable it again",
        false,
        Step::Project(|c, _| c.disable_webhook("w", OTHER_URL.as_bytes()).map(drop)),
    ),
    (
        "delete it",
        true,
        Step::Project(|c, _| c.delete_webhook("w", NOW).map(drop)),
    ),
    (
        "delete it again",
        false,
        Step::Project(|c, _| c.delete_webhook("w", NOW).map(drop)),
    ),
    (
        "a destination",
        false,
        Step::Project(|c, project_id| {
            let ledger_id = c.ledgers(project_id)?[&Environment::Live];
            c.insert_destination(&destination_row(project_id, "d"), &run_row(ledger_id, "d"))
        }),
    ),
    (
        "pause it",
        false,
        Step::Project(|c, project_id| {
            let row = destination_row(project_id, "d");
            let paused = DestinationRow {
                paused: true,
                ..row.clone()
            };
            c.update_destination(&row, &paused)
        }),
    ),
    (
        "delete it",
        false,
        Step::Project(|c, _| c.delete_destination("d").map(drop)),
    ),
    (
        "a signing secret",
        false,
        Step::Deployment(|c| c.rotate_viewer_secret(("kid", &[1; 32][..]), NOW, NOW)),
    ),
    (
        "a secret of the service",
        false,
        Step::Deployment(|c| c.insert_secret("s", b"1", NOW)),
    ),
    ("delete it", false, Step::Deployment(|c| c.delete_secret("s"))),
    (
        "a write without the configuration",
        false,
        Step::Project(|c, _| {
            c.set_keys_last_used(&[KeyUse {
                id: key_id(1),
                at: NOW,
                from: None,
            }])
        }),
    ),
    ("nothing", false, Step::Project(|_, _| Ok(()))),
    (
        "nothing, for the organization",
        false,
        Step::Organization(|_| Ok(())),
    ),
];

#[test]
fn each_change_of_cached_data_draws_another_version_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let project_id = create_project(&store, 1).project_id;
    let neighbor = create_project(&store, 2).project_id;
    let of_neighbor = version(&store, neighbor);
    let mut drawn = vec![version(&store, project_id)];
    for (number, (name, is_change, step)) in STEPS.into_iter().enumerate() {
        let before = version(&store, project_id);
        step.run(&store, project_id);
        let after = version(&store, project_id);
        assert_eq!(after != before, is_change, "step {number}: {name}");
        if is_change {
            assert!(!drawn.contains(&after), "step {number}: {name}: used twice");
            drawn.push(after);
        }
        assert_eq!(version(&store, neighbor), of_neighbor, "step {number}: {name}");
    }
}

#[test]
fn a_setter_of_a_project_changes_no_other_project() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let project_id = create_project(&store, 1).project_id;
    let neighbor = create_project(&store, 2).project_id;
    Step::Project(|c, project_id| {
        c.insert_key(&key(1, Some(project_id)), &[1; 32])?;
        c.insert_webhook(&webhook(project_id, URL, true), b"1")
    })
    .run(&store, project_id);
    let before = version(&store, neighbor);
    Step::Project(|c, neighbor| {
        c.revoke_key(key_id(1), NOW)?;
        assert!(!c.update_key(&key(1, Some(neighbor)))?);
        assert!(!c.disable_webhook("w", URL.as_bytes())?);
        assert!(!c.delete_webhook("w", NOW)?);
        c.update_webhook(&webhook(neighbor, URL, true), &webhook(neighbor, OTHER_URL, true))
    })
    .run(&store, neighbor);
    let (key, webhooks) = store
        .read(|reader| Ok::<_, StoreError>((reader.key(key_id(1))?, reader.webhooks(project_id)?)))
        .unwrap();
    assert_eq!(key.unwrap().revoked_at, None);
    assert_eq!(webhooks, [webhook(project_id, URL, true)]);
    assert_eq!(version(&store, neighbor), before);
}

#[test]
fn a_transaction_draws_one_version_before_its_first_change_is_visible() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let project_id = create_project(&store, 1).project_id;
    let before = version(&store, project_id);
    let (first, last) = store
        .configure(project_id, move |c| {
            c.put_redaction_rule(&redaction_rule("r"))?;
            let first = c.configuration_version(project_id)?;
            c.put_alert_rule(&alert_rule(), NOW)?;
            Ok::<_, StoreError>((first, c.configuration_version(project_id)?))
        })
        .unwrap();
    assert_ne!(first, Some(before));
    assert_eq!(first, last);
    assert_eq!(Some(version(&store, project_id)), last);
}

#[test]
fn a_change_that_is_rolled_back_keeps_the_version() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let project_id = create_project(&store, 1).project_id;
    let before = version(&store, project_id);
    let refused = store.configure(organization_id(), |configurator| {
        configurator.set_plan(Plan::Pro)?;
        Err::<(), _>(StoreError::Stopped)
    });
    assert!(matches!(refused, Err(StoreError::Stopped)), "{refused:?}");
    let organization = store
        .read(|reader| reader.organization(organization_id()))
        .unwrap();
    assert_eq!(organization.unwrap().plan, Plan::Enterprise);
    assert_eq!(version(&store, project_id), before);
}
