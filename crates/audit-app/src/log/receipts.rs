//! Receipts: the proof of an event in one file (C2SP `tlog-proof`), which anyone verifies offline.
//!
//! The extra data of a receipt are the event as it was hashed, with its salt; or what a viewer sees of it, with the proofs of all
//! parts.

use super::tenants::viewed_tenant;
use super::{Disclosure, head_of};
use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::events::visible_json;
use crate::ingest::Ingested;
use crate::service::{AuditLog, Scope, Selection};
use audit_auth::{EventsWrite, Keys, Readers};
use audit_domain::{DisclosedEvent, EventId, StoredEvent, ViewerRoute, ViewerTier};
use audit_ledger::{Hash, InclusionProof, TlogProof};
use audit_store::LoggedEvent;
use std::sync::Arc;
use std::time::Duration;

/// How long receipts wait for the checkpoint that is signed every second. After that one is signed for them.
const SIGNATURE_WAIT: Duration = Duration::from_millis(1_500);
/// How long receipts wait after that for a quorum of witnesses, where there are witnesses. Without one they are returned as well.
const QUORUM_WAIT: Duration = Duration::from_secs(1);
/// How often it is looked for cosignatures that another node has stored.
const QUORUM_LOOK_INTERVAL: Duration = Duration::from_millis(250);

impl Presented<Readers> {
    /// The receipt of a stored event.
    ///
    /// # Errors
    /// As [`Presented::event_proof`].
    pub fn event_receipt(&self, selection: Selection, id: EventId) -> Result<TlogProof> {
        self.in_its_cell(selection.project_id, |presented| {
            presented.event_receipt_here(selection, id)
        })
    }

    fn event_receipt_here(&self, selection: Selection, id: EventId) -> Result<TlogProof> {
        let service = &self.service;
        let (access, logged) = service.store.query(|reader| {
            let access = self.read_access(reader, selection, Some(ViewerRoute::Proofs))?;
            let logged = service.visible_event(reader, &access, id)?;
            Ok::<_, AppError>((access, logged))
        })?;
        let logged = logged.ok_or_else(|| service.no_event(&access.scope, id))?;
        let extra = extra(&logged.event, access.tier.as_ref())?;
        if let Some(tenant_id) = viewed_tenant(&access)? {
            let proof = service.prove_for_viewer(&access.scope, &logged, &tenant_id)?;
            return Ok(TlogProof {
                extra: Some(extra.into_bytes()),
                ..proof
            });
        }
        let receipts = service.receipts_of(&access.scope, vec![(logged, extra)])?;
        receipts.into_iter().next().ok_or(AppError::NotFound("event"))
    }
}

impl Presented<Keys<EventsWrite>> {
    /// The receipts of events that a request has stored, in their order. Waits until the log is signed, about a second: one
    /// signature serves all requests of that second.
    ///
    /// # Errors
    /// [`AppError::LogInconsistent`] when the log is not signed; when the database fails. The events stay stored.
    pub async fn receipts(&self, selection: Selection, ingested: &Ingested) -> Result<Vec<TlogProof>> {
        let scope = self.scope_of_requests(selection).await?;
        if let Some(size) = ingested.log_size {
            self.wait_for_signature(&scope, size).await?;
            self.wait_for_quorum(&scope, size).await?;
        }
        let (service, ids) = (Arc::clone(&self.service), ingested.ids.clone());
        self.read(move || {
            let ledger_id = scope.ledger_id;
            let events = service.store.query(|reader| {
                let read = |id: &EventId| {
                    let logged = reader.event(ledger_id, *id)?.ok_or(AppError::NotFound("event"))?;
                    let extra = extra(&logged.event, None)?;
                    Ok((logged, extra))
                };
                ids.iter().map(read).collect::<Result<Vec<_>>>()
            })?;
            service.receipts_of(&scope, events)
        })
        .await
    }

