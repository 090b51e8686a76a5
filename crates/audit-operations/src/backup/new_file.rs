//! Files that get their name only when they are complete, and replace none.

use anyhow::{Context, anyhow, bail};
use rustix::fs::{Advice, CWD, RenameFlags, fadvise, renameat_with, statvfs};
use rustix::io::Errno;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The end of the name of a file that is being written. Its name begins with a point.
pub(super) const PARTIAL: &str = ".partial";
/// What SQLite puts beside a database. A file left by an earlier database would be read as part of a new one.
const COMPANIONS: [&str; 7] = [
    "",
    "-wal",
    "-shm",
    "-journal",
    "-index",
    "-index-wal",
    "-index-shm",
];

/// A file that is being written beside its target. It is removed when dropped.
#[derive(Debug)]
pub(super) struct NewFile {
    path: PathBuf,
    target: PathBuf,
    /// Locked, so that another process does not take it for one that a killed process left.
    file: File,
}

impl NewFile {
    /// Creates an empty file, which only its owner can read, for a database of up to `bytes_max` bytes that will be `target`.
    pub(super) fn create(target: &Path, bytes_max: u64) -> anyhow::Result<Self> {
        refuse_existing(target)?;
        let directory = directory_of(target);
        require_space(directory, bytes_max)?;
        let path = partial_path(target);
        remove_abandoned(&path)?;
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        let file = match created {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                bail!("another process is writing {}", path.display());
            }
            created => created.with_context(|| cannot_write(&path))?,
        };
        lock(&file, &path)?;
        Ok(Self {
            path,
            target: target.to_owned(),
            file,
        })
    }

    /// Where it is while it is being written.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes everything to the disk. What is read of it from then on comes from there, where the system has a cache to drop.
    pub(super) fn sync(&self) -> anyhow::Result<()> {
        self.file.sync_all().with_context(|| cannot_write(&self.path))?;
        if let Err(error) = fadvise(&self.file, 0, None, Advice::DontNeed) {
            log::debug!("cannot drop cached pages of {}: {error}", self.path.display());
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> anyhow::Result<u64> {
        let metadata = self.file.metadata().with_context(|| cannot_write(&self.path))?;
        Ok(metadata.len())
    }

    /// Gives the file its name, durably.
    pub(super) fn publish(self) -> anyhow::Result<()> {
        let target = &self.target;
        refuse_existing(target)?;
        match rename_new(&self.path, target) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(exists(target)),
            renamed => renamed.with_context(|| cannot_write(target))?,
        }
        let synced = File::open(directory_of(target)).and_then(|directory| directory.sync_all());
        synced.with_context(|| cannot_write(target))
    }

    /// The same under another name in the same directory.
    pub(super) fn publish_as(mut self, target: &Path) -> anyhow::Result<()> {
        target.clone_into(&mut self.target);
        self.publish()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                log::warn!("cannot remove {}: {error}", self.path.display());
            }
            _ => {}
        }
    }
}

/// Removes the file of this name that a killed process has left. One that a process is writing stays, and is an error.
pub(super) fn remove_abandoned(path: &Path) -> anyhow::Result<()> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(metadata) if metadata.is_file() => {
            lock(&File::open(path).with_context(|| cannot_write(path))?, path)?;
        }
        Err(error) => return Err(error).with_context(|| cannot_write(path)),
        // A link, which is removed itself.
        Ok(_) => {}
    }
    std::fs::remove_file(path).with_context(|| cannot_write(path))
}

fn lock(file: &File, path: &Path) -> anyhow::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => bail!("another process is writing {}", path.display()),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| cannot_write(path)),
    }
}

/// Fails if the target, or a file that SQLite would take for a part of it, exists.
fn refuse_existing(target: &Path) -> anyhow::Result<()> {
    for companion in COMPANIONS {
        let mut path = target.as_os_str().to_owned();
        path.push(companion);
        let path = PathBuf::from(path);
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => {
                found.with_context(|| cannot_write(&path))?;
                return Err(exists(&path));
            }
        }
    }
    Ok(())
}

