//! The command line. Every flag that configures has an environment variable; those that say what to do have none.

use crate::ledger::LogCommand;
use audit_domain::{Environment, Name, OrganizationId, Plan, ProjectId};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// A verifiable audit log service in one binary.
#[derive(Debug, Parser)]
#[command(name = "audit-server", version, about, max_term_width = 110)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the service. On an empty database it makes an organization and prints its keys once.
    Serve(ServeOptions),
    /// Show the main job on real events: a temporary database, three queries, then a running server.
    Demo(DemoOptions),
    /// Load events from a file, one JSON object a line, into the database or over HTTP.
    Import(ImportOptions),
    /// Organizations.
    #[command(subcommand)]
    Org(OrganizationCommand),
    /// Projects.
    #[command(subcommand)]
    Project(ProjectCommand),
    /// Project keys.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Master keys.
    #[command(subcommand)]
    MasterKey(MasterKeyCommand),
    /// The secret that signs viewer tokens.
    #[command(subcommand)]
    ViewerSecret(ViewerSecretCommand),
    /// The verifiable log.
    #[command(subcommand)]
    Log(LogCommand),
    /// Print every route of the HTTP interface.
    Routes,
}

/// Read by hand, because the parser of the command line would repeat a mistyped URL with the password in it.
#[derive(Debug, Args)]
pub(crate) struct DatabaseOptions {
    /// Where the database is: sqlite:PATH or postgres://USER@HOST/DATABASE.
    #[arg(
        long,
        env = "AUDIT_DATABASE_URL",
        default_value = "sqlite:audit-data/audit.db",
        hide_env_values = true
    )]
    pub(crate) database_url: String,
}

#[derive(Debug, Args)]
pub(crate) struct ServiceOptions {
    /// Keys the hashes that redaction writes, so that short secrets cannot be guessed from them.
    #[arg(long, env = "AUDIT_HASH_KEY", hide_env_values = true, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) hash_key: Option<String>,
    /// Live events a project may store on a UTC day on the free plan; 0 for no limit.
    #[arg(long, env = "AUDIT_DAILY_LIMIT_FREE", default_value_t = 1_000)]
    pub(crate) daily_limit_free: u64,
    /// The same on the pro plan.
    #[arg(long, env = "AUDIT_DAILY_LIMIT_PRO", default_value_t = 1_000_000)]
    pub(crate) daily_limit_pro: u64,
    /// The same on the enterprise plan.
    #[arg(long, env = "AUDIT_DAILY_LIMIT_ENTERPRISE", default_value_t = 0)]
    pub(crate) daily_limit_enterprise: u64,
    /// Requests to anonymous streams that one address may make in any minute; 0 for no limit.
    #[arg(long, env = "AUDIT_STREAM_REQUESTS_PER_MINUTE", default_value_t = 30, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(crate) stream_requests_per_minute: u32,
    /// Anonymous streams that one address may begin on a UTC day; 0 for no limit.
    #[arg(long, env = "AUDIT_STREAM_NEW_PER_DAY", default_value_t = 10)]
    pub(crate) stream_new_per_day: u64,
    /// Events that an anonymous stream takes on a UTC day; 0 for no limit.
    #[arg(long, env = "AUDIT_STREAM_EVENTS_PER_DAY", default_value_t = 100)]
    pub(crate) stream_events_per_day: u64,
    /// Events that an anonymous stream takes in all; 0 for no limit.
    #[arg(long, env = "AUDIT_STREAM_EVENTS_TOTAL", default_value_t = 500)]
    pub(crate) stream_events_total: u64,
    /// Requests that may wait to be written; beyond that the answer is 503.
    #[arg(long, env = "AUDIT_WRITE_QUEUE_JOBS_MAX", default_value_t = 8_192, value_parser = positive)]
    pub(crate) write_queue_jobs_max: usize,
    /// MiB of events that may wait to be written.
    #[arg(long, env = "AUDIT_WRITE_QUEUE_MIB_MAX", default_value_t = 12, value_parser = positive)]
    pub(crate) write_queue_mib_max: usize,
    /// Connections for reading.
    #[arg(long, env = "AUDIT_READERS_MAX", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) readers_max: u32,
    /// Connections for writing on PostgreSQL.
    #[arg(long, env = "AUDIT_POSTGRES_WRITERS", default_value_t = 2, value_parser = positive)]
    pub(crate) postgres_writers: usize,
}

