//! The index on PostgreSQL: each node indexes the events that it stored, and leases say which node does the rest.

use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, Stream, address, event_with,
};
use serde_json::json;

/// Ranges of events that are not yet indexed.
const BEHIND: &str = "event_backlog";
/// Segments merged from merged segments.
const TWICE_MERGED: &str = "index_segments WHERE level >= 2 AND is_complete";
/// Requests a rebuild of the index, as an operator does.
const REBUILD_INDEX: &str = "DELETE FROM index_format";
/// What a crash of the database leaves when it loses all segments.
const LOSE_SEGMENTS: &str = "TRUNCATE index_segments, index_blocks;
    INSERT INTO event_backlog SELECT group_id, id, 0, size, month FROM ledgers JOIN ledger_months ON ledger_id = id";
/// Replaces the random ids of segments by 1, 2, 3 and so on, in sessions that begin afterwards. Not the marks, which the table draws.
const NUMBER_SEGMENTS: &str = "CREATE SEQUENCE segment_numbers;
    CREATE FUNCTION random() RETURNS DOUBLE PRECISION LANGUAGE sql AS
        'SELECT (nextval(''segment_numbers'') - 0.5::float8) / 2147483647';
    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$";
/// Restarts them.
const NUMBER_SEGMENTS_AGAIN: &str = "ALTER SEQUENCE segment_numbers RESTART";
/// Nodes that hold leases.
const HOLDERS: &str = "(SELECT DISTINCT token FROM index_groups WHERE expires_at > now()) AS holders";
/// Groups whose lease no node holds.
const FREE: &str = "index_groups WHERE expires_at <= now()";

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

fn wait_for_one_holder(database: &Database) {
    Deadline::seconds(60).poll("the leases", || {
        (database.count(FREE) == 0 && database.count(HOLDERS) == 1).then_some(())
    });
}

#[test]
fn another_node_takes_the_leases_of_a_killed_one_and_indexes_what_it_left() {
    another_node_takes_over(Server::kill);
}

#[test]
fn another_node_takes_the_leases_of_a_frozen_one_and_indexes_what_it_left() {
    // It is frozen for as long as the value is held.
    another_node_takes_over(|server| {
        server.freeze();
        server
    });
}

fn another_node_takes_over<T>(lose: impl FnOnce(Server) -> T) {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, first, organization) = node();
    let client = organization.project();
    wait_for_one_holder(&database);
    let second = Server::start(&database, &[]);
    let other = organization.on(&second).project();
    for number in 0..10 {
        store(if number % 2 == 0 { &client } else { &other }, number);
    }
    wait_until_indexed(&database);
    wait_for_one_holder(&database);
    store(&client, 10);
    let _lost = lose(first);
    store(&other, 11);
    assert_found(&other, 12);
    wait_until_indexed(&database);
    wait_for_one_holder(&database);
    assert_found(&other, 12);
}

#[test]
fn a_node_that_stops_gives_its_leases_up() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, server, organization) = node();
    wait_for_one_holder(&database);
    let groups = database.count(FREE) + database.count("index_groups WHERE expires_at > now()");
    assert!(groups > 1, "{groups}");
    store(&organization.project(), 0);
    stop(server);
    assert_eq!(database.count(BEHIND), 0, "a clean stop indexes what is stored");
    assert_eq!(database.count(FREE), groups);
}

#[test]
fn projects_are_in_groups_with_segments_of_their_own() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, _server, organization) = node();
    let project = |number: usize| {
        let project_id = organization.create_project(&format!("project {number}"));
        organization.with_credential(&organization.create_key_of(&project_id, "live"))
    };
    let projects: Vec<Client> = (0..12).map(project).collect();
    for (number, project) in projects.iter().enumerate() {
        store(project, number);
    }
    wait_until_indexed(&database);
    let of_ledgers = database.count("(SELECT DISTINCT group_id FROM ledgers WHERE size > 0) AS groups");
    let of_segments = database.count("(SELECT DISTINCT group_id FROM index_segments) AS groups");
    assert!(of_ledgers > 2, "{of_ledgers} of 12 projects");
    assert_eq!(of_segments, of_ledgers);
    for (number, project) in projects.iter().enumerate() {
        for other in 0..projects.len() {
            let found = project.find(&[("actor_id", &format!("actor-{other}"))]);
            assert_eq!(found.len(), usize::from(other == number));
        }
    }
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

/// Damages every block, so that an event that is found was not found by a block.
fn damage(database: &Database) {
    database.execute("UPDATE index_blocks SET bytes = '\\xffff'");
}

const DAMAGED: &str = "index_blocks WHERE bytes = '\\xffff'";

#[test]
fn an_index_of_an_older_format_is_rebuilt_while_events_are_found() {
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
    for other in ["UPDATE index_format SET format = format - 1", REBUILD_INDEX] {
        database.execute(other);
        damage(&database);
        let server = Server::start(&database, &[]);
        assert_found(&organization.on(&server).project(), 10);
        Deadline::seconds(60).poll("the rebuild", || {
            (database.count("index_format JOIN current_format USING (format)") == 1).then_some(())
        });
        wait_until_indexed(&database);
        assert_eq!(database.count(DAMAGED), 0, "{other}");
        assert_ne!(database.count("index_segments"), 0, "{other}");
        assert_found(&organization.on(&server).project(), 10);
        stop(server);
    }
}

/// A node of an older version runs beside those of a newer one.
#[test]
fn an_index_of_a_newer_format_stays_and_events_are_found_without_it() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, server, organization) = node();
    for number in 0..10 {
        store(&organization.project(), number);
    }
    wait_until_indexed(&database);
    stop(server);
    database.execute("UPDATE index_format SET format = format + 1");
    damage(&database);
    let blocks = database.count(DAMAGED);
    let server = Server::start(&database, &[]);
    let client = organization.on(&server).project();
    store(&client, 10);
    assert_found(&client, 11);
    stop(server);
    assert_eq!(
        (database.count(DAMAGED), database.count("index_blocks")),
        (blocks, blocks)
    );
    assert_ne!(database.count(BEHIND), 0, "left to a node of the newer version");
}

#[test]
fn segments_that_were_lost_are_not_taken_for_those_that_have_their_numbers() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, server, organization) = node();
    stop(server);
    database.execute(NUMBER_SEGMENTS);
    let server = Server::start(&database, &[]);
    let client = organization.on(&server).project();
    for number in 0..5 {
        store(&client, number);
        wait_until_indexed(&database);
    }
    // Makes the server read the index.
    assert_found(&client, 5);
    let numbers = "index_segments WHERE id < 100";
    assert_eq!(database.count(numbers), database.count("index_segments"));
    database.execute(NUMBER_SEGMENTS_AGAIN);
    database.execute(LOSE_SEGMENTS);
    wait_until_indexed(&database);
    assert_ne!(database.count("index_segments WHERE id = 1"), 0);
    assert_found(&client, 5);
}

#[test]
fn a_damaged_index_blocks_no_append_and_is_rebuilt_behind_a_running_server() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, server, organization) = node();
    store(&organization.project(), 0);
    wait_until_indexed(&database);
    stop(server);
    damage(&database);
    let server = Server::start(&database, &[]);
    let client = organization.on(&server).project();
    store(&client, 1);
    let found = client.get("/events").query("actor_id", "actor-0").send();
    found.expect_error(500, "internal_error");
    database.execute(REBUILD_INDEX);
    Deadline::seconds(60).poll("the rebuild", || {
        (database.count("index_format") == 1).then_some(())
    });
    assert_found(&client, 2);
    wait_until_indexed(&database);
    assert_found(&client, 2);
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
