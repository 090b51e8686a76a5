//! Evidence: events with what proves to anybody that they are in the log.
//!
//! Nothing is handed out that would not convince: every event is hashed anew and every proof verified before.

use crate::error::AppError;
use crate::service::AuditLog;
use audit_domain::{ContentHash, Environment, ProjectId, StoredEvent, Timestamp};
use audit_ledger::{
    Hash, InclusionProof, Origin, ProofError, SignedCheckpoint, TileId, TreeHead, VerifierKey,
};
use audit_store::{LedgerId, LoggedEvent, StoreError};

/// Events that are read at once.
const READ_EVENTS_MAX: usize = 500;

/// Which events.
#[derive(Clone, Copy, Debug)]
pub struct EvidenceRequest {
    /// Whose.
    pub project_id: ProjectId,
    /// Live or test.
    pub environment: Environment,
    /// Those that did not occur before.
    pub from: Timestamp,
    /// Those that did not occur afterwards.
    pub to: Timestamp,
}

/// The events that were asked for, and what they are proved to be in. Holds eight bytes for each.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// A signed note (C2SP `tlog-checkpoint`) of a log that has all of them.
    pub checkpoint: SignedCheckpoint,
    /// The key that verifies it.
    pub key: VerifierKey,
    ledger_id: LedgerId,
    seqs: Vec<u64>,
}

/// That one event is in the log.
#[derive(Clone, Debug)]
pub struct EvidenceProof {
    /// Its place.
    pub seq: u64,
    /// Leads from the event's leaf to the root of the checkpoint.
    pub inclusion: InclusionProof,
}

/// There is no evidence to be had.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// The service could not do it.
    #[error(transparent)]
    App(#[from] AppError),
    /// Nothing occurred then.
    #[error("there are no events between these times")]
    NoEvents,
    /// An event is gone, or not what it was.
    #[error("event {seq} is not as it was appended; `audit-server log verify` tells more")]
    Altered {
        /// Its place.
        seq: u64,
    },
    /// The log does not lead to the event.
    #[error("event {seq} cannot be proved; `audit-server log verify` tells more")]
    Unproved {
        /// Its place.
        seq: u64,
        /// What is wrong with the proof.
        source: ProofError,
    },
    /// Whoever takes the evidence could not.
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
    /// How many events there are.
    pub const fn events(&self) -> usize {
        self.seqs.len()
    }

    /// Size and root of the log that they are proved to be in.
    pub const fn head(&self) -> &TreeHead {
        self.checkpoint.head()
    }
}

impl AuditLog {
    /// Finds the events that are asked for, and signs a checkpoint of a log with all of them if there is none yet.
    ///
    /// # Errors
    /// [`EvidenceError::NoEvents`], and when the database cannot be asked.
    pub fn select_evidence(&self, request: &EvidenceRequest) -> Result<Evidence> {
        let (ledger_id, name, seqs) = self.store.query(|reader| {
            let ledgers = reader.ledgers(request.project_id)?;
            let ledger_id = ledgers.get(&request.environment);
            let ledger_id = *ledger_id.ok_or(AppError::NotFound("project"))?;
            let seqs = reader.seqs_between(ledger_id, request.from, request.to)?;
            Ok::<_, AppError>((ledger_id, reader.ledger_name(ledger_id)?, seqs))
        })?;
        let last = *seqs.last().ok_or(EvidenceError::NoEvents)?;
        let (note, _) = self.checkpoint_with(ledger_id, last)?;
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

    /// Shows every event of the evidence to `take`, in the order of the log.
    ///
    /// # Errors
    /// [`EvidenceError::Altered`], [`EvidenceError::Write`] when `take` fails, and when the database cannot be asked.
    pub fn evidence_events(
        &self,
        evidence: &Evidence,
        mut take: impl FnMut(&LoggedEvent) -> std::io::Result<()>,
    ) -> Result<()> {
        self.each_event(evidence.ledger_id, &evidence.seqs, |event, _| Ok(take(event)?))
    }

    /// Shows the proof of every event to `take`, in the order of the log.
    ///
    /// # Errors
    /// [`EvidenceError::Unproved`], and those of [`Self::evidence_events`].
    pub fn evidence_proofs(
        &self,
        evidence: &Evidence,
        mut take: impl FnMut(&StoredEvent, &EvidenceProof) -> std::io::Result<()>,
    ) -> Result<()> {
        let head = evidence.head();
        // The events of one tile need the same tiles above it.
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

    /// Shows the events at some places to `take`, each with its leaf.
    fn each_event(
        &self,
        ledger_id: LedgerId,
        seqs: &[u64],
        mut take: impl FnMut(&LoggedEvent, Hash) -> Result<()>,
    ) -> Result<()> {
        for run in seqs.chunk_by(|one, next| one + 1 == *next) {
            for wanted in run.chunks(READ_EVENTS_MAX) {
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
