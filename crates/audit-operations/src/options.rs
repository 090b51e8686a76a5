//! The options that several commands share. Every option that configures has an environment variable; arguments of a single command have
//! none.
//!
//! docs/reference/options.md is made from these definitions, by `documentation.rs` of the program.

use crate::MAIN_HEADING;
use crate::key_sources::EncryptionOptions;
use clap::Args;
use std::path::PathBuf;

/// Kept as text: an error of the command-line parser would repeat a mistyped URL with its password.
#[derive(Clone, Debug, Args)]
pub struct DatabaseOptions {
    /// Database: sqlite:PATH or postgres://USER@HOST/DATABASE.
    #[arg(
        long,
        value_name = "URL",
        env = "AUDIT_DATABASE_URL",
        default_value = "sqlite:audit-data/audit.db",
        hide_env_values = true,
        help_heading = MAIN_HEADING
    )]
    pub database_url: String,
    /// Directory of the files that must not be in the database.
    ///
    /// By default the directory of an SQLite database, or audit-data.
    #[arg(long, value_name = "PATH", env = "AUDIT_STATE_DIR", help_heading = MAIN_HEADING)]
    pub state_directory: Option<PathBuf>,
    /// File of the key that authenticates the heads of the logs, the same on every node.
    ///
    /// By default the key is in the database, encrypted with the encryption key, or without one in the state directory.
    #[arg(long, value_name = "PATH", env = "AUDIT_HEAD_KEY_FILE", help_heading = "Keys")]
    pub head_key_file: Option<PathBuf>,
    #[command(flatten)]
    pub encryption: EncryptionOptions,
}

/// The options of the command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct ServiceOptions {
    /// Live events that a project on the free plan may store per UTC day; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_DAILY_LIMIT_FREE",
        default_value_t = 1_000
    )]
    pub daily_limit_free: u64,
    /// Live events that a project on the pro plan may store per UTC day; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_DAILY_LIMIT_PRO",
        default_value_t = 1_000_000
    )]
    pub daily_limit_pro: u64,
    /// Live events that a project on the enterprise plan may store per UTC day; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_DAILY_LIMIT_ENTERPRISE",
        default_value_t = 0
    )]
    pub daily_limit_enterprise: u64,
    /// Requests to anonymous streams per client address and minute; 0 for no limit.
    #[arg(long, value_name = "N", env = "AUDIT_STREAM_REQUESTS_PER_MINUTE", default_value_t = 30, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub stream_requests_per_minute: u32,
    /// New anonymous streams per client address and UTC day; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_STREAM_NEW_PER_DAY",
        default_value_t = 10
    )]
    pub stream_new_per_day: u64,
    /// Events per anonymous stream and UTC day; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_STREAM_EVENTS_PER_DAY",
        default_value_t = 100
    )]
    pub stream_events_per_day: u64,
    /// Events per anonymous stream in total; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_STREAM_EVENTS_TOTAL",
        default_value_t = 500
    )]
    pub stream_events_total: u64,
    /// Requests in the write queue. When it is full, the response is 503.
    #[arg(long, value_name = "N", env = "AUDIT_WRITE_QUEUE_JOBS_MAX", default_value_t = 12_288, value_parser = positive)]
    pub write_queue_jobs_max: usize,
    /// MiB of events in the write queue.
    #[arg(long, value_name = "N", env = "AUDIT_WRITE_QUEUE_MIB_MAX", default_value_t = 18, value_parser = positive)]
    pub write_queue_mib_max: usize,
    /// How long a request waits for its commit. After that, the response is 503.
    #[arg(long, value_name = "N", env = "AUDIT_WRITE_TIMEOUT_SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub write_timeout_seconds: u64,
    /// Calendar months in which an idempotency key is known, the month of the repeat included; 0 for as long as the event is kept.
    ///
    /// Give all nodes the same value. Months are those of UTC.
    #[arg(
        long,
        value_name = "N",
        env = "AUDIT_IDEMPOTENCY_WINDOW_MONTHS",
        default_value_t = 3
    )]
    pub idempotency_window_months: u16,
    /// Database connections for queries.
    ///
    /// A query waits up to 10 s for its turn. Four more connections serve look-ups of credentials and configuration.
    #[arg(long, value_name = "N", env = "AUDIT_READERS_MAX", help_heading = "Database", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub readers_max: u32,
    /// Store the addresses from which keys send events, for `key trace`: on or off.
    #[arg(long, value_name = "STATE", env = "AUDIT_SENDER_ADDRESSES", help_heading = "The log", default_value = "on", value_parser = on_or_off, action = clap::ArgAction::Set)]
    pub sender_addresses: bool,
    /// URL of a standby of the database, for queries. PostgreSQL only.
    #[arg(
        long,
        value_name = "URL",
        env = "AUDIT_REPLICA_URL",
        hide_env_values = true,
        help_heading = "Database"
    )]
    pub replica_url: Option<String>,
    /// Database connections for writing, on PostgreSQL. They write to different ledgers.
    #[arg(long, value_name = "N", env = "AUDIT_POSTGRES_WRITERS", help_heading = "Database", default_value_t = 2, value_parser = positive)]
    pub postgres_writers: usize,
    /// Groups into which projects are divided on PostgreSQL, each with an index of its own.
    ///
    /// Fixed when the first project is created; 16 if not given.
    #[arg(long, value_name = "N", env = "AUDIT_POSTGRES_GROUPS", help_heading = "Database", value_parser = clap::value_parser!(u16).range(1..=1_024))]
    pub postgres_groups: Option<u16>,
}

/// The options of the command.
#[derive(Debug, Default, Args)]
pub struct WebhookOptions {
    /// Allow webhooks and destinations to loopback, private and other special addresses.
    #[arg(long, value_name = "BOOL", env = "AUDIT_WEBHOOK_ALLOW_PRIVATE", default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub webhook_allow_private: bool,
    /// CA certificates (PEM) that are trusted for receivers of webhooks and destinations, in addition to the public ones.
    #[arg(long, value_name = "PATH", env = "AUDIT_WEBHOOK_CA_FILE")]
    pub webhook_ca_file: Option<PathBuf>,
}

/// The options of the command.
#[derive(Debug, Args)]
pub struct SelfAuditOptions {
    /// Whether changes of keys, rules, webhooks and the like are events in the logs of their projects: on or off.
    ///
    /// The first command on a new database decides, and each start of a server.
    #[arg(long, value_name = "STATE", env = "AUDIT_SELF_AUDIT", default_value = "on", value_parser = on_or_off, action = clap::ArgAction::Set)]
    pub self_audit: bool,
}

/// The form of the output.
#[derive(Debug, Args)]
pub struct Output {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `on` or `off`, for clap.
pub(crate) fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("must be on or off".to_owned()),
    }
}

/// A number of at least one, for clap.
pub fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("must be a whole number from 1".to_owned()),
    }
}
