//! Behavior specific to PostgreSQL.

use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, alert_rule, door_opened, event_with,
};
use serde_json::{Value, json};
use std::thread;

const BATCHES: usize = 60;
const BATCH: usize = 100;

/// An event with a unique idempotency key, counted for a unique actor.
fn event(batch: usize, number: usize) -> Value {
    let name = format!("{batch}-{number}");
    event_with(json!({
        "action": "auth.login.failed",
        "actor": {"id": format!("user-{name}"), "type": "user"},
        "idempotency_key": name,
    }))
}

/// A project of a server on a database without autovacuum, so that no statistics exist.
fn unattended() -> (Database, Server, Client) {
    let database = Database::create(DatabaseKind::Postgres);
    let server = Server::start(&database, &[]);
    let client = Organization::create(&server, "enterprise").project();
    database.execute(
        "DO $$ DECLARE part REGCLASS; BEGIN
            FOR part IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'events'::regclass LOOP
                EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', part);
            END LOOP;
        END $$",
    );
    database.execute("ALTER TABLE alert_groups SET (autovacuum_enabled = off)");
    (database, server, client)
}

fn store(client: &Client, batch: usize) {
    client.store_all((0..BATCH).map(|number| event(batch, number)).collect());
}

/// The cost of a commit does not depend on the planner's statistics. A new database has none until its first
/// autovacuum, which comes a minute later or, where it is off, never. By then there can be millions of rows.
#[test]
fn a_commit_to_a_ledger_without_statistics_reads_only_what_it_needs() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, server, client) = unattended();
    for batch in 0..BATCHES {
        store(&client, batch);
    }
    // The log's tiles are built from stored events, so each event is read once or twice.
    assert_read_at_most(&database, server, 2 * BATCHES * BATCH);
}

/// Nor does the cost of a query, although its plan is cached for a while.
#[test]
fn a_query_of_a_ledger_without_statistics_reads_only_what_it_needs() {
    const QUERIES: usize = 50;
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, server, client) = unattended();
    let query = || {
        let ids = client.find_ids(&[("actor_id", "user-0-7")]);
        client.event(&ids[0]);
        let proof = client.get(&format!("/events/{}/proof", ids[0])).send();
        proof.expect_status(200);
        let first = client
            .get("/events")
            .query("limit", "10")
            .send()
            .expect_status(200);
        let next = client.get("/events").query("limit", "10");
        next.query("cursor", &first.text("cursor"))
            .send()
            .expect_status(200);
    };
    for batch in 0..BATCHES {
        store(&client, batch);
        query();
    }
    for _ in 0..QUERIES {
        query();
    }
    // Some tiles of the tree are built from events, at most 256 each.
    let events_read = 1 + 1 + 256 + 11 + 11;
    let queries = (BATCHES + QUERIES) * events_read;
    let stored = 2 * BATCHES * BATCH;
    // Few of those tiles are actually built from events. If one statement of each query read the whole ledger, the
    // number of rows would exceed this.
    assert_read_at_most(&database, server, stored + queries);
}

/// Stops the server and checks the number of rows that its sessions have read from `events` and from `alert_groups`.
fn assert_read_at_most(database: &Database, server: Server, rows: usize) {
    server.stop();
    // A session reports its reads to the statistics at its end, if not before.
    Deadline::seconds(60).poll("the end of all sessions", || {
        let sessions = "pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
            AND backend_type = 'client backend'";
        (database.count(sessions) == 0).then_some(())
    });
    // Those of this month and the next two, and another one where a month has ended since the start.
    let partitions = database.count("pg_stat_user_tables WHERE relname LIKE 'events\\_%'");
    assert!(partitions >= 3, "{partitions}");
    let counted = "pg_stat_user_tables WHERE relname LIKE 'events\\_%' AND last_autoanalyze IS NOT NULL";
    assert_eq!(database.count(counted), 0, "autovacuum is off");
    let read = format!(
        "pg_stat_user_tables WHERE (relname LIKE 'events\\_%' OR relname = 'alert_groups')
            AND coalesce(idx_tup_fetch, 0) + seq_tup_read > {rows}"
    );
    assert_eq!(database.count(&read), 0, "no statement reads the whole ledger");
}

