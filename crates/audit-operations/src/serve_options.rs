//! The options of `audit-server serve`. `doctor` takes them too, and `demo` those of HTTP.

use crate::MAIN_HEADING;
use crate::anchor_options::AnchorOptions;
use crate::backup::schedule::ScheduleOptions;
use crate::key_sources::HashKeyOptions;
use crate::options::{
    DatabaseOptions, SelfAuditOptions, ServiceOptions, WebhookOptions, on_or_off, positive,
};
use crate::otlp_options::OtlpOptions;
use crate::signing_program::{ProgramBeforeOptions, SigningProgramOptions};
use audit_cli::logging::LogOptions;
use audit_http::PublicUrl;
use audit_transport::listener::ListenAddress;
use audit_verifier::PolicyOptions;
use clap::Args;
use std::path::PathBuf;

/// Options of the HTTP interface.
#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP")]
pub struct HttpOptions {
    /// Address and port to listen on, or `unix:PATH` for a Unix socket.
    ///
    /// Port 0 picks a free port.
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "AUDIT_LISTEN",
        default_value = "127.0.0.1:8080",
        help_heading = MAIN_HEADING
    )]
    pub listen: ListenAddress,
    /// File with the certificate of the server (PEM), which then speaks HTTPS.
    ///
    /// The certificates of the authorities above it follow it in the file.
    #[arg(
        long,
        value_name = "FILE",
        env = "AUDIT_TLS_CERTIFICATE",
        requires = "tls_key",
        help_heading = MAIN_HEADING
    )]
    pub tls_certificate: Option<PathBuf>,
    /// File with the private key of the certificate (PEM, not encrypted).
    #[arg(
        long,
        value_name = "FILE",
        env = "AUDIT_TLS_KEY",
        requires = "tls_certificate",
        help_heading = MAIN_HEADING
    )]
    pub tls_key: Option<PathBuf>,
    /// Another address, or `unix:PATH`, for /metrics, /healthz and /readyz over plain HTTP. --listen then has no /metrics.
    #[arg(long, value_name = "ADDRESS", env = "AUDIT_METRICS_LISTEN")]
    pub metrics_listen: Option<ListenAddress>,
    /// Anonymous streams: on, or off, which removes their routes.
    #[arg(long, value_name = "STATE", env = "AUDIT_STREAMS", default_value = "on", action = clap::ArgAction::Set, value_parser = on_or_off)]
    pub streams: bool,
    /// Origins whose web pages may read events with a viewer token, such as `https://app.example.com`; all by default.
    #[arg(long, value_name = "LIST", env = "AUDIT_CORS_ORIGINS", value_delimiter = ',')]
    pub cors_origins: Vec<String>,
    /// Networks of trusted proxies, such as `10.0.0.0/8`; none by default.
    ///
    /// Their X-Forwarded-For and X-Forwarded-Proto are trusted. `unix` stands for every client of a Unix socket.
    #[arg(long, value_name = "LIST", env = "AUDIT_TRUSTED_PROXIES", help_heading = MAIN_HEADING, value_delimiter = ',', value_parser = proxy)]
    pub trusted_proxies: Vec<Proxy>,
    /// Sustained requests per second of one credential, on each node; 0 for no limit.
    #[arg(long, value_name = "N", env = "AUDIT_RATE_LIMIT_PER_SECOND", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub rate_limit_per_second: u32,
    /// Requests of one credential in a burst; the value of --rate-limit-per-second by default.
    #[arg(long, value_name = "N", env = "AUDIT_RATE_LIMIT_BURST", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rate_limit_burst: Option<u32>,
    /// Threads that serve requests; one per processor by default.
    #[arg(long, value_name = "N", env = "AUDIT_HTTP_WORKERS", value_parser = positive)]
    pub http_workers: Option<usize>,
    /// How long the server goes on after SIGTERM before it stops to accept connections.
    ///
    /// Meanwhile /readyz is 503, and every response closes its connection. Give it as long as a load balancer needs to notice.
    #[arg(long, value_name = "N", env = "AUDIT_DRAIN_SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    pub drain_seconds: u64,
    /// Serve the start page, the portal, the console and the viewer component: on or off.
    #[arg(long, value_name = "STATE", env = "AUDIT_PAGES", default_value = "on", action = clap::ArgAction::Set, value_parser = on_or_off)]
    pub pages: bool,
    /// URL at which clients reach the server, such as `https://audit.example.com`.
    ///
    /// Links to the portal and to alerts in the console begin with it. By default alerts have no link, and links to the portal have the
    /// scheme that a trusted proxy reports, otherwise that of --listen, and the host of the request: behind a proxy, set it.
    #[arg(long, value_name = "URL", env = "AUDIT_PUBLIC_URL", help_heading = MAIN_HEADING)]
    pub public_url: Option<PublicUrl>,
    /// Origins whose pages may show the portal in a frame, such as `https://app.example.com`; none by default.
    #[arg(
        long,
        value_name = "LIST",
        env = "AUDIT_PORTAL_FRAME_ANCESTORS",
        value_delimiter = ','
    )]
    pub portal_frame_ancestors: Vec<String>,
}

