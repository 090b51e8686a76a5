//! Checkpoints, tiles and proofs, as a client requests them.

use super::tenants::viewed_tenant;
use super::witnessing::cosigned::LogCheckpoint;
use super::{Disclosure, EventProof, head_of};
use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::reading::ReadAccess;
use crate::service::{AuditLog, Scope, Selection};
use audit_auth::{KeyHolder, Readers};
use audit_domain::{ContentHash, EventId, ViewerRoute, Violations};
use audit_ledger::{
    ConsistencyProof, Frontier, Hash, InclusionProof, Subtree, TileId, TileSet, TreeHead, entry_bundle,
};
use audit_store::{CheckpointRow, LedgerId, LoggedEvent, Reader, StoreError};

impl Presented<Readers> {
    /// The proof that an event is in the log; for a viewer, in the log of its tenant.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the event does not exist or the holder of the credential may not see it;
    /// [`AppError::EventRemoved`] instead where a removal may have taken it;
    /// [`AppError::LogInconsistent`] when the log contradicts its checkpoint.
    pub fn event_proof(&self, selection: Selection, id: EventId) -> Result<EventProof> {
        self.in_its_cell(selection.project_id, |presented| {
            presented.event_proof_here(selection, id)
        })
    }

    fn event_proof_here(&self, selection: Selection, id: EventId) -> Result<EventProof> {
        let service = &self.service;
        let (access, logged, last) = service.store.query(|reader| {
            let access = self.read_access(reader, selection, Some(ViewerRoute::Proofs))?;
            let logged = service.visible_event(reader, &access, id)?;
            let last = reader.log_checkpoint(access.scope.ledger_id)?;
            Ok::<_, AppError>((access, logged, last))
        })?;
        let logged = logged.ok_or_else(|| service.no_event(&access.scope, id))?;
        if let Some(tenant_id) = viewed_tenant(&access)? {
            let proof = service.prove_for_viewer(&access.scope, &logged, &tenant_id)?;
            return Ok(EventProof {
                seq: proof.index,
                content_hash: logged.event.content_hash,
                disclosure: Disclosure::new(&logged.event, access.tier.as_ref())?,
                inclusion: proof.inclusion,
                checkpoint: proof.checkpoint,
            });
        }
        let ReadAccess { scope, tier, .. } = access;
        let LoggedEvent { seq, event } = logged;
        let checkpoint = service.checkpoint_of_event(last, &scope, seq)?;
        let note = service.note_for_proof(&scope, checkpoint.note, seq)?;
        let head = head_of(&note)?;
        Ok(EventProof {
            seq,
            inclusion: service.prove_inclusion(&scope, seq, &event.content_hash, &head)?,
            content_hash: event.content_hash,
            disclosure: Disclosure::new(&event, tier.as_ref())?,
            checkpoint: note,
        })
    }
}

impl AuditLog {
    /// The signed checkpoint of the log of a project and environment. It covers every event that was acknowledged before
    /// the call; where the log does not continue its last checkpoint, it is that one. With `is_cosigned` the last one that has a
    /// quorum of witnesses, however old.
    ///
    /// # Errors
    /// When the principal has no access to the project; [`AppError::NotFound`] when no checkpoint has a quorum.
    pub fn log_checkpoint(
        &self,
        principal: &KeyHolder,
        selection: Selection,
        is_cosigned: bool,
    ) -> Result<LogCheckpoint> {
        let scope = self
            .store
            .read(|reader| self.scope(reader, principal, selection))?;
        if is_cosigned {
            let origin = self.log_signer()?.origin(&scope.log_name())?;
            let signed = self.last_with_quorum(scope.ledger_id, &origin)?;
            let signed = signed.ok_or(AppError::NotFound("cosigned checkpoint"))?;
            return Ok(LogCheckpoint {
                note: signed.note().to_owned(),
                has_quorum: Some(true),
            });
        }
        let note = self.checkpoint_of(&scope)?;
        self.with_cosignatures(scope.ledger_id, note)
    }

