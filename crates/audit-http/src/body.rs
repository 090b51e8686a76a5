//! The bytes of request bodies, and how many of them are in memory at once.

use crate::BODY_BYTES_MAX;
use crate::error::ApiError;
use crate::state::HttpState;
use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::rt::time::timeout;
use actix_web::web::{self, Bytes, BytesMut};
use futures_core::Stream;
use std::future::poll_fn;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Bytes of bodies of all requests together, at most. A body stays until the response is sent, because the
/// configuration may change meanwhile and the events are then parsed again.
const BODIES_BYTES_MAX: usize = 12 * 1024 * 1024;

/// Bytes up to which a body has no time limit.
const SMALL_BODY_BYTES: usize = 16 * 1024;
/// The time limit of larger bodies, and of those without a `Content-Length`.
const BODY_TIME_MAX: Duration = Duration::from_secs(30);

/// The number of bytes of bodies in memory.
#[derive(Debug, Default)]
pub(crate) struct BodyMemory {
    bytes: AtomicUsize,
}

/// A complete body.
#[derive(Debug)]
pub(crate) struct Body {
    bytes: Bytes,
    _held: Held,
}

/// The part of the memory that one body holds.
#[derive(Debug)]
struct Held {
    memory: Arc<BodyMemory>,
    bytes: usize,
}

impl BodyMemory {
    /// The memory of the application that received the request.
    pub(crate) fn of(request: &HttpRequest) -> Arc<Self> {
        let state = request.app_data::<web::Data<HttpState>>();
        state.map_or_else(Arc::default, |state| Arc::clone(&state.body_memory))
    }
}

impl Held {
    /// Reserves `bytes` more, unless the total would exceed the limit.
    fn grow(&mut self, bytes: usize) -> bool {
        let held = self.memory.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.bytes += bytes;
        held <= BODIES_BYTES_MAX
    }

