//! `audit-server backup` and `audit-server restore`: verified copies of an SQLite database.
//!
//! A copy is complete and verified before it gets its name, so whatever has the name of a backup is one.

mod new_file;
pub mod schedule;

use crate::options::DatabaseOptions;
use anyhow::{Context, bail};
use audit_app::{LedgerReport, Remembered, SignerMemory, VerifyOptions, first_finding, verify_deployment};
use audit_cli::over_events;
use audit_store::{DatabaseUrl, HeadKeys as _, SourceSchema, StoreError, check_copy, copy_snapshot, inspect};
use clap::Args;
use new_file::{NewFile, directory_of};
use rustix::process::setpriority_process;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The end of the name of a copy whose log is inconsistent.
const INCONSISTENT: &str = ".inconsistent";
/// The priority of the verification: the requests of a server on the same machine come first.
const VERIFICATION_NICE: i32 = 10;

/// The options of the command.
#[derive(Debug, Args)]
pub struct BackupOptions {
    /// File of the backup, which must not exist.
    file: PathBuf,
    #[command(flatten)]
    database: DatabaseOptions,
}

/// The options of the command.
#[derive(Debug, Args)]
pub struct RestoreOptions {
    /// File of the backup.
    file: PathBuf,
    #[command(flatten)]
    database: DatabaseOptions,
}

/// A verified copy of a database.
struct VerifiedCopy {
    path: PathBuf,
    bytes: u64,
    reports: Vec<LedgerReport>,
}

impl VerifiedCopy {
    fn events(&self) -> u64 {
        self.reports.iter().map(|report| report.events).sum()
    }

    /// The logs that have events.
    fn logs(&self) -> impl Iterator<Item = &LedgerReport> {
        self.reports.iter().filter(|report| report.events > 0)
    }

    /// The first finding, as text.
    fn finding(&self) -> Option<String> {
        let (report, finding) = first_finding(&self.reports)?;
        Some(format!("{}: {finding}", report.name()))
    }
}

/// `audit-server backup`.
pub fn backup(options: &BackupOptions) -> anyhow::Result<ExitCode> {
    let copy = write(&options.database, &options.file)?;
    let mut stdout = std::io::stdout().lock();
    print_logs(&mut stdout, &copy)?;
    let (path, bytes) = (copy.path.display(), copy.bytes);
    if let Some(finding) = copy.finding() {
        writeln!(
            stdout,
            "INCONSISTENT: {finding}\nThe copy is {path}, {bytes} bytes."
        )?;
        return Ok(ExitCode::FAILURE);
    }
    writeln!(
        stdout,
        "{path}: {bytes} bytes. Its structure and all {} events are verified against the logs.",
        copy.events()
    )?;
    Ok(ExitCode::SUCCESS)
}

