//! An endpoint that never responds delays no other endpoint.

use audit_tests::{
    Database, DatabaseKind, Reply, Server, Subscription, door_opened, on_both_databases, webhook_environment,
};

const DELIVERIES_TO_THE_HANGING_ENDPOINT: usize = 100;
/// Two rounds of the maximum number of concurrent attempts at an endpoint without a success: one in flight, and one whose end the
/// receiver has not noticed yet.
const HANGING_ATTEMPTS_MAX: usize = 16;
/// Pairs of alerts that are delivered while no hanging attempt times out. Endpoints that waited for the hanging one would get each
/// pair after a timeout.
const ROUNDS_MIN: usize = 3;
/// On a busy machine an attempt may time out meanwhile, but not during each pair.
const LATE_ROUNDS_MAX: usize = 10;

on_both_databases! {
    an_endpoint_that_hangs_on_every_attempt_does_not_delay_another,
}

fn an_endpoint_that_hangs_on_every_attempt_does_not_delay_another(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &webhook_environment());
    let hanging = Subscription::on(&server);
    hanging.reply([Reply::Stall]);
    let stranger = Subscription::on(&server);
    let organization = &hanging.organization;
    let doors = (0..DELIVERIES_TO_THE_HANGING_ENDPOINT).map(|n| door_opened(&format!("actor-{n}")));
    organization.project().store_all(doors.collect());
    hanging.wait_for(1);
    // One other endpoint in the same project, and one in another project.
    organization.create_webhook(&hanging.receiver.url("/neighbour"));
    let deliver = |count: usize| {
        for organization in [organization, &stranger.organization] {
            organization.project().store(door_opened("actor-1"));
        }
        hanging.receiver.wait_for("/neighbour", count);
        stranger.wait_for(count);
    };
    let timed_out = || hanging.receiver.given_up(Subscription::PATH);
    let (mut rounds, mut late) = (0, 0);
    // Runs until an attempt has timed out, so that the last round coincides with the timeout.
    while timed_out() == 0 || rounds - late < ROUNDS_MIN {
        let before = timed_out();
        rounds += 1;
        deliver(rounds);
        late += usize::from(timed_out() != before);
        assert!(
            late < LATE_ROUNDS_MAX,
            "{late} of {rounds} pairs came after a timeout"
        );
    }
    let attempts = hanging.receiver.received(Subscription::PATH).len();
    assert!(
        attempts <= timed_out() + HANGING_ATTEMPTS_MAX,
        "{attempts} attempts were made at the hanging endpoint"
    );
    deliver(rounds + 1);
}
