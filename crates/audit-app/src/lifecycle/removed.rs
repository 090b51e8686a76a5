//! The removals of a log and their records, as auditors read them.

use super::chain::as_stored;
use super::known::ChainEvent;
use crate::error::{AppError, Result};
use crate::service::{AuditLog, Selection};
use audit_auth::KeyHolder;
use audit_domain::Timestamp;
use audit_ledger::{RemovalKind, encode_records};
use audit_store::StoreError;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A plan in its grace period, a removal or an erasure, as its event says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedRemoval {
    /// The position of its event.
    pub seq: u64,
    /// Whether retention or an erasure.
    pub kind: RemovalKind,
    /// The action of its event.
    pub action: String,
    /// The first position that it concerns; `None` where it concerns single events.
    pub first_seq: Option<u64>,
    /// The position after the last one that it concerns.
    pub end_seq: Option<u64>,
    /// How many events it concerns.
    pub events: u64,
    /// Commits to them.
    pub digest: String,
    /// When the log received its event.
    pub at: Timestamp,
}

impl LoggedRemoval {
    fn of(event: &ChainEvent, kind: RemovalKind) -> Self {
        Self {
            seq: event.seq,
            kind,
            action: event.member("action").to_owned(),
            first_seq: event.number("first_seq"),
            end_seq: event.number("end_seq"),
            events: event.number("events").unwrap_or_default(),
            digest: event.text("digest").unwrap_or_default().to_owned(),
            at: event.at,
        }
    }
}

impl AuditLog {
    /// The plans in their grace period, the removals and the erasures of a log, oldest first, as the database has them: who audits a
    /// log also asks for those of one that was tampered with, and verifies the events.
    ///
    /// # Errors
    /// When the principal has no access to the project; [`AppError::LogInconsistent`] when an event is missing or was changed.
    pub fn removals(&self, principal: &KeyHolder, selection: Selection) -> Result<Vec<LoggedRemoval>> {
        let scope = self
            .store
            .read(|reader| self.scope(reader, principal, selection))?;
        let log = scope.log();
        // The verified chain is cached.
        let lifecycle = self.lifecycle(&scope).or_else(|_| {
            let project_id = scope.project.project.id;
            let stored = self
                .store
                .query(|reader| as_stored(reader, project_id, (scope.ledger_id, &log)));
            stored.map(Arc::new)
        })?;
        let fold = &lifecycle.fold;
        let plan = fold.open_plan().map(|(seq, _)| seq).into_iter();
        let of_retention = plan.chain(fold.removals().map(|(seq, ..)| seq));
        let of_erasures = fold.open_erasures().map(|(seq, _)| seq);
        let of_erasures = of_erasures.chain(fold.erasures().map(|(seq, ..)| seq));
        let kinds = of_retention
            .map(|seq| (seq, RemovalKind::Retention))
            .chain(of_erasures.map(|seq| (seq, RemovalKind::Erasure)));
        let kinds: BTreeMap<u64, RemovalKind> = kinds.collect();
        let removals = kinds
            .into_iter()
            .filter_map(|(seq, kind)| Some(LoggedRemoval::of(lifecycle.event(seq)?, kind)));
        Ok(removals.collect())
    }

    /// The records of a tile of 256 positions, ascending by position and then by removal: for each 82 bytes, integers big endian:
    /// position (8), position of the event of its plan, removal or erasure (8), mask (2), content hash (32), label of its tenant (32).
    ///
    /// # Errors
    /// As [`Self::removals`]; [`AppError::NotFound`] when the tile has no record.
    pub fn removed_tile(
        &self,
        principal: &KeyHolder,
        selection: Selection,
        tile_index: u64,
    ) -> Result<Vec<u8>> {
        self.store.query(|reader| {
            let ledger_id = self.scope(reader, principal, selection)?.ledger_id;
            let mut authorities = HashMap::new();
            for removal in reader.stored_removals(ledger_id)? {
                if let Some(seq) = removal.authority {
                    authorities.insert(removal.number, seq);
                }
            }
            let records = reader.removal_records(ledger_id, tile_index..tile_index + 1)?;
            let records = records.into_iter().filter_map(|(number, record)| {
                let authority = *authorities.get(&number)?;
                Some(((record.seq, authority), record))
            });
            let records: BTreeMap<(u64, u64), _> = records.collect();
            if records.is_empty() {
                return Err(AppError::NotFound("tile"));
            }
            let slots: BTreeSet<u64> = records.values().map(|record| record.slot).collect();
            let slots: Vec<u64> = slots.into_iter().collect();
            let labels = reader.removed_labels(ledger_id, &slots)?;
            let mut bytes = Vec::with_capacity(records.len() * RECORD_BYTES);
            for ((seq, authority), record) in &records {
                let label = labels.get(&record.slot).ok_or_else(no_label)?;
                bytes.extend(seq.to_be_bytes());
                bytes.extend(authority.to_be_bytes());
                // As it is stored: the offset (1), the mask (2), the content hash (32) and the slot.
                bytes.extend(&encode_records(std::slice::from_ref(record))[1..35]);
                bytes.extend(label.as_bytes());
            }
            Ok(bytes)
        })
    }
}

/// The length of a record that auditors read.
const RECORD_BYTES: usize = 82;

fn no_label() -> AppError {
    AppError::inconsistent(StoreError::Damaged {
        what: "label of a tenant",
    })
}