    /// Waits until a checkpoint with a quorum of witnesses covers this size of the log, for a limited time. Returns at once where
    /// there are no witnesses.
    async fn wait_for_quorum(&self, scope: &Scope, size: u64) -> Result<()> {
        let Some(mut stored) = self.service.witnessing.stored_cosignatures() else {
            return Ok(());
        };
        let origin = self.service.log_signer()?.origin(&scope.log_name())?;
        let ledger_id = scope.ledger_id;
        let is_cosigned = async {
            loop {
                stored.borrow_and_update();
                let (service, origin) = (Arc::clone(&self.service), origin.clone());
                let last = self
                    .read(move || service.last_with_quorum(ledger_id, &origin))
                    .await?;
                if last.is_some_and(|last| last.head().size >= size) {
                    return Ok(());
                }
                // Other nodes do not signal.
                let changed = tokio::time::timeout(QUORUM_LOOK_INTERVAL, stored.changed());
                if matches!(changed.await, Ok(Err(_))) {
                    return Ok(());
                }
            }
        };
        tokio::time::timeout(QUORUM_WAIT, is_cosigned)
            .await
            .unwrap_or(Ok(()))
    }

    /// Waits until a checkpoint covers this size of the log, for a limited time. The node that has stored events signs them, so it
    /// knows that without a look-up.
    async fn wait_for_signature(&self, scope: &Scope, size: u64) -> Result<()> {
        let service = &self.service;
        let (origin, ledger_id) = (service.log_signer()?.origin(&scope.log_name())?, scope.ledger_id);
        let mut rounds = service.signing.rounds.subscribe();
        let is_known = || {
            let note = service.signing.known(&origin);
            note.is_some_and(|note| head_of(&note).is_ok_and(|head| head.size >= size))
        };
        let is_signed = async {
            while !is_known() {
                if rounds.changed().await.is_err() || is_known() {
                    break;
                }
                // Another node may have been asked for the checkpoint.
                let store = service.store.clone();
                let last = self.read(move || Ok(store.read(|reader| reader.log_checkpoint(ledger_id))?));
                if last.await?.is_some_and(|last| last.size >= size) {
                    break;
                }
            }
            Ok(())
        };
        // Without one, the checkpoint is signed on demand.
        tokio::time::timeout(SIGNATURE_WAIT, is_signed)
            .await
            .unwrap_or(Ok(()))
    }
}

impl AuditLog {
    /// The receipts of events of one log, each with its extra data, against one checkpoint.
    fn receipts_of(&self, scope: &Scope, events: Vec<(LoggedEvent, String)>) -> Result<Vec<TlogProof>> {
        let Some(last) = events.iter().map(|(logged, _)| logged.seq).max() else {
            return Ok(Vec::new());
        };
        let ledger_id = scope.ledger_id;
        let stored = self.store.read(|reader| reader.log_checkpoint(ledger_id))?;
        let checkpoint = self.checkpoint_of_event(stored, scope, last)?;
        let note = self.note_for_proof(scope, checkpoint.note, last)?;
        let head = head_of(&note)?;
        let mut subtrees = Vec::new();
        for (logged, _) in &events {
            subtrees.extend(InclusionProof::subtrees(logged.seq, head.size).map_err(AppError::internal)?);
        }
        let edge = self.signed_tree(scope, &head)?;
        self.tile_roots.retried(ledger_id, || {
            let tiles = self.store.query(|reader| {
                self.committed_tiles(reader, ledger_id, subtrees.clone(), head.size, edge.as_ref())
            })?;
            let receipt = |(logged, extra): &(LoggedEvent, String)| {
                let seq = logged.seq;
                let proof = InclusionProof::prove(seq, head.size, |subtree| tiles.hash(subtree));
                let inclusion = proof.map_err(AppError::inconsistent)?;
                let leaf = Hash::of_event(&logged.event.content_hash);
                inclusion
                    .verify(seq, &leaf, &head)
                    .map_err(AppError::inconsistent)?;
                Ok(TlogProof {
                    extra: Some(extra.clone().into_bytes()),
                    index: seq,
                    inclusion,
                    checkpoint: note.clone(),
                })
            };
            events.iter().map(receipt).collect()
        })
    }
}

/// The extra data of the receipt of an event, for a reader with this tier.
fn extra(event: &StoredEvent, tier: Option<&ViewerTier>) -> Result<String> {
    Ok(match Disclosure::new(event, tier)? {
        Disclosure::Whole(salt) => DisclosedEvent::whole(&event.canonical, &salt),
        Disclosure::Parts(proofs) => {
            let seen = visible_json(event, tier)?;
            let seen = serde_json::from_str(seen.get()).map_err(AppError::internal)?;
            DisclosedEvent::parts(&seen, &proofs)
        }
    })
}
