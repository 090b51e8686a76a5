//! The bytes of request bodies, how many of them are in memory at once, and how long they may take.
//!
//! A body is read after its sender is known, so that its bytes have an owner. Bytes count from their arrival on. An owner that
//! holds its share gets 503, and others do not notice: see [`audit_admission::Budget`].

use crate::BODY_BYTES_MAX;
use crate::error::ApiError;
use crate::owner::{Holding, Owner, Shared};
use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::web::Bytes;
use futures_core::Stream;
use inflating::inflate;
pub(crate) use inflating::{Inflaters, inflaters};
use std::future::poll_fn;
use std::ops::Deref;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};

/// Bytes of the bodies of all organizations together, at most. A body stays until the response is sent, because the
/// configuration may change meanwhile and the events are then parsed again.
pub(crate) const BODIES_BYTES_MAX: usize = 12 * 1024 * 1024;
/// Bytes of the bodies of all streams together, at most. They need no credential.
pub(crate) const STREAM_BODIES_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The time before a body must have its minimum rate.
const BODY_GRACE_SECONDS: u64 = 5;
/// The minimum rate of a body since it is read, on average, after the grace.
const BODY_BYTES_PER_SECOND_MIN: u64 = 8 * 1024;
/// The time limit of a body, whatever its rate.
const BODY_SECONDS_MAX: u64 = 30;

/// Bytes of the first reservation of a body that arrives in pieces. The reservation doubles when it is full.
const FIRST_RESERVATION_BYTES: usize = 32 * 1024;

/// A complete body.
#[derive(Debug)]
pub(crate) struct Body {
    bytes: Bytes,
    _held: Holding,
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A body that is not read yet.
pub(crate) struct UnreadBody {
    pub(crate) payload: Payload,
    /// The `Content-Length`, if there is one.
    pub(crate) declared: Option<usize>,
    /// Whether it arrives as gzip.
    pub(crate) is_gzip: bool,
}

/// The memory that a body is read into, and the owner of what it holds there.
pub(crate) struct Room {
    pub(crate) memory: Shared,
    pub(crate) owner: Owner,
    /// The turns to inflate a body that arrives as gzip.
    pub(crate) inflaters: Inflaters,
}

impl UnreadBody {
    /// Collects the body. A body that exceeds its owner's share is read to its end and discarded, so that the sender gets the
    /// response. A sender that is too slow is not waited for.
    pub(crate) async fn collect(&mut self, room: Room) -> Result<Body, ApiError> {
        if self.declared.is_some_and(|bytes| bytes > BODY_BYTES_MAX) {
            return Err(ApiError::PayloadTooLarge);
        }
        let started = Instant::now();
        let held = room.owner.clone().hold(&room.memory);
        // `None` after the owner's share was exceeded.
        let mut collected = Some(Collected::new(held, self.declared));
        let mut arrived = 0;
        loop {
            let chunk = next_chunk(&mut self.payload, started + time_for(arrived)).await;
            let Some(chunk) = chunk.map_err(|_| ApiError::SlowBody)? else {
                break;
            };
            let chunk = chunk.map_err(|_| ApiError::IncompleteBody)?;
            arrived += chunk.len();
            if arrived > BODY_BYTES_MAX {
                return Err(ApiError::PayloadTooLarge);
            }
            collected.take_if(|collected| !collected.add(chunk));
        }
        let body = collected.ok_or(ApiError::Overloaded)?.whole();
        match self.is_gzip {
            // Boxed, so that the futures of other requests have no room for it.
            true => Box::pin(inflate(body, room)).await,
            false => Ok(body),
        }
    }
}

/// The next piece of a body. A timer is started only for one that has not arrived: most bodies come with the head of their request.
async fn next_chunk(
    payload: &mut Payload,
    until: Instant,
) -> Result<Option<Result<Bytes, PayloadError>>, Elapsed> {
    match poll_fn(|context| Poll::Ready(Pin::new(&mut *payload).poll_next(context))).await {
        Poll::Ready(chunk) => Ok(chunk),
        Poll::Pending => {
            timeout_at(
                until,
                poll_fn(|context| Pin::new(&mut *payload).poll_next(context)),
            )
            .await
        }
    }
}

/// The time by which more than `arrived` bytes must be there, from the start on.
fn time_for(arrived: usize) -> Duration {
    let at_minimum_rate = Duration::from_millis(arrived as u64 * 1_000 / BODY_BYTES_PER_SECOND_MIN);
    let allowed = Duration::from_secs(BODY_GRACE_SECONDS) + at_minimum_rate;
    allowed.min(Duration::from_secs(BODY_SECONDS_MAX))
}

/// The bytes that have arrived, all of them held by their owner.
struct Collected {
    held: Holding,
    declared: usize,
    bytes: Pieces,
}

/// Most bodies come in one piece, which is not copied.
enum Pieces {
    One(Bytes),
    /// Its capacity is held.
    Several(Vec<u8>),
}

impl Collected {
    fn new(held: Holding, declared: Option<usize>) -> Self {
        Self {
            held,
            declared: declared.unwrap_or_default(),
            bytes: Pieces::One(Bytes::new()),
        }
    }

    /// Adds a piece; whether the owner has a share left for it.
    fn add(&mut self, piece: Bytes) -> bool {
        match &mut self.bytes {
            Pieces::One(first) if first.is_empty() => {
                *first = piece;
                self.held.grow(first.len())
            }
            Pieces::One(first) => {
                let mut several = Vec::new();
                let needed = first.len() + piece.len();
                if !reserve(&mut several, &mut self.held, self.declared, needed) {
                    return false;
                }
                several.extend_from_slice(first);
                several.extend_from_slice(&piece);
                self.bytes = Pieces::Several(several);
                true
            }
            Pieces::Several(several) => {
                let has_room = reserve(several, &mut self.held, self.declared, piece.len());
                if has_room {
                    several.extend_from_slice(&piece);
                }
                has_room
            }
        }
    }

    fn whole(self) -> Body {
        let bytes = match self.bytes {
            Pieces::One(bytes) => bytes,
            Pieces::Several(bytes) => Bytes::from(bytes),
        };
        Body {
            bytes,
            _held: self.held,
        }
    }
}

/// Makes room for `more` bytes. The capacity doubles, up to what the body declares, and is held before it is allocated. Whether
/// the owner has a share left for it.
fn reserve(bytes: &mut Vec<u8>, held: &mut Holding, declared: usize, more: usize) -> bool {
    let needed = bytes.len() + more;
    if needed <= bytes.capacity() {
        return true;
    }
    let doubled = (bytes.capacity() * 2).max(FIRST_RESERVATION_BYTES);
    let capacity = match declared {
        0 => doubled,
        declared => doubled.min(declared),
    };
    let capacity = capacity.max(needed);
    let has_room = held.grow(capacity.saturating_sub(held.units()));
    if has_room {
        bytes.reserve_exact(capacity - bytes.len());
    }
    has_room
}

mod inflating;

#[cfg(test)]
mod tests;
