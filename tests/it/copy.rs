//! `db copy` moves a deployment from SQLite to PostgreSQL.

use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Finished, Organization, Received, Reply, Server, Stream,
    Subscription, command_line, command_line_on, command_line_with, door_opened, event_with, serve_refused,
    start_command_line, temporary_directory, webhook_environment,
};
use serde_json::{Value, json};

/// A PNG image of one pixel.
const LOGO: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const ENCRYPTION_KEY: (&str, &str) = (
    "AUDIT_ENCRYPTION_KEY",
    "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
);
/// Tables that a copy does not take as they are: `database/copied_tables.rs` of audit-store gives the reasons.
const NOT_COMPARED: [&str; 17] = [
    "__diesel_schema_migrations",
    "database_copy",
    "event_backlog",
    "event_keys",
    "event_times",
    "events",
    "key_filter",
    "key_filter_blocks",
    "key_filter_layers",
    "key_filter_ledgers",
    "ledgers",
    "removed_rows",
    "tenant_logs",
    "tenant_map_tiles",
    "tenant_maps",
    "tenant_tiles",
    "unordered_events",
];

/// A destination with a run and an event that was set aside. Its configuration opens with no key.
const ADD_DESTINATION: &str = "\
    INSERT INTO destinations SELECT 'dst_1', id, 'live', 'SIEM', 'https', 'json', TRUE, '[]', '{}', X'01', X'02', FALSE, 1, 'acme' \
        FROM projects LIMIT 1; \
    INSERT INTO destination_runs SELECT 'dst_1', 0, id, 2, 3, 4, X'05', '{}', 6, 'delayed', 7, 8, 9, X'0a', 11, 12, 13, 14, '{}', 15 \
        FROM ledgers LIMIT 1; \
    INSERT INTO destination_set_aside VALUES ('dst_1', 0, 4, 2, X'01', X'02', 3, 'refused')";
/// A removal whose records are being written: nothing depends on it.
const ADD_REMOVAL: &str = "\
    INSERT INTO removals SELECT id, 1, 'retention', 'collecting', NULL, 0, 1, 0, 1, NULL, X'01', 2, 3, X'04' FROM ledgers LIMIT 1; \
    INSERT INTO removed_events SELECT id, 0, 1, \
        X'00ffff00000000000000000000000000000000000000000000000000000000000000000000000000000000' FROM ledgers LIMIT 1; \
    INSERT INTO removed_tenants SELECT id, 6, X'07' FROM ledgers LIMIT 1";
const REMOVE_REMOVAL: &str = "DELETE FROM removed_tenants; DELETE FROM removed_events; DELETE FROM removals";
/// Before a server checks the secrets.
const REMOVE_DESTINATION: &str =
    "DELETE FROM destination_set_aside; DELETE FROM destination_runs; DELETE FROM destinations";

fn environment<'a>() -> Vec<(&'a str, &'a str)> {
    let mut environment = webhook_environment().to_vec();
    environment.push(ENCRYPTION_KEY);
    environment
}

fn copy(source: &Database, target: &Database, finish: bool) -> Finished {
    let mut arguments = vec!["db", "copy", "--from", source.url(), "--to", target.url()];
    arguments.extend(finish.then_some("--finish"));
    command_line_with(&arguments, &[ENCRYPTION_KEY])
}

/// A new source and a new target; `None` where PostgreSQL is missing.
fn databases() -> Option<(Database, Database)> {
    let kinds = [DatabaseKind::Sqlite, DatabaseKind::Postgres];
    kinds[1].is_available().then(|| {
        let [source, target] = kinds.map(Database::create);
        (source, target)
    })
}

/// A stopped source with some events in one live ledger.
fn stored(source: &Database, count: usize) -> Organization {
    let server = Server::start(source, &environment());
    let organization = Organization::create(&server, "enterprise");
    store(&organization.project(), 0, count);
    server.stop().success();
    organization
}

fn store(project: &Client, first: usize, count: usize) -> Vec<String> {
    let event = |number: usize| {
        event_with(json!({
            "actor": {"id": format!("actor-{}", number % 7)},
            "idempotency_key": (!number.is_multiple_of(3)).then(|| format!("key-{number}")),
            "metadata": {"text": format!("\"quoted\" \\ back\tslash ä {number}")},
        }))
    };
    let numbers: Vec<usize> = (first..first + count).collect();
    let batches = numbers.chunks(50);
    batches
        .flat_map(|batch| project.store_all(batch.iter().map(|number| event(*number)).collect()))
        .collect()
}

