//! The command line.

use crate::service::database::DatabaseKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
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
    /// Compare two server binaries: measure both in turns and print the change of each figure.
    Compare(CompareOptions),
    /// Measure several nodes on one PostgreSQL, and many projects on it.
    Scale(ScaleOptions),
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

#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    /// Server binary to compare with.
    pub(crate) baseline: PathBuf,
    /// Server binary to examine. Default: built by cargo.
    pub(crate) candidate: Option<PathBuf>,
    /// Database to run on.
    #[arg(long, value_enum, default_value = "sqlite")]
    pub(crate) database: DatabaseKind,
    /// Measurements to run, comma-separated.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "query,proof,ingest")]
    pub(crate) only: Vec<Measurement>,
    /// Events loaded into each server first: a multiple of 100, at least 10000.
    #[arg(long, default_value_t = 100_000)]
    pub(crate) events: u64,
    /// Duration of each ingest measurement.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) seconds: u64,
    /// Turns of each measurement.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) rounds: u32,
    #[command(flatten)]
    pub(crate) location: Location,
}

#[derive(Debug, Args)]
pub(crate) struct ScaleOptions {
    /// Parts to run, comma-separated.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "nodes,ledgers,creation,events"
    )]
    pub(crate) only: Vec<ScalePart>,
    /// Short form of about two minutes: fewer projects and events, one round. The figures are not meaningful.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Numbers of nodes. Default: 1,2,3.
    #[arg(long, value_delimiter = ',')]
    pub(crate) nodes: Vec<usize>,
    /// Active projects in the part `nodes`, beside one. Default: 100.
    #[arg(long)]
    pub(crate) projects: Option<usize>,
    /// Numbers of projects in the part `ledgers`, ascending. Default: 1,600,10000.
    #[arg(long, value_delimiter = ',')]
    pub(crate) ledgers: Vec<usize>,
    /// Event counts in the part `events`: ascending multiples of 100, at least 10000. Default: 100000,1000000.
    #[arg(long, value_delimiter = ',')]
    pub(crate) sizes: Vec<u64>,
    /// Duration of each load. Default: 4.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) seconds: Option<u64>,
    /// Turns of each load. Default: 3.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) rounds: Option<u32>,
    /// Directory for the results. Default: none are written.
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Name of the result files, without extension.
    #[arg(long, default_value = "scale")]
    pub(crate) name: String,
    /// Server binary to measure. Default: built by cargo.
    #[arg(long)]
    pub(crate) server: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) location: Location,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScalePart {
    /// One project and many, on one node and on several.
    Nodes,
    /// The cost of the number of projects, with events and without.
    Ledgers,
    /// Ingest while another node creates projects.
    Creation,
    /// Queries at two numbers of events.
    Events,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measurement {
    /// Batches of 100 events over 16 connections, single events over 64.
    Ingest,
    /// Every query of the full benchmark over one connection.
    Query,
    /// Proofs of inclusion over one connection.
    Proof,
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

    #[test]
    fn a_comparison_takes_its_measurements_from_the_command_line() {
        let parse = |arguments: &[&str]| match Arguments::parse_from(arguments).command {
            Some(Command::Compare(options)) => options,
            other => panic!("{other:?}"),
        };
        let all = parse(&["audit-bench", "compare", "old"]);
        assert_eq!((all.only.len(), all.candidate), (3, None));
        let some = parse(&["audit-bench", "compare", "old", "new", "--only", "ingest,query"]);
        assert_eq!(some.only, [Measurement::Ingest, Measurement::Query]);
        assert_eq!(some.candidate, Some(PathBuf::from("new")));
    }
}
