//! The HTTP client that asks witnesses.

use anyhow::Context;
use audit_app::{WitnessClient, WitnessReply, Witnesses};
use audit_ledger::NOTE_BYTES_MAX;
use audit_verifier::PolicyOptions;
use std::sync::Arc;
use std::time::Duration;

/// One request, from the connection to the end of the response.
const REQUEST_SECONDS_MAX: u64 = 5;

/// The witnesses of the policy, which a server asks.
pub(crate) fn witnesses(policy: &PolicyOptions) -> anyhow::Result<Option<Arc<Witnesses>>> {
    let Some(policy) = policy.read()? else {
        return Ok(None);
    };
    let witnesses = Witnesses::new(policy, Box::new(HttpWitnesses::new()));
    Ok(Some(Arc::new(witnesses.context("--policy")?)))
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
