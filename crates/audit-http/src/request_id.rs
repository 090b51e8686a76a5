//! The id of a request.

use crate::state::HttpState;
use actix_web::dev::ServiceRequest;
use actix_web::http::header::HeaderName;
use actix_web::{HttpMessage, HttpRequest};
use std::sync::Arc;

pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");
const PREFIX: &str = "req_";
pub(crate) const INCOMING_CHARS_MIN: usize = 8;
pub(crate) const INCOMING_CHARS_MAX: usize = 128;

/// The id of a request: `req_…`, or the client's `x-request-id` if it is well formed.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(Arc<str>);

impl RequestId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Gives the request its id: the client's, or a new one.
    pub(crate) fn give(request: &ServiceRequest, state: &HttpState) -> Self {
        let id = Self::incoming(request).unwrap_or_else(|| Self::generate(state));
        request.extensions_mut().insert(id.clone());
        id
    }

    /// The id that the middleware gave the request.
    pub(crate) fn of(request: &HttpRequest) -> Self {
        request
            .extensions()
            .get::<Self>()
            .cloned()
            .unwrap_or_else(|| Self(PREFIX.into()))
    }

    fn incoming(request: &ServiceRequest) -> Option<Self> {
        let text = request.headers().get(HEADER)?.to_str().ok()?;
        let is_well_formed = (INCOMING_CHARS_MIN..=INCOMING_CHARS_MAX).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        is_well_formed.then(|| Self(text.into()))
    }

    fn generate(state: &HttpState) -> Self {
        const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let random: [u8; 20] = state.entropy.bytes();
        let mut text = *b"req_....................";
        for (symbol, byte) in text[PREFIX.len()..].iter_mut().zip(random) {
            *symbol = ALPHABET[usize::from(byte & 31)];
        }
        Self(String::from_utf8_lossy(&text).into())
    }
}
