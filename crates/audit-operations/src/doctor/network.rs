//! TLS, witnesses and anchors, and the running server.

use super::{Finding, Severity, Subject, finding};
use audit_cli::client::Client;
use audit_transport::listener::ListenAddress;
use audit_transport::tls;
use serde_json::Value;
use std::net::IpAddr;

/// The counts in the body of `/readyz` that must be 0, and the section that says what to do.
const COUNTS: [(&str, &str, &str); 3] = [
    (
        "logs_inconsistent",
        "logs contradict their last checkpoint",
        "docs/ledger.md#a-log-that-does-not-continue-its-checkpoint",
    ),
    (
        "logs_forged",
        "logs take no events: their heads were not written by the service",
        "docs/ledger.md#a-head-that-the-service-did-not-write",
    ),
    (
        "logs_without_quorum",
        "logs have no quorum of witnesses",
        "docs/ledger.md#a-server-that-asks-witnesses",
    ),
];

pub(super) fn tls(subject: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    let http = &subject.options.http;
    let Some((certificate, key)) = http.tls_certificate.as_deref().zip(http.tls_key.as_deref()) else {
        return Ok(of_plain(&http.listen).into_iter().collect());
    };
    Ok(match tls::examine(certificate, key, subject.now.as_seconds()) {
        Ok(None) => Vec::new(),
        Ok(Some(warning)) => vec![finding(
            Severity::Error,
            warning,
            "renew the certificate and replace both files; the server reads them again by itself",
        )],
        Err(error) => vec![finding(
            Severity::Error,
            format!("{error:#}"),
            "replace both files by a pair that belongs together (docs/configuration.md#tls-of-the-server)",
        )],
    })
}

