//! The events that are not settled yet: in memory here, on the disk in [`crate::spool`].

use crate::error::Error;
use crate::spool::{SpoolBuffer, Ticket};
use std::collections::VecDeque;
use std::sync::Arc;

/// The server refuses larger requests. The bound of the body leaves room below its 1,048,576 bytes.
pub(crate) const REQUEST_EVENTS_MAX: usize = 100;
const REQUEST_BODY_BYTES_MAX: usize = 1_000_000;

/// One event as it is sent, the same bytes in every attempt.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) body: Arc<[u8]>,
    /// In a spool: the segment of the entry, and the offset at which the entry ends.
    pub(crate) segment: u64,
    pub(crate) end: u64,
}

impl Entry {
    pub(crate) fn new(body: impl Into<Arc<[u8]>>) -> Self {
        Self {
            body: body.into(),
            segment: 0,
            end: 0,
        }
    }
}

/// Where entries wait, in the order in which they were recorded.
pub(crate) enum Buffer {
    /// At most `events_max` events, those of the request under way included.
    Memory {
        entries: VecDeque<Entry>,
        events_max: usize,
    },
    Spool(Box<SpoolBuffer>),
}

impl Buffer {
    pub(crate) fn memory(events_max: usize) -> Self {
        Self::Memory {
            entries: VecDeque::new(),
            events_max,
        }
    }

    /// Whether the entries survive the process.
    pub(crate) fn is_durable(&self) -> bool {
        matches!(self, Self::Spool(_))
    }

    /// The number of entries.
    pub(crate) fn pending(&self) -> u64 {
        match self {
            Self::Memory { entries, .. } => entries.len() as u64,
            Self::Spool(spool) => spool.pending(),
        }
    }

    pub(crate) fn has_room(&self, entry: &Entry) -> bool {
        match self {
            Self::Memory { entries, events_max } => entries.len() < *events_max,
            Self::Spool(spool) => spool.has_room(entry),
        }
    }

    /// Takes an entry. It is safe when the ticket, if there is one, was waited for.
    pub(crate) fn append(&mut self, entry: Entry) -> Result<Option<Ticket>, Error> {
        match self {
            Self::Memory { entries, .. } => {
                entries.push_back(entry);
                Ok(None)
            }
            Self::Spool(spool) => spool.append(&entry),
        }
    }

    /// The oldest entries, as many as one request may have.
    pub(crate) fn peek(&mut self) -> Result<Vec<Entry>, Error> {
        match self {
            Self::Memory { entries, .. } => Ok(first_of(entries)),
            Self::Spool(spool) => spool.peek(),
        }
    }

    /// Removes the oldest `count` entries, which [`Self::peek`] has returned.
    pub(crate) fn advance(&mut self, count: usize) {
        match self {
            Self::Memory { entries, .. } => drop(entries.drain(..count.min(entries.len()))),
            Self::Spool(spool) => spool.advance(count),
        }
    }

    /// Releases what the buffer holds. Returns the entries that are lost; those of a spool stay.
    pub(crate) fn close(&mut self) -> Vec<Entry> {
        match self {
            Self::Memory { entries, .. } => entries.drain(..).collect(),
            Self::Spool(spool) => {
                spool.close();
                Vec::new()
            }
        }
    }
}

/// The first entries that fit in one request; at least one, if there is any.
pub(crate) fn first_of(entries: &VecDeque<Entry>) -> Vec<Entry> {
    let mut taken = Vec::new();
    let mut size = 2;
    for entry in entries.iter().take(REQUEST_EVENTS_MAX) {
        size += entry.body.len() + 1;
        if !taken.is_empty() && size > REQUEST_BODY_BYTES_MAX {
            break;
        }
        taken.push(entry.clone());
    }
    taken
}

/// The array of the entries, as a request has it.
pub(crate) fn body_of(entries: &[Entry]) -> Vec<u8> {
    let mut body = vec![b'['];
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(&entry.body);
    }
    body.push(b']');
    body
}
