//! Signing checkpoints.
//!
//! The process that stored events signs them: each second it signs the ledgers that its own commits have extended. Ledgers
//! that a process left unsigned when it died are found by a scan of all ledgers, which every process does at its start and
//! then once a minute ([`AuditLog::sign_unsigned`]).
//!
//! Signing locks nothing that a commit needs. Head and last checkpoint are read in one snapshot; the new checkpoint is proven
//! to continue the last one, signed, and stored only if the last one is still the stored one. A checkpoint that loses this race
//! is discarded unpublished.

use super::signed_roots::SignedRoots;
use super::signer::LogSigner;
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_domain::Timestamp;
use audit_ledger::{Checkpoint, HistoryError, Origin, SignedCheckpoint};
use audit_store::{CheckpointRow, LedgerId, NewCheckpoint, Reader, SigningState, StoreError};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::error::Error;
use tokio::sync::watch;

/// The maximum number of checkpoints that one transaction stores.
const TRANSACTION_CHECKPOINTS_MAX: usize = 100;
/// How often a checkpoint is signed on demand while other processes replace the one that it continues.
const ATTEMPTS_MAX: u32 = 10;

/// What this process knows of its signatures.
#[derive(Debug, Default)]
pub(crate) struct Signing {
    signed: SignedRoots,
    /// The ledgers that do not continue their last checkpoint.
    refused: Mutex<BTreeSet<LedgerId>>,
    /// The number of finished rounds of [`AuditLog::sign_checkpoints`].
    pub(super) rounds: watch::Sender<u64>,
}

/// What to do for a log.
enum Next {
    /// Nothing: the last checkpoint is that of the tree.
    Current(CheckpointRow),
    /// Store this checkpoint.
    New(NewCheckpoint),
    /// The log does not continue its last checkpoint.
    Refused(AppError),
}

impl Signing {
    /// Notes whether a log continues its last checkpoint, and logs when that has changed.
    fn note(&self, ledger_id: LedgerId, origin: &Origin, next: &Next) {
        let mut refused = self.refused.lock();
        match next {
            Next::Refused(error) if refused.insert(ledger_id) => {
                let cause = error.source().map(ToString::to_string).unwrap_or_default();
                log::error!(
                    "the log {origin} does not continue its checkpoint and is not signed: {cause}; \
                     `audit-server log verify` has details, `audit-server log new-name` begins a new log"
                );
            }
            Next::Current(_) | Next::New(_) if refused.remove(&ledger_id) => {
                log::warn!("the log {origin} continues its checkpoint again and is signed");
            }
            _ => {}
        }
    }
}

impl AuditLog {
    /// Signs a checkpoint of every log that this process has extended since the last call. Call it every second, and once
    /// more after the last request.
    ///
    /// # Errors
    /// When the database cannot be used. The remaining checkpoints are then signed by the next call.
    pub fn sign_checkpoints(&self) -> Result<()> {
        let extended = self.store.take_extended_ledgers();
        let outcome = self.sign_ledgers(&extended.iter().copied().collect::<Vec<_>>());
        if outcome.is_err() {
            self.store.return_extended_ledgers(extended);
        }
        self.signing.rounds.send_modify(|rounds| *rounds += 1);
        outcome
    }

    /// Signs the logs that no living process signs: those whose process ended before it signed its last commits. Looks at a
    /// part of all ledgers, behind `after`; returns where the next part begins, `None` when this was the last one. Logs that
    /// received an event less than `settled_seconds` ago are left to the process that stored it; `None` leaves out none.
    ///
    /// # Errors
    /// When the database cannot be used.
    pub fn sign_unsigned(
        &self,
        after: Option<LedgerId>,
        settled_seconds: Option<u32>,
    ) -> Result<Option<LedgerId>> {
        let now = self.clock.now();
        let received_before = settled_seconds.map(|seconds| now.plus_seconds(-i64::from(seconds)));
        let unsigned = self
            .store
            .read(|reader| reader.unsigned_ledgers(after, received_before))?;
        let mut ledger_ids: BTreeSet<LedgerId> = unsigned.ledger_ids.into_iter().collect();
        if after.is_none() {
            // The size of a log that does not continue its checkpoint may be that of the checkpoint.
            ledger_ids.extend(self.signing.refused.lock().iter());
        }
        self.sign_ledgers(&ledger_ids.into_iter().collect::<Vec<_>>())?;
        Ok(unsigned.last)
    }

    /// The number of logs that are not signed, because they do not continue their last checkpoint.
    pub fn inconsistent_logs(&self) -> usize {
        self.signing.refused.lock().len()
    }