/// Sessions whose last statement, not within a transaction, stored events.
const STORED_BY_ONE_STATEMENT: &str = "pg_stat_activity WHERE datname = current_database() AND state = 'idle'
    AND query LIKE 'WITH heads AS %'";

/// Stores events that require no other writes, one per request, until the node knows the end of the ledger. Returns their
/// number.
fn store_until_known(database: &Database, client: &Client, name: &str) -> usize {
    let mut stored = 0;
    Deadline::seconds(60).poll("an event that is stored by one statement", || {
        client.store(event_with(
            json!({"action": "a.b", "idempotency_key": format!("{name}-{stored}")}),
        ));
        stored += 1;
        // Each second the session of the writer stores a checkpoint, possibly after the event.
        (stored >= 5 && database.count(STORED_BY_ONE_STATEMENT) > 0).then_some(stored)
    })
}

/// Two servers on one database, each with the same project.
fn two_nodes() -> (Database, [Server; 2], Organization, [Client; 2]) {
    let database = Database::create(DatabaseKind::Postgres);
    let servers = [Server::start(&database, &[]), Server::start(&database, &[])];
    let organization = Organization::create(&servers[0], "enterprise");
    let clients = servers.each_ref().map(|server| organization.on(server).project());
    (database, servers, organization, clients)
}

#[test]
fn a_node_that_is_alone_stores_events_by_one_statement_and_takes_note_of_others() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, servers, _, [one, two]) = two_nodes();
    let mut stored = store_until_known(&database, &one, "first");
    // The other node stores two events meanwhile: one to be repeated, and one whose key is reused with other content.
    let keyed = |key: &str, name: &str| event_with(json!({"idempotency_key": key, "actor": {"name": name}}));
    let same = two.store(keyed("same", "Ann"));
    let other = two.store(keyed("other", "Bob"));
    assert_eq!(one.store(keyed("same", "Ann")), same);
    stored += store_until_known(&database, &one, "second");
    assert_eq!(
        one.store(keyed("same", "Ann")),
        same,
        "the key is found although the node did not look it up first"
    );
    let conflict = one.post("/events").json(keyed("other", "Eve")).send();
    conflict.expect_error(409, "conflict");
    let ids = one.store_all(vec![
        keyed("new", "Ann"),
        keyed("other", "Bob"),
        keyed("new", "Ann"),
    ]);
    assert_eq!((&ids[1], &ids[2]), (&other, &ids[0]));
    stored += store_until_known(&database, &two, "third");
    assert_eq!(one.count(), stored + 2 + 1);
    for server in &servers {
        server.command_line(&["log", "verify"]).success();
    }
}

/// A node that is alone does not look up keys until one is stored already.
#[test]
fn a_key_that_is_stored_already_refuses_nothing_but_its_own_event() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, servers, _, [one, two]) = two_nodes();
    let keyed = |key: &str, action: &str| event_with(json!({"action": action, "idempotency_key": key}));
    let first = one.store(keyed("first", "a.b"));
    let mut stored = 0;
    for (node, name) in [(&one, "one"), (&two, "two")] {
        stored += store_until_known(&database, node, name);
        // The node has not looked up keys yet; after the first repeat it does so for a while.
        for (before, behind) in [("a", "b"), ("c", "d")] {
            let ids = node.store_all(vec![
                keyed(&format!("{name}-{before}"), "a.b"),
                keyed("first", "a.b"),
                keyed(&format!("{name}-{behind}"), "a.b"),
            ]);
            assert_eq!(ids[1], first);
        }
        let conflict = node.post("/events").json(keyed("first", "a.c")).send();
        conflict.expect_error(409, "conflict");
    }
    assert_eq!(one.count(), 1 + stored + 2 * 4);
    for server in &servers {
        server.command_line(&["log", "verify"]).success();
    }
}

#[test]
fn what_another_node_configures_holds_for_the_next_event() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, servers, organization, [one, two]) = two_nodes();
    store_until_known(&database, &one, "first");
    let other = organization.on(&servers[1]);
    other.create_alert_rule(alert_rule(json!({"threshold": 2})));
    // Each node counts the events that the other one has stored.
    one.store(door_opened("ann"));
    two.store(door_opened("ann"));
    assert_eq!(one.only_alert()["event_count"], 2);
    store_until_known(&database, &one, "second");
    for client in [&one, &one, &two, &one] {
        client.store(door_opened("bob"));
    }
    assert_eq!(one.all_alerts().len(), 3);
    store_until_known(&database, &one, "third");
    other.create_rule(json!({"type": "pattern", "name": "animal", "pattern": "zebra"}));
    let id = one.store(event_with(json!({"actor": {"name": "zebra"}})));
    assert_eq!(one.event(&id)["actor"]["name"], "[REDACTED]");
}

