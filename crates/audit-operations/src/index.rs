//! `audit-server index`: verifies the index of filter values and search words.

use crate::options::{DatabaseOptions, Output};
use anyhow::Context;
use audit_app::{CellDatabase, cells_of_deployment};
use audit_cli::{is_broken_pipe, over_events, print_error};
use audit_store::{DatabaseUrl, EventPlace, IndexFinding, IndexReport, LedgerNames};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

/// Exit code: the index is damaged or incomplete.
const EXIT_DAMAGED: u8 = 1;
/// Exit code: the check could not be completed.
const EXIT_INCONCLUSIVE: u8 = 2;
/// Findings printed. The rest is counted.
const PRINTED_FINDINGS_MAX: usize = 20;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum IndexCommand {
    /// Verify the index against the stored events, in the database. Changes nothing, and runs beside servers.
    ///
    /// Exit code 0: every event is in the index under its values and words, or in the backlog. 1: the index is damaged or
    /// incomplete; the first block or event is named. 2: the check could not be completed.
    Verify(VerifyOptions),
}

/// The options of the command.
#[derive(Debug, Args)]
pub struct VerifyOptions {
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    database: DatabaseOptions,
}

/// Runs the command.
pub fn run(command: &IndexCommand) -> anyhow::Result<ExitCode> {
    let IndexCommand::Verify(options) = command;
    // Monitoring watches the exit code and must tell a damaged index from a network failure.
    verify(options).or_else(|error| {
        if is_broken_pipe(&error) {
            return Err(error);
        }
        print_error(&format!("{error:#}"));
        Ok(ExitCode::from(EXIT_INCONCLUSIVE))
    })
}

fn verify(options: &VerifyOptions) -> anyhow::Result<ExitCode> {
    let url: DatabaseUrl = options.database.database_url.parse().context("--database-url")?;
    let verified = VerifiedIndex::of_deployment(&url)?;
    let mut stdout = std::io::stdout().lock();
    match options.output.json {
        true => writeln!(stdout, "{}", verified.to_json())?,
        false => verified.print(&mut stdout)?,
    }
    Ok(match verified.is_right() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(EXIT_DAMAGED),
    })
}

/// The indexes of a deployment, compared with their events.
pub(crate) struct VerifiedIndex {
    cells: Vec<VerifiedCell>,
    seconds: f64,
}

struct VerifiedCell {
    name: String,
    report: IndexReport,
    ledgers: LedgerNames,
}

impl VerifiedIndex {
    /// Verifies the index of every cell. Shows the progress on a terminal.
    pub(crate) fn of_deployment(url: &DatabaseUrl) -> anyhow::Result<Self> {
        let progress = over_events(0)?;
        let started = Instant::now();
        let verify_cell = |cell: CellDatabase| {
            let verified = audit_store::verify_index(&cell.url, &mut |done, total| {
                progress.set_length(total);
                progress.set_position(done);
            });
            let (report, ledgers) =
                verified.with_context(|| format!("cannot verify the index of {}", cell.url))?;
            let name = cell.name;
            Ok::<_, anyhow::Error>(VerifiedCell {
                name,
                report,
                ledgers,
            })
        };
        let cells = cells_of_deployment(url).with_context(|| format!("cannot verify the index of {url}"))?;
        let cells = cells.into_iter().map(verify_cell).collect::<Result<_, _>>()?;
        progress.finish_and_clear();
        let seconds = started.elapsed().as_secs_f64();
        Ok(Self { cells, seconds })
    }

    /// Whether every index matches its events.
    pub(crate) fn is_right(&self) -> bool {
        self.cells.iter().all(|cell| cell.report.findings_count == 0)
    }

    fn sum(&self, part: impl Fn(&IndexReport) -> u64) -> u64 {
        self.cells.iter().map(|cell| part(&cell.report)).sum()
    }

