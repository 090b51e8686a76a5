//! Evidence: events with proofs that they are in the log, for offline verification.
//!
//! The hash of every event is recomputed and every proof is verified before it is returned. Of an event that a removal has taken the
//! content hash is left, which is proved in the same way.

use crate::error::AppError;
use crate::service::AuditLog;
use audit_domain::{ContentHash, Envelope, Environment, ErasedParts, EventId, LogName, ProjectId, Timestamp};
use audit_ledger::{
    Hash, InclusionProof, Policy, ProofError, SignedCheckpoint, TileId, TreeHead, VerifierKey,
    merge_signatures,
};
use audit_store::{LedgerId, LoggedEvent, Reader, RemovalState, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::ops::{ControlFlow, Range};

/// The maximum number of events of one read.
const READ_EVENTS_MAX: usize = 500;

/// Selects events.
#[derive(Clone, Copy, Debug)]
pub struct EvidenceRequest {
    /// The project.
    pub project_id: ProjectId,
    /// The environment.
    pub environment: Environment,
    /// The earliest time at which the log received an event, inclusive.
    pub from: Timestamp,
    /// The latest time, inclusive.
    pub to: Timestamp,
}

/// The events that a log received in a range of time, and a checkpoint that proves them.
///
/// They are a run of the log without gaps, together with the position before and the position after them. The neighbours were
/// received outside of the range, so an archive that leaves out an event of the range can be recognized. A removed event keeps its
/// position; as a neighbour it does not show when it was received.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// A checkpoint (C2SP `tlog-checkpoint`) that covers all of them.
    pub checkpoint: SignedCheckpoint,
    /// The key that verifies it.
    pub key: VerifierKey,
    /// Whether the checkpoint has the cosignatures of a quorum of witnesses; `None` where the log has no cosignatures. Without a policy,
    /// as the server that stored them says.
    pub has_quorum: Option<bool>,
    ledger_id: LedgerId,
    log: LogName,
    run: Run,
}

/// Positions in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    /// From the first event received in the range up to the last one before an event received later.
    inside: Range<u64>,
    /// The same with the neighbours that exist.
    all: Range<u64>,
    /// The number of events inside that are there.
    events: u64,
}

/// An event that a removal has taken, or of which an erasure has taken parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemovedEvidence {
    /// Its content hash.
    pub content_hash: ContentHash,
    /// The position in the log of the event that authorised the removal.
    pub removal: u64,
}

