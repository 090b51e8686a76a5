//! Running and stopping: health, metrics, SIGTERM.

use audit_tests::process::Exit;
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, event_with, moment, now_plus,
    on_both_databases,
};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::mpsc;
use std::thread;

fn metrics(client: &Client) -> String {
    let response = client.request("GET", "/metrics").send_raw();
    assert_eq!(response.status, 200);
    let content_type = response.header("content-type").unwrap_or_default();
    assert!(content_type.starts_with("text/plain"), "{content_type}");
    String::from_utf8(response.bytes).expect("metrics are text")
}

/// Posts events until the connection is refused or cut, and returns the acknowledged ids.
fn post_until_stopped(client: &Client, writer: usize, answered: &mpsc::Sender<()>) -> Vec<String> {
    let mut ids = Vec::new();
    for number in 0.. {
        let key = format!("{writer}-{number}");
        let event = event_with(json!({"idempotency_key": key}));
        let Ok(response) = client.post("/events").json(event).try_send() else {
            break;
        };
        if response.status() == 503 {
            break;
        }
        ids.append(&mut response.expect_status(201).ids());
        answered.send(()).expect("the receiver outlives the writers");
    }
    ids
}

on_both_databases! {
    health_and_readiness_need_no_key,
    metrics_are_in_the_text_format_of_prometheus,
    the_first_metrics_of_a_server_have_the_size_of_its_database,
    the_database_and_the_next_end_of_a_key_are_measured,
    projects_have_metrics_only_where_the_operator_wants_them,
    unknown_paths_do_not_grow_the_metrics,
    sigterm_finishes_what_was_accepted_and_exits_with_0,
    sigterm_does_not_wait_for_idle_connections,
    a_server_drains_before_it_stops,
}

fn health_and_readiness_need_no_key(database: DatabaseKind) {
    let client = Server::shared(database).client();
    assert_eq!(
        client.request("GET", "/healthz").send().expect_status(200)["status"],
        "ok"
    );
    assert_eq!(
        client.request("GET", "/readyz").send().expect_status(200)["status"],
        "ready"
    );
}

fn metrics_are_in_the_text_format_of_prometheus(database: DatabaseKind) {
    let server = Server::shared(database);
    let organization = Organization::fresh(database);
    organization
        .project()
        .store(event_with(json!({"actor": {"name": "Somebody"}})));
    let text = metrics(&server.client());
    assert!(text.contains("# TYPE "), "{text}");
    for line in text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        let value = line.rsplit(' ').next().expect("a sample has a value");
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
    for secret in [
        "Somebody",
        "actor-1",
        "tenant-1",
        organization.project_key.as_str(),
        &organization.project_id,
    ] {
        assert!(
            !text.contains(secret),
            "metrics contain no personal data: {secret}"
        );
    }
}

fn the_first_metrics_of_a_server_have_the_size_of_its_database(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[]);
    // A value is 0 until the first measurement, and the periodic ones follow after seconds.
    assert!(server.metric("audit_database_bytes") > 0);
}

fn the_database_and_the_next_end_of_a_key_are_measured(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[]);
    let organization = Organization::create(&server, "enterprise");
    organization.project().store(event_with(json!({})));
    let end = now_plus(3_600);
    let body = json!({"project_id": organization.project_id, "type": "project", "name": "ending", "expires_at": end});
    organization
        .master()
        .post("/keys")
        .json(body)
        .send()
        .expect_status(201);
    server.wait_for_metric("audit_key_next_end_timestamp_seconds", 1);
    let expected = moment(&json!(end)).unix_timestamp();
    let measured = server.metric("audit_key_next_end_timestamp_seconds");
    assert_eq!(i64::try_from(measured), Ok(expected));
    assert!(server.metric("audit_database_bytes") > 0);
    // The role of the tests may see the write-ahead log of PostgreSQL.
    assert!(server.metric("audit_database_wal_bytes") > 0);
    assert_eq!(
        server.metric("audit_database_index_bytes") > 0,
        database == DatabaseKind::Sqlite
    );
    server.wait_for_metric("audit_checkpoint_last_timestamp_seconds", 1);
    Deadline::seconds(60).poll("the event is indexed", || {
        (server.metric("audit_index_backlog_events") == 0).then_some(())
    });
    assert_eq!(server.metric("audit_index_backlog_seconds"), 0);
}

