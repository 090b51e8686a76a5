//! The deliveries of alerts: those of many alerts are written after the commit, in bounded parts, exactly once.

use crate::{NOW, create_project, destination, open_at, prepare};
use audit_alerts::{AlertRule, CooldownSeconds, GroupBy, RuleConditions, RuleDefinition, RuleSet, Severity};
use audit_domain::{Facet, Facets, ProjectId, RuleId};
use audit_store::{AlertFilter, DELIVERY_OF_ALERT, Destination, LedgerId, NewEvent, Store, WebhookRow};
use audit_tests::{Database, DatabaseKind, on_both_databases};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

on_both_databases! {
    every_alert_gets_one_delivery_to_each_webhook_in_bounded_parts,
    two_nodes_write_each_delivery_once,
    ledgers_take_turns,
    a_webhook_that_was_deleted_gets_none,
}

const RULES: u8 = 10;
const WEBHOOKS: usize = 20;
const EVENTS: u8 = 10;
const ALERTS: usize = 100;

/// Rules that fire for every event.
fn rules() -> RuleSet {
    RuleSet::new((0..RULES).map(|number| {
        let definition = RuleDefinition {
            name: "every event".parse().expect("a name"),
            action_pattern: "*".parse().expect("a pattern"),
            threshold: 1.try_into().expect("a threshold"),
            window_seconds: 60.try_into().expect("a window"),
            group_by: GroupBy::TenantId,
            count_distinct: None,
            severity: Severity::Low,
            enabled: true,
            cooldown_seconds: CooldownSeconds::try_from(0).expect("a cooldown"),
            conditions: RuleConditions::default(),
        };
        AlertRule::custom(RuleId::from_random([number; 16]), NOW, definition)
    }))
}

fn webhook_id(project: u8, number: usize) -> String {
    format!("wh_{project}_{number}")
}

/// A project with [`WEBHOOKS`] webhooks.
fn project(store: &Store, number: u8) -> Destination {
    let project_id = create_project(store, number).project_id;
    let ids: Vec<String> = (0..WEBHOOKS).map(|webhook| webhook_id(number, webhook)).collect();
    let row = |id: &String| WebhookRow {
        id: id.clone(),
        project_id: project_id.to_string(),
        url: b"https://a.example/".to_vec(),
        format: "json".to_owned(),
        enabled: true,
        created_at: 0,
    };
    let rows: Vec<WebhookRow> = ids.iter().map(row).collect();
    let inserted = store.configure(project_id, move |configurator| {
        rows.iter()
            .try_for_each(|row| configurator.insert_webhook(row, b"secret"))
    });
    inserted.expect("the webhooks are created");
    Destination {
        webhook_ids: Arc::from(ids),
        ..destination(store, project_id)
    }
}

