//! The commands of the program. The options of each are beside what runs it.

use crate::manual::{CompletionsOptions, ManOptions};
use audit_cli::logging::LogFormat;
use audit_operations::administration::{OrganizationCommand, ProjectCommand, ViewerSecretCommand};
#[cfg(feature = "archive")]
use audit_operations::archive::ArchiveCommand;
use audit_operations::backup::{BackupOptions, RestoreOptions};
use audit_operations::cells::CellsCommand;
use audit_operations::copy::CopyOptions;
use audit_operations::doctor::DoctorOptions;
use audit_operations::health::HealthOptions;
use audit_operations::import::ImportOptions;
use audit_operations::index::IndexCommand;
use audit_operations::init::InitOptions;
use audit_operations::keys::{KeyCommand, MasterKeyCommand};
use audit_operations::ledger::LogCommand;
use audit_operations::schema::SchemaOptions;
use audit_operations::secrets::SecretsCommand;
use audit_operations::serve_options::{HttpOptions, ServeOptions};
use audit_operations::shrink::ShrinkOptions;
use audit_verifier::check::CheckOptions;
use audit_witness::WitnessOptions;
use clap::{Args, Parser, Subcommand};

/// A verifiable audit log service in one binary.
#[derive(Debug, Parser)]
#[command(name = "audit-server", version = env!("AUDIT_SERVER_VERSION"), about, max_term_width = 110)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Ask five questions, and write the environment and the keys of a server for production.
    ///
    /// Every question has an option. Without a terminal, what no option gives has its default. No existing file is overwritten.
    Init(InitOptions),
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
    /// Write events to an archive of Parquet files, and verify it.
    #[cfg(feature = "archive")]
    #[command(subcommand)]
    Archive(ArchiveCommand),
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
    /// Takes the options and variables of serve: run it with the environment of the server. Exit code 0: nothing has to be done.
    /// 1: something has. 2: a check could not be completed.
    Doctor(Box<DoctorOptions>),
    /// Run a witness: it cosigns the checkpoints of logs that only grow, without seeing their events.
    Witness(WitnessOptions),
    /// Ask a running server whether it serves.
    ///
    /// Exit code 0: its status is 2xx. 1: it is not, or there is no response within 2 s.
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
    /// Give the space of removed events back to the system: SQLite while no server runs, PostgreSQL beside servers.
    ///
    /// A server does so by itself after each removal, where it is worth the work. On PostgreSQL, months that have lost few events are left
    /// as they are.
    Shrink(ShrinkOptions),
    /// Copy a deployment from SQLite to an empty PostgreSQL database: events, proofs, keys, secrets, rules, webhooks, streams.
    ///
    /// Without --finish, the events up to now are copied, and a server may run on the source. With --finish, the rest is copied
    /// while no process has the source open, the target is read back and verified, and the source is marked as moved. Run the
    /// same command again after an interruption: it continues.
    Copy(CopyOptions),
}

impl Command {
    /// The form of the log. Only servers have an option for it.
    pub(crate) fn log_format(&self) -> LogFormat {
        match self {
            Self::Serve(options) => options.logging.log_format,
            Self::Witness(options) => options.log_format(),
            _ => LogFormat::Text,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DemoOptions {
    /// Exit after the queries.
    #[arg(long)]
    pub(crate) queries_only: bool,
    #[command(flatten)]
    pub(crate) http: HttpOptions,
}
