//! Archives of `log export`. The README in each archive describes the format and has programs that check the same.

mod run;

use super::{Failure, check_log, check_quorum, layout};
use crate::evidence::{SUMS, readme, sum_line};
use audit_domain::{LogName, Timestamp};
use audit_ledger::{Policy, SignedCheckpoint, VerifierKey};
use run::{Proof, Run};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::rc::Rc;
use zip::ZipArchive;

/// The files of an archive except [`SUMS`], in the order of their lines there.
const FILES: [&str; 7] = [
    "README.txt",
    "checkpoint.txt",
    "events.jsonl",
    "key.txt",
    "proofs.jsonl",
    "range.txt",
    "removed.jsonl",
];
/// Most bytes of a file that is read whole: sums, key, range and checkpoint.
const WHOLE_BYTES_MAX: u64 = 1 << 20;
/// Most bytes of a line: an event of 64 KiB with every character escaped, and more than any proof.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Most bytes of the directory of an archive, and of the search for it: [`ZipArchive`] keeps it in memory. Eight files need 600.
const DIRECTORY_BYTES_MAX: u64 = 1 << 20;

/// Reads up to so many bytes of a file.
struct Bounded {
    file: BufReader<File>,
    left: Rc<Cell<u64>>,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        let left = self.left.get().checked_sub(read as u64);
        self.left
            .set(left.ok_or_else(|| io::Error::other("the directory of the archive is too large"))?);
        Ok(read)
    }
}

impl Seek for Bounded {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// An open archive. Each file is read through a handle of its own, so that two can be read at once.
struct Archive {
    file: File,
}

pub(super) fn check(
    file: File,
    keys: &[VerifierKey],
    log: Option<&str>,
    policy: Option<&Policy>,
) -> Result<String, Failure> {
    let archive = Archive { file };
    archive.check_files()?;
    let key = archive.read("key.txt")?;
    let key = keys.iter().find(|expected| format!("{expected}\n") == key);
    let key = key.ok_or_else(|| Failure::refused("key.txt is not the expected key"))?;
    let note = archive.read("checkpoint.txt")?;
    let signed = SignedCheckpoint::open_of_owner(&note, key).map_err(Failure::refused)?;
    let origin = signed.checkpoint().origin().to_string();
    check_log(log, &origin)?;
    let cosigned = check_quorum(policy, signed.note())?;
    let range = archive.read("range.txt")?;
    let (start, end) = range
        .strip_suffix('\n')
        .and_then(|range| range.split_once('\n'))
        .ok_or_else(|| Failure::refused("range.txt does not have two lines"))?;
    let name = LogName::of_origin(&origin).ok_or_else(|| Failure::refused("the log has no project"))?;
    let mut run = Run::new(&signed, name, (time(start)?, time(end)?));
    if run.start > run.end {
        return Err(Failure::refused("the range ends before it begins"));
    }
    archive.check_events(&mut run)?;
    let ends_behind = run.check_end()?;
    // Not refused: another version of the program may have written the archive.
    let own = readme(&signed, &name, (run.start, run.end), run.count, key);
    let readme = match archive.read("README.txt")? == own {
        true => "",
        false => "; README.txt is not that of this version: do not run programs from it",
    };
    Ok(format!(
        "{} events received from {start} to {end} are in the log {origin} of {} events{}, signed by {}{cosigned}{}{readme}",
        run.count,
        signed.head().size,
        match ends_behind {
            true => "",
            false => ", which ended within that time when it was signed",
        },
        key.name(),
        run.removed_of_it(),
    ))
}

/// A time, in the only form in which an archive has one.
fn time(text: &str) -> Result<Timestamp, Failure> {
    let time = Timestamp::parse_rfc3339(text).map_err(Failure::refused)?;
    match time.to_string() == text {
        true => Ok(time),
        false => Err(Failure::Refused(format!("{text} is not of the form {time}"))),
    }
}

impl Archive {
    fn open(&self) -> Result<ZipArchive<Bounded>, Failure> {
        let left = Rc::new(Cell::new(DIRECTORY_BYTES_MAX));
        let bounded = Bounded {
            file: BufReader::new(self.file.try_clone()?),
            left: Rc::clone(&left),
        };
        let archive = ZipArchive::new(bounded).map_err(Failure::refused)?;
        left.set(u64::MAX);
        Ok(archive)
    }

    /// Passes a file of the archive to `read`.
    fn with<T>(
        &self,
        name: &str,
        read: impl FnOnce(&mut dyn Read) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut archive = self.open()?;
        let mut entry = archive
            .by_name(name)
            .map_err(|error| Failure::Refused(format!("{name}: {error}")))?;
        read(&mut entry)
    }

