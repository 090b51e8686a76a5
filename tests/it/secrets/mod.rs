//! Secrets at rest: every one is encrypted for its place, and the encryption key can be introduced and rotated.

mod cells;
mod destinations;
mod hash_keys;
mod places;
mod rotation;
mod sources;

use audit_tests::process::Exit;
use audit_tests::{
    Client, Database, DatabaseKind, Finished, Organization, Server, Subscription, assert_signed,
    command_line_with, event_with, webhook_environment,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const KEY: &str = "AUDIT_ENCRYPTION_KEY";
const PREVIOUS: &str = "AUDIT_ENCRYPTION_KEYS_PREVIOUS";
/// An empty variable: the harness gives no file of a head key.
const NO_HEAD_KEY_FILE: (&str, &str) = ("AUDIT_HEAD_KEY_FILE", "");
const OLD: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const NEW: &str = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const WITH_OLD: &[(&str, &str)] = &[(KEY, OLD), NO_HEAD_KEY_FILE];
const WITH_NEW: &[(&str, &str)] = &[(KEY, NEW), NO_HEAD_KEY_FILE];
const WITH_BOTH: &[(&str, &str)] = &[(KEY, NEW), (PREVIOUS, OLD), NO_HEAD_KEY_FILE];

fn start(database: &Database, keys: &[(&str, &str)]) -> Server {
    Server::start(database, &[&webhook_environment(), keys].concat())
}

fn stop(server: Server) {
    server.stop().success();
}

/// A command on the database with these keys.
fn run(database: &Database, arguments: &[&str], keys: &[(&str, &str)]) -> Finished {
    let arguments = [arguments, &["--database-url", database.url()]].concat();
    command_line_with(&arguments, keys)
}

fn rewrap(database: &Database, keys: &[(&str, &str)]) -> Value {
    run(database, &["secrets", "rewrap", "--json"], keys).json()
}

/// What `secrets status` prints, and whether it says that everything is encrypted with the present key.
fn status(database: &Database, keys: &[(&str, &str)]) -> (Value, bool) {
    let finished = run(database, &["secrets", "status", "--json"], keys);
    let is_complete = finished.exit == Exit::Code(0);
    assert!(matches!(finished.exit, Exit::Code(0 | 1)), "{finished:?}");
    let status = serde_json::from_str(&finished.stdout).expect("JSON");
    (status, is_complete)
}

/// The secrets by place, without the ids of rows: their state, and the id of their key.
fn states(status: &Value) -> BTreeMap<String, (String, Value)> {
    let secrets = status["secrets"].as_array().expect("a list of secrets").iter();
    secrets
        .map(|secret| {
            let name = secret["secret"].as_str().expect("a name").to_owned();
            let state = secret["state"].as_str().expect("a state").to_owned();
            (name, (state, secret["key_id"].clone()))
        })
        .collect()
}

/// A deployment in which everything is used that a secret is for.
struct Deployment {
    subscription: Subscription,
    token: String,
    cursor: String,
    log_key: String,
    received: usize,
}

impl Deployment {
    fn on(server: &Server) -> Self {
        let subscription = Subscription::on(server);
        let project = subscription.organization.project();
        let event = |tenant: &str| event_with(json!({"tenant_id": tenant}));
        project.store_all(vec![event("acme"), event("acme"), event("other")]);
        let token = subscription.organization.viewer_token("acme", "standard");
        let page = project.get("/events").query("limit", "1").send();
        let mut deployment = Self {
            cursor: page.expect_status(200).text("cursor"),
            log_key: text(&project, "/log/key"),
            subscription,
            token,
            received: 0,
        };
        deployment.assert_works();
        deployment
    }

    fn moved_to(self, server: &Server) -> Self {
        Self {
            subscription: self.subscription.moved_to(server),
            ..self
        }
    }

    fn organization(&self) -> &Organization {
        &self.subscription.organization
    }

    fn viewer(&self) -> Client {
        self.organization().with_credential(&self.token)
    }

    /// Tokens and cursors from before, signatures of webhooks, and the log.
    fn assert_works(&mut self) {
        let project = self.organization().project();
        let page = project
            .get("/events")
            .query("limit", "1")
            .query("cursor", &self.cursor);
        page.send().expect_status(200);
        assert_eq!(self.viewer().find(&[]).len(), 2, "the token from before");
        let token = self.organization().viewer_token("acme", "standard");
        let viewer = self.organization().with_credential(&token);
        viewer.get("/log/completeness").send().expect_status(200);
        text(&project, "/log/checkpoint");
        assert_eq!(text(&project, "/log/key"), self.log_key);
        self.subscription.master.test_webhook(&self.subscription.webhook);
        self.received += 1;
        let requests = self.subscription.wait_for(self.received);
        let request = requests.last().expect("a delivery");
        assert_signed(request, &[self.subscription.secret()]);
    }
}

fn text(client: &Client, path: &str) -> String {
    String::from_utf8(client.get(path).send_raw().bytes).expect("UTF-8")
}

fn verify(database: &Database, keys: &[(&str, &str)]) {
    run(database, &["log", "verify"], keys).success();
}

/// Every value of every table, as text.
fn dump(database: &Database) -> String {
    let tables = database.tables();
    let rows = tables
        .iter()
        .map(|(table, columns)| database.rows(table, columns));
    rows.flatten().collect::<Vec<String>>().join("\n")
}

fn on_both(kind: DatabaseKind) -> Database {
    Database::create(kind)
}
