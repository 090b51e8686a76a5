//! A claim by a project of another cell than the home cell, which has the streams. It has three transactions: the stream is
//! marked as claimed, the events are stored in the cell together with a record of the claim, and they are removed from the
//! stream. A claim that was interrupted is completed by its repetition, or by any node.

use super::{Claiming, append_claimed, require_active, require_unarchived};
use crate::directory::load_present;
use crate::error::{AppError, Result};
use crate::ingest::{STALE_RETRIES_MAX, destination};
use crate::redaction::engines::Engines;
use crate::self_audit::recorder::Recorder;
use crate::self_audit::{Place, Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use crate::settings::Settings;
use audit_auth::{MasterKey, Principal};
use audit_domain::{ClaimToken, Entropy, Timestamp};
use audit_store::{Destination, EventSender, OpenClaim, StoreError, StreamEvent, Writer};
use std::sync::Arc;

/// After how long a claim by a project of another cell counts as interrupted, in seconds.
const INTERRUPTED_CLAIM_SECONDS: i64 = 60;

impl AuditLog {
    pub(super) fn claim_in_cell(
        &self,
        master: &MasterKey,
        selection: Selection,
        token: ClaimToken,
    ) -> Result<u64> {
        let principal = Principal::Master(*master);
        let scope = self
            .store
            .read(|reader| self.scope(reader, &principal, selection))?;
        require_unarchived(&scope.project.project)?;
        let claim = OpenClaim {
            token_hash: token.sha256(),
            project_id: scope.project.project.id,
            environment: scope.environment,
        };
        let (opened, now) = (claim.clone(), self.clock.now());
        self.home_store
            .write(move |writer| open_claim(writer, &opened, now))?;
        self.complete_claim(claim, &Requester::from(master))
    }

    /// Stores the events of a claimed stream in this cell, unless that was done, and removes them from the stream. Returns
    /// their number.
    fn complete_claim(&self, claim: OpenClaim, requester: &Requester) -> Result<u64> {
        let hash = claim.token_hash;
        let events = self.home_store.write(move |writer| match writer.stream(&hash)? {
            Some(stream) => Ok(writer.stream_events(&stream)?),
            None => Err(AppError::StreamNotFound),
        })?;
        let stored = self.store_claim(&claim, &events, requester)?;
        self.wake_deliveries();
        self.home_store.write(move |writer| {
            if let Some(mut stream) = writer.lock_stream(&hash)? {
                writer.delete_stream_events(&stream)?;
                stream.is_empty = true;
                writer.update_stream(&stream)?;
            }
            writer.delete_open_claim(&hash)
        })?;
        Ok(stored)
    }

    /// Stores the events of a claim with a record of it, or returns the number in the record.
    fn store_claim(&self, claim: &OpenClaim, events: &[StreamEvent], requester: &Requester) -> Result<u64> {
        for _ in 0..STALE_RETRIES_MAX {
            let (settings, project_id) = (&self.settings, claim.project_id);
            let project = self
                .store
                .read(|reader| load_present(reader, settings, project_id))?;
            // Not in the transaction, for which others wait.
            self.engines
                .compiled(&project.ok_or(AppError::NotFound("project"))?.rules)?;
            let storing = StoringClaim {
                recorder: self.recorder(Place::Project(project_id), requester)?,
                sender: requester.sender(&self.settings),
                claim: claim.clone(),
                events: events.to_vec(),
                settings: self.settings.clone(),
                engines: Arc::clone(&self.engines),
                entropy: Arc::clone(&self.entropy),
                now: self.clock.now(),
            };
            match self.store.write(move |writer| storing.store(writer)) {
                Err(AppError::Unavailable(StoreError::Stale)) => {}
                outcome => return outcome,
            }
        }
        Err(AppError::Unavailable(StoreError::Stale))
    }

    /// Completes claims that were interrupted.
    pub(crate) fn complete_claims(self: &Arc<Self>) -> Result<()> {
        let before = self.clock.now().plus_seconds(-INTERRUPTED_CLAIM_SECONDS);
        for claim in self.home_store.read(|reader| reader.open_claims(before))? {
            let project_id = claim.project_id;
            let completed = self
                .cell_of_project(project_id)
                .and_then(|service| service.complete_claim(claim, &Requester::Service));
            if let Err(error) = completed {
                log::warn!("cannot complete the claim of a stream by project {project_id}: {error}");
            }
        }
        Ok(())
    }
}

/// Marks a stream as claimed, unless an earlier request of the same claim has done so.
fn open_claim(writer: &mut Writer<'_>, claim: &OpenClaim, now: Timestamp) -> Result<()> {
    let stream = writer
        .lock_stream(&claim.token_hash)?
        .ok_or(AppError::StreamNotFound)?;
    if writer.open_claim(&claim.token_hash)?.as_ref() == Some(claim) {
        return Ok(());
    }
    let mut stream = require_active(stream, now)?;
    // The project may have been archived since its cell was read. The list of projects has that before the response is sent.
    let project = writer.project(claim.project_id)?;
    require_unarchived(&project.ok_or(AppError::NotFound("project"))?)?;
    stream.claimed_at = Some(now.as_micros());
    writer.update_stream(&stream)?;
    Ok(writer.insert_open_claim(claim, now)?)
}

/// What the transaction of a claim needs.
struct StoringClaim {
    recorder: Option<Recorder>,
    sender: Option<EventSender>,
    claim: OpenClaim,
    events: Vec<StreamEvent>,
    settings: Settings,
    engines: Arc<Engines>,
    entropy: Arc<dyn Entropy>,
    now: Timestamp,
}

impl StoringClaim {
    fn store(self, writer: &mut Writer<'_>) -> Result<u64> {
        let Self { claim, settings, .. } = &self;
        // The project's rules must not change meanwhile.
        writer.hold_configuration(claim.project_id)?;
        if let Some(stored) = writer.stored_claim(&claim.token_hash)? {
            return Ok(stored);
        }
        let project = load_present(writer, settings, claim.project_id)?;
        let project = project.ok_or(AppError::NotFound("project"))?;
        let claiming = Claiming {
            engine: self.engines.cached(&project.rules).ok_or(StoreError::Stale)?,
            destination: Destination {
                // The stream was marked before the response of the archiving was sent, and no other project can claim it now.
                is_archived: false,
                ..destination(&project, claim.environment)?
            },
            sender: self.sender,
            entropy: self.entropy,
            now: self.now,
        };
        let stored = append_claimed(writer, claiming, self.events)?;
        writer.insert_stored_claim(&self.claim, stored)?;
        if let Some(recorder) = &self.recorder {
            let OpenClaim {
                token_hash,
                project_id,
                environment,
            } = &self.claim;
            let event = ServiceEvent::stream_claimed(token_hash, stored, *environment);
            recorder.record(writer, *project_id, vec![event])?;
        }
        Ok(stored)
    }
}
