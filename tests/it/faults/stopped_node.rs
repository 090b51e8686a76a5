//! A node that is stopped in the middle of its work and continued later: another one takes over, and neither loses nor repeats
//! anything.

use super::Acknowledged;
use audit_tests::{Client, Database, DatabaseKind, Deadline, Organization, Server, command_line_on};
use std::thread;

const WRITERS: usize = 4;
const REQUESTS: usize = 30;

/// Sends numbered events, each once. Requests may be refused and may take as long as the node is stopped.
fn write(client: &Client, writer: usize) -> Acknowledged {
    let mut acknowledged = Acknowledged::default();
    for number in 0..REQUESTS {
        acknowledged.store_in_the_end(client, &format!("writer{writer}-{number}"));
    }
    acknowledged
}

/// Longer than the locks of a transaction (1.5 s), the takeover of what it has not indexed (5 s) and its leases (10 s) take, which
/// the wait for the index of the other node shows.
#[test]
fn a_node_that_was_stopped_and_continued_loses_and_repeats_nothing() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let [stopped, other] = [(); 2].map(|()| Server::start(&database, &[]));
    let organization = Organization::create(&stopped, "enterprise");
    let mut acknowledged = Acknowledged::default();
    let (one, two) = (organization.project(), organization.on(&other).project());
    acknowledged.store(&one, "before");
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let client = one.with_own_connections();
                scope.spawn(move || write(&client, writer))
            })
            .collect();
        let begun = || (two.count() > WRITERS * 2).then_some(());
        Deadline::seconds(60).poll("events of the node", begun);
        stopped.freeze();
        acknowledged.store_in_the_end(&two, "meanwhile");
        // The other node indexes what the stopped one left, which needs its lease.
        Deadline::seconds(120).poll("an index of everything", || {
            (database.count("event_backlog") == 0).then_some(())
        });
        acknowledged.store_in_the_end(&two, "with its lease");
        stopped.thaw();
        for writer in writers {
            acknowledged.0.extend(writer.join().expect("a writer ends").0);
        }
    });
    assert_eq!(acknowledged.0.len(), 3 + WRITERS * REQUESTS);
    for client in [&one, &two] {
        acknowledged.assert_kept(client, &[]);
    }
    stopped.kill();
    other.kill();
    let server = Server::start(&database, &[]);
    acknowledged.assert_kept(&organization.on(&server).project(), &[]);
    server.stop();
    command_line_on(&database, &["log", "verify"]).success();
}
