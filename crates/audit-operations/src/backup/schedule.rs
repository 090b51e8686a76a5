//! The backups that a server makes of its own database, at an interval.
//!
//! Their names have the time and the id of the server's state directory: `audit-20261124T111000Z-0123456789abcdef.db`. A server
//! deletes only files of its own id, so several may share a directory.

use super::new_file::{PARTIAL, remove_abandoned};
use super::{INCONSISTENT, VerifiedCopy, sqlite_path, write};
use crate::MAIN_HEADING;
use crate::options::{DatabaseOptions, positive};
use anyhow::{Context, bail};
use audit_app::AuditLog;
use audit_cli::small_file;
use audit_cli::{SystemClock, SystemEntropy};
use audit_domain::{Clock, Entropy, Timestamp};
use audit_verifier::Age;
use clap::Args;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// The pause after a failure, unless the interval is shorter.
const RETRY_MIN: Duration = Duration::from_secs(300);
/// A long attempt that failed is followed by a pause this many times as long.
const RETRY_PAUSE_FACTOR: u32 = 10;
/// How long a stop waits for a backup that is being written. Its partial file is removed by the next start.
const STOP_SECONDS_MAX: u64 = 1;
/// The digits of an id.
const ID_DIGITS: usize = 16;
/// Copies with an inconsistent log that are kept beside the others.
const INCONSISTENT_KEPT: usize = 1;

#[derive(Debug, Args)]
pub struct ScheduleOptions {
    /// Existing directory for backups of the SQLite database.
    ///
    /// With it, the server makes and verifies backups by itself.
    #[arg(long, value_name = "PATH", env = "AUDIT_BACKUP_DIRECTORY", help_heading = MAIN_HEADING)]
    backup_directory: Option<PathBuf>,
    /// Interval of these backups, such as 30m or 24h.
    #[arg(long, value_name = "TIME", env = "AUDIT_BACKUP_EVERY", default_value = "24h")]
    backup_every: Age,
    /// Number of these backups that are kept. Older ones are deleted after a new one is verified.
    #[arg(long, value_name = "N", env = "AUDIT_BACKUP_KEEP", default_value_t = 7, value_parser = positive)]
    backup_keep: usize,
}

/// What a server does for its backups.
pub struct Schedule {
    database: DatabaseOptions,
    directory: PathBuf,
    every: Duration,
    keep: usize,
    id: String,
}

impl ScheduleOptions {
    /// The schedule, if there is a directory. The caller has opened the state directory.
    pub fn schedule(&self, database: &DatabaseOptions) -> anyhow::Result<Option<Schedule>> {
        let Some(directory) = &self.backup_directory else {
            return Ok(None);
        };
        sqlite_path(database).context("--backup-directory")?;
        if !directory.is_dir() {
            bail!("--backup-directory: {} is not a directory", directory.display());
        }
        if self.backup_every.seconds() == 0 {
            bail!("--backup-every: must be more than 0s");
        }
        Ok(Some(Schedule {
            database: database.clone(),
            directory: directory.clone(),
            every: Duration::from_secs(self.backup_every.seconds().unsigned_abs()),
            keep: self.backup_keep,
            id: read_id(&database.backup_id_file()?).context("--state-directory")?,
        }))
    }
}

/// The backups that a server is to make, and the last one that is there.
pub(crate) struct ScheduleState {
    pub(crate) every_seconds: i64,
    pub(crate) last: Option<Timestamp>,
}

impl ScheduleOptions {
    /// The directory of the backups.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.backup_directory.as_deref()
    }

    /// The state of the backups, if there is a directory. Changes nothing.
    pub(crate) fn state(&self, database: &DatabaseOptions) -> anyhow::Result<Option<ScheduleState>> {
        let Some(directory) = &self.backup_directory else {
            return Ok(None);
        };
        let id = small_file::read_text(&database.backup_id_file()?).unwrap_or_default();
        let mut last = None;
        let failed = || format!("--backup-directory: cannot list {}", directory.display());
        for entry in std::fs::read_dir(directory).with_context(failed)? {
            let name = entry.with_context(failed)?.file_name();
            last = last.max(time_of(&name.to_string_lossy(), id.trim()));
        }
        Ok(Some(ScheduleState {
            every_seconds: self.backup_every.seconds(),
            last,
        }))
    }
}

