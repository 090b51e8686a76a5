//! `audit-server health`: asks a running server whether it serves, for health checks of containers without another HTTP client.

use anyhow::{Context, bail};
use clap::Args;
use std::process::ExitCode;
use std::time::Duration;
use ureq::http::Uri;

/// From the connection to the end of the response.
const TIMEOUT_SECONDS: u64 = 2;

/// The options of the command.
#[derive(Debug, Args)]
pub struct HealthOptions {
    /// `/healthz` or `/readyz` of the server.
    #[arg(value_name = "URL", default_value = "http://127.0.0.1:8080/healthz")]
    url: Uri,
}

/// Runs the command.
pub fn run(options: &HealthOptions) -> anyhow::Result<ExitCode> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(TIMEOUT_SECONDS)))
        // Of this machine: a proxy in the environment is for other hosts.
        .proxy(None)
        .build()
        .into();
    let url = &options.url;
    let response = agent.get(url).call().with_context(|| format!("GET {url}"))?;
    let status = response.status();
    if !status.is_success() {
        bail!("GET {url}: status {}", status.as_u16());
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_cli::testing::stub;

    fn outcome(response: &'static str) -> Result<(), String> {
        let (address, server) = stub(vec![response]);
        let url = format!("http://{address}/healthz").parse().unwrap();
        let outcome = run(&HealthOptions { url });
        server.join().unwrap();
        outcome.map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_server_is_healthy_if_its_status_is_2xx() {
        assert_eq!(outcome("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), Ok(()));
        let error = outcome("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n").unwrap_err();
        assert!(error.ends_with("/healthz: status 503"), "{error}");
    }
}
