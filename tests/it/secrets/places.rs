//! What the database has of secrets, and what its writer can do with it.

use super::{
    Deployment, KEY, NO_HEAD_KEY_FILE, OLD, WITH_OLD, dump, on_both, rewrap, run, start, states, status,
    stop, verify,
};
use audit_tests::{Database, DatabaseKind, Subscription, on_both_databases, serve_refused};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::collections::BTreeSet;

on_both_databases! {
    with_a_key_a_new_database_has_every_secret_encrypted,
    no_column_of_the_database_has_a_secret_after_a_key_was_introduced,
    a_secret_in_the_place_of_another_is_refused,
    a_secret_in_plain_text_in_place_of_an_encrypted_one_is_refused,
    a_secret_of_another_length_is_refused,
    a_webhook_whose_url_cannot_be_decrypted_is_managed_as_before,
    who_writes_the_database_forges_no_viewer_token,
    without_a_key_secrets_are_in_plain_text,
}

/// The tables of secrets, and the names of those of the service itself.
fn kinds(database: &Database) -> BTreeSet<String> {
    let (found, _) = status(database, WITH_OLD);
    let names = states(&found).into_keys();
    names
        .map(|name| match name.strip_prefix("secrets ") {
            Some(name) => name.to_owned(),
            None => name.split(' ').next().unwrap_or_default().to_owned(),
        })
        .collect()
}

fn with_a_key_a_new_database_has_every_secret_encrypted(kind: DatabaseKind) {
    let database = on_both(kind);
    let server = start(&database, WITH_OLD);
    let deployment = Deployment::on(&server);
    deployment
        .subscription
        .master
        .rotate_secret(&deployment.subscription.webhook);
    server.command_line(&["viewer-secret", "rotate"]).success();
    server.command_line(&["log", "rotate-key"]).success();
    stop(server);
    let (found, is_complete) = status(&database, WITH_OLD);
    assert!(is_complete, "{found}");
    let id = found["keys"][0]["id"].clone();
    assert!(
        states(&found)
            .values()
            .all(|state| *state == ("encrypted".to_owned(), id.clone())),
        "{found}"
    );
    assert_eq!(
        found["keys"][0]["secrets"],
        found["secrets"].as_array().expect("a list").len()
    );
    let expected = [
        "cursor_key",
        "encryption_check",
        "head_key",
        "log_key",
        "log_key_before",
        "tenant_map_secret",
        "viewer_secrets",
        "webhook_secrets",
        "webhooks",
    ];
    assert_eq!(
        kinds(&database),
        expected.map(str::to_owned).into(),
        "a new secret is listed here"
    );
    verify(&database, WITH_OLD);
}

/// The secrets in plain text, in hexadecimal.
fn plain_secrets(database: &Database) -> Vec<String> {
    let columns = |table: &str| {
        let columns = if table == "secrets" {
            "name secret"
        } else {
            "secret"
        };
        (
            table.to_owned(),
            columns.split(' ').map(str::to_owned).collect::<BTreeSet<_>>(),
        )
    };
    let tables = ["secrets", "viewer_secrets", "webhook_secrets"].map(columns);
    let rows = tables
        .iter()
        .flat_map(|(table, columns)| database.rows(table, columns));
    let rows = rows.filter(|row| {
        !["log_name", "head_key_id", "self_audit"]
            .iter()
            .any(|name| row.starts_with(name))
    });
    let bytes = rows.map(|row| row.rsplit("\\x").next().expect("bytes").to_owned());
    bytes.map(|hex| hex[hex.len() - 64..].to_owned()).collect()
}

fn no_column_of_the_database_has_a_secret_after_a_key_was_introduced(kind: DatabaseKind) {
    let database = on_both(kind);
    let server = start(&database, &[]);
    let mut deployment = Deployment::on(&server);
    stop(server);
    let secrets = plain_secrets(&database);
    assert_eq!(secrets.len(), 5, "cursors, tenants, log, viewers, webhook");
    let url = deployment.subscription.receiver.url(Subscription::PATH);
    let url = base16ct::lower::encode_string(url.as_bytes());
    let needles: Vec<String> = secrets
        .iter()
        .flat_map(|hex| {
            let bytes = base16ct::lower::decode_vec(hex).expect("hexadecimal");
            [
                hex.clone(),
                STANDARD.encode(&bytes),
                URL_SAFE_NO_PAD.encode(&bytes),
            ]
        })
        .chain([url, OLD.to_owned()])
        .collect();
    let held = |database: &Database| {
        let dump = dump(database);
        needles
            .iter()
            .filter(|needle| dump.contains(needle.as_str()))
            .count()
    };
    assert_eq!(held(&database), 6, "the dump shows what is in plain text");

    let with_key = [(KEY, OLD)];
    let refused = serve_refused(&database, &with_key);
    assert!(refused.contains("secrets rewrap --seal-plain"), "{refused}");
    assert_eq!(refused.lines().count(), 1, "{refused}");
    let refused = run(&database, &["secrets", "rewrap"], &with_key).refusal();
    assert!(refused.contains("--seal-plain"), "{refused}");
    let sealed = run(
        &database,
        &["secrets", "rewrap", "--seal-plain", "--json"],
        &with_key,
    )
    .json();
    assert_eq!((&sealed["sealed"], &sealed["failed"]), (&6.into(), &0.into()));
    assert_eq!(held(&database), 0);
    assert!(status(&database, &with_key).1);
    assert_eq!(rewrap(&database, &with_key)["unchanged"], 7);

    let server = start(&database, &with_key);
    deployment = deployment.moved_to(&server);
    deployment.assert_works();
    stop(server);
    verify(&database, &with_key);
    assert_eq!(held(&database), 0);
}

