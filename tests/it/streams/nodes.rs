//! Limits are exact: on two servers over one PostgreSQL, and on one server over SQLite.

use super::{TRUSTING, nodes_of};
use audit_tests::{
    Client, Clock, Database, DatabaseKind, Organization, Response, Server, Stream, address, event,
    event_with, on_both_databases,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;

const WRITERS: usize = 16;

/// Servers with low limits, on a clock that stands still.
struct Nodes(Vec<Server>);

impl Nodes {
    /// `None` without libfaketime.
    fn start(kind: DatabaseKind, limits: &[(&str, &str)]) -> Option<Self> {
        let clock = Clock::at("2026-03-10T12:00:00Z")?;
        let environment = [&[TRUSTING], super::UNLIMITED, limits].concat();
        let database = Database::create(kind);
        let start = |_| Server::start_at(&database, &environment, &clock);
        Some(Self((0..nodes_of(kind)).map(start).collect()))
    }

    /// Starts [`WRITERS`] writers at the same time, spread over the servers, and counts the responses by error code. The
    /// code of a success is empty.
    fn responses(
        &self,
        address: &str,
        work: impl Fn(&Client, usize) -> Vec<Response> + Sync,
    ) -> BTreeMap<String, usize> {
        let barrier = Barrier::new(WRITERS);
        let (barrier, work) = (&barrier, &work);
        let responses: Vec<Response> = thread::scope(|scope| {
            let start = |writer: usize| {
                let client = self.0[writer % self.0.len()].client().with_address(address);
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
        });
        let mut counts = BTreeMap::new();
        for response in responses {
            *counts.entry(response.code().to_owned()).or_default() += 1;
        }
        counts
    }

    fn client(&self) -> Client {
        self.0[0].client().with_address(&address())
    }
}

fn counts<const N: usize>(expected: [(&str, usize); N]) -> BTreeMap<String, usize> {
    expected.map(|(code, count)| (code.to_owned(), count)).into()
}

on_both_databases! {
    requests_are_counted_exactly,
    new_streams_are_counted_exactly,
    events_of_a_day_are_counted_exactly,
    events_in_all_are_counted_exactly,
    what_one_node_takes_another_counts,
    a_rule_made_on_one_node_holds_for_a_claim_on_another,
}

fn requests_are_counted_exactly(database: DatabaseKind) {
    let Some(nodes) = Nodes::start(database, &[("AUDIT_STREAM_REQUESTS_PER_MINUTE", "25")]) else {
        return;
    };
    let stream = Stream::of(&nodes.client());
    stream.store(event());
    let responses = nodes.responses(&address(), |client, writer| {
        let stream = stream.held_by(client);
        vec![
            stream.info(),
            if writer % 2 == 0 {
                stream.info()
            } else {
                stream.send(event())
            },
        ]
    });
    assert_eq!(responses, counts([("", 25), ("rate_limited", WRITERS * 2 - 25)]));
}

fn new_streams_are_counted_exactly(database: DatabaseKind) {
    let Some(nodes) = Nodes::start(database, &[("AUDIT_STREAM_NEW_PER_DAY", "9")]) else {
        return;
    };
    let shared = Stream::of(&nodes.client());
    let responses = nodes.responses(&address(), |client, writer| {
        let own = Stream::of(client).send(event());
        match writer {
            // The first request creates the stream; the others find it.
            0..4 => vec![own, shared.held_by(client).send(event())],
            _ => vec![own],
        }
    });
    let begun = responses[""];
    if shared.info().status() == 200 {
        assert_eq!(begun, 8 + 4, "eight separate streams and one shared stream");
    } else {
        assert_eq!(begun, 9);
    }
    assert_eq!(begun + responses["rate_limited"], WRITERS + 4);
}

fn events_of_a_day_are_counted_exactly(database: DatabaseKind) {
    let Some(nodes) = Nodes::start(database, &[("AUDIT_STREAM_EVENTS_PER_DAY", "10")]) else {
        return;
    };
    let stream = Stream::of(&nodes.client());
    let responses = nodes.responses(&address(), |client, _| vec![stream.held_by(client).send(event())]);
    assert_eq!(
        responses,
        counts([("", 10), ("stream_daily_limit_reached", WRITERS - 10)])
    );
    assert_eq!(stream.state().1, 10);
}

fn events_in_all_are_counted_exactly(database: DatabaseKind) {
    let Some(nodes) = Nodes::start(database, &[("AUDIT_STREAM_EVENTS_TOTAL", "20")]) else {
        return;
    };
    let organization = Organization::create(&nodes.0[0], "enterprise");
    let stream = Stream::of(&nodes.client());
    let three = || Value::Array(vec![event(); 3]);
    let responses = nodes.responses(&address(), |client, _| vec![stream.held_by(client).send(three())]);
    assert_eq!(
        responses,
        counts([("", 6), ("stream_event_limit_reached", WRITERS - 6)])
    );
    stream.store_all(vec![event(); 2]);
    stream
        .send(event())
        .expect_error(429, "stream_event_limit_reached");
    assert_eq!(stream.move_to(&organization.master()), 20);
    assert_eq!(organization.project().count(), 20);
}

fn what_one_node_takes_another_counts(database: DatabaseKind) {
    let limits = [
        ("AUDIT_STREAM_REQUESTS_PER_MINUTE", "8"),
        ("AUDIT_STREAM_NEW_PER_DAY", "2"),
        ("AUDIT_STREAM_EVENTS_PER_DAY", "4"),
    ];
    let Some(nodes) = Nodes::start(database, &limits) else {
        return;
    };
    let address = address();
    let clients: Vec<Client> = nodes
        .0
        .iter()
        .map(|node| node.client().with_address(&address))
        .collect();
    let client = |number: usize| &clients[number % clients.len()];
    let stream = Stream::of(client(0));
    for number in 0..4 {
        stream.held_by(client(number)).store(event());
    }
    for number in 0..2 {
        let response = stream.held_by(client(number)).send(event());
        response.expect_error(429, "stream_daily_limit_reached");
    }
    Stream::of(client(1)).store(event());
    Stream::of(client(0))
        .send(event())
        .expect_error(429, "rate_limited");
    for number in 0..2 {
        stream
            .held_by(client(number))
            .info()
            .expect_error(429, "rate_limited");
    }
}

fn a_rule_made_on_one_node_holds_for_a_claim_on_another(database: DatabaseKind) {
    let Some(nodes) = Nodes::start(database, &[]) else {
        return;
    };
    let (one, other) = (&nodes.0[0], nodes.0.last().expect("a server"));
    let organization = Organization::create(one, "enterprise");
    for word in ["zebra", "giraffe", "okapi"] {
        let stream = Stream::of(&nodes.client());
        let id = stream.store(event_with(json!({"metadata": {"note": word}})));
        organization.create_rule(json!({"type": "pattern", "name": word, "pattern": word}));
        stream.move_to(&organization.on(other).master());
        assert_eq!(
            organization.project().event(&id)["metadata"]["note"],
            "[REDACTED]"
        );
    }
}
