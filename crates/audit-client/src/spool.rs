//! The spool: a directory in which recorded events wait until the service has them.
//!
//! Layout: `<path>/<slot>/`, one slot for each client that uses the spool at the same time, held by a lock on its file `lock`. A
//! slot has segments, `0000000000000001.events`, …, and the file `position`.
//!
//! A segment is a sequence of lines: CRC-32 of the event in 8 hexadecimal digits, a space, the event as JSON, a line feed.
//! `position` has the number of a segment and an offset in it: everything before is settled. It is written without waiting for
//! the disk: if it is lost, settled events are sent again, and the service recognises them by their idempotency keys. The Python
//! client has the same layout.

mod slot;

use crate::buffer::{Entry, first_of};
use crate::error::Error;
use slot::{Slot, frame_bytes};
use std::path::{Path, PathBuf};

pub(crate) use slot::Ticket;

/// Clients that use one spool at the same time.
const SLOTS_MAX: u32 = 256;

/// Where events wait on the disk, and how. The processes of one machine may share the directory, several machines may not.
#[derive(Clone, Debug)]
pub struct Spool {
    path: PathBuf,
    bytes_max: u64,
    fsync: bool,
}

impl Spool {
    /// A spool in this directory, which is made if it does not exist. At most 1 GiB waits for each client.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            bytes_max: 1 << 30,
            fsync: true,
        }
    }

    /// The most that each client has waiting, in bytes. Beyond it the choice for a full queue applies.
    #[must_use]
    pub fn bytes_max(mut self, bytes_max: u64) -> Self {
        self.bytes_max = bytes_max;
        self
    }

    /// Without it, `record` does not wait for the disk: events then survive the end of the process but not a power failure.
    #[must_use]
    pub fn fsync(mut self, fsync: bool) -> Self {
        self.fsync = fsync;
        self
    }
}

/// The slot of this client, and the slots that others left behind with events in them.
pub(crate) struct SpoolBuffer {
    options: Spool,
    left_behind: Vec<Slot>,
    own: Option<Slot>,
    /// Of the time when the buffer was closed.
    last_pending: u64,
}

impl SpoolBuffer {
    /// Takes the first free slot, and every other free one that has events.
    pub(crate) fn open(options: Spool) -> Result<Self, Error> {
        let failed = |error| {
            let path = options.path.display();
            Error::Spool(format!("cannot open {path}: {error}"))
        };
        make_directory(&options.path).map_err(failed)?;
        let (mut own, mut left_behind) = (None, Vec::new());
        for number in 0..SLOTS_MAX {
            let path = options.path.join(number.to_string());
            if own.is_some() && !path.exists() {
                break;
            }
            let Some(slot) = Slot::open(path).map_err(failed)? else {
                continue;
            };
            if own.is_none() {
                own = Some(slot);
            } else if slot.pending() > 0 {
                left_behind.push(slot);
            }
        }
        if own.is_none() {
            let path = options.path.display();
            return Err(Error::Spool(format!("{SLOTS_MAX} clients use {path}")));
        }
        Ok(Self {
            options,
            left_behind,
            own,
            last_pending: 0,
        })
    }

    pub(crate) fn pending(&self) -> u64 {
        match &self.own {
            Some(own) => own.pending() + self.left_behind.iter().map(Slot::pending).sum::<u64>(),
            None => self.last_pending,
        }
    }

    pub(crate) fn has_room(&self, entry: &Entry) -> bool {
        let waiting = self.own.as_ref().map_or(0, Slot::pending_bytes);
        waiting + frame_bytes(entry) <= self.options.bytes_max
    }

    pub(crate) fn append(&mut self, entry: &Entry) -> Result<Option<Ticket>, Error> {
        let own = self.own.as_mut().ok_or(Error::Closed)?;
        let ticket = own.append(entry).map_err(|error| {
            let path = self.options.path.display();
            Error::Spool(format!("cannot write to {path}: {error}"))
        })?;
        Ok(self.options.fsync.then_some(ticket))
    }

    /// The slot whose entries are sent: those of others come first.
    fn current(&mut self) -> Option<&mut Slot> {
        self.left_behind.retain(|slot| slot.pending() > 0);
        self.left_behind.first_mut().or(self.own.as_mut())
    }

    pub(crate) fn peek(&mut self) -> Result<Vec<Entry>, Error> {
        let path = self.options.path.clone();
        let Some(slot) = self.current() else {
            return Ok(Vec::new());
        };
        let read = slot.fill();
        read.map_err(|error| Error::Spool(format!("cannot read {}: {error}", path.display())))?;
        Ok(first_of(slot.ahead()))
    }

    pub(crate) fn advance(&mut self, count: usize) {
        if let Some(slot) = self.current() {
            slot.advance(count);
        }
    }

    pub(crate) fn close(&mut self) {
        self.last_pending = self.pending();
        self.left_behind.clear();
        self.own = None;
    }
}

/// Makes a directory that other users cannot read.
fn make_directory(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