fn without_a_key_secrets_are_in_plain_text(kind: DatabaseKind) {
    let database = on_both(kind);
    let server = start(&database, &[]);
    Deployment::on(&server);
    stop(server);
    assert!(status(&database, &[]).1);
    let is_plain = "length(secret) = 33";
    let named = "name IN ('cursor_key', 'log_key', 'tenant_map_secret')";
    assert_eq!(
        database.count(&format!("secrets WHERE {named} AND {is_plain}")),
        3
    );
    assert_eq!(database.count(&format!("viewer_secrets WHERE {is_plain}")), 1);
    assert_eq!(database.count(&format!("webhook_secrets WHERE {is_plain}")), 1);
    assert_eq!(
        database.count("secrets WHERE name IN ('encryption_check', 'head_key')"),
        0
    );
    let refused = run(&database, &["secrets", "rewrap"], &[]).refusal();
    assert!(refused.contains("there is no encryption key"), "{refused}");
}

/// The column of a table that has secrets.
fn column_of(table: &str) -> &'static str {
    match table {
        "webhooks" => "url",
        _ => "secret",
    }
}

/// Replaces a secret, calls `check`, and restores the secret.
fn with_replaced(database: &Database, (table, row): (&str, &str), other: &str, check: impl FnOnce()) {
    let column = column_of(table);
    database.execute(&format!(
        "CREATE TABLE kept AS SELECT {column} FROM {table} WHERE {row}"
    ));
    database.execute(&format!("UPDATE {table} SET {column} = {other} WHERE {row}"));
    check();
    database.execute(&format!(
        "UPDATE {table} SET {column} = (SELECT {column} FROM kept) WHERE {row}"
    ));
    database.execute("DROP TABLE kept");
}

fn assert_refused(database: &Database, why: &str) {
    let refused = serve_refused(database, WITH_OLD);
    assert!(refused.contains(why), "{refused}");
    assert_eq!(refused.lines().count(), 1, "{refused}");
}

fn a_secret_in_the_place_of_another_is_refused(kind: DatabaseKind) {
    let database = on_both(kind);
    let server = start(&database, WITH_OLD);
    let deployment = Deployment::on(&server);
    deployment
        .subscription
        .master
        .rotate_secret(&deployment.subscription.webhook);
    server.command_line(&["viewer-secret", "rotate"]).success();
    let other = deployment.organization().create_project("other");
    stop(server);
    let of = |table: &str, row: &str| format!("(SELECT secret FROM {table} WHERE {row})");
    let swaps = [
        (
            "secrets",
            "name = 'log_key'",
            of("secrets", "name = 'tenant_map_secret'"),
        ),
        (
            "secrets",
            "name = 'cursor_key'",
            of("webhook_secrets", "number = 1"),
        ),
        (
            "secrets",
            "name = 'head_key'",
            of("secrets", "name = 'cursor_key'"),
        ),
        (
            "webhook_secrets",
            "number = 1",
            of("webhook_secrets", "number = 2"),
        ),
        (
            "viewer_secrets",
            "retired_at IS NULL",
            of("viewer_secrets", "retired_at IS NOT NULL"),
        ),
        ("webhooks", "TRUE", of("webhook_secrets", "number = 2")),
    ];
    for (table, row, other) in swaps {
        with_replaced(&database, (table, row), &other, || {
            assert_refused(&database, "belongs to another place");
        });
    }
    // Nor does a webhook lead away the alerts of another project.
    let move_to = |project: &str| database.execute(&format!("UPDATE webhooks SET project_id = '{project}'"));
    move_to(&other);
    assert_refused(&database, "belongs to another place");
    move_to(&deployment.organization().project_id);
    stop(start(&database, WITH_OLD));
}

