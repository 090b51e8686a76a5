//! Concurrent claims and sends, on two servers with PostgreSQL and on one with SQLite.

use super::{UNLIMITED, ids_of, nodes};
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, Stream, event, event_with,
    on_both_databases,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::mpsc::{self, Sender};
use std::thread;

const CLAIMANTS: usize = 12;
const WRITERS: usize = 6;
/// Most rounds miss the race condition, so there are many.
const ROUNDS: usize = 20;
/// The number of responses to the writers before the claim is sent.
const RESPONSES_BEFORE_CLAIM: usize = 40;

/// The servers under test and three organizations.
struct Race {
    servers: Vec<Server>,
    organizations: [Organization; 3],
}

impl Race {
    fn start(kind: DatabaseKind) -> Self {
        let servers = nodes(&Database::create(kind), kind, UNLIMITED);
        Self {
            organizations: [(); 3].map(|()| Organization::create(&servers[0], "enterprise")),
            servers,
        }
    }

    fn server(&self, number: usize) -> &Server {
        &self.servers[number % self.servers.len()]
    }

    fn stream(&self) -> Stream {
        Stream::of(&self.servers[0].client())
    }

    /// Starts `count` workers at the same time, each with its own connections.
    fn together<T: Send>(&self, count: usize, work: impl Fn(usize, &Server) -> T + Sync) -> Vec<T> {
        let barrier = Barrier::new(count);
        let (barrier, work) = (&barrier, &work);
        thread::scope(|scope| {
            let start = |worker: usize| {
                let server = self.server(worker);
                scope.spawn(move || {
                    barrier.wait();
                    work(worker, server)
                })
            };
            let threads: Vec<_> = (0..count).map(start).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("a worker thread panicked"))
                .collect()
        })
    }
}

fn stored_ids(client: &Client) -> BTreeSet<String> {
    client
        .pages(&[("limit", "200")])
        .iter()
        .flat_map(|page| ids_of(page))
        .collect()
}

/// Sends batches of three and of one until the stream is claimed. Returns the acknowledged ids.
fn send_until_claimed(stream: &Stream, writer: usize, answered: &Sender<()>) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        let count = if (writer + number).is_multiple_of(2) { 3 } else { 1 };
        let response = stream.send(Value::Array(vec![event(); count]));
        if response.status() != 201 {
            response.expect_error(410, "stream_already_claimed");
            return acknowledged;
        }
        assert_eq!(response.ids().len(), count);
        acknowledged.extend(response.ids());
        answered.send(()).expect("the receiver outlives the writers");
    }
    acknowledged
}

on_both_databases! {
    of_twelve_claims_one_wins,
    what_is_sent_during_a_claim_is_moved_or_refused,
    a_key_that_is_claimed_and_sent_at_once_is_stored_once,
    claims_and_events_sent_to_one_project_lose_nothing,
    a_stream_that_many_begin_at_once_is_one,
    a_claim_at_the_moment_a_stream_begins_loses_nothing,
}

fn of_twelve_claims_one_wins(database: DatabaseKind) {
    let race = Race::start(database);
    let mut expected = [(); 3].map(|()| BTreeSet::new());
    for round in 0..4 {
        let stream = race.stream();
        let ids = stream.store_all(vec![event(); 20 + round]);
        let responses = race.together(CLAIMANTS, |claimant, server| {
            let organization = claimant % race.organizations.len();
            let master = race.organizations[organization].on(server).master();
            (organization, stream.claim(&master).send())
        });
        let mut winners = Vec::new();
        for (organization, response) in responses {
            if response.status() == 200 {
                assert_eq!(response["event_count"], json!(ids.len()));
                winners.push(organization);
            } else {
                response.expect_error(410, "stream_already_claimed");
            }
        }
        let [winner] = winners[..] else {
            panic!("expected exactly one winner, got {winners:?}")
        };
        expected[winner].extend(ids);
    }
    let stored = race
        .organizations
        .each_ref()
        .map(|organization| stored_ids(&organization.project()));
    assert_eq!(stored, expected);
}