/// Stores events in one request. Each raises one alert for each rule.
fn raise(store: &Store, to: &Destination) {
    let event =
        json!({"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}});
    let prepare = |number: u8| -> NewEvent {
        let fields = Facets::default()
            .with(Facet::Action, "a.b")
            .with(Facet::TenantId, "t");
        let watches = rules().watches(&fields, NOW, NOW);
        prepare(to, &event, NOW, number).watched(watches)
    };
    let stored = store.append_blocking(to.clone(), (0..EVENTS).map(prepare).collect());
    assert_eq!(
        stored.expect("the events are stored").events.len(),
        usize::from(EVENTS)
    );
    let filter = AlertFilter::default();
    let alerts = store.read(|reader| reader.alerts(to.ledger_id, &filter, None, 1_000));
    assert_eq!(
        alerts.expect("the alerts are read").len(),
        ALERTS,
        "they are there at once"
    );
}

/// The alerts of the deliveries to a webhook.
fn delivered(store: &Store, webhook_id: &str) -> Vec<Vec<u8>> {
    let rows = store.read(|reader| reader.deliveries(webhook_id, None, None, 10_000));
    let rows = rows.expect("the deliveries are read").into_iter();
    rows.map(|row| {
        assert_eq!((row.kind.as_str(), row.is_retried), (DELIVERY_OF_ALERT, true));
        assert_eq!(
            (row.stage.as_deref(), row.due_at),
            (Some("ready"), Some(NOW.as_micros()))
        );
        row.alert_id.expect("it has an alert")
    })
    .collect()
}

fn count(store: &Store, project: u8) -> usize {
    (0..WEBHOOKS)
        .map(|number| delivered(store, &webhook_id(project, number)).len())
        .sum()
}

/// One step of the dispatcher. Returns the ledgers whose alerts got deliveries, and the number of these alerts.
fn step(store: &Store, after: Option<LedgerId>, ledgers: usize, share: usize) -> (Vec<LedgerId>, usize) {
    let found = store.read(|reader| reader.undelivered_ledgers(after, ledgers));
    let found = found.expect("the ledgers are found");
    let ids = found.0.clone();
    let written = store.write(move |writer| writer.deliver_alerts(&found, share));
    (ids, written.expect("the deliveries are written"))
}

fn open(database: &Database) -> Store {
    open_at(database.url())
}

fn every_alert_gets_one_delivery_to_each_webhook_in_bounded_parts(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database);
    let to = project(&store, 1);
    raise(&store, &to);
    let mut written = count(&store, 1);
    assert_eq!(written, 60, "the commit wrote those of three alerts");
    // A node stops between the commit and the next step.
    drop(store);
    let store = open(&database);
    loop {
        let (ledgers, alerts) = step(&store, None, 25, 500);
        let now = count(&store, 1);
        assert_eq!(now - written, alerts * WEBHOOKS);
        assert!(now - written <= 500);
        written = now;
        if ledgers.is_empty() {
            break;
        }
        assert!(alerts > 0);
    }
    for number in 0..WEBHOOKS {
        let alerts = delivered(&store, &webhook_id(1, number));
        assert_eq!(alerts.len(), ALERTS);
        assert_eq!(
            alerts.into_iter().collect::<BTreeSet<_>>().len(),
            ALERTS,
            "one of each alert"
        );
    }
}

fn two_nodes_write_each_delivery_once(kind: DatabaseKind) {
    let database = Database::create(kind);
    let nodes = [open(&database)].into_iter();
    // SQLite has one node.
    let others = (kind == DatabaseKind::Postgres).then(|| open(&database));
    let nodes: Vec<Store> = nodes.chain(others).collect();
    let to = project(&nodes[0], 1);
    raise(&nodes[0], &to);
    let taken: usize = std::thread::scope(|scope| {
        let work = |store| move || (0..20).map(|_| step(store, None, 25, 100).1).sum::<usize>();
        let threads: Vec<_> = nodes.iter().map(|store| scope.spawn(work(store))).collect();
        let counts = threads.into_iter().map(|thread| thread.join().expect("a node"));
        counts.sum()
    });
    // Alerts that a node skipped because the other one had locked them.
    let rest = (0..20).map(|_| step(&nodes[0], None, 25, 100).1).sum::<usize>();
    assert_eq!(taken + rest, ALERTS - 3, "no alert is taken twice");
    assert_eq!(count(&nodes[0], 1), ALERTS * WEBHOOKS);
}

fn ledgers_take_turns(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database);
    let projects = [1, 2, 3].map(|number| project(&store, number));
    projects.iter().for_each(|to| raise(&store, to));
    let [one, two, three] = projects.map(|to| to.ledger_id);
    let mut last = None;
    for expected in [[one, two], [three, one], [two, three]] {
        let (mut ledgers, alerts) = step(&store, last, 2, 40);
        assert_eq!(
            (ledgers.as_slice(), alerts),
            (expected.as_slice(), 4),
            "two alerts of each"
        );
        last = ledgers.pop();
    }
    assert_eq!([1, 2, 3].map(|number| count(&store, number)), [60 + 80; 3]);
}

fn a_webhook_that_was_deleted_gets_none(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database);
    let to = project(&store, 1);
    raise(&store, &to);
    let project_id: ProjectId = to.project_id;
    let deleted = store.configure(project_id, |configurator| {
        configurator.delete_webhook(&webhook_id(1, 0), NOW)
    });
    assert!(deleted.expect("the webhook is deleted"));
    while !step(&store, None, 25, 500).0.is_empty() {}
    assert_eq!(count(&store, 1), 3 + (WEBHOOKS - 1) * ALERTS);
}
