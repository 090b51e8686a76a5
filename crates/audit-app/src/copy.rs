//! `db copy`: moves a deployment to another database, and verifies the result against the log.
//!
//! The store copies (`audit_store::DatabaseCopy`). Here the target is verified like any database that is not trusted
//! (`verify.rs`), after the source: the content hash of every event is computed from its text as read back, and the tree is rebuilt. Sizes and
//! roots must be those of the source, and the last checkpoints must be signed by the source's key.

use crate::error::{AppError, SecretFailure};
use crate::log::key_in;
use crate::secrets::ServiceSecret;
use crate::verify::{Finding, LedgerReport, VerifyOptions, first_finding, verify_deployment, verify_log};
use audit_domain::{Clock, Entropy};
use audit_ledger::{Frontier, Hash};
use audit_secrets::KeyRing;
use audit_store::{CopyOptions, DatabaseCopy, DatabaseUrl, FinalCopy, FoundCopy, SourceLedger, StoreError};
use std::collections::{BTreeMap, BTreeSet};

/// What to copy.
#[derive(Clone, Debug)]
pub struct CopyRequest {
    /// The source.
    pub from: DatabaseUrl,
    /// The target.
    pub to: DatabaseUrl,
    /// The encryption keys of the source, which the target needs too.
    pub encryption: KeyRing,
    /// Whether the copy ends. Otherwise a server may run on the source, and only events are copied.
    pub finish: bool,
}

/// A step of a copy that reports its progress in events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyStep {
    /// Events are copied.
    Events,
    /// The target is read back and verified.
    Verification,
}

/// How a copy ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyOutcome {
    /// The events up to now are copied; the source is still the deployment.
    Begun {
        /// Events in the target.
        events: u64,
    },
    /// The target is the deployment now.
    Moved {
        /// Rows other than events.
        rows: u64,
        /// The verified ledgers.
        ledgers: Vec<LedgerReport>,
    },
    /// An earlier call completed the copy.
    Complete,
}

/// The error of a copy.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A database failed, or the copy was refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The target cannot be verified.
    #[error("cannot verify the copy: {0}")]
    Verification(#[source] AppError),
    /// The log's key cannot be decrypted.
    #[error("cannot read the key of the log: {0}")]
    Key(#[source] AppError),
    /// The source has not the log that it signed: the copy would not show that.
    #[error("the source is inconsistent: {ledger}: {finding}; see `audit-server log verify`")]
    SourceInconsistent {
        /// Project and environment.
        ledger: String,
        /// The first finding that names an event, or else the first.
        finding: Box<Finding>,
    },
    /// The target is inconsistent.
    #[error("the copy is inconsistent: {ledger}: {finding}")]
    Inconsistent {
        /// Project and environment.
        ledger: String,
        /// The first finding that names an event, or else the first.
        finding: Box<Finding>,
    },
    /// The target has other events than the source.
    #[error("the copy is not the log of the source: {ledger} has {copied}, and the source has {source_head}")]
    Differs {
        /// Project and environment.
        ledger: String,
        /// Size and root in the target.
        copied: String,
        /// Size and root in the source.
        source_head: String,
    },
}

/// The result of a copy.
type Result<T, E = CopyError> = std::result::Result<T, E>;

/// Copies a database, or continues a copy. Calls `progress` with a step, the number of events that it has done, and their total.
///
/// # Errors
/// [`CopyError`]. The copy is continued by the next call, and until then the target is not served.
pub fn copy_database(
    request: &CopyRequest,
    clock: &dyn Clock,
    entropy: &dyn Entropy,
    progress: &mut dyn FnMut(CopyStep, u64, u64),
) -> Result<CopyOutcome> {
    let mut copy_id = [0; 16];
    entropy.fill(&mut copy_id);
    let cursor_key = ServiceSecret::CursorKey;
    // Sealed or not, it identifies the deployment.
    let open_cursor_key = |stored: &[u8]| {
        let place = cursor_key.place();
        let opened = request.encryption.open(stored, &place);
        let opened = opened.map_err(|error| SecretFailure { place, error }.to_string());
        opened.map(|secret| secret.to_vec())
    };
    let options = CopyOptions {
        from: &request.from,
        to: &request.to,
        identifying_secret: (cursor_key.name(), &open_cursor_key),
        copy_id,
    };
    let mut copy = match DatabaseCopy::open(&options, clock.now())? {
        FoundCopy::Unfinished(copy) => copy,
        FoundCopy::Complete => return Ok(CopyOutcome::Complete),
    };
    // Before the events: a missing encryption key must not be noticed at the end.
    let keys = &request.encryption;
    key_in(|name| copy.source_secret(name), keys).map_err(CopyError::Key)?;
    if request.finish {
        verify_source(request, progress)?;
    }
    let mut copy_progress = |done, total| progress(CopyStep::Events, done, total);
    if !request.finish {
        let events = copy.copy_events(&mut copy_progress)?;
        return Ok(CopyOutcome::Begun { events });
    }
    let mut copy = copy.lock_source()?;
    copy.copy_events(&mut copy_progress)?;
    let rows = copy.copy_tables()?;
    let ledgers = verify(&mut copy, keys, progress)?;
    copy.complete(clock.now())?;
    Ok(CopyOutcome::Moved { rows, ledgers })
}

/// Verifies the source. The copy leaves out planted events and computes the tiles again, so a verification of the target misses these findings.
fn verify_source(request: &CopyRequest, progress: &mut dyn FnMut(CopyStep, u64, u64)) -> Result<()> {
    let mut progress = |done, total| progress(CopyStep::Verification, done, total);
    let options = VerifyOptions {
        encryption: request.encryption.clone(),
        ..VerifyOptions::default()
    };
    let reports = verify_deployment(&request.from, &options, &mut progress);
    let reports = reports.map_err(CopyError::Verification)?;
    match first_finding(&reports) {
        None => Ok(()),
        Some((report, finding)) => Err(CopyError::SourceInconsistent {
            ledger: report.name(),
            finding: Box::new(finding.clone()),
        }),
    }
}

/// Verifies the target, and compares it with the source.
fn verify(
    copy: &mut FinalCopy,
    keys: &KeyRing,
    progress: &mut dyn FnMut(CopyStep, u64, u64),
) -> Result<Vec<LedgerReport>> {
    let mut progress = |done, total| progress(CopyStep::Verification, done, total);
    let options = VerifyOptions {
        encryption: keys.clone(),
        ..VerifyOptions::default()
    };
    let reports = copy.read_target(|reader| verify_log(reader, &options, &mut progress));
    let reports = reports.map_err(CopyError::Verification)?;
    if let Some((report, finding)) = first_finding(&reports) {
        return Err(CopyError::Inconsistent {
            ledger: report.name(),
            finding: Box::new(finding.clone()),
        });
    }
    let copied = reports
        .iter()
        .map(|report| (report.name(), Head::of_report(report)));
    let source = copy.source_ledgers()?;
    let source = source
        .iter()
        .map(|ledger| (ledger.name(), Head::of_source(ledger)));
    compare(&copied.collect(), &source.collect())?;
    Ok(reports)
}

/// What the log of a ledger is compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    events: u64,
    /// `None` where it cannot be read.
    root: Option<Hash>,
}

