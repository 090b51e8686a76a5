//! `audit-server archive`: writes the events of logs to Parquet files with manifests that prove them, and puts removed ones back.

mod bucket;
mod record;
mod restore;
mod source;
mod unfinished;
mod verified;

use crate::options::DatabaseOptions;
use crate::service::{command_store, open_with_keys};
use anyhow::{Context, bail};
use audit_app::{AuditLog, EvidenceError, LoggedPosition, SignedLog};
use audit_archive::layout::{self, LOCK, NEW_FILE, NEW_MANIFEST, Part, log_directory};
use audit_archive::{Chain, EventWriter, Manifest, RemovedRun, file_digest, parse_month};
use audit_cli::{SystemClock, print_error};
use audit_domain::{Clock, Environment, Month, ProjectId, Sha256Digest};
use audit_ledger::{Frontier, SignedCheckpoint};
use audit_verifier::archive::ArchiveOptions;
use bucket::ArchiveBucketOptions;
use clap::{Args, Subcommand};
use restore::RestoreOptions;
use source::{Counts, Older, Source, SourceOptions};
use std::cell::RefCell;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use unfinished::Unfinished;

/// The most positions of a file.
const FILE_EVENTS_MAX: u64 = 2_000_000;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum ArchiveCommand {
    /// Write the events of past months that the archive does not have yet. Runs beside servers.
    ///
    /// Run it again after an interruption, and each month: it continues where the archive ends. Each file is verified before it
    /// gets its name.
    Create(Box<CreateOptions>),
    /// Put events back into a log that retention removed and a hold covers. Runs beside servers.
    ///
    /// The archive is verified against the log, and what an erasure took stays away. The log gets the event audit.events.restored first,
    /// which a running server must sign. Run it again after an interruption: it continues.
    Restore(Box<RestoreOptions>),
    /// Verify an archive: every event, the chain of its files, and the log's signature. Needs no database.
    ///
    /// Exit code 0: the archive has every event up to its end. 1: it does not. 2: the check could not be completed.
    Verify(ArchiveOptions),
}

/// The options of the command.
#[derive(Debug, Args)]
pub struct CreateOptions {
    /// Directory of the archive. It is created if it does not exist.
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,
    /// Archive only the logs of this project.
    #[arg(long, value_name = "UUID")]
    pub project: Option<ProjectId>,
    /// Archive only logs of this environment: live or test.
    #[arg(long)]
    pub environment: Option<Environment>,
    /// Last month to archive, such as 2026-11, by UTC; it may be the present one. By default the last one that has ended.
    #[arg(long, value_name = "MONTH", value_parser = read_month)]
    pub until: Option<Month>,
    /// Most events of a file.
    #[arg(long, value_name = "N", default_value_t = FILE_EVENTS_MAX, value_parser = clap::value_parser!(u64).range(1..=FILE_EVENTS_MAX))]
    pub events_per_file: u64,
    /// Verify the whole archive, and store in each log what it has. Policies of retention that wait for an archive go by this.
    #[arg(long)]
    pub record: bool,
    #[command(flatten)]
    pub bucket: ArchiveBucketOptions,
    #[command(flatten)]
    pub source: SourceOptions,
    #[command(flatten)]
    pub database: DatabaseOptions,
}

fn read_month(text: &str) -> Result<Month, String> {
    parse_month(text).ok_or_else(|| "must be a month such as 2026-11".to_owned())
}

/// Runs the command.
pub fn run(command: &ArchiveCommand) -> anyhow::Result<ExitCode> {
    match command {
        ArchiveCommand::Create(options) => create(options),
        ArchiveCommand::Restore(options) => restore::run(options),
        ArchiveCommand::Verify(options) => audit_verifier::archive::run(options),
    }
}

