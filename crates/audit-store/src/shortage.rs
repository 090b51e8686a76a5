//! Failures of the machine that has the database: what an operator has to do, and whether the node is ready meanwhile.

use crate::error::StoreError;
use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// Parts of the messages of SQLite and PostgreSQL, and what an operator has to do. SQLite's are constants of its source.
/// PostgreSQL's are those of the C library of the server, in English unless `lc_messages` says otherwise.
const ADVICE: [(&str, &str); 7] = [
    ("database or disk is full", FREE_SPACE),
    ("No space left on device", FREE_SPACE),
    ("Disk quota exceeded", FREE_SPACE),
    ("disk I/O error", BAD_DISK),
    ("Input/output error", BAD_DISK),
    (
        "unable to open database file",
        "the process may have too few open files (raise LimitNOFILE), or the file is gone or not its own",
    ),
    (
        "out of memory",
        "the process or its memory limit has too little memory",
    ),
];
const FREE_SPACE: &str = "free disk space where the database is; writing then continues without a restart";
const BAD_DISK: &str = "the disk or its file system fails: read the system's log, and move the database to another disk if it \
                        goes on";

/// For how long a node is not ready after a write that failed, unless one has succeeded since.
const NOT_READY_FOR: Duration = Duration::from_secs(10);
/// How often writing is tried. Callers need no credential, so their number must not matter.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

fn advice(message: &str) -> Option<&'static str> {
    let mut known = ADVICE.iter();
    known.find_map(|(part, advice)| message.contains(part).then_some(*advice))
}

/// The message of the database, and what to do if the machine is the cause.
pub(crate) fn with_advice(message: &str) -> String {
    match advice(message) {
        Some(advice) => format!("{message}; {advice}"),
        None => message.to_owned(),
    }
}

/// Whether the message is that of an I/O error, after which nothing is known about what was written.
pub(crate) fn is_io_error(message: &str) -> bool {
    message.contains("disk I/O error")
}

/// The last write of this process, if the machine of the database was the cause of its failure.
#[derive(Debug, Default)]
pub(crate) struct Shortage(Mutex<Option<Failure>>);

#[derive(Debug)]
struct Failure {
    reason: String,
    at: Instant,
    probed_at: Instant,
}

/// What [`Shortage::found`] returns.
#[derive(Debug)]
pub(crate) enum Found {
    /// The last write did not fail, or for another reason.
    Nothing,
    /// It failed for this reason.
    Failed(String),
    /// The same, and it is time to try again.
    Probe,
}

impl Shortage {
    /// Notes that a write failed with `error`.
    pub(crate) fn failed(&self, error: &StoreError, now: Instant) {
        let (StoreError::Unreachable(reason) | StoreError::OutcomeUnknown(reason)) = error else {
            return;
        };
        if advice(reason).is_some() {
            *self.0.lock() = Some(Failure {
                reason: reason.clone(),
                at: now,
                probed_at: now,
            });
        }
    }

    /// Notes that a write succeeded.
    pub(crate) fn succeeded(&self) {
        *self.0.lock() = None;
    }

    /// What is known. Where writing can be tried, one caller in a second gets [`Found::Probe`]. Elsewhere a failure is forgotten
    /// after a while: otherwise a node that gets no requests, because it is not ready, would never be ready again.
    pub(crate) fn found(&self, can_probe: bool, now: Instant) -> Found {
        let mut failure = self.0.lock();
        let Some(last) = &mut *failure else {
            return Found::Nothing;
        };
        if can_probe && now.saturating_duration_since(last.probed_at) >= PROBE_INTERVAL {
            last.probed_at = now;
            return Found::Probe;
        }
        if !can_probe && now.saturating_duration_since(last.at) >= NOT_READY_FOR {
            *failure = None;
            return Found::Nothing;
        }
        Found::Failed(last.reason.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(reason: &str) -> (Shortage, Instant) {
        let (shortage, now) = (Shortage::default(), Instant::now());
        shortage.failed(&StoreError::Unreachable(reason.to_owned()), now);
        (shortage, now)
    }

    #[test]
    fn only_a_failure_of_the_machine_is_remembered_until_a_write_succeeds() {
        let (shortage, now) = failed("deadlock detected");
        assert!(matches!(shortage.found(true, now), Found::Nothing));
        let (shortage, now) = failed("could not extend file: No space left on device");
        for can_probe in [true, false] {
            let found = shortage.found(can_probe, now);
            assert!(matches!(found, Found::Failed(reason) if reason.contains("extend")));
        }
        shortage.succeeded();
        assert!(matches!(shortage.found(false, now), Found::Nothing));
    }

    #[test]
    fn writing_is_tried_once_in_an_interval_or_the_failure_is_forgotten() {
        let (shortage, failed_at) = failed("database or disk is full");
        let next = failed_at + PROBE_INTERVAL;
        assert!(matches!(shortage.found(true, next), Found::Probe));
        assert!(matches!(shortage.found(true, next), Found::Failed(_)));
        assert!(matches!(
            shortage.found(true, next + PROBE_INTERVAL),
            Found::Probe
        ));
        let later = failed_at + NOT_READY_FOR;
        let before = later.checked_sub(Duration::from_millis(1)).unwrap();
        assert!(matches!(shortage.found(false, before), Found::Failed(_)));
        assert!(matches!(shortage.found(false, later), Found::Nothing));
    }

    #[test]
    fn a_message_gets_its_advice() {
        let full = with_advice("database or disk is full");
        assert!(full.contains("free disk space"), "{full}");
        assert_eq!(with_advice("deadlock detected"), "deadlock detected");
    }
}
