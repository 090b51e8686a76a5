//! The database: its settings, its clock, its backups.

use super::postgres;
use super::{Finding, Severity, Subject, finding};
use anyhow::Context;
use audit_app::{CellDatabase, ListMismatch, cells_of_deployment, list_mismatch};
use audit_cli::SystemClock;
use audit_domain::{Clock, Timestamp};
use audit_store::{CellId, DatabaseSettings, DatabaseUrl, KindSettings, inspect};

/// The difference of clocks that is not reported, in microseconds.
const CLOCK_DIFFERENCE_MICROS_MAX: i64 = 2_000_000;
/// The difference that changes the order and month of stored events, in microseconds.
const CLOCK_ERROR_MICROS: i64 = 60_000_000;

/// The file of an early version.
pub(crate) const NO_SPACE_BACK: &str =
    "the file of the database does not get smaller when events are removed";
pub(crate) const SPACE_ADVICE: &str =
    "make a backup of it and restore that into a new file (docs/backup.md), which does";

/// A cell of the deployment, and what its database says of itself.
struct ReadCell {
    /// `None` for the home cell.
    name: Option<String>,
    settings: DatabaseSettings,
    /// The clock of this machine at that time.
    read_at: Timestamp,
}

/// Every cell of the deployment, the home cell first. SQLite has only that one.
fn read(subject: &Subject<'_>) -> anyhow::Result<Vec<ReadCell>> {
    let url = subject.options.database.url()?;
    let cells = cells_of_deployment(&url).with_context(|| format!("cannot read {url}"))?;
    let read = |cell: CellDatabase| {
        let settings = inspect(&cell.url, |reader| reader.database_settings());
        let settings = settings.with_context(|| format!("cannot read {}", cell.url))?;
        Ok(ReadCell {
            name: Some(cell.name).filter(|_| cell.id != CellId::HOME),
            settings,
            read_at: SystemClock.now(),
        })
    };
    cells.into_iter().map(read).collect()
}

/// The findings in each cell. Those of cells in the same database as the home cell, which are the same, are not repeated.
fn in_each_cell(cells: &[ReadCell], look: impl Fn(&ReadCell) -> Vec<Finding>) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    let mut of_home = Vec::new();
    for cell in cells {
        let found = look(cell);
        match &cell.name {
            None => {
                all.extend(found.iter().cloned());
                of_home = found;
            }
            Some(name) => all.extend(found.into_iter().filter(|one| !of_home.contains(one)).map(|one| {
                let problem = format!("cell {}: {}", name, one.problem);
                Finding { problem, ..one }
            })),
        }
    }
    all
}

pub(super) fn settings(subject: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    let service = &subject.options.service;
    let connections = postgres::connections_of_a_node(service.readers_max, service.postgres_writers);
    Ok(in_each_cell(&read(subject)?, |cell| match &cell.settings.kind {
        KindSettings::Sqlite {
            journal_mode,
            gives_space_back,
        } => {
            let of_space = (!gives_space_back).then(|| finding(Severity::Note, NO_SPACE_BACK, SPACE_ADVICE));
            of_sqlite(journal_mode).into_iter().chain(of_space).collect()
        }
        KindSettings::Postgres(settings) => postgres::of_settings(settings, connections),
    }))
}

/// Projects without a log, and the reverse.
pub(super) fn projects(subject: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    let ListMismatch {
        without_log,
        not_listed,
    } = list_mismatch(&subject.options.database.url()?)?;
    let of = |count: usize, what: &str| {
        (count > 0).then(|| {
            finding(
                Severity::Error,
                format!("{count} projects {what}"),
                "run `audit-server log verify`, which names them: commits were lost in a failover, or rows were deleted",
            )
        })
    };
    let missing = of(without_log.len(), "of the list have no log in their cell");
    let unlisted = of(not_listed.len(), "have events in a cell and are not listed there");
    Ok(missing.into_iter().chain(unlisted).collect())
}

fn of_sqlite(journal_mode: &str) -> Option<Finding> {
    (journal_mode != "wal").then(|| {
        finding(
            Severity::Error,
            format!("the journal mode of the database is {journal_mode}"),
            "stop what has changed it, then `sqlite3 audit.db 'PRAGMA journal_mode = wal'`",
        )
    })
}

