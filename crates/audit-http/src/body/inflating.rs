//! Bodies that arrive as gzip. Their inflated bytes count like those of any body, and the limit of a body is reached before more
//! is inflated.
//!
//! A client sends a thousandth of what it has inflated, or nothing but ends of members. So a body that is not small is inflated
//! off the threads that serve connections, and owners take turns.

use super::{Body, Collected, Room};
use crate::BODY_BYTES_MAX;
use crate::blocking::blocking;
use crate::error::ApiError;
use crate::owner::{Holding, Sharer};
use actix_web::web::Bytes;
use audit_admission::{Turns, TurnsOptions};
use flate2::bufread::MultiGzDecoder;
use std::io::{Cursor, Read};
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

/// Bytes that an inflater holds: its window, its tables and its buffer.
const INFLATER_BYTES: usize = 96 * 1024;
/// Bytes of gzip, and bytes that they inflate to, up to which a body is inflated where it arrives.
const INFLATED_IN_PLACE_BYTES_MAX: usize = 64 * 1024;
const GZIP_IN_PLACE_BYTES_MAX: usize = 8 * 1024;
/// Bodies that are inflated at once, for each processor. An owner alone gets half of them.
const INFLATERS_PER_PROCESSOR: usize = 2;
/// Bodies of an owner that wait for their turn.
const INFLATING_WAITING_MAX: usize = 256;
/// How long a body waits for its turn.
const INFLATING_WAIT: Duration = Duration::from_secs(10);

/// The turns to inflate bodies.
pub(crate) type Inflaters = Arc<Turns<Sharer, ()>>;

/// The turns of a process.
pub(crate) fn inflaters() -> Inflaters {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    Turns::new(TurnsOptions {
        permits: INFLATERS_PER_PROCESSOR * processors,
        group_share: 1,
        member_share: 1,
        group_waiting_max: INFLATING_WAITING_MAX,
        member_waiting_max: INFLATING_WAITING_MAX,
        wait_max: INFLATING_WAIT,
    })
}

/// Inflates a body.
pub(super) async fn inflate(body: Body, room: Room) -> Result<Body, ApiError> {
    let is_small = body.len() <= GZIP_IN_PLACE_BYTES_MAX;
    let mut inflating = Inflating::new(body, &room)?;
    if is_small && inflating.reaches_end(INFLATED_IN_PLACE_BYTES_MAX)? {
        return Ok(inflating.collected.whole());
    }
    let turn = room.inflaters.take(room.owner.into_sharer().0, ()).await;
    let turn = turn.map_err(|_| ApiError::Overloaded)?;
    blocking(move || {
        let outcome = inflating.reaches_end(usize::MAX);
        drop(turn);
        Ok(outcome.map(|_| inflating.collected.whole()))
    })
    .await?
}

/// A body that is inflated.
struct Inflating {
    decoder: MultiGzDecoder<Cursor<Bytes>>,
    collected: Collected,
    bytes: usize,
    _held: [Holding; 2],
}

impl Inflating {
    /// # Errors
    /// [`ApiError::Overloaded`] if the owner has no share left for an inflater.
    fn new(body: Body, room: &Room) -> Result<Self, ApiError> {
        let Body { bytes, _held: gzip } = body;
        let mut inflater = room.owner.clone().hold(&room.memory);
        if !inflater.grow(INFLATER_BYTES) {
            return Err(ApiError::Overloaded);
        }
        Ok(Self {
            decoder: MultiGzDecoder::new(Cursor::new(bytes)),
            collected: Collected::new(room.owner.clone().hold(&room.memory), None),
            bytes: 0,
            _held: [gzip, inflater],
        })
    }

    /// Inflates until there are this many bytes; whether that is the whole body.
    fn reaches_end(&mut self, bytes_max: usize) -> Result<bool, ApiError> {
        let mut piece = [0; 8 * 1024];
        while self.bytes < bytes_max {
            let read = self.decoder.read(&mut piece).map_err(|_| ApiError::BrokenGzip)?;
            if read == 0 {
                return Ok(true);
            }
            self.bytes += read;
            if self.bytes > BODY_BYTES_MAX {
                return Err(ApiError::PayloadTooLarge);
            }
            if !self.collected.add(Bytes::copy_from_slice(&piece[..read])) {
                return Err(ApiError::Overloaded);
            }
        }
        Ok(false)
    }
}
