//! The events of one slot, in the order in which they were recorded.

use super::make_directory;
use crate::buffer::Entry;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const SEGMENT_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Entries that are read ahead of what is settled.
const AHEAD_EVENTS_MAX: usize = 256;
/// Of a line, besides the event: checksum, space, line feed.
const FRAME_BYTES: u64 = 10;

/// What the entry takes on the disk.
pub(crate) fn frame_bytes(entry: &Entry) -> u64 {
    entry.body.len() as u64 + FRAME_BYTES
}

/// The file to which events are appended.
struct Segment {
    file: File,
    /// Bytes that are complete in the file.
    written: AtomicU64,
    /// Bytes that are on the disk. Held while the file is synced: one sync serves all threads that wait for it.
    synced: Mutex<u64>,
}

/// What a recorded event waits for.
pub(crate) struct Ticket {
    segment: Arc<Segment>,
    end: u64,
}

impl Ticket {
    /// Returns when the entry is on the disk.
    pub(crate) fn wait(&self) -> Result<()> {
        let mut synced = self.segment.synced.lock();
        if *synced >= self.end {
            return Ok(());
        }
        let reached = self.segment.written.load(Ordering::Acquire);
        self.segment.file.sync_data()?;
        *synced = reached;
        Ok(())
    }
}

pub(crate) struct Slot {
    path: PathBuf,
    /// Open files have locks as long as they are open: until the end of the process, however that ends.
    lock: File,
    pending: u64,
    pending_bytes: u64,
    ahead: VecDeque<Entry>,
    /// Numbers of the segments that exist, in order.
    segments: Vec<u64>,
    /// Number and state of the segment that is written.
    number: u64,
    written: u64,
    segment: Option<Arc<Segment>>,
    /// What is read next.
    read_number: u64,
    read_offset: u64,
    reader: Option<BufReader<File>>,
}

impl Slot {
    /// The slot in this directory; `None` if another client has it.
    pub(crate) fn open(path: PathBuf) -> Result<Option<Self>> {
        make_directory(&path)?;
        let lock = private()
            .read(true)
            .write(true)
            .create(true)
            .open(path.join("lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let segments = segments_in(&path)?;
        let (first, offset) = read_position(&path, &segments);
        let mut slot = Self {
            // Nothing is appended to a segment of an earlier client: its last line may be incomplete.
            number: segments.last().copied().unwrap_or(first) + 1,
            path,
            lock,
            pending: 0,
            pending_bytes: 0,
            ahead: VecDeque::new(),
            segments,
            written: 0,
            segment: None,
            read_number: first,
            read_offset: offset,
            reader: None,
        };
        slot.remove_before(first);
        slot.count()?;
        Ok(Some(slot))
    }

    pub(crate) fn pending(&self) -> u64 {
        self.pending
    }

    pub(crate) fn pending_bytes(&self) -> u64 {
        self.pending_bytes
    }

    pub(crate) fn ahead(&self) -> &VecDeque<Entry> {
        &self.ahead
    }

    /// Counts what an earlier client left.
    fn count(&mut self) -> Result<()> {
        for number in self.segments.clone() {
            let mut reader = BufReader::new(File::open(self.file(number))?);
            if number == self.read_number {
                reader.seek(SeekFrom::Start(self.read_offset))?;
            }
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line)? > 0 {
                if body_of_frame(&line).is_some() {
                    self.pending += 1;
                    self.pending_bytes += line.len() as u64;
                }
                line.clear();
            }
        }
        Ok(())
    }

    fn file(&self, number: u64) -> PathBuf {
        self.path.join(format!("{number:016}.events"))
    }

    pub(crate) fn append(&mut self, entry: &Entry) -> Result<Ticket> {
        let line = frame(&entry.body);
        match self.write_line(&line) {
            // A full disk, perhaps of settled events: the segment that is written stays until it is full.
            Err(_) if self.pending == 0 && !self.segments.is_empty() => {
                self.remove_settled();
                self.write_line(&line)
            }
            written => written,
        }
    }

    /// Removes all segments, as no event is pending.
    fn remove_settled(&mut self) {
        self.leave_segment();
        self.reader = None;
        self.remove_before(self.number);
        (self.read_number, self.read_offset) = (self.number, 0);
    }

    fn write_line(&mut self, line: &[u8]) -> Result<Ticket> {
        let length = line.len() as u64;
        if self.written + length > SEGMENT_BYTES_MAX {
            self.leave_segment();
        }
        let segment = match &self.segment {
            Some(segment) => Arc::clone(segment),
            None => self.next_segment()?,
        };
        if let Err(error) = (&segment.file).write_all(line) {
            // A full disk. The part that was written has to go, or nothing more may come behind it.
            if segment.file.set_len(self.written).is_err() {
                self.leave_segment();
            }
            return Err(error);
        }
        self.written += length;
        segment.written.store(self.written, Ordering::Release);
        self.pending += 1;
        self.pending_bytes += length;
        Ok(Ticket {
            segment,
            end: self.written,
        })
    }

    fn leave_segment(&mut self) {
        self.segment = None;
        self.number += 1;
        self.written = 0;
    }

    fn next_segment(&mut self) -> Result<Arc<Segment>> {
        let file = private()
            .append(true)
            .create_new(true)
            .open(self.file(self.number))?;
        self.segments.push(self.number);
        sync_directory(&self.path)?;
        let segment = Arc::new(Segment {
            file,
            written: AtomicU64::new(0),
            synced: Mutex::new(0),
        });
        self.segment = Some(Arc::clone(&segment));
        Ok(segment)
    }

    /// Reads ahead.
    pub(crate) fn fill(&mut self) -> Result<()> {
        while self.ahead.len() < AHEAD_EVENTS_MAX
            && (self.read_number, self.read_offset) < (self.number, self.written)
        {
            let Some(reader) = &mut self.reader else {
                self.open_reader()?;
                continue;
            };
            let mut line = Vec::new();
            reader.read_until(b'\n', &mut line)?;
            if !line.ends_with(b"\n") {
                // The end of a segment, or a line that its process did not live to complete.
                self.read_behind();
                continue;
            }
            self.read_offset += line.len() as u64;
            match body_of_frame(&line) {
                Some(body) => self.ahead.push_back(Entry {
                    body: body.into(),
                    segment: self.read_number,
                    end: self.read_offset,
                }),
                None => log::error!(
                    "a damaged event in the spool is lost: {}",
                    self.file(self.read_number).display()
                ),
            }
        }
        Ok(())
    }

    fn open_reader(&mut self) -> Result<()> {
        if !self.segments.contains(&self.read_number) {
            self.read_behind();
            return Ok(());
        }
        let mut reader = BufReader::new(File::open(self.file(self.read_number))?);
        reader.seek(SeekFrom::Start(self.read_offset))?;
        self.reader = Some(reader);
        Ok(())
    }

    fn read_behind(&mut self) {
        self.reader = None;
        let later = self
            .segments
            .iter()
            .copied()
            .find(|number| *number > self.read_number);
        (self.read_number, self.read_offset) = (later.unwrap_or(self.number), 0);
    }

    /// Removes the oldest `count` entries, which were read ahead.
    pub(crate) fn advance(&mut self, count: usize) {
        let mut position = None;
        for entry in self.ahead.drain(..count.min(self.ahead.len())) {
            self.pending -= 1;
            self.pending_bytes -= frame_bytes(&entry);
            position = Some((entry.segment, entry.end));
        }
        let Some((number, offset)) = position else { return };
        // First the position: the segments before it may be removed only then.
        if let Err(error) = self.write_position(number, offset) {
            // A full disk. The next client sends these events again, and the service recognises them.
            log::warn!(
                "cannot write the position of the spool {}: {error}",
                self.path.display()
            );
        }
        self.remove_before(number);
    }

    fn write_position(&self, number: u64, offset: u64) -> Result<()> {
        let temporary = self.path.join("position.tmp");
        let mut file = private()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&temporary)?;
        file.write_all(format!("{number} {offset}\n").as_bytes())?;
        std::fs::rename(temporary, self.path.join("position"))
    }

