//! The roots that this process has signed.

use crate::error::{AppError, Result};
use audit_ledger::{Hash, HistoryError, TreeHead};
use audit_store::LedgerId;
use parking_lot::Mutex;
use std::collections::HashMap;

/// Heads of one generation, about 100 bytes each. There are two generations.
const HEADS_MAX: usize = 32_768;

/// The latest heads that this process has signed. After the database has lost events, the log grows to the same sizes with
/// other roots. Two signed roots of one size would be a proof of two histories.
#[derive(Debug, Default)]
pub(super) struct SignedRoots(Mutex<Generations>);

#[derive(Debug, Default)]
struct Generations {
    newer: HashMap<(LedgerId, u64), Hash>,
    older: HashMap<(LedgerId, u64), Hash>,
}

impl SignedRoots {
    /// Notes a signed head, before its checkpoint is published.
    ///
    /// # Errors
    /// [`AppError::LogInconsistent`] when another root of this size was signed before. The checkpoint must not be used; the log
    /// can be signed again when it has grown.
    pub(super) fn add(&self, ledger_id: LedgerId, head: TreeHead) -> Result<()> {
        let key = (ledger_id, head.size);
        let mut signed = self.0.lock();
        let root = signed.newer.get(&key).or_else(|| signed.older.get(&key));
        if root.is_some_and(|root| *root != head.root) {
            return Err(AppError::inconsistent(HistoryError::Fork { size: head.size }));
        }
        if signed.newer.len() >= HEADS_MAX {
            signed.older = std::mem::take(&mut signed.newer);
        }
        signed.newer.insert(key, head.root);
        Ok(())
    }
}
