//! `audit-server archive restore`: puts events back that retention removed, for a hold that keeps them.

use super::verified::VerifiedArchive;
use crate::options::DatabaseOptions;
use crate::service::{command_store, open_with_keys};
use anyhow::{Context, bail};
use audit_app::{ArchivedFate, ArchivedRow, HoldId, LogRestore, RestoredRow, Settings};
use audit_archive::layout::{is_unfinished, log_directory};
use audit_archive::{ArchivedEvent, file_digest, read_events};
use audit_cli::print_error;
use audit_domain::{Environment, EventField, EventId, ProjectId};
use clap::Args;
use std::fs::File;
use std::io::{self, Seek, Write};
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
/// A transaction is followed by a pause of this many times its duration, as long as this at most: servers store events meanwhile.
const STEP_PAUSE_FACTOR: u32 = 4;
const STEP_PAUSE_MAX: Duration = Duration::from_secs(5);

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
    if is_unfinished(&options.from)? {
        bail!(
            "--from: {} is not complete: run `archive create --from` again",
            options.from.display()
        );
    }
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
    let left = each_row(&archive, &mut restore, |_, row| {
        let (first, _) = seqs.unwrap_or((row.left.seq, 0));
        (seqs, events) = (Some((first, row.left.seq + 1)), events + 1);
        Ok(())
    })?;
    if seqs.is_some() || restore.is_announced()? {
        warn_of_erasures(restore.later_erasures()?);
    }
    let mut restored = 0;
    if let Some((first, end)) = seqs {
        let wait_for_signature =
            |what: &str, size: u64| wait_for(what, || Ok(signed()?.filter(|log| log.head().size >= size)));
        // Without a server that signs, nothing is announced that is not done.
        wait_for_signature("the signature of the newest events by a server", restore.size()?)?;
        let announced = restore.announce(&(first..end), events, archive.manifest)?;
        wait_for_signature(
            "the signature of `audit.events.restored` by a server",
            announced + 1,
        )?;
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
    }
    home.close();
    writeln!(
        io::stdout(),
        "{restored} events restored to {}, for the hold {}{}",
        log.log.as_str(),
        options.hold,
        left.described()
    )?;
    Ok(ExitCode::SUCCESS)
}

/// What of an archive is not put back.
#[derive(Default)]
struct Left {
    there: u64,
    not_held: u64,
    erased: u64,
    erased_in_archive: u64,
    /// Positions of the log that the archive has no event of.
    without_event: u64,
}

impl Left {
    fn described(&self) -> String {
        let counts = [
            (self.there, "were there already"),
            (self.not_held, "are not covered by the hold"),
            (self.erased, "were erased"),
            (self.erased_in_archive, "were erased in part in the archive only"),
            (
                self.without_event,
                "are not in the archive, which has their hashes",
            ),
        ];
        let counts = counts.into_iter().filter(|(events, _)| *events > 0);
        let lines = counts.map(|(events, what)| format!("\nnot restored: {events} that {what}"));
        lines.collect()
    }
}

fn warn_of_erasures(later: usize) {
    if later > 0 {
        print_error(&format!(
            "{later} erasures were carried out since retention removed the first events, and may not have seen those that are restored: \
             request those erasures again"
        ));
    }
}

fn put(restore: &LogRestore, rows: &[RestoredRow]) -> anyhow::Result<usize> {
    let what = "the database, which writes a month or the index anew, or has to index what was restored";
    let mut took = Duration::ZERO;
    let restored = wait_for(what, || {
        let started = Instant::now();
        let restored = restore.put(rows)?;
        took = started.elapsed();
        Ok(restored)
    })?;
    std::thread::sleep((took * STEP_PAUSE_FACTOR).min(STEP_PAUSE_MAX));
    Ok(restored)
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

/// Passes the row of each event that can be put back to `take`, in the order of the log. Returns what of the archive is left.
fn each_row(
    archive: &VerifiedArchive,
    restore: &mut LogRestore,
    mut take: impl FnMut(&LogRestore, RestoredRow) -> anyhow::Result<()>,
) -> anyhow::Result<Left> {
    let mut after_id: Option<EventId> = None;
    let (mut left, mut present) = (Left::default(), 0_u64);
    let mut one = |event: &ArchivedEvent| -> anyhow::Result<()> {
        let fields = event.fields();
        let fate = restore.fate(&ArchivedRow {
            seq: event.seq,
            fields,
            content_hash: event.content_hash,
            content_salt: &event.content_salt,
            redacted: event.redacted,
            after_id,
        })?;
        let id = fields.get(EventField::Id).trim_matches('"');
        after_id = after_id.max(Some(id.parse().context("an event has no id")?));
        present += 1;
        match fate {
            ArchivedFate::Restored(row) => take(restore, *row)?,
            ArchivedFate::NotRemoved => {}
            ArchivedFate::There => left.there += 1,
            ArchivedFate::Erased => left.erased += 1,
            ArchivedFate::ErasedInArchive => left.erased_in_archive += 1,
            ArchivedFate::NotHeld => left.not_held += 1,
        }
        Ok(())
    };
    for (file, digest) in &archive.files {
        let mut opened = File::open(file).with_context(|| file.display().to_string())?;
        if file_digest(&mut opened)?.0 != *digest {
            bail!("{} was changed meanwhile", file.display());
        }
        opened.rewind()?;
        read_events(opened, &archive.log, |event| {
            Ok(one(&event).map_err(io::Error::other)?)
        })?;
    }
    left.without_event = archive.end_seq.saturating_sub(present);
    Ok(left)
}
