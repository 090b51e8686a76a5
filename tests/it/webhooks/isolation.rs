//! An endpoint that never responds delays no other endpoint.

use audit_tests::{
    Database, DatabaseKind, Reply, Server, Subscription, door_opened, on_both_databases, webhook_environment,
};

const DELIVERIES_TO_THE_HANGING_ENDPOINT: usize = 100;
/// Two rounds of the maximum number of concurrent attempts at an endpoint without a success.
const HANGING_ATTEMPTS_MAX: usize = 16;
/// Pairs of alerts that are delivered before the first hanging attempt times out, after fifteen seconds. Endpoints that
/// waited for the hanging one would get the first pair only then.
const ROUNDS_MIN: usize = 3;

on_both_databases! {
    an_endpoint_that_hangs_on_every_attempt_does_not_delay_another,
}

fn an_endpoint_that_hangs_on_every_attempt_does_not_delay_another(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &webhook_environment());
    let hanging = Subscription::on(&server);
    hanging.reply([Reply::Stall]);
    let doors = (0..DELIVERIES_TO_THE_HANGING_ENDPOINT).map(|n| door_opened(&format!("actor-{n}")));
    hanging.organization.project().store_all(doors.collect());
    hanging.wait_for(1);
    // One other endpoint in the same project, and one in another project.
    let organization = &hanging.organization;
    organization.create_webhook(&hanging.receiver.url("/neighbour"));
    let stranger = Subscription::on(&server);
    let deliver = |count: usize| {
        for organization in [organization, &stranger.organization] {
            organization.project().store(door_opened("actor-1"));
        }
        hanging.receiver.wait_for("/neighbour", count);
        stranger.wait_for(count);
    };
    let mut rounds = 0;
    // Runs until an attempt has timed out, so that the last round coincides with the timeout.
    while hanging.receiver.given_up(Subscription::PATH) == 0 {
        rounds += 1;
        deliver(rounds);
    }
    let attempts = hanging.receiver.received(Subscription::PATH).len();
    assert!(
        rounds >= ROUNDS_MIN,
        "only {rounds} pairs were delivered before the first timeout"
    );
    assert!(
        attempts <= HANGING_ATTEMPTS_MAX,
        "{attempts} attempts were made at the hanging endpoint"
    );
    deliver(rounds + 1);
}
