//! An endpoint that hangs is its own trouble and nobody else's.

use audit_tests::{
    Database, DatabaseKind, Deadline, Reply, Server, Subscription, door_opened, on_both_databases,
    webhook_environment,
};
use std::time::{Duration, Instant};

/// A hanging endpoint may delay another's first attempt by a second. The rest is for a busy machine; an endpoint that
/// waited for the hanging one would wait fifteen seconds.
const DELAY_MAX: Duration = Duration::from_secs(5);
const WAITING_FOR_THE_HANGING_ONE: usize = 100;
/// In the twenty seconds or so that the test takes: no endpoint is given many connections at once.
const HANGING_ATTEMPTS_MAX: usize = 16;
/// A second apart, so that some fall upon the end of an attempt that hung for its fifteen seconds.
const ALERTS: usize = 18;

on_both_databases! {
    an_endpoint_that_hangs_on_every_attempt_does_not_delay_another,
}

fn an_endpoint_that_hangs_on_every_attempt_does_not_delay_another(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &webhook_environment());
    let hanging = Subscription::on(&server);
    hanging.reply([Reply::Stall]);
    let doors = (0..WAITING_FOR_THE_HANGING_ONE).map(|n| door_opened(&format!("actor-{n}")));
    hanging.organization.project().store_all(doors.collect());
    hanging.wait_for(1);
    // One of the same project, and one of another.
    let organization = &hanging.organization;
    organization.create_webhook(&hanging.receiver.url("/neighbour"));
    let stranger = Subscription::on(&server);
    for count in 1..=ALERTS {
        let next = Deadline::seconds(1);
        let posted = [organization, &stranger.organization].map(|organization| {
            let posted_at = Instant::now();
            organization.project().store(door_opened("actor-1"));
            posted_at
        });
        let arrived = [
            hanging.receiver.wait_for("/neighbour", count),
            stranger.wait_for(count),
        ];
        for (posted_at, requests) in posted.into_iter().zip(arrived) {
            let delay = requests[count - 1].arrived_at - posted_at;
            assert!(delay < DELAY_MAX, "alert {count}: {delay:?}");
        }
        next.pass();
    }
    let attempts = hanging.receiver.received(Subscription::PATH).len();
    assert!(
        attempts <= HANGING_ATTEMPTS_MAX,
        "{attempts} attempts were made at the hanging endpoint"
    );
}
