//! `log verify`: whether what is stored is what was appended and signed.
//!
//! Nothing stored is believed. The content hash of every event is computed from its text; the tree is made anew from
//! those; and tiles, the tree's edge and the last checkpoint are held against it. Whoever changes the database has to
//! change all of these alike, and cannot change what an auditor elsewhere remembers: see `log audit`.

mod finding;
mod tree;
mod walk;

use crate::error::{AppError, Result};
use crate::log::stored_key;
use crate::service::AuditLog;
use audit_domain::ProjectId;
use audit_ledger::{Hash, Origin, SignedCheckpoint, VerifierKey};
use audit_store::{Reader, StoredLedger, StrayEvent};
pub use finding::{FINDINGS_MAX, Finding, Problem};
use walk::Walk;

/// What to verify, and whom to believe.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// The ledgers of this project only.
    pub project_id: Option<ProjectId>,
    /// The key that signs checkpoints, known from elsewhere. Otherwise the database's own is believed.
    pub key: Option<VerifierKey>,
}

/// What was found out about one ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerReport {
    /// The project.
    pub project_id: String,
    /// `live` or `test`.
    pub environment: String,
    /// How many events it has.
    pub events: u64,
    /// How many of them the last checkpoint is of; `None` when nothing was signed yet.
    pub signed: Option<u64>,
    /// The root of the tree over them, if it could be made.
    pub root: Option<Hash>,
    /// What is wrong: events that can be named first, in their order. At most [`FINDINGS_MAX`] of each kind.
    pub findings: Vec<Finding>,
    /// How much is wrong.
    pub findings_count: u64,
}

impl AuditLog {
    /// Verifies ledgers straight from the database. `progress` is told how many events were looked at and how many
    /// there are. What is appended meanwhile is left to the next time.
    ///
    /// # Errors
    /// When the database cannot be asked, or the log's key is encrypted and no key is given.
    pub fn verify_log(
        &self,
        options: &VerifyOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<LedgerReport>> {
        self.store.query(|reader| {
            let ledgers = reader.stored_ledgers(options.project_id)?;
            if ledgers.is_empty() && options.project_id.is_some() {
                return Err(AppError::NotFound("project"));
            }
            let key = match &options.key {
                Some(key) => Some(key.clone()),
                None => stored_key(reader, self.settings.encryption_key.as_ref())?,
            };
            // If all events are in their places, and there are no more, none is anywhere else.
            let is_all = options.project_id.is_none() && reader.are_all_in_place()?;
            let total = ledgers
                .iter()
                .map(|ledger| ledger.size.max(0).unsigned_abs())
                .sum();
            let mut done = 0;
            let mut told = |events: u64| {
                done += events;
                progress(done, total);
            };
            let verify = |ledger| verify_ledger(reader, &ledger, key.as_ref(), is_all, &mut told);
            ledgers.into_iter().map(verify).collect()
        })
    }
}

fn verify_ledger(
    reader: &mut Reader<'_>,
    ledger: &StoredLedger,
    key: Option<&VerifierKey>,
    is_all: bool,
    done: &mut dyn FnMut(u64),
) -> Result<LedgerReport> {
    let size = ledger.size.max(0).unsigned_abs();
    let mut walk = Walk::new(reader, ledger.ledger_id, size);
    if ledger.size < 0 {
        walk.findings.add(Finding::log(Problem::Size(ledger.size)));
    }
    let checkpoint = match opened_checkpoint(ledger, key).transpose() {
        Ok(checkpoint) => checkpoint,
        Err(problem) => {
            walk.findings.add(Finding::log(problem));
            None
        }
    };
    walk.events(checkpoint.as_ref(), done)?;
    let head = walk.check_edge(ledger)?;
    if let Some(checkpoint) = &checkpoint {
        walk.check_signed(*checkpoint.head());
    }
    if !is_all || !walk.findings.is_empty() {
        let strays = walk.reader.stray_events(ledger.ledger_id, FINDINGS_MAX as i64)?;
        strays.iter().for_each(|stray| walk.findings.add(added(stray)));
    }
    let (findings, findings_count) = walk.findings.finish();
    Ok(LedgerReport {
        project_id: ledger.project_id.clone(),
        environment: ledger.environment.clone(),
        events: size,
        signed: checkpoint.map(|checkpoint| checkpoint.head().size),
        root: head.map(|head| head.root),
        findings,
        findings_count,
    })
}

/// The last checkpoint, if there is one and its signature is right.
fn opened_checkpoint(
    ledger: &StoredLedger,
    key: Option<&VerifierKey>,
) -> Option<std::result::Result<SignedCheckpoint, Problem>> {
    let row = ledger.checkpoint.as_ref()?;
    let Some(key) = key else {
        return Some(Err(Problem::NoKey));
    };
    let name = format!(
        "{}/{}/{}",
        key.name().as_str(),
        ledger.project_id,
        ledger.environment
    );
    let opened = Origin::parse(&name)
        .and_then(|origin| SignedCheckpoint::open(&row.note, &origin, std::slice::from_ref(key)));
    Some(opened.map_err(Problem::Checkpoint))
}

fn added(stray: &StrayEvent) -> Finding {
    let seq = stray.seq.and_then(|seq| u64::try_from(seq).ok());
    let id = <[u8; 16]>::try_from(stray.id.as_slice()).map(audit_domain::EventId::from_bytes);
    Finding {
        seqs: seq.map(|seq| seq..seq + 1),
        id: id.ok(),
        problem: match stray.seq {
            Some(_) => Problem::Added,
            None => Problem::Gone,
        },
    }
}
