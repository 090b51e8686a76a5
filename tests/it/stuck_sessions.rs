//! Sessions that hold locks on PostgreSQL and wait for a client that hangs.

use audit_tests::{
    Client, Cluster, Database, Deadline, Organization, Server, StuckSession, event, event_with,
};
use serde_json::json;

/// Locks the heads of all ledgers.
const LOCK_HEADS: &str = "BEGIN; SELECT FROM ledgers FOR UPDATE;";
/// Returns more than the buffers of a socket hold.
const RETURN_MUCH: &str = "SELECT repeat('x', 1000) FROM generate_series(1, 100000)";

struct Deployment {
    cluster: Cluster,
    _server: Server,
    project: Client,
}

impl Deployment {
    fn start() -> Option<Self> {
        let cluster = Cluster::start()?;
        let server = Server::start(&Database::at(cluster.url("postgres")), &[]);
        let project = Organization::create(&server, "enterprise").project();
        project.store(event());
        Some(Self {
            cluster,
            _server: server,
            project,
        })
    }

    fn run(&self, statements: &str) -> StuckSession {
        StuckSession::run(&self.cluster, "postgres", statements)
    }

    fn wait_for_stuck(&self, count: u32, condition: &str) {
        let stuck = format!(
            "count(*) = {count} FROM pg_stat_activity WHERE application_name = 'stuck' AND {condition}"
        );
        let holds = || self.cluster.holds(&stuck).then_some(());
        Deadline::seconds(60).poll(condition, holds);
    }

    /// Repeats a request with its idempotency key until it is stored.
    fn store_in_the_end(&self) {
        let send = || {
            let event = event_with(json!({"idempotency_key": "after"}));
            let response = self.project.post("/events").json(event).send();
            (response.status() == 201).then_some(())
        };
        Deadline::seconds(60).poll("an event is stored", send);
    }
}

#[test]
fn a_session_that_holds_a_head_and_sends_to_a_client_that_does_not_read_is_ended() {
    let Some(deployment) = Deployment::start() else {
        return;
    };
    let _reading = deployment.run(RETURN_MUCH);
    let _writing = deployment.run(&format!("BEGIN; SELECT txid_current(); {RETURN_MUCH}"));
    let _holding = deployment.run(&format!("{LOCK_HEADS} {RETURN_MUCH}"));
    deployment.wait_for_stuck(3, "wait_event = 'ClientWrite'");
    deployment.store_in_the_end();
    // Sessions that block no writer continue.
    deployment.wait_for_stuck(2, "wait_event = 'ClientWrite'");
}

/// `statement_timeout` and `idle_in_transaction_session_timeout` do not apply between the messages of one statement.
#[test]
fn a_session_that_holds_a_head_and_whose_client_stops_within_a_statement_is_ended() {
    let Some(deployment) = Deployment::start() else {
        return;
    };
    let timeouts = "SET idle_in_transaction_session_timeout = 1500; SET statement_timeout = 1500";
    let mut holding = deployment.run(&format!("{timeouts}; {LOCK_HEADS}"));
    holding.begin_statement("SELECT 1");
    deployment.wait_for_stuck(1, "state = 'active' AND wait_event = 'ClientRead'");
    deployment.store_in_the_end();
    deployment.wait_for_stuck(0, "TRUE");
}
