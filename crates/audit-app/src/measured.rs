//! What a server measures of its database now and then, for metrics: reading them queries nothing.

use crate::error::Result;
use crate::service::AuditLog;
use audit_domain::Timestamp;
use audit_store::{StorageStatus, StoreError};

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
    fn with_cell(self, cell: Self) -> Self {
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

impl AuditLog {
    /// Measures the database of this cell. Takes some milliseconds, and longer with many tables: call it every few seconds.
    ///
    /// # Errors
    /// When the database cannot be read. The previous measurement is then kept.
    pub fn measure(&self) -> Result<()> {
        let now = self.clock.now();
        let measured = self.store.query(|reader| {
            Ok::<_, StoreError>(Measured {
                storage: reader.storage_status()?,
                next_key_end: reader.next_key_end(now)?,
            })
        })?;
        *self.measured.lock() = measured;
        Ok(())
    }

    /// The last measurement, of all cells that this process has opened.
    pub fn measured(&self) -> Measured {
        let cells = self.cells.opened();
        let of_cells = cells.iter().map(|cell| *cell.measured.lock());
        of_cells.fold(*self.measured.lock(), Measured::with_cell)
    }

    /// How long ago the oldest event was received that no segment of the index has, in seconds; 0 without one.
    pub fn backlog_seconds(&self, measured: &Measured) -> i64 {
        let since = measured.storage.backlog_since;
        since.map_or(0, |since| {
            (self.clock.now().as_seconds() - since.as_seconds()).max(0)
        })
    }
}
