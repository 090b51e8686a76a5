//! The policy of witnesses (C2SP `tlog-policy`).

use anyhow::Context;
use audit_cli::small_file;
use audit_ledger::Policy;
use clap::Args;
use std::path::PathBuf;

/// The option that names a policy.
#[derive(Debug, Args)]
pub struct PolicyOptions {
    /// File with witnesses and a quorum (C2SP tlog-policy).
    #[arg(long, value_name = "FILE", env = "AUDIT_POLICY")]
    policy: Option<PathBuf>,
}

impl PolicyOptions {
    /// Whether a policy is given.
    pub const fn is_given(&self) -> bool {
        self.policy.is_some()
    }

    /// The policy of the file.
    ///
    /// # Errors
    /// When the file cannot be read, or is no policy.
    pub fn read(&self) -> anyhow::Result<Option<Policy>> {
        let Some(path) = &self.policy else {
            return Ok(None);
        };
        let shown = path.display();
        let text = small_file::read_text(path).with_context(|| format!("--policy: cannot read {shown}"))?;
        let policy = text.parse::<Policy>();
        Ok(Some(policy.with_context(|| format!("--policy: {shown}"))?))
    }
}
