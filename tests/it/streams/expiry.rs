//! Expiry after seven days. The tests control the clock.

use super::UNLIMITED;
use audit_tests::{
    Clock, Database, DatabaseKind, Deadline, Organization, Server, Stream, event, on_both_databases,
};
use serde_json::json;

const CREATED: &str = "2026-03-10T10:20:30.456Z";
const LAST_MILLISECOND: &str = "2026-03-17T10:20:30.455Z";
const EXPIRES: &str = "2026-03-17T10:20:30.456Z";

/// The first purge starts within five seconds after a start; the rest is slack for a busy machine.
const PURGE_SECONDS_MAX: u64 = 60;

fn assert_expired(stream: &Stream, organization: &Organization) {
    assert_eq!(stream.state().0, "expired");
    stream.send(event()).expect_error(410, "stream_expired");
    stream
        .send(json!([event(), event()]))
        .expect_error(410, "stream_expired");
    stream
        .claim(&organization.master())
        .send()
        .expect_error(410, "stream_expired");
}

on_both_databases! {
    a_stream_lives_for_seven_days,
    what_expired_is_removed_and_never_comes_back,
}

fn a_stream_lives_for_seven_days(database: DatabaseKind) {
    let Some(mut clock) = Clock::at(CREATED) else {
        return;
    };
    let server = Server::start_at(&Database::create(database), UNLIMITED, &clock);
    let organization = Organization::create(&server, "enterprise");
    let streams = [(); 2].map(|()| Stream::of(&server.client()));
    streams[0].store(event());
    streams[1].store(event());
    clock.set("2026-03-15T00:00:00Z");
    streams[0].store(event());
    let info = streams[0].info().expect_status(200);
    assert_eq!(info["created_at"], CREATED);
    assert_eq!(
        info["expires_at"], EXPIRES,
        "a later event does not extend the expiry"
    );
    clock.set(LAST_MILLISECOND);
    streams.iter().for_each(|stream| drop(stream.store(event())));
    assert_eq!(streams[0].state(), ("active".to_owned(), 3));
    assert_eq!(streams[1].move_to(&organization.master()), 2);
    clock.set(EXPIRES);
    assert_expired(&streams[0], &organization);
    assert_eq!(streams[0].state().1, 3);
    assert_eq!(organization.project().count(), 2);
}

fn what_expired_is_removed_and_never_comes_back(database: DatabaseKind) {
    let Some(mut clock) = Clock::at(CREATED) else {
        return;
    };
    let database = Database::create(database);
    let server = Server::start_at(&database, UNLIMITED, &clock);
    let organization = Organization::create(&server, "enterprise");
    let begin = |count: usize| {
        let stream = Stream::of(&server.client());
        stream.store_all(vec![event(); count]);
        stream
    };
    let expired = [(); 3].map(|()| begin(5));
    let claimed = begin(3);
    claimed.move_to(&organization.master());
    clock.set(LAST_MILLISECOND);
    let alive = begin(2);
    clock.set(EXPIRES);
    drop(server);

    let server = Server::start_at(&database, UNLIMITED, &clock);
    let organization = organization.on(&server);
    Deadline::seconds(PURGE_SECONDS_MAX).poll("the purge", || {
        (database.count("stream_events") == 2).then_some(())
    });
    assert_eq!(database.count("streams"), 5, "the tombstones are not purged");
    let expired = expired.map(|stream| stream.held_by(&server.client()));
    let claimed = claimed.held_by(&server.client());
    for moment in [EXPIRES, "2027-05-01T00:00:00Z", CREATED, EXPIRES] {
        clock.set(moment);
        expired
            .iter()
            .for_each(|stream| assert_expired(stream, &organization));
        assert_eq!(claimed.state(), ("claimed".to_owned(), 3));
        let again = claimed.claim(&organization.master()).send();
        again.expect_error(410, "stream_already_claimed");
        claimed.send(event()).expect_error(410, "stream_already_claimed");
    }
    assert_eq!(expired[0].state().1, 5);
    let alive = alive.held_by(&server.client());
    assert_eq!(alive.move_to(&organization.master()), 2);
    assert_eq!(organization.project().count(), 5);
}