fn what_is_sent_during_a_claim_is_moved_or_refused(database: DatabaseKind) {
    let race = Race::start(database);
    let organization = &race.organizations[0];
    let stream = race.stream();
    let mut acknowledged: BTreeSet<String> = [stream.store(event())].into();
    let (sender, answered) = mpsc::channel();
    let moved = thread::scope(|scope| {
        let start = |writer: usize| {
            let (stream, sender) = (stream.held_by(&race.server(writer).client()), sender.clone());
            scope.spawn(move || send_until_claimed(&stream, writer, &sender))
        };
        let writers: Vec<_> = (0..WRITERS).map(start).collect();
        let deadline = Deadline::seconds(60);
        for _ in 0..RESPONSES_BEFORE_CLAIM {
            let left = deadline.left().expect("the writers receive responses in time");
            answered
                .recv_timeout(left)
                .expect("the writers receive responses in time");
        }
        let moved = stream.move_to(&organization.on(race.server(1)).master());
        for writer in writers {
            acknowledged.extend(writer.join().expect("a writer thread panicked"));
        }
        moved
    });
    assert_eq!(stored_ids(&organization.project()), acknowledged);
    assert_eq!(moved, acknowledged.len() as u64);
    assert_eq!(stream.state(), ("claimed".to_owned(), moved));
}

fn a_key_that_is_claimed_and_sent_at_once_is_stored_once(database: DatabaseKind) {
    const KEYS: usize = 60;
    let race = Race::start(database);
    let organization = &race.organizations[0];
    let keyed = |key: usize| event_with(json!({"idempotency_key": format!("key-{key}")}));
    let streams = [(); 3].map(|()| race.stream());
    for stream in &streams {
        stream.store_all((0..KEYS).map(keyed).collect());
    }
    let responses = race.together(WRITERS, |worker, server| {
        let organization = organization.on(server);
        match streams.get(worker) {
            Some(stream) => (stream.move_to(&organization.master()), BTreeSet::new()),
            None => {
                let project = organization.project();
                let ids =
                    (0..KEYS / 5).flat_map(|n| project.store_all((n * 5..n * 5 + 5).map(keyed).collect()));
                (0, ids.collect())
            }
        }
    });
    let stored = stored_ids(&organization.project());
    assert_eq!(stored.len(), KEYS);
    let mut moved = 0;
    for (count, ids) in responses {
        moved += count;
        assert!(ids.is_subset(&stored), "every acknowledged id is stored");
        assert!(ids.is_empty() || ids.len() == KEYS);
    }
    assert!(moved <= KEYS as u64, "{moved}");
}

fn claims_and_events_sent_to_one_project_lose_nothing(database: DatabaseKind) {
    const CLAIMS: usize = 5;
    let race = Race::start(database);
    let organization = &race.organizations[0];
    let acknowledged = race.together(WRITERS, |worker, server| {
        let organization = organization.on(server);
        let mut ids = Vec::new();
        for round in 0..CLAIMS {
            if worker % 2 == 0 {
                ids.extend(organization.project().store_all(vec![event(); 10 + round]));
                continue;
            }
            let stream = Stream::of(&server.client());
            let sent = stream.store_all(vec![event(); 15 + round]);
            assert_eq!(stream.move_to(&organization.master()), sent.len() as u64);
            ids.extend(sent);
        }
        ids
    });
    let acknowledged: Vec<String> = acknowledged.concat();
    let expected: BTreeSet<String> = acknowledged.iter().cloned().collect();
    assert_eq!(expected.len(), acknowledged.len(), "every id is unique");
    assert_eq!(stored_ids(&organization.project()), expected);
    assert_eq!(organization.project().count(), expected.len());
}

fn a_stream_that_many_begin_at_once_is_one(database: DatabaseKind) {
    let race = Race::start(database);
    for _ in 0..ROUNDS {
        let stream = race.stream();
        let ids = race.together(WRITERS, |_, server| {
            stream.held_by(&server.client()).store(event())
        });
        let ids: BTreeSet<String> = ids.into_iter().collect();
        assert_eq!(ids.len(), WRITERS);
        assert_eq!(stream.state(), ("active".to_owned(), WRITERS as u64));
    }
}

fn a_claim_at_the_moment_a_stream_begins_loses_nothing(database: DatabaseKind) {
    const CLAIMANTS: usize = 2;
    let race = Race::start(database);
    let organization = &race.organizations[0];
    let mut acknowledged = BTreeSet::new();
    for _ in 0..ROUNDS {
        let stream = race.stream();
        let responses = race.together(WRITERS + CLAIMANTS, |worker, server| match worker {
            0..CLAIMANTS => stream.claim(&organization.on(server).master()).send(),
            _ => stream.held_by(&server.client()).send(event()),
        });
        let mut wins = 0;
        for response in responses {
            match (response.status(), response.code()) {
                (200, _) => wins += 1,
                (201, _) => acknowledged.extend(response.ids()),
                (404, "stream_not_found") | (410, "stream_already_claimed") => {}
                _ => panic!("{response:?}"),
            }
        }
        match stream.state().0.as_str() {
            "active" => drop(stream.move_to(&organization.master())),
            status => assert_eq!((status, wins), ("claimed", 1)),
        }
    }
    assert_eq!(stored_ids(&organization.project()), acknowledged);
}
