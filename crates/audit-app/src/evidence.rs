//! Evidence: events with proofs that they are in the log, for offline verification.
//!
//! The hash of every event is recomputed and every proof is verified before it is returned.

use crate::error::AppError;
use crate::service::AuditLog;
use audit_domain::{ContentHash, Environment, ProjectId, StoredEvent, Timestamp};
use audit_ledger::{
    Hash, InclusionProof, Origin, ProofError, SignedCheckpoint, TileId, TreeHead, VerifierKey,
};
use audit_store::{LedgerId, LoggedEvent, StoreError};

/// The maximum number of events of one read.
const READ_EVENTS_MAX: usize = 500;

/// Selects events.
#[derive(Clone, Copy, Debug)]
pub struct EvidenceRequest {
    /// The project.
    pub project_id: ProjectId,
    /// The environment.
    pub environment: Environment,
    /// The earliest time of occurrence, inclusive.
    pub from: Timestamp,
    /// The latest time of occurrence, inclusive.
    pub to: Timestamp,
}

/// The selected events and the checkpoint that proves them. Holds eight bytes per event.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// A checkpoint (C2SP `tlog-checkpoint`) that covers all of them.
    pub checkpoint: SignedCheckpoint,
    /// The key that verifies it.
    pub key: VerifierKey,
    ledger_id: LedgerId,
    seqs: Vec<u64>,
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
    /// No event occurred in the given time range.
    #[error("there are no events between these times")]
    NoEvents,
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
    /// The number of events.
    pub const fn events(&self) -> usize {
        self.seqs.len()
    }

    /// The size and the root of the log that the proofs refer to.
    pub const fn head(&self) -> &TreeHead {
        self.checkpoint.head()
    }
}

impl AuditLog {
    /// Selects events, and signs a checkpoint that covers all of them if there is none yet.
    ///
    /// # Errors
    /// [`EvidenceError::NoEvents`]; when the database fails.
    pub fn select_evidence(&self, request: &EvidenceRequest) -> Result<Evidence> {
        let (ledger_id, name, seqs) = self.store.query(|reader| {
            let ledgers = reader.ledgers(request.project_id)?;
            let ledger_id = ledgers.get(&request.environment);
            let ledger_id = *ledger_id.ok_or(AppError::NotFound("project"))?;
            let seqs = reader.seqs_between(ledger_id, request.from, request.to)?;
            Ok::<_, AppError>((ledger_id, reader.ledger_name(ledger_id)?, seqs))
        })?;
        let last = *seqs.last().ok_or(EvidenceError::NoEvents)?;
        let note = self.checkpoint_with(ledger_id, last)?.note;
        let key = self.log_key()?;
        let origin = format!("{}/{name}", key.name().as_str());
        let checkpoint = Origin::parse(&origin)
            .and_then(|origin| SignedCheckpoint::open(&note, &origin, std::slice::from_ref(&key)))
            .map_err(AppError::internal)?;
        Ok(Evidence {
            checkpoint,
            key,
            ledger_id,
            seqs,
        })
    }

    /// Passes every event of the evidence to `take`, in the order of the log.
    ///
    /// # Errors
    /// [`EvidenceError::Altered`]; [`EvidenceError::Write`] when `take` fails; when the database cannot be read.
    pub fn evidence_events(
        &self,
        evidence: &Evidence,
        mut take: impl FnMut(&LoggedEvent) -> std::io::Result<()>,
    ) -> Result<()> {
        self.each_event(evidence.ledger_id, &evidence.seqs, |event, _| Ok(take(event)?))
    }

    /// Passes the proof of every event to `take`, in the order of the log.
    ///
    /// # Errors
    /// [`EvidenceError::Unproved`], and those of [`Self::evidence_events`].
    pub fn evidence_proofs(
        &self,
        evidence: &Evidence,
        mut take: impl FnMut(&StoredEvent, &EvidenceProof) -> std::io::Result<()>,
    ) -> Result<()> {
        let head = evidence.head();
        // The proofs of the events of one tile need the same tiles.
        let of_tile = |seq: &u64| seq / u64::from(TileId::WIDTH_MAX);
        for seqs in evidence.seqs.chunk_by(|one, next| of_tile(one) == of_tile(next)) {
            let tiles = self.store.query(|reader| {
                let mut subtrees = Vec::new();
                for seq in seqs {
                    subtrees.extend(InclusionProof::subtrees(*seq, head.size).map_err(AppError::internal)?);
                }
                self.committed_tiles(reader, evidence.ledger_id, subtrees, head.size)
            })?;
            self.each_event(evidence.ledger_id, seqs, |logged, leaf| {
                let seq = logged.seq;
                let inclusion = InclusionProof::prove(seq, head.size, |subtree| tiles.hash(subtree));
                let inclusion = inclusion.map_err(AppError::internal)?;
                inclusion
                    .verify(seq, &leaf, head)
                    .map_err(|source| EvidenceError::Unproved { seq, source })?;
                Ok(take(&logged.event, &EvidenceProof { seq, inclusion })?)
            })?;
        }
        Ok(())
    }

    /// Passes the events at the given positions to `take`, each with its leaf hash.
    fn each_event(
        &self,
        ledger_id: LedgerId,
        seqs: &[u64],
        mut take: impl FnMut(&LoggedEvent, Hash) -> Result<()>,
    ) -> Result<()> {
        for consecutive in seqs.chunk_by(|one, next| one + 1 == *next) {
            for wanted in consecutive.chunks(READ_EVENTS_MAX) {
                let Some(first) = wanted.first() else { continue };
                let events = self
                    .store
                    .query(|reader| reader.logged_events(ledger_id, *first, wanted.len()))?;
                let mut events = events.iter();
                for seq in wanted {
                    let event = events.next().filter(|event| event.seq == *seq);
                    let event = event.ok_or(EvidenceError::Altered { seq: *seq })?;
                    let content_hash = ContentHash::of(&event.event.canonical);
                    if content_hash != event.event.content_hash {
                        return Err(EvidenceError::Altered { seq: *seq });
                    }
                    take(event, Hash::of_event(&content_hash))?;
                }
            }
        }
        Ok(())
    }
}
