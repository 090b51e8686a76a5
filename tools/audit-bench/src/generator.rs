//! The load generator: this program in a second process.
//!
//! It reads a [`Job`] as JSON from standard input and writes a [`Report`] as JSON to standard output. One thread does the
//! work and keeps formatting, allocation and parsing to a minimum, because it shares the processors with the service.

mod client;
mod closed_loop;
mod job;
mod queries;
mod response;

pub(crate) use client::{HttpClient, events_on_page};
pub(crate) use job::{
    ClosedLoopJob, ClosedLoopReport, End, Job, QueriedService, QueriesJob, Query, QueryReport, Report,
    Traffic, Window,
};
pub(crate) use response::count;

use anyhow::{Context, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The subcommand that runs the load generator.
pub(crate) const SUBCOMMAND: &str = "generate";

/// The main function of the load generator process.
pub(crate) fn generate() -> anyhow::Result<()> {
    let job = serde_json::from_reader(std::io::stdin().lock()).context("cannot read the job")?;
    let report = match job {
        Job::ClosedLoop(job) => Report::ClosedLoop(closed_loop::run(&job)?),
        Job::Queries(job) => Report::Queries(queries::run(&job)?),
    };
    let mut stdout = std::io::stdout().lock();
    serde_json::to_writer(&mut stdout, &report)?;
    stdout.flush()?;
    Ok(())
}

/// Runs `job` in a load generator process and returns its report.
pub(crate) fn run(job: &Job) -> anyhow::Result<Report> {
    let program = this_program()?;
    let mut process = Command::new(program)
        .arg(SUBCOMMAND)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the load generator")?;
    let mut input = process
        .stdin
        .take()
        .context("the load generator has no standard input")?;
    serde_json::to_writer(&mut input, job)?;
    // The generator reads to the end of its input.
    drop(input);
    let output = process.wait_with_output()?;
    if !output.status.success() {
        bail!("the load generator failed");
    }
    serde_json::from_slice(&output.stdout).context("cannot read the report of the load generator")
}

/// On Linux through `/proc`, so that both processes run the same program even if its file has been rebuilt since.
fn this_program() -> anyhow::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() {
        return Ok(running.to_owned());
    }
    std::env::current_exe().context("cannot find this program")
}
