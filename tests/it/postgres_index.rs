//! The index on PostgreSQL, which one node writes for all nodes, concurrently with commits.

use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, Stream, address, event_with,
};
use serde_json::json;

/// Ledgers with events that are not yet indexed.
const BEHIND: &str =
    "ledgers LEFT JOIN indexed ON ledger_id = id WHERE ledgers.size > coalesce(indexed.size, 0)";
/// Segments merged from merged segments.
const TWICE_MERGED: &str = "index_segments WHERE level >= 2 AND is_complete";
/// Removes a damaged index, as an operator does.
const REMOVE_INDEX: &str = "TRUNCATE index_segments, index_blocks, indexed";
/// Sessions that write the index.
const WRITERS: &str =
    "pg_locks WHERE locktype = 'advisory' AND classid = 1 AND objid = 'indexed'::regclass AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// A server on a new database.
fn node() -> (Database, Server, Organization) {
    let database = Database::create(DatabaseKind::Postgres);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    (database, server, organization)
}

fn stop(server: Server) {
    server.stop();
}

fn wait_until_indexed(database: &Database) {
    Deadline::seconds(60).poll("the index", || (database.count(BEHIND) == 0).then_some(()));
}

/// Stores an event of an actor of its own.
fn store(client: &Client, number: usize) {
    client.store(event_with(
        json!({"actor": {"id": format!("actor-{number}"), "name": format!("Ann{number} Common")}}),
    ));
}

/// Asserts that actors and words find the first `events`, and that a common word finds nothing else.
fn assert_found(client: &Client, events: usize) {
    for number in (0..events).step_by(events / 20 + 1) {
        let actor = format!("actor-{number}");
        assert_eq!(client.find(&[("actor_id", &actor)]).len(), 1, "{actor}");
        let search = format!("ann{number} comm*");
        assert_eq!(client.find(&[("search", &search)]).len(), 1, "{search}");
    }
    let pages = client.pages(&[("search", "common"), ("limit", "100")]);
    assert_eq!(pages.iter().map(Vec::len).sum::<usize>(), events);
}

#[test]
fn the_next_node_goes_on_where_the_one_that_writes_it_was_killed() {
    another_node_goes_on(Server::kill);
}

#[test]
fn the_next_node_goes_on_where_the_one_that_writes_it_hangs() {
    // It hangs for as long as the value is held.
    another_node_goes_on(|server| {
        server.freeze();
        server
    });
}

fn another_node_goes_on<T>(lose: impl FnOnce(Server) -> T) {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, first, organization) = node();
    let client = organization.project();
    store(&client, 0);
    wait_until_indexed(&database);
    assert_eq!(database.count(WRITERS), 1);
    let second = Server::start(&database, &[]);
    let other = organization.on(&second).project();
    for number in 1..10 {
        store(if number % 2 == 0 { &client } else { &other }, number);
    }
    wait_until_indexed(&database);
    assert_eq!(database.count(WRITERS), 1, "one of the two nodes");
    let _lost = lose(first);
    store(&other, 10);
    assert_found(&other, 11);
    wait_until_indexed(&database);
    assert_eq!(database.count(WRITERS), 1);
    assert_found(&other, 11);
}

#[test]
fn events_are_found_on_every_node_while_segments_come_and_go() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let nodes = [Server::start(&database, &[]), Server::start(&database, &[])];
    let organization = Organization::create(&nodes[0], "enterprise");
    let clients = nodes.each_ref().map(|node| organization.on(node).project());
    let mut stored = 0;
    while database.count(TWICE_MERGED) == 0 {
        store(&clients[stored % 2], stored);
        stored += 1;
        let other = &clients[stored % 2];
        for number in [stored - 1, stored / 2, 0] {
            let actor = format!("actor-{number}");
            assert_eq!(
                other.find(&[("actor_id", &actor)]).len(),
                1,
                "{actor} of {stored}"
            );
        }
        assert!(stored < 100_000, "segments are merged");
    }
    wait_until_indexed(&database);
    for client in &clients {
        assert_found(client, stored);
    }
}

