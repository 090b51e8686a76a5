//! A map of tenants that is behind its log.

use std::fmt;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// A map of tenants lacks events of its log, and is being brought up to date.
#[derive(Clone, Debug)]
pub struct MapBehind {
    events: u64,
    ended: watch::Receiver<u64>,
}

impl fmt::Display for MapBehind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = self.events;
        write!(
            formatter,
            "the map of tenants lacks {events} events of the log; it is being brought up to date"
        )
    }
}

impl MapBehind {
    /// `ended` changes when somebody has brought the map further.
    pub(crate) const fn new(events: u64, ended: watch::Receiver<u64>) -> Self {
        Self { events, ended }
    }

    /// Waits until the map may be further; false at the deadline.
    pub(crate) async fn grows_until(mut self, deadline: Instant) -> bool {
        let ended = timeout_at(deadline, self.ended.changed()).await;
        ended.is_ok_and(|ended| ended.is_ok())
    }
}