    /// The encoded tile of a project's log.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the tree has no such tile.
    pub fn log_tile(&self, principal: &KeyHolder, selection: Selection, id: TileId) -> Result<Vec<u8>> {
        self.store.query(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            let tile = reader.log_tile(scope.ledger_id, id).map_err(damaged_log)?;
            Ok(tile.ok_or(AppError::NotFound("tile"))?.encode())
        })
    }

    /// The bundle of the entries whose hashes are in a tile of level 0.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the tree has no such tile.
    pub fn log_entries(&self, principal: &KeyHolder, selection: Selection, id: TileId) -> Result<Vec<u8>> {
        self.store.query(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            let entries = reader.log_entries(scope.ledger_id, id).map_err(damaged_log)?;
            let entries = entries.ok_or(AppError::NotFound("tile"))?;
            Ok(entry_bundle(&entries))
        })
    }

    /// The proof that the log of size `to` continues the log of size `from`.
    ///
    /// # Errors
    /// [`AppError::Invalid`] when `from` and `to` are not two sizes of the log in ascending order.
    pub fn log_consistency(
        &self,
        principal: &KeyHolder,
        selection: Selection,
        from: u64,
        to: u64,
    ) -> Result<ConsistencyProof> {
        let scope = self
            .store
            .read(|reader| self.scope(reader, principal, selection))?;
        let (last, edge) = self.trusted_head(&scope, to)?;
        if to > last.size {
            return Err(Violations::one("to", format!("the log has {} events", last.size)).into());
        }
        ConsistencyProof::subtrees(from, to).map_err(|error| Violations::one("from", error))?;
        self.prove_consistency(scope.ledger_id, from, to, &last, edge.as_ref())
    }

    /// A head that a tree of this size must lead to, with its tree if it is known: the last one that this node has signed or seen, whose
    /// checkpoint clients get also when the database has another history since; if that is smaller, the one that the service wrote.
    pub(crate) fn trusted_head(&self, scope: &Scope, size: u64) -> Result<(TreeHead, Option<Frontier>)> {
        let origin = self.log_signer()?.origin(&scope.log_name())?;
        let signed = self.signing.signed_tree(&origin);
        if let Some(signed) = signed.filter(|signed| signed.size() >= size) {
            return Ok((signed.head(), Some(signed)));
        }
        let states = self
            .store
            .read(|reader| reader.signing_states(&[scope.ledger_id]))?;
        let own = states.into_iter().next().and_then(|state| state.frontier);
        match own {
            Some(own) => Ok((own.head(), Some(own))),
            None => {
                let note = self.last_note(scope)?;
                let note = note.ok_or_else(|| AppError::inconsistent(StoreError::Damaged { what: "log" }))?;
                Ok((head_of(&note)?, None))
            }
        }
    }

    /// The number of events of a log, and the size and the note of a checkpoint that covers them, with the cosignatures that are known.
    pub(crate) fn size_and_checkpoint(&self, scope: &Scope) -> Result<(u64, u64, String)> {
        let tree = self.store.read(|reader| reader.log_frontier(scope.ledger_id));
        let size = tree.map_err(damaged_log)?.size();
        let row = self.covering_checkpoint(scope.ledger_id, &scope.log_name(), size)?;
        let note = self.with_cosignatures(scope.ledger_id, row.note)?.note;
        Ok((size, head_of(&note)?.size, note))
    }

    fn checkpoint_of(&self, scope: &Scope) -> Result<String> {
        // The size of the tree, not the size in the ledger row: an auditor must see the signed state even if the row was
        // tampered with.
        let tree = self.store.read(|reader| reader.log_frontier(scope.ledger_id));
        let size = match tree.map_err(damaged_log) {
            Ok(tree) => tree.size(),
            Err(AppError::LogInconsistent(_)) => u64::MAX,
            Err(error) => return Err(error),
        };
        match self.covering_checkpoint(scope.ledger_id, &scope.log_name(), size) {
            // Auditors compare the log with the last signed state, and find what contradicts it.
            Err(error @ (AppError::LogInconsistent(_) | AppError::Internal(_))) => {
                self.last_note(scope)?.ok_or(error)
            }
            checkpoint => Ok(checkpoint?.note),
        }
    }

    /// The last note of a log that this node has signed or seen, or else the stored one.
    fn last_note(&self, scope: &Scope) -> Result<Option<String>> {
        let origin = self.log_signer()?.origin(&scope.log_name())?;
        if let Some(note) = self.signing.known(&origin) {
            return Ok(Some(note.to_string()));
        }
        let stored = self.store.read(|reader| reader.log_checkpoint(scope.ledger_id))?;
        Ok(stored.map(|stored| stored.note))
    }

    /// A checkpoint that covers the event at `seq`: the stored one, which is `last`, if it does and this node knows it, or
    /// else the latest one.
    pub(super) fn checkpoint_of_event(
        &self,
        last: Option<CheckpointRow>,
        scope: &Scope,
        seq: u64,
    ) -> Result<CheckpointRow> {
        let name = scope.log_name();
        let signer = self.log_signer()?;
        let known = self.signing.known(&signer.origin(&name)?);
        let last = last.filter(|last| {
            last.size > seq && known.as_deref() == Some(&last.note) && signer.has_signed(&last.note)
        });
        let checkpoint = match last {
            Some(last) => last,
            None => self.covering_checkpoint(scope.ledger_id, &name, seq + 1)?,
        };
        if checkpoint.size <= seq {
            // The tree is smaller than its ledger; `log verify` gives the details.
            return Err(AppError::inconsistent(StoreError::Damaged { what: "log" }));
        }
        Ok(checkpoint)
    }

    /// The tree of a log with this head, if it is the one that this node has signed last.
    pub(super) fn signed_tree(&self, scope: &Scope, head: &TreeHead) -> Result<Option<Frontier>> {
        let origin = self.log_signer()?.origin(&scope.log_name())?;
        let tree = self.signing.signed_tree(&origin);
        Ok(tree.filter(|tree| tree.size() == head.size && tree.head() == *head))
    }

    /// The proof that the event at `seq` is in the log of this head. It is verified, because the log may have lost events
    /// that the head has, or that cached roots are from.
    pub(crate) fn prove_inclusion(
        &self,
        scope: &Scope,
        seq: u64,
        content_hash: &ContentHash,
        head: &TreeHead,
    ) -> Result<InclusionProof> {
        let ledger_id = scope.ledger_id;
        let edge = self.signed_tree(scope, head)?;
        self.tile_roots.retried(ledger_id, || {
            let subtrees = InclusionProof::subtrees(seq, head.size).map_err(AppError::internal)?;
            let read = |reader: &mut Reader<'_>| {
                self.committed_tiles(reader, ledger_id, subtrees.clone(), head.size, edge.as_ref())
            };
            let tiles = self.store.query(read)?;
            let proof = InclusionProof::prove(seq, head.size, |subtree| tiles.hash(subtree));
            let proof = proof.map_err(AppError::inconsistent)?;
            let verified = proof.verify(seq, &Hash::of_event(content_hash), head);
            verified.map_err(AppError::inconsistent)?;
            Ok(proof)
        })
    }

    /// The proof that the log of size `to` continues the log of size `from`, both of which `last` continues. It is verified: the hashes
    /// of the earlier trees lead to that of `last`, which comes from a source other than the tiles. `edge` is that of `last`.
    pub(super) fn prove_consistency(
        &self,
        ledger_id: LedgerId,
        from: u64,
        to: u64,
        last: &TreeHead,
        edge: Option<&Frontier>,
    ) -> Result<ConsistencyProof> {
        let steps = [(from, to), (to, last.size)];
        let mut subtrees: Vec<Subtree> = Subtree::of_tree(from).chain(Subtree::of_tree(to)).collect();
        for (from, to) in steps {
            subtrees.extend(ConsistencyProof::subtrees(from, to).map_err(AppError::internal)?);
        }
        self.tile_roots.retried(ledger_id, || {
            let read = |reader: &mut Reader<'_>| {
                self.committed_tiles(reader, ledger_id, subtrees.clone(), last.size, edge)
            };
            let tiles = self.store.query(read)?;
            let head_of_size = |size: u64| {
                let tree = Frontier::read(size, |subtree| tiles.hash(subtree));
                Ok::<_, AppError>(tree.map_err(AppError::inconsistent)?.head())
            };
            let prove = |(from, to): (u64, u64)| {
                ConsistencyProof::prove(from, to, |subtree| tiles.hash(subtree))
                    .map_err(AppError::inconsistent)
            };
            let (proof, rest) = (prove(steps[0])?, prove(steps[1])?);
            let (earlier, later) = (head_of_size(from)?, head_of_size(to)?);
            let verified = earlier.check_successor(&later, &proof);
            verified.map_err(AppError::inconsistent)?;
            later
                .check_successor(last, &rest)
                .map_err(AppError::inconsistent)?;
            Ok(proof)
        })
    }

    /// The tiles that contain the hashes of `subtrees` in a tree of this size, and its edge if it is known. `reader` must not see
    /// uncommitted changes.
    pub(crate) fn committed_tiles(
        &self,
        reader: &mut Reader<'_>,
        ledger_id: LedgerId,
        subtrees: Vec<Subtree>,
        size: u64,
        edge: Option<&Frontier>,
    ) -> Result<TileSet> {
        let mut tiles = edge.map(TileSet::with_edge).unwrap_or_default();
        let unknown = subtrees
            .into_iter()
            .filter(|subtree| tiles.hash(*subtree).is_err());
        let needed = TileSet::needed(unknown, size).map_err(AppError::internal)?;
        for id in needed {
            let tile = match id.level() > 0 && !id.is_full() {
                true => self.tile_roots.tile_above(reader, ledger_id, id)?,
                false => reader.log_tile_of_tree(ledger_id, id)?,
            };
            // The proof fails later if a tile is missing.
            if let Some(tile) = tile {
                tiles.insert(tile);
            }
        }
        Ok(tiles)
    }
}

/// The error of a read of the log: a value that the service did not write contradicts what it has signed.
fn damaged_log(error: StoreError) -> AppError {
    match error {
        StoreError::Damaged { .. } | StoreError::DamagedEvent(_) => AppError::inconsistent(error),
        other => other.into(),
    }
}
