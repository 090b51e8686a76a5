//! The command line of `audit-server log`.

use crate::options::{DatabaseOptions, Output};
use crate::signing_program::{ProgramBeforeOptions, SigningProgramOptions};
use audit_domain::{Bound, Environment, ProjectId, Timestamp};
use audit_verifier::audit::AuditOptions;
use audit_verifier::compare::CompareOptions;
use audit_verifier::stream::StreamOptions;
use audit_verifier::{Age, PolicyOptions};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Verify the stored events against the log, in the database.
    ///
    /// Exit code 0: every event is as it was appended. 1: the log is inconsistent; the first such event is named. 2: the
    /// check could not be completed.
    Verify(VerifyOptions),
    /// Audit a running server from outside: save what it signed, and check that it never contradicts itself.
    ///
    /// Exit code 0: the log is consistent. 1: the log is inconsistent. 2: the check could not be completed.
    Audit(AuditOptions),
    /// Compare the state files of two auditors of one log: has the server shown them two histories?
    ///
    /// Exit code 0: one continues the other. 1: they contradict each other. 2: the check could not be completed.
    Compare(CompareOptions),
    /// Verify the records of a destination, as a receiver has kept them: nothing is missing, nothing was changed.
    ///
    /// Exit code 0: the file is complete up to its last checkpoint. 1: it is not. 2: the check could not be completed.
    Stream(StreamOptions),
    /// Write a report for auditors: policies, removals, erasures and holds of a log, after its events were verified.
    ///
    /// Exit code 0: the log is consistent. 1: the log is inconsistent. 2: the check could not be completed.
    Report(ReportOptions),
    /// Write a zip archive of the events received in a range of time, with proofs that anyone can verify offline (`check`).
    Export(ExportOptions),
    /// Print the public key that verifies the checkpoints of the log, for auditors.
    Key(KeyOptions),
    /// Replace the signing key by a new one, which the present one names as its successor.
    ///
    /// From their next start servers sign with both keys, until `--retire`. Auditors, receipts and archives follow the statements
    /// of the keys. With --log-key-command the new key is that of the command; a present key that is not in the database signs with
    /// --log-key-command-before. Start the servers with the same options.
    RotateKey(RotateKeyOptions),
    /// Write the heads of logs again that the service did not write, after their events were verified.
    ///
    /// Exit code 0: there is none left. 1: a head cannot be repaired, because its events contradict the last checkpoint or are
    /// not signed. 2: the check could not be completed.
    Repair(RepairOptions),
    /// Rename the log after the database was restored from a backup.
    ///
    /// Events stored after the backup are lost, but their checkpoints have been published. Under the old name, new
    /// checkpoints would contradict the published ones, so the service does not sign them. Under a new name it signs again
    /// from the next start on, and auditors start over with an empty state. Stop every server of the database first.
    NewName(NewNameOptions),
}

/// The options that read the signing key of the log.
#[derive(Debug, Args)]
pub struct LogKeyOptions {
    #[command(flatten)]
    pub database: DatabaseOptions,
}

/// The options of the command.
#[derive(Debug, Args)]
pub struct VerifyOptions {
    /// Verify only the logs of this project.
    #[arg(long, value_name = "UUID")]
    pub project: Option<ProjectId>,
    #[command(flatten)]
    pub signed: SignedOptions,
    /// Verify the index as well, as `index verify` does: whether queries find every event under its own values and words.
    #[arg(long, conflicts_with = "project")]
    pub index: bool,
    /// Anchors from a place that the operator cannot change, as directories or files: the logs must continue each of them.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub anchors: Vec<PathBuf>,
    /// Root certificates (PEM) of the authority that stamped the anchors.
    #[arg(long, value_name = "FILE", requires = "anchors")]
    pub timestamp_ca: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub log_key: LogKeyOptions,
}

/// What must be signed, and by which key.
#[derive(Debug, Args)]
pub struct SignedOptions {
    /// Key that must have signed the last checkpoints, as printed by `log key`; the one in the database by default.
    #[arg(long, value_name = "KEY")]
    pub verifier_key: Option<String>,
    /// Age at which an event must be signed, such as 90s or 5m.
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub max_unsigned: Age,
}

/// The options of the command.
#[derive(Debug, Args)]
pub struct ReportOptions {
    /// Project of the log.
    #[arg(long, value_name = "UUID")]
    pub project: ProjectId,
    /// live or test.
    #[arg(long, default_value = "live")]
    pub environment: Environment,
    /// File to create with the report as a document to print, instead of JSON on standard output. It must not exist yet.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub signed: SignedOptions,
    #[command(flatten)]
    pub log_key: LogKeyOptions,
}

/// The options of the command.
#[derive(Debug, Args)]
pub struct ExportOptions {
    /// Project of the events.
    #[arg(long, value_name = "UUID")]
    pub project: ProjectId,
    /// live or test.
    #[arg(long, default_value = "live")]
    pub environment: Environment,
    /// Start of the range, such as 2026-01-15T00:00:00Z, or a date alone: its first instant in UTC.
    #[arg(long, value_name = "TIME", value_parser = |text: &str| Timestamp::parse_bound(text, Bound::Start))]
    pub from: Timestamp,
    /// End of the range, included; a date alone is its last instant in UTC. An event belongs to the time at which the log received it.
    #[arg(long, value_name = "TIME", value_parser = |text: &str| Timestamp::parse_bound(text, Bound::End))]
    pub to: Timestamp,
    /// Zip file to create. It must not exist yet.
    pub file: PathBuf,
    #[command(flatten)]
    pub policy: PolicyOptions,
    #[command(flatten)]
    pub log_key: LogKeyOptions,
}

/// The options of the command.
#[derive(Debug, Args)]
pub struct RepairOptions {
    /// Repair only the logs of this project.
    #[arg(long, value_name = "UUID")]
    pub project: Option<ProjectId>,
    /// Accept events that no checkpoint covers: compare them with another source first.
    #[arg(long)]
    pub accept_unsigned: bool,
    #[command(flatten)]
    pub log_key: LogKeyOptions,
}

/// The options of the command.
#[derive(Debug, Args)]
pub struct RotateKeyOptions {
    /// Finish the last rotation: from their next start servers sign with the new key only.
    #[arg(long)]
    pub retire: bool,
    #[command(flatten)]
    pub signing: SigningProgramOptions,
    #[command(flatten)]
    pub signing_before: ProgramBeforeOptions,
    #[command(flatten)]
    pub log_key: LogKeyOptions,
}

/// The options of the command.
#[derive(Debug, Args)]
pub struct KeyOptions {
    /// Print the statements of all rotations of the key instead, for `check --rotations`.
    #[arg(long)]
    pub rotations: bool,
    #[command(flatten)]
    pub log_key: LogKeyOptions,
}

/// The options of the command.
#[derive(Debug, Args)]
pub struct NewNameOptions {
    #[command(flatten)]
    pub log_key: LogKeyOptions,
}
