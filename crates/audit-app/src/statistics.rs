//! What metrics show of a server: counts of this process, and what it measures of its databases now and then.

use crate::activity::ActivityReport;
use crate::backups::{BackupStatistics, Backups};
use crate::dispatcher::DeliveryStatistics;
use crate::error::Result;
use crate::measured::Measured;
use crate::service::{AuditLog, PendingDeliveries};
use audit_domain::Timestamp;
use audit_store::{StoreError, StoreStatistics};

impl AuditLog {
    /// The statistics of the store, and of those of the open cells.
    pub fn statistics(&self) -> StoreStatistics {
        let cells = self.cells.opened();
        let of_cells = cells.iter().map(|cell| cell.store.statistics());
        of_cells.fold(self.store.statistics(), StoreStatistics::plus)
    }

    /// The events of the busiest projects in the last complete minute; `None` if they are not counted.
    pub fn project_activity(&self) -> Option<ActivityReport> {
        self.activity.report()
    }

    /// The results of the delivery attempts of this process.
    pub fn delivery_statistics(&self) -> DeliveryStatistics {
        let cells = self.cells.opened();
        let of_cells = cells.iter().map(|cell| cell.deliveries.read());
        of_cells.fold(self.deliveries.read(), DeliveryStatistics::plus)
    }

    /// The pending deliveries at the last call of [`Self::count_pending_deliveries`].
    pub fn pending_deliveries(&self) -> PendingDeliveries {
        let cells = self.cells.opened();
        let of_cells = cells.iter().map(|cell| *cell.pending.lock());
        of_cells.fold(*self.pending.lock(), |sum, of_cell| PendingDeliveries {
            count: sum.count + of_cell.count,
            oldest_seconds: sum.oldest_seconds.max(of_cell.oldest_seconds),
        })
    }

    /// Counts the pending deliveries, in time proportional to their number. Call it every few seconds.
    ///
    /// # Errors
    /// When the database cannot be read. The previous count is then kept.
    pub fn count_pending_deliveries(&self) -> Result<()> {
        let counted = self.store.query(|reader| reader.pending_deliveries())?;
        let now = self.clock.now().as_seconds();
        let age = |oldest: Timestamp| (now - oldest.as_seconds()).max(0);
        *self.pending.lock() = PendingDeliveries {
            count: counted.count,
            oldest_seconds: counted.oldest_created_at.map_or(0, age),
        };
        Ok(())
    }

    /// Where the backups of this process are counted.
    pub const fn backups(&self) -> &Backups {
        &self.backups
    }

    /// The state of the backups of this process.
    pub fn backup_statistics(&self) -> BackupStatistics {
        self.backups.statistics()
    }

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
