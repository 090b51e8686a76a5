//! Chunked bodies that nobody reads to their end.
//!
//! actix-http reads a chunked body to its end after the response if it was dropped, however long that takes, to keep the
//! connection. It closes the connection after the response if the body is still there. So an unread one stays until the
//! response was sent. (With a `Content-Length` it always closes the connection.) Their bytes are counted on the way, for the
//! access log.

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::error::PayloadError;
use actix_web::http::header::TRANSFER_ENCODING;
use actix_web::web::Bytes;
use actix_web::{HttpMessage, HttpResponse};
use futures_core::Stream;
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Where a chunked body is put when it is dropped before its end.
#[derive(Clone, Default)]
pub(crate) struct Unread {
    payload: Rc<RefCell<Option<Payload>>>,
    /// Bytes of it that were read.
    read_bytes: Rc<Cell<u64>>,
}

/// A body on its way to a handler.
struct Watched {
    payload: Payload,
    has_ended: bool,
    unread: Unread,
}

/// The body of a response, and the body of the request, unread.
struct WithUnread {
    body: BoxBody,
    _unread: Payload,
}

impl Unread {
    /// Watches the body of a request if it is chunked.
    pub(crate) fn watch(request: &mut ServiceRequest) -> Option<Self> {
        request.headers().get(TRANSFER_ENCODING)?;
        let unread = Self::default();
        let watched = Watched {
            payload: request.take_payload(),
            has_ended: false,
            unread: unread.clone(),
        };
        request.set_payload(Payload::Stream {
            payload: Box::pin(watched),
        });
        Some(unread)
    }

    /// Bytes of the body that were read until now.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.read_bytes.get()
    }

    /// The response, after which the connection is closed if the body was not read to its end.
    pub(crate) fn closes(self, response: HttpResponse) -> HttpResponse {
        match self.payload.take() {
            Some(unread) => response.map_body(|_, body| {
                BoxBody::new(WithUnread {
                    body,
                    _unread: unread,
                })
            }),
            None => response,
        }
    }
}

impl Stream for Watched {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.payload).poll_next(context);
        self.has_ended |= matches!(next, Poll::Ready(None));
        if let Poll::Ready(Some(Ok(bytes))) = &next {
            let read_bytes = &self.unread.read_bytes;
            read_bytes.set(read_bytes.get() + bytes.len() as u64);
        }
        next
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !self.has_ended {
            *self.unread.payload.borrow_mut() = Some(std::mem::replace(&mut self.payload, Payload::None));
        }
    }
}

impl MessageBody for WithUnread {
    type Error = Box<dyn std::error::Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        self.body.as_pin_mut().poll_next(context)
    }
}