pub(super) fn clock(subject: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    Ok(in_each_cell(&read(subject)?, |cell| {
        let now = cell.read_at;
        let of_server = match &cell.settings.kind {
            KindSettings::Sqlite { .. } => None,
            KindSettings::Postgres(settings) => of_difference(settings.clock_micros - now.as_micros()),
        };
        let newest = cell.settings.newest_event_at;
        let of_event = newest.and_then(|newest| of_newest_event(newest, now));
        of_server.into_iter().chain(of_event).collect()
    }))
}

/// The clock of the database server, which is ahead by this much.
fn of_difference(ahead_micros: i64) -> Option<Finding> {
    let severity = match ahead_micros.saturating_abs() {
        CLOCK_ERROR_MICROS.. => Severity::Error,
        difference if difference > CLOCK_DIFFERENCE_MICROS_MAX => Severity::Warning,
        _ => return None,
    };
    let seconds = ahead_micros as f64 / 1e6;
    Some(finding(
        severity,
        format!("the clock of the database server differs by {seconds:+.1} s from that of this machine"),
        "synchronise the clocks of all machines (NTP)",
    ))
}

fn of_newest_event(newest: Timestamp, now: Timestamp) -> Option<Finding> {
    let ahead_micros = newest.as_micros() - now.as_micros();
    (ahead_micros > CLOCK_DIFFERENCE_MICROS_MAX).then(|| {
        finding(
            Severity::Error,
            format!(
                "the newest event was received at {newest}, which is in the future of this machine's clock"
            ),
            "correct the clock: until then, new events get the time of that event",
        )
    })
}

pub(super) fn backups(subject: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    let options = subject.options;
    if let DatabaseUrl::Postgres(_) = options.database.url()? {
        return Ok(in_each_cell(&read(subject)?, |cell| match &cell.settings.kind {
            KindSettings::Sqlite { .. } => Vec::new(),
            KindSettings::Postgres(settings) => postgres::of_archiving(settings).into_iter().collect(),
        }));
    }
    let Some(state) = options.backups.state(&options.database)? else {
        return Ok(vec![finding(
            Severity::Warning,
            "the server makes no backups by itself",
            "set AUDIT_BACKUP_DIRECTORY, and copy the backups to another machine (docs/backup.md)",
        )]);
    };
    Ok(of_last_backup(state.last, state.every_seconds, subject.now)
        .into_iter()
        .collect())
}

fn of_last_backup(last: Option<Timestamp>, every_seconds: i64, now: Timestamp) -> Option<Finding> {
    let action = "look for `no backup was made` in the log of the server (docs/backup.md#at-an-interval)";
    let Some(last) = last else {
        let problem = "there is no backup yet";
        return Some(finding(Severity::Warning, problem, action));
    };
    let age = now.as_seconds() - last.as_seconds();
    (age > 2 * every_seconds).then(|| {
        let problem = format!("the last backup is of {last}, more than two intervals ago");
        finding(Severity::Error, problem, action)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

    #[test]
    fn a_clock_that_differs_is_found() {
        let severity = |micros| of_difference(micros).map(|finding| finding.severity);
        assert_eq!(severity(CLOCK_DIFFERENCE_MICROS_MAX), None);
        assert_eq!(
            severity(-CLOCK_DIFFERENCE_MICROS_MAX - 1),
            Some(Severity::Warning)
        );
        assert_eq!(severity(CLOCK_ERROR_MICROS), Some(Severity::Error));
        assert_eq!(severity(-CLOCK_ERROR_MICROS), Some(Severity::Error));
    }

    #[test]
    fn an_event_of_the_future_is_found() {
        assert_eq!(of_newest_event(NOW, NOW), None);
        assert!(of_newest_event(NOW.plus_seconds(3), NOW).is_some());
    }

    #[test]
    fn an_old_backup_is_found() {
        let severity = |age: i64| {
            let last = of_last_backup(Some(NOW.plus_seconds(-age)), 100, NOW);
            last.map(|finding| finding.severity)
        };
        assert_eq!(severity(200), None);
        assert_eq!(severity(201), Some(Severity::Error));
        assert!(of_last_backup(None, 100, NOW).is_some());
    }

    #[test]
    fn another_journal_mode_is_found() {
        assert_eq!(of_sqlite("wal"), None);
        assert!(of_sqlite("delete").is_some());
    }
}
