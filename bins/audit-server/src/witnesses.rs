//! The policy of witnesses (C2SP `tlog-policy`), and the HTTP client that asks them.

use crate::small_file;
use anyhow::Context;
use audit_app::{WitnessClient, WitnessReply, Witnesses};
use audit_ledger::{NOTE_BYTES_MAX, Policy};
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// One request, from the connection to the end of the response.
const REQUEST_SECONDS_MAX: u64 = 5;

/// The option that names a policy.
#[derive(Debug, Args)]
pub(crate) struct PolicyOptions {
    /// File with witnesses and a quorum (C2SP tlog-policy).
    #[arg(long, value_name = "FILE", env = "AUDIT_POLICY")]
    policy: Option<PathBuf>,
}

impl PolicyOptions {
    /// Whether a policy is given.
    pub(crate) const fn is_given(&self) -> bool {
        self.policy.is_some()
    }

    /// The policy of the file.
    pub(crate) fn read(&self) -> anyhow::Result<Option<Policy>> {
        let Some(path) = &self.policy else {
            return Ok(None);
        };
        let shown = path.display();
        let text = small_file::read_text(path).with_context(|| format!("--policy: cannot read {shown}"))?;
        let policy = text.parse::<Policy>();
        Ok(Some(policy.with_context(|| format!("--policy: {shown}"))?))
    }

    /// The witnesses that a server asks.
    pub(crate) fn witnesses(&self) -> anyhow::Result<Option<Arc<Witnesses>>> {
        let Some(policy) = self.read()? else {
            return Ok(None);
        };
        let witnesses = Witnesses::new(policy, Box::new(HttpWitnesses::new()));
        Ok(Some(Arc::new(witnesses.context("--policy")?)))
    }
}

/// Asks witnesses over HTTP.
struct HttpWitnesses {
    agent: ureq::Agent,
}

impl HttpWitnesses {
    fn new() -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(REQUEST_SECONDS_MAX)))
            .max_redirects(0)
            .user_agent(concat!("audit-server/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: agent.into() }
    }
}

impl WitnessClient for HttpWitnesses {
    fn add_checkpoint(&self, url: &str, body: &str) -> Result<WitnessReply, String> {
        let url = format!("{}/add-checkpoint", url.trim_end_matches('/'));
        let response = self.agent.post(url).content_type("text/plain").send(body);
        let mut response = response.map_err(|error| error.to_string())?;
        let read = response
            .body_mut()
            .with_config()
            .limit(NOTE_BYTES_MAX as u64)
            .read_to_string();
        Ok(WitnessReply {
            status: response.status().as_u16(),
            body: read.map_err(|error| error.to_string())?,
        })
    }
}
