//! The periodic purge: it runs within five seconds after a start and every few minutes from then on.

use super::{TRUSTING, UNLIMITED, UNTIL_MIDNIGHT, assert_limited, nodes};
use audit_tests::{
    Database, DatabaseKind, Deadline, Organization, Server, Stream, address, event, event_with,
    on_both_databases, webhook_environment,
};
use serde_json::{Value, json};

/// The purge starts within five seconds after the start; the rest is slack for a busy machine.
const PURGE_SECONDS_MAX: u64 = 60;
/// An address without a listener.
const NOBODY: &str = "https://127.0.0.1:1/hook";
const ACTORS: [&str; 3] = ["a", "b", "c"];
const DAY_MICROS: u64 = 24 * 60 * 60 * 1_000_000;

/// Waits until the number of rows is `count`.
fn wait_for_rows(database: &Database, rows: &str, count: i64) {
    Deadline::seconds(PURGE_SECONDS_MAX).poll(rows, || (database.count(rows) == count).then_some(()));
}

/// An SQL literal of bytes.
fn bytes(kind: DatabaseKind, number: usize) -> String {
    match kind {
        DatabaseKind::Sqlite => format!("X'{number:064x}'"),
        DatabaseKind::Postgres => format!("'\\x{number:064x}'::bytea"),
    }
}

/// Inserts rows of streams that expired long ago, with two events each.
fn insert_expired_streams(database: &Database, kind: DatabaseKind, count: usize) {
    let hashes: Vec<String> = (0..count).map(|number| bytes(kind, number)).collect();
    let stream = |hash: &String| format!("({hash}, 1, 2, 2, 0, 2, FALSE)");
    let streams: Vec<String> = hashes.iter().map(stream).collect();
    let event = |hash: &String| {
        format!("({hash}, 0, {hash}, 1, 1, FALSE, '{{}}'), ({hash}, 1, {hash}, 1, 1, FALSE, '{{}}')")
    };
    let events: Vec<String> = hashes.iter().map(event).collect();
    database.execute(&format!(
        "INSERT INTO streams (token_hash, created_at, expires_at, event_count, day, day_events, is_empty) VALUES {};
        INSERT INTO stream_events (token_hash, number, id, occurred_at, received_at, redacted, body) VALUES {}",
        streams.join(","),
        events.join(",")
    ));
}

/// Stores four events, one below the threshold, in each of three groups of an alert rule.
fn count_failures(organization: &Organization) -> impl Fn(&str) -> Value {
    let failed = |actor: &str| event_with(json!({"action": "auth.failed", "actor": {"id": actor}}));
    for actor in ACTORS {
        organization.project().store_all(vec![failed(actor); 4]);
    }
    failed
}

/// Makes four deliveries fail and returns their ids, oldest first.
fn fail_deliveries(database: &Database, organization: &Organization, webhook: &Value) -> Vec<Value> {
    let deliver = |number: i64| {
        let delivery = organization.master().test_webhook(webhook);
        Deadline::seconds(60).poll("the delivery to fail", || {
            let finished = database.count("webhook_deliveries WHERE finished_at IS NOT NULL");
            (finished == number).then_some(())
        });
        delivery["id"].clone()
    };
    (1..=4).map(deliver).collect()
}

on_both_databases! {
    many_expired_streams_are_removed_by_several_nodes_at_once,
    what_is_over_is_removed_and_what_matters_is_kept,
}

fn many_expired_streams_are_removed_by_several_nodes_at_once(kind: DatabaseKind) {
    const STREAMS: usize = 1_203;
    let database = Database::create(kind);
    let first = Server::start(&database, UNLIMITED);
    let organization = Organization::create(&first, "enterprise");
    let alive = Stream::of(&first.client());
    alive.store_all(vec![event(); 3]);
    drop(first);
    insert_expired_streams(&database, kind, STREAMS);
    let servers = nodes(&database, kind, UNLIMITED);
    let project = organization.on(&servers[0]).project();
    wait_for_rows(&database, "streams WHERE is_empty", STREAMS as i64);
    wait_for_rows(&database, "stream_events", 3);
    assert_eq!(database.count("streams"), STREAMS as i64 + 1);
    project.store(event());
    assert_eq!(
        alive
            .held_by(&servers[0].client())
            .move_to(&organization.on(&servers[0]).master()),
        3
    );
    for server in servers {
        let log = server.stop().stderr;
        // A new node of a database that is not new says so.
        let is_alarm = |line: &&str| {
            line.contains("ERROR") || line.contains("WARN") && !line.contains("unless this node is new")
        };
        assert_eq!(log.lines().find(is_alarm), None, "{log}");
    }
}