impl Schedule {
    /// Makes backups until `stopping` closes.
    fn work(&self, service: &AuditLog, stopping: &mpsc::Receiver<()>) {
        let last = self.last().unwrap_or_else(|error| {
            log::warn!("cannot list the backups: {error:#}");
            None
        });
        service.backups().begin(self.every.as_secs().cast_signed(), last);
        let mut pause = due_in(last, self.every, SystemClock.now());
        while stopping.recv_timeout(pause) == Err(mpsc::RecvTimeoutError::Timeout) {
            let (now, began) = (SystemClock.now(), Instant::now());
            let made = self.make(now);
            let duration = began.elapsed();
            // Not one after the other where the interval is too short.
            pause = self.every.saturating_sub(duration).max(duration);
            match made {
                Ok(None) => service.backups().succeeded(now),
                // The next copy would be the same.
                Ok(Some(finding)) => {
                    log::error!("the log is inconsistent, so its copy is no backup: {finding}");
                    service.backups().failed();
                }
                Err(error) => {
                    log::error!("no backup was made: {error:#}");
                    service.backups().failed();
                    pause = self.every.min(RETRY_MIN.max(RETRY_PAUSE_FACTOR * duration));
                }
            }
        }
    }

    /// Makes a backup, and deletes old ones. Returns the first finding if the log is inconsistent; then no backup is deleted.
    fn make(&self, now: Timestamp) -> anyhow::Result<Option<String>> {
        let began = Instant::now();
        self.remove_abandoned()?;
        let name = name_of(now, &self.id);
        let copy = write(&self.database, &self.directory.join(&name))?;
        if let Some(finding) = copy.finding() {
            self.remove_old(INCONSISTENT, &format!("{name}{INCONSISTENT}"), INCONSISTENT_KEPT)?;
            return Ok(Some(finding));
        }
        report(&copy, began.elapsed());
        let removed = self.remove_old("", &name, self.keep);
        // The new one is good, whatever becomes of the old ones.
        match removed {
            Ok(0) => {}
            Ok(count) => log::info!("{count} older backups were deleted"),
            Err(error) => log::error!("cannot delete older backups: {error:#}"),
        }
        Ok(None)
    }

    /// The time of the last backup in the directory.
    fn last(&self) -> anyhow::Result<Option<Timestamp>> {
        self.remove_abandoned()?;
        let names = self.names()?;
        Ok(names.iter().filter_map(|name| time_of(name, &self.id)).max())
    }

    /// The names in the directory.
    fn names(&self) -> anyhow::Result<Vec<String>> {
        let failed = || format!("cannot list {}", self.directory.display());
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.directory).with_context(failed)? {
            names.extend(entry.with_context(failed)?.file_name().into_string());
        }
        Ok(names)
    }

    /// Deletes own backups with this end of the name, except `new` and the latest of the others, `keep` in all. Returns their number.
    fn remove_old(&self, end: &str, new: &str, keep: usize) -> anyhow::Result<usize> {
        let is_old = |name: &String| {
            let own = name.strip_suffix(end).and_then(|name| time_of(name, &self.id));
            own.is_some() && name != new
        };
        let mut old: Vec<String> = self.names()?.into_iter().filter(is_old).collect();
        old.sort_unstable_by(|one, other| other.cmp(one));
        let old = old.split_off(old.len().min(keep.saturating_sub(1)));
        for name in &old {
            let path = self.directory.join(name);
            std::fs::remove_file(&path).with_context(|| format!("cannot delete {}", path.display()))?;
        }
        Ok(old.len())
    }

    /// Removes what a killed server of the same state directory was writing.
    fn remove_abandoned(&self) -> anyhow::Result<()> {
        for name in self.names()? {
            let partial = name.strip_prefix('.').and_then(|name| name.strip_suffix(PARTIAL));
            if partial.is_some_and(|partial| time_of(partial, &self.id).is_some()) {
                remove_abandoned(&self.directory.join(name))?;
            }
        }
        Ok(())
    }
}

