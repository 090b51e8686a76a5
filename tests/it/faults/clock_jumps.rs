//! A clock that jumps: stamps never go back, nothing is lost or stored twice, and the log of the service says what happened.

use super::Acknowledged;
use audit_tests::{
    Clock, Database, DatabaseKind, Organization, Server, command_line_on, moment, on_both_databases,
};

on_both_databases! {
    a_clock_that_jumps_back_and_forth_loses_no_event_and_reorders_none,
}

const START: &str = "2026-11-22T10:00:00Z";
const BACK: &str = "2026-11-22T08:00:00Z";
const FORTH: &str = "2027-02-03T10:00:00Z";
const RIGHT_AGAIN: &str = "2026-11-22T10:05:00Z";

fn a_clock_that_jumps_back_and_forth_loses_no_event_and_reorders_none(kind: DatabaseKind) {
    let Some(mut clock) = Clock::at(START) else { return };
    let database = Database::create(kind);
    let mut server = Server::start_at(&database, &[], &clock);
    let organization = Organization::create(&server, "enterprise");
    let mut acknowledged = Acknowledged::default();
    let keys = ["start", "back", "forth", "right", "restarted"];
    acknowledged.store(&organization.project(), keys[0]);
    for (key, time, report) in [
        (keys[1], BACK, "the system's clock went back by 7"),
        (keys[2], FORTH, "the system's clock jumped forward by "),
        (keys[3], RIGHT_AGAIN, "the system's clock went back by 63"),
    ] {
        clock.set(time);
        acknowledged.store(&organization.on(&server).project(), key);
        server.wait_for_log(report);
    }
    server.kill();
    server = Server::start_at(&database, &[], &clock);
    let project = organization.on(&server).project();
    acknowledged.store(&project, keys[4]);
    acknowledged.assert_kept(&project, &[]);
    let ids = keys.map(|key| acknowledged.0[key].clone());
    assert!(ids.is_sorted(), "ids grow along the log: {ids:?}");
    let received = ids.map(|id| moment(&project.event(&id)["received_at"]));
    assert!(received.is_sorted(), "stamps never go back: {received:?}");
    assert_eq!(
        received[0], received[1],
        "while the clock is behind, events have the latest stamp"
    );
    server.stop();
    command_line_on(&database, &["log", "verify"]).success();
}