/// A server that speaks plain HTTP to a network.
fn of_plain(listen: &ListenAddress) -> Option<Finding> {
    let ListenAddress::Tcp(address) = listen else {
        return None;
    };
    let host = address
        .rsplit_once(':')
        .map_or(address.as_str(), |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    (!is_loopback).then(|| {
        finding(
            Severity::Warning,
            format!(
                "the server speaks plain HTTP on {address}: keys and events cross the network unencrypted"
            ),
            "set AUDIT_TLS_CERTIFICATE and AUDIT_TLS_KEY, or listen on loopback behind a proxy with TLS",
        )
    })
}

/// Links to the portal carry a token, so they must not begin with `http://`. Links to alerts need the URL.
pub(super) fn portal_links(subject: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    let http = &subject.options.http;
    let has_https = http.tls_certificate.is_some() || !http.pages;
    let found = (http.public_url.is_none() && !has_https).then(|| {
        let (severity, problem) = match http.trusted_proxies.is_empty() {
            true => (
                Severity::Warning,
                "links to the portal begin with http://: the server has no TLS and trusts no proxy",
            ),
            false => (
                Severity::Note,
                "links to the portal have the scheme in the X-Forwarded-Proto of the proxy, and the Host of the request",
            ),
        };
        let action = "set AUDIT_PUBLIC_URL to the URL at which clients reach the server, such as https://audit.example.com";
        finding(severity, problem, action)
    });
    let of_url = http
        .public_url
        .as_ref()
        .filter(|url| url.is_plain() && http.pages);
    let of_url = of_url.map(|url| {
        finding(
            Severity::Warning,
            format!("links to the portal begin with {url}: their tokens cross the network unencrypted"),
            "set AUDIT_PUBLIC_URL to a URL that begins with https://",
        )
    });
    let of_alerts = (http.pages && http.public_url.is_none()).then(|| {
        finding(
            Severity::Note,
            "alerts and messages about them have no link to the console",
            "set AUDIT_PUBLIC_URL to the URL at which people reach the console",
        )
    });
    Ok(found.into_iter().chain(of_url).chain(of_alerts).collect())
}

pub(super) fn witnesses_and_anchors(subject: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    let options = subject.options;
    // Reads the policy, and fails as the server would.
    let has_witnesses = options.policy.read()?.is_some();
    let places = options.anchors.places(&options.webhooks)?;
    let has_anchors = !places.is_empty();
    let mut findings = Vec::new();
    if !has_witnesses && !has_anchors {
        findings.push(finding(
            Severity::Warning,
            "neither witnesses nor anchors hold the state of the logs outside of this deployment",
            "set AUDIT_POLICY, or a place for anchors (docs/ledger.md#anchors)",
        ));
    }
    if options.webhooks.webhook_allow_private {
        findings.push(finding(
            Severity::Warning,
            "AUDIT_WEBHOOK_ALLOW_PRIVATE is on: master keys can send requests into the network of the server",
            "switch it off, unless all holders of master keys may do that",
        ));
    }
    if options.http.streams {
        findings.push(finding(
            Severity::Note,
            "anonymous streams are on: everybody who reaches the server can store events, within limits",
            "set AUDIT_STREAMS=off, unless they are offered",
        ));
    }
    Ok(findings)
}

pub(super) fn server(subject: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    let Some(url) = subject.url else {
        return Ok(Vec::new());
    };
    let base = url.trim_end_matches('/');
    let url = format!("{base}/readyz");
    let client = Client::default();
    let reply = client.send_once(|agent| agent.get(&url).call());
    Ok(match reply {
        Err(error) => vec![finding(
            Severity::Error,
            format!("{url} does not respond: {error}"),
            "start the server, or look at its log",
        )],
        Ok(reply) => {
            let mut findings = of_readiness(&url, reply.status, &reply.body);
            let metrics = format!("{base}/metrics");
            let metrics = client.send_once(|agent| agent.get(&metrics).call());
            // The API serves them only where they have no listener of their own.
            if let Ok(metrics) = metrics
                && metrics.status == 200
            {
                findings.extend(of_metrics(&String::from_utf8_lossy(&metrics.body)));
            }
            findings
        }
    })
}

/// The removals that wait.
fn of_metrics(text: &str) -> Vec<Finding> {
    let waiting = text.lines().filter_map(|line| {
        let (reason, count) = line
            .strip_prefix("audit_removal_waiting{for=\"")?
            .split_once("\"} ")?;
        (count != "0").then(|| {
            finding(
                Severity::Note,
                format!("removals by retention that wait for {reason}: {count}"),
                "look at what they wait for (docs/lifecycle.md#for-operators)",
            )
        })
    });
    waiting.collect()
}

fn of_readiness(url: &str, status: u16, body: &[u8]) -> Vec<Finding> {
    if status != 200 {
        return vec![finding(
            Severity::Error,
            format!("{url} responds with {status}: the database accepts no writes"),
            "look at the log of the server (docs/databases.md#failover)",
        )];
    }
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let counts = COUNTS.iter().filter_map(|(member, problem, document)| {
        let count = body[member].as_u64().filter(|count| *count > 0)?;
        Some(finding(Severity::Error, format!("{count} {problem}"), *document))
    });
    let mut findings: Vec<Finding> = counts.collect();
    if body["status"] != "ready" {
        findings.push(finding(
            Severity::Error,
            format!("{url} is not that of this service"),
            "give the URL of the server, or of --metrics-listen",
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_to_a_network_is_found() {
        let found = |address: &str| of_plain(&address.parse().unwrap()).is_some();
        for address in ["0.0.0.0:80", "[::]:80", "192.0.2.7:80", "audit.example:80"] {
            assert!(found(address), "{address}");
        }
        for address in ["127.0.0.1:80", "localhost:80", "[::1]:80", "unix:/run/a"] {
            assert!(!found(address), "{address}");
        }
    }

    #[test]
    fn what_a_server_says_of_itself_is_found() {
        let problems = |status, body: &str| -> Vec<String> {
            let findings = of_readiness("u", status, body.as_bytes());
            findings.into_iter().map(|finding| finding.problem).collect()
        };
        assert_eq!(
            problems(200, r#"{"status": "ready", "logs_forged": 0}"#),
            Vec::<String>::new()
        );
        assert!(problems(503, "")[0].contains("503"));
        let body =
            r#"{"status": "ready", "logs_inconsistent": 1, "logs_forged": 2, "logs_without_quorum": 3}"#;
        let found = problems(200, body);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[1].starts_with("2 logs take no events"), "{found:?}");
        assert!(problems(200, "<html>")[0].contains("not that of this service"));
    }

    #[test]
    fn removals_that_wait_are_a_note() {
        let text = "# TYPE audit_removal_waiting gauge\naudit_removal_waiting{for=\"clock\"} 0\n\
                    audit_removal_waiting{for=\"confirmation\"} 2\naudit_removed_events_total 7\n";
        let found: Vec<(Severity, String)> = of_metrics(text)
            .into_iter()
            .map(|finding| (finding.severity, finding.problem))
            .collect();
        let waiting = "removals by retention that wait for confirmation: 2".to_owned();
        assert_eq!(found, [(Severity::Note, waiting)]);
    }
}
