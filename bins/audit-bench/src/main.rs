//! `audit-bench`: how fast the service is on this machine, in one run that anybody can repeat.
//!
//! It starts the real server on an empty database, lets another process send requests, and compares what comes out with
//! what the disk and HTTP allow here. `docs/benchmarks/README.md` says what the columns mean.

mod arguments;
mod checks;
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
mod service;
mod svg;
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
    let outcome = match arguments.command {
        Some(Command::Generate) => generator::generate(),
        None => benchmark(&arguments.options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to be told when standard error is closed.
            drop(writeln!(std::io::stderr().lock(), "error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn benchmark(options: &Options) -> anyhow::Result<()> {
    if cfg!(debug_assertions) {
        print::progress("this is a debug build: it measures itself; run it with --release")?;
    }
    let plan = Plan::new(options.quick, &options.sizes)?;
    let out = match (&options.out, options.quick) {
        (Some(folder), _) => Some(folder.clone()),
        (None, true) => None,
        (None, false) => Some(results_folder()),
    };
    // Now, and not after a quarter of an hour.
    if let Some(out) = &out {
        std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    }
    // What is written for one database changes the working folder.
    let commit = commit();
    print::progress("building audit-server")?;
    let binary = server_binary(options.server.as_deref())?;
    let kinds = [DatabaseKind::Sqlite, DatabaseKind::Postgres];
    for kind in kinds
        .into_iter()
        .filter(|kind| options.only.is_none_or(|only| only == *kind))
    {
        let folder = Folder::create(options.folder.as_deref())?;
        // Runs as long as its database is measured.
        let cluster;
        let database = match kind {
            DatabaseKind::Sqlite => Database::sqlite(folder.path()),
            DatabaseKind::Postgres => {
                cluster = match find_cluster(options, folder.path()) {
                    Ok(cluster) => cluster,
                    Err(error) if options.only.is_none() => {
                        print::print(&format!("\nPostgreSQL was left out: {error:#}.\n"))?;
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

fn find_cluster(options: &Options, folder: &Path) -> anyhow::Result<Cluster> {
    match &options.postgres_url {
        Some(url) => Ok(Cluster::at(url)),
        None => Cluster::create(folder),
    }
}

/// Prints, and writes the files.
fn report(results: &Results, out: Option<&Path>) -> anyhow::Result<()> {
    print::print(&print::tables(results))?;
    if let Some(last) = results.server_log.last() {
        let lines = results.server_log.len();
        print::progress(&format!(
            "the server logged {lines} warnings and errors, the last: {last}"
        ))?;
    }
    if let Some(out) = out {
        output::write(results, out)?;
        print::progress(&format!("written to {}", out.display()))?;
    }
    Ok(())
}

/// `docs/benchmarks` of the workspace that this program was built in.
fn results_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/benchmarks")
}

/// What git says about the workspace; none where it says nothing.
fn commit() -> Option<String> {
    let output = std::process::Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|commit| output.status.success() && !commit.is_empty())
}