/// A deployment with rows in every table, and what clients hold of it.
struct Deployment {
    subscription: Subscription,
    organization: Organization,
    viewer_token: String,
    open_stream: Stream,
    /// The ids of two events with idempotency keys.
    repeatable: Vec<String>,
    list_cursor: String,
    feed_cursor: String,
    audit_state: String,
    log_key: Vec<u8>,
}

fn log_key(client: &Client) -> Vec<u8> {
    client.get("/log/key").send_raw().bytes
}

fn audit(organization: &Organization, server: &Server, state: &str) {
    let key = organization.project_key.as_str();
    command_line(&[
        "log",
        "audit",
        "--url",
        server.base_url(),
        "--key",
        key,
        "--state",
        state,
    ])
    .success();
}

impl Deployment {
    fn fill(server: &Server) -> Self {
        let subscription = Subscription::on(server);
        subscription.reply([Reply::Status(500)]);
        subscription.organization.raise_alert();
        subscription.wait_for_attempts(1);
        let organization = Organization::create(server, "enterprise");
        let (master, project) = (organization.master(), organization.project());
        organization.create_rule(json!({"type": "pattern", "name": "animal", "pattern": "zebra"}));
        organization
            .create_rule(json!({"type": "field_redact", "name": "secret", "fields": ["metadata.secret"]}));
        let tier = json!({"name": "support", "categories": ["mutation"], "hidden_fields": ["metadata"]});
        master.post("/viewer-tiers").json(tier).send().expect_status(201);
        let portal = json!({"name": "Acme", "logo": LOGO, "sign_in_url": "https://app.example.com/"});
        master.patch("/portal").json(portal).send().expect_status(200);
        let label = json!({"languages": {"en": {"label": "Created"}}});
        master
            .put("/actions/user.created")
            .json(label)
            .send()
            .expect_status(200);
        organization.test().store(event_with(json!({})));
        let revoked = organization.create_key("live");
        let keys = master.get("/keys").send().list("keys");
        let listed = keys
            .iter()
            .find(|key| key["prefix"] == revoked[..12])
            .expect("it is listed");
        let path = format!("/keys/{}", listed["id"].as_str().expect("an id"));
        master.delete(&path).send().expect_status(200);
        let claimed = Stream::of(&server.client());
        claimed.store(event_with(
            json!({"actor": {"id": "before"}, "occurred_at": "2026-01-15T10:30:00Z"}),
        ));
        let ids = store(&project, 0, 300);
        assert_eq!(claimed.move_to(&master), 1);
        let open_stream = Stream::of(&server.client());
        open_stream.store_all(vec![
            event_with(json!({"idempotency_key": "s"})),
            event_with(json!({})),
        ]);
        let page = project
            .get("/events")
            .query("limit", "40")
            .send()
            .expect_status(200);
        let fed = project
            .get("/events/feed")
            .query("limit", "40")
            .send()
            .expect_status(200);
        let state = temporary_directory("state-").join("audit.state");
        let audit_state = state.to_str().expect("a path in UTF-8").to_owned();
        audit(&organization, server, &audit_state);
        Self {
            viewer_token: organization.viewer_token("tenant-1", "support"),
            list_cursor: page.text("cursor"),
            feed_cursor: fed.text("cursor"),
            log_key: log_key(&project),
            repeatable: ids[1..3].to_vec(),
            subscription,
            organization,
            open_stream,
            audit_state,
        }
    }

    /// What clients read from a server.
    fn view(&self, server: &Server) -> Vec<Value> {
        let organization = self.organization.on(server);
        let (master, project) = (organization.master(), organization.project());
        let mut seen = project.pages(&[("limit", "100")]).concat();
        seen.extend(project.find(&[("search", "slash"), ("actor_id", "actor-3"), ("limit", "100")]));
        let viewer = organization.with_credential(&self.viewer_token);
        seen.extend(viewer.find(&[("limit", "50")]));
        seen.extend(
            project
                .get("/events")
                .query("cursor", &self.list_cursor)
                .query("limit", "40")
                .send()
                .list("events"),
        );
        let fed = project
            .get("/events/feed")
            .query("after", &self.feed_cursor)
            .query("limit", "100")
            .send();
        seen.extend(fed.expect_status(200).list("events"));
        for (path, member) in [
            ("/keys", "keys"),
            ("/projects", "projects"),
            ("/redaction/rules", "rules"),
            ("/viewer-tiers", "viewer_tiers"),
            ("/alerts/rules", "rules"),
        ] {
            let mut rows = master.get(path).send().expect_status(200).list(member);
            // A look-up may have noted a later use.
            for row in &mut rows {
                if let Some(row) = row.as_object_mut() {
                    row.remove("lastUsedAt");
                }
            }
            seen.extend(rows);
        }
        let portal = project.get("/portal").send().expect_status(200);
        assert_eq!(portal["portal"]["logo"], LOGO);
        assert_eq!(portal["portal"]["sign_in_url"], "https://app.example.com/");
        seen.push(portal["portal"].clone());
        let labels = project
            .get("/actions/labels?language=en")
            .send()
            .expect_status(200)["labels"]
            .clone();
        assert_eq!(labels[0]["label"], "Created");
        seen.push(labels);
        seen.extend(self.subscription.organization.on(server).project().all_alerts());
        seen
    }
}

