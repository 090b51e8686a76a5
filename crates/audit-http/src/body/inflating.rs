//! Bodies that arrive as gzip. They are inflated while they arrive, and their inflated bytes count like those of any body: the
//! limit of a body is reached before more is inflated.

use super::{Body, Collected, Room};
use crate::BODY_BYTES_MAX;
use crate::error::ApiError;
use crate::owner::HeldBytes;
use actix_web::web::Bytes;
use flate2::write::MultiGzDecoder;
use std::io::{self, Write};

/// Bytes that an inflater holds: its window, its tables and its buffer.
const INFLATER_BYTES: usize = 96 * 1024;

/// A body that is inflated.
pub(super) struct Inflating {
    decoder: MultiGzDecoder<Inflated>,
    _held: HeldBytes,
}

/// What was inflated.
struct Inflated {
    /// `None` after the owner's share was exceeded.
    collected: Option<Collected>,
    bytes: usize,
}

impl Inflating {
    /// An empty body; `None` if the owner has no share left for an inflater.
    pub(super) fn new(room: &Room) -> Option<Self> {
        let mut held = room.memory.hold(room.owner.clone());
        if !held.grow(INFLATER_BYTES) {
            return None;
        }
        let inflated = Inflated {
            collected: Some(Collected::new(room.memory.hold(room.owner.clone()), None)),
            bytes: 0,
        };
        Some(Self {
            decoder: MultiGzDecoder::new(inflated),
            _held: held,
        })
    }

    /// Inflates what arrived.
    pub(super) fn take(&mut self, chunk: &[u8]) -> Result<(), ApiError> {
        let outcome = self.decoder.write_all(chunk);
        outcome.map_err(|_| self.reason())
    }

    /// Whether the owner's share was exceeded.
    pub(super) fn is_refused(&self) -> bool {
        self.decoder.get_ref().collected.is_none()
    }

    /// The inflated body, if it is complete.
    pub(super) fn whole(mut self) -> Result<Body, ApiError> {
        let outcome = self.decoder.try_finish();
        outcome.map_err(|_| self.reason())?;
        let collected = self.decoder.get_mut().collected.take();
        collected.map(Collected::whole).ok_or(ApiError::Overloaded)
    }

    /// Why inflating failed.
    fn reason(&self) -> ApiError {
        match self.decoder.get_ref().bytes > BODY_BYTES_MAX {
            true => ApiError::PayloadTooLarge,
            false => ApiError::BrokenGzip,
        }
    }
}

impl Write for Inflated {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.bytes += piece.len();
        if self.bytes > BODY_BYTES_MAX {
            return Err(io::Error::other("the body is too large"));
        }
        let bytes = Bytes::copy_from_slice(piece);
        self.collected = self.collected.take().and_then(|collected| collected.plus(bytes));
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
