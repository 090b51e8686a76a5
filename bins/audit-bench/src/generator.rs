//! The process that sends requests: this program, started once more.
//!
//! It gets an [`Order`] as JSON on standard input and gives a [`Report`] as JSON on standard output. The work is done by
//! one thread, which never formats, allocates or parses more than it must: it shares the machine with the service.

mod answer;
mod flood;
mod order;
mod page;
mod queries;

pub(crate) use answer::count;
pub(crate) use order::{
    AskedService, End, FloodOrder, FloodReport, Order, QueriesOrder, Query, QueryReport, Report, Traffic,
    Window,
};
pub(crate) use page::{PageReader, events_of};

use anyhow::{Context, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The argument that makes this program the sending process.
pub(crate) const SUBCOMMAND: &str = "generate";

/// The sending process: carries out the order on standard input.
pub(crate) fn generate() -> anyhow::Result<()> {
    let order = serde_json::from_reader(std::io::stdin().lock()).context("cannot read the order")?;
    let report = match order {
        Order::Flood(order) => Report::Flood(flood::flood(&order)?),
        Order::Queries(order) => Report::Queries(queries::run(&order)?),
    };
    let mut stdout = std::io::stdout().lock();
    serde_json::to_writer(&mut stdout, &report)?;
    stdout.flush()?;
    Ok(())
}

/// Starts the sending process and waits for what it reports.
pub(crate) fn send(order: &Order) -> anyhow::Result<Report> {
    let program = this_program()?;
    let mut process = Command::new(program)
        .arg(SUBCOMMAND)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the process that sends requests")?;
    let mut input = process
        .stdin
        .take()
        .context("the sending process takes no order")?;
    serde_json::to_writer(&mut input, order)?;
    // It reads to the end of its input.
    drop(input);
    let output = process.wait_with_output()?;
    if !output.status.success() {
        bail!("the process that sends requests failed");
    }
    serde_json::from_slice(&output.stdout).context("cannot read what the sending process reports")
}

/// On Linux by way of the running process, so that it stays the same program when its file is built anew in the meantime.
fn this_program() -> anyhow::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() {
        return Ok(running.to_owned());
    }
    std::env::current_exe().context("cannot find this program")
}
