//! `audit-bench`: a benchmark of the audit log service.
//!
//! Starts the real server on an empty database, sends requests from a second process, and relates the results to the limits
//! of disk and HTTP on this machine. `docs/benchmarks/README.md` documents the method and the columns.

mod arguments;
mod chart;
mod checks;
mod compare;
mod generator;
mod latency;
mod machine;
mod output;
mod plan;
mod print;
mod queries;
mod raw_limit;
mod results;
mod run;
mod scale;
mod service;
mod system_under_test;
mod targets;
mod workload;

use anyhow::Context;
use arguments::{Arguments, Command, Options};
use clap::Parser;
use plan::Plan;
use results::Results;
use service::database::DatabaseKind;
use service::process::Folder;
use service::{Cluster, Database, server_binary};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.command {
        Some(Command::Generate) => generator::generate(),
        Some(Command::Compare(options)) => compare::compare(options),
        Some(Command::Scale(options)) => scale::scale(options, commit()),
        None => benchmark(&arguments.options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // With standard error closed there is no other place to report to.
            drop(writeln!(std::io::stderr().lock(), "error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn benchmark(options: &Options) -> anyhow::Result<()> {
    if cfg!(debug_assertions) {
        print::progress("audit-bench is a debug build and limits the result; run it with --release")?;
    }
    let plan = Plan::new(options.quick, &options.sizes)?;
    let out = output_folder(options)?;
    // Read before the run: the written result files make the working tree dirty.
    let commit = commit();
    print::progress("building audit-server")?;
    let binary = server_binary(options.server.as_deref())?;
    let kinds = match options.database {
        Some(kind) => vec![kind],
        None => vec![DatabaseKind::Sqlite, DatabaseKind::Postgres],
    };
    for kind in kinds {
        let folder = Folder::create(options.location.folder.as_deref())?;
        // A cluster stops when it is dropped, so it is kept until its database is measured.
        let cluster;
        let database = match kind {
            DatabaseKind::Sqlite => Database::sqlite(folder.path()),
            DatabaseKind::Postgres => {
                cluster = match Cluster::start(options.location.postgres_url.as_deref(), folder.path()) {
                    Ok(cluster) => cluster,
                    Err(error) if options.database.is_none() => {
                        print::print(&format!("\nPostgreSQL is skipped: {error:#}.\n"))?;
                        continue;
                    }
                    Err(error) => return Err(error.context("cannot start PostgreSQL")),
                };
                Database::postgres(&cluster)?
            }
        };
        let results = run::run(&binary, &database, folder.path(), &plan, commit.clone())?;
        report(&results, out.as_deref())?;
    }
    Ok(())
}

/// Created before the run, so that a wrong path fails at once. None = print only.
fn output_folder(options: &Options) -> anyhow::Result<Option<PathBuf>> {
    let out = match (&options.out, options.quick) {
        (Some(folder), _) => folder.clone(),
        (None, true) => return Ok(None),
        (None, false) => workspace_results_folder(),
    };
    std::fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    Ok(Some(out))
}

/// Prints the tables and writes the result files.
fn report(results: &Results, out: Option<&Path>) -> anyhow::Result<()> {
    print::print(&print::tables(results))?;
    if let Some(last) = results.server_log.last() {
        let lines = results.server_log.len();
        print::progress(&format!(
            "the server logged {lines} warnings and errors, last: {last}"
        ))?;
    }
    if let Some(out) = out {
        output::write(results, out)?;
        print::progress(&format!("results written to {}", out.display()))?;
    }
    Ok(())
}

/// `docs/benchmarks` of the workspace that this program was built in.
fn workspace_results_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/benchmarks")
}

/// The output of `git describe` in the workspace; none outside of a repository or without git.
fn commit() -> Option<String> {
    let output = std::process::Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|commit| output.status.success() && !commit.is_empty())
}
