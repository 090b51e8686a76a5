//! The command line of `audit-server log`.

use crate::arguments::{DatabaseOptions, Output};
use audit_domain::{Environment, ProjectId, Timestamp};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Verify what is stored against the log, straight from the database: exit code 0 when every event is as it was
    /// appended, 1 when something is wrong (the first event that is wrong is named), 2 when it cannot be told.
    Verify(VerifyOptions),
    /// Audit a running server from outside: keep what it signed, and check that it never contradicts itself. Exit code 0
    /// when it does not, 1 when something is wrong, 2 when it cannot be told.
    Audit(AuditOptions),
    /// Put events with the proofs that they are in the log into a zip file that anybody can check.
    Export(ExportOptions),
    /// Print the key that verifies the log's checkpoints, for auditors to keep.
    Key(KeyOptions),
    /// Give the log a new name, after the database was restored from a backup.
    ///
    /// What was stored after the backup was made is lost, while its checkpoints are out in the world: under the old name
    /// the log would have to contradict them, so it would never be signed again. Under a new name it is signed from the
    /// next start on; its auditors, who are told so, begin anew. Stop every server of the database first.
    NewName(KeyOptions),
}

/// What opens the log's key in the database.
#[derive(Debug, Args)]
pub(crate) struct LogKeyOptions {
    /// The key that `serve` encrypts secrets with, if it does: 32 bytes in base64 or hexadecimal.
    #[arg(long, env = "AUDIT_ENCRYPTION_KEY", hide_env_values = true, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) encryption_key: Option<String>,
    #[command(flatten)]
    pub(crate) database: DatabaseOptions,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    /// The logs of this project only.
    #[arg(long)]
    pub(crate) project: Option<ProjectId>,
    /// The key that the last checkpoints must be signed with, as `log key` prints it; the database's own when not given.
    #[arg(long)]
    pub(crate) verifier_key: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) log_key: LogKeyOptions,
}

#[derive(Debug, Args)]
pub(crate) struct AuditOptions {
    /// The server, such as `https://audit.example.com`.
    #[arg(long, env = "AUDIT_URL")]
    pub(crate) url: String,
    /// A project or master key of that server.
    #[arg(long, env = "AUDIT_KEY", hide_env_values = true)]
    pub(crate) key: String,
    /// Where to keep what was seen, until the next time. Keep it out of reach of whoever runs the server.
    #[arg(long)]
    pub(crate) state: PathBuf,
    /// The key that checkpoints must be signed with, as `log key` prints it; when not given, the one that the server
    /// says the first time.
    #[arg(long)]
    pub(crate) verifier_key: Option<String>,
    /// With a master key: whose log.
    #[arg(long)]
    pub(crate) project: Option<ProjectId>,
    /// With a master key: live or test.
    #[arg(long)]
    pub(crate) environment: Option<Environment>,
    /// Read only the events that are new. An older one that is changed afterwards goes unnoticed then, until the next
    /// time without this.
    #[arg(long)]
    pub(crate) new_only: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportOptions {
    /// Whose events.
    #[arg(long)]
    pub(crate) project: ProjectId,
    /// live or test.
    #[arg(long, default_value = "live")]
    pub(crate) environment: Environment,
    /// The first moment at which they occurred, such as 2026-01-15T00:00:00Z.
    #[arg(long, value_parser = Timestamp::parse_rfc3339)]
    pub(crate) from: Timestamp,
    /// The last moment at which they occurred.
    #[arg(long, value_parser = Timestamp::parse_rfc3339)]
    pub(crate) to: Timestamp,
    /// The file to write; there must be none yet.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) log_key: LogKeyOptions,
}

#[derive(Debug, Args)]
pub(crate) struct KeyOptions {
    #[command(flatten)]
    pub(crate) log_key: LogKeyOptions,
}
