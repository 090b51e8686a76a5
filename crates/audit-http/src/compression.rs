//! Responses as gzip, for clients that take it.
//!
//! - Only responses that are large, and text. An event stream is not compressed: each line has to leave at once.
//! - What a compressor holds is bounded, and its owner has a share: a response for which there is none is sent as it is.
//! - The length of a compressed response tells how much its parts repeat each other (BREACH). Keys, tokens and secrets of
//!   webhooks are shown once, in responses that are too short to be compressed or marked with
//!   [`NEITHER_STORED_NOR_COMPRESSED`], and credentials of requests stand in headers, which are not compressed. So no compressed response has a secret beside a text of another party.

use crate::owner::{Holding, Owner, Shared};
use crate::vary;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use actix_web::web::{self, Bytes};
use actix_web::{HttpRequest, HttpResponse};
use audit_admission::TrustedProxies;
use audit_web::{gzip, takes_gzip};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::error::Error;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A response of fewer bytes is not compressed.
const COMPRESSED_BYTES_MIN: usize = 4 * 1024;
/// A response of at most so many bytes is compressed on the thread that serves the connection.
const COMPRESSED_IN_PLACE_BYTES_MAX: usize = 64 * 1024;
/// `Cache-Control` of responses with a secret that may be long: no cache stores them, and neither the server nor a proxy compresses
/// them (RFC 9111, sections 5.2.2.5 and 5.2.2.6).
pub(crate) const NEITHER_STORED_NOR_COMPRESSED: HeaderValue =
    HeaderValue::from_static("no-store, no-transform");
/// Responses that are compressed at once, each by some 300 KiB.
pub(crate) const COMPRESSORS_MAX: usize = 8;

/// The compressors, shared out by owner: those for whole responses, and those for streamed ones, which keep theirs long. An
/// owner alone has five.
pub(crate) struct Compressors {
    whole: Shared,
    streamed: Shared,
}

impl Default for Compressors {
    fn default() -> Self {
        Self {
            whole: Shared::new(COMPRESSORS_MAX),
            streamed: Shared::new(COMPRESSORS_MAX),
        }
    }
}

/// One more compressor of the owner, if its share has one.
fn compressor(of: &Shared, owner: Owner) -> Option<Holding> {
    let mut held = owner.hold(of);
    held.grow(1).then_some(held)
}

/// The response, compressed if it is worth it and the client takes it.
pub(crate) async fn compressed(
    compressors: &Compressors,
    proxies: &TrustedProxies,
    request: &HttpRequest,
    mut response: HttpResponse,
) -> HttpResponse {
    if !is_compressible(response.headers()) {
        return response;
    }
    let is_streamed = match response.body().size() {
        BodySize::Sized(bytes) if bytes >= COMPRESSED_BYTES_MIN as u64 => false,
        BodySize::Stream => true,
        BodySize::None | BodySize::Sized(_) => return response,
    };
    vary::add(response.headers_mut(), "Accept-Encoding");
    if !takes_gzip(request) {
        return response;
    }
    let free = match is_streamed {
        true => &compressors.streamed,
        false => &compressors.whole,
    };
    let Some(compressor) = compressor(free, Owner::of(request, proxies)) else {
        return response;
    };
    if is_streamed {
        mark(response.headers_mut());
        return response.map_body(|_, body| BoxBody::new(GzipBody::new(body, compressor)));
    }
    // Boxed, so that the futures of other requests have no room for it.
    let response = Box::pin(whole(response)).await;
    drop(compressor);
    response
}

/// The body is gzip.
pub(crate) fn mark(headers: &mut HeaderMap) {
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
}

fn is_compressible(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_text = content_type.is_some_and(|content_type| {
        let plain = content_type.split(';').next().unwrap_or_default();
        plain != "text/event-stream"
            && (plain.starts_with("text/") || ["application/json", "application/x-ndjson"].contains(&plain))
    });
    let has_secret = headers.get(CACHE_CONTROL) == Some(&NEITHER_STORED_NOR_COMPRESSED);
    is_text && !has_secret && !headers.contains_key(CONTENT_ENCODING)
}

async fn whole(response: HttpResponse) -> HttpResponse {
    let (mut response, body) = response.into_parts();
    let bytes = match body.try_into_bytes() {
        Ok(bytes) => bytes,
        Err(body) => return response.set_body(body),
    };
    let compressed = match bytes.len() <= COMPRESSED_IN_PLACE_BYTES_MAX {
        true => gzip(&bytes, Compression::fast()),
        false => {
            let bytes = bytes.clone();
            #[expect(
                clippy::disallowed_methods,
                reason = "the caller has a permit of the owner to compress"
            )]
            let work = web::block(move || gzip(&bytes, Compression::fast()));
            work.await.unwrap_or_else(|error| Err(io::Error::other(error)))
        }
    };
    match compressed {
        Ok(compressed) if compressed.len() < bytes.len() => {
            mark(response.headers_mut());
            response.set_body(BoxBody::new(compressed))
        }
        Ok(_) => response.set_body(BoxBody::new(bytes)),
        Err(error) => {
            log::warn!("a response could not be compressed: {error}");
            response.set_body(BoxBody::new(bytes))
        }
    }
}

/// A streamed body as gzip. If the body breaks off, so does this one, without the end of the format.
struct GzipBody {
    body: BoxBody,
    encoder: Option<GzEncoder<Vec<u8>>>,
    _compressor: Holding,
}

impl GzipBody {
    fn new(body: BoxBody, compressor: Holding) -> Self {
        Self {
            body,
            encoder: Some(GzEncoder::new(Vec::new(), Compression::fast())),
            _compressor: compressor,
        }
    }
}

impl MessageBody for GzipBody {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        loop {
            let next = ready!(self.body.as_pin_mut().poll_next(context));
            let Some(encoder) = &mut self.encoder else {
                return Poll::Ready(None);
            };
            let written = match next {
                Some(Ok(piece)) => encoder
                    .write_all(&piece)
                    .map(|()| std::mem::take(encoder.get_mut())),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => match self.encoder.take() {
                    Some(encoder) => encoder.finish(),
                    None => return Poll::Ready(None),
                },
            };
            match written {
                // The encoder keeps what is too short to be compressed.
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Poll::Ready(Some(Ok(bytes.into()))),
                Err(error) => return Poll::Ready(Some(Err(error.into()))),
            }
        }
    }
}

/// The body of a response to HEAD in place of a streamed one: nothing is produced.
struct NoStream;

impl MessageBody for NoStream {
    type Error = std::convert::Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Poll::Ready(None)
    }
}

/// The response to HEAD: its body is not sent, and a streamed one is not made.
pub(crate) fn without_stream(response: HttpResponse) -> HttpResponse {
    match response.body().size() {
        BodySize::Stream => response.map_body(|_, _| BoxBody::new(NoStream)),
        BodySize::None | BodySize::Sized(_) => response,
    }
}

#[cfg(test)]
mod tests;
