//! What a server measures of its database now and then, for metrics: reading them queries nothing.

use audit_domain::Timestamp;
use audit_store::StorageStatus;

/// What the last measurement found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Sizes of the database of the home cell, and the indexing backlog of all cells.
    pub storage: StorageStatus,
    /// When the next key ends that is valid now; `None` while none has an end.
    pub next_key_end: Option<Timestamp>,
}

impl Measured {
    /// Both, where `cell` is another cell, which may be in the same database.
    pub(crate) fn with_cell(self, cell: Self) -> Self {
        let earlier = |one: Option<Timestamp>, other: Option<Timestamp>| one.into_iter().chain(other).min();
        Self {
            storage: StorageStatus {
                backlog_events: self.storage.backlog_events + cell.storage.backlog_events,
                backlog_since: earlier(self.storage.backlog_since, cell.storage.backlog_since),
                ..self.storage
            },
            next_key_end: earlier(self.next_key_end, cell.next_key_end),
        }
    }
}
