//! Several servers on one database share the deliveries.

use super::attempts;
use audit_tests::{
    Database, DatabaseKind, Deadline, Organization, Reply, Server, Subscription, door_opened,
    on_both_databases, webhook_environment,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::thread;

const ALERTS: usize = 60;

on_both_databases! {
    two_servers_deliver_each_alert_once,
    what_was_begun_on_one_server_goes_on_on_another,
    what_one_server_changes_another_obeys,
}

fn two_servers(database: &Database) -> (Server, Server) {
    let start = || Server::start(database, &webhook_environment());
    (start(), start())
}

fn two_servers_deliver_each_alert_once(database: DatabaseKind) {
    let database = Database::create(database);
    let (one, two) = two_servers(&database);
    let subscription = Subscription::on(&one);
    thread::scope(|scope| {
        for server in [&one, &two] {
            let project = subscription.organization.on(server).project();
            scope.spawn(move || {
                for n in 0..ALERTS / 2 {
                    project.store(door_opened(&format!("actor-{n}")));
                }
            });
        }
    });
    subscription.wait_for(ALERTS);
    let deliveries = Deadline::seconds(60).poll("the log of deliveries", || {
        let deliveries = subscription.master.deliveries(&subscription.webhook);
        let is_delivered = |delivery: &Value| delivery["status"] == "delivered";
        deliveries.iter().all(is_delivered).then_some(deliveries)
    });
    assert_eq!(deliveries.len(), ALERTS);
    assert!(deliveries.iter().all(|delivery| attempts(delivery).len() == 1));
    let requests = subscription.wait_for(ALERTS);
    let ids: BTreeSet<&str> = requests.iter().map(|request| request.message_id()).collect();
    assert_eq!((requests.len(), ids.len()), (ALERTS, ALERTS));
}

fn what_was_begun_on_one_server_goes_on_on_another(database: DatabaseKind) {
    let database = Database::create(database);
    let (one, two) = two_servers(&database);
    let subscription = Subscription::on(&one);
    subscription.reply([Reply::Status(500), Reply::Status(200)]);
    subscription.organization.raise_alert();
    subscription.wait_for_attempts(1);
    one.kill();
    let subscription = subscription.moved_to(&two);
    let delivered = subscription.wait_for_status("delivered");
    assert_eq!(attempts(&delivered).len(), 2);
}

fn what_one_server_changes_another_obeys(database: DatabaseKind) {
    let database = Database::create(database);
    let (one, two) = two_servers(&database);
    let subscription = Subscription::on(&one);
    let elsewhere: Organization = subscription.organization.on(&two);
    elsewhere.raise_alert();
    subscription.wait_for(1);
    subscription.wait_for_status("delivered");
    let switch = |enabled: bool| {
        let change = json!({"enabled": enabled});
        subscription.master.change_webhook(&subscription.webhook, change)
    };
    let logged = || subscription.master.deliveries(&subscription.webhook).len();
    switch(false);
    elsewhere.raise_alert();
    assert_eq!(logged(), 1, "a disabled webhook");
    switch(true);
    elsewhere.raise_alert();
    assert_eq!(logged(), 2, "an enabled webhook");
    let rotated = subscription.master.rotate_secret(&subscription.webhook);
    elsewhere.master().test_webhook(&subscription.webhook);
    let requests = subscription.wait_for(3);
    let test = requests
        .iter()
        .find(|request| request.json()["type"] == "webhook.test");
    let newest = rotated["secret"].as_str().expect("a secret");
    let test = test.expect("the test delivery has arrived");
    audit_tests::assert_signed(test, &[newest, subscription.secret()]);
}
