//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
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
    /// Up to 1,000,000 events. The default.
    #[arg(long, conflicts_with = "quick")]
    pub(crate) full: bool,
    /// Up to 100,000 events and a short look at everything, in a minute or two. Writes files only with --out.
    #[arg(long)]
    pub(crate) quick: bool,
    /// What to measure. PostgreSQL is left out where there is none.
    #[arg(long, value_enum, default_value_t = Databases::Both)]
    pub(crate) database: Databases,
    /// Where the results go: JSON, the printed tables and plots.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Databases {
    Sqlite,
    Postgres,
    Both,
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
        let arguments = Arguments::parse_from(["audit-bench"]);
        assert!(arguments.command.is_none() && !arguments.options.quick);
        assert_eq!(arguments.options.database, Databases::Both);
        assert!(Arguments::try_parse_from(["audit-bench", "--quick", "--full"]).is_err());
        assert!(Arguments::try_parse_from(["audit-bench", "generate"]).is_ok());
    }
}