    /// A small file as a whole.
    fn read(&self, name: &str) -> Result<String, Failure> {
        self.with(name, |entry| {
            let mut text = String::new();
            entry
                .take(WHOLE_BYTES_MAX)
                .read_to_string(&mut text)
                .map_err(|error| Failure::Refused(format!("{name}: {error}")))?;
            Ok(text)
        })
    }

    /// The archive has exactly the expected files, as [`SUMS`] lists them.
    fn check_files(&self) -> Result<(), Failure> {
        let mut archive = self.open()?;
        layout::check(&mut archive, &mut self.file.try_clone()?)?;
        let names = archive.file_names().map(|name| name.map(Cow::into_owned));
        let mut names: Vec<String> = names.collect::<Result<_, _>>().map_err(Failure::refused)?;
        names.retain(|name| name != SUMS);
        names.sort_unstable();
        if names != FILES {
            return Err(Failure::Refused(format!(
                "the archive contains {}",
                names.join(", ")
            )));
        }
        let mut sums = String::new();
        for name in FILES {
            let digest = self.with(name, |entry| {
                digest_of(entry).map_err(|error| Failure::Refused(format!("{name}: {error}")))
            })?;
            sums.push_str(&sum_line(name, &digest));
        }
        match self.read(SUMS)? == sums {
            true => Ok(()),
            false => Err(Failure::Refused(format!("a file is not the one in {SUMS}"))),
        }
    }

    fn check_events(&self, run: &mut Run<'_>) -> Result<(), Failure> {
        // The entries are read side by side. They share the position of the file, so each is read from a copy on disk.
        let (mut events, mut proofs) = (self.unpacked("events.jsonl")?, self.unpacked("proofs.jsonl")?);
        let mut removed = self.unpacked("removed.jsonl")?;
        let not_as_many = || Failure::refused("there are not as many proofs as events");
        while let Some(proof) = line(&mut proofs)? {
            let proof = Proof::read(&proof)?;
            match proof.id {
                Some(_) => run.add(&line(&mut events)?.ok_or_else(not_as_many)?, &proof)?,
                None => run.add_removed(&line(&mut removed)?.ok_or_else(not_as_many)?, &proof)?,
            }
        }
        match (line(&mut events)?, line(&mut removed)?) {
            (None, None) => Ok(()),
            _ => Err(not_as_many()),
        }
    }

    /// A file of the archive in a temporary file.
    fn unpacked(&self, name: &str) -> Result<BufReader<File>, Failure> {
        let mut file = tempfile::tempfile()?;
        self.with(name, |entry| Ok(std::io::copy(entry, &mut file)?))?;
        file.seek(SeekFrom::Start(0))?;
        Ok(BufReader::new(file))
    }
}

/// The SHA-256 of a file.
fn digest_of(file: &mut dyn Read) -> std::io::Result<[u8; 32]> {
    let (mut digest, mut bytes) = (Sha256::new(), vec![0; 64 * 1024]);
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(digest.finalize().into()),
            read => digest.update(&bytes[..read]),
        }
    }
}

/// The next line, without its end.
fn line(file: &mut BufReader<File>) -> Result<Option<String>, Failure> {
    let mut line = String::new();
    let read = file.take(LINE_BYTES_MAX).read_line(&mut line);
    if read.map_err(Failure::refused)? == 0 {
        return Ok(None);
    }
    match line.pop() {
        Some('\n') => Ok(Some(line)),
        _ => Err(Failure::refused("a line has no end or is too long")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn an_archive_with_a_large_directory_is_refused_before_it_is_in_memory() {
        const ENTRIES: u32 = 60_000;
        let mut directory = Vec::new();
        for number in 0..ENTRIES {
            let name = format!("{number:05}");
            directory.extend(b"PK\x01\x02");
            directory.extend([0; 24]);
            directory.extend((name.len() as u16).to_le_bytes());
            directory.extend([0; 16]);
            directory.extend(name.bytes());
        }
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&directory).unwrap();
        file.write_all(b"PK\x05\x06\0\0\0\0").unwrap();
        for count in [ENTRIES as u16; 2] {
            file.write_all(&count.to_le_bytes()).unwrap();
        }
        file.write_all(&(directory.len() as u32).to_le_bytes()).unwrap();
        file.write_all(&[0; 6]).unwrap();
        let opened = |left| {
            let left = Rc::new(Cell::new(left));
            let file = BufReader::new(file.try_clone().unwrap());
            ZipArchive::new(Bounded { file, left }).map(|archive| archive.len())
        };
        assert_eq!(opened(u64::MAX).unwrap(), ENTRIES as usize);
        let refused = opened(DIRECTORY_BYTES_MAX).unwrap_err().to_string();
        assert!(refused.contains("too large"), "{refused}");
    }
}
