//! `audit-server index`: verifies the index of filter values and search words.

use crate::arguments::{DatabaseOptions, Output};
use crate::{is_broken_pipe, print_error};
use anyhow::Context;
use audit_store::{DatabaseUrl, EventPlace, IndexFinding, IndexReport, LedgerNames};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
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

#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Verify the index against the stored events, in the database. Changes nothing, and runs beside servers.
    ///
    /// Exit code 0: every event is in the index under its values and words, or in the backlog. 1: the index is damaged or
    /// incomplete; the first block or event is named. 2: the check could not be completed.
    Verify(VerifyOptions),
}

#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    database: DatabaseOptions,
}

pub(crate) fn run(command: &IndexCommand) -> anyhow::Result<ExitCode> {
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
    let style =
        ProgressStyle::with_template("{bar:40} {percent:>3} %  {human_pos}/{human_len} events  {per_sec}")?;
    // Drawn only on a terminal.
    let progress = ProgressBar::new(0).with_style(style);
    let started = Instant::now();
    let verified = audit_store::verify_index(&url, &mut |done, total| {
        progress.set_length(total);
        progress.set_position(done);
    });
    let seconds = started.elapsed().as_secs_f64();
    progress.finish_and_clear();
    let (report, names) = verified.with_context(|| format!("cannot verify the index of {url}"))?;
    let mut stdout = std::io::stdout().lock();
    match options.output.json {
        true => writeln!(stdout, "{}", to_json(&report, &names, seconds))?,
        false => print(&mut stdout, &report, &names, seconds)?,
    }
    Ok(match report.findings_count {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(EXIT_DAMAGED),
    })
}

/// The event of a finding.
const fn event_of(finding: &IndexFinding) -> Option<EventPlace> {
    match finding {
        IndexFinding::OtherTokens { event, .. } | IndexFinding::Unindexed(event) => Some(*event),
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

fn print(
    out: &mut impl Write,
    report: &IndexReport,
    names: &LedgerNames,
    seconds: f64,
) -> anyhow::Result<()> {
    for finding in report.findings.iter().take(PRINTED_FINDINGS_MAX) {
        writeln!(out, "    {}", line_of(finding, names))?;
    }
    let unprinted = report.findings_count.saturating_sub(PRINTED_FINDINGS_MAX as u64);
    if unprinted > 0 {
        writeln!(out, "    and {unprinted} more")?;
    }
    let IndexReport {
        events,
        indexed,
        backlog,
        segments,
        blocks,
        ..
    } = report;
    writeln!(
        out,
        "{events} events: {indexed} in {segments} segments of {blocks} blocks, {backlog} in the backlog ({seconds:.1} s)"
    )?;
    match report.findings.first() {
        None => writeln!(out, "the index matches the events")?,
        Some(finding) => writeln!(out, "DAMAGED: {}", line_of(finding, names))?,
    }
    Ok(())
}

fn to_json(report: &IndexReport, names: &LedgerNames, seconds: f64) -> Value {
    let finding = |finding: &IndexFinding| {
        let event = event_of(finding);
        let ledger = event.map(|event| ledger_of(event, names));
        json!({
            "project_id": ledger.as_ref().map(|(project_id, _)| project_id),
            "environment": ledger.as_ref().map(|(_, environment)| environment),
            "seq": event.map(|event| event.seq),
            "problem": problem_of(finding),
        })
    };
    json!({
        "ok": report.findings_count == 0,
        "events": report.events,
        "indexed": report.indexed,
        "backlog": report.backlog,
        "segments": report.segments,
        "blocks": report.blocks,
        "seconds": seconds,
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "findings_count": report.findings_count,
    })
}
