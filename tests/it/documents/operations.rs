//! `docs/operations.md`: its commands exist, and those of its first steps work as written.

use super::read;
use crate::log::text_of;
use audit_tests::process::Exit;
use audit_tests::{Database, Organization, Server, command_line, event, run_documented, temporary_directory};
use serde_json::json;

const DOCUMENT: &str = "docs/operations.md";

/// The commands of `audit-server` in the document: in its blocks, and between backticks.
fn commands(document: &str) -> Vec<String> {
    let joined = document.replace("\\\n", " ");
    let lines = joined.lines().filter(|line| line.starts_with("audit-server "));
    let quoted = joined
        .split('`')
        .filter(|text| text.starts_with("audit-server ") && !text.contains('\n'));
    lines.chain(quoted).map(str::to_owned).collect()
}

/// The help of the command, and its options.
fn help_and_options(command: &str) -> (String, Vec<&str>) {
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    let is_name = |word: &&&str| {
        !word.starts_with('-') && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    };
    let names: Vec<&str> = words.iter().take_while(is_name).copied().collect();
    let help = command_line(&[names.as_slice(), &["--help"]].concat());
    assert_eq!(help.exit, Exit::Code(0), "{command}: {help:?}");
    let options = words.into_iter().filter(|word| word.starts_with("--"));
    (help.stdout, options.collect())
}

#[test]
fn every_command_and_option_exists() {
    let document = read(DOCUMENT);
    let commands = commands(&document);
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        let (help, options) = help_and_options(&command);
        for option in options {
            assert!(
                help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n")),
                "{option} of {command}"
            );
        }
    }
}

/// From keys to a database that is used, verified, and encrypted with another key.
#[test]
fn the_first_steps_and_the_rotation_work_as_written() {
    let (secrets, folder) = (
        temporary_directory("secrets-"),
        temporary_directory("operations-"),
    );
    let database = Database::in_directory(folder);
    let variables = [
        ("SECRETS", text_of(&secrets)),
        ("AUDIT_DATABASE_URL", database.url()),
    ];
    run_documented(DOCUMENT, "Keys", 0, &variables, &[]);
    let printed = run_documented(DOCUMENT, "First start", 0, &variables, &[]);
    assert!(
        printed.contains("mk_") && printed.contains("pk_live_"),
        "{printed}"
    );

    let (key, hash_key) = (secrets.join("encryption-key"), secrets.join("hash-key"));
    let hash = ("AUDIT_HASH_KEY_FILE", text_of(&hash_key));
    let environment = [("AUDIT_ENCRYPTION_KEY_FILE", text_of(&key)), hash];
    let server = Server::start(&database, &environment);
    let organization = Organization::create_with(&server, "enterprise", &environment);
    let viewer = organization.viewer_token("acme", "standard");
    organization.project().store(json!(event()));
    assert_eq!(server.stop().exit, Exit::Code(0));
    run_documented(DOCUMENT, "Daily checks", 0, &variables, &[]);

    run_documented(DOCUMENT, "Rotation of the encryption key", 0, &variables, &[]);
    let key = secrets.join("encryption-key-2");
    let server = Server::start(&database, &[("AUDIT_ENCRYPTION_KEY_FILE", text_of(&key)), hash]);
    let organization = organization.on(&server);
    organization
        .with_credential(&viewer)
        .get("/events")
        .send()
        .expect_status(200);
    organization.project().store(json!(event()));
}
