//! The command line. Every option that configures has an environment variable; arguments of a single command have none.
//!
//! docs/configuration.md documents all of it. `documentation.rs` compares the two.

use crate::backup::schedule::ScheduleOptions;
use crate::backup::{BackupOptions, RestoreOptions};
use crate::cells::CellsCommand;
use crate::copy::CopyOptions;
use crate::doctor::DoctorOptions;
use crate::health::HealthOptions;
use crate::index::IndexCommand;
use crate::key_sources::{EncryptionOptions, HashKeyOptions};
use crate::keys::{KeyCommand, MasterKeyCommand};
use crate::ledger::LogCommand;
use crate::logging::LogFormat;
use crate::manual::{CompletionsOptions, ManOptions};
use crate::otlp::OtlpOptions;
use crate::schema::SchemaOptions;
use crate::secrets::SecretsCommand;
use crate::serve::anchors::AnchorOptions;
use crate::signing_program::{ProgramBeforeOptions, SigningProgramOptions};
use audit_domain::{Environment, Name, OrganizationId, Plan, ProjectId};
use audit_http::PublicUrl;
use audit_transport::listener::ListenAddress;
use audit_verifier::PolicyOptions;
use audit_verifier::check::CheckOptions;
use audit_witness::WitnessOptions;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// A verifiable audit log service in one binary.
#[derive(Debug, Parser)]
#[command(name = "audit-server", version = env!("AUDIT_SERVER_VERSION"), about, max_term_width = 110)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the service. The first start on an empty database creates an organization and prints its keys once.
    Serve(Box<ServeOptions>),
    /// Load real events into a temporary database, run three queries, then serve it.
    Demo(DemoOptions),
    /// Import events from a file of JSON lines, into the database or over HTTP.
    Import(Box<ImportOptions>),
    /// Manage organizations and their plans.
    #[command(subcommand)]
    Org(OrganizationCommand),
    /// Manage projects.
    #[command(subcommand)]
    Project(ProjectCommand),
    /// Manage project keys.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Manage master keys.
    #[command(subcommand)]
    MasterKey(MasterKeyCommand),
    /// Manage the secret that signs viewer tokens.
    #[command(subcommand)]
    ViewerSecret(ViewerSecretCommand),
    /// Manage the encryption of the secrets in the database.
    #[command(subcommand)]
    Secrets(SecretsCommand),
    /// Verify, audit and export the verifiable log.
    #[command(subcommand)]
    Log(LogCommand),
    /// Verify the index.
    #[command(subcommand)]
    Index(IndexCommand),
    /// Manage the database.
    #[command(subcommand)]
    Db(DatabaseCommand),
    /// Write a verified backup of an SQLite database to a new file, while a server runs.
    ///
    /// Exit code 0: the backup is complete. 1: it could not be written, or the log is inconsistent; its copy then has another name.
    Backup(BackupOptions),
    /// Restore a backup to a new SQLite database, and say what that means for the log.
    Restore(RestoreOptions),
    /// Verify a receipt, a proof, an evidence archive or an anchor, offline.
    ///
    /// Exit code 0: every event is in the signed log. 1: the file does not prove it. 2: the check could not be completed.
    Check(CheckOptions),
    /// Check a deployment and say what to do: permissions, disks, keys, database, clock, TLS, backups. Changes nothing.
    ///
    /// Takes the options and variables of serve. Exit code 0: nothing has to be done. 1: something has. 2: a check could not be
    /// completed.
    Doctor(Box<DoctorOptions>),
    /// Run a witness: it cosigns the checkpoints of logs that only grow, without seeing their events.
    Witness(WitnessCommand),
    /// Ask a running server whether it serves. Exit code 0: its status is 2xx. 1: it is not, or there is no response within 2 s.
    Health(HealthOptions),
    /// Print every route of the HTTP interface.
    Routes,
    /// Print the completions of a shell.
    Completions(CompletionsOptions),
    /// Print the manual page of the program, or write those of all commands.
    Man(ManOptions),
}

#[derive(Debug, Subcommand)]
pub(crate) enum DatabaseCommand {
    /// Say which migrations a start of this version would apply, and how long they take. Changes nothing, and runs beside servers.
    ///
    /// Exit code 0: none. 1: a later version has changed the database, and this one does not start on it. 2: the check could
    /// not be completed. 3: there are some.
    Check(SchemaOptions),
    /// Manage cells: schemas of this database or of others, among which projects are divided. They need PostgreSQL.
    #[command(subcommand)]
    Cells(CellsCommand),
    /// Copy a deployment from SQLite to an empty PostgreSQL database: events, proofs, keys, secrets, rules, webhooks, streams.
    ///
    /// Without --finish, the events up to now are copied, and a server may run on the source. With --finish, the rest is copied
    /// while no process has the source open, the target is read back and verified, and the source is marked as moved. Run the
    /// same command again after an interruption: it continues.
    Copy(CopyOptions),
}

