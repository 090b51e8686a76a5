//! Webhook secrets: encrypted in the database if a key is configured, and never logged.

use audit_tests::{
    Database, DatabaseKind, Reply, Server, Subscription, assert_signed, command_line_with, on_both_databases,
    serve_refused, webhook_environment,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// One 32-byte key in two encodings, and a different key.
const KEY_HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const KEY_BASE64: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OTHER_KEY: &str = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

fn start(database: &Database, key: Option<&str>) -> Server {
    let mut environment = webhook_environment().to_vec();
    environment.extend(key.map(|key| ("AUDIT_ENCRYPTION_KEY", key)));
    Server::start(database, &environment)
}

fn stop(server: Server) {
    server.stop().success();
}

/// Asserts that a server with this key does not start, and that its one-line error does not contain the key.
fn assert_refused(database: &Database, key: Option<&str>) {
    let environment: Vec<(&str, &str)> = key.map(|key| ("AUDIT_ENCRYPTION_KEY", key)).into_iter().collect();
    let refusal = serve_refused(database, &environment);
    assert_eq!(refusal.lines().count(), 1, "one clear line: {refusal}");
    if let Some(key) = key.filter(|key| !key.is_empty()) {
        assert!(!refusal.contains(key), "{refusal}");
    }
}

/// Whether a file of the database contains the secret, encoded or as raw bytes.
fn holds_secret(database: &Database, secret: &str) -> bool {
    let text = secret.strip_prefix("whsec_").expect("a secret");
    let bytes = STANDARD.decode(text).expect("a secret is base64");
    let hex = base16ct::lower::encode_string(&bytes);
    [text.as_bytes(), &bytes, hex.as_bytes()]
        .iter()
        .any(|needle| holds(database, needle))
}

/// Whether a file of the database contains the bytes.
fn holds(database: &Database, needle: &[u8]) -> bool {
    let files = database.files();
    let mut files = files.iter();
    files.any(|(_, file)| file.windows(needle.len()).any(|window| window == needle))
}

fn secret_of(webhook: &Value) -> &str {
    webhook["secret"].as_str().expect("a secret")
}

#[test]
fn with_a_key_no_file_of_the_database_has_a_secret_or_the_path_of_a_url_in_it() {
    let path = Subscription::PATH.as_bytes();
    let database = Database::create(DatabaseKind::Sqlite);
    let server = start(&database, Some(KEY_HEX));
    let subscription = Subscription::on(&server);
    let rotated = subscription.master.rotate_secret(&subscription.webhook);
    subscription.organization.raise_alert();
    subscription.wait_for_status("delivered");
    let secrets = [subscription.secret(), secret_of(&rotated)];
    let holds_any = || holds(&database, path) || secrets.iter().any(|secret| holds_secret(&database, secret));
    assert!(!holds_any());
    stop(server);
    assert!(!holds_any());
    // Control: without a key, the files contain them.
    let open = Database::create(DatabaseKind::Sqlite);
    let server = start(&open, None);
    let subscription = Subscription::on(&server);
    stop(server);
    assert!(holds_secret(&open, subscription.secret()));
    assert!(holds(&open, path));
}

on_both_databases! {
    what_is_sealed_is_opened_by_the_same_key_alone,
    what_was_written_without_a_key_is_encrypted_by_a_command,
    a_key_of_another_form_is_refused,
    no_secret_is_ever_logged,
}

fn what_is_sealed_is_opened_by_the_same_key_alone(database: DatabaseKind) {
    let database = Database::create(database);
    let server = start(&database, Some(KEY_HEX));
    let subscription = Subscription::on(&server);
    stop(server);
    assert_refused(&database, Some(OTHER_KEY));
    assert_refused(&database, None);
    let server = start(&database, Some(KEY_BASE64));
    let subscription = subscription.moved_to(&server);
    subscription.organization.raise_alert();
    let request = subscription.wait_for(1).remove(0);
    assert_signed(&request, &[subscription.secret()]);
}

fn what_was_written_without_a_key_is_encrypted_by_a_command(database: DatabaseKind) {
    let database = Database::create(database);
    let server = start(&database, None);
    let subscription = Subscription::on(&server);
    stop(server);
    assert_refused(&database, Some(KEY_HEX));
    let rewrap = [
        "secrets",
        "rewrap",
        "--seal-plain",
        "--database-url",
        database.url(),
    ];
    command_line_with(&rewrap, &[("AUDIT_ENCRYPTION_KEY", KEY_HEX)]).success();
    let server = start(&database, Some(KEY_HEX));
    let subscription = subscription.moved_to(&server);
    subscription.master.test_webhook(&subscription.webhook);
    let request = subscription.wait_for(1).remove(0);
    assert_signed(&request, &[subscription.secret()]);
    let rotated = subscription.master.rotate_secret(&subscription.webhook);
    subscription.master.test_webhook(&subscription.webhook);
    let request = subscription.wait_for(2).remove(1);
    assert_signed(&request, &[secret_of(&rotated), subscription.secret()]);
    stop(server);
    assert_refused(&database, None);
}

fn a_key_of_another_form_is_refused(database: DatabaseKind) {
    let database = Database::create(database);
    for key in [
        "short",
        &KEY_HEX[1..],
        &KEY_HEX[2..],
        &format!("{KEY_HEX}00"),
        &"g".repeat(64),
        &STANDARD.encode([7; 31]),
        &STANDARD.encode([7; 33]),
    ] {
        assert_refused(&database, Some(key));
    }
}

fn no_secret_is_ever_logged(database: DatabaseKind) {
    let database = Database::create(database);
    let mut environment = webhook_environment().to_vec();
    environment.extend([("RUST_LOG", "debug"), ("AUDIT_ENCRYPTION_KEY", KEY_HEX)]);
    let server = Server::start(&database, &environment);
    let subscription = Subscription::on(&server);
    subscription.reply([Reply::Status(500), Reply::Drop, Reply::Status(410)]);
    let door = audit_tests::door_opened("Bodyword");
    subscription.organization.project().store(door);
    let pending = subscription.wait_for_attempts(1);
    let rotated = subscription.master.rotate_secret(&subscription.webhook);
    subscription.master.retry_delivery(&pending);
    let pending = subscription.wait_for_attempts(2);
    subscription.master.retry_delivery(&pending);
    subscription.wait_for_status("failed");
    subscription
        .master
        .delete(&subscription.path())
        .send()
        .expect_status(200);
    let finished = server.stop();
    let log = format!("{}\n{}", finished.stdout, finished.stderr);
    assert!(log.contains("/api/v1/alerts"), "requests are logged: {log}");
    for secret in [subscription.secret(), secret_of(&rotated)] {
        let key = secret.strip_prefix("whsec_").expect("a secret");
        assert!(!log.contains(key), "{key} in {log}");
    }
    for private in [KEY_HEX, "Bodyword"] {
        assert!(!log.contains(private), "{private} in {log}");
    }
}
