//! Gap-free under load, across nodes, and through `kill -9`.

use super::{end_of, everything, ids, next_id, page};
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Ending, Organization, Server, event, event_with,
    on_both_databases,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread;

const WRITERS: usize = 8;
/// How often a node is killed in the middle of its work.
const KILLS: usize = 6;
/// How many more requests are answered before each kill.
const RESPONSES_BETWEEN_KILLS: usize = 60;

/// The addresses of the nodes: the second is killed and restarted on another port.
struct Nodes {
    steady: Client,
    mortal: RwLock<Client>,
    answered: AtomicUsize,
    /// Of the writers.
    written: Ending,
    /// Of the followers, who otherwise end at the last event.
    over: Ending,
}

impl Nodes {
    fn mortal(&self) -> Client {
        self.mortal.read().expect("a lock that is never poisoned").clone()
    }
}

/// Posts until it is stopped, half of the time to the node that is killed. A request without a response is retried on
/// either node with the same idempotency keys. Returns the ids by key.
fn write(nodes: &Nodes, writer: usize) -> BTreeMap<String, String> {
    let steady = nodes.steady.with_own_connections();
    let mut acknowledged = BTreeMap::new();
    for request in 0.. {
        if nodes.written.is_announced() {
            break;
        }
        let size = if request % 4 == 0 { 9 } else { 1 };
        let keys: Vec<String> = (0..size).map(|n| format!("{writer}-{request}-{n}")).collect();
        let event = |key: &String| event_with(json!({"idempotency_key": key}));
        let body = Value::Array(keys.iter().map(event).collect());
        let first = if writer.is_multiple_of(2) {
            steady.clone()
        } else {
            nodes.mortal()
        };
        let ids = [first, steady.clone(), steady.clone()]
            .into_iter()
            .find_map(|client| {
                let response = client.post("/events").json(body.clone()).try_send().ok()?;
                (response.status() == 201).then(|| response.ids())
            });
        // While a killed node's transaction still locks the ledger, the other node may be overloaded as well.
        let Some(ids) = ids else { continue };
        acknowledged.extend(keys.into_iter().zip(ids));
        nodes.answered.fetch_add(1, Ordering::Relaxed);
    }
    acknowledged
}

/// Follows by long poll, alternating between the nodes, until `end` arrives.
fn follow_by_poll(nodes: &Nodes, end: &Mutex<Option<String>>) -> Vec<String> {
    let (mut followed, mut cursor) = (Vec::new(), None::<String>);
    for turn in 0.. {
        assert!(!nodes.over.is_announced(), "the test has failed elsewhere");
        let client = if turn % 2 == 0 {
            nodes.steady.with_own_connections()
        } else {
            nodes.mortal()
        };
        let mut request = client
            .get("/events/feed")
            .queries(&[("wait", "1"), ("limit", "7")]);
        if let Some(cursor) = &cursor {
            request = request.query("after", cursor);
        }
        let Ok(response) = request.try_send() else {
            continue;
        };
        if response.status() != 200 {
            continue;
        }
        followed.extend(ids(&response.list("events")));
        cursor = Some(response.text("cursor"));
        if followed.last() == end.lock().expect("a lock that is never poisoned").as_ref() {
            break;
        }
    }
    followed
}

/// Follows a stream of the node that is killed, and reconnects with the last id received.
fn follow_by_stream(nodes: &Nodes, end: &Mutex<Option<String>>) -> Vec<String> {
    let (mut followed, mut last_event_id) = (Vec::<String>::new(), String::new());
    loop {
        assert!(!nodes.over.is_announced(), "the test has failed elsewhere");
        let request = nodes
            .mortal()
            .get("/events/feed")
            .header("last-event-id", &last_event_id);
        // Between its end and its next start it accepts no connections.
        let Ok(mut stream) = request.try_open_events() else {
            continue;
        };
        while let Ok(sent) = stream.next(Deadline::seconds(2)) {
            assert_eq!(sent.event, "audit", "{sent:?}");
            let event: Value = serde_json::from_str(&sent.data).expect("JSON");
            followed.extend(ids(&[event]));
            last_event_id.clone_from(&stream.last_event_id);
        }
        if followed.last().is_some() && followed.last() == end.lock().expect("never poisoned").as_ref() {
            return followed;
        }
    }
}

fn kill_again_and_again(
    nodes: &Nodes,
    organization: &Organization,
    database: &Database,
    first: Server,
) -> Server {
    let mut server = first;
    for kill in 1..=KILLS {
        let deadline = Deadline::seconds(120);
        deadline.poll("answers between the kills", || {
            let answered = nodes.answered.load(Ordering::Relaxed);
            (answered >= kill * RESPONSES_BETWEEN_KILLS).then_some(())
        });
        server.kill();
        server = Server::start(database, &[]);
        *nodes.mortal.write().expect("never poisoned") = organization.on(&server).project();
    }
    server
}