fn a_secret_of_another_length_is_refused(kind: DatabaseKind) {
    let database = on_both(kind);
    let server = start(&database, &[]);
    Deployment::on(&server);
    stop(server);
    for table in ["secrets", "viewer_secrets", "webhook_secrets"] {
        let row = match table {
            "secrets" => "name = 'cursor_key'",
            _ => "TRUE",
        };
        let short = database.blob(&plain(&[7; 31]));
        with_replaced(&database, (table, row), &short, || {
            let refused = serve_refused(&database, &[]);
            assert!(refused.contains("is damaged"), "{refused}");
        });
    }
}

fn a_webhook_whose_url_cannot_be_decrypted_is_managed_as_before(kind: DatabaseKind) {
    let database = on_both(kind);
    let server = start(&database, WITH_OLD);
    let mut deployment = Deployment::on(&server);
    let master = &deployment.subscription.master;
    let path = format!(
        "/alerts/webhooks/{}",
        deployment.subscription.webhook["id"].as_str().expect("an id")
    );
    let url = deployment.subscription.receiver.url(Subscription::PATH);
    let broken = database.blob(&[3; 60]);
    database.execute(&format!("UPDATE webhooks SET url = {broken}"));
    let listed = master.get("/alerts/webhooks").send().expect_status(200);
    assert_eq!(listed.list("webhooks")[0]["url"], "");
    let change = |body: Value| master.patch(&path).json(body).send().expect_status(200);
    assert_eq!(change(json!({"enabled": false}))["webhook"]["enabled"], false);
    change(json!({"enabled": true, "url": url}));
    deployment.assert_works();
    database.execute(&format!("UPDATE webhooks SET url = {broken}"));
    deployment
        .subscription
        .master
        .delete(&path)
        .send()
        .expect_status(200);
    stop(server);
}

/// The stored form of a secret without an encryption key.
fn plain(secret: &[u8]) -> Vec<u8> {
    [&[0], secret].concat()
}

fn a_secret_in_plain_text_in_place_of_an_encrypted_one_is_refused(kind: DatabaseKind) {
    let database = on_both(kind);
    let server = start(&database, WITH_OLD);
    Deployment::on(&server);
    stop(server);
    let plain = database.blob(&plain(&[7; 32]));
    let plain_url = database.blob(&self::plain(b"https://attacker.example/"));
    for (table, row, plain) in [
        ("secrets", "name = 'cursor_key'", &plain),
        ("secrets", "name = 'tenant_map_secret'", &plain),
        ("secrets", "name = 'head_key'", &plain),
        ("secrets", "name = 'log_key'", &plain),
        ("secrets", "name = 'encryption_check'", &plain),
        ("viewer_secrets", "TRUE", &plain),
        ("webhook_secrets", "TRUE", &plain),
        ("webhooks", "TRUE", &plain_url),
    ] {
        with_replaced(&database, (table, row), plain, || {
            assert_refused(&database, "is not encrypted");
            let rewrapped = run(&database, &["secrets", "rewrap"], WITH_OLD).refusal();
            assert!(rewrapped.contains("is not encrypted"), "{rewrapped}");
            assert!(!status(&database, WITH_OLD).1);
        });
    }
    // Neither is the key of heads taken from the database without an encryption key.
    database.execute(&format!(
        "UPDATE secrets SET secret = {plain} WHERE name = 'head_key'"
    ));
    let refused = serve_refused(&database, &[NO_HEAD_KEY_FILE]);
    assert!(refused.contains("does not have the key"), "{refused}");
}

/// The token for another tenant, signed with this secret.
fn forged(token: &str, secret: &[u8]) -> String {
    let mut parts = token.strip_prefix("vt_").expect("a viewer token").split('.');
    let (header, claims) = (parts.next().expect("a header"), parts.next().expect("claims"));
    let claims = URL_SAFE_NO_PAD.decode(claims).expect("base64");
    let claims = String::from_utf8(claims).expect("UTF-8").replace("acme", "other");
    let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims));
    let mac = Hmac::<Sha256>::new_from_slice(secret).expect("any key");
    let signature = mac.chain_update(&signed).finalize().into_bytes();
    format!("vt_{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn who_writes_the_database_forges_no_viewer_token(kind: DatabaseKind) {
    let planted = [7; 32];
    let plant = |database: &Database| {
        let planted = database.blob(&plain(&planted));
        database.execute(&format!("UPDATE viewer_secrets SET secret = {planted}"));
    };
    let database = on_both(kind);
    let server = start(&database, WITH_OLD);
    let deployment = Deployment::on(&server);
    plant(&database);
    let forged_token = forged(&deployment.token, &planted);
    let viewer = deployment.organization().with_credential(&forged_token);
    viewer.get("/events").send().expect_status(401);
    stop(server);
    // Control: without a key, whoever writes the database signs tokens.
    let database = on_both(kind);
    let server = start(&database, &[]);
    let deployment = Deployment::on(&server);
    plant(&database);
    let viewer = deployment
        .organization()
        .with_credential(&forged(&deployment.token, &planted));
    assert_eq!(viewer.find(&[]).len(), 1);
    stop(server);
}
