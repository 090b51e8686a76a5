//! What this process knows of the backups that it makes, for metrics.

use audit_domain::Timestamp;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// What this process knows of the backups that it makes.
#[derive(Debug, Default)]
pub struct Backups {
    /// 0 if it makes none.
    every_seconds: AtomicI64,
    /// 0 for none.
    last_seconds: AtomicI64,
    made: AtomicU64,
    failures: AtomicU64,
}

/// The state of the backups of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackupStatistics {
    /// The interval, in seconds; 0 if this process makes no backups.
    pub every_seconds: i64,
    /// The beginning of the last verified backup, in seconds since the Unix epoch; 0 for none.
    pub last_seconds: i64,
    /// Verified backups of this process.
    pub made: u64,
    /// Attempts of this process that led to no backup.
    pub failures: u64,
}

impl Backups {
    /// Backups are made from now on. There may be earlier ones, of other processes.
    pub fn begin(&self, every_seconds: i64, last: Option<Timestamp>) {
        self.every_seconds.store(every_seconds, Ordering::Relaxed);
        let last = last.map_or(0, Timestamp::as_seconds);
        self.last_seconds.store(last, Ordering::Relaxed);
    }

    /// A backup that was begun at this time is verified.
    pub fn succeeded(&self, begun_at: Timestamp) {
        self.last_seconds.store(begun_at.as_seconds(), Ordering::Relaxed);
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    /// An attempt led to no backup.
    pub fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn statistics(&self) -> BackupStatistics {
        BackupStatistics {
            every_seconds: self.every_seconds.load(Ordering::Relaxed),
            last_seconds: self.last_seconds.load(Ordering::Relaxed),
            made: self.made.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
        }
    }
}