#[test]
fn what_is_not_in_it_is_filed_before_a_node_answers() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, server, organization) = node();
    for number in 0..10 {
        store(&organization.project(), number);
    }
    stop(server);
    database.execute(REMOVE_INDEX);
    let server = Server::start(&database, &[]);
    assert_eq!(database.count(BEHIND), 0);
    assert_found(&organization.on(&server).project(), 10);
}

/// Events are found after the restart although the blocks of the other format cannot be read.
#[test]
fn an_index_of_another_format_is_rebuilt_before_a_node_responds() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, server, organization) = node();
    for number in 0..10 {
        store(&organization.project(), number);
    }
    wait_until_indexed(&database);
    stop(server);
    assert_eq!(database.count("index_format"), 1);
    database.execute("CREATE TABLE current_format AS SELECT format FROM index_format");
    for other in [
        "UPDATE index_format SET format = format - 1",
        "UPDATE index_format SET format = format + 1",
        "DELETE FROM index_format",
    ] {
        database.execute(other);
        database.execute("UPDATE index_blocks SET bytes = '\\xffff'");
        let server = Server::start(&database, &[]);
        assert_eq!(database.count(BEHIND), 0, "{other}");
        assert_eq!(
            database.count("index_blocks WHERE bytes = '\\xffff'"),
            0,
            "{other}"
        );
        assert_eq!(
            database.count("index_format JOIN current_format USING (format)"),
            1,
            "{other}"
        );
        assert_found(&organization.on(&server).project(), 10);
        stop(server);
    }
}

#[test]
fn segments_that_were_lost_are_not_taken_for_those_that_have_their_numbers() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, _server, organization) = node();
    let client = organization.project();
    for number in 0..5 {
        store(&client, number);
        wait_until_indexed(&database);
    }
    // Makes the server read the index.
    assert_found(&client, 5);
    // As a crash of the database loses the unsynced part of the index. Its events are indexed again, with the same ids.
    database.execute(REMOVE_INDEX);
    wait_until_indexed(&database);
    assert_ne!(database.count("index_segments WHERE id = 1"), 0);
    assert_found(&client, 5);
}

#[test]
fn a_damaged_index_blocks_no_append_and_is_rebuilt_once_removed() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, server, organization) = node();
    store(&organization.project(), 0);
    wait_until_indexed(&database);
    stop(server);
    database.execute("UPDATE index_blocks SET bytes = '\\xffff'");
    let server = Server::start(&database, &[]);
    let client = organization.on(&server).project();
    store(&client, 1);
    let found = client.get("/events").query("actor_id", "actor-0").send();
    found.expect_error(500, "internal_error");
    stop(server);
    database.execute(REMOVE_INDEX);
    let server = Server::start(&database, &[]);
    assert_found(&organization.on(&server).project(), 2);
}

#[test]
fn events_of_one_time_come_by_their_ids_those_that_were_claimed_too() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, server, organization) = node();
    let client = organization.project();
    let at_noon = |number: usize| {
        event_with(json!({
            "actor": {"id": format!("actor-{number}"), "type": "user"},
            "occurred_at": "2026-01-02T12:00:00Z",
        }))
    };
    let stream = Stream::of(&server.client().with_address(&address()));
    // Older ids that enter the log after newer ones.
    let mut ids = stream.store_all(vec![at_noon(0), at_noon(1)]);
    ids.push(client.store(at_noon(2)));
    assert_eq!(stream.move_to(&organization.master()), 2);
    ids.push(client.store(at_noon(3)));
    ids.reverse();
    let pages = |filter| {
        let pages = client.pages(&[filter, ("limit", "1")]);
        let ids = pages
            .concat()
            .into_iter()
            .map(|event| event["id"].as_str().map(str::to_owned));
        ids.map(|id| id.expect("an id")).collect::<Vec<_>>()
    };
    for _ in ["not yet indexed", "indexed"] {
        for filter in [("actor_type", "user"), ("start_date", "2026-01-01T00:00:00Z")] {
            assert_eq!(pages(filter), ids, "{filter:?}");
        }
        wait_until_indexed(&database);
    }
}
