//! `audit-server doctor`: what it finds in a deployment, on both databases.

use crate::log::text_of;
use audit_tests::process::Exit;
use audit_tests::{
    CertificateAuthority, Database, DatabaseKind, Deadline, Finished, Organization, Server,
    command_line_with, moment, now_plus, on_both_databases, temporary_directory, trusted_identity,
};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

on_both_databases! {
    a_deployment_that_is_complete_has_no_findings,
    keys_that_do_not_fit_the_database_are_found,
    a_server_that_is_not_ready_is_found,
    the_retention_of_a_log_is_reported,
}

/// The files of a deployment, and the environment of its server.
struct Deployment {
    database: Database,
    folder: PathBuf,
    environment: Vec<(String, String)>,
}

impl Deployment {
    fn complete(kind: DatabaseKind) -> Self {
        let folder = temporary_directory("doctor-");
        let database = Database::create(kind);
        let mut deployment = Self {
            database,
            environment: Vec::new(),
            folder,
        };
        deployment.set_file("AUDIT_ENCRYPTION_KEY_FILE", "encryption-key", &"07".repeat(32));
        deployment.set_file("AUDIT_HASH_KEY_FILE", "hash-key", "a hash key");
        let identity = trusted_identity(&["localhost"]);
        deployment.set_file("AUDIT_TLS_CERTIFICATE", "tls.crt", &identity.certificate);
        deployment.set_file("AUDIT_TLS_KEY", "tls.key", &identity.key);
        for (variable, name) in [
            ("AUDIT_STATE_DIR", "state"),
            ("AUDIT_ANCHOR_DIRECTORY", "anchors"),
        ] {
            deployment.set_directory(variable, name);
        }
        if kind == DatabaseKind::Sqlite {
            deployment.set_directory("AUDIT_BACKUP_DIRECTORY", "backups");
        }
        deployment.set("AUDIT_STREAMS", "off");
        deployment.set("AUDIT_METRICS_LISTEN", "127.0.0.1:0");
        deployment
    }

    fn set(&mut self, variable: &str, value: &str) {
        self.environment.retain(|(name, _)| name != variable);
        self.environment.push((variable.to_owned(), value.to_owned()));
    }

    fn set_file(&mut self, variable: &str, name: &str, text: &str) -> PathBuf {
        let path = self.folder.join(name);
        std::fs::write(&path, text).expect("write a file");
        set_mode(&path, 0o600);
        self.set(variable, text_of(&path));
        path
    }

    fn set_directory(&mut self, variable: &str, name: &str) {
        let path = self.folder.join(name);
        std::fs::create_dir(&path).expect("create a directory");
        self.set(variable, text_of(&path));
    }

