//! The command line.

use crate::service::database::DatabaseKind;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Starts the real server, loads it from a process of its own, and prints what it did.
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
    /// The process that sends requests; started by the benchmark itself.
    #[command(name = crate::generator::SUBCOMMAND, hide = true)]
    Generate,
}

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A short look at everything, up to 100,000 events, in a minute or two. Writes files only with --out.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Measure this database alone. Otherwise both; PostgreSQL is left out where there is none.
    #[arg(long, value_enum)]
    pub(crate) only: Option<DatabaseKind>,
    /// How many events there are when queries are measured: ascending multiples of 100, from 10000 on, with commas. When
    /// not given, 10000,100000,1000000.
    #[arg(long, value_delimiter = ',')]
    pub(crate) sizes: Vec<u64>,
    /// Where the results go (JSON, the printed tables and plots); docs/benchmarks when not given.
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Where the databases are made, and so which disk is measured; the folder for temporary files when not given.
    #[arg(long)]
    pub(crate) folder: Option<PathBuf>,
    /// The server to measure, instead of the one that cargo builds.
    #[arg(long)]
    pub(crate) server: Option<PathBuf>,
    /// A PostgreSQL server to make a database on, instead of a cluster of the machine's own programs.
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
    fn all_is_measured_unless_told_otherwise() {
        let options = Arguments::parse_from(["audit-bench"]).options;
        assert!(!options.quick && options.only.is_none() && options.sizes.is_empty());
        let options =
            Arguments::parse_from(["audit-bench", "--only", "postgres", "--sizes", "10000,50000"]).options;
        assert_eq!(options.only, Some(DatabaseKind::Postgres));
        assert_eq!(options.sizes, [10_000, 50_000]);
        let arguments = Arguments::parse_from(["audit-bench", "generate"]);
        assert!(matches!(arguments.command, Some(Command::Generate)));
    }
}