/// Kept as text: an error of the command-line parser would repeat a mistyped URL with its password.
#[derive(Clone, Debug, Args)]
pub(crate) struct DatabaseOptions {
    /// Database: sqlite:PATH or postgres://USER@HOST/DATABASE.
    #[arg(
        long,
        value_name = "URL",
        env = "AUDIT_DATABASE_URL",
        default_value = "sqlite:audit-data/audit.db",
        hide_env_values = true
    )]
    pub(crate) database_url: String,
    /// Directory of the files that must not be in the database; by default the one of an SQLite database, or audit-data.
    #[arg(long, value_name = "PATH", env = "AUDIT_STATE_DIR")]
    pub(crate) state_directory: Option<PathBuf>,
    /// File of the key that authenticates the heads of the logs, the same on every node; by default it is in the
    /// database, encrypted with the encryption key, or without one in the state directory.
    #[arg(long, value_name = "PATH", env = "AUDIT_HEAD_KEY_FILE")]
    pub(crate) head_key_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) encryption: EncryptionOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ServiceOptions {
    #[command(flatten)]
    pub(crate) hash_keys: HashKeyOptions,
    /// Live events that a project on the free plan may store per UTC day; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_DAILY_LIMIT_FREE",
        default_value_t = 1_000
    )]
    pub(crate) daily_limit_free: u64,
    /// Live events that a project on the pro plan may store per UTC day; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_DAILY_LIMIT_PRO",
        default_value_t = 1_000_000
    )]
    pub(crate) daily_limit_pro: u64,
    /// Live events that a project on the enterprise plan may store per UTC day; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_DAILY_LIMIT_ENTERPRISE",
        default_value_t = 0
    )]
    pub(crate) daily_limit_enterprise: u64,
    /// Requests to anonymous streams per client address and minute; 0 for no limit.
    #[arg(long, value_name = "N", env = "AUDIT_STREAM_REQUESTS_PER_MINUTE", default_value_t = 30, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(crate) stream_requests_per_minute: u32,
    /// New anonymous streams per client address and UTC day; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_STREAM_NEW_PER_DAY",
        default_value_t = 10
    )]
    pub(crate) stream_new_per_day: u64,
    /// Events per anonymous stream and UTC day; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_STREAM_EVENTS_PER_DAY",
        default_value_t = 100
    )]
    pub(crate) stream_events_per_day: u64,
    /// Events per anonymous stream in total; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_STREAM_EVENTS_TOTAL",
        default_value_t = 500
    )]
    pub(crate) stream_events_total: u64,
    /// Requests in the write queue. When it is full, the response is 503.
    #[arg(long, value_name = "N", env = "AUDIT_WRITE_QUEUE_JOBS_MAX", default_value_t = 12_288, value_parser = positive)]
    pub(crate) write_queue_jobs_max: usize,
    /// MiB of events in the write queue.
    #[arg(long, value_name = "N", env = "AUDIT_WRITE_QUEUE_MIB_MAX", default_value_t = 18, value_parser = positive)]
    pub(crate) write_queue_mib_max: usize,
    /// How long a request waits for its commit. After that, the response is 503.
    #[arg(long, value_name = "N", env = "AUDIT_WRITE_TIMEOUT_SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) write_timeout_seconds: u64,
    /// Calendar months in which an idempotency key is known, the month of the repeat included; 0 for as long as the event is kept.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_IDEMPOTENCY_WINDOW_MONTHS",
        default_value_t = 3
    )]
    pub(crate) idempotency_window_months: u16,
    /// Database connections for queries.
    #[arg(long, value_name = "N", env = "AUDIT_READERS_MAX", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) readers_max: u32,
    /// Store the addresses from which keys send events, for `key trace`: on or off.
    #[arg(long, value_name = "STATE", env = "AUDIT_SENDER_ADDRESSES", default_value = "on", value_parser = on_or_off, action = clap::ArgAction::Set)]
    pub(crate) sender_addresses: bool,
    /// URL of a standby of the database, for queries. PostgreSQL only.
    #[arg(long, value_name = "URL", env = "AUDIT_REPLICA_URL", hide_env_values = true)]
    pub(crate) replica_url: Option<String>,
    /// Database connections for writing, on PostgreSQL.
    #[arg(long, value_name = "N", env = "AUDIT_POSTGRES_WRITERS", default_value_t = 2, value_parser = positive)]
    pub(crate) postgres_writers: usize,
    /// Groups into which projects are divided on PostgreSQL, each with an index of its own. Fixed when the first project is
    /// created; 16 if not given.
    #[arg(long, value_name = "N", env = "AUDIT_POSTGRES_GROUPS", value_parser = clap::value_parser!(u16).range(1..=1_024))]
    pub(crate) postgres_groups: Option<u16>,
}

