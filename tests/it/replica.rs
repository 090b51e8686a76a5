//! Queries on a standby of the database.

use audit_tests::{
    Cluster, Database, DatabaseKind, Deadline, Organization, Server, command_line_with, event, event_with,
};
use serde_json::json;

/// The number of queries with this outcome.
fn queries(server: &Server, outcome: &str) -> u64 {
    server.metric(&format!("audit_replica_queries_total{{outcome=\"{outcome}\"}}"))
}

#[test]
fn a_standby_serves_queries_and_never_hides_what_was_stored() {
    let Some(primary) = Cluster::start() else { return };
    let standby = primary.standby();
    // Commits do not wait for a standby that has gone.
    primary.configure("synchronous_standby_names", "");
    let database = Database::at(primary.url("postgres"));
    let replica = standby.url("postgres");
    let server = Server::start(&database, &[("AUDIT_REPLICA_URL", &replica)]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let mut ids = Vec::new();
    // What a query finds is what was stored before it, whoever serves it.
    let mut store_and_find = |action: &str| {
        ids.push(project.store(event_with(json!({"action": action}))));
        let mut found = project.find_ids(&[]);
        found.sort();
        ids.sort();
        assert_eq!(found, ids);
        assert_eq!(project.find_ids(&[("action", action)]).len(), 1);
    };
    let mut number = 0;
    Deadline::seconds(60).poll("a query served by the standby", || {
        number += 1;
        store_and_find(&format!("before.n{number}"));
        (queries(&server, "served") > 0).then_some(())
    });

    standby.execute("SELECT pg_wal_replay_pause()");
    let behind = queries(&server, "behind");
    store_and_find("standby.paused");
    assert_ne!(queries(&server, "behind"), behind);
    server.wait_for_log("it is behind");
    // What it has, it serves: another project has no newer events.
    standby.execute("SELECT pg_wal_replay_resume()");
    let served = queries(&server, "served");
    Deadline::seconds(60).poll("the standby serves again", || {
        project.find_ids(&[("action", "standby.paused")]);
        (queries(&server, "served") > served).then_some(())
    });

    // A revoked key reads nothing, although the standby does not know of it.
    let key = organization.create_key("live");
    let client = organization.with_credential(&key);
    assert_eq!(client.count(), project.count());
    standby.execute("SELECT pg_wal_replay_pause()");
    organization.revoke_key(&key);
    client.get("/events").send().expect_error(401, "key_revoked");
    standby.execute("SELECT pg_wal_replay_resume()");

    standby.kill();
    store_and_find("standby.gone");
    assert_ne!(queries(&server, "failed"), 0);
    server.wait_for_log("queries use the database itself");
}

/// As after a failover to another standby, which lacked the last commits of this one.
#[test]
fn a_standby_with_commits_that_the_database_lost_serves_nothing() {
    let Some(primary) = Cluster::start() else { return };
    let standby = primary.standby();
    primary.configure("synchronous_standby_names", "");
    let database = Database::at(primary.url("postgres"));
    let replica = standby.url("postgres");
    let servers = [(); 2].map(|()| Server::start(&database, &[("AUDIT_REPLICA_URL", &replica)]));
    let organization = Organization::create(&servers[0], "enterprise");
    let project = organization.project();
    let mut ids = vec![project.store(event())];
    Deadline::seconds(60).poll("a query served by the standby", || {
        assert_eq!(project.find_ids(&[]), ids);
        (queries(&servers[0], "served") > 0).then_some(())
    });
    standby.promote();
    let left_behind = Server::start(&Database::at(standby.url("postgres")), &[]);
    let other_history = organization.on(&left_behind).project();
    ids.insert(0, project.store(event()));
    other_history.store(event());
    // The two logs have the same size, and then the one that was lost is larger.
    for server in &servers {
        let failed = queries(server, "failed");
        assert_eq!(organization.on(server).project().find_ids(&[]), ids);
        assert_ne!(queries(server, "failed"), failed);
        server.wait_for_log("it has events that the database does not have");
        other_history.store(event());
    }
}

#[test]
fn a_server_with_another_database_is_not_a_replica() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let [database, other] = [(); 2].map(|()| Database::create(DatabaseKind::Postgres));
    // It has the same tables.
    Server::start(&other, &[]).stop();
    let server = Server::start(&database, &[("AUDIT_REPLICA_URL", other.url())]);
    let project = Organization::create(&server, "enterprise").project();
    let id = project.store(event());
    assert_eq!(project.find_ids(&[]), [id]);
    assert_ne!(queries(&server, "failed"), 0);
    server.wait_for_log("it is not a standby of this database");
}

#[test]
fn sqlite_has_no_replica() {
    let database = Database::create(DatabaseKind::Sqlite);
    let arguments = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--database-url",
        database.url(),
    ];
    let refused = command_line_with(&arguments, &[("AUDIT_REPLICA_URL", "postgres:///audit")]);
    assert!(
        refused
            .refusal()
            .contains("--replica-url: SQLite has no standbys")
    );
}