#[test]
fn a_moved_deployment_answers_as_before() {
    let Some((source, target)) = databases() else {
        return;
    };
    let anchors = temporary_directory("anchors-");
    let mut with_anchors = environment();
    with_anchors.push((
        "AUDIT_ANCHOR_DIRECTORY",
        anchors.to_str().expect("a path in UTF-8"),
    ));
    let server = Server::start(&source, &with_anchors);
    server.wait_for_metric("audit_anchor_last_timestamp_seconds", 1);
    let deployment = Deployment::fill(&server);
    // A first pass beside the running server.
    let begun = copy(&source, &target, false).success();
    assert!(begun.contains("is still the deployment"), "{begun}");
    store(&deployment.organization.project(), 300, 300);
    let refusal = copy(&source, &target, true).refusal();
    assert!(refusal.contains("stop its server"), "{refusal}");
    let before = deployment.view(&server);
    server.stop().success();
    source.execute("INSERT INTO log_repairs SELECT id, 1, size, 'nothing' FROM ledgers");
    source.execute("INSERT INTO log_cosigned SELECT id, 1, 'cosigned', 0, 'with a quorum' FROM ledgers");
    source.execute(ADD_DESTINATION);
    source.execute(ADD_REMOVAL);

    let moved = copy(&source, &target, true).success();
    let line = format!("{}/live  601 events, root ", deployment.organization.project_id);
    assert!(moved.contains(&line) && moved.contains(": verified"), "{moved}");
    assert!(copy(&source, &target, true).success().contains("is complete"));
    assert_same_rows(&source, &target);
    target.execute(REMOVE_DESTINATION);
    target.execute(REMOVE_REMOVAL);

    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["org", "list"]] {
        let refusal = command_line_on(&source, command).refusal();
        assert!(refusal.contains("was moved to postgres://"), "{refusal}");
        assert_eq!(refusal.lines().count(), 1, "one clear line: {refusal}");
    }
    let server = Server::start(&target, &environment());
    assert_serves(deployment, &server, &before);
}

