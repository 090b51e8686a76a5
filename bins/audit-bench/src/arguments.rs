//! The command line.

use crate::service::database::DatabaseKind;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Benchmarks the audit log service: starts the server and sends requests from a second process.
#[derive(Debug, Parser)]
#[command(
    name = "audit-bench",
    version,
    about,
    max_term_width = 110,
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The load generator process, started by the benchmark itself.
    #[command(name = crate::generator::SUBCOMMAND, hide = true)]
    Generate,
}

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Smoke test: at most 100,000 events and short measurements, a minute or two. Writes files only with --out.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Measure one database. Default: both; PostgreSQL is skipped if it is not installed.
    #[arg(long, value_enum)]
    pub(crate) database: Option<DatabaseKind>,
    /// Event counts at which queries are measured: ascending multiples of 100, at least 10000, comma-separated. Default:
    /// 10000,100000,1000000.
    #[arg(long, value_delimiter = ',')]
    pub(crate) sizes: Vec<u64>,
    /// Directory for the results (JSON, tables, charts). Default: docs/benchmarks.
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Server binary to measure. Default: built by cargo.
    #[arg(long)]
    pub(crate) server: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) location: Location,
}

/// Where databases are created.
#[derive(Debug, Args)]
pub(crate) struct Location {
    /// Parent directory of the databases; its disk is the one measured. Default: the directory for temporary files.
    #[arg(long)]
    pub(crate) folder: Option<PathBuf>,
    /// PostgreSQL server to create the databases on. Default: a temporary cluster created with initdb.
    #[arg(long)]
    pub(crate) postgres_url: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn by_default_everything_is_measured() {
        let options = Arguments::parse_from(["audit-bench"]).options;
        assert!(!options.quick && options.database.is_none() && options.sizes.is_empty());
        let arguments = ["audit-bench", "--database", "postgres", "--sizes", "10000,50000"];
        let options = Arguments::parse_from(arguments).options;
        assert_eq!(options.database, Some(DatabaseKind::Postgres));
        assert_eq!(options.sizes, [10_000, 50_000]);
        let arguments = Arguments::parse_from(["audit-bench", "generate"]);
        assert!(matches!(arguments.command, Some(Command::Generate)));
    }
}
