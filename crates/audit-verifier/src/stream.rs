//! Verifies the records of a destination, as a receiver has kept them: nothing is missing, nothing was changed.
//!
//! Each record has a position, 1, 2, 3 … without gaps, and each event its content hash. A chain of hashes runs over both. The service states the
//! chain in signed notes, so what lies between two notes is complete and unchanged if the chain of the file leads from one to the other.

mod chain;
mod record;
mod report;

use crate::check::keys_of;
use anyhow::{Context, bail};
use audit_cli::{print_error, printable_lines};
use audit_ledger::VerifierKey;
use chain::{Run, WAITING_MAX};
use clap::Args;
use record::Record;
use report::Report;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit code: records are missing, or were changed.
const EXIT_REFUSED: u8 = 1;
/// Most bytes of a line: an event of 64 KiB with every character escaped, and once more as text in a text. A longer one is cut, and is not
/// JSON.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// Most runs in one file.
const RUNS_MAX: usize = 1_000;

/// The command line.
#[derive(Debug, Args)]
pub struct StreamOptions {
    /// Records as a destination has sent them, one JSON object on each line, in the format json or ocsf. They may be in any order, and
    /// more than once.
    file: PathBuf,
    /// Key that must have signed the checkpoints among them, as printed by `log key`. Get it through another channel than the file.
    /// Without it, signatures are not checked.
    #[arg(long, value_name = "KEY", env = "AUDIT_VERIFIER_KEY")]
    key: Option<String>,
    /// File with the rotations of that key, as `log key --rotations` prints them: any key that they connect it with may have signed.
    #[arg(long, value_name = "FILE", requires = "key")]
    rotations: Option<PathBuf>,
}

/// The run that a record belongs to: destination, log and number.
type RunKey = (String, String, u64);

/// The runs of a file.
#[derive(Default)]
struct Stream {
    runs: BTreeMap<RunKey, Run>,
    /// Records that wait for those before them.
    waiting: usize,
    /// Records of tests, which belong to no run.
    tests: u64,
}

/// Verifies a file, and prints what it has.
///
/// # Errors
/// When the check could not be completed.
pub fn run(options: &StreamOptions) -> anyhow::Result<ExitCode> {
    let keys = match &options.key {
        Some(key) => {
            let key: VerifierKey = key.trim().parse().context("--key")?;
            keys_of(options.rotations.as_deref(), &key)?
        }
        None => Vec::new(),
    };
    let stream = read(&options.file, &keys)?;
    let report = Report::of(stream.runs, stream.tests, keys.first());
    write!(std::io::stdout(), "{}", printable_lines(&report.text))?;
    let shown = options.file.display();
    if report.is_refused {
        print_error(&format!(
            "REFUSED: {shown}: records are missing, or not those that were sent"
        ));
        return Ok(ExitCode::from(EXIT_REFUSED));
    }
    if !report.is_covered {
        bail!("{shown} has no checkpoint that covers its records: they may be incomplete");
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path, keys: &[VerifierKey]) -> anyhow::Result<Stream> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot open {shown}"))?;
    let (mut lines, mut line, mut number) = (BufReader::new(file), Vec::new(), 0_u64);
    let mut stream = Stream::default();
    loop {
        line.clear();
        let read = (&mut lines).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        if read.with_context(|| format!("cannot read {shown}"))? == 0 {
            return Ok(stream);
        }
        number += 1;
        if !line.trim_ascii().is_empty() {
            let added = Record::read(&line, keys).and_then(|record| stream.add(record));
            added.with_context(|| format!("line {number} of {shown}"))?;
        }
    }
}

impl Stream {
    fn add(&mut self, record: Record) -> anyhow::Result<()> {
        let Some((position, content)) = record.placed else {
            self.tests += 1;
            return Ok(());
        };
        let key = (record.destination, record.log, record.run);
        if !self.runs.contains_key(&key) && self.runs.len() == RUNS_MAX {
            bail!(
                "it is of another destination or replay than the {RUNS_MAX} before it; verify them in several files"
            );
        }
        let run = self.runs.entry(key).or_default();
        let before = run.waiting();
        run.add(position, content);
        run.settle();
        if self.waiting - before + run.waiting() > WAITING_MAX {
            // What is missing may still follow. But then it is far from its place.
            run.settle_with_gaps();
        }
        self.waiting = self.waiting - before + run.waiting();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