fn report(copy: &VerifiedCopy, duration: Duration) {
    log::info!(
        "backup {}: {} bytes, {} events of {} logs verified, {:.1} s",
        copy.path.display(),
        copy.bytes,
        copy.events(),
        copy.logs().count(),
        duration.as_secs_f64()
    );
}

/// How long until the next backup is due. A last one in the future is one of a wrong clock.
fn due_in(last: Option<Timestamp>, every: Duration, now: Timestamp) -> Duration {
    let since = last.map(|last| now.as_micros() - last.as_micros());
    let since = since.and_then(|micros| u64::try_from(micros).ok());
    since.map_or(Duration::ZERO, |micros| {
        every.saturating_sub(Duration::from_micros(micros))
    })
}

/// The name of a backup that was begun at this time.
fn name_of(time: Timestamp, id: &str) -> String {
    let time = time.to_string();
    let digits: String = time
        .chars()
        .filter(|character| !"-:".contains(*character))
        .collect();
    let (seconds, _) = digits.split_once('.').unwrap_or((&digits, ""));
    format!("audit-{seconds}Z-{id}.db")
}

/// The time in the name of a backup of this id.
fn time_of(name: &str, id: &str) -> Option<Timestamp> {
    let time = name.strip_prefix("audit-")?.strip_suffix(&format!("-{id}.db"))?;
    if time.len() != 16 || !time.is_ascii() {
        return None;
    }
    let (date, clock) = (&time[..8], &time[9..15]);
    let text = format!(
        "{}-{}-{}T{}:{}:{}Z",
        &date[..4],
        &date[4..6],
        &date[6..],
        &clock[..2],
        &clock[2..4],
        &clock[4..]
    );
    let parsed = Timestamp::parse_rfc3339(&text).ok()?;
    (name_of(parsed, id) == name).then_some(parsed)
}

/// The id in a file of the state directory, which this process has locked. The file is created with a random id.
fn read_id(path: &Path) -> anyhow::Result<String> {
    let failed = || format!("cannot use {}", path.display());
    let text = small_file::read_text_if_any(path).with_context(failed)?;
    // A crash may have interrupted its creation.
    if let Some(id) = text.as_deref().map(str::trim_end).filter(|text| is_id(text)) {
        return Ok(id.to_owned());
    }
    let mut bytes = [0; ID_DIGITS / 2];
    SystemEntropy.fill(&mut bytes);
    let id = base16ct::lower::encode_string(&bytes);
    let mut options = std::fs::OpenOptions::new();
    options.create(true).truncate(true).write(true).mode(0o600);
    let mut file = options.open(path).with_context(failed)?;
    std::io::Write::write_all(&mut file, format!("{id}\n").as_bytes()).with_context(failed)?;
    file.sync_all().with_context(failed)?;
    Ok(id)
}

fn is_id(text: &str) -> bool {
    let is_digit = |character: char| character.is_ascii_digit() || ('a'..='f').contains(&character);
    text.len() == ID_DIGITS && text.chars().all(is_digit)
}

/// The thread that makes backups.
pub struct BackupWorker {
    /// The thread stops when this is dropped.
    stop: mpsc::Sender<()>,
    stopped: mpsc::Receiver<()>,
}

impl BackupWorker {
    /// Starts the thread, if there is a schedule.
    pub fn start(service: &Arc<AuditLog>, schedule: Option<Schedule>) -> std::io::Result<Option<Self>> {
        let Some(schedule) = schedule else {
            return Ok(None);
        };
        let (stop, stopping) = mpsc::channel();
        let (ended, stopped) = mpsc::channel();
        let service = Arc::clone(service);
        let thread = std::thread::Builder::new().name("backups".to_owned());
        thread.spawn(move || {
            schedule.work(&service, &stopping);
            drop(ended);
        })?;
        Ok(Some(Self { stop, stopped }))
    }