/// What clients hold is valid on the new server, which answers as the old one.
fn assert_serves(deployment: Deployment, server: &Server, before: &[Value]) {
    let organization = deployment.organization.on(server);
    let project = organization.project();
    let after = deployment.view(server);
    assert_eq!(after.len(), before.len());
    for (after, before) in after.iter().zip(before) {
        assert_eq!(after, before);
    }
    assert_eq!(log_key(&project), deployment.log_key);
    audit(&organization, server, &deployment.audit_state);
    // A repeated idempotency key has the id of its event; new events continue the log.
    assert_eq!(store(&project, 1, 2), deployment.repeatable);
    assert_eq!(project.count(), 601, "nothing was stored twice");
    store(&project, 600, 10);
    assert_eq!(project.count(), 611);
    audit(&organization, server, &deployment.audit_state);
    // Streams can be claimed.
    let stream = deployment.open_stream.held_by(&server.client());
    assert_eq!(stream.state(), ("active".to_owned(), 2));
    assert_eq!(stream.move_to(&organization.master()), 2);
    // A new project gets a ledger of its own.
    let another = organization.create_project("another");
    let key = organization.create_key_of(&another, "live");
    organization.with_credential(&key).store(event_with(json!({})));
    assert_eq!(organization.with_credential(&key).count(), 1);
    // The pending delivery is delivered, as the same message, and each attempt is in its log.
    let subscription = deployment.subscription.moved_to(server);
    subscription.reply([Reply::Status(200)]);
    let delivery = subscription.master.only_delivery(&subscription.webhook);
    if delivery["status"] == "pending" {
        subscription.master.retry_delivery(&delivery);
    }
    let received = Deadline::seconds(60).poll("the delivery", || {
        let delivery = subscription.master.only_delivery(&subscription.webhook);
        let received = subscription.wait_for(1);
        let attempts = delivery["attempts"].as_array().map(Vec::len);
        (delivery["status"] == "delivered" && attempts == Some(received.len())).then_some(received)
    });
    let ids: Vec<&str> = received.iter().map(Received::message_id).collect();
    assert!(ids.len() > 1 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

/// Every table that both databases have has the same rows, and at least one.
fn assert_same_rows(source: &Database, target: &Database) {
    for (table, columns) in source.tables() {
        if NOT_COMPARED.contains(&table.as_str()) {
            continue;
        }
        let (from, to) = (source.rows(&table, &columns), target.rows(&table, &columns));
        assert!(!from.is_empty(), "the test has no row in {table}");
        assert_eq!(from, to, "{table}");
    }
    let mut columns = source.tables().remove("ledgers").expect("ledgers");
    assert!(columns.remove("group_id"));
    assert_eq!(source.rows("ledgers", &columns), target.rows("ledgers", &columns));
    let shared = [
        "id",
        "content_hash",
        "content_salt",
        "sent_digest",
        "redacted",
        "body",
        "seq",
        "ledger_id",
    ];
    let shared = shared.map(str::to_owned).into();
    assert_eq!(source.rows("events", &shared), target.rows("events", &shared));
    let hashes = target.count("events WHERE idempotency_hash IS NOT NULL");
    assert_eq!(hashes, target.count("events WHERE sent_digest IS NOT NULL"));
    assert!(hashes > 0);
}

/// Kills a copy while the target executes an insert into `table`.
fn kill_during(source: &Database, target: &Database, table: &str) {
    target.pause_statements(&format!("AFTER INSERT ON {table}"));
    let pause = target.hold_pauses();
    let arguments = [
        "db",
        "copy",
        "--finish",
        "--from",
        source.url(),
        "--to",
        target.url(),
    ];
    let mut process = start_command_line(&arguments, &[ENCRYPTION_KEY]);
    Deadline::seconds(60).poll("the pause", || (target.paused() == 1).then_some(()));
    process.signal(rustix::process::Signal::KILL);
    process.wait(Deadline::seconds(60));
    drop(pause);
    target.end_sessions();
    let sessions = "pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    Deadline::seconds(60).poll("the end of the session", || {
        (target.count(sessions) == 0).then_some(())
    });
    target.execute(&format!("DROP TRIGGER pause ON {table}; DROP FUNCTION pause()"));
}

#[test]
fn a_killed_copy_is_not_served_and_continues() {
    let Some((source, target)) = databases() else {
        return;
    };
    let organization = stored(&source, 300);
    copy(&source, &target, false).success();
    let server = Server::start(&source, &environment());
    store(&organization.on(&server).project(), 300, 300);
    server.stop().success();
    // In the middle of the events, of the other tables, and between the marks in the two databases.
    for (table, events, is_moved) in [
        ("events", 300, false),
        ("log_checkpoints", 600, false),
        ("database_copy", 600, true),
    ] {
        kill_during(&source, &target, table);
        assert_eq!(target.count("events"), events, "{table}");
        let refusal = serve_refused(&target, &environment());
        assert!(refusal.contains("unfinished copy of sqlite:"), "{refusal}");
        let refusal = command_line_on(&target, &["org", "create", "--name", "x"]).refusal();
        assert!(refusal.contains("unfinished copy of sqlite:"), "{refusal}");
        match is_moved {
            true => assert!(serve_refused(&source, &environment()).contains("was moved to")),
            false => drop(Server::start(&source, &environment())),
        }
    }
    assert!(copy(&source, &target, true).success().contains("600 events"));
    let server = Server::start(&target, &environment());
    assert_eq!(organization.on(&server).project().count(), 600);
}

