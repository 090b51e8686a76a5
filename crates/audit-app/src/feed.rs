//! The feed: the events of a ledger, each once, in commit order.
//!
//! A cursor is the position of the next event in the ledger. Positions are assigned under the lock of the ledger's head,
//! which is held until the commit. So a reader that sees a position sees all earlier ones: no event commits late behind a
//! cursor. Hidden events advance the cursor too.
//!
//! A waiting reader holds neither a thread nor a connection. A commit of this process to the ledger wakes it. For commits of
//! other processes, one of the waiting readers polls twice a second on behalf of all.

pub(crate) mod follower;
pub(crate) mod page;
#[cfg(test)]
pub(crate) mod tests;

use crate::turns::OwnedTurns;
use audit_admission::TurnsOptions;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

/// Of eight connections for queries, the feed uses this many. An organization alone gets two of three.
const CONNECTIONS_OF_EIGHT: u32 = 3;
/// Followers of an organization that wait to read a page.
const ORGANIZATION_WAITING_MAX: usize = 20_000;
/// Followers with one key, or of one tenant, that wait to read a page.
const MEMBER_WAITING_MAX: usize = 5_000;
/// How long a follower waits to read a page.
const READ_WAIT: Duration = Duration::from_secs(30);

/// The state that all readers of the feed share.
pub(crate) struct Feeds {
    /// Turns to read a page. A reader that waits for one holds no other resource.
    pub(crate) reads: OwnedTurns,
    /// When commits of other processes were last polled for.
    polled_at: Mutex<Instant>,
    stopping: watch::Sender<bool>,
    readers: AtomicUsize,
    waiting: AtomicUsize,
}

impl Feeds {
    pub(crate) fn new(connections_max: u32) -> Self {
        Self {
            reads: OwnedTurns::new(TurnsOptions {
                permits: (connections_max * CONNECTIONS_OF_EIGHT / 8).max(2) as usize,
                group_share: 1,
                member_share: 1,
                group_waiting_max: ORGANIZATION_WAITING_MAX,
                member_waiting_max: MEMBER_WAITING_MAX,
                wait_max: READ_WAIT,
            }),
            polled_at: Mutex::new(Instant::now()),
            stopping: watch::Sender::new(false),
            readers: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
        }
    }

    pub(crate) fn readers(&self) -> usize {
        self.readers.load(Ordering::Relaxed)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }
}