#[derive(Debug, Default, Args)]
pub(crate) struct WebhookOptions {
    /// Let webhooks lead to loopback, private and other special addresses.
    #[arg(long, env = "AUDIT_WEBHOOK_ALLOW_PRIVATE", default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(crate) webhook_allow_private: bool,
    /// Certificates (PEM) of authorities that webhook receivers may be certified by, beside the public ones.
    #[arg(long, env = "AUDIT_WEBHOOK_CA_FILE")]
    pub(crate) webhook_ca_file: Option<PathBuf>,
    /// Encrypts the secrets of webhooks in the database: 32 random bytes in base64 or hexadecimal.
    #[arg(long, env = "AUDIT_ENCRYPTION_KEY", hide_env_values = true, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) encryption_key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HttpOptions {
    /// The address to listen on; port 0 picks a free one.
    #[arg(long, env = "AUDIT_LISTEN", default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,
    /// Origins whose pages may read events with a viewer token, such as `https://app.example.com`; all when not given.
    #[arg(long, env = "AUDIT_CORS_ORIGINS", value_delimiter = ',')]
    pub(crate) cors_origins: Vec<String>,
    /// Networks of proxies whose X-Forwarded-For is believed, such as `10.0.0.0/8`; none when not given.
    #[arg(long, env = "AUDIT_TRUSTED_PROXIES", value_delimiter = ',', value_parser = network)]
    pub(crate) trusted_proxies: Vec<ipnet::IpNet>,
    /// Requests a second that one credential may make in the long run, on each node; 0 for no limit.
    #[arg(long, env = "AUDIT_RATE_LIMIT_PER_SECOND", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) rate_limit_per_second: u32,
    /// Requests that one credential may make at once after a pause; as many as in a second when not given.
    #[arg(long, env = "AUDIT_RATE_LIMIT_BURST", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) rate_limit_burst: Option<u32>,
    /// Threads that serve requests; one for each processor when not given.
    #[arg(long, env = "AUDIT_HTTP_WORKERS", value_parser = positive)]
    pub(crate) http_workers: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    #[command(flatten)]
    pub(crate) http: HttpOptions,
    #[command(flatten)]
    pub(crate) webhooks: WebhookOptions,
    #[command(flatten)]
    pub(crate) database: DatabaseOptions,
    #[command(flatten)]
    pub(crate) service: ServiceOptions,
}

#[derive(Debug, Args)]
pub(crate) struct DemoOptions {
    #[command(flatten)]
    pub(crate) http: HttpOptions,
    /// End after the queries instead of running the server.
    #[arg(long)]
    pub(crate) queries_only: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// The file; one event a line.
    pub(crate) file: PathBuf,
    /// The project whose events these are; written straight into the database, whatever --url says.
    #[arg(long, env = "AUDIT_PROJECT", required_unless_present = "url")]
    pub(crate) project: Option<ProjectId>,
    /// live or test.
    #[arg(long, default_value = "live")]
    pub(crate) environment: Environment,
    /// A running server, such as `http://127.0.0.1:8080`; needs --key.
    #[arg(long, env = "AUDIT_URL", requires = "key")]
    pub(crate) url: Option<String>,
    /// A project or master key of that server.
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
    /// Make an organization with a project, a master key and a project key, and print them once.
    Create {
        #[arg(long)]
        name: Name,
        /// free, pro or enterprise.
        #[arg(long, default_value = "enterprise")]
        plan: Plan,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
    /// Change an organization's plan, from the next request on.
    SetPlan {
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
    /// Make a project.
    Create {
        #[arg(long)]
        organization: OrganizationId,
        #[arg(long)]
        name: Name,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a project key and print it once.
    Create {
        #[arg(long)]
        project: ProjectId,
        #[arg(long)]
        name: Name,
        /// live or test.
        #[arg(long, default_value = "live")]
        environment: Environment,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum MasterKeyCommand {
    /// Make another master key of an organization and print it once.
    Create {
        #[arg(long)]
        organization: OrganizationId,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        database: DatabaseOptions,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ViewerSecretCommand {
    /// Sign viewer tokens with a new secret; the old one verifies until its last token has expired.
    Rotate {
        #[command(flatten)]
        database: DatabaseOptions,
    },
}

/// A network, or a single address.
fn network(text: &str) -> Result<ipnet::IpNet, String> {
    let text = text.trim();
    let single = || text.parse::<std::net::IpAddr>().map(ipnet::IpNet::from);
    text.parse()
        .or_else(|_| single())
        .map_err(|_| "must be a network such as 10.0.0.0/8, or an address".to_owned())
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("must be a whole number from 1".to_owned()),
    }
}
