//! The database: its settings, its clock, its backups.

use super::postgres;
use super::{Finding, Severity, Subject, finding};
use crate::system::SystemClock;
use anyhow::Context;
use audit_domain::{Clock, Timestamp};
use audit_store::{DatabaseSettings, DatabaseUrl, KindSettings, inspect};

/// The difference of clocks that is not reported, in microseconds.
const CLOCK_DIFFERENCE_MICROS_MAX: i64 = 2_000_000;
/// The difference that changes the order and month of stored events, in microseconds.
const CLOCK_ERROR_MICROS: i64 = 60_000_000;

fn read(subject: &Subject<'_>) -> anyhow::Result<DatabaseSettings> {
    let url = subject.options.database.url()?;
    let read = inspect(&url, |reader| reader.database_settings());
    read.with_context(|| format!("cannot read {url}"))
}

pub(super) fn settings(subject: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    Ok(match read(subject)?.kind {
        KindSettings::Sqlite { journal_mode } => of_sqlite(&journal_mode).into_iter().collect(),
        KindSettings::Postgres(settings) => {
            let service = &subject.options.service;
            let connections = postgres::connections_of_a_node(service.readers_max, service.postgres_writers);
            postgres::of_settings(&settings, connections)
        }
    })
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
    let settings = read(subject)?;
    let now = SystemClock.now();
    let of_server = match &settings.kind {
        KindSettings::Sqlite { .. } => None,
        KindSettings::Postgres(settings) => of_difference(settings.clock_micros - now.as_micros()),
    };
    let of_event = settings
        .newest_event_at
        .and_then(|newest| of_newest_event(newest, now));
    Ok(of_server.into_iter().chain(of_event).collect())
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
        let KindSettings::Postgres(settings) = read(subject)?.kind else {
            return Ok(Vec::new());
        };
        return Ok(postgres::of_archiving(&settings).into_iter().collect());
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
