//! The verifiable log: signed checkpoints and proofs.

mod roots;

use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::service::{AuditLog, Scope, Selection};
use audit_auth::{KeyHolder, Readers};
use audit_domain::{ContentHash, EventId, Timestamp, Violations};
use audit_ledger::{
    Checkpoint, ConsistencyProof, InclusionProof, KeyName, Origin, SignedCheckpoint, SigningKey, Subtree,
    TileId, TileSet, VerifierKey,
};
use audit_store::{CheckpointRow, Deployment, LedgerId, LoggedEvent, Reader, StoreError, Writer};
use audit_webhooks::{EncryptionKey, WebhookSecret, sealing};
pub(crate) use roots::TileRoots;
use std::sync::Arc;

/// The names under which the database stores the log's key and name.
const KEY: &str = "log_key";
const NAME: &str = "log_name";
/// The maximum number of checkpoints that one transaction signs.
const TRANSACTION_CHECKPOINTS_MAX: usize = 100;

/// The proof that an event is in the log.
#[derive(Clone, Debug)]
pub struct EventProof {
    /// Its position in the log.
    pub seq: u64,
    /// The content hash, from which the leaf hash is computed.
    pub content_hash: ContentHash,
    /// The path from the leaf to the root of the checkpoint.
    pub inclusion: InclusionProof,
    /// A signed note (C2SP `tlog-checkpoint`).
    pub checkpoint: String,
}

impl Presented<Readers> {
    /// The proof that an event is in the log.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the event does not exist or the holder of the credential may not see it.
    pub fn event_proof(&self, selection: Selection, id: EventId) -> Result<EventProof> {
        let service = &self.service;
        let (ledger_id, logged, last) = service.store.query(|reader| {
            let access = self.read_access(reader, selection)?;
            let logged = service.visible_event(reader, &access, id)?;
            let ledger_id = access.scope.ledger_id;
            let last = reader.log_checkpoint(ledger_id)?;
            Ok::<_, AppError>((ledger_id, logged, last))
        })?;
        let LoggedEvent { seq, event } = logged;
        let (checkpoint, size) = service.checkpoint_after(last, ledger_id, seq)?;
        let subtrees = InclusionProof::subtrees(seq, size).map_err(AppError::internal)?;
        let tiles = service
            .store
            .query(|reader| service.committed_tiles(reader, ledger_id, subtrees, size))?;
        let inclusion = InclusionProof::prove(seq, size, |subtree| tiles.hash(subtree));
        Ok(EventProof {
            seq,
            content_hash: event.content_hash,
            inclusion: inclusion.map_err(AppError::internal)?,
            checkpoint,
        })
    }
}

impl AuditLog {
    /// The key that verifies the log's checkpoints.
    ///
    /// # Errors
    /// When the database cannot be read, or the encryption key does not decrypt the stored key.
    pub fn log_key(&self) -> Result<VerifierKey> {
        Ok(self.log_signer()?.verifier().clone())
    }

    /// The signed checkpoint of the log of a project and environment. It covers every event that was acknowledged before
    /// the call.
    ///
    /// # Errors
    /// When the principal has no access to the project.
    pub fn log_checkpoint(&self, principal: &KeyHolder, selection: Selection) -> Result<String> {
        let scope = self
            .store
            .read(|reader| self.scope(reader, principal, selection))?;
        self.checkpoint_of(&scope)
    }

    /// The encoded tile of a project's log.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the tree has no such tile.
    pub fn log_tile(&self, principal: &KeyHolder, selection: Selection, id: TileId) -> Result<Vec<u8>> {
        self.store.query(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            let tile = reader.log_tile(scope.ledger_id, id)?;
            Ok(tile.ok_or(AppError::NotFound("tile"))?.encode())
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
        self.store.query(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            let size = reader.log_frontier(scope.ledger_id)?.size();
            if to > size {
                return Err(Violations::one("to", format!("the log has {size} events")).into());
            }
            let subtrees = ConsistencyProof::subtrees(from, to);
            let subtrees = subtrees.map_err(|error| Violations::one("from", error))?;
            let tiles = self.committed_tiles(reader, scope.ledger_id, subtrees, to)?;
            ConsistencyProof::prove(from, to, |subtree| tiles.hash(subtree)).map_err(AppError::internal)
        })
    }

