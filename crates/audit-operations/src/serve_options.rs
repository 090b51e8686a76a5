//! The options of `audit-server serve`. `doctor` takes them too, and `demo` those of HTTP.

use crate::anchor_options::AnchorOptions;
use crate::backup::schedule::ScheduleOptions;
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
pub struct HttpOptions {
    /// Address and port to listen on, or `unix:PATH` for a Unix socket; port 0 picks a free port.
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "AUDIT_LISTEN",
        default_value = "127.0.0.1:8080"
    )]
    pub listen: ListenAddress,
    /// File with the server's certificate and those of the authorities above it (PEM): the server speaks HTTPS.
    #[arg(
        long,
        value_name = "FILE",
        env = "AUDIT_TLS_CERTIFICATE",
        requires = "tls_key"
    )]
    pub tls_certificate: Option<PathBuf>,
    /// File with the private key of the certificate (PEM, not encrypted).
    #[arg(
        long,
        value_name = "FILE",
        env = "AUDIT_TLS_KEY",
        requires = "tls_certificate"
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
    /// Networks of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted, such as `10.0.0.0/8`, and `unix` for every client
    /// of a Unix socket; none by default.
    #[arg(long, value_name = "LIST", env = "AUDIT_TRUSTED_PROXIES", value_delimiter = ',', value_parser = proxy)]
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
    /// How long the server goes on after SIGTERM before it stops to accept connections: /readyz is 503, and every response closes its
    /// connection. As long as a load balancer needs to notice.
    #[arg(long, value_name = "N", env = "AUDIT_DRAIN_SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    pub drain_seconds: u64,
    /// Serve the start page, the portal, the console and the viewer component: on or off.
    #[arg(long, value_name = "STATE", env = "AUDIT_PAGES", default_value = "on", action = clap::ArgAction::Set, value_parser = on_or_off)]
    pub pages: bool,
    /// URL at which clients reach the server, such as `https://audit.example.com`, for links to the portal. By default the scheme
    /// that a trusted proxy reports, otherwise that of --listen, and the host of the request: behind a proxy, set it.
    #[arg(long, value_name = "URL", env = "AUDIT_PUBLIC_URL")]
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

/// The options of the command.
#[derive(Debug, Args)]
pub struct ServeOptions {
    #[command(flatten)]
    pub logging: LogOptions,
    #[command(flatten)]
    pub http: HttpOptions,
    #[command(flatten)]
    pub webhooks: WebhookOptions,
    #[command(flatten)]
    pub policy: PolicyOptions,
    #[command(flatten)]
    pub signing: SigningProgramOptions,
    #[command(flatten)]
    pub signing_before: ProgramBeforeOptions,
    #[command(flatten)]
    pub database: DatabaseOptions,
    #[command(flatten)]
    pub service: ServiceOptions,
    #[command(flatten)]
    pub self_audit: SelfAuditOptions,
    #[command(flatten)]
    pub anchors: AnchorOptions,
    #[command(flatten)]
    pub backups: ScheduleOptions,
    #[command(flatten)]
    pub metrics: MetricsOptions,
    #[command(flatten)]
    pub otlp: OtlpOptions,
    /// How long a log takes events while it cannot be signed. After that, the response is 503.
    #[arg(long, value_name = "N", env = "AUDIT_UNSIGNED_SECONDS_MAX", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub unsigned_seconds_max: u64,
}

/// A network, a single address, or `unix`.
fn proxy(text: &str) -> Result<Proxy, String> {
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
