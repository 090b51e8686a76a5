//! `audit-server db copy`: moves a deployment from SQLite to PostgreSQL.

use crate::key_sources::EncryptionOptions;
use anyhow::Context;
use audit_app::{CopyOutcome, CopyRequest, CopyStep, LedgerReport, copy_database};
use audit_cli::{SystemClock, SystemEntropy};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How often progress is reported where standard error is not a terminal.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// URLs are kept as text: an error of the command-line parser would repeat a mistyped one with its password.
#[derive(Debug, Args)]
pub struct CopyOptions {
    /// Source: sqlite:PATH.
    #[arg(long, value_name = "URL")]
    from: String,
    /// Target: postgres://USER@HOST/DATABASE.
    #[arg(long, value_name = "URL", env = "AUDIT_COPY_TO", hide_env_values = true)]
    to: String,
    /// Copy the rest, verify the target and mark the source as moved. Stop the server of the source first.
    #[arg(long)]
    finish: bool,
    /// Those of `serve`, if it has any.
    #[command(flatten)]
    encryption: EncryptionOptions,
}

/// Runs the command.
pub fn run(options: &CopyOptions) -> anyhow::Result<ExitCode> {
    let request = CopyRequest {
        from: options.from.parse().context("--from")?,
        to: options.to.parse().context("--to")?,
        encryption: options.encryption.keys()?.clone(),
        finish: options.finish,
    };
    let mut progress = Progress::new()?;
    let copied = copy_database(
        &request,
        &SystemClock,
        &SystemEntropy,
        &mut |step, done, total| {
            progress.report(step, done, total);
        },
    );
    progress.bar.finish_and_clear();
    let copied = copied.with_context(|| format!("cannot copy {} to {}", request.from, request.to))?;
    print(&mut std::io::stdout().lock(), &request, &copied)?;
    Ok(ExitCode::SUCCESS)
}

fn print(out: &mut impl Write, request: &CopyRequest, outcome: &CopyOutcome) -> anyhow::Result<()> {
    let CopyRequest { from, to, .. } = request;
    match outcome {
        CopyOutcome::Begun { events } => writeln!(
            out,
            "{events} events are copied to {to}. {from} is still the deployment.\n\
             To move, stop its server and run the same command with --finish."
        )?,
        CopyOutcome::Complete => writeln!(out, "the copy is complete: {from} was moved to {to}")?,
        CopyOutcome::Moved { rows, ledgers } => {
            for ledger in ledgers.iter().filter(|ledger| ledger.events > 0) {
                writeln!(out, "{}", line_of(ledger))?;
            }
            let events: u64 = ledgers.iter().map(|ledger| ledger.events).sum();
            writeln!(
                out,
                "{events} events and {rows} other rows are verified. {from} was moved to {to}.\n\
                 Start the server there, with the same AUDIT_ENCRYPTION_KEY and AUDIT_HASH_KEY; it builds the index in the \
                 background. No server starts on {from} any more."
            )?;
        }
    }
    Ok(())
}

fn line_of(ledger: &LedgerReport) -> String {
    let root = ledger.root.map(|root| root.to_string()).unwrap_or_default();
    format!(
        "{}  {} events, root {root}: verified",
        ledger.name(),
        ledger.events
    )
}

/// The progress of the steps: a bar on a terminal, otherwise a line every [`REPORT_INTERVAL`].
struct Progress {
    bar: ProgressBar,
    step: Option<CopyStep>,
    /// When the step began and how many events were done then, and when it was last reported.
    began: (Instant, u64),
    reported: Instant,
}

impl Progress {
    fn new() -> anyhow::Result<Self> {
        let style = ProgressStyle::with_template(
            "{msg:9} {bar:40} {percent:>3} %  {human_pos}/{human_len} events  {per_sec}",
        )?;
        let now = Instant::now();
        Ok(Self {
            bar: ProgressBar::new(0).with_style(style),
            step: None,
            began: (now, 0),
            reported: now,
        })
    }

    fn report(&mut self, step: CopyStep, done: u64, total: u64) {
        let now = Instant::now();
        let name = match step {
            CopyStep::Events => "copying",
            CopyStep::Verification => "verifying",
        };
        if self.step != Some(step) {
            self.step = Some(step);
            (self.began, self.reported) = ((now, done), now);
            self.bar.set_message(name);
            self.bar.reset();
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
        let is_last = done == total;
        if self.bar.is_hidden() && (is_last || now - self.reported >= REPORT_INTERVAL) {
            self.reported = now;
            let (since, before) = self.began;
            let rate = (done - before) as f64 / (now - since).as_secs_f64().max(0.001);
            let percent = (done * 100).checked_div(total).unwrap_or(100);
            log::info!("{name}: {percent} %, {done} of {total} events, {rate:.0} events/s");
        }
    }
}