/// What is at a position of the log.
pub(crate) enum Entry<'a> {
    Event(&'a LoggedEvent),
    Removed(&'a RemovedEvidence),
}

/// The proof that an event is in the log.
#[derive(Clone, Debug)]
pub struct EvidenceProof {
    /// Its position in the log.
    pub seq: u64,
    /// The path from the leaf to the root of the checkpoint.
    pub inclusion: InclusionProof,
}

/// The evidence cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// A use case failed.
    #[error(transparent)]
    App(#[from] AppError),
    /// The log has no events.
    #[error("the log has no events")]
    NoEvents,
    /// No checkpoint covers an event yet.
    #[error("event {seq} is not signed yet; a running server signs it within a second")]
    Unsigned {
        /// Its position in the log.
        seq: u64,
    },
    /// The policy's quorum of witnesses has cosigned no checkpoint of the events yet.
    #[error("no checkpoint that covers the events has a quorum of the policy's witnesses")]
    WithoutQuorum,
    /// An event is missing or was changed.
    #[error("event {seq} is not as it was appended; run `audit-server log verify` for details")]
    Altered {
        /// Its position in the log.
        seq: u64,
    },
    /// The proof of an event is invalid.
    #[error("event {seq} cannot be proved; run `audit-server log verify` for details")]
    Unproved {
        /// Its position in the log.
        seq: u64,
        /// The error of the proof.
        source: ProofError,
    },
    /// The output failed.
    #[error("the evidence cannot be written")]
    Write(#[from] std::io::Error),
}

impl From<StoreError> for EvidenceError {
    fn from(error: StoreError) -> Self {
        Self::App(error.into())
    }
}

type Result<T, E = EvidenceError> = std::result::Result<T, E>;

impl Evidence {
    /// The number of events, without the neighbours and those that were removed.
    pub const fn events(&self) -> u64 {
        self.run.events
    }

    /// The size and the root of the log that the proofs refer to.
    pub const fn head(&self) -> &TreeHead {
        self.checkpoint.head()
    }
}

impl AuditLog {
    /// Selects events, and a checkpoint: the last one that a quorum of witnesses has cosigned if it covers the events, or else the last
    /// one with the cosignatures that it has. Signs none, because it runs beside the server that does. Reads the log from its
    /// beginning up to the end of the range.
    ///
    /// # Errors
    /// [`EvidenceError::NoEvents`]; [`EvidenceError::Unsigned`]; with a policy [`EvidenceError::WithoutQuorum`]; when the database
    /// fails.
    pub fn select_evidence(&self, request: &EvidenceRequest, policy: Option<&Policy>) -> Result<Evidence> {
        let (ledger_id, name, size, stored, cosigned) = self.store.query(|reader| {
            let ledgers = reader.ledgers(request.project_id)?;
            let ledger_id = ledgers.get(&request.environment);
            let ledger_id = *ledger_id.ok_or(AppError::NotFound("project"))?;
            let size = reader.ledger_size(ledger_id)?;
            let stored = reader.log_checkpoint(ledger_id)?;
            let cosigned = reader.cosigned_checkpoints(&[ledger_id])?.remove(&ledger_id);
            let name = reader.ledger_name(ledger_id)?;
            Ok::<_, AppError>((ledger_id, name, size, stored, cosigned))
        })?;
        if size == 0 {
            return Err(EvidenceError::NoEvents);
        }
        let note = stored.ok_or(EvidenceError::Unsigned { seq: 0 })?.note;
        let (checkpoint, key) = self.open_checkpoint(&name, &note)?;
        let signed = checkpoint.head().size;
        let run = self.run_between(ledger_id, signed, request.from, request.to)?;
        if run.inside.end == signed && size > signed {
            // Events that are not signed yet may be in the range as well.
            return Err(EvidenceError::Unsigned { seq: signed });
        }
        let latest = checkpoint.note();
        let open = |note: &str| self.open_checkpoint(&name, note).ok();
        let covers = |size: u64| run.inside.end < size || size == signed;
        let with_quorum = cosigned
            .as_ref()
            .and_then(|row| open(row.quorum_note.as_deref()?));
        let with_quorum = with_quorum.filter(|(signed, _)| covers(signed.head().size));
        let has_quorum = |note: &str| policy.is_none_or(|policy| policy.is_quorum(&policy.cosigners(note)));
        let (checkpoint, key, has_quorum) = match (with_quorum, cosigned) {
            (Some((signed, key)), _) if has_quorum(signed.note()) => (signed, key, Some(true)),
            (_, Some(row)) => {
                let merged = merge_signatures(latest, &row.note);
                let merged = merged.and_then(|note| open(&note));
                let (signed, key) = merged.unwrap_or((checkpoint, key));
                let has_quorum = policy.is_some() && has_quorum(signed.note());
                (signed, key, Some(has_quorum))
            }
            (_, None) => (checkpoint, key, policy.map(|_| false)),
        };
        if policy.is_some() && has_quorum == Some(false) {
            return Err(EvidenceError::WithoutQuorum);
        }
        let head = checkpoint.head().size;
        Ok(Evidence {
            has_quorum,
            checkpoint,
            key,
            ledger_id,
            log: LogName::new(request.project_id, request.environment),
            run: Run {
                all: run.all.start..run.all.end.min(head),
                ..run
            },
        })
    }

    /// The run of events that the log of this size received from `from` to `to`: an event of an anonymous stream when it was claimed.
    fn run_between(&self, ledger_id: LedgerId, size: u64, from: Timestamp, to: Timestamp) -> Result<Run> {
        let (mut start, mut next, mut inside_events) = (None, 0, 0);
        let end = 'log: loop {
            let limit =
                usize::try_from(size - next).map_or(READ_EVENTS_MAX, |left| left.min(READ_EVENTS_MAX));
            let events = self
                .store
                .query(|reader| reader.logged_events(ledger_id, next, limit))?;
            for LoggedEvent { seq, event } in &events {
                if *seq >= size {
                    break 'log size;
                }
                let envelope = Envelope::read(&event.canonical);
                let logged_at = envelope
                    .map_err(|_| EvidenceError::Altered { seq: *seq })?
                    .logged_at;
                if logged_at >= from && start.is_none() {
                    start = Some(*seq);
                }
                if logged_at > to && start.is_some() {
                    break 'log *seq;
                }
                inside_events += u64::from(start.is_some());
            }
            match events.last() {
                Some(last) if last.seq + 1 < size => next = last.seq + 1,
                _ => break size,
            }
        };
        let inside = start.unwrap_or(end)..end;
        let all = inside.start.saturating_sub(1)..(end + 1).min(size);
        Ok(Run {
            inside,
            all,
            events: inside_events,
        })
    }

    /// Passes every event of the evidence and its neighbours to `take`, in the order of the log.
    ///
    /// # Errors
    /// [`EvidenceError::Altered`]; [`EvidenceError::Write`] when `take` fails; when the database cannot be read.
    pub fn evidence_events(
        &self,
        evidence: &Evidence,
        mut take: impl FnMut(&LoggedEvent) -> std::io::Result<()>,
    ) -> Result<()> {
        self.each_entry(evidence, evidence.run.all.clone(), |entry, _, _| match entry {
            Entry::Event(event) => Ok(take(event)?),
            Entry::Removed(_) => Ok(()),
        })
    }

    /// Passes the proof of every event and of the neighbours to `take`, in the order of the log. The id of one that was removed is unknown.
    ///
    /// # Errors
    /// [`EvidenceError::Unproved`], and those of [`Self::evidence_events`].
    pub fn evidence_proofs(
        &self,
        evidence: &Evidence,
        mut take: impl FnMut(Option<EventId>, &EvidenceProof) -> std::io::Result<()>,
    ) -> Result<()> {
        self.each_proof(evidence, |entry, proof| match entry {
            Entry::Event(logged) => take(Some(logged.event.id), proof),
            Entry::Removed(_) => take(None, proof),
        })
    }

    /// Passes every removed event, also as a neighbour, with its position to `take`, in the order of the log.
    ///
    /// # Errors
    /// As [`Self::evidence_proofs`].
    pub fn evidence_removed(
        &self,
        evidence: &Evidence,
        mut take: impl FnMut(u64, &RemovedEvidence) -> std::io::Result<()>,
    ) -> Result<()> {
        self.each_entry(evidence, evidence.run.all.clone(), |entry, seq, _| match entry {
            Entry::Event(_) => Ok(()),
            Entry::Removed(removed) => Ok(take(seq, removed)?),
        })
    }

    fn each_proof(
        &self,
        evidence: &Evidence,
        mut take: impl FnMut(Entry<'_>, &EvidenceProof) -> std::io::Result<()>,
    ) -> Result<()> {
        let head = evidence.head();
        let Range { mut start, end } = evidence.run.all;
        while start < end {
            // The proofs of the events of one tile need the same tiles.
            let width = u64::from(TileId::WIDTH_MAX);
            let seqs = start..end.min((start / width + 1) * width);
            start = seqs.end;
            let tiles = self.store.query(|reader| {
                let mut subtrees = Vec::new();
                for seq in seqs.clone() {
                    subtrees.extend(InclusionProof::subtrees(seq, head.size).map_err(AppError::internal)?);
                }
                self.committed_tiles(reader, evidence.ledger_id, subtrees, head.size, None)
            })?;
            self.each_entry(evidence, seqs, |entry, seq, leaf| {
                let inclusion = InclusionProof::prove(seq, head.size, |subtree| tiles.hash(subtree));
                let inclusion = inclusion.map_err(AppError::internal)?;
                inclusion
                    .verify(seq, &leaf, head)
                    .map_err(|source| EvidenceError::Unproved { seq, source })?;
                Ok(take(entry, &EvidenceProof { seq, inclusion })?)
            })?;
        }
        Ok(())
    }

    /// Passes what is at the given positions to `take`, each with its position and leaf hash. An evidence archive has whole events only: one of
    /// which parts were erased counts as removed.
    fn each_entry(
        &self,
        evidence: &Evidence,
        seqs: Range<u64>,
        mut take: impl FnMut(Entry<'_>, u64, Hash) -> Result<()>,
    ) -> Result<()> {
        self.each_position(evidence.ledger_id, &evidence.log, seqs, |entry, seq| {
            let (content_hash, erasures) = match &entry {
                Entry::Event(logged) => (
                    logged.event.content_hash,
                    logged.event.content_salt.erased().map(ErasedParts::erasures),
                ),
                Entry::Removed(removed) => (removed.content_hash, None),
            };
            let erased = erasures.and_then(<[u64]>::last).map(|removal| RemovedEvidence {
                content_hash,
                removal: *removal,
            });
            let entry = erased.as_ref().map_or(entry, Entry::Removed);
            take(entry, seq, Hash::of_event(&content_hash))?;
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Passes what is at the given positions to `take`, each with its position, until it breaks. The content hash of each event is
    /// verified.
    pub(crate) fn each_position(
        &self,
        ledger_id: LedgerId,
        log: &LogName,
        seqs: Range<u64>,
        mut take: impl FnMut(Entry<'_>, u64) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let Range { mut start, end } = seqs;
        while start < end {
            let seqs = start..end.min(start + READ_EVENTS_MAX as u64);
            start = seqs.end;
            let limit = (seqs.end - seqs.start) as usize;
            let (events, removed) = self.store.query(|reader| {
                let mut events = reader.logged_events(ledger_id, seqs.start, limit)?;
                events.retain(|event| event.seq < seqs.end);
                // After the events: a record is stored before its event goes.
                let removed = match events.len() == limit {
                    true => BTreeMap::new(),
                    false => removed_between(reader, ledger_id, seqs.clone())?,
                };
                Ok::<_, EvidenceError>((events, removed))
            })?;
            let mut events = events.iter().peekable();
            for seq in seqs {
                let entry = match events.next_if(|logged| logged.seq == seq) {
                    Some(logged) if logged.event.computed_hash(log) == Some(logged.event.content_hash) => {
                        Entry::Event(logged)
                    }
                    Some(_) => return Err(EvidenceError::Altered { seq }),
                    None => Entry::Removed(removed.get(&seq).ok_or(EvidenceError::Altered { seq })?),
                };
                if take(entry, seq)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// The events at these positions that a removal has taken or is taking.
fn removed_between(
    reader: &mut Reader<'_>,
    ledger_id: LedgerId,
    seqs: Range<u64>,
) -> Result<BTreeMap<u64, RemovedEvidence>> {
    let begun = reader.removals(ledger_id)?.into_iter().filter_map(|row| {
        use RemovalState::{Cleaning, Done, Removing};
        let authority = row
            .event_seq
            .filter(|_| matches!(row.state, Removing | Cleaning | Done));
        Some((row.number, authority?))
    });
    let begun: HashMap<u32, u64> = begun.collect();
    let width = u64::from(TileId::WIDTH_MAX);
    let records = reader.removal_records(ledger_id, seqs.start / width..seqs.end.div_ceil(width))?;
    let records = records
        .into_iter()
        .filter(|(_, record)| record.mask.is_row() && seqs.contains(&record.seq));
    let removed = records.filter_map(|(number, record)| {
        let removed = RemovedEvidence {
            content_hash: record.content_hash,
            removal: *begun.get(&number)?,
        };
        Some((record.seq, removed))
    });
    Ok(removed.collect())
}