fn create(options: &CreateOptions) -> anyhow::Result<ExitCode> {
    let settings = options.source.settings()?;
    let older = Older::open(options, &settings)?;
    let bucket = options.bucket.open()?;
    let keys = options.database.keys()?.clone();
    let home = open_with_keys(&options.database, keys, settings, command_store(2), None)?;
    let logs = logs_of(&home, options)?;
    if let Some(older) = &older {
        older.check(&logs)?;
    }
    let cannot_write = || format!("cannot write {}", options.to.display());
    fs::create_dir_all(&options.to).with_context(cannot_write)?;
    let lock = File::create(options.to.join(LOCK)).with_context(cannot_write)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => bail!("another process is writing {}", options.to.display()),
        Err(TryLockError::Error(error)) => return Err(error).with_context(cannot_write),
    }
    let unfinished = Unfinished::begin(options, older.as_ref(), &logs)?;
    let until = options
        .until
        .unwrap_or_else(|| Month::of(SystemClock.now()).plus(-1));
    let (mut files, mut events, mut outcome) = (0_u64, 0, ExitCode::SUCCESS);
    let mut taken = Counts::default();
    for log in logs {
        let (service, project_id, environment) = log;
        let Some(signed) = service.signed_log(project_id, environment)? else {
            writeln!(io::stdout(), "{project_id}/{environment}  nothing is signed yet")?;
            continue;
        };
        let mut archive = LogArchive {
            directory: log_directory(&options.to, &signed.log),
            service: &service,
            ids: (project_id, environment),
            log: signed,
            until,
            events_max: options.events_per_file,
            source: None,
        };
        let source = older.as_ref().map(|older| older.source(&archive)).transpose();
        let written = source.and_then(|source| {
            archive.source = source.map(RefCell::new);
            if let Some(bucket) = &bucket {
                archive.take_from(bucket).context("--archive-bucket")?;
            }
            archive.write_parts(|part, manifest| {
                files += 1;
                events += manifest.events;
                let removed: usize = manifest.removed.iter().map(|run| run.content_hashes.len()).sum();
                let path = part.file(&archive.directory);
                let mut stdout = io::stdout();
                write!(stdout, "{}  {} events", path.display(), manifest.events)?;
                if removed > 0 {
                    write!(stdout, ", {removed} removed ones")?;
                }
                writeln!(stdout)
            })
        });
        let written = written.and_then(|()| match &bucket {
            Some(bucket) => archive.put_into(bucket).context("--archive-bucket"),
            None => Ok(()),
        });
        let written = written.and_then(|()| match options.record {
            true => archive.record(),
            false => Ok(()),
        });
        if let Some(source) = &archive.source {
            taken.add(source.borrow().written);
        }
        // The others must not wait until an operator has looked at this one.
        if let Err(error) = written {
            print_error(&format!(
                "cannot archive the log {}: {error:#}",
                archive.log.log.as_str()
            ));
            outcome = ExitCode::FAILURE;
        }
    }
    home.close();
    if let Some(unfinished) = unfinished.filter(|_| outcome == ExitCode::SUCCESS) {
        unfinished.end().with_context(cannot_write)?;
    }
    let of_older = older.map_or_else(String::new, |older| older.summary(taken));
    writeln!(
        io::stdout(),
        "{events} events archived in {files} files, up to {until}{of_older}"
    )?;
    Ok(outcome)
}

/// The logs to archive, each with the service of its cell.
fn logs_of(
    home: &Arc<AuditLog>,
    options: &CreateOptions,
) -> anyhow::Result<Vec<(Arc<AuditLog>, ProjectId, Environment)>> {
    let mut logs = Vec::new();
    for log in home.logs()? {
        let (project, environment) = log.as_str().split_once('/').context("a log without a project")?;
        let (project, environment) = (project.parse::<ProjectId>()?, environment.parse::<Environment>()?);
        let is_wanted = options.project.is_none_or(|wanted| wanted == project)
            && options.environment.is_none_or(|wanted| wanted == environment);
        if is_wanted {
            logs.push((home.cell_of_project(project)?, project, environment));
        }
    }
    if let Some(project) = options.project.filter(|_| logs.is_empty()) {
        bail!("--project: there is no project {project}");
    }
    Ok(logs)
}

