//! What metrics show of destinations.

use super::counts::{DestinationLag, DestinationStatistics};
use crate::destinations::{DestinationState, damaged, logged_at};
use crate::error::{AppError, Result};
use crate::service::AuditLog;

/// The most runs of which the oldest undelivered event is read for a measurement.
const MEASURED_RUNS_MAX: i64 = 20;

impl AuditLog {
    /// What this process has delivered, and the measurement of the last call of [`Self::measure_destinations`], of all open cells.
    pub fn destination_statistics(&self) -> DestinationStatistics {
        let of = |service: &Self| {
            let worker = &service.destination_worker;
            worker.counters.read(worker.measured.lock().clone())
        };
        let cells = self.cells.opened();
        let of_cells = cells.iter().map(|cell| of(cell));
        of_cells.fold(of(self), DestinationStatistics::plus)
    }

    /// Measures how far the destinations of this cell are. Call it every few seconds.
    ///
    /// # Errors
    /// When the database cannot be read. The previous measurement is then kept.
    pub fn measure_destinations(&self) -> Result<()> {
        let now = self.clock.now().as_seconds();
        let measured = self.store.query(|reader| {
            let mut measured = DestinationLag::default();
            for counted in reader.destination_statistics()? {
                let state = match counted.is_paused {
                    false => counted.state.parse().map_err(|_| damaged())?,
                    true => DestinationState::Paused,
                };
                *measured.by_state.entry(state).or_default() += counted.runs;
                if state != DestinationState::Paused {
                    measured.events_max = measured.events_max.max(counted.lag_events_max);
                }
            }
            for (ledger_id, cursor) in reader.waiting_destination_runs(MEASURED_RUNS_MAX)? {
                if let Some(next) = reader.logged_events(ledger_id, cursor, 1)?.first() {
                    let seconds = now - logged_at(&next.event)?.as_seconds();
                    measured.seconds_max = measured.seconds_max.max(seconds);
                }
            }
            Ok::<_, AppError>(measured)
        })?;
        *self.destination_worker.measured.lock() = measured;
        Ok(())
    }
}