#[derive(Debug, Default, Args)]
pub(crate) struct WebhookOptions {
    /// Allow webhooks to loopback, private and other special addresses.
    #[arg(long, value_name = "BOOL", env = "AUDIT_WEBHOOK_ALLOW_PRIVATE", default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(crate) webhook_allow_private: bool,
    /// CA certificates (PEM) that are trusted for webhook receivers, in addition to the public ones.
    #[arg(long, value_name = "PATH", env = "AUDIT_WEBHOOK_CA_FILE")]
    pub(crate) webhook_ca_file: Option<PathBuf>,
}

/// Options of the HTTP interface.
#[derive(Debug, Args)]
pub(crate) struct HttpOptions {
    /// Address and port to listen on, or `unix:PATH` for a Unix socket; port 0 picks a free port.
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "AUDIT_LISTEN",
        default_value = "127.0.0.1:8080"
    )]
    pub(crate) listen: ListenAddress,
    /// File with the server's certificate and those of the authorities above it (PEM): the server speaks HTTPS.
    #[arg(
        long,
        value_name = "FILE",
        env = "AUDIT_TLS_CERTIFICATE",
        requires = "tls_key"
    )]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// File with the private key of the certificate (PEM, not encrypted).
    #[arg(
        long,
        value_name = "FILE",
        env = "AUDIT_TLS_KEY",
        requires = "tls_certificate"
    )]
    pub(crate) tls_key: Option<PathBuf>,
    /// Another address, or `unix:PATH`, for /metrics, /healthz and /readyz over plain HTTP. --listen then has no /metrics.
    #[arg(long, value_name = "ADDRESS", env = "AUDIT_METRICS_LISTEN")]
    pub(crate) metrics_listen: Option<ListenAddress>,
    /// Anonymous streams: on, or off, which removes their routes.
    #[arg(long, value_name = "STATE", env = "AUDIT_STREAMS", default_value = "on", action = clap::ArgAction::Set, value_parser = on_or_off)]
    pub(crate) streams: bool,
    /// Origins whose web pages may read events with a viewer token, such as `https://app.example.com`; all by default.
    #[arg(long, value_name = "LIST", env = "AUDIT_CORS_ORIGINS", value_delimiter = ',')]
    pub(crate) cors_origins: Vec<String>,
    /// Networks of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted, such as `10.0.0.0/8`, and `unix` for every client
    /// of a Unix socket; none by default.
    #[arg(long, value_name = "LIST", env = "AUDIT_TRUSTED_PROXIES", value_delimiter = ',', value_parser = proxy)]
    pub(crate) trusted_proxies: Vec<Proxy>,
    /// Sustained requests per second of one credential, on each node; 0 for no limit.
    #[arg(long, value_name = "N", env = "AUDIT_RATE_LIMIT_PER_SECOND", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) rate_limit_per_second: u32,
    /// Requests of one credential in a burst; the value of --rate-limit-per-second by default.
    #[arg(long, value_name = "N", env = "AUDIT_RATE_LIMIT_BURST", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) rate_limit_burst: Option<u32>,
    /// Threads that serve requests; one per processor by default.
    #[arg(long, value_name = "N", env = "AUDIT_HTTP_WORKERS", value_parser = positive)]
    pub(crate) http_workers: Option<usize>,
    /// How long the server goes on after SIGTERM before it stops to accept connections: /readyz is 503, and every response closes its
    /// connection. As long as a load balancer needs to notice.
    #[arg(long, value_name = "N", env = "AUDIT_DRAIN_SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    pub(crate) drain_seconds: u64,
    /// Serve the start page, the portal, the console and the viewer component: on or off.
    #[arg(long, value_name = "STATE", env = "AUDIT_PAGES", default_value = "on", action = clap::ArgAction::Set, value_parser = on_or_off)]
    pub(crate) pages: bool,
    /// URL at which clients reach the server, such as `https://audit.example.com`, for links to the portal. By default the scheme
    /// that a trusted proxy reports, otherwise that of --listen, and the host of the request: behind a proxy, set it.
    #[arg(long, value_name = "URL", env = "AUDIT_PUBLIC_URL")]
    pub(crate) public_url: Option<PublicUrl>,
    /// Origins whose pages may show the portal in a frame, such as `https://app.example.com`; none by default.
    #[arg(
        long,
        value_name = "LIST",
        env = "AUDIT_PORTAL_FRAME_ANCESTORS",
        value_delimiter = ','
    )]
    pub(crate) portal_frame_ancestors: Vec<String>,
}

/// Proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proxy {
    /// Those of a network.
    Network(ipnet::IpNet),
    /// Every client of a Unix socket.
    Unix,
}

