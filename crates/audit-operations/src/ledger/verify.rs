//! `audit-server log verify`: checks the stored events against the log.

use super::anchors;
use super::arguments::{SignedOptions, VerifyOptions};
use crate::index::VerifiedIndex;
use crate::options::DatabaseOptions;
use anyhow::{Context, bail};
use audit_app::{
    AnchorReport, Finding, LedgerReport, Problem, Removed, SignerMemory, VerifiedRemoval, VerifierKey,
    first_finding, keys_in_database, verify_anchors, verify_deployment,
};
use audit_cli::SystemClock;
use audit_cli::{over_events, print_error};
use audit_domain::{Clock, Timestamp};
use audit_store::DatabaseUrl;
use audit_verifier::anchor_files::{self, time_stamp_roots};
use audit_verifier::{EXIT_INCONSISTENT, read_key};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

/// Findings printed for each ledger. The rest is counted.
const PRINTED_FINDINGS_MAX: usize = 20;

pub(super) fn run(options: &VerifyOptions) -> anyhow::Result<ExitCode> {
    let database = &options.log_key.database;
    let mut scope = scope_of(database, &options.signed, SystemClock.now())?;
    let anchors = read_anchors(options, scope.key.as_ref())?;
    scope.project_id = options.project;
    if let Some(anchors) = &anchors {
        scope.anchored = anchors.logs.clone();
    }
    let url = database.url()?;
    let started = Instant::now();
    let reports = verified(&url, &scope)?;
    let seconds = started.elapsed().as_secs_f64();
    let index = options.index.then(|| VerifiedIndex::of_deployment(&url));
    let mut stdout = std::io::stdout().lock();
    let index = match index.transpose() {
        // What is known of the log is reported all the same.
        Err(error) if !is_consistent(&reports, anchors.as_ref()) => {
            print_error(&format!("{error:#}"));
            None
        }
        index => index?,
    };
    match options.output.json {
        true => {
            let mut report = to_json(&reports, anchors.as_ref(), seconds);
            if let Some(index) = &index {
                report["index"] = index.to_json();
            }
            writeln!(stdout, "{report}")?;
        }
        false => {
            if let Some(index) = &index {
                index.print(&mut stdout)?;
            }
            print(&mut stdout, &reports, anchors.as_ref(), seconds)?;
        }
    }
    let is_right = is_consistent(&reports, anchors.as_ref()) && index.is_none_or(|index| index.is_right());
    Ok(match is_right {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(EXIT_INCONSISTENT),
    })
}

/// All logs, with what this machine knows of them. That is read before the database, which continues it.
pub(super) fn scope_of(
    database: &DatabaseOptions,
    signed: &SignedOptions,
    now: Timestamp,
) -> anyhow::Result<audit_app::VerifyOptions> {
    let known = SignerMemory::read(&database.signer_file()?).context("--state-directory")?;
    Ok(audit_app::VerifyOptions {
        key: read_key(signed.verifier_key.as_deref())?,
        encryption: database.keys()?.clone(),
        head_key: database.head_keys()?.in_file()?,
        known: known.unwrap_or_default(),
        signed_before: Some(now.plus_seconds(-signed.max_unsigned.seconds())),
        now: Some(now),
        ..audit_app::VerifyOptions::default()
    })
}

/// Verifies logs, and shows the progress.
pub(super) fn verified(
    url: &DatabaseUrl,
    scope: &audit_app::VerifyOptions,
) -> anyhow::Result<Vec<LedgerReport>> {
    let progress = over_events(0)?;
    let mut report_progress = |done, total| {
        progress.set_length(total);
        progress.set_position(done);
    };
    let reports = verify_deployment(url, scope, &mut report_progress);
    let reports = reports.with_context(|| format!("cannot verify {url}"))?;
    progress.finish_and_clear();
    Ok(reports)
}

/// The verified anchors, if some are given.
fn read_anchors(options: &VerifyOptions, key: Option<&VerifierKey>) -> anyhow::Result<Option<AnchorReport>> {
    if options.anchors.is_empty() {
        return Ok(None);
    }
    let files = anchor_files::read(&options.anchors).context("--anchors")?;
    let roots = options
        .timestamp_ca
        .as_deref()
        .map(time_stamp_roots)
        .transpose()?;
    let database = &options.log_key.database;
    let keys = match key {
        Some(key) => vec![key.clone()],
        None => keys_in_database(&database.url()?, database.keys()?)?,
    };
    if keys.is_empty() {
        bail!("the database has no key that verifies the anchors; give --verifier-key");
    }
    Ok(Some(verify_anchors(&files, &keys, roots.as_ref())))
}

fn is_consistent(reports: &[LedgerReport], anchors: Option<&AnchorReport>) -> bool {
    first_finding(reports).is_none() && anchors.is_none_or(|anchors| anchors.findings.is_empty())
}

