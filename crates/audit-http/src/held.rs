//! Responses whose bytes count until the client has taken them.
//!
//! A body is passed on in pieces, as fast as the client takes them, so the connection buffers two pieces at most. The rest
//! belongs to the organization of the request, or to the client's address, and counts against its share.

use crate::error::ApiError;
use crate::owner::{Holding, Owner, Shared};
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::StatusCode;
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use audit_admission::TrustedProxies;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Bytes of responses of all owners together that wait for their clients, at most.
pub(crate) const RESPONSES_BYTES_MAX: usize = 32 * 1024 * 1024;
/// A response of fewer bytes is not counted: its connection buffers it.
const COUNTED_BYTES_MIN: usize = 16 * 1024;
/// Bytes that are passed on at once, at most.
const PIECE_BYTES_MAX: usize = 32 * 1024;

/// A body that is held until it has been passed on.
struct HeldBody {
    rest: Bytes,
    held: Holding,
}

impl MessageBody for HeldBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.rest.len() as u64)
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let bytes = self.rest.len().min(PIECE_BYTES_MAX);
        let piece = self.rest.split_to(bytes);
        // The pieces share the memory of the whole body.
        if self.rest.is_empty() {
            self.held.shrink_to(0);
        }
        Poll::Ready(Some(Ok(piece)))
    }
}

/// The response, counted as its owner's. When that would exceed the owner's share it becomes an error, unless it reports what
/// was stored: a client that does not learn of that would send it again.
pub(crate) fn counted(
    responses: &Shared,
    proxies: &TrustedProxies,
    request: &HttpRequest,
    response: HttpResponse,
) -> Result<HttpResponse, ApiError> {
    let BodySize::Sized(bytes) = response.body().size() else {
        return Ok(response);
    };
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    if bytes < COUNTED_BYTES_MIN {
        return Ok(response);
    }
    let mut held = Owner::of(request, proxies).hold(responses);
    let reports_a_change = [StatusCode::CREATED, StatusCode::ACCEPTED].contains(&response.status());
    if reports_a_change {
        held.take(bytes);
    } else if !held.grow(bytes) {
        return Err(ApiError::Overloaded);
    }
    Ok(response.map_body(|_, body| match body.try_into_bytes() {
        Ok(rest) => BoxBody::new(HeldBody { rest, held }),
        Err(body) => body,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::body::to_bytes;
    use std::future::poll_fn;

    fn body(memory: &Shared, bytes: usize) -> HeldBody {
        let mut held = Owner::Address(String::new()).hold(memory);
        assert!(held.grow(bytes));
        HeldBody {
            rest: Bytes::from(vec![7; bytes]),
            held,
        }
    }

    #[actix_web::test]
    async fn a_body_counts_until_it_has_been_passed_on() {
        let memory = Shared::new(RESPONSES_BYTES_MAX);
        let mut sent = body(&memory, 3 * PIECE_BYTES_MAX + 1);
        assert_eq!(sent.size(), BodySize::Sized(3 * PIECE_BYTES_MAX as u64 + 1));
        let mut held = Vec::new();
        while let Some(piece) = poll_fn(|context| Pin::new(&mut sent).poll_next(context)).await {
            assert!(piece.unwrap().len() <= PIECE_BYTES_MAX);
            held.push(memory.held());
        }
        let whole = 3 * PIECE_BYTES_MAX + 1;
        assert_eq!(held, [whole, whole, whole, 0]);
    }

    #[actix_web::test]
    async fn a_body_of_a_connection_that_ends_counts_no_more() {
        let memory = Shared::new(RESPONSES_BYTES_MAX);
        let unsent = body(&memory, 1_000_000);
        assert_eq!(memory.held(), 1_000_000);
        drop(unsent);
        assert_eq!(memory.held(), 0);
        let whole = to_bytes(body(&memory, 100_000)).await.unwrap();
        assert_eq!(whole, vec![7; 100_000]);
    }
}