impl Head {
    fn of_report(report: &LedgerReport) -> Self {
        Self {
            events: report.events,
            root: report.root,
        }
    }

    fn of_source(ledger: &SourceLedger) -> Self {
        let frontier = match ledger.frontier.as_deref() {
            Some(bytes) => Frontier::decode(bytes).ok(),
            None => Some(Frontier::new()),
        };
        let events = ledger.size.max(0).unsigned_abs();
        let frontier = frontier.filter(|frontier| frontier.size() == events);
        Self {
            events,
            root: frontier.map(|frontier| frontier.root()),
        }
    }
}

/// Compares the heads of all ledgers, by name.
fn compare(copied: &BTreeMap<String, Head>, source: &BTreeMap<String, Head>) -> Result<()> {
    let names: BTreeSet<&String> = copied.keys().chain(source.keys()).collect();
    let text = |head: Option<&Head>| match head {
        None => "no such ledger".to_owned(),
        Some(Head { events, root }) => match root {
            Some(root) => format!("{events} events with the root {root}"),
            None => format!("{events} events and no root"),
        },
    };
    for name in names {
        let (copied, source) = (copied.get(name), source.get(name));
        if copied != source {
            return Err(CopyError::Differs {
                ledger: name.clone(),
                copied: text(copied),
                source_head: text(source),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heads(heads: &[(&str, u64, Hash)]) -> BTreeMap<String, Head> {
        let head = |(name, events, root): &(&str, u64, Hash)| {
            let root = Some(*root);
            (
                (*name).to_owned(),
                Head {
                    events: *events,
                    root,
                },
            )
        };
        heads.iter().map(head).collect()
    }

    #[test]
    fn a_ledger_that_is_missing_or_has_another_head_is_named() {
        let (one, two) = (Hash::of_leaf(b"1"), Hash::of_leaf(b"2"));
        let source = heads(&[("a/live", 1, one), ("a/test", 2, two)]);
        assert!(compare(&source.clone(), &source).is_ok());
        for (copied, named) in [
            (heads(&[("a/live", 1, one)]), "a/test"),
            (heads(&[("a/live", 1, two), ("a/test", 2, two)]), "a/live"),
            (heads(&[("a/live", 1, one), ("a/test", 3, two)]), "a/test"),
            (
                heads(&[("a/live", 1, one), ("a/test", 2, two), ("b/live", 0, one)]),
                "b/live",
            ),
        ] {
            let error = compare(&copied, &source).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
