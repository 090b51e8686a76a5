//! A server that stops between an alert and its delivery makes the delivery after the next start.

use super::attempts;
use audit_tests::process::Exit;
use audit_tests::{
    Database, DatabaseKind, Deadline, Received, Receiver, Reply, Server, Subscription, door_opened,
    on_both_databases, webhook_environment,
};
use serde_json::Value;
use std::collections::BTreeSet;

const MANY: usize = 60;

fn start(database: &Database) -> Server {
    Server::start(database, &webhook_environment())
}

fn message_ids(requests: &[Received]) -> BTreeSet<&str> {
    requests.iter().map(Received::message_id).collect()
}

/// Deliveries at the time of `kill -9`, each in a separate organization, so that their leases expire at the same time.
struct CutOff {
    /// An alert without a delivery, because its receiver does not listen yet.
    unmade: Subscription,
    /// An attempt in flight: its receiver has the request and sends no response.
    in_flight: Subscription,
    /// A failed attempt with a pending retry.
    failed: Subscription,
    /// Many alerts, some of them delivered.
    many: Subscription,
}

impl CutOff {
    fn begin(server: &Server) -> Self {
        let begun = Self {
            unmade: Subscription::to(server, Receiver::deaf()),
            in_flight: Subscription::on(server),
            failed: Subscription::on(server),
            many: Subscription::on(server),
        };
        begun.in_flight.reply([Reply::Stall, Reply::Status(200)]);
        begun.in_flight.organization.raise_alert();
        begun.in_flight.wait_for(1);
        begun.failed.reply([Reply::Status(500), Reply::Status(200)]);
        begun.failed.organization.raise_alert();
        begun.failed.wait_for_attempts(1);
        let doors = (0..MANY).map(|n| door_opened(&format!("actor-{n}")));
        begun.many.organization.project().store_all(doors.collect());
        begun.many.wait_for(MANY / 4);
        begun.unmade.organization.raise_alert();
        begun
    }

    fn moved_to(self, server: &Server) -> Self {
        Self {
            unmade: self.unmade.moved_to(server),
            in_flight: self.in_flight.moved_to(server),
            failed: self.failed.moved_to(server),
            many: self.many.moved_to(server),
        }
    }
}

on_both_databases! {
    whatever_kill_9_cuts_off_is_delivered_after_it,
    sigterm_does_not_wait_for_a_receiver_that_hangs,
}

fn whatever_kill_9_cuts_off_is_delivered_after_it(database: DatabaseKind) {
    let database = Database::create(database);
    let server = start(&database);
    let mut begun = CutOff::begin(&server);
    server.kill();
    let server = start(&database);
    begun.unmade.receiver.listen();
    let begun = begun.moved_to(&server);
    assert_failed_is_retried(&begun.failed);
    assert_unmade_is_made(&begun.unmade);
    assert_interrupted_attempt_is_repeated(&begun.in_flight);
    assert_all_are_delivered(&begun.many);
}

fn assert_unmade_is_made(unmade: &Subscription) {
    let request = unmade.wait_for(1).remove(0);
    let alert = unmade.organization.project().only_alert();
    assert_eq!(request.json()["data"], alert);
    unmade.wait_for_status("delivered");
}

fn assert_interrupted_attempt_is_repeated(in_flight: &Subscription) {
    let requests = in_flight.wait_for(2);
    assert_eq!(message_ids(&requests).len(), 1);
    assert_eq!(requests[0].body, requests[1].body);
    in_flight.wait_for_status("delivered");
    assert_eq!(in_flight.wait_for(2).len(), 2);
}

fn assert_failed_is_retried(failed: &Subscription) {
    let delivered = failed.wait_for_status("delivered");
    let codes: Vec<&Value> = attempts(&delivered)
        .iter()
        .map(|attempt| &attempt["status_code"])
        .collect();
    assert_eq!(codes, [500, 200], "the log of attempts survives the crash");
}

fn assert_all_are_delivered(many: &Subscription) {
    let deliveries = Deadline::seconds(90).poll("the log of deliveries", || {
        let deliveries = many.master.deliveries(&many.webhook);
        let is_delivered = |delivery: &Value| delivery["status"] == "delivered";
        // Deliveries are written beside the events, so some may be missing until now.
        (deliveries.len() >= MANY && deliveries.iter().all(is_delivered)).then_some(deliveries)
    });
    assert_eq!(deliveries.len(), MANY, "one delivery per alert");
    let requests = many.wait_for(MANY);
    let arrived = message_ids(&requests);
    for delivery in &deliveries {
        let id = delivery["message_id"].as_str().expect("an id");
        assert!(arrived.contains(id), "{delivery}");
    }
    let alerts = many.organization.project().all_alerts();
    let texts = |objects: &[Value], member: &str| -> BTreeSet<String> {
        objects.iter().map(|object| object[member].to_string()).collect()
    };
    assert_eq!(texts(&deliveries, "alert_id"), texts(&alerts, "id"));
}

fn sigterm_does_not_wait_for_a_receiver_that_hangs(database: DatabaseKind) {
    let database = Database::create(database);
    let server = start(&database);
    let subscription = Subscription::on(&server);
    subscription.reply([Reply::Stall, Reply::Status(200)]);
    subscription.organization.raise_alert();
    subscription.wait_for(1);
    let finished = server.stop();
    assert_eq!(finished.exit, Exit::Code(0), "{finished:?}");
    let server = start(&database);
    let subscription = subscription.moved_to(&server);
    let requests = subscription.wait_for(2);
    assert_eq!(message_ids(&requests).len(), 1);
    let delivered = subscription.wait_for_status("delivered");
    let codes: Vec<&Value> = attempts(&delivered)
        .iter()
        .map(|attempt| &attempt["status_code"])
        .collect();
    assert_eq!(
        codes,
        [200],
        "the shutdown did not wait for the attempt in flight"
    );
}