    /// Signs a checkpoint of every log that has grown since its last one. Call it every second.
    ///
    /// # Errors
    /// When the database cannot be written. The remaining checkpoints are then signed by the next call.
    pub fn sign_checkpoints(&self) -> Result<()> {
        let grown = self.store.read(|reader| reader.ledgers_to_sign())?;
        if grown.is_empty() {
            return Ok(());
        }
        let signer = self.log_signer()?.clone();
        let now = self.clock.now();
        for ledger_ids in grown.chunks(TRANSACTION_CHECKPOINTS_MAX) {
            let (ledger_ids, signer) = (ledger_ids.to_vec(), signer.clone());
            let roots = Arc::clone(&self.tile_roots);
            self.store.write(move |writer| -> Result<()> {
                for ledger_id in ledger_ids {
                    match sign(writer, ledger_id, &signer, &roots, now) {
                        Ok(_) => {}
                        // A log that was tampered with must not prevent signing the others.
                        Err(AppError::Internal(error)) => {
                            log::error!(
                                "the log {} cannot be signed: {error}",
                                writer.ledger_name(ledger_id)?
                            );
                        }
                        Err(error) => return Err(error),
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Gives the log a new name, so that earlier checkpoints belong to another log. For a database that was restored from a
    /// backup and therefore contradicts checkpoints that were signed later. Returns the key under the new name; servers use
    /// it from their next start.
    ///
    /// # Errors
    /// When the database cannot be written, or the encryption key does not decrypt the stored key.
    pub fn begin_new_log_name(&self) -> Result<VerifierKey> {
        let public_key = *self.log_signer()?.verifier().public_key();
        let name = self.new_log_name();
        let now = self.clock.now();
        self.store
            .configure(Deployment, move |configurator| -> Result<VerifierKey> {
                configurator.delete_secret(NAME)?;
                configurator.insert_secret(NAME, name.as_bytes(), now)?;
                configurator.delete_log_checkpoints()?;
                let name = KeyName::parse(&name).map_err(AppError::internal)?;
                Ok(VerifierKey::new(name, public_key))
            })
    }

    fn checkpoint_of(&self, scope: &Scope) -> Result<String> {
        // The size of the tree, not the size in the ledger row: an auditor must see the signed state even if the row was
        // tampered with.
        let tree = self.store.read(|reader| reader.log_frontier(scope.ledger_id))?;
        match tree.size().checked_sub(1) {
            Some(last) => Ok(self.checkpoint_with(scope.ledger_id, last)?.0),
            None => Ok(self.signed(scope.ledger_id)?.note),
        }
    }

    /// A checkpoint that covers the event at `seq`, and its size.
    pub(crate) fn checkpoint_with(&self, ledger_id: LedgerId, seq: u64) -> Result<(String, u64)> {
        let last = self.store.read(|reader| reader.log_checkpoint(ledger_id))?;
        self.checkpoint_after(last, ledger_id, seq)
    }

    /// The `last` checkpoint if it covers the event at `seq`, otherwise a new one; and its size.
    fn checkpoint_after(
        &self,
        last: Option<CheckpointRow>,
        ledger_id: LedgerId,
        seq: u64,
    ) -> Result<(String, u64)> {
        let checkpoint = match last.filter(|last| last.size > seq) {
            Some(last) => last,
            None => self.signed(ledger_id)?,
        };
        if checkpoint.size <= seq {
            // The log does not continue its last checkpoint. `sign` has logged that; `log verify` gives the details.
            return Err(AppError::internal(StoreError::Damaged { what: "log" }));
        }
        Ok((checkpoint.note, checkpoint.size))
    }

    fn signed(&self, ledger_id: LedgerId) -> Result<CheckpointRow> {
        let (signer, now) = (self.log_signer()?.clone(), self.clock.now());
        let roots = Arc::clone(&self.tile_roots);
        self.store
            .write(move |writer| sign(writer, ledger_id, &signer, &roots, now))
    }

    /// The tiles that contain the hashes of `subtrees`. `reader` must not see uncommitted changes.
    pub(crate) fn committed_tiles(
        &self,
        reader: &mut Reader<'_>,
        ledger_id: LedgerId,
        subtrees: Vec<Subtree>,
        size: u64,
    ) -> Result<TileSet> {
        read_tiles(reader, &self.tile_roots, ledger_id, subtrees, size)
    }

    /// The signer of checkpoints. Its key is created on first use.
    fn log_signer(&self) -> Result<&LogSigner> {
        if let Some(signer) = self.log_signer.get() {
            return Ok(signer);
        }
        let key = self.settings.encryption_key.clone();
        let seed = WebhookSecret::from_bytes(self.entropy.bytes());
        let sealed = sealing::seal(&seed, key.as_ref(), KEY.as_bytes(), self.entropy.bytes());
        let (name, now) = (self.new_log_name(), self.clock.now());
        // Several nodes may get here at the same time. The first one creates the key.
        let (sealed, name) =
            self.store
                .configure(Deployment, move |configurator| -> Result<(Vec<u8>, Vec<u8>)> {
                    if configurator.secret(KEY)?.is_none() {
                        configurator.insert_secret(KEY, &sealed, now)?;
                        configurator.insert_secret(NAME, name.as_bytes(), now)?;
                    }
                    let damaged = || {
                        AppError::from(StoreError::Damaged {
                            what: "key of the log",
                        })
                    };
                    let sealed = configurator.secret(KEY)?.ok_or_else(damaged)?;
                    Ok((sealed, configurator.secret(NAME)?.ok_or_else(damaged)?))
                })?;
        let signer = LogSigner::open(&sealed, &name, key.as_ref())?;
        Ok(self.log_signer.get_or_init(|| signer))
    }

    fn new_log_name(&self) -> String {
        format!("audit-log-{:016x}", u64::from_be_bytes(self.entropy.bytes()))
    }
}

/// The signer of the checkpoints of a deployment.
#[derive(Clone, Debug)]
pub(crate) struct LogSigner {
    key: Arc<SigningKey>,
}

impl LogSigner {
    fn open(sealed: &[u8], name: &[u8], key: Option<&EncryptionKey>) -> Result<Self> {
        let seed = sealing::open(sealed, key, KEY.as_bytes())?;
        let name = String::from_utf8_lossy(name);
        let name = KeyName::parse(&name).map_err(AppError::internal)?;
        let key = SigningKey::from_seed(name, seed.as_bytes()).map_err(AppError::internal)?;
        Ok(Self { key: key.into() })
    }

    fn verifier(&self) -> &VerifierKey {
        self.key.verifier()
    }

    /// The origin of one log of the deployment.
    fn origin(&self, ledger: &str) -> Result<Origin> {
        let text = format!("{}/{ledger}", self.verifier().name().as_str());
        Origin::parse(&text).map_err(AppError::internal)
    }
}

/// The key that verifies checkpoints, if the database has one.
pub(crate) fn stored_key(
    reader: &mut Reader<'_>,
    key: Option<&EncryptionKey>,
) -> Result<Option<VerifierKey>> {
    let (Some(sealed), Some(name)) = (reader.secret(KEY)?, reader.secret(NAME)?) else {
        return Ok(None);
    };
    Ok(Some(LogSigner::open(&sealed, &name, key)?.verifier().clone()))
}

/// The newest checkpoint of a log: the last one, or a new one if the log has grown. A log that does not continue its last
/// checkpoint is not signed. `writer` must not have written to the log before.
fn sign(
    writer: &mut Writer<'_>,
    ledger_id: LedgerId,
    signer: &LogSigner,
    roots: &TileRoots,
    now: Timestamp,
) -> Result<CheckpointRow> {
    let last = writer.lock_log_checkpoint(ledger_id)?;
    let head = writer.log_frontier(ledger_id)?.head();
    let origin = signer.origin(&writer.ledger_name(ledger_id)?)?;
    let signed = match &last {
        Some(last) if last.size == head.size => return Ok(last.clone()),
        None => signer.key.sign(Checkpoint::new(origin, head)),
        Some(row) => {
            let keys = [signer.verifier().clone()];
            let opened = SignedCheckpoint::open(&row.note, &origin, &keys).map_err(AppError::internal)?;
            let proved = prove_consistency(writer, roots, ledger_id, row.size, head.size);
            let signed = proved.and_then(|proof| {
                let signed = signer.key.sign_successor(&opened, head, &proof);
                signed.map_err(AppError::internal)
            });
            match signed {
                Ok(signed) => signed,
                Err(error) => {
                    log::error!(
                        "the log {origin} does not continue its checkpoint of size {}: {error}",
                        row.size
                    );
                    return Ok(row.clone());
                }
            }
        }
    };
    let row = CheckpointRow {
        size: signed.head().size,
        note: signed.note().to_owned(),
        signed_at: now,
    };
    writer.put_log_checkpoint(ledger_id, &row)?;
    Ok(row)
}

/// The proof that the log of size `to` continues the log of size `from`.
fn prove_consistency(
    reader: &mut Reader<'_>,
    roots: &TileRoots,
    ledger_id: LedgerId,
    from: u64,
    to: u64,
) -> Result<ConsistencyProof> {
    let subtrees = ConsistencyProof::subtrees(from, to).map_err(AppError::internal)?;
    let tiles = read_tiles(reader, roots, ledger_id, subtrees, to)?;
    ConsistencyProof::prove(from, to, |subtree| tiles.hash(subtree)).map_err(AppError::internal)
}

/// The tiles that contain the hashes of `subtrees`. `reader` must not see uncommitted changes.
fn read_tiles(
    reader: &mut Reader<'_>,
    roots: &TileRoots,
    ledger_id: LedgerId,
    subtrees: Vec<Subtree>,
    size: u64,
) -> Result<TileSet> {
    let needed = TileSet::needed(subtrees, size).map_err(AppError::internal)?;
    let mut tiles = TileSet::default();
    for id in needed {
        let tile = match id.level() > 0 && !id.is_full() {
            true => roots.tile_above(reader, ledger_id, id)?,
            false => reader.log_tile_of_tree(ledger_id, id)?,
        };
        // The proof fails later if a tile is missing.
        if let Some(tile) = tile {
            tiles.insert(tile);
        }
    }
    Ok(tiles)
}
