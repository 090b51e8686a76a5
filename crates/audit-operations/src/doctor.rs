//! `audit-server doctor`: checks a deployment and says what to do. It takes the options and variables of `serve`, and changes
//! nothing.

pub(crate) mod database;
mod disks;
mod files;
mod keys;
mod network;
mod postgres;
mod retention;

use crate::options::Output;
use crate::serve_options::ServeOptions;
use audit_cli::SystemClock;
use audit_cli::print_error;
use audit_cli::printable;
use audit_domain::{Clock, Timestamp};
use clap::Args;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

/// Exit code: something has to be done.
const EXIT_FINDINGS: u8 = 1;
/// Exit code: a check could not be completed.
const EXIT_INCOMPLETE: u8 = 2;

/// The options of the command.
#[derive(Debug, Args)]
pub struct DoctorOptions {
    /// URL of the running server, or of its metrics, such as `http://127.0.0.1:9090`: its /readyz is checked as well.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    serve: ServeOptions,
}

/// What a check looks at.
struct Subject<'a> {
    options: &'a ServeOptions,
    url: Option<&'a str>,
    now: Timestamp,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    /// The service does not work as it should, or data is at risk.
    Error,
    /// It will, or a protection is missing.
    Warning,
    /// Worth a decision. Does not change the exit code.
    Note,
}

/// Something that has to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    severity: Severity,
    problem: String,
    action: String,
}

fn finding(severity: Severity, problem: impl Into<String>, action: impl Into<String>) -> Finding {
    Finding {
        severity,
        problem: problem.into(),
        action: action.into(),
    }
}

type Check = fn(&Subject<'_>) -> anyhow::Result<Vec<Finding>>;

/// The check of the running server.
const SERVER: &str = "server";

/// The checks, in the order in which they are printed.
const CHECKS: [(&str, Check); 13] = [
    ("permissions", files::permissions),
    ("disks", disks::space),
    ("open files", disks::open_files),
    ("keys", keys::keys),
    ("database", database::settings),
    ("projects", database::projects),
    ("clock", database::clock),
    ("tls", network::tls),
    ("portal links", network::portal_links),
    ("backups", database::backups),
    ("log", network::witnesses_and_anchors),
    ("retention", retention::policies),
    (SERVER, network::server),
];

/// The outcome of a check.
struct Checked {
    name: &'static str,
    /// The findings, or why the check could not be completed.
    outcome: anyhow::Result<Vec<Finding>>,
}

impl Severity {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Runs all checks. An unreachable database leaves some of them incomplete and does not prevent the others.
pub fn run(options: &DoctorOptions) -> anyhow::Result<ExitCode> {
    let subject = Subject {
        options: &options.serve,
        url: options.url.as_deref(),
        now: SystemClock.now(),
    };
    let checked: Vec<Checked> = CHECKS
        .into_iter()
        // Without a URL there is no server to look at.
        .filter(|(name, _)| *name != SERVER || options.url.is_some())
        .map(|(name, check)| Checked {
            name,
            outcome: check(&subject),
        })
        .collect();
    let mut stdout = std::io::stdout().lock();
    match options.output.json {
        true => writeln!(stdout, "{}", as_json(&checked))?,
        false => write!(stdout, "{}", as_text(&checked))?,
    }
    Ok(ExitCode::from(exit_code(&checked)))
}

fn exit_code(checked: &[Checked]) -> u8 {
    let needs_action = |finding: &Finding| finding.severity != Severity::Note;
    let has_findings = |check: &Checked| match &check.outcome {
        Ok(findings) => findings.iter().any(needs_action),
        Err(_) => false,
    };
    match checked.iter().any(|check| check.outcome.is_err()) {
        true => EXIT_INCOMPLETE,
        false if checked.iter().any(has_findings) => EXIT_FINDINGS,
        false => 0,
    }
}

fn as_json(checked: &[Checked]) -> Value {
    let findings = |check: &Checked| match &check.outcome {
        Ok(findings) => findings.iter().map(finding_json).collect(),
        Err(_) => Vec::new(),
    };
    let check = |check: &Checked| {
        json!({
            "check": check.name,
            "findings": findings(check),
            "error": check.outcome.as_ref().err().map(|error| format!("{error:#}")),
        })
    };
    json!({
        "ok": exit_code(checked) == 0,
        "checks": checked.iter().map(check).collect::<Vec<_>>(),
    })
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "severity": finding.severity.as_str(),
        "problem": finding.problem,
        "action": finding.action,
    })
}

fn as_text(checked: &[Checked]) -> String {
    let mut text = String::new();
    for check in checked {
        let findings = match &check.outcome {
            Ok(findings) => findings,
            Err(error) => {
                print_error(&format!(
                    "{}: the check could not be completed: {error:#}",
                    check.name
                ));
                continue;
            }
        };
        if findings.is_empty() {
            push_line(&mut text, "ok", check.name, "");
        }
        for finding in findings {
            let problem = format!(": {}", finding.problem);
            push_line(&mut text, finding.severity.as_str(), check.name, &problem);
            push_line(&mut text, "", "", &format!("  {}", finding.action));
        }
    }
    text
}

fn push_line(text: &mut String, status: &str, name: &str, rest: &str) {
    // Writing to a string cannot fail.
    writeln!(text, "{}", printable(&format!("{status:<8} {name}{rest}"))).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(outcome: anyhow::Result<Vec<Finding>>) -> Checked {
        Checked { name: "x", outcome }
    }

    #[test]
    fn the_exit_code_tells_findings_from_checks_that_failed() {
        let note = || of(Ok(vec![finding(Severity::Note, "p", "a")]));
        let warning = || of(Ok(vec![finding(Severity::Warning, "p", "a")]));
        let failed = || of(Err(anyhow::anyhow!("no database")));
        assert_eq!(exit_code(&[of(Ok(Vec::new())), note()]), 0);
        assert_eq!(exit_code(&[note(), warning()]), EXIT_FINDINGS);
        assert_eq!(exit_code(&[warning(), failed()]), EXIT_INCOMPLETE);
    }

    #[test]
    fn a_finding_names_problem_and_action() {
        let text = as_text(&[of(Ok(vec![finding(
            Severity::Error,
            "it is full",
            "free \u{1b}space",
        )]))]);
        assert_eq!(text, "error    x: it is full\n           free \\u{1b}space\n");
        assert_eq!(as_text(&[of(Ok(Vec::new()))]), "ok       x\n");
    }
}
