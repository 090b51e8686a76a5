//! What the servers remove by themselves, within five seconds after a start and every few minutes then.

use super::{TRUSTING, UNLIMITED, assert_limited, nodes};
use audit_tests::{
    Database, DatabaseKind, Deadline, Organization, Server, Stream, address, event, event_with,
    on_both_databases, webhook_environment,
};
use serde_json::json;

/// Five seconds after the start, and a busy machine.
const PURGE_SECONDS_MAX: u64 = 60;
/// An address where nobody listens.
const NOBODY: &str = "https://127.0.0.1:1/hook";
const DAY_MICROS: u64 = 24 * 60 * 60 * 1_000_000;

/// Waits until so many rows are left.
fn wait_for_rows(database: &Database, rows: &str, count: i64) {
    Deadline::seconds(PURGE_SECONDS_MAX).poll(rows, || (database.count(rows) == count).then_some(()));
}

/// Bytes as SQL writes them.
fn bytes(kind: DatabaseKind, number: usize) -> String {
    match kind {
        DatabaseKind::Sqlite => format!("X'{number:064x}'"),
        DatabaseKind::Postgres => format!("'\\x{number:064x}'::bytea"),
    }
}

/// Writes rows of streams that expired long ago, with two events each.
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

on_both_databases! {
    many_expired_streams_are_removed_by_several_nodes_at_once,
    a_limit_that_counts_is_not_forgotten,
    deliveries_are_kept_for_thirty_days,
    groups_of_alert_rules_are_kept_as_long_as_they_matter,
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
        server.terminate();
        let log = server.wait(Deadline::seconds(15)).stderr;
        assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
    }
}

fn a_limit_that_counts_is_not_forgotten(kind: DatabaseKind) {
    let limits = [
        TRUSTING,
        ("AUDIT_STREAM_REQUESTS_PER_MINUTE", "0"),
        ("AUDIT_STREAM_NEW_PER_DAY", "2"),
    ];
    let database = Database::create(kind);
    let server = Server::start(&database, &limits);
    let [today, yesterday] = [(); 2].map(|()| address());
    for address in [&today, &yesterday] {
        let client = server.client().with_address(address);
        Stream::of(&client).store(event());
        Stream::of(&client).store(event());
    }
    drop(server);
    database.execute(&format!(
        "UPDATE stream_clients SET day = day - 2, last_seen_at = last_seen_at - {} WHERE client = '{yesterday}'",
        2 * DAY_MICROS
    ));
    let server = Server::start(&database, &limits);
    wait_for_rows(&database, "stream_clients", 1);
    let begin = |address: &str| Stream::of(&server.client().with_address(address)).send(event());
    assert_limited(begin(&today), "rate_limited", super::UNTIL_MIDNIGHT);
    begin(&yesterday).expect_status(201);
    begin(&yesterday).expect_status(201);
    assert_limited(begin(&yesterday), "rate_limited", super::UNTIL_MIDNIGHT);
}

fn deliveries_are_kept_for_thirty_days(kind: DatabaseKind) {
    const ATTEMPTS_OF_NONE: &str =
        "delivery_attempts WHERE delivery_id NOT IN (SELECT id FROM webhook_deliveries)";
    let database = Database::create(kind);
    let server = Server::start(&database, &webhook_environment());
    let created = Organization::create(&server, "enterprise");
    let webhook = created.create_webhook(NOBODY);
    let master = created.master();
    let mut ids = Vec::new();
    for number in 1..=4 {
        ids.push(master.test_webhook(&webhook)["id"].clone());
        Deadline::seconds(60).poll("the delivery to fail", || {
            (database.count("webhook_deliveries WHERE finished_at IS NOT NULL") == number).then_some(())
        });
    }
    drop(server);
    // Finished 31, 30, and 29 days ago, the last one just now. The ids are in the order of time.
    for (older_than, days) in [(3, 31), (2, 30), (1, 29)] {
        database.execute(&format!(
            "UPDATE webhook_deliveries SET finished_at = created_at - {} WHERE
            (SELECT count(*) FROM webhook_deliveries other WHERE other.id > webhook_deliveries.id) = {older_than}",
            days * DAY_MICROS
        ));
    }
    let attempts = database.count("delivery_attempts");
    assert_eq!(attempts, 4);
    let server = Server::start(&database, &webhook_environment());
    wait_for_rows(&database, "webhook_deliveries", 2);
    assert_eq!(database.count(ATTEMPTS_OF_NONE), 0);
    assert_eq!(database.count("delivery_attempts"), 2);
    let left: Vec<_> = created
        .on(&server)
        .master()
        .deliveries(&webhook)
        .iter()
        .map(|delivery| delivery["id"].clone())
        .collect();
    assert_eq!(left, [ids[3].clone(), ids[2].clone()]);
}

fn groups_of_alert_rules_are_kept_as_long_as_they_matter(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    let created = Organization::create(&server, "enterprise");
    let failed = |actor: &str| event_with(json!({"action": "auth.failed", "actor": {"id": actor}}));
    for actor in ["a", "b", "c"] {
        created.project().store_all(vec![failed(actor); 4]);
    }
    drop(server);
    assert_eq!(database.count("alert_groups"), 3);
    let first = "SELECT group_hash FROM alert_groups ORDER BY group_hash LIMIT 1";
    database.execute(&format!(
        "UPDATE alert_groups SET expires_at = 1 WHERE group_hash = ({first})"
    ));
    let server = Server::start(&database, &[]);
    wait_for_rows(&database, "alert_groups", 2);
    let project = created.on(&server).project();
    for actor in ["a", "b", "c"] {
        project.store(failed(actor));
    }
    // The group that was removed had forgotten its four events; the others had not.
    assert_eq!(project.all_alerts().len(), 2);
}

/// Between the moment at which a server finds that it knows a client and the moment at which it reads what it knows,
/// another node may have forgotten the client. SQLite has one writer, so there it cannot.
#[test]
fn a_client_that_is_forgotten_while_it_sends_is_known_anew() {
    const PAUSE: &str = "CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(1); RETURN NULL; END $$;
        CREATE TRIGGER pause AFTER INSERT ON stream_clients FOR EACH STATEMENT EXECUTE FUNCTION pause()";
    const PAUSED: &str = "pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let server = Server::start(&database, &[]);
    let stream = Stream::of(&server.client());
    stream.store(event());
    database.execute(PAUSE);
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| stream.send(event()));
        Deadline::seconds(60).poll("the pause", || (database.count(PAUSED) > 0).then_some(()));
        database.execute("DELETE FROM stream_clients");
        sender.join().expect("an answer").expect_status(201);
    });
    assert_eq!(stream.state().1, 2);
}