    fn variables(&self) -> Vec<(&str, &str)> {
        let variables = self.environment.iter();
        variables
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    fn start(&self) -> Server {
        Server::start(&self.database, &self.variables())
    }

    fn doctor(&self, options: &[&str]) -> Finished {
        let arguments = [
            &["doctor", "--json", "--database-url", self.database.url()],
            options,
        ]
        .concat();
        command_line_with(&arguments, &self.variables())
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("set the mode of a file");
}

/// The findings that need an action: check, severity and problem.
pub(crate) fn findings(report: &Finished) -> Vec<(String, String, String)> {
    let report: Value =
        serde_json::from_str(&report.stdout).unwrap_or_else(|error| panic!("{error}: {report:?}"));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let mut found = Vec::new();
    for check in report["checks"].as_array().expect("checks") {
        for finding in check["findings"].as_array().expect("findings") {
            assert_ne!(finding["action"], "", "{finding}");
            if finding["severity"] != "note" {
                found.push((
                    text(&check["check"]),
                    text(&finding["severity"]),
                    text(&finding["problem"]),
                ));
            }
        }
    }
    found
}

/// The only finding of this check.
fn only(report: &Finished, check: &str) -> (String, String) {
    let of_check = findings(report).into_iter().filter(|(name, _, _)| name == check);
    let mut of_check: Vec<_> = of_check.collect();
    assert_eq!(of_check.len(), 1, "{check}: {report:?}");
    let (_, severity, problem) = of_check.remove(0);
    (severity, problem)
}

fn a_deployment_that_is_complete_has_no_findings(kind: DatabaseKind) {
    let deployment = Deployment::complete(kind);
    let server = deployment.start();
    if kind == DatabaseKind::Sqlite {
        let backups = deployment.folder.join("backups");
        Deadline::seconds(60).poll("a backup", || {
            let files = std::fs::read_dir(&backups).expect("list the backups");
            let mut names = files.map(|file| file.expect("list the backups").file_name());
            names
                .any(|name| name.to_string_lossy().starts_with("audit-"))
                .then_some(())
        });
    }
    let url = server.metrics_url();
    let report = deployment.doctor(&["--url", &url]);
    // The disk of the machine that runs the tests may be almost full.
    let (of_disks, found): (Vec<_>, Vec<_>) = findings(&report)
        .into_iter()
        .partition(|(check, _, _)| check == "disks");
    let problems: Vec<&str> = found.iter().map(|(_, _, problem)| problem.as_str()).collect();
    match kind {
        DatabaseKind::Sqlite => {
            let exit = Exit::Code(u8::from(!of_disks.is_empty()).into());
            assert_eq!((problems, report.exit), (Vec::new(), exit));
        }
        // The cluster of the tests is what it must not be.
        DatabaseKind::Postgres => {
            let expected = [
                "fsync is off: a crash can destroy the database",
                "the role of the service is a superuser",
            ];
            assert_eq!(
                (problems.as_slice(), report.exit),
                (expected.as_slice(), Exit::Code(1))
            );
        }
    }
}

fn keys_that_do_not_fit_the_database_are_found(kind: DatabaseKind) {
    let mut deployment = Deployment::complete(kind);
    drop(deployment.start());
    deployment.set_file("AUDIT_ENCRYPTION_KEY_FILE", "encryption-key", &"08".repeat(32));
    let report = deployment.doctor(&[]);
    let found = findings(&report);
    assert_has(&found, "keys", "cannot be opened with the encryption keys");
    assert_eq!(report.exit, Exit::Code(1));
    let missing = text_of(&deployment.folder.join("no-head-key")).to_owned();
    deployment.set("AUDIT_HEAD_KEY_FILE", &missing);
    assert_has(
        &findings(&deployment.doctor(&[])),
        "keys",
        "cannot use the head key",
    );
}

/// Asserts that a check found an error with this text.
fn assert_has(found: &[(String, String, String)], check: &str, part: &str) {
    let is_found = found
        .iter()
        .any(|(name, severity, problem)| name == check && severity == "error" && problem.contains(part));
    assert!(is_found, "{part}: {found:?}");
}

fn a_server_that_is_not_ready_is_found(kind: DatabaseKind) {
    let deployment = Deployment::complete(kind);
    let server = deployment.start();
    let url = server.metrics_url();
    drop(server);
    let (severity, problem) = only(&deployment.doctor(&["--url", &url]), "server");
    assert_eq!(severity, "error");
    assert!(problem.contains("does not respond"), "{problem}");
}

fn the_retention_of_a_log_is_reported(kind: DatabaseKind) {
    let mut deployment = Deployment::complete(kind);
    // Clients of the tests do not know the name in its certificate.
    deployment
        .environment
        .retain(|(name, _)| !name.starts_with("AUDIT_TLS_"));
    let server = deployment.start();
    let organization = Organization::create_with(&server, "enterprise", &deployment.variables());
    let reported = || {
        let report = deployment.doctor(&[]);
        let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
        let checks = report["checks"].as_array().expect("checks").iter();
        let retention = checks.filter(|check| check["check"] == "retention");
        let findings = retention.flat_map(|check| check["findings"].as_array().expect("findings").clone());
        findings.collect::<Vec<Value>>()
    };
    assert_eq!(reported(), Vec::<Value>::new());
    let set = |policy: Value| {
        let request = organization.master().put("/retention").json(policy);
        request.send().expect_status(200)
    };
    let since = set(json!({"days": 365}))["policy"]["since"].clone();
    let found = reported();
    assert_eq!(found.len(), 1, "{found:?}");
    let expected = format!(
        "{}/live: policy of 365 days since {}, no removal is planned",
        organization.project_id,
        since.as_str().expect("a time")
    );
    assert_eq!(
        (&found[0]["severity"], &found[0]["problem"]),
        (&json!("note"), &json!(expected))
    );
    set(json!({"days": null}));
    assert_eq!(reported(), Vec::<Value>::new());
}

#[test]
fn each_fault_of_the_files_is_found() {
    let mut deployment = Deployment::complete(DatabaseKind::Sqlite);
    drop(deployment.start());
    let key = deployment.folder.join("tls.key");
    set_mode(&key, 0o644);
    let (severity, problem) = only(&deployment.doctor(&[]), "permissions");
    assert_eq!(severity, "warning");
    assert!(
        problem.contains(text_of(&key)) && problem.contains("644"),
        "{problem}"
    );
    set_mode(&key, 0o600);

    let other = trusted_identity(&["localhost"]);
    deployment.set_file("AUDIT_TLS_KEY", "tls.key", &other.key);
    let (severity, problem) = only(&deployment.doctor(&[]), "tls");
    assert_eq!(severity, "error");
    assert!(problem.contains("does not belong to"), "{problem}");

    let soon = moment(&now_plus(86_400).into());
    let ending = CertificateAuthority::create("authority").server_until(&["localhost"], soon);
    deployment.set_file("AUDIT_TLS_CERTIFICATE", "tls.crt", &ending.certificate);
    deployment.set_file("AUDIT_TLS_KEY", "tls.key", &ending.key);
    let (_, problem) = only(&deployment.doctor(&[]), "tls");
    assert!(problem.contains("the certificate expires at"), "{problem}");

    deployment.environment.retain(|(name, _)| {
        ["AUDIT_STATE_DIR", "AUDIT_STREAMS", "AUDIT_METRICS_LISTEN"].contains(&name.as_str())
    });
    let report = deployment.doctor(&["--listen", "0.0.0.0:8080"]);
    for (check, part) in [
        ("tls", "plain HTTP"),
        ("backups", "no backups"),
        ("log", "neither witnesses nor anchors"),
    ] {
        let (_, problem) = only(&report, check);
        assert!(problem.contains(part), "{problem}");
    }
    let found = findings(&report);
    for part in ["no encryption key", "no hash key"] {
        assert!(
            found.iter().any(|(_, _, problem)| problem.contains(part)),
            "{part}: {found:?}"
        );
    }
}

#[test]
fn links_to_the_portal_without_tls_are_found() {
    let mut deployment = Deployment::complete(DatabaseKind::Sqlite);
    drop(deployment.start());
    let of_links = |deployment: &Deployment, options: &[&str]| {
        let found = findings(&deployment.doctor(options));
        let of_links = found.into_iter().filter(|(check, _, _)| check == "portal links");
        of_links.map(|(_, _, problem)| problem).collect::<Vec<_>>()
    };
    let none = Vec::<String>::new();
    assert_eq!(of_links(&deployment, &[]), none);
    deployment
        .environment
        .retain(|(name, _)| !name.starts_with("AUDIT_TLS_"));
    let found = of_links(&deployment, &[]);
    assert!(
        found.len() == 1 && found[0].contains("trusts no proxy"),
        "{found:?}"
    );
    // A note.
    assert_eq!(of_links(&deployment, &["--trusted-proxies", "127.0.0.1"]), none);
    assert_eq!(of_links(&deployment, &["--pages", "off"]), none);
    assert_eq!(
        of_links(&deployment, &["--public-url", "https://audit.example.com"]),
        none
    );
    let found = of_links(&deployment, &["--public-url", "http://audit.example.com"]);
    assert!(
        found.len() == 1 && found[0].contains("begin with http://audit.example.com"),
        "{found:?}"
    );
}

#[test]
fn an_event_of_the_future_is_found() {
    let deployment = Deployment::complete(DatabaseKind::Sqlite);
    let server = deployment.start();
    let organization = Organization::create_with(&server, "enterprise", &deployment.variables());
    assert_eq!(server.stop().exit, Exit::Code(0));
    drop(organization);
    let later = moment(&now_plus(3_600).into()).unix_timestamp() * 1_000_000;
    deployment
        .database
        .execute(&format!("UPDATE ledgers SET last_received_at = {later}"));
    let (severity, problem) = only(&deployment.doctor(&[]), "clock");
    assert_eq!(severity, "error");
    assert!(problem.contains("in the future"), "{problem}");
}

#[test]
fn a_server_that_loses_events_in_a_crash_is_found() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let deployment = Deployment::complete(DatabaseKind::Postgres);
    drop(deployment.start());
    deployment.database.execute(
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$",
    );
    let found = findings(&deployment.doctor(&["--readers-max", "1000"]));
    for part in ["synchronous_commit is off", "one node holds up to 1010"] {
        assert_has(&found, "database", part);
    }
}

#[test]
fn what_cannot_be_checked_is_told_from_what_is_right() {
    let database = Database::create(DatabaseKind::Sqlite);
    let arguments = ["doctor", "--database-url", database.url()];
    let report = command_line_with(&arguments, &[]);
    assert_eq!(report.exit, Exit::Code(2), "{report:?}");
    assert!(
        report.stderr.contains("keys: the check could not be completed"),
        "{report:?}"
    );
    assert!(report.stdout.contains("ok       open files"), "{report:?}");
}