    fn remove_before(&mut self, number: u64) {
        let (settled, kept) = self.segments.iter().partition(|segment| **segment < number);
        self.segments = kept;
        let settled: Vec<u64> = settled;
        for segment in settled {
            let file = self.file(segment);
            if let Err(error) = std::fs::remove_file(&file) {
                // Settled events only. The next client tries again.
                log::warn!("cannot remove {}: {error}", file.display());
            }
        }
    }
}

/// A process that was just forked has the open files until it executes its program, and with them the lock. So the lock is released, and
/// not only the file closed.
impl Drop for Slot {
    fn drop(&mut self) {
        if let Err(error) = self.lock.unlock() {
            log::debug!("cannot unlock the spool {}: {error}", self.path.display());
        }
    }
}

/// Options of a file that other users cannot read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn segments_in(path: &Path) -> Result<Vec<u64>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let name = entry?.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_suffix(".events")?.parse::<u64>().ok());
        found.extend(number);
    }
    found.sort_unstable();
    Ok(found)
}

/// What the file says, if that is the beginning of a line. Otherwise everything is sent again.
fn read_position(path: &Path, segments: &[u64]) -> (u64, u64) {
    let everything = (segments.first().copied().unwrap_or(0), 0);
    let parsed = || {
        let text = std::fs::read_to_string(path.join("position")).ok()?;
        let (number, offset) = text.trim_end().split_once(' ')?;
        Some((number.parse::<u64>().ok()?, offset.parse::<u64>().ok()?))
    };
    let Some((number, offset)) = parsed() else {
        return everything;
    };
    if !segments.contains(&number) {
        // A segment that was removed had only settled events. With no segment at all, numbers go on behind it.
        return if segments.is_empty() {
            (number, 0)
        } else {
            everything
        };
    }
    let is_start_of_line = || -> Result<bool> {
        let mut file = File::open(path.join(format!("{number:016}.events")))?;
        file.seek(SeekFrom::Start(offset - 1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        Ok(last == *b"\n")
    };
    if offset == 0 || is_start_of_line().unwrap_or(false) {
        (number, offset)
    } else {
        everything
    }
}

fn frame(body: &[u8]) -> Vec<u8> {
    let mut line = format!("{:08x} ", crc32fast::hash(body)).into_bytes();
    line.extend_from_slice(body);
    line.push(b'\n');
    line
}

/// The event of a line; `None` if the line is damaged or not complete.
fn body_of_frame(line: &[u8]) -> Option<&[u8]> {
    let (sum, rest) = line.split_at_checked(8)?;
    let body = rest.strip_prefix(b" ")?.strip_suffix(b"\n")?;
    (sum == format!("{:08x}", crc32fast::hash(body)).as_bytes()).then_some(body)
}

/// Makes the name of a new file durable. Windows has no such call and does not need it.
fn sync_directory(path: &Path) -> Result<()> {
    if cfg!(unix) {
        File::open(path)?.sync_all()
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_free_after_it_was_dropped_although_a_forked_process_has_its_files() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("0");
        let slot = Slot::open(path.clone()).expect("opened").expect("free");
        assert!(Slot::open(path.clone()).expect("opened").is_none());
        let of_forked_process = slot.lock.try_clone().expect("duplicated");
        drop(slot);
        assert!(Slot::open(path).expect("opened").is_some());
        drop(of_forked_process);
    }
}
