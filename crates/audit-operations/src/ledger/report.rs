//! `audit-server log report`: the report for auditors, after the events of the log were verified.

use super::arguments::ReportOptions;
use super::verify::{scope_of, verified};
use anyhow::{Context, bail};
use audit_app::{LogReport, VerifiedLog, stored_report};
use audit_cli::{SystemClock, print_error};
use audit_domain::Clock;
use audit_http::{report_html, report_json};
use audit_verifier::EXIT_INCONSISTENT;
use std::fs::File;
use std::io::Write;
use std::process::ExitCode;

pub(super) fn run(options: &ReportOptions) -> anyhow::Result<ExitCode> {
    if let Some(file) = options.html.as_ref().filter(|file| file.exists()) {
        bail!("{} already exists", file.display());
    }
    let database = &options.log_key.database;
    let (url, now) = (database.url()?, SystemClock.now());
    let mut scope = scope_of(database, &options.signed, now)?;
    scope.project_id = Some(options.project);
    // Read before the events, so that all that it says is verified.
    let report = stored_report(&url, (options.project, options.environment), now);
    let ledgers = verified(&url, &scope)?;
    let mut ledgers = ledgers.iter();
    let own = ledgers.find(|ledger| ledger.environment == options.environment.as_str());
    let own = own.context("the project has no such log")?;
    let verified = Some(VerifiedLog {
        at: now,
        size: own.events,
        findings: own.findings_count,
        unexplained: own.removed.unexplained,
    });
    match report {
        Ok(report) => {
            let removed = own.removed.retention + own.removed.erased;
            let report = LogReport {
                removed,
                verified,
                ..report
            };
            write(options, report)?;
        }
        // Why is one of the findings.
        Err(error) if own.findings_count > 0 => print_error(&format!("the log has no report: {error}")),
        Err(error) => return Err(error).context("cannot read the lifecycle events"),
    }
    let Some(finding) = own.findings.first() else {
        return Ok(ExitCode::SUCCESS);
    };
    print_error(&format!("INCONSISTENT: {}: {finding}", own.name()));
    Ok(ExitCode::from(EXIT_INCONSISTENT))
}

fn write(options: &ReportOptions, report: LogReport) -> anyhow::Result<()> {
    let report = report_json(report);
    let mut stdout = std::io::stdout().lock();
    let Some(path) = &options.html else {
        return Ok(writeln!(stdout, "{report:#}")?);
    };
    let written = File::create_new(path).and_then(|mut file| file.write_all(report_html(&report).as_bytes()));
    written.with_context(|| format!("cannot write {}", path.display()))?;
    Ok(writeln!(stdout, "the report is in {}", path.display())?)
}
