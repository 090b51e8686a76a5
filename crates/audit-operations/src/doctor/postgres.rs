//! The settings of a PostgreSQL server.

use super::{Finding, Severity, finding};
use audit_store::PostgresSettings;

/// The oldest version that PostgreSQL's developers maintain, and the newest one that is tested. docs/databases.md has the
/// same table.
pub(crate) const OLDEST_VERSION: i32 = 15;
pub(crate) const NEWEST_VERSION: i32 = 18;
/// Connections of a node besides its readers of events and its writers.
const OTHER_CONNECTIONS: usize = 8;
/// With a smaller write-ahead log the server writes a checkpoint every few seconds under load.
const WAL_BYTES_MIN: i64 = 1 << 30;

/// The connections that a node holds at most.
pub(super) fn connections_of_a_node(readers_max: u32, writers: usize) -> i32 {
    let connections = (readers_max as usize)
        .saturating_add(writers)
        .saturating_add(OTHER_CONNECTIONS);
    i32::try_from(connections).unwrap_or(i32::MAX)
}

pub(super) fn of_settings(settings: &PostgresSettings, connections: i32) -> Vec<Finding> {
    let mut findings: Vec<Finding> = of_durability(settings).collect();
    findings.extend(of_version(settings));
    if settings.connections_max < connections {
        findings.push(finding(
            Severity::Error,
            format!(
                "the server takes {} connections, and one node holds up to {connections}",
                settings.connections_max
            ),
            format!(
                "set max_connections to at least {connections} for each node, and some for your own sessions"
            ),
        ));
    }
    if settings.autovacuum != "on" {
        findings.push(finding(
            Severity::Error,
            "autovacuum is off: dead rows make tables grow and queries slow",
            "set autovacuum = on",
        ));
    }
    if settings.max_wal_bytes < WAL_BYTES_MIN {
        findings.push(finding(
            Severity::Warning,
            format!("max_wal_size is {} MiB", settings.max_wal_bytes >> 20),
            "set max_wal_size to 1GB or more, as is PostgreSQL's default",
        ));
    }
    if settings.is_standby {
        findings.push(finding(
            Severity::Error,
            "the server is a standby and accepts no writes",
            "give the URL of the primary, or of all servers (docs/databases.md#failover)",
        ));
    }
    if settings.is_superuser {
        findings.push(finding(
            Severity::Warning,
            "the role of the service is a superuser",
            "use a role that owns its schema and nothing else",
        ));
    }
    if settings.is_plain {
        findings.push(finding(
            Severity::Warning,
            "the connection crosses a network unencrypted",
            "add sslmode=verify-full to the URL (docs/databases.md#tls-to-postgresql)",
        ));
    }
    findings
}

/// A 201 is as durable as a commit of the server.
fn of_durability(settings: &PostgresSettings) -> impl Iterator<Item = Finding> {
    let wrong = [
        (
            "fsync",
            settings.fsync.as_str(),
            "a crash can destroy the database",
        ),
        (
            "full_page_writes",
            settings.full_page_writes.as_str(),
            "a crash can destroy pages of the database",
        ),
        (
            "synchronous_commit",
            settings.synchronous_commit.as_str(),
            "a crash loses events that were acknowledged",
        ),
    ];
    wrong
        .into_iter()
        .filter(|(_, value, _)| *value == "off")
        .map(|(name, _, effect)| {
            finding(
                Severity::Error,
                format!("{name} is off: {effect}"),
                format!("set {name} = on"),
            )
        })
}

fn of_version(settings: &PostgresSettings) -> Option<Finding> {
    let (major, version) = (settings.server_version_num / 10_000, &settings.server_version);
    if major < OLDEST_VERSION {
        return Some(finding(
            Severity::Warning,
            format!("PostgreSQL {version} gets no security fixes any more"),
            format!("upgrade the server to {OLDEST_VERSION} or later"),
        ));
    }
    (major > NEWEST_VERSION).then(|| {
        finding(
            Severity::Note,
            format!("PostgreSQL {version} is newer than the versions that are tested"),
            "read the release notes of PostgreSQL, and test before you upgrade",
        )
    })
}

/// Other backups of PostgreSQL are not known to it.
pub(super) fn of_archiving(settings: &PostgresSettings) -> Option<Finding> {
    if settings.archiving_fails {
        return Some(finding(
            Severity::Error,
            "the last attempt to archive the write-ahead log failed: there is no point in time to restore since",
            "look at pg_stat_archiver and the log of the database server",
        ));
    }
    (settings.archive_mode == "off").then(|| {
        finding(
            Severity::Note,
            "the server archives no write-ahead log: a restore loses what was stored since the last dump or base backup",
            "set archive_mode, or let another program back the database up (docs/backup.md#postgresql)",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right() -> PostgresSettings {
        PostgresSettings {
            server_version_num: OLDEST_VERSION * 10_000 + 9,
            server_version: "15.9".to_owned(),
            connections_max: 97,
            fsync: "on".to_owned(),
            full_page_writes: "on".to_owned(),
            synchronous_commit: "on".to_owned(),
            autovacuum: "on".to_owned(),
            archive_mode: "on".to_owned(),
            max_wal_bytes: WAL_BYTES_MIN,
            ..PostgresSettings::default()
        }
    }

    type Change = fn(&mut PostgresSettings);

    #[test]
    fn each_wrong_setting_is_found() {
        assert_eq!(of_settings(&right(), 17), []);
        let off = || "off".to_owned();
        let changes: [(Change, &str); 11] = [
            (|s| s.fsync = "off".to_owned(), "fsync"),
            (|s| s.full_page_writes = "off".to_owned(), "full_page_writes"),
            (|s| s.synchronous_commit = "off".to_owned(), "synchronous_commit"),
            (|s| s.autovacuum = "off".to_owned(), "autovacuum"),
            (|s| s.connections_max = 16, "16 connections"),
            (|s| s.server_version_num = 140_020, "no security fixes"),
            (|s| s.server_version_num = 190_000, "newer than"),
            (|s| s.max_wal_bytes = 64 << 20, "max_wal_size is 64 MiB"),
            (|s| s.is_standby = true, "standby"),
            (|s| s.is_superuser = true, "superuser"),
            (|s| s.is_plain = true, "unencrypted"),
        ];
        for (change, expected) in changes {
            let mut settings = right();
            change(&mut settings);
            let findings = of_settings(&settings, 17);
            assert_eq!(findings.len(), 1, "{expected}: {findings:?}");
            assert!(findings[0].problem.contains(expected), "{findings:?}");
            assert!(!findings[0].action.is_empty());
        }
        assert_eq!(of_archiving(&right()), None);
        assert!(
            of_archiving(&PostgresSettings {
                archive_mode: off(),
                ..right()
            })
            .is_some()
        );
        assert!(
            of_archiving(&PostgresSettings {
                archiving_fails: true,
                ..right()
            })
            .is_some()
        );
    }

    #[test]
    fn a_node_holds_as_many_connections_as_the_documentation_says() {
        assert_eq!(connections_of_a_node(8, 2), 18);
    }
}
