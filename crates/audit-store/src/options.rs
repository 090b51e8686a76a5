//! The options of a store.

use audit_domain::IdempotencyWindow;
use std::time::Duration;

/// How a store is opened.
#[derive(Clone, Copy, Debug)]
pub struct StoreOptions {
    /// The bounds of the write queue.
    pub queue: QueueLimits,
    /// Sessions for queries over events, at most.
    pub readers_max: u32,
    /// How long a reader waits for a session. After that the database counts as unreachable.
    pub session_wait: Duration,
    /// Writing sessions on PostgreSQL. SQLite always has one.
    pub postgres_writers: usize,
    /// The groups into which projects are divided on PostgreSQL, each with an index of its own: at least one. `None`: as
    /// they are, and 16 in a new database.
    pub postgres_groups: Option<u16>,
    /// How long commits are collected before they are indexed. Queries find their events before that as well.
    pub indexing_interval: Duration,
    /// How long a request waits for its commit. After that its outcome is reported as unknown, unless it still waited in the
    /// queue.
    pub write_timeout: Duration,
    /// How long an idempotency key is known.
    pub idempotency_window: IdempotencyWindow,
    /// How long a ledger takes events that are not signed ([`crate::Store::note_signed`]); `None` for any time, in a process that signs
    /// nothing.
    pub unsigned_max: Option<Duration>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            queue: QueueLimits::default(),
            readers_max: 8,
            session_wait: Duration::from_secs(3),
            postgres_writers: 2,
            postgres_groups: None,
            indexing_interval: Duration::from_millis(100),
            write_timeout: Duration::from_secs(10),
            idempotency_window: IdempotencyWindow::default(),
            unsigned_max: None,
        }
    }
}

/// The bounds of the write queue. One organization has two thirds of it at most.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// Requests that wait, at most.
    pub jobs_max: usize,
    /// Bytes of events that wait, at most.
    pub bytes_max: usize,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self {
            jobs_max: 12_288,
            bytes_max: 18 * 1024 * 1024,
        }
    }
}