/// Options of the log.
#[derive(Debug, Args)]
pub(crate) struct LogOptions {
    /// Form of the log on standard error: text, or json for one JSON object per line.
    #[arg(long, value_name = "FORMAT", env = "AUDIT_LOG_FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,
}

#[derive(Debug, Args)]
pub(crate) struct WitnessCommand {
    #[command(flatten)]
    pub(crate) logging: LogOptions,
    #[command(flatten)]
    pub(crate) options: WitnessOptions,
}

/// Options of the metrics.
#[derive(Debug, Args)]
pub(crate) struct MetricsOptions {
    /// Projects with metrics of their own: the busiest ones. 0 for none.
    #[arg(long, value_name = "N", env = "AUDIT_PROJECT_METRICS", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=100))]
    pub(crate) project_metrics: u16,
}

#[derive(Debug, Args)]
pub(crate) struct SelfAuditOptions {
    /// Whether changes of keys, rules, webhooks and the like are events in the logs of their projects: on or off. The first
    /// command on a new database decides, and each start of a server.
    #[arg(long, value_name = "STATE", env = "AUDIT_SELF_AUDIT", default_value = "on", value_parser = on_or_off, action = clap::ArgAction::Set)]
    pub(crate) self_audit: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    #[command(flatten)]
    pub(crate) logging: LogOptions,
    #[command(flatten)]
    pub(crate) http: HttpOptions,
    #[command(flatten)]
    pub(crate) webhooks: WebhookOptions,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    #[command(flatten)]
    pub(crate) signing: SigningProgramOptions,
    #[command(flatten)]
    pub(crate) signing_before: ProgramBeforeOptions,
    #[command(flatten)]
    pub(crate) database: DatabaseOptions,
    #[command(flatten)]
    pub(crate) service: ServiceOptions,
    #[command(flatten)]
    pub(crate) self_audit: SelfAuditOptions,
    #[command(flatten)]
    pub(crate) anchors: AnchorOptions,
    #[command(flatten)]
    pub(crate) backups: ScheduleOptions,
    #[command(flatten)]
    pub(crate) metrics: MetricsOptions,
    #[command(flatten)]
    pub(crate) otlp: OtlpOptions,
    /// How long a log takes events while it cannot be signed. After that, the response is 503.
    #[arg(long, value_name = "N", env = "AUDIT_UNSIGNED_SECONDS_MAX", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub(crate) unsigned_seconds_max: u64,
}

impl Command {
    /// The form of the log. Only servers have an option for it.
    pub(crate) fn log_format(&self) -> LogFormat {
        match self {
            Self::Serve(options) => options.logging.log_format,
            Self::Witness(command) => command.logging.log_format,
            _ => LogFormat::Text,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DemoOptions {
    #[command(flatten)]
    pub(crate) http: HttpOptions,
    /// Exit after the queries.
    #[arg(long)]
    pub(crate) queries_only: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// File with one event per line.
    pub(crate) file: PathBuf,
    /// Project that stores the events, directly in the database; takes precedence over --url.
    #[arg(
        long,
        value_name = "UUID",
        env = "AUDIT_PROJECT",
        required_unless_present = "url"
    )]
    pub(crate) project: Option<ProjectId>,
    /// live or test.
    #[arg(long, default_value = "live")]
    pub(crate) environment: Environment,
    /// URL of a running server, such as `http://127.0.0.1:8080`; needs --key.
    #[arg(long, env = "AUDIT_URL", requires = "key")]
    pub(crate) url: Option<String>,
    /// Project or master key of that server.
    #[arg(long, env = "AUDIT_KEY", hide_env_values = true)]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) database: DatabaseOptions,
    #[command(flatten)]
    pub(crate) service: ServiceOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OrganizationCommand {
    /// Create an organization with a project, a master key and a project key, and print the keys once.
    Create {
        /// Name of 1 to 100 characters.
        #[arg(long)]
        name: Name,
        /// free, pro or enterprise.
        #[arg(long, default_value = "enterprise")]
        plan: Plan,
        #[command(flatten)]
        self_audit: SelfAuditOptions,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// Change the plan of an organization, from the next request on.
    SetPlan {
        /// Organization.
        organization_id: OrganizationId,
        /// free, pro or enterprise.
        plan: Plan,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// List organizations and their projects.
    List {
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// Create a project.
    Create {
        /// Organization of the project.
        #[arg(long, value_name = "UUID")]
        organization: OrganizationId,
        /// Name of 1 to 100 characters.
        #[arg(long)]
        name: Name,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ViewerSecretCommand {
    /// Sign viewer tokens with a new secret. Tokens signed with the old one stay valid until they expire.
    Rotate {
        #[command(flatten)]
        database: DatabaseOptions,
    },
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

fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("must be on or off".to_owned()),
    }
}

pub(crate) fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("must be a whole number from 1".to_owned()),
    }
}
