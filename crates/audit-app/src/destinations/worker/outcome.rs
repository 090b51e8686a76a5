//! What is written with a run.

use super::batch::{Prepared, Stream};
use super::plan::{self, Notice};
use crate::destinations::damaged;
use crate::error::Result;
use crate::self_audit::{ServiceAction, ServiceEvent};
use audit_domain::Timestamp;
use audit_store::{DestinationRow, DestinationRunRow, SetAsideRow, StoreError, Writer};

/// The token of the lease.
pub(super) type Lease = [u8; 16];

/// What is written with a run after an attempt.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) set_aside: Option<SetAsideRow>,
    pub(super) notices: Vec<Notice>,
    /// The configuration that is known to work now.
    pub(super) confirmed: Option<Vec<u8>>,
    /// Of an attempt after which the run waits.
    pub(super) failed: Option<Failed>,
}

/// An attempt that has failed.
pub(super) struct Failed {
    /// The configuration that it had.
    pub(super) config: Vec<u8>,
    pub(super) before: DestinationRunRow,
    pub(super) at: Timestamp,
}

impl Outcome {
    /// Whether it needs neither events of the service nor the destination as it is at the commit.
    pub(super) fn is_plain(&self) -> bool {
        self.notices.is_empty() && self.failed.is_none()
    }

    /// The run to write. The transaction holds the configuration of the project, so a change of the destination comes before or after it.
    /// One that came during a failed attempt has found the run leased and could not resume it: this does so.
    pub(super) fn at_commit(
        &mut self,
        destination: &DestinationRow,
        run: DestinationRunRow,
    ) -> DestinationRunRow {
        match &self.failed {
            Some(failed) if failed.config != destination.config => {
                plan::superseded(&failed.before, run, &mut self.notices, failed.at)
            }
            _ => run,
        }
    }

    /// Writes a run under its lease. Returns `false`, and changes nothing of the run, when another node has leased it since.
    pub(super) fn write(
        &self,
        writer: &mut Writer<'_>,
        lease: &Lease,
        run: &DestinationRunRow,
    ) -> Result<bool, StoreError> {
        // Before the run: a deletion locks the destination first as well, and the two could deadlock otherwise. That a configuration has
        // worked is true without the lease, too.
        if let Some(config) = &self.confirmed {
            writer.confirm_destination_config(&run.destination_id, config)?;
        }
        if !writer.update_destination_run(lease, run)? {
            return Ok(false);
        }
        if let Some(row) = &self.set_aside {
            writer.insert_set_aside(row)?;
        }
        Ok(true)
    }

    /// The events of the service that tell the operator.
    pub(super) fn events(&self, destination: &DestinationRow) -> Vec<ServiceEvent> {
        let event = |notice: &Notice| {
            let action = match notice {
                Notice::Delayed => ServiceAction::DestinationDelayed,
                Notice::Recovered => ServiceAction::DestinationRecovered,
                Notice::Parked => ServiceAction::DestinationParked,
                Notice::CredentialsRefused => ServiceAction::DestinationRefusedCredentials,
                Notice::EventSetAside => ServiceAction::DestinationEventSetAside,
            };
            ServiceEvent::destination_noted(action, destination)
        };
        self.notices.iter().map(event).collect()
    }
}

/// The row of the only event of a batch, which is set aside.
pub(super) fn set_aside(
    stream: &Stream,
    prepared: &Prepared,
    reason: &str,
    now: Timestamp,
) -> Result<SetAsideRow> {
    let logged = prepared.events.first().ok_or_else(damaged)?;
    Ok(SetAsideRow {
        destination_id: stream.destination.id.clone(),
        run: stream.run.number,
        position: prepared.batch.id.first_position.cast_signed(),
        seq: logged.seq.cast_signed(),
        event_id: logged.event.id.to_bytes().to_vec(),
        content_hash: logged.event.content_hash.as_bytes().to_vec(),
        at: now.as_micros(),
        reason: reason.to_owned(),
    })
}