    pub(crate) fn print(&self, out: &mut impl Write) -> anyhow::Result<()> {
        for VerifiedCell {
            name,
            report,
            ledgers,
        } in &self.cells
        {
            if self.cells.len() > 1 {
                writeln!(out, "cell {name}")?;
            }
            for finding in report.findings.iter().take(PRINTED_FINDINGS_MAX) {
                writeln!(out, "    {}", line_of(finding, ledgers))?;
            }
            let unprinted = report.findings_count.saturating_sub(PRINTED_FINDINGS_MAX as u64);
            if unprinted > 0 {
                writeln!(out, "    and {unprinted} more")?;
            }
        }
        let [events, indexed, backlog] = [
            self.sum(|report| report.events),
            self.sum(|report| report.indexed),
            self.sum(|report| report.backlog),
        ];
        let [segments, blocks] = [
            self.sum(|report| report.segments),
            self.sum(|report| report.blocks),
        ];
        let seconds = self.seconds;
        writeln!(
            out,
            "{events} events: {indexed} in {segments} segments of {blocks} blocks, {backlog} in the backlog \
             ({seconds:.1} s)"
        )?;
        let damaged = self
            .cells
            .iter()
            .find_map(|cell| Some(line_of(cell.report.findings.first()?, &cell.ledgers)));
        match damaged {
            None => writeln!(out, "the index matches the events")?,
            Some(line) => writeln!(out, "DAMAGED: {line}")?,
        }
        Ok(())
    }

    pub(crate) fn to_json(&self) -> Value {
        let finding = |cell: &VerifiedCell, finding: &IndexFinding| {
            let event = event_of(finding);
            let ledger = event.map(|event| ledger_of(event, &cell.ledgers));
            json!({
                "cell": cell.name,
                "project_id": ledger.as_ref().map(|(project_id, _)| project_id),
                "environment": ledger.as_ref().map(|(_, environment)| environment),
                "seq": event.map(|event| event.seq),
                "problem": problem_of(finding),
            })
        };
        let findings = self
            .cells
            .iter()
            .flat_map(|cell| cell.report.findings.iter().map(move |one| finding(cell, one)));
        json!({
            "ok": self.is_right(),
            "events": self.sum(|report| report.events),
            "indexed": self.sum(|report| report.indexed),
            "backlog": self.sum(|report| report.backlog),
            "segments": self.sum(|report| report.segments),
            "blocks": self.sum(|report| report.blocks),
            "seconds": self.seconds,
            "findings": findings.collect::<Vec<_>>(),
            "findings_count": self.sum(|report| report.findings_count),
        })
    }
}

/// The event of a finding.
const fn event_of(finding: &IndexFinding) -> Option<EventPlace> {
    match finding {
        IndexFinding::OtherTokens { event, .. }
        | IndexFinding::Unindexed(event)
        | IndexFinding::UnknownAction(event) => Some(*event),
        IndexFinding::Damaged(_) | IndexFinding::NoEvent { .. } => None,
    }
}

/// Project and environment of an event's ledger.
fn ledger_of(event: EventPlace, names: &LedgerNames) -> (String, String) {
    let unknown = || ("unknown project".to_owned(), "unknown environment".to_owned());
    names.get(&event.ledger_id).cloned().unwrap_or_else(unknown)
}

fn problem_of(finding: &IndexFinding) -> String {
    match finding {
        IndexFinding::Damaged(damage) => damage.clone(),
        IndexFinding::NoEvent { segment, row } => {
            format!("segment {segment} has the row {row}, and there is no such event")
        }
        IndexFinding::OtherTokens { segment, .. } => {
            format!("segment {segment} has it under other values or words than its own")
        }
        IndexFinding::Unindexed(_) => "it is neither in the index nor in the backlog".to_owned(),
        IndexFinding::UnknownAction(_) => {
            "its action is not among those of the log, so a filter with `*` may not find it".to_owned()
        }
    }
}

fn line_of(finding: &IndexFinding, names: &LedgerNames) -> String {
    let problem = problem_of(finding);
    match event_of(finding) {
        Some(event) => {
            let (project_id, environment) = ledger_of(event, names);
            format!("{project_id}/{environment}: event {}: {problem}", event.seq)
        }
        None => problem,
    }
}