#[test]
fn projects_are_made_while_events_are_stored() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, servers, organization, [one, _]) = two_nodes();
    store_until_known(&database, &one, "first");
    let other = organization.on(&servers[1]);
    thread::scope(|scope| {
        let making = scope.spawn(|| {
            for number in 0..40 {
                other.create_project(&format!("project {number}"));
            }
        });
        while !making.is_finished() {
            one.store(event_with(json!({"action": "a.b"})));
        }
    });
}

/// Errors are distinguished by their kind, because PostgreSQL translates its messages (`lc_messages`).
#[test]
fn a_temporary_error_is_503_and_an_undefined_table_is_500_in_every_language() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let server = Server::start(&database, &[]);
    let master = Organization::create(&server, "enterprise").master();
    let create_project = || master.post("/projects").json(json!({"name": "p"})).send();
    create_project().expect_status(201);
    // The statement timeout, a lock timeout, a full disk and a shutdown, as a German server reports them.
    for (sqlstate, message) in [
        (
            "57014",
            "storniere Anfrage wegen Zeit\u{fc}berschreitung der Anfrage",
        ),
        (
            "55P03",
            "storniere Anfrage wegen Zeit\u{fc}berschreitung einer Sperre",
        ),
        (
            "53100",
            "auf dem Ger\u{e4}t ist kein Speicherplatz mehr verf\u{fc}gbar",
        ),
        (
            "57P01",
            "breche Verbindung ab aufgrund von Anweisung des Administrators",
        ),
    ] {
        database.execute(&format!(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{sqlstate}', MESSAGE = '{message}'; END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON projects EXECUTE FUNCTION refuse()"
        ));
        create_project().expect_error(503, "unavailable");
        database.execute("DROP TRIGGER refuse ON projects; DROP FUNCTION refuse");
        create_project().expect_status(201);
    }
    database.execute("ALTER TABLE projects RENAME TO renamed");
    create_project().expect_error(500, "internal_error");
    database.execute("ALTER TABLE renamed RENAME TO projects");
    create_project().expect_status(201);
}

/// A counter of the statistics of `ledgers`.
fn ledgers_statistic(database: &Database, counter: &str) -> i64 {
    let each = format!("pg_stat_user_tables, generate_series(1, {counter}) WHERE relname = 'ledgers'");
    database.count(&each)
}

/// A plan is cached for a while. One that was made for a few ledgers reads all of them, which must end once there are many.
#[test]
fn commits_read_no_other_ledgers_although_their_statements_were_planned_when_there_were_few() {
    const LEDGERS: i64 = 3_000;
    const COMMITS: i64 = 20;
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let server = Server::start(&database, &[]);
    let client = Organization::create(&server, "enterprise").project();
    // Otherwise a new analysis would discard the plan.
    database.execute("ALTER TABLE ledgers SET (autovacuum_enabled = off); ANALYZE ledgers");
    store_until_known(&database, &client, "planned");
    database.execute(&format!(
        "INSERT INTO ledgers (id, project_id, environment, group_id, configuration_version, size)
         SELECT 1000000 + number, project_id, 'other-' || number, group_id, 1, 0
         FROM (SELECT project_id, group_id FROM ledgers LIMIT 1) AS one, generate_series(1, {LEDGERS}) AS number"
    ));
    let mut before = (0, 0);
    let mut number = 0;
    Deadline::seconds(120).poll("a commit that reads few ledgers", || {
        number += 1;
        client.store(event_with(json!({"idempotency_key": format!("event-{number}")})));
        // A session reports both counters at once, some time after its commits.
        let commits = ledgers_statistic(&database, "n_tup_upd");
        let rows = ledgers_statistic(&database, "seq_tup_read + coalesce(idx_tup_fetch, 0)");
        let (new_commits, new_rows) = (commits - before.0, rows - before.1);
        if new_commits < COMMITS {
            return None;
        }
        before = (commits, rows);
        (new_rows < new_commits * LEDGERS / 10).then_some(())
    });
}