on_both_databases! {
    the_feed_has_no_gap_and_no_repeat_although_a_node_is_killed_again_and_again,
}

fn the_feed_has_no_gap_and_no_repeat_although_a_node_is_killed_again_and_again(kind: DatabaseKind) {
    let database = Database::create(kind);
    let (steady, mortal) = (Server::start(&database, &[]), Server::start(&database, &[]));
    let organization = Organization::create(&steady, "enterprise");
    let nodes = Nodes {
        steady: organization.project(),
        mortal: RwLock::new(organization.on(&mortal).project()),
        answered: AtomicUsize::new(0),
        written: Ending::default(),
        over: Ending::default(),
    };
    let end = Mutex::new(None);
    thread::scope(|scope| {
        let (nodes, end) = (&nodes, &end);
        let _over = nodes.over.announced_on_drop();
        let written = nodes.written.announced_on_drop();
        let by_poll = scope.spawn(move || follow_by_poll(nodes, end));
        let by_stream = scope.spawn(move || follow_by_stream(nodes, end));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || write(nodes, writer)))
            .collect();
        let _mortal = kill_again_and_again(nodes, &organization, &database, mortal);
        drop(written);
        let acknowledged = writers
            .into_iter()
            .map(|writer| writer.join().expect("a writer ends"));
        let acknowledged: BTreeMap<String, String> = acknowledged.flatten().collect();
        let last = nodes.steady.store(event_with(json!({"action": "feed.ended"})));
        *end.lock().expect("never poisoned") = Some(last.clone());
        let log = ids(&everything(&nodes.steady, &[("limit", "200")]).0);
        assert_eq!(log.last(), Some(&last));
        assert_eq!(by_poll.join().expect("a follower ends"), log, "by long poll");
        assert_eq!(by_stream.join().expect("a follower ends"), log, "by stream");
        let stored: BTreeSet<&String> = log.iter().collect();
        assert_eq!(stored.len(), log.len(), "no event is repeated");
        let lost: Vec<_> = acknowledged.values().filter(|id| !stored.contains(id)).collect();
        assert!(lost.is_empty(), "acknowledged but not in the feed: {lost:?}");
        assert_eq!(nodes.steady.count(), log.len());
    });
}

/// Stores an event, retrying for as long as another transaction locks the ledger.
fn store_patiently(client: &Client, event: Value) -> String {
    let deadline = Deadline::seconds(60);
    deadline.poll("the ledger", || {
        let response = client.post("/events").json(event.clone()).send();
        (response.status() == 201).then(|| response.ids().remove(0))
    })
}

/// A node dies between sending `COMMIT` and receiving its confirmation. An event that the other node stores meanwhile
/// must not become visible first.
#[test]
fn a_commit_without_a_response_comes_once_and_nothing_overtakes_it() {
    const BLOCKED: &str = "pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let steady = Server::start(&database, &[]);
    let organization = Organization::create(&steady, "enterprise");
    let client = organization.project();
    database.pause_commits();
    let mut stream = client.get("/events/feed").open_events();
    let mut expected = Vec::new();
    for kill in 0..KILLS {
        let mortal = Server::start(&database, &[]);
        let doomed = organization.on(&mortal).project();
        let unheard = event_with(json!({"idempotency_key": format!("unheard-{kill}")}));
        let cursor = end_of(&client);
        let held = database.hold_pauses();
        let behind = thread::scope(|scope| {
            let lost = scope.spawn(|| doomed.post("/events").json(unheard.clone()).try_send());
            let deadline = Deadline::seconds(60);
            deadline.poll("the commit", || (database.paused() == 1).then_some(()));
            let behind = scope.spawn(|| store_patiently(&client, event()));
            deadline.poll("the commit behind it", || {
                (database.count(BLOCKED) >= 2).then_some(())
            });
            mortal.kill();
            let lost = lost.join().expect("no panic");
            assert!(lost.is_err(), "there was no response: {lost:?}");
            assert_eq!(page(&client, &[("after", &cursor)])["events"], json!([]));
            drop(held);
            behind.join().expect("the event is stored")
        });
        // A retry returns the id under which it was stored.
        let again = client.store(unheard);
        let news = ids(&page(&client, &[("after", &cursor)]).list("events"));
        assert_eq!(news, [again, behind]);
        expected.extend(news);
    }
    let streamed: Vec<String> = expected.iter().map(|_| next_id(&mut stream)).collect();
    assert_eq!(streamed, expected);
    assert_eq!(ids(&everything(&client, &[]).0), expected);
}