fn exists(path: &Path) -> anyhow::Error {
    anyhow!("{} exists, and no existing file is overwritten", path.display())
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// A full disk would stop the writers of a database that is on it as well.
fn require_space(directory: &Path, needed: u64) -> anyhow::Result<()> {
    let state = statvfs(directory).with_context(|| cannot_write(directory))?;
    let free = state.f_bavail.saturating_mul(state.f_frsize);
    if free < needed {
        bail!(
            "{} has {free} bytes free, and up to {needed} are needed",
            directory.display()
        );
    }
    Ok(())
}

/// Renames a file, and fails if there is one of the new name. Not every file system can do that in one step; those that cannot
/// have hard links.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            std::fs::hard_link(from, to)?;
            std::fs::remove_file(from)
        }
        renamed => Ok(renamed?),
    }
}

fn partial_path(target: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(PARTIAL);
    directory_of(target).join(name)
}

/// The directory of a file.
pub(super) fn directory_of(path: &Path) -> &Path {
    let directory = path
        .parent()
        .filter(|directory| !directory.as_os_str().is_empty());
    directory.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_file_gets_its_name_at_the_end_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.db");
        let file = NewFile::create(&target, 1).unwrap();
        std::fs::write(file.path(), "text").unwrap();
        assert_eq!(names(folder.path()), [".a.db.partial"]);
        file.sync().unwrap();
        assert_eq!(file.bytes().unwrap(), 4);
        file.publish().unwrap();
        assert_eq!(names(folder.path()), ["a.db"]);
        assert_eq!(target.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_is_not_published_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(NewFile::create(&folder.path().join("a.db"), 1).unwrap());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn nothing_that_exists_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.db");
        for companion in COMPANIONS {
            let existing = folder.path().join(format!("a.db{companion}"));
            std::fs::write(&existing, "other").unwrap();
            let refused = NewFile::create(&target, 1).unwrap_err().to_string();
            assert_eq!(refused, exists(&existing).to_string());
            std::fs::remove_file(&existing).unwrap();
        }
        // It appears while the file is being written.
        let file = NewFile::create(&target, 1).unwrap();
        std::fs::write(&target, "other").unwrap();
        assert!(rename_new(file.path(), &target).is_err());
        assert!(file.publish().unwrap_err().to_string().contains("a.db exists"));
        assert_eq!(std::fs::read(&target).unwrap(), b"other");
        assert_eq!(names(folder.path()), ["a.db"]);
    }

    #[test]
    fn a_link_at_the_place_of_the_partial_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other");
        std::fs::write(&other, "other").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join(".a.db.partial")).unwrap();
        let file = NewFile::create(&folder.path().join("a.db"), 1).unwrap();
        std::fs::write(file.path(), "text").unwrap();
        assert_eq!(std::fs::read(&other).unwrap(), b"other");
    }

    #[test]
    fn what_a_process_is_writing_is_not_taken_from_it_and_what_it_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.db");
        let file = NewFile::create(&target, 1).unwrap();
        let refused = NewFile::create(&target, 1).unwrap_err();
        assert!(
            refused.to_string().starts_with("another process is writing"),
            "{refused}"
        );
        drop(file);
        std::fs::write(folder.path().join(".a.db.partial"), "left").unwrap();
        let file = NewFile::create(&target, 1).unwrap();
        assert_eq!(file.bytes().unwrap(), 0);
    }

    #[test]
    fn a_disk_without_space_is_not_filled() {
        let folder = tempfile::tempdir().unwrap();
        let refused = NewFile::create(&folder.path().join("a.db"), u64::MAX).unwrap_err();
        assert!(refused.to_string().contains("bytes free"), "{refused}");
        assert!(names(folder.path()).is_empty());
    }
}