/// A single test covers every table, because each test would wait for the first purge.
fn what_is_over_is_removed_and_what_matters_is_kept(kind: DatabaseKind) {
    let limits = [
        TRUSTING,
        ("AUDIT_STREAM_REQUESTS_PER_MINUTE", "0"),
        ("AUDIT_STREAM_NEW_PER_DAY", "2"),
    ];
    let environment = [limits.as_slice(), &webhook_environment()].concat();
    let database = Database::create(kind);
    let server = Server::start(&database, &environment);
    let organization = Organization::create(&server, "enterprise");
    let webhook = organization.create_webhook(NOBODY);
    let deliveries = fail_deliveries(&database, &organization, &webhook);
    let failed = count_failures(&organization);
    let begin = |server: &Server, address: &str| {
        let client = server.client().with_address(address);
        Stream::of(&client).send(event())
    };
    let [today, yesterday] = [(); 2].map(|()| address());
    for address in [&today, &today, &yesterday, &yesterday] {
        begin(&server, address).expect_status(201);
    }
    drop(server);

    // Three finished 31, 30 and 29 days ago, the last one just now. The ids sort by time.
    for (newer, days) in [(3, 31), (2, 30), (1, 29)] {
        database.execute(&format!(
            "UPDATE webhook_deliveries SET finished_at = created_at - {} WHERE
            (SELECT count(*) FROM webhook_deliveries other WHERE other.id > webhook_deliveries.id) = {newer}",
            days * DAY_MICROS
        ));
    }
    let first = "SELECT group_hash FROM alert_groups ORDER BY group_hash LIMIT 1";
    database.execute(&format!(
        "UPDATE alert_groups SET expires_at = 1 WHERE group_hash = ({first});
        UPDATE stream_clients SET day = day - 2, last_seen_at = last_seen_at - {} WHERE client = '{yesterday}'",
        2 * DAY_MICROS
    ));
    assert_eq!(database.count("alert_groups"), 3);
    assert_eq!(database.count("delivery_attempts"), 4);

    let server = Server::start(&database, &environment);
    let organization = organization.on(&server);
    wait_for_rows(&database, "stream_clients", 1);
    wait_for_rows(&database, "webhook_deliveries", 2);
    wait_for_rows(&database, "alert_groups", 2);
    assert_eq!(
        database.count("delivery_attempts"),
        2,
        "attempts are deleted together with their deliveries"
    );
    let left = organization.master().deliveries(&webhook);
    let left: Vec<&Value> = left.iter().map(|delivery| &delivery["id"]).collect();
    assert_eq!(left, [&deliveries[3], &deliveries[2]]);
    assert_limited(begin(&server, &today), "rate_limited", UNTIL_MIDNIGHT);
    for status in [201, 201, 429] {
        begin(&server, &yesterday).expect_status(status);
    }
    for actor in ACTORS {
        organization.project().store(failed(actor));
    }
    // The purge removed the four counted events of one group. The other two groups still count theirs and fire.
    assert_eq!(organization.project().all_alerts().len(), 2);
}

/// Another node may delete the row of a client after an insert has found it and before the row is read. PostgreSQL only:
/// SQLite has one writer.
#[test]
fn a_client_that_is_deleted_while_it_sends_is_inserted_again() {
    const BLOCKED: &str = "pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let server = Server::start(&database, &[]);
    let stream = Stream::of(&server.client());
    stream.store(event());
    database.pause_statements("AFTER INSERT ON stream_clients");
    let held = database.hold_pauses();
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| stream.send(event()));
        let deadline = Deadline::seconds(60);
        deadline.poll("the pause", || (database.paused() > 0).then_some(()));
        let deletion = scope.spawn(|| database.execute("DELETE FROM stream_clients"));
        deadline.poll("the deletion", || {
            (deletion.is_finished() || database.count(BLOCKED) >= 2).then_some(())
        });
        drop(held);
        sender.join().expect("an answer").expect_status(201);
    });
    assert_eq!(stream.state().1, 2);
}
