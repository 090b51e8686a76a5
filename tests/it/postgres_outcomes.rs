//! Which failed writes a node repeats on PostgreSQL, and which locks it takes.

use audit_tests::{Client, Database, DatabaseKind, Deadline, Organization, Response, Server, event_with};
use serde_json::json;

/// A database whose statements of one kind fail at their first attempts, and a server on it.
struct Failing {
    database: Database,
    server: Server,
    organization: Organization,
}

impl Failing {
    fn new() -> Self {
        let database = Database::create(DatabaseKind::Postgres);
        let server = Server::start(&database, &[]);
        let organization = Organization::create(&server, "enterprise");
        database.execute("CREATE SEQUENCE attempts");
        Self {
            database,
            server,
            organization,
        }
    }

    /// From now on, the next statement or commit that `trigger` names fails with `failure`. Attempts are counted by a
    /// sequence, which is not rolled back.
    fn fail_once(&self, trigger: &str, failure: &str) {
        self.database.execute(&format!(
            "CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN
                    IF nextval('attempts') = 1 THEN {failure} END IF;
                    RETURN NULL;
                END $$;
            {trigger} EXECUTE FUNCTION fail_once()"
        ));
    }

    /// Removes the trigger. Returns how often it ran.
    fn attempts(&self) -> i64 {
        let attempts = (1..10).find(|count| {
            self.database
                .count(&format!("attempts WHERE is_called AND last_value = {count}"))
                == 1
        });
        self.database
            .execute("DROP FUNCTION fail_once CASCADE; ALTER SEQUENCE attempts RESTART");
        attempts.unwrap_or(0)
    }
}

const BEFORE_EVENTS: &str = "CREATE TRIGGER fail_once BEFORE INSERT ON events FOR EACH STATEMENT";
const AT_COMMIT: &str =
    "CREATE CONSTRAINT TRIGGER fail_once AFTER UPDATE ON ledgers DEFERRABLE INITIALLY DEFERRED FOR EACH ROW";
const END_SESSION: &str = "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60);";

fn send(client: &Client, key: &str) -> Response {
    let event = event_with(json!({"action": "a.b", "idempotency_key": key}));
    client.post("/events").json(event).send()
}

/// Stores events until the node stores them by one statement.
fn store_until_known(client: &Client) {
    for number in 0..5 {
        send(client, &format!("known-{number}")).expect_status(201);
    }
}

fn assert_unknown(response: Response) {
    let response = response.expect_error(503, "unavailable");
    let message = response.body()["error"]["message"].as_str().expect("a message");
    assert!(message.contains("outcome is unknown"), "{message}");
    assert!(response.header("retry-after").is_some(), "{response:?}");
}

#[test]
fn a_deadlock_or_serialization_failure_is_repeated() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let failing = Failing::new();
    let project = failing.organization.project();
    for (number, sqlstate) in ["40001", "40P01", "40001", "40P01"].iter().enumerate() {
        if number == 2 {
            store_until_known(&project);
        }
        // PostgreSQL translates its messages (`lc_messages`).
        let failure = format!("RAISE EXCEPTION USING ERRCODE = '{sqlstate}', MESSAGE = 'Verklemmung';");
        failing.fail_once(BEFORE_EVENTS, &failure);
        send(&project, &format!("event-{number}")).expect_status(201);
        assert_eq!(failing.attempts(), 2, "{sqlstate}");
    }
    failing.server.command_line(&["log", "verify"]).success();
}

#[test]
fn a_connection_that_is_lost_before_the_commit_is_replaced_and_the_commit_repeated() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let failing = Failing::new();
    // The head of the ledger is not known, so the first event is stored in a transaction.
    failing.fail_once(BEFORE_EVENTS, END_SESSION);
    send(&failing.organization.project(), "first").expect_status(201);
    assert_eq!(failing.attempts(), 2);
}

#[test]
fn a_commit_of_unknown_outcome_is_not_repeated_and_says_so() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let failing = Failing::new();
    let project = failing.organization.project();
    failing.fail_once(AT_COMMIT, END_SESSION);
    assert_unknown(send(&project, "in a transaction"));
    assert_eq!(failing.attempts(), 1);
    store_until_known(&project);
    failing.fail_once(BEFORE_EVENTS, END_SESSION);
    assert_unknown(send(&project, "in one statement"));
    assert_eq!(failing.attempts(), 1);
    for key in ["in a transaction", "in one statement"] {
        send(&project, key).expect_status(201);
    }
    assert_eq!(project.count(), 5 + 2);
}

#[test]
fn uses_of_keys_wait_for_no_lock() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let failing = Failing::new();
    let database = &failing.database;
    let locked = "api_keys WHERE project_id IS NULL";
    let held = database.hold_locks(&format!("SELECT FROM {locked} FOR UPDATE"));
    failing
        .organization
        .master()
        .get("/keys")
        .send()
        .expect_status(200);
    failing
        .organization
        .project()
        .get("/keys")
        .send()
        .expect_status(200);
    let used = "api_keys WHERE project_id IS NOT NULL AND last_used_at IS NOT NULL";
    Deadline::seconds(60).poll("the use of the other key", || {
        (database.count(used) > 0).then_some(())
    });
    assert_eq!(
        database.count(&format!("{locked} AND last_used_at IS NOT NULL")),
        0
    );
    drop(held);
}

#[test]
fn a_project_is_created_while_the_ledgers_are_vacuumed() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let failing = Failing::new();
    // VACUUM holds this lock.
    let lock = "LOCK TABLE ledgers IN SHARE UPDATE EXCLUSIVE MODE";
    let held = failing.database.hold_locks(lock);
    failing.organization.create_project("p");
    drop(held);
}