impl HttpOptions {
    /// The URL at which people reach the pages, if it is known and there are pages.
    pub fn pages_url(&self) -> Option<String> {
        let url = self.public_url.as_ref().filter(|_| self.pages);
        url.map(ToString::to_string)
    }
}

/// Proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// Those of a network.
    Network(ipnet::IpNet),
    /// Every client of a Unix socket.
    Unix,
}

/// Options of the metrics.
#[derive(Debug, Args)]
pub struct MetricsOptions {
    /// Projects with metrics of their own: the busiest ones. 0 for none.
    #[arg(long, value_name = "N", env = "AUDIT_PROJECT_METRICS", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=100))]
    pub project_metrics: u16,
}

/// The options of the command. `--help` has the headings in this order; a heading applies up to the next one.
#[derive(Debug, Args)]
pub struct ServeOptions {
    #[command(flatten)]
    pub database: DatabaseOptions,
    #[command(flatten)]
    pub hash_keys: HashKeyOptions,
    #[command(flatten)]
    pub http: HttpOptions,
    #[command(flatten, next_help_heading = "Webhooks")]
    pub webhooks: WebhookOptions,
    #[command(flatten, next_help_heading = "The log")]
    pub signing: SigningProgramOptions,
    #[command(flatten)]
    pub signing_before: ProgramBeforeOptions,
    /// How long a log takes events while it cannot be signed. After that, the response is 503.
    #[arg(long, value_name = "N", env = "AUDIT_UNSIGNED_SECONDS_MAX", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub unsigned_seconds_max: u64,
    /// How long a plan of retention or of an erasure waits before it is carried out, such as 24h or 7d: from 1h to 30d.
    ///
    /// Until then it can be cancelled, and a hold cancels it.
    #[arg(long, value_name = "TIME", env = "AUDIT_REMOVAL_GRACE", default_value = "24h", value_parser = removal_grace)]
    pub removal_grace: i64,
    /// Remove and erase no events on this node, whatever policies and plans say. Requests for erasures are refused.
    #[arg(long, value_name = "BOOL", env = "AUDIT_NO_REMOVALS", default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub no_removals: bool,
    #[command(flatten)]
    pub self_audit: SelfAuditOptions,
    #[command(flatten, next_help_heading = "Witnesses and anchors")]
    pub policy: PolicyOptions,
    #[command(flatten)]
    pub anchors: AnchorOptions,
    #[command(flatten, next_help_heading = "Backups")]
    pub backups: ScheduleOptions,
    #[command(flatten)]
    pub service: ServiceOptions,
    #[command(flatten, next_help_heading = "Observability")]
    pub logging: LogOptions,
    #[command(flatten)]
    pub metrics: MetricsOptions,
    #[command(flatten)]
    pub otlp: OtlpOptions,
}

/// Seconds of a number of hours or days.
fn removal_grace(text: &str) -> Result<i64, String> {
    let (number, factor) = match text.split_at_checked(text.len().saturating_sub(1)) {
        Some((number, "h")) => (number, 3_600),
        Some((number, "d")) => (number, 86_400),
        _ => ("", 0),
    };
    let seconds = number
        .parse()
        .ok()
        .and_then(|number: u16| i64::from(number).checked_mul(factor));
    seconds
        .filter(|seconds| (3_600..=30 * 86_400).contains(seconds))
        .ok_or_else(|| "must be from 1h to 30d, such as 24h or 7d".to_owned())
}

/// A network, a single address, or `unix`.
pub(crate) fn proxy(text: &str) -> Result<Proxy, String> {
    let text = text.trim();
    if text == "unix" {
        return Ok(Proxy::Unix);
    }
    let single = || text.parse::<std::net::IpAddr>().map(ipnet::IpNet::from);
    text.parse()
        .or_else(|_| single())
        .map(Proxy::Network)
        .map_err(|_| "must be a network such as 10.0.0.0/8, an address, or unix".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grace_is_from_an_hour_to_thirty_days() {
        for (text, seconds) in [
            ("1h", 3_600),
            ("24h", 86_400),
            ("720h", 2_592_000),
            ("30d", 2_592_000),
        ] {
            assert_eq!(removal_grace(text), Ok(seconds), "{text}");
        }
        for text in ["", "h", "0h", "721h", "31d", "60m", "1", "-1h", "1 h", "1.5h"] {
            assert!(removal_grace(text).is_err(), "{text}");
        }
    }
}
