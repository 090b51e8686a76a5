//! A connection pooler before PostgreSQL.

use audit_tests::{
    Cluster, Database, Organization, PgBouncer, Server, command_line_on, event, serve_refused,
};

/// More than the connections of a node.
const POOL_SIZE: usize = 40;

#[test]
fn a_pooler_that_pools_transactions_is_refused_at_the_start() {
    let Some(cluster) = Cluster::start() else { return };
    // With one server connection, a session that waits for another one's transaction would wait forever.
    for pool_size in [1, POOL_SIZE] {
        let Some(pooler) = PgBouncer::start(&cluster, "transaction", pool_size) else {
            return;
        };
        let database = Database::at(pooler.url("postgres"));
        let refusal = serve_refused(&database, &[]);
        assert!(
            refusal.contains("pool_mode = session") && refusal.lines().count() == 1,
            "{refusal}"
        );
        let refusal = command_line_on(&database, &["org", "list"]).refusal();
        assert!(refusal.contains("pool_mode = session"), "{refusal}");
    }
}

#[test]
fn a_pooler_that_pools_sessions_is_used() {
    let Some(cluster) = Cluster::start() else { return };
    let Some(pooler) = PgBouncer::start(&cluster, "session", POOL_SIZE) else {
        return;
    };
    let database = Database::at(pooler.url("postgres"));
    let server = Server::start(&database, &[]);
    let project = Organization::create(&server, "enterprise").project();
    let id = project.store(event());
    assert_eq!(project.find_ids(&[]), [id]);
    server
        .client()
        .request("GET", "/readyz")
        .send()
        .expect_status(200);
}

#[test]
fn a_pooler_with_too_small_a_pool_is_refused_at_the_start() {
    let Some(cluster) = Cluster::start() else { return };
    let Some(pooler) = PgBouncer::start(&cluster, "session", 1) else {
        return;
    };
    let refusal = serve_refused(&Database::at(pooler.url("postgres")), &[]);
    assert!(
        refusal.contains("pool") && refusal.contains("too small"),
        "{refusal}"
    );
}
