//! Sixteen concurrent writers to one group, on two servers with PostgreSQL and on one with SQLite.

use super::{assert_counted_once, event_counts};
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Ending, Organization, Server, alert_rule, door_opened, moment,
    on_both_databases,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;
use std::thread;

const WRITERS: usize = 16;

/// Two servers on PostgreSQL or one on SQLite, and an organization.
struct Nodes {
    servers: Vec<Server>,
    organization: Organization,
}

impl Nodes {
    fn start(kind: DatabaseKind) -> Self {
        let count = match kind {
            DatabaseKind::Sqlite => 1,
            DatabaseKind::Postgres => 2,
        };
        let database = Database::create(kind);
        let servers: Vec<Server> = (0..count).map(|_| Server::start(&database, &[])).collect();
        Self {
            organization: Organization::create(&servers[0], "enterprise"),
            servers,
        }
    }

    /// Starts [`WRITERS`] writers at the same time, spread over the servers, each with its own connections.
    fn write<T: Send>(&self, work: impl Fn(&Client, usize) -> Vec<T> + Sync) -> Vec<T> {
        let barrier = Barrier::new(WRITERS);
        let (barrier, work) = (&barrier, &work);
        thread::scope(|scope| {
            let start = |writer: usize| {
                let server = &self.servers[writer % self.servers.len()];
                let client = self.organization.on(server).project();
                scope.spawn(move || {
                    barrier.wait();
                    work(&client, writer)
                })
            };
            let threads: Vec<_> = (0..WRITERS).map(start).collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().expect("a writer thread panicked"))
                .collect()
        })
    }

    fn project(&self) -> Client {
        self.organization.project()
    }
}

on_both_databases! {
    sixteen_writers_raise_one_alert_in_a_cooldown,
    sixteen_writers_raise_one_alert_in_each_of_several_cooldowns,
    sixteen_writers_raise_one_alert_for_each_threshold,
    sixteen_writers_of_batches_over_many_groups_count_exactly,
}

fn sixteen_writers_raise_one_alert_in_a_cooldown(database: DatabaseKind) {
    let nodes = Nodes::start(database);
    let failed = || audit_tests::event_with(json!({"action": "auth.failed"}));
    let ids = nodes.write(|client, _| (0..10).map(|_| client.store(failed())).collect());
    let stored: BTreeSet<String> = ids.into_iter().collect();
    assert_eq!(stored.len(), WRITERS * 10);
    assert_counted_once(&[nodes.project().only_alert()], 5, &stored);
}

fn sixteen_writers_raise_one_alert_in_each_of_several_cooldowns(database: DatabaseKind) {
    const COOLDOWN_SECONDS: i64 = 2;
    const ALERTS_MIN: usize = 3;
    let nodes = Nodes::start(database);
    let rule = json!({"threshold": 5, "cooldown_seconds": COOLDOWN_SECONDS, "window_seconds": 60});
    nodes.organization.create_alert_rule(alert_rule(rule));
    let (deadline, ending) = (Deadline::seconds(300), Ending::default());
    nodes.write(|client, writer| {
        // The first one decides about the end.
        let _end = (writer == 0).then(|| ending.announced_on_drop());
        let mut ids = Vec::new();
        while !ending.is_announced() {
            ids.push(client.store(door_opened("actor-1")));
            if writer == 0 && (client.all_alerts().len() >= ALERTS_MIN || deadline.left().is_none()) {
                break;
            }
        }
        ids
    });
    let alerts = nodes.project().all_alerts();
    assert!(alerts.len() >= ALERTS_MIN, "{alerts:?}");
    for pair in alerts.windows(2) {
        let silence = moment(&pair[0]["fired_at"]) - moment(&pair[1]["fired_at"]);
        assert!(silence >= time::Duration::seconds(COOLDOWN_SECONDS), "{pair:?}");
    }
}

fn sixteen_writers_raise_one_alert_for_each_threshold(database: DatabaseKind) {
    const THRESHOLD: usize = 6;
    let nodes = Nodes::start(database);
    let rule = json!({"threshold": THRESHOLD, "window_seconds": 3_600});
    nodes.organization.create_alert_rule(alert_rule(rule));
    let ids = nodes.write(|client, writer| {
        let mut ids = Vec::new();
        for n in 0..8 {
            if (writer + n) % 3 == 0 {
                ids.extend(client.store_all(vec![door_opened("actor-1"); 7]));
            } else {
                ids.push(client.store(door_opened("actor-1")));
            }
        }
        ids
    });
    let stored: BTreeSet<String> = ids.into_iter().collect();
    let alerts = nodes.project().all_alerts();
    assert_eq!(
        alerts.len(),
        stored.len() / THRESHOLD,
        "alerts of {} events",
        stored.len()
    );
    assert_counted_once(&alerts, THRESHOLD, &stored);
    assert_eq!(
        event_counts(&nodes.project()),
        vec![THRESHOLD as u64; alerts.len()]
    );
}

/// Writers that lock the groups of a batch one by one, each in a different order, would deadlock.
fn sixteen_writers_of_batches_over_many_groups_count_exactly(database: DatabaseKind) {
    const GROUPS: usize = 10;
    const BATCHES: usize = 5;
    const THRESHOLD: usize = 6;
    let nodes = Nodes::start(database);
    let rule = json!({"threshold": THRESHOLD, "window_seconds": 3_600});
    nodes.organization.create_alert_rule(alert_rule(rule));
    nodes.write(|client, writer| {
        let door = |n: usize| door_opened(&format!("actor-{}", (writer * 3 + n) % GROUPS));
        let in_some_order = |batch: usize| {
            let mut doors: Vec<Value> = (0..GROUPS).map(door).collect();
            if (writer + batch).is_multiple_of(2) {
                doors.reverse();
            }
            client.store_all(doors)
        };
        (0..BATCHES).flat_map(in_some_order).collect()
    });
    let mut alerts = BTreeMap::<String, usize>::new();
    for alert in nodes.project().all_alerts() {
        *alerts.entry(alert["group_key"].to_string()).or_default() += 1;
    }
    let expected = WRITERS * BATCHES / THRESHOLD;
    let expected: BTreeMap<String, usize> = (0..GROUPS)
        .map(|n| (format!("\"actor-{n}\""), expected))
        .collect();
    assert_eq!(alerts, expected);
}