    fn release(&mut self) {
        self.memory.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = 0;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release();
    }
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Body {
    /// Collects a body whose `Content-Length` is `declared`, if it has one. A body that does not fit into the budget is
    /// read to its end and discarded, so that the sender gets the response. A sender that stalls is not waited for,
    /// because its body takes memory from others.
    pub(crate) async fn collect(
        memory: Arc<BodyMemory>,
        payload: Payload,
        declared: Option<usize>,
    ) -> Result<Self, ApiError> {
        let body = Self::collect_all(memory, payload, declared.unwrap_or_default());
        match declared {
            Some(..=SMALL_BODY_BYTES) => body.await,
            _ => timeout(BODY_TIME_MAX, body)
                .await
                .unwrap_or(Err(ApiError::IncompleteBody)),
        }
    }

    async fn collect_all(
        memory: Arc<BodyMemory>,
        mut payload: Payload,
        declared: usize,
    ) -> Result<Self, ApiError> {
        if declared > BODY_BYTES_MAX {
            return Err(ApiError::PayloadTooLarge);
        }
        let mut held = Held { memory, bytes: 0 };
        // Reserve `Content-Length` up front: many half-read bodies could otherwise exhaust the budget so that none completes.
        let mut is_refused = !held.grow(declared);
        if is_refused {
            held.release();
        }
        let (mut whole, mut length) = (Collected::Nothing, 0);
        while let Some(chunk) = poll_fn(|context| Pin::new(&mut payload).poll_next(context)).await {
            let chunk = chunk.map_err(|_| ApiError::IncompleteBody)?;
            length += chunk.len();
            if length > BODY_BYTES_MAX {
                return Err(ApiError::PayloadTooLarge);
            }
            if !is_refused && !held.grow(length.saturating_sub(held.bytes)) {
                is_refused = true;
                whole = Collected::Nothing;
                held.release();
            }
            if !is_refused {
                whole.push(chunk, declared);
            }
        }
        if is_refused {
            return Err(ApiError::Overloaded);
        }
        Ok(Self {
            bytes: whole.into_bytes(),
            _held: held,
        })
    }
}

/// Most bodies come in one piece, which is not copied.
enum Collected {
    Nothing,
    One(Bytes),
    Several(BytesMut),
}

impl Collected {
    fn push(&mut self, chunk: Bytes, declared: usize) {
        *self = match std::mem::replace(self, Self::Nothing) {
            Self::Nothing => Self::One(chunk),
            Self::One(first) => {
                let mut several = BytesMut::with_capacity(declared.max(first.len() + chunk.len()));
                several.extend_from_slice(&first);
                several.extend_from_slice(&chunk);
                Self::Several(several)
            }
            Self::Several(mut several) => {
                several.extend_from_slice(&chunk);
                Self::Several(several)
            }
        };
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Nothing => Bytes::new(),
            Self::One(bytes) => bytes,
            Self::Several(bytes) => bytes.freeze(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::error::PayloadError;
    use std::task::{Context, Poll};

    async fn collect(memory: &Arc<BodyMemory>, body: Vec<u8>) -> Result<Body, ApiError> {
        let length = body.len();
        Body::collect(Arc::clone(memory), Payload::from(Bytes::from(body)), Some(length)).await
    }

    #[actix_web::test]
    async fn bodies_are_refused_while_others_fill_the_memory() {
        let memory = Arc::new(BodyMemory::default());
        let mut bodies = Vec::new();
        for _ in 0..BODIES_BYTES_MAX / BODY_BYTES_MAX {
            bodies.push(
                collect(&memory, vec![b' '; BODY_BYTES_MAX])
                    .await
                    .expect("the body fits into the budget"),
            );
        }
        assert!(matches!(
            collect(&memory, vec![b' ']).await,
            Err(ApiError::Overloaded)
        ));
        bodies.pop();
        let body = collect(&memory, b"{}".to_vec())
            .await
            .expect("the body fits into the budget again");
        assert_eq!(&*body, b"{}");
        drop((body, bodies));
        assert_eq!(memory.bytes.load(Ordering::Relaxed), 0);
    }

    /// A body that never arrives.
    struct Stalled;

    impl Stream for Stalled {
        type Item = Result<Bytes, PayloadError>;

        fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            Poll::Pending
        }
    }

    fn stalled_payload() -> Payload {
        Payload::Stream {
            payload: Box::pin(Stalled),
        }
    }

    #[actix_web::test]
    async fn what_a_body_declares_is_held_until_it_is_whole() {
        let memory = Arc::new(BodyMemory::default());
        let held = || memory.bytes.load(Ordering::Relaxed);
        let stalled = || {
            Box::pin(Body::collect(
                Arc::clone(&memory),
                stalled_payload(),
                Some(BODY_BYTES_MAX),
            ))
        };
        let mut bodies: Vec<_> = (0..BODIES_BYTES_MAX / BODY_BYTES_MAX)
            .map(|_| stalled())
            .collect();
        for body in &mut bodies {
            let polled = poll_fn(|context| Poll::Ready(body.as_mut().poll(context))).await;
            assert!(polled.is_pending());
        }
        assert_eq!(held(), BODIES_BYTES_MAX);
        assert!(matches!(
            collect(&memory, b"{}".to_vec()).await,
            Err(ApiError::Overloaded)
        ));
        assert_eq!(held(), BODIES_BYTES_MAX, "a refused body holds no memory");
        bodies.pop();
        assert!(collect(&memory, b"{}".to_vec()).await.is_ok());
        drop(bodies);
        assert_eq!(held(), 0);
    }

    #[actix_web::test]
    async fn who_stalls_is_not_waited_for() {
        tokio::time::pause();
        let memory = Arc::new(BodyMemory::default());
        for declared in [Some(SMALL_BODY_BYTES + 1), None] {
            let body = Body::collect(Arc::clone(&memory), stalled_payload(), declared);
            assert!(matches!(body.await, Err(ApiError::IncompleteBody)));
        }
        assert_eq!(memory.bytes.load(Ordering::Relaxed), 0);
    }

    #[actix_web::test]
    async fn a_body_has_a_largest_size() {
        let memory = Arc::new(BodyMemory::default());
        let large = collect(&memory, vec![b' '; BODY_BYTES_MAX + 1]).await;
        assert!(matches!(large, Err(ApiError::PayloadTooLarge)));
        let undeclared = Payload::from(Bytes::from(vec![b' '; BODY_BYTES_MAX + 1]));
        let large = Body::collect(Arc::clone(&memory), undeclared, None).await;
        assert!(matches!(large, Err(ApiError::PayloadTooLarge)));
        assert_eq!(memory.bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn pieces_are_put_together() {
        let mut collected = Collected::Nothing;
        for piece in ["ab", "", "c", "d"] {
            collected.push(Bytes::from_static(piece.as_bytes()), 4);
        }
        assert_eq!(collected.into_bytes(), "abcd");
    }
}