fn projects_have_metrics_only_where_the_operator_wants_them(database: DatabaseKind) {
    let name = "audit_project_events_last_minute{project_id=\"other\"}";
    let without = Server::shared(database);
    assert!(!metrics(&without.client()).contains("audit_project_events_last_minute{"));
    let server = Server::start(&Database::create(database), &[("AUDIT_PROJECT_METRICS", "1")]);
    assert_eq!(server.metric(name), 0);
}

fn unknown_paths_do_not_grow_the_metrics(database: DatabaseKind) {
    let client = Server::shared(database).client();
    for number in 0..50 {
        client
            .request("GET", &format!("/made-up-path-{number}"))
            .send()
            .expect_status(404);
        client
            .get(&format!("/events/made-up-id-{number}"))
            .send()
            .expect_status(401);
    }
    let text = metrics(&client);
    assert!(
        !text.contains("made-up"),
        "a label for every requested path would fill the memory"
    );
}

fn sigterm_finishes_what_was_accepted_and_exits_with_0(database: DatabaseKind) {
    let database = Database::create(database);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let (sender, answered) = mpsc::channel();
    let (ids, finished) = thread::scope(|scope| {
        let start = |writer: usize| {
            let (client, sender) = (project.with_own_connections(), sender.clone());
            scope.spawn(move || post_until_stopped(&client, writer, &sender))
        };
        let writers: Vec<_> = (0..8).map(start).collect();
        let deadline = Deadline::seconds(60);
        for _ in 0..40 {
            answered
                .recv_timeout(deadline.left().expect("responses in time"))
                .expect("responses in time");
        }
        let finished = server.stop();
        let ids = writers
            .into_iter()
            .flat_map(|writer| writer.join().expect("a writer ends"));
        (ids.collect::<BTreeSet<_>>(), finished)
    });
    assert_eq!(finished.exit, Exit::Code(0), "{finished:?}");
    let server = Server::start(&database, &[]);
    let stored = organization
        .on(&server)
        .project()
        .pages(&[("limit", "200")])
        .concat();
    let stored: BTreeSet<String> = stored
        .iter()
        .map(|event| event["id"].as_str().expect("an id").to_owned())
        .collect();
    assert!(ids.len() >= 40);
    assert!(ids.is_subset(&stored), "every acknowledged event is stored");
}

fn sigterm_does_not_wait_for_idle_connections(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[]);
    let client = server.client();
    client.request("GET", "/healthz").send().expect_status(200);
    let address = server.base_url().trim_start_matches("http://").to_owned();
    let idle = std::net::TcpStream::connect(address).expect("connect");
    let finished = server.stop();
    assert_eq!(finished.exit, Exit::Code(0), "{finished:?}");
    drop((client, idle));
}

fn a_server_drains_before_it_stops(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[("AUDIT_DRAIN_SECONDS", "3600")]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let is_closed = |client: &Client| {
        let response = client.get("/events").send_raw();
        assert_eq!(response.status, 200);
        response.header("connection") == Some("close")
    };
    assert!(!is_closed(&project));
    server.terminate();
    // It goes on, so that the balancer can notice.
    let ready = || server.client().request("GET", "/readyz").send_raw().status;
    Deadline::seconds(60).poll("it is not ready", || (ready() == 503).then_some(()));
    assert!(is_closed(&project), "clients connect again, to another node");
    project.store(event_with(json!({})));
    // A second signal ends that.
    let finished = server.stop();
    assert_eq!(finished.exit, Exit::Code(0), "{finished:?}");
}