/// Whether no log has a checkpoint, and that is the only finding. `log new-name` leaves the logs so, and so does an attacker who
/// deletes the checkpoints. No record could tell them apart: in the database, an attacker writes an earlier copy of it again; in a state
/// directory, it does not know what other nodes have signed since.
fn has_no_checkpoint(reports: &[LedgerReport]) -> bool {
    let mut findings = reports.iter().flat_map(|report| &report.findings).peekable();
    findings.peek().is_some()
        && findings.all(|finding| finding.problem == Problem::Unsigned)
        && reports.iter().all(|report| report.signed.is_none())
}

fn events(reports: &[LedgerReport]) -> u64 {
    reports.iter().map(|report| report.events).sum()
}

fn print(
    out: &mut impl Write,
    reports: &[LedgerReport],
    anchors: Option<&AnchorReport>,
    seconds: f64,
) -> anyhow::Result<()> {
    if let Some(anchors) = anchors {
        anchors::print(out, anchors)?;
    }
    for report in reports
        .iter()
        .filter(|report| report.events > 0 || report.findings_count > 0)
    {
        print_ledger(out, report)?;
    }
    if has_no_checkpoint(reports) {
        writeln!(
            out,
            "no log has a checkpoint. That is so after `log new-name`, and when the first server was killed before it signed: start a \
             server, which signs the logs, and verify again. Otherwise the checkpoints were deleted"
        )?;
    }
    let events = events(reports);
    let rate = events as f64 / seconds.max(0.001);
    let anchored = anchors.and_then(|anchors| anchors.findings.first());
    match (first_finding(reports), anchored) {
        (None, None) => writeln!(
            out,
            "{events} events match the log ({seconds:.1} s, {rate:.0} events/s)"
        )?,
        (None, Some(finding)) => writeln!(
            out,
            "INCONSISTENT: anchor {}: {}",
            finding.anchor, finding.problem
        )?,
        (Some((report, finding)), _) => writeln!(out, "INCONSISTENT: {}: {finding}", report.name())?,
    }
    Ok(())
}

fn print_ledger(out: &mut impl Write, report: &LedgerReport) -> anyhow::Result<()> {
    let name = report.name();
    let signed = match report.signed {
        Some(signed) => format!("signed up to {signed}"),
        None => "not signed yet".to_owned(),
    };
    let verdict = match report.findings_count {
        0 => "consistent".to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    let removed = removed_text(&report.removed);
    writeln!(
        out,
        "{name}  {} events, {signed}: {verdict}{removed}",
        report.events
    )?;
    for finding in report.findings.iter().take(PRINTED_FINDINGS_MAX) {
        writeln!(out, "    {finding}")?;
    }
    let unprinted = report.findings_count.saturating_sub(PRINTED_FINDINGS_MAX as u64);
    if unprinted > 0 {
        writeln!(out, "    and {unprinted} more")?;
    }
    Ok(())
}

/// What removals took, in the line of a log; empty where they took nothing.
fn removed_text(removed: &Removed) -> String {
    let Removed {
        retention,
        erased,
        unexplained,
        uncompared,
        removals,
        ..
    } = removed;
    let uncompared = match uncompared {
        0 => String::new(),
        events => format!("; {events} about to go not compared with policy and holds"),
    };
    if *retention == 0 && *erased == 0 {
        return uncompared;
    }
    let last = removals.last().map(|last| last.at.to_string());
    let last = last.as_deref().and_then(|at| at.split('T').next());
    let removals = match (removals.len(), last) {
        (1, Some(day)) => format!(" (1 removal, on {day})"),
        (count, Some(day)) => format!(" ({count} removals, the last on {day})"),
        (_, None) => String::new(),
    };
    format!(
        "; {retention} removed by retention{removals}, {erased} erased, {unexplained} unexplained{uncompared}"
    )
}

fn removed_json(removed: &Removed) -> Value {
    let removal = |removal: &VerifiedRemoval| {
        json!({
            "seq": removal.seq,
            "at": removal.at.to_string(),
            "events": removal.events,
            "through": removal.through,
        })
    };
    json!({
        "retention": removed.retention,
        "erased": removed.erased,
        "unexplained": removed.unexplained,
        "uncompared": removed.uncompared,
        "removals": removed.removals.iter().map(removal).collect::<Vec<_>>(),
    })
}

fn to_json(reports: &[LedgerReport], anchors: Option<&AnchorReport>, seconds: f64) -> Value {
    let finding = |finding: &Finding| {
        json!({
            "seq": finding.seqs.as_ref().map(|seqs| seqs.start),
            "last_seq": finding.seqs.as_ref().map(|seqs| seqs.end.saturating_sub(1)),
            "id": finding.id,
            "problem": finding.problem.to_string(),
        })
    };
    let ledger = |report: &LedgerReport| {
        json!({
            "project_id": report.project_id,
            "environment": report.environment,
            "events": report.events,
            "signed": report.signed,
            "root": report.root.map(|root| root.to_string()),
            "removed": removed_json(&report.removed),
            "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
            "findings_count": report.findings_count,
        })
    };
    json!({
        "ok": is_consistent(reports, anchors),
        "events": events(reports),
        "seconds": seconds,
        "ledgers": reports.iter().map(ledger).collect::<Vec<_>>(),
        "anchors": anchors.map(anchors::to_json),
    })
}
