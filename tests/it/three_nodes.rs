//! Three servers on one PostgreSQL database, to which clients write at the same time, hold what one server promises. SQLite has one.

use audit_tests::{
    Client, Clock, Database, DatabaseKind, Organization, Response, Server, Stream, Subscription, door_opened,
    event, event_with, webhook_environment,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

const NODES: usize = 3;
/// Simultaneous clients of each node.
const CLIENTS: usize = 3;
const DAILY_LIMIT: usize = 40;

/// Three servers, and an organization that they all serve.
struct Nodes {
    servers: Vec<Server>,
    organization: Organization,
}

impl Nodes {
    /// `None` where PostgreSQL is missing.
    fn start() -> Option<Self> {
        Self::start_by(Server::start)
    }

    /// The same with servers that this function starts.
    fn start_by(start: impl Fn(&Database, &[(&str, &str)]) -> Server) -> Option<Self> {
        if !DatabaseKind::Postgres.is_available() {
            return None;
        }
        let database = Database::create(DatabaseKind::Postgres);
        let limit = DAILY_LIMIT.to_string();
        let [allow_private, authority] = webhook_environment();
        let environment = [
            ("AUDIT_DAILY_LIMIT_FREE", limit.as_str()),
            allow_private,
            authority,
        ];
        let servers: Vec<Server> = (0..NODES).map(|_| start(&database, &environment)).collect();
        Some(Self {
            organization: Organization::create(&servers[0], "enterprise"),
            servers,
        })
    }

    /// Runs `work` for each client at the same time, spread over the nodes, with connections of its own.
    fn at_once<T: Send>(
        &self,
        organization: &Organization,
        work: impl Fn(&Organization, usize) -> T + Sync,
    ) -> Vec<T> {
        let barrier = Barrier::new(NODES * CLIENTS);
        let (barrier, work) = (&barrier, &work);
        thread::scope(|scope| {
            let start = |number: usize| {
                let organization = organization.on(&self.servers[number % NODES]);
                scope.spawn(move || {
                    barrier.wait();
                    work(&organization, number)
                })
            };
            let threads: Vec<_> = (0..NODES * CLIENTS).map(start).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("a client panicked"))
                .collect()
        })
    }

    /// A client of each node.
    fn projects(&self) -> Vec<Client> {
        let on = |server: &Server| self.organization.on(server).project();
        self.servers.iter().map(on).collect()
    }
}

fn feed(client: &Client) -> Vec<String> {
    let page = client
        .get("/events/feed")
        .query("limit", "200")
        .send()
        .expect_status(200);
    assert_eq!(page["has_more"], false);
    let id = |event: &Value| event["id"].as_str().expect("an id").to_owned();
    page.list("events").iter().map(id).collect()
}

#[test]
fn three_nodes_store_each_event_once_and_in_one_log() {
    let Some(nodes) = Nodes::start() else { return };

    // One idempotency key, sent to all nodes at once, is one event.
    let keyed = event_with(json!({"idempotency_key": "once"}));
    let ids = nodes.at_once(&nodes.organization, |organization, _| {
        organization.project().store(keyed.clone())
    });
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 1, "{ids:?}");

    // All events are in the feed of every node, in one order.
    let stored = nodes.at_once(&nodes.organization, |organization, _| {
        organization.project().store_all(vec![event(); 20])
    });
    let stored: BTreeSet<String> = stored.concat().into_iter().chain(ids).collect();
    let feeds: Vec<Vec<String>> = nodes.projects().iter().map(feed).collect();
    assert!(feeds.iter().all(|feed| *feed == feeds[0]));
    assert_eq!(feeds[0].len(), NODES * CLIENTS * 20 + 1);
    assert_eq!(feeds[0].iter().cloned().collect::<BTreeSet<_>>(), stored);

    // A checkpoint of each node covers them, and the log is right.
    for project in nodes.projects() {
        let note = project.get("/log/checkpoint").send_raw();
        let note = String::from_utf8(note.bytes).expect("a note");
        assert_eq!(
            note.lines().nth(1),
            Some(feeds[0].len().to_string().as_str()),
            "{note}"
        );
    }
    nodes.servers[0].command_line(&["log", "verify"]).success();
}

#[test]
fn the_limit_of_a_day_is_that_of_three_nodes_together() {
    // Midnight would begin another day.
    let Some(clock) = Clock::at("2026-03-10T12:00:00Z") else {
        return;
    };
    let on_clock =
        |database: &Database, environment: &[(&str, &str)]| Server::start_at(database, environment, &clock);
    let Some(nodes) = Nodes::start_by(on_clock) else {
        return;
    };
    let free = Organization::create(&nodes.servers[0], "free");
    let codes = nodes.at_once(&free, |organization, _| {
        let send = || organization.project().post("/events").json(json!(event())).send();
        (0..10).map(|_| send().status()).collect::<Vec<_>>()
    });
    let accepted = codes.concat().into_iter().filter(|status| *status == 201).count();
    assert_eq!(accepted, DAILY_LIMIT);
    assert_eq!(free.project().count(), DAILY_LIMIT);
}

#[test]
fn three_nodes_raise_an_alert_once_and_deliver_it_once() {
    let Some(nodes) = Nodes::start() else { return };
    let subscription = Subscription::on(&nodes.servers[0]);
    let organization = subscription.organization.on(&nodes.servers[0]);
    let actors: Vec<usize> = nodes.at_once(&organization, |organization, number| {
        organization
            .project()
            .store(door_opened(&format!("actor-{number}")));
        let failed = event_with(json!({"action": "auth.failed"}));
        organization.project().store(failed);
        number
    });
    // One alert for each door, and one for nine failures of one actor.
    let messages = subscription.wait_for(actors.len() + 1);
    let ids: BTreeSet<&str> = messages.iter().map(|message| message.message_id()).collect();
    assert_eq!((messages.len(), ids.len()), (actors.len() + 1, actors.len() + 1));
    let alerts = organization.project().get("/alerts").send().list("alerts");
    let brute_force = alerts
        .iter()
        .filter(|alert| alert["rule_id"] == "auth_brute_force");
    assert_eq!((alerts.len(), brute_force.count()), (actors.len() + 1, 1));
}

#[test]
fn what_is_revoked_or_claimed_on_one_of_three_nodes_holds_on_all() {
    let Some(nodes) = Nodes::start() else { return };
    let key = nodes.organization.create_key("live");
    let clients: Vec<Client> = nodes
        .servers
        .iter()
        .map(|server| server.client().with_credential(&key))
        .collect();
    for client in &clients {
        client.store(event());
    }
    nodes.organization.on(&nodes.servers[1]).revoke_key(&key);
    for client in &clients {
        client
            .post("/events")
            .json(json!(event()))
            .send()
            .expect_error(401, "key_revoked");
        client.get("/events").send().expect_error(401, "key_revoked");
    }

    let stream = Stream::of(&nodes.servers[0].client());
    stream.send(event()).expect_status(201);
    let before = nodes.organization.project().count();
    let claims: Vec<Response> = nodes.at_once(&nodes.organization, |organization, _| {
        stream.claim(&organization.master()).send()
    });
    let (claimed, refused): (Vec<&Response>, Vec<&Response>) =
        claims.iter().partition(|response| response.status() == 200);
    assert_eq!(claimed.len(), 1, "{claims:?}");
    assert!(
        refused
            .iter()
            .all(|response| response.code() == "stream_already_claimed")
    );
    for project in nodes.projects() {
        assert_eq!(project.count(), before + 1);
    }
}