/// The archive of a log.
struct LogArchive<'a> {
    directory: PathBuf,
    service: &'a AuditLog,
    ids: (ProjectId, Environment),
    log: SignedLog,
    until: Month,
    events_max: u64,
    source: Option<RefCell<Source<'a>>>,
}

impl LogArchive<'_> {
    /// Writes the files that are missing, and passes each to `report`.
    fn write_parts(&self, mut report: impl FnMut(&Part, &Manifest) -> io::Result<()>) -> anyhow::Result<()> {
        let (mut frontier, mut previous) = self.end_of_archive()?;
        while let Some(month) = self.next_month(frontier.size())? {
            if month > self.until {
                break;
            }
            let (part, manifest, chain) = self.write_part(month, frontier, previous)?;
            if let Some(source) = &self.source {
                source.borrow_mut().count();
            }
            report(&part, &manifest)?;
            (frontier, previous) = chain;
        }
        Ok(())
    }

    /// The tree and the digest of the manifest at the end of the archive. Removes what a killed process has left there.
    fn end_of_archive(&self) -> anyhow::Result<(Frontier, Option<Sha256Digest>)> {
        let listing = layout::list(&self.directory)?;
        let Some((_, last)) = listing.parts.last_key_value() else {
            self.remove_unfinished(&listing.unfinished, 0)?;
            return Ok((Frontier::new(), None));
        };
        let text = last.read_manifest(&self.directory)?;
        let path = last.manifest(&self.directory);
        let manifest = Manifest::parse(&text).with_context(|| path.display().to_string())?;
        let end = manifest.seqs.end;
        let is_there = fs::metadata(last.file(&self.directory));
        let is_there = is_there.is_ok_and(|file| file.len() == manifest.file_bytes);
        if manifest.log != self.log.log || end != last.seqs.end || !is_there {
            bail!("{} is not that of the file beside it", path.display());
        }
        let origin = self.log.checkpoint.checkpoint().origin().as_str();
        if manifest.checkpoint.lines().next() != Some(origin) {
            bail!("the log of the archive is now named {origin}: archive it into a new directory");
        }
        let size = self.log.head().size;
        if size < end {
            bail!(
                "the archive has {end} positions, and the log is signed up to {size}: after a restore of a backup, archive it into a \
                 new directory"
            );
        }
        let (frontier, _) = self.service.tree_of_log(&self.log, end)?;
        if frontier.root() != manifest.root {
            bail!(
                "the archive has other events than the log: after a restore of a backup, archive it into a new directory"
            );
        }
        self.remove_unfinished(&listing.unfinished, end)?;
        Ok((frontier, Some(Manifest::digest(&text))))
    }

    fn remove_unfinished(&self, unfinished: &[Part], end: u64) -> io::Result<()> {
        let new = [NEW_FILE, NEW_MANIFEST].map(|name| self.directory.join(name));
        let parts = unfinished.iter().filter(|part| part.seqs.start == end);
        for path in parts.map(|part| part.file(&self.directory)).chain(new) {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes the file that begins where the archive ends, and its manifest. Returns them with the end of the archive.
    fn write_part(
        &self,
        month: Month,
        frontier: Frontier,
        previous: Option<Sha256Digest>,
    ) -> anyhow::Result<(Part, Manifest, (Frontier, Option<Sha256Digest>))> {
        let cannot_write = || format!("cannot write {}", self.directory.display());
        fs::create_dir_all(&self.directory).with_context(cannot_write)?;
        let path = self.directory.join(NEW_FILE);
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .with_context(cannot_write)?;
        let mut writer = EventWriter::new(file)?;
        let start = frontier.size();
        let (mut end, mut removed) = (start, Vec::new());
        let limit = self.log.head().size.min(start.saturating_add(self.events_max));
        let mut source = self.source.as_ref().map(RefCell::borrow_mut);
        let read = self
            .service
            .logged_positions(&self.log, start..limit, |seq, position| {
                let position = match &mut source {
                    Some(source) => source.position(seq, position).map_err(io::Error::other)?,
                    None => position,
                };
                match position {
                    LoggedPosition::Event(_, at) if Month::of(at) != month => {
                        return Ok(ControlFlow::Break(()));
                    }
                    LoggedPosition::Event(event, _) => writer.append(seq, event).map_err(io::Error::other)?,
                    LoggedPosition::Removed(gone) => {
                        RemovedRun::push(&mut removed, seq, gone.content_hash, gone.removal);
                    }
                }
                if let Some(source) = &mut source {
                    source.note_written(seq);
                }
                end = seq + 1;
                Ok(ControlFlow::Continue(()))
            });
        drop(source);
        read.map_err(not_read)?;
        let (mut file, events) = writer.finish()?;
        file.sync_all()?;
        let (file_digest, file_bytes) = file_digest(&mut file)?;
        // A newer checkpoint than the one at the beginning: rows go once the event of their removal is signed, which may have been meanwhile.
        let newest = self.service.signed_log(self.ids.0, self.ids.1)?;
        let newest = newest.context("the log has no checkpoint any more")?;
        let (tree, consistency) = self.service.tree_of_log(&newest, end)?;
        let manifest = Manifest {
            log: self.log.log,
            month,
            seqs: start..end,
            events,
            file_bytes,
            file_digest,
            removed,
            root: tree.root(),
            checkpoint: newest.checkpoint.note().to_owned(),
            consistency,
            previous,
            frontier,
        };
        let text = manifest.to_string();
        self.verify(&manifest, &text, &path, newest.checkpoint)?;
        let part = Part {
            month,
            seqs: start..end,
        };
        self.publish(&part, &path, &text)?;
        Ok((part, manifest, (tree, Some(Manifest::digest(&text)))))
    }

    /// Reads the file back as a verifier does.
    fn verify(
        &self,
        manifest: &Manifest,
        text: &str,
        path: &Path,
        checkpoint: SignedCheckpoint,
    ) -> anyhow::Result<()> {
        let mut chain = Chain::continued(self.log.log, manifest.frontier.clone(), manifest.previous);
        let opened = |_: &str| Ok(checkpoint);
        let added = chain.add(text, File::open(path)?, opened);
        added.context("what was written is not what the log has")?;
        Ok(())
    }

    /// Gives the file and the manifest their names. A process that is killed between them leaves a file that the next one replaces.
    fn publish(&self, part: &Part, file: &Path, text: &str) -> anyhow::Result<()> {
        let path = part.file(&self.directory);
        let month = path.parent().unwrap_or(&self.directory);
        let is_new = !month.exists();
        fs::create_dir_all(month)?;
        if is_new {
            for directory in month.ancestors().skip(1).take(4) {
                sync(directory)?;
            }
        }
        fs::rename(file, &path)?;
        sync(month)?;
        let new = self.directory.join(NEW_MANIFEST);
        let mut manifest = File::create(&new)?;
        manifest.write_all(text.as_bytes())?;
        manifest.sync_all()?;
        fs::rename(&new, part.manifest(&self.directory))?;
        Ok(sync(month)?)
    }
}

/// Why positions of a log were not read: an error of what takes them is passed as it is.
fn not_read(error: EvidenceError) -> anyhow::Error {
    match error {
        EvidenceError::Write(error) => error.into(),
        error => error.into(),
    }
}

/// Makes the names in a directory durable.
fn sync(directory: &Path) -> io::Result<()> {
    let directory = match directory.as_os_str().is_empty() {
        true => Path::new("."),
        false => directory,
    };
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_given_with_its_year() {
        assert_eq!(read_month("2026-11").unwrap().to_string(), "2026-11");
        for other in ["2026-13", "2026-1", "11", "2026-11-01", ""] {
            assert_eq!(
                read_month(other),
                Err("must be a month such as 2026-11".to_owned()),
                "{other}"
            );
        }
    }
}
