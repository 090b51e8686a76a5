//! What an auditor runs, and nothing that the service needs: no database, no web framework, no OpenSSL.
//!
//! - [`audit`] follows the log of a running server from outside: it saves what the server signed, reads every event, and finds out when
//!   the log contradicts its signature, an earlier checkpoint or its own events.
//! - [`compare`] tells whether two auditors were shown one history.
//! - [`check`] verifies receipts, proofs, evidence archives, anchors and proofs of completeness offline.
//! - `archive` verifies archives, with the feature of that name.
//! - [`stream`] verifies what the receiver of a destination has kept.
//!
//! `audit-verify` is the program; `audit-server` has the same commands. docs/ledger.md has the formats and what each of them proves.

mod age;
pub mod anchor_files;
#[cfg(feature = "archive")]
pub mod archive;
pub mod audit;
pub mod check;
pub mod compare;
pub mod evidence;
mod policy;
pub mod stream;
mod tenant_proof;

pub use age::Age;
pub use policy::PolicyOptions;

use anyhow::Context;
use audit_ledger::VerifierKey;

/// Exit code: the log is inconsistent.
pub const EXIT_INCONSISTENT: u8 = 1;
/// Exit code: the check could not be completed.
pub const EXIT_INCONCLUSIVE: u8 = 2;

/// The key of `--verifier-key`.
///
/// # Errors
/// When the text is no key.
pub fn read_key(text: Option<&str>) -> anyhow::Result<Option<VerifierKey>> {
    text.map(str::parse).transpose().context("--verifier-key")
}
