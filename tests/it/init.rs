//! `audit-server init`: what it writes starts a server that `doctor` approves.

use crate::doctor::findings;
use crate::log::text_of;
use audit_tests::process::Exit;
use audit_tests::{
    Database, DatabaseKind, Deadline, Server, command_line, command_line_with, event, on_both_databases,
    temporary_directory,
};
use std::path::Path;

on_both_databases! {
    a_server_with_the_file_stores_events_and_doctor_has_no_findings,
}

/// The lines of an environment file. The harness gives no head key of its own, and switches nothing off.
fn variables(text: &str) -> Vec<(&str, &str)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let variables = lines.map(|line| line.split_once('=').expect("a variable and its value"));
    variables
        .chain([("AUDIT_HEAD_KEY_FILE", ""), ("AUDIT_SELF_AUDIT", "on")])
        .collect()
}

fn wait_for_backup(directory: &Path) {
    Deadline::seconds(60).poll("a backup", || {
        let files = std::fs::read_dir(directory).expect("list the backups");
        let mut names = files.map(|file| file.expect("list the backups").file_name());
        names
            .any(|name| name.to_string_lossy().starts_with("audit-"))
            .then_some(())
    });
}

fn a_server_with_the_file_stores_events_and_doctor_has_no_findings(kind: DatabaseKind) {
    let database = Database::create(kind);
    let folder = temporary_directory("init-");
    let [directory, state, anchors] = ["config", "state", "anchors"].map(|name| folder.join(name));
    std::fs::create_dir(&anchors).expect("create a directory");
    let init = [
        "init",
        "--directory",
        text_of(&directory),
        "--database-url",
        database.url(),
        "--public-url",
        "https://audit.example.com",
        "--state-directory",
        text_of(&state),
        "--anchor-directory",
        text_of(&anchors),
        "--listen",
        "127.0.0.1:0",
        "--metrics-listen",
        "127.0.0.1:0",
    ];
    let file = directory.join("audit-server.env");
    let printed = command_line(&init).success();
    for part in [text_of(&file), "audit-server serve", "audit-server doctor"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let text = std::fs::read_to_string(&file).expect("the environment file");
    let variables = variables(&text);

    let server = Server::start_with(&database, &["serve"], &variables);
    let printed = server.stdout();
    assert!(printed.contains("AUDIT_HASH_KEY    set"), "{printed}");
    let mut words = printed.split_whitespace();
    let key = words.find(|word| word.starts_with("pk_live_")).expect("a key");
    server.client().with_credential(key).store(event());
    let backups = variables
        .iter()
        .find(|(name, _)| *name == "AUDIT_BACKUP_DIRECTORY");
    assert_eq!(backups.is_some(), kind == DatabaseKind::Sqlite);
    if let Some((_, directory)) = backups {
        wait_for_backup(Path::new(directory));
    }
    let url = server.metrics_url();
    let report = command_line_with(&["doctor", "--json", "--url", &url], &variables);
    let found = findings(&report);
    // The disk of this machine may be almost full, and the cluster of the tests is what it must not be.
    let is_of_machine =
        |check: &str| check == "disks" || (check == "database" && kind == DatabaseKind::Postgres);
    let others: Vec<_> = found
        .iter()
        .filter(|(check, _, _)| !is_of_machine(check))
        .collect();
    assert!(others.is_empty(), "{others:?}");
    assert_eq!(report.exit, Exit::Code(u8::from(!found.is_empty()).into()));

    let refused = command_line(&init).refusal();
    assert!(
        refused.contains(&format!("{} exists", file.display())),
        "{refused}"
    );
    assert_eq!(
        std::fs::read_to_string(&file).expect("the environment file"),
        text
    );
}

#[test]
fn a_wrong_or_missing_answer_is_refused_with_its_option_and_nothing_is_written() {
    let directory = temporary_directory("init-").join("config");
    let database = format!("sqlite:{}/audit.db", directory.display());
    let cases = [
        ("--public-url", None),
        ("--public-url", Some("audit.example.com")),
        ("--database-url", Some("mysql://a")),
        ("--trusted-proxies", Some("proxy")),
        ("--anchor-directory", Some("/nonexistent")),
        ("--listen", Some("8080")),
        ("--backup-directory", Some("a directory")),
    ];
    for (option, wrong) in cases {
        let mut all = vec!["init", "--yes", "--directory", text_of(&directory)];
        for (name, right) in [
            ("--database-url", database.as_str()),
            ("--public-url", "https://audit.example.com"),
        ] {
            if name != option {
                all.extend([name, right]);
            }
        }
        all.extend(wrong.into_iter().flat_map(|wrong| [option, wrong]));
        let refused = command_line(&all).refusal();
        assert!(refused.contains(option), "{option}: {refused}");
        assert_eq!(refused.lines().count(), 1, "one clear line: {refused}");
        assert!(!directory.exists(), "{option}");
    }
}
