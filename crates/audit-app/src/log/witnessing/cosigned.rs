//! Cosigned checkpoints: storing them, and which one a client gets.

use super::Witnesses;
use super::rounds::Collected;
use crate::error::{AppError, Result};
use crate::log::signer::LogSigner;
use crate::service::{AuditLog, Scope};
use audit_ledger::{Origin, SignedCheckpoint, merge_signatures};
use audit_store::{CosignedRow, LedgerId, NewCosigned};

/// The most rows of one transaction.
const TRANSACTION_ROWS_MAX: usize = 100;
/// How often a row is read again that another node has replaced.
const ATTEMPTS_MAX: u32 = 5;

/// A checkpoint for a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogCheckpoint {
    /// The note, with the cosignatures that are known.
    pub note: String,
    /// Whether these are the quorum; `None` where the deployment has no witnesses.
    pub has_quorum: Option<bool>,
}

impl AuditLog {
    /// Stores cosignatures beside the checkpoints. What is not stored is kept for the next call.
    pub(super) fn store_collected(&self, mut collected: Vec<Collected>) -> Result<()> {
        collected.sort_unstable_by_key(|collected| collected.published.ledger_id);
        let mut left = Vec::new();
        let mut outcome = Ok(());
        for chunk in collected.chunks(TRANSACTION_ROWS_MAX) {
            if outcome.is_ok() {
                match self.store_chunk(chunk.to_vec()) {
                    Ok(replaced) => {
                        left.extend(replaced);
                        continue;
                    }
                    Err(error) => outcome = Err(error),
                }
            }
            left.extend_from_slice(chunk);
        }
        self.witnessing.rounds.lock().return_unwritten(left);
        outcome
    }

    /// Returns what other nodes have replaced each time.
    fn store_chunk(&self, mut left: Vec<Collected>) -> Result<Vec<Collected>> {
        let Some(witnesses) = &self.witnessing.witnesses else {
            return Ok(Vec::new());
        };
        let signer = self.log_signer()?;
        for _ in 0..ATTEMPTS_MAX {
            let ids: Vec<LedgerId> = left
                .iter()
                .map(|collected| collected.published.ledger_id)
                .collect();
            let rows = self.store.read(|reader| reader.cosigned_checkpoints(&ids))?;
            let next = |collected: &Collected| {
                let row = rows.get(&collected.published.ledger_id);
                next_row(witnesses, signer, row, collected)
            };
            let new: Vec<NewCosigned> = left.iter().filter_map(next).collect();
            if new.is_empty() {
                return Ok(Vec::new());
            }
            let changed: Vec<LedgerId> = new.iter().map(|new| new.ledger_id).collect();
            let stored = self
                .store
                .write(move |writer| writer.put_cosigned(&new).map_err(AppError::from))?;
            left.retain(|collected| {
                let ledger_id = &collected.published.ledger_id;
                changed.contains(ledger_id) && !stored.contains(ledger_id)
            });
            if left.is_empty() {
                break;
            }
        }
        Ok(left)
    }

    /// The latest checkpoint of a log with the cosignatures that are known. `note` has the signature of the log alone.
    pub(in crate::log) fn with_cosignatures(
        &self,
        ledger_id: LedgerId,
        note: String,
    ) -> Result<LogCheckpoint> {
        let Some(witnesses) = &self.witnessing.witnesses else {
            return Ok(LogCheckpoint {
                note,
                has_quorum: None,
            });
        };
        let row = self.cosigned_row(ledger_id)?;
        let cosigned = row.into_iter().flat_map(|row| [Some(row.note), row.quorum_note]);
        let policy = &witnesses.policy;
        let without = policy.cosigned(&note, &note);
        let (note, has_quorum) = cosigned
            .flatten()
            .fold(without, |(note, _), other| policy.cosigned(&note, &other));
        Ok(LogCheckpoint {
            note,
            has_quorum: Some(has_quorum),
        })
    }

    /// The last checkpoint of a log that has a quorum. The database is not trusted: all signatures are verified.
    pub(in crate::log) fn last_with_quorum(
        &self,
        ledger_id: LedgerId,
        origin: &Origin,
    ) -> Result<Option<SignedCheckpoint>> {
        let Some(witnesses) = &self.witnessing.witnesses else {
            return Ok(None);
        };
        let note = self.cosigned_row(ledger_id)?.and_then(|row| row.quorum_note);
        let Some(signed) = note.and_then(|note| self.log_signer().ok()?.open(&note, origin).ok()) else {
            return Ok(None);
        };
        let is_quorum = witnesses
            .policy
            .is_quorum(&witnesses.policy.cosigners(signed.note()));
        Ok(is_quorum.then_some(signed))
    }

    /// The checkpoint for the proof of the event at `seq`, which `note` covers: the last one with a quorum if it covers the event,
    /// or else `note` with the cosignatures that are known.
    pub(in crate::log) fn note_for_proof(&self, scope: &Scope, note: String, seq: u64) -> Result<String> {
        if self.witnessing.witnesses.is_none() {
            return Ok(note);
        }
        let origin = self.log_signer()?.origin(&scope.log_name())?;
        let with_quorum = self.last_with_quorum(scope.ledger_id, &origin)?;
        match with_quorum.filter(|signed| signed.head().size > seq) {
            Some(signed) => Ok(signed.note().to_owned()),
            None => Ok(self.with_cosignatures(scope.ledger_id, note)?.note),
        }
    }

    fn cosigned_row(&self, ledger_id: LedgerId) -> Result<Option<CosignedRow>> {
        let mut rows = self
            .store
            .read(|reader| reader.cosigned_checkpoints(&[ledger_id]))?;
        Ok(rows.remove(&ledger_id))
    }
}

/// The row with the collected cosignatures; `None` if it has them. What the log has not signed is replaced.
fn next_row(
    witnesses: &Witnesses,
    signer: &LogSigner,
    row: Option<&CosignedRow>,
    collected: &Collected,
) -> Option<NewCosigned> {
    let published = &collected.published;
    let ours = format!("{}{}", published.note, collected.lines.concat());
    let origin = Origin::parse(published.note.lines().next()?).ok()?;
    let signed = |note: &str| signer.open(note, &origin).ok();
    let latest = row.and_then(|row| signed(&row.note));
    let merged = match latest
        .as_ref()
        .filter(|latest| latest.head().size == published.size)
    {
        Some(latest) => merge_signatures(latest.note(), &ours).unwrap_or(ours),
        None => ours,
    };
    let quorum = row.and_then(|row| signed(row.quorum_note.as_deref()?));
    let quorum_size = quorum.as_ref().map_or(0, |quorum| quorum.head().size);
    let policy = &witnesses.policy;
    let is_quorum = published.size >= quorum_size && policy.is_quorum(&policy.cosigners(&merged));
    let (quorum_size, quorum_note) = match (is_quorum, quorum) {
        (true, _) => (published.size, Some(merged.clone())),
        (false, quorum) => (quorum_size, quorum.map(|quorum| quorum.note().to_owned())),
    };
    let next = CosignedRow {
        version: row.map_or(1, |row| row.version.saturating_add(1)),
        note: match latest.filter(|latest| latest.head().size > published.size) {
            Some(latest) => latest.note().to_owned(),
            None => merged,
        },
        quorum_note,
    };
    let is_known = row.is_some_and(|row| row.note == next.note && row.quorum_note == next.quorum_note);
    (!is_known).then_some(NewCosigned {
        ledger_id: published.ledger_id,
        quorum_size,
        row: next,
    })
}