/// `audit-server restore`.
pub fn restore(options: &RestoreOptions) -> anyhow::Result<ExitCode> {
    let RestoreOptions { file, database } = options;
    let target = sqlite_path(database)?;
    let mut directory = std::fs::DirBuilder::new();
    let directory = directory
        .recursive(true)
        .mode(0o700)
        .create(directory_of(&target));
    directory.with_context(|| format!("cannot create the directory of {}", target.display()))?;
    let new = NewFile::create(&target, bytes_of(file)?)?;
    let copy = fill(
        &new,
        file,
        SourceSchema::CurrentOrEarlier,
        &verify_options(database)?,
    )?;
    let reports = copy.1;
    if let Some((report, finding)) = first_finding(&reports) {
        bail!(
            "the backup is inconsistent, and nothing was restored: {}: {finding}",
            report.name()
        );
    }
    new.publish()?;
    let copy = VerifiedCopy {
        path: target,
        bytes: copy.0,
        reports,
    };
    let mut stdout = std::io::stdout().lock();
    print_logs(&mut stdout, &copy)?;
    write!(stdout, "{}", after_restore(database, &copy)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a backup of the database, which a server may be using, to a new file. A copy whose log is inconsistent gets another
/// name.
fn write(database: &DatabaseOptions, target: &Path) -> anyhow::Result<VerifiedCopy> {
    let source = sqlite_path(database)?;
    // Before the snapshot, which continues what is known here.
    let known = SignerMemory::read(&database.signer_file()?).context("--state-directory")?;
    let options = VerifyOptions {
        known: known.unwrap_or_default(),
        ..verify_options(database)?
    };
    let new = NewFile::create(target, bytes_of(&source)?)?;
    let (bytes, reports) = fill(&new, &source, SourceSchema::Current, &options)?;
    let mut copy = VerifiedCopy {
        path: target.to_owned(),
        bytes,
        reports,
    };
    match copy.finding() {
        None => new.publish()?,
        Some(_) => {
            let mut path = target.as_os_str().to_owned();
            path.push(INCONSISTENT);
            copy.path = path.into();
            new.publish_as(&copy.path)?;
        }
    }
    Ok(copy)
}

/// Copies a database, syncs the copy, and verifies it. Returns its size in bytes, and the report on each log.
fn fill(
    new: &NewFile,
    source: &Path,
    schema: SourceSchema,
    options: &VerifyOptions,
) -> anyhow::Result<(u64, Vec<LedgerReport>)> {
    copy_snapshot(source, new.path(), schema)?;
    new.sync()?;
    let url = DatabaseUrl::Sqlite(new.path().to_owned());
    let progress = over_events(0)?;
    let mut report_progress = |done, total| {
        progress.set_length(total);
        progress.set_position(done);
    };
    // A thread of its own, because a priority cannot be raised again.
    let verified = std::thread::scope(|scope| {
        let verify = || -> anyhow::Result<Vec<LedgerReport>> {
            if let Err(error) = setpriority_process(None, VERIFICATION_NICE) {
                log::debug!("cannot lower the priority of a verification: {error}");
            }
            check_copy(new.path())?;
            Ok(verify_deployment(&url, options, &mut report_progress)?)
        };
        scope.spawn(verify).join()
    });
    progress.finish_and_clear();
    let Ok(verified) = verified else {
        bail!("the verification panicked");
    };
    let reports = verified.with_context(|| format!("cannot verify the copy of {}", source.display()))?;
    Ok((new.bytes()?, reports))
}

fn verify_options(database: &DatabaseOptions) -> anyhow::Result<VerifyOptions> {
    Ok(VerifyOptions {
        encryption: database.keys()?.clone(),
        head_key: database.head_keys()?.in_file()?,
        ..VerifyOptions::default()
    })
}

/// The path of the database, which must be on SQLite.
fn sqlite_path(database: &DatabaseOptions) -> anyhow::Result<PathBuf> {
    match database.url()? {
        DatabaseUrl::Sqlite(path) => Ok(path),
        DatabaseUrl::Postgres(_) => bail!(
            "--database-url: back PostgreSQL up with its own programs, pg_dump or a base backup with archived WAL; \
             docs/backup.md has the commands"
        ),
    }
}

/// The size of a database with its write-ahead log: a copy is at most that large.
fn bytes_of(database: &Path) -> anyhow::Result<u64> {
    let metadata = database.metadata();
    let metadata = metadata.with_context(|| format!("cannot read {}", database.display()))?;
    if !metadata.is_file() {
        bail!("{} is not a file", database.display());
    }
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let log = Path::new(&log).metadata().map_or(0, |metadata| metadata.len());
    Ok(metadata.len() + log)
}

fn print_logs(out: &mut impl Write, copy: &VerifiedCopy) -> anyhow::Result<()> {
    for report in copy.logs() {
        let root = report.root.map(|root| root.to_string()).unwrap_or_default();
        writeln!(out, "{}  {} events, root {root}", report.name(), report.events)?;
    }
    Ok(())
}

/// What a restored database means for the logs, and what to do before a server starts on it.
fn after_restore(database: &DatabaseOptions, copy: &VerifiedCopy) -> anyhow::Result<String> {
    let mut text = format!(
        "{} events in {} logs are restored to {} and verified. A server builds the index when it starts.\n\
         Before it starts:\n\
         - Run `audit-server log new-name` if events may have been stored after the backup. They are lost here, while auditors \
         have their checkpoints, which the logs would contradict under their old name.\n",
        copy.events(),
        copy.logs().count(),
        copy.path.display()
    );
    let signed = database.signer_file()?;
    let known = SignerMemory::read(&signed).context("--state-directory")?;
    let longer = longer_logs(&known.unwrap_or_default(), &copy.reports);
    if longer > 0 {
        writeln!(
            text,
            "- This node has signed more of {longer} logs ({}): it signs nothing for them until they have a new name.",
            signed.display()
        )?;
    }
    let url = DatabaseUrl::Sqlite(copy.path.clone());
    let stored = inspect(&url, |reader| reader.stored_head_key()).map_err(|error: StoreError| {
        anyhow::Error::new(error).context("cannot read the restored database")
    })?;
    let keys = database.head_keys()?;
    if stored.id.is_some() && keys.choose(&stored).is_err() {
        writeln!(
            text,
            "- This node does not have the head key, and a server does not start without it: give it the AUDIT_ENCRYPTION_KEY \
             of the backup, or its key file as {}.",
            keys.file.display()
        )?;
    }
    text.push_str("docs/backup.md describes the steps.\n");
    Ok(text)
}

/// The number of logs of which this node has signed more than a database has.
fn longer_logs(known: &HashMap<Box<str>, Remembered>, reports: &[LedgerReport]) -> usize {
    let is_longer = |origin: &str, known: &Remembered| {
        let report = reports
            .iter()
            .find(|report| origin.ends_with(&format!("/{}", report.name())));
        known.size() > report.map_or(0, |report| report.events)
    };
    known
        .iter()
        .filter(|(origin, known)| is_longer(origin, known))
        .count()
}
