//! Which events authorise what was removed from a log, once the records are verified.

use super::rows::rows_of;
use super::taken::digest_of;
use crate::error::{AppError, Result};
use crate::service::{AuditLog, Scope};
use audit_domain::LifecycleEvent;
use audit_ledger::RemovalKind;
use audit_store::StoreError;
use std::collections::HashMap;

/// A removal can be authorised while its row is read.
const STALE_RETRIES_MAX: u32 = 4;

/// The removals and erasures of a log whose records are those that their events commit to. Default: none was verified yet.
#[derive(Clone, Debug, Default)]
pub struct Authorities(pub(super) HashMap<u32, (RemovalKind, u64)>);

impl Authorities {
    /// The kind of a removal, by its number, and the position of the event that authorises it.
    pub(crate) fn get(&self, number: u32) -> Option<(RemovalKind, u64)> {
        self.0.get(&number).copied()
    }

    /// Whether the event at a position authorises an erasure.
    pub fn is_erasure(&self, seq: u64) -> bool {
        self.of_kind(RemovalKind::Erasure).any(|own| own == seq)
    }

    /// The positions of the events that authorise removals of this kind.
    pub(crate) fn of_kind(&self, kind: RemovalKind) -> impl Iterator<Item = u64> {
        let own = self.0.values().filter(move |own| own.0 == kind);
        own.map(|(_, seq)| *seq)
    }
}

impl AuditLog {
    /// Adds the removals and erasures of a log that were authorised since, and verifies the records of each. Records of erasures that are
    /// missing would bring back what was erased.
    ///
    /// # Errors
    /// [`AppError::LogInconsistent`] when a row or a record of an authorised one is missing or was changed.
    pub(crate) fn verify_authorities(&self, scope: &Scope, known: &mut Authorities) -> Result<()> {
        for _ in 0..STALE_RETRIES_MAX {
            match self.add_authorities(scope, known) {
                Err(AppError::Unavailable(StoreError::Stale)) => {}
                outcome => return outcome,
            }
        }
        Err(AppError::Unavailable(StoreError::Stale))
    }

    fn add_authorities(&self, scope: &Scope, known: &mut Authorities) -> Result<()> {
        let lifecycle = self.lifecycle(scope)?;
        self.check_removal_rows(scope.ledger_id, &lifecycle.fold)?;
        for row in rows_of(self, scope.ledger_id)? {
            let Some(seq) = row.event_seq.filter(|_| !known.0.contains_key(&row.number)) else {
                continue;
            };
            let (_, event) = lifecycle.fold.event(seq).ok_or(StoreError::Stale)?;
            let stated = match event {
                LifecycleEvent::Removed(removal) => (removal.digest, removal.events),
                LifecycleEvent::Erased(erasure) => (erasure.digest, erasure.events),
                // Its plan: nothing has gone.
                _ => continue,
            };
            if digest_of(self, &scope.log(), &row, || Ok(()))? != stated {
                let what = "records of a removal";
                return Err(AppError::inconsistent(StoreError::Damaged { what }));
            }
            known.0.insert(row.number, (row.kind, seq));
        }
        Ok(())
    }
}
