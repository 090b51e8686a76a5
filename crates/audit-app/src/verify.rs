//! `log verify`: checks that the database holds exactly the events that were appended and signed.
//!
//! No stored value is trusted. The content hash of every event is computed from its text, and the tree is rebuilt from the
//! hashes. The stored tiles, the frontier of the tree and the last checkpoint are compared with it. An attacker has to change
//! all of them consistently, and cannot change the state of an external auditor: see `log audit`.

mod finding;
mod tree;
mod walk;

use crate::error::{AppError, Result};
use crate::log::stored_key;
use crate::service::AuditLog;
use audit_domain::ProjectId;
use audit_ledger::{Hash, Origin, SignedCheckpoint, VerifierKey};
use audit_store::{Reader, StoredLedger, StrayEvent};
use audit_webhooks::EncryptionKey;
pub use finding::{FINDINGS_MAX, Finding, Problem};
use walk::Walk;

/// The ledgers to verify, and the trusted key.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// Only the ledgers of this project.
    pub project_id: Option<ProjectId>,
    /// The key that verifies checkpoints, from a trusted source. If `None`, the key in the database is trusted.
    pub key: Option<VerifierKey>,
}

/// The report on one ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerReport {
    /// The project.
    pub project_id: String,
    /// `live` or `test`.
    pub environment: String,
    /// The number of events.
    pub events: u64,
    /// The size of the last checkpoint; `None` if there is none or its signature is invalid.
    pub signed: Option<u64>,
    /// The root of the tree over the events, if it could be computed.
    pub root: Option<Hash>,
    /// The findings: those that name an event first, in the order of the log. At most [`FINDINGS_MAX`] of each kind.
    pub findings: Vec<Finding>,
    /// The number of findings, including those over the limit.
    pub findings_count: u64,
}

impl LedgerReport {
    /// The name of the log: project and environment.
    pub fn name(&self) -> String {
        format!("{}/{}", self.project_id, self.environment)
    }
}

/// The first finding that names an event, or else the first finding.
pub fn first_finding(reports: &[LedgerReport]) -> Option<(&LedgerReport, &Finding)> {
    let firsts = reports
        .iter()
        .filter_map(|report| Some((report, report.findings.first()?)));
    firsts.min_by_key(|(_, finding)| !finding.names_an_event())
}

impl AuditLog {
    /// Verifies ledgers directly in the database. Calls `progress` with the number of verified events and the total.
    /// Ignores events that are appended meanwhile.
    ///
    /// # Errors
    /// When the database cannot be read, or the log's key is encrypted and the encryption key is missing.
    pub fn verify_log(
        &self,
        options: &VerifyOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<LedgerReport>> {
        let encryption_key = self.settings.encryption_key.as_ref();
        self.store
            .query(|reader| verify_ledgers(reader, options, encryption_key, progress))
    }
}

/// [`AuditLog::verify_log`] of the database of this reader.
pub(crate) fn verify_ledgers(
    reader: &mut Reader<'_>,
    options: &VerifyOptions,
    encryption_key: Option<&EncryptionKey>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<LedgerReport>> {
    let ledgers = reader.stored_ledgers(options.project_id)?;
    if ledgers.is_empty() && options.project_id.is_some() {
        return Err(AppError::NotFound("project"));
    }
    let key = match &options.key {
        Some(key) => Some(key.clone()),
        None => stored_key(reader, encryption_key)?,
    };
    // If every event is at its position and the counts match, there are no stray events to search for.
    let is_complete = options.project_id.is_none() && reader.has_no_strays()?;
    let total = ledgers
        .iter()
        .map(|ledger| ledger.size.max(0).unsigned_abs())
        .sum();
    let mut done = 0;
    let mut report_progress = |events: u64| {
        done += events;
        progress(done, total);
    };
    let verify = |ledger| verify_ledger(reader, &ledger, key.as_ref(), is_complete, &mut report_progress);
    ledgers.into_iter().map(verify).collect()
}

fn verify_ledger(
    reader: &mut Reader<'_>,
    ledger: &StoredLedger,
    key: Option<&VerifierKey>,
    is_complete: bool,
    report_progress: &mut dyn FnMut(u64),
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
    walk.events(checkpoint.as_ref(), report_progress)?;
    let head = walk.check_frontier(ledger)?;
    if let Some(checkpoint) = &checkpoint {
        walk.check_signed(*checkpoint.head());
    }
    if !is_complete || !walk.findings.is_empty() {
        let strays = walk.reader.stray_events(ledger.ledger_id, FINDINGS_MAX as i64)?;
        strays
            .iter()
            .for_each(|stray| walk.findings.add(stray_finding(stray)));
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

/// The last checkpoint, if there is one; the problem if its signature is invalid.
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

fn stray_finding(stray: &StrayEvent) -> Finding {
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