#[test]
fn a_target_with_anything_else_is_refused() {
    let Some((source, target)) = databases() else {
        return;
    };
    stored(&source, 3);
    target.execute("CREATE TABLE invoices (id BIGINT)");
    let refusal = copy(&source, &target, false).refusal();
    assert!(
        refusal.contains("tables of another program: invoices"),
        "{refusal}"
    );

    let served = Database::create(DatabaseKind::Postgres);
    drop(Server::start(&served, &[]));
    let refusal = copy(&source, &served, false).refusal();
    assert!(
        refusal.contains("rows in secrets, organizations, projects"),
        "{refusal}"
    );

    let (other, copied) = (
        Database::create(DatabaseKind::Sqlite),
        Database::create(DatabaseKind::Postgres),
    );
    stored(&other, 3);
    copy(&other, &copied, false).success();
    let refusal = copy(&source, &copied, false).refusal();
    assert!(refusal.contains("a copy of another deployment"), "{refusal}");

    // A source that was moved is not moved again: two logs would continue it.
    copy(&other, &copied, true).success();
    let second = Database::create(DatabaseKind::Postgres);
    let refusal = copy(&other, &second, true).refusal();
    assert!(refusal.contains("was moved to"), "{refusal}");
}

#[test]
fn a_source_that_cannot_be_copied_is_refused() {
    let Some((source, target)) = databases() else {
        return;
    };
    let refusal = copy(&source, &target, false).refusal();
    assert!(refusal.contains("no such database"), "{refusal}");
    assert!(source.tables().is_empty(), "it is not created");
    let refusal = copy(&target, &target, false).refusal();
    assert!(
        refusal.contains("source of a copy is an SQLite database"),
        "{refusal}"
    );
    stored(&source, 3);
    let refusal = copy(&source, &source, false).refusal();
    assert!(
        refusal.contains("target of a copy is a PostgreSQL database"),
        "{refusal}"
    );
    // Without the encryption key the signatures cannot be verified.
    let copied = command_line(&["db", "copy", "--from", source.url(), "--to", target.url()]);
    let refusal = copied.refusal();
    assert!(
        refusal.contains("AUDIT_ENCRYPTION_KEY does not match"),
        "{refusal}"
    );
}

#[test]
fn a_damaged_event_is_named_and_the_copy_is_not_served() {
    let Some((source, target)) = databases() else {
        return;
    };
    let organization = stored(&source, 300);
    let (undamaged, planted) = (source.copy(), source.copy());
    source.execute("UPDATE events SET body = replace(body, 'actor-3', 'actor-9') WHERE seq = 3");
    let refusal = copy(&source, &target, true).refusal();
    let name = format!(
        "the source is inconsistent: {}/live: event 3 ",
        organization.project_id
    );
    assert!(refusal.contains(&name), "{refusal}");
    assert!(serve_refused(&target, &environment()).contains("unfinished copy"));

    // Its text is right, and its idempotency key is lost, so that a retry would be stored again.
    let without_key = undamaged.copy();
    without_key.execute("DELETE FROM event_keys");
    let refusal = copy(&without_key, &Database::create(DatabaseKind::Postgres), true).refusal();
    assert!(refusal.contains("the hash of the idempotency key"), "{refusal}");

    // The events are right, and the tree over them is not.
    let source = undamaged;
    source.execute("UPDATE log_tiles SET hashes = zeroblob(8192)");
    let target = Database::create(DatabaseKind::Postgres);
    let refusal = copy(&source, &target, true).refusal();
    assert!(refusal.contains("the source is inconsistent"), "{refusal}");
    assert!(serve_refused(&target, &environment()).contains("unfinished copy"));
    drop(Server::start(&source, &environment()));

    // What the copy would leave behind.
    planted.execute(
        "INSERT INTO log_tiles (ledger_id, level, tile_index, hashes)
         SELECT id, 0, 1, zeroblob(8192) FROM ledgers WHERE environment = 'live'",
    );
    let target = Database::create(DatabaseKind::Postgres);
    let refusal = copy(&planted, &target, true).refusal();
    assert!(refusal.contains("the source is inconsistent"), "{refusal}");
}

#[test]
fn a_target_of_another_state_of_the_source_is_not_completed() {
    let Some((source, target)) = databases() else {
        return;
    };
    let organization = stored(&source, 20);
    let backup = source.copy();
    let add = |database: &Database, actor: &str| {
        let server = Server::start(database, &environment());
        let project = organization.on(&server).project();
        project.store_all(vec![door_opened(actor); 5]);
        server.stop().success();
    };
    add(&source, "one");
    copy(&source, &target, false).success();
    // The source is restored from a backup, and continues in another way.
    let refusal = copy(&backup, &target, true).refusal();
    assert!(refusal.contains("another state"), "{refusal}");
    add(&backup, "two");
    let refusal = copy(&backup, &target, true).refusal();
    assert!(refusal.contains("inconsistent"), "{refusal}");
    assert!(serve_refused(&target, &environment()).contains("unfinished copy"));
}