    /// Stops the thread, or leaves its backup unfinished.
    pub fn stop(self) {
        drop(self.stop);
        let wait = Duration::from_secs(STOP_SECONDS_MAX);
        if self.stopped.recv_timeout(wait) == Err(mpsc::RecvTimeoutError::Timeout) {
            log::warn!("a backup was not finished; the next start removes what is there of it");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef";
    const NOW: Timestamp = Timestamp::from_seconds(1_795_518_600);

    #[test]
    fn names_have_time_and_id_and_others_are_foreign() {
        let name = name_of(NOW, ID);
        assert_eq!(name, "audit-20261124T111000Z-0123456789abcdef.db");
        assert_eq!(time_of(&name, ID), Some(NOW));
        for foreign in [
            "audit-20261124T111000Z-0123456789abcde0.db",
            "audit-20261124T111000Z-0123456789abcdef.db.inconsistent",
            "audit-20261124T111000Z-0123456789abcdef.db-wal",
            "copy-of-audit-20261124T111000Z-0123456789abcdef.db",
            "audit-20261124t111000z-0123456789abcdef.db",
            "audit-20261324T111000Z-0123456789abcdef.db",
            "audit-2026112\u{e9}T11100Z-0123456789abcdef.db",
            "audit-0123456789abcdef.db",
            "audit.db",
        ] {
            assert_eq!(time_of(foreign, ID), None, "{foreign}");
        }
    }

    #[test]
    fn a_backup_is_due_an_interval_after_the_last_one_and_at_once_without_one() {
        let due = |last, every| due_in(last, Duration::from_secs(every), NOW).as_secs();
        let before = NOW.plus_seconds(-10);
        assert_eq!(due(Some(before), 60), 50);
        assert_eq!(due(Some(before), 5), 0);
        assert_eq!(due(None, 60), 0);
        assert_eq!(due(Some(NOW.plus_seconds(1)), 60), 0);
    }

    #[test]
    fn an_id_is_random_private_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.db.backup-id");
        let id = read_id(&path).unwrap();
        assert!(is_id(&id), "{id}");
        assert_eq!(read_id(&path).unwrap(), id);
        std::fs::write(&path, "").unwrap();
        assert_ne!(read_id(&path).unwrap(), id);
    }

    #[test]
    fn old_backups_of_this_id_are_deleted_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().to_owned();
        let schedule = Schedule {
            database: Database::parse_from(["x"]).options,
            directory: directory.clone(),
            every: Duration::from_secs(60),
            keep: 2,
            id: ID.to_owned(),
        };
        let name = |minutes: i64| name_of(NOW.plus_seconds(minutes * 60), ID);
        let create = |name: &str| std::fs::write(directory.join(name), "").unwrap();
        let foreign = ["audit-20200101T000000Z-ffffffffffffffff.db", "notes.txt"];
        let inconsistent = format!("{}{INCONSISTENT}", name(0));
        let partial = format!(".{}{PARTIAL}", name(4));
        let (old, new) = ([name(1), name(2), name(3)], name(-5));
        let all = old.iter().chain([&inconsistent, &partial, &new]);
        all.map(String::as_str).chain(foreign).for_each(create);
        schedule.remove_abandoned().unwrap();
        // The new one stays although its time is the earliest: a clock was wrong.
        assert_eq!(schedule.remove_old("", &new, 2).unwrap(), 2);
        let mut left = schedule.names().unwrap();
        left.sort_unstable();
        let mut expected = vec![name(3), inconsistent, new];
        expected.extend(foreign.map(str::to_owned));
        expected.sort_unstable();
        assert_eq!(left, expected);
    }

    #[derive(clap::Parser)]
    struct Database {
        #[command(flatten)]
        options: DatabaseOptions,
    }

    use clap::Parser;
}
