//! Reads a log for an archive: its events in order, the content hashes of removed events, and proofs against a signed checkpoint.

use crate::error::{AppError, Result};
use crate::evidence::{Entry, EvidenceError, RemovedEvidence};
use crate::self_audit::{Requester, ServiceEvent};
use crate::service::AuditLog;
use audit_domain::{
    Archived, Envelope, Environment, LifecycleEvent, LogName, ProjectId, StoredEvent, Timestamp,
};
use audit_ledger::{ConsistencyProof, Frontier, SignedCheckpoint, TreeHead, merge_signatures};
use audit_store::{CellId, LedgerId};
use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// A log up to a signed checkpoint.
#[derive(Clone, Debug)]
pub struct SignedLog {
    /// The newest checkpoint (C2SP `tlog-checkpoint`), with the cosignatures that it has.
    pub checkpoint: SignedCheckpoint,
    /// The log.
    pub log: LogName,
    pub(crate) ledger_id: LedgerId,
}

/// What is at a position of a log.
#[derive(Debug)]
pub enum LoggedPosition<'a> {
    /// An event, with the time at which the log received it.
    Event(&'a StoredEvent, Timestamp),
    /// The content hash of a removed event, and the event that authorises the removal.
    Removed(&'a RemovedEvidence),
}

impl SignedLog {
    /// The size and the root of the log up to the checkpoint.
    pub const fn head(&self) -> &TreeHead {
        self.checkpoint.head()
    }
}

impl AuditLog {
    /// The logs of all cells, sorted by name.
    ///
    /// # Errors
    /// When a database cannot be read.
    pub fn logs(self: &Arc<Self>) -> Result<Vec<LogName>> {
        let mut names = self.store.query(|reader| reader.ledger_names())?;
        for cell in self.cells()?.iter().filter(|cell| cell.id != CellId::HOME) {
            let store = &self.cell(cell.id)?.store;
            names.extend(store.query(|reader| reader.ledger_names())?);
        }
        let names: BTreeSet<String> = names.into_iter().map(|(_, name)| name).collect();
        let parse = |name: &String| {
            let (project, environment) = name.split_once('/')?;
            LogName::parse(project, environment)
        };
        Ok(names.iter().filter_map(parse).collect())
    }

    /// A log up to its newest checkpoint; `None` where it has none. Signs none, because it runs beside the server that does.
    ///
    /// # Errors
    /// When the project does not exist, or the database fails.
    pub fn signed_log(&self, project_id: ProjectId, environment: Environment) -> Result<Option<SignedLog>> {
        let (ledger_id, name, stored, cosigned) = self.store.query(|reader| {
            let ledgers = reader.ledgers(project_id)?;
            let ledger_id = *ledgers.get(&environment).ok_or(AppError::NotFound("project"))?;
            let stored = reader.log_checkpoint(ledger_id)?;
            let cosigned = reader.cosigned_checkpoints(&[ledger_id])?.remove(&ledger_id);
            let name = reader.ledger_name(ledger_id)?;
            Ok::<_, AppError>((ledger_id, name, stored, cosigned))
        })?;
        let Some(stored) = stored else {
            return Ok(None);
        };
        let (checkpoint, _) = self.open_checkpoint(&name, &stored.note)?;
        let merged = cosigned.and_then(|row| merge_signatures(checkpoint.note(), &row.note));
        let merged = merged.and_then(|note| self.open_checkpoint(&name, &note).ok());
        Ok(Some(SignedLog {
            checkpoint: merged.map_or(checkpoint, |(merged, _)| merged),
            log: LogName::new(project_id, environment),
            ledger_id,
        }))
    }

    /// Verifies the signature of an earlier checkpoint of a log. Its tree is not compared with that of the log.
    ///
    /// # Errors
    /// When no key of this service has signed it, or it is of another log.
    pub fn earlier_checkpoint(&self, log: &SignedLog, note: &str) -> Result<SignedCheckpoint> {
        let (checkpoint, _) = self.open_checkpoint(log.log.as_str(), note)?;
        Ok(checkpoint)
    }

    /// Stores in the log that an archive has its events up to a position, unless the newest such event says so. Returns its position.
    ///
    /// # Errors
    /// When the project does not exist, the log takes no more such events, or the database fails.
    pub fn record_archive(
        &self,
        project_id: ProjectId,
        environment: Environment,
        archived: Archived,
    ) -> Result<u64> {
        let scope = self.scope_of(project_id, environment)?;
        let log = scope.log();
        self.add_lifecycle_event(&scope, &Requester::Operator, |present| {
            // Behind the events that were put back since: what is removed again has to be in an archive again.
            let newest = present.fold.archived(archived.end_seq).next_back();
            let is_new = newest.is_none_or(|(_, newest)| newest != archived);
            let event = LifecycleEvent::Archived(archived);
            Ok(is_new.then(|| ServiceEvent::lifecycle(&event, present.lifecycle_seq, &log)))
        })?;
        let lifecycle = self.lifecycle(&scope)?;
        let newest = lifecycle.fold.archived(archived.end_seq).next_back();
        newest.map(|(seq, _)| seq).ok_or(AppError::NotFound("event"))
    }

    /// The positions of the erasures that were carried out in a log.
    ///
    /// # Errors
    /// When the project does not exist, the log was tampered with, or the database fails.
    pub fn erasures_of_log(&self, project_id: ProjectId, environment: Environment) -> Result<BTreeSet<u64>> {
        let lifecycle = self.lifecycle(&self.scope_of(project_id, environment)?)?;
        Ok(lifecycle.fold.erasures().map(|(seq, ..)| seq).collect())
    }

    /// The tree of the log at this size, and the proof that the tree of the checkpoint continues it.
    ///
    /// # Errors
    /// When the log is shorter or inconsistent, or the database fails.
    pub fn tree_of_log(&self, log: &SignedLog, size: u64) -> Result<(Frontier, ConsistencyProof)> {
        let head = log.head();
        let mut subtrees = ConsistencyProof::subtrees(size, head.size).map_err(AppError::inconsistent)?;
        subtrees.extend(audit_ledger::Subtree::of_tree(size));
        let tiles = self
            .store
            .query(|reader| self.committed_tiles(reader, log.ledger_id, subtrees.clone(), head.size, None))?;
        let source = |subtree| tiles.hash(subtree);
        let frontier = Frontier::read(size, source).map_err(AppError::inconsistent)?;
        let proof = ConsistencyProof::prove(size, head.size, source).map_err(AppError::inconsistent)?;
        proof
            .verify(&frontier.head(), head)
            .map_err(AppError::inconsistent)?;
        Ok((frontier, proof))
    }

    /// The time at which the log received the first event at this position or behind it that is there; `None` where there is none
    /// under the checkpoint.
    ///
    /// # Errors
    /// When the database cannot be read, or the text is not that of an event.
    pub fn next_logged_at(&self, log: &SignedLog, seq: u64) -> Result<Option<Timestamp>, EvidenceError> {
        let found = self
            .store
            .query(|reader| reader.logged_events(log.ledger_id, seq, 1))?;
        let next = found.first().filter(|next| next.seq < log.head().size);
        next.map(|next| logged_at(next.seq, &next.event)).transpose()
    }

    /// Passes what is at these positions to `take`, in their order, until it breaks. The content hash of each event is verified.
    ///
    /// # Errors
    /// [`EvidenceError::Altered`], [`EvidenceError::Write`] when `take` fails, or when the database cannot be read.
    pub fn logged_positions(
        &self,
        log: &SignedLog,
        seqs: Range<u64>,
        mut take: impl FnMut(u64, LoggedPosition<'_>) -> std::io::Result<ControlFlow<()>>,
    ) -> Result<(), EvidenceError> {
        self.each_position(log.ledger_id, &log.log, seqs, |entry, seq| {
            let position = match entry {
                Entry::Event(logged) => LoggedPosition::Event(&logged.event, logged_at(seq, &logged.event)?),
                Entry::Removed(removed) => LoggedPosition::Removed(removed),
            };
            Ok(take(seq, position)?)
        })
    }
}

fn logged_at(seq: u64, event: &StoredEvent) -> Result<Timestamp, EvidenceError> {
    let envelope = Envelope::read(&event.canonical).map_err(|_| EvidenceError::Altered { seq })?;
    Ok(envelope.logged_at)
}
