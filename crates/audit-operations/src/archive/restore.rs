//! `audit-server archive restore`: puts events back that retention removed, for a hold that keeps them.

use super::verified::VerifiedArchive;
use crate::options::DatabaseOptions;
use crate::service::{command_store, open_with_keys};
use anyhow::{Context, bail};
use audit_app::{ArchivedRow, HoldId, LogRestore, RestoredRow, Settings};
use audit_archive::layout::log_directory;
use audit_archive::{ArchivedEvent, read_events};
use audit_cli::print_error;
use audit_domain::{Environment, EventField, EventId, ProjectId};
use clap::Args;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The most rows of one transaction, and of their bytes: other writes wait for it.
const STEP_ROWS_MAX: usize = 200;
const STEP_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long the signature of a running server is waited for, which looks once a minute for what other processes have appended, and a
/// month that is written anew; and how often it is looked.
const WAIT: Duration = Duration::from_secs(150);
const PAUSE: Duration = Duration::from_millis(250);

/// The options of the command.
#[derive(Debug, Args)]
pub struct RestoreOptions {
    /// Directory of the archive.
    #[arg(long, value_name = "DIR")]
    pub from: PathBuf,
    /// Hold in force that keeps the events: those that it covers are restored.
    #[arg(long, value_name = "ID")]
    pub hold: HoldId,
    /// Project of the log.
    #[arg(long, value_name = "UUID")]
    pub project: ProjectId,
    /// Environment of the log: live or test.
    #[arg(long)]
    pub environment: Environment,
    #[command(flatten)]
    pub database: DatabaseOptions,
}

/// Runs the command.
pub(super) fn run(options: &RestoreOptions) -> anyhow::Result<ExitCode> {
    let keys = options.database.keys()?.clone();
    let home = open_with_keys(
        &options.database,
        keys,
        Settings::default(),
        command_store(2),
        None,
    )?;
    let service = home.cell_of_project(options.project)?;
    let signed = || service.signed_log(options.project, options.environment);
    let log = signed()?.context("nothing of the log is signed yet")?;
    let mut restore = service.restore(options.project, options.environment, &options.hold.to_string())?;
    let archive =
        VerifiedArchive::open(&log_directory(&options.from, &log.log), &service, &log).context("--from")?;
    let Some(archive) = archive else {
        bail!(
            "--from: {} has no archive of the log {}",
            options.from.display(),
            log.log.as_str()
        );
    };
    let (mut seqs, mut events) = (None, 0_u64);
    each_row(&archive, &mut restore, |_, row| {
        let (first, _) = seqs.unwrap_or((row.left.seq, 0));
        (seqs, events) = (Some((first, row.left.seq + 1)), events + 1);
        Ok(())
    })?;
    let mut restored = 0;
    if let Some((first, end)) = seqs {
        let announced = restore.announce(&(first..end), events, archive.manifest)?;
        let is_signed = || Ok(signed()?.filter(|log| log.head().size > announced));
        wait_for("the signature of `audit.events.restored` by a server", is_signed)?;
        let (mut step, mut bytes) = (Vec::new(), 0);
        each_row(&archive, &mut restore, |restore, row| {
            bytes += row.left.body.len();
            step.push(row);
            if step.len() == STEP_ROWS_MAX || bytes >= STEP_BYTES_MAX {
                restored += put(restore, &step)?;
                (step, bytes) = (Vec::new(), 0);
            }
            Ok(())
        })?;
        restored += put(&restore, &step)?;
        let later = restore.later_erasures()?;
        if later > 0 {
            print_error(&format!(
                "{later} erasures were carried out since retention removed the first of these events, and may not have seen them: \
                 request those erasures again"
            ));
        }
    }
    home.close();
    writeln!(
        io::stdout(),
        "{restored} events restored to {}, for the hold {}",
        log.log.as_str(),
        options.hold
    )?;
    Ok(ExitCode::SUCCESS)
}

fn put(restore: &LogRestore, rows: &[RestoredRow]) -> anyhow::Result<usize> {
    wait_for("the database, which writes a month or the index anew", || {
        Ok(restore.put(rows)?)
    })
}

/// Looks again until there is a result.
fn wait_for<T>(what: &str, mut look: impl FnMut() -> anyhow::Result<Option<T>>) -> anyhow::Result<T> {
    let started = Instant::now();
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if started.elapsed() >= WAIT {
            bail!("waited in vain for {what}: run the command again, it continues");
        }
        std::thread::sleep(PAUSE);
    }
}

/// Passes the row of each event that can be put back to `take`, in the order of the log.
fn each_row(
    archive: &VerifiedArchive,
    restore: &mut LogRestore,
    mut take: impl FnMut(&LogRestore, RestoredRow) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut after_id: Option<EventId> = None;
    let mut one = |event: &ArchivedEvent| -> anyhow::Result<()> {
        let fields = event.fields();
        let row = restore.row(&ArchivedRow {
            seq: event.seq,
            fields,
            content_hash: event.content_hash,
            content_salt: &event.content_salt,
            redacted: event.redacted,
            after_id,
        })?;
        let id = fields.get(EventField::Id).trim_matches('"');
        after_id = after_id.max(Some(id.parse().context("an event has no id")?));
        row.map_or(Ok(()), |row| take(restore, row))
    };
    for file in &archive.files {
        let opened = File::open(file).with_context(|| file.display().to_string())?;
        read_events(opened, &archive.log, |event| {
            Ok(one(&event).map_err(io::Error::other)?)
        })?;
    }
    Ok(())
}
