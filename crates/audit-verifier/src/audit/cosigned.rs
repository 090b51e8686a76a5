//! The checkpoint that an auditor with a policy audits: the latest one that a quorum of witnesses has cosigned.
//!
//! The latest checkpoint of a log that grows is often not cosigned yet. The server serves the last one that is, and the auditor
//! checks that the latest one continues it.

use super::server::{Fetched, LogServer};
use super::{AuditResult, Failure, consistency_proof};
use anyhow::anyhow;
use audit_ledger::{ConsistencyProof, Origin, Policy, SignedCheckpoint, VerifierKey};

/// The checkpoint to audit; `None` if none has a quorum.
pub(super) fn with_quorum(server: &LogServer, policy: &Policy, latest: &str) -> AuditResult<Option<String>> {
    let has_quorum = |note: &str| policy.is_quorum(&policy.cosigners(note));
    if has_quorum(latest) {
        return Ok(Some(latest.to_owned()));
    }
    match server.text_of("log/checkpoint", &[("cosigned", "true".to_owned())])? {
        Fetched::Found(note) if has_quorum(&note) => Ok(Some(note)),
        Fetched::Found(note) => {
            let cosigners: Vec<&str> = policy.cosigners(&note).into_iter().collect();
            Err(Failure::Inconclusive(anyhow!(
                "the last cosigned checkpoint of the server has no quorum of this policy: it is cosigned by {}",
                match cosigners.is_empty() {
                    true => "no witness of the policy".to_owned(),
                    false => cosigners.join(", "),
                }
            )))
        }
        Fetched::Refused(_) => Ok(None),
    }
}

/// Checks that the latest checkpoint and the audited one, which has a quorum, are of one history.
pub(super) fn check_latest(
    server: &LogServer,
    key: &VerifierKey,
    audited: &SignedCheckpoint,
    latest: &str,
) -> AuditResult<()> {
    let inconsistent = |error: anyhow::Error| {
        Failure::Inconsistent(format!(
            "the latest checkpoint does not continue the one with a quorum of witnesses: {error:#}"
        ))
    };
    let origin: &Origin = audited.checkpoint().origin();
    let latest = SignedCheckpoint::open(latest, origin, std::slice::from_ref(key))
        .map_err(|error| inconsistent(error.into()))?;
    // The log may have gone on between the two requests.
    let (from, to) = match audited.head().size <= latest.head().size {
        true => (*audited.head(), *latest.head()),
        false => (*latest.head(), *audited.head()),
    };
    let proof = match from.size == 0 || from.size == to.size {
        true => ConsistencyProof::from_hashes(Vec::new()),
        false => consistency_proof(server, from.size, to.size)?,
    };
    from.check_successor(&to, &proof)
        .map_err(|error| inconsistent(error.into()))
}