    /// Signs these ledgers, which are in order, if they have grown.
    fn sign_ledgers(&self, ledger_ids: &[LedgerId]) -> Result<()> {
        for ledger_ids in ledger_ids.chunks(TRANSACTION_CHECKPOINTS_MAX) {
            let states = self.store.read(|reader| reader.signing_states(ledger_ids))?;
            let (signer, now) = (self.log_signer()?, self.clock.now());
            let mut new = Vec::new();
            for state in states {
                if let Next::New(checkpoint) = self.next_checkpoint(&state, signer, now)? {
                    new.push(checkpoint);
                }
            }
            let mut missed: BTreeSet<LedgerId> = new.iter().map(|new| new.ledger_id).collect();
            for published in self.publish(new)? {
                missed.remove(&published);
            }
            // Another process was faster. Its checkpoint may cover less.
            self.store.return_extended_ledgers(missed);
        }
        Ok(())
    }

    /// A checkpoint that covers at least the first `size` events of a log: the last one, or a new one.
    ///
    /// # Errors
    /// [`AppError::LogInconsistent`] when the log does not continue its last checkpoint.
    pub(super) fn covering_checkpoint(&self, ledger_id: LedgerId, size: u64) -> Result<CheckpointRow> {
        let signer = self.log_signer()?;
        for _ in 0..ATTEMPTS_MAX {
            let states = self.store.read(|reader| reader.signing_states(&[ledger_id]))?;
            let state = states.into_iter().next();
            let state = state.ok_or_else(|| AppError::from(StoreError::Damaged { what: "ledger" }))?;
            // Another process may have signed it meanwhile.
            if let Some(last) = state.checkpoint.as_ref().filter(|last| last.size >= size) {
                return Ok(last.clone());
            }
            let new = match self.next_checkpoint(&state, signer, self.clock.now())? {
                Next::Current(checkpoint) => return Ok(checkpoint),
                Next::Refused(error) => return Err(error),
                Next::New(new) => new,
            };
            let checkpoint = new.checkpoint.clone();
            if self.publish(vec![new])?.contains(&ledger_id) {
                return Ok(checkpoint);
            }
        }
        Err(StoreError::Stale.into())
    }

    fn publish(&self, new: Vec<NewCheckpoint>) -> Result<BTreeSet<LedgerId>> {
        match new.is_empty() {
            true => Ok(BTreeSet::new()),
            false => self
                .store
                .write(move |writer| writer.publish_checkpoints(&new).map_err(AppError::from)),
        }
    }

    /// What to do for the log in this state. Notes whether it continues its last checkpoint.
    fn next_checkpoint(&self, state: &SigningState, signer: &LogSigner, now: Timestamp) -> Result<Next> {
        let origin = signer.origin(&state.name)?;
        let next = match self.checkpoint_after(state, &origin, signer, now) {
            // A log that was tampered with must not prevent signing the others.
            Err(AppError::LogInconsistent(error) | AppError::Internal(error)) => {
                Next::Refused(AppError::LogInconsistent(error))
            }
            next => next?,
        };
        self.signing.note(state.ledger_id, &origin, &next);
        Ok(next)
    }

    fn checkpoint_after(
        &self,
        state: &SigningState,
        origin: &Origin,
        signer: &LogSigner,
        now: Timestamp,
    ) -> Result<Next> {
        let damaged = || {
            AppError::inconsistent(StoreError::Damaged {
                what: "edge of a tree",
            })
        };
        let head = state.frontier.as_ref().ok_or_else(damaged)?.head();
        let ledger_id = state.ledger_id;
        let signed = match &state.checkpoint {
            None => signer.key.sign(Checkpoint::new(origin.clone(), head)),
            Some(row) => {
                let last = SignedCheckpoint::open(&row.note, origin, std::slice::from_ref(signer.verifier()));
                let last = last.map_err(AppError::inconsistent)?;
                if *last.head() == head {
                    return Ok(Next::Current(row.clone()));
                }
                let (known, offered) = (last.head().size, head.size);
                if known > offered {
                    return Err(AppError::inconsistent(HistoryError::Rollback { known, offered }));
                }
                self.tile_roots.retried(ledger_id, || {
                    let prove =
                        |reader: &mut Reader<'_>| self.prove_consistency(reader, ledger_id, known, offered);
                    let proof = self.store.query(prove)?;
                    let signed = signer.key.sign_successor(&last, head, &proof);
                    signed.map_err(AppError::inconsistent)
                })?
            }
        };
        self.signing.signed.add(ledger_id, head)?;
        Ok(Next::New(NewCheckpoint {
            ledger_id,
            last: state.checkpoint.clone(),
            checkpoint: CheckpointRow {
                size: signed.head().size,
                note: signed.note().to_owned(),
                signed_at: now,
            },
        }))
    }
}
