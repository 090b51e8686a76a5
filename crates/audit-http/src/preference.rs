//! `Prefer: receipt` (RFC 7240): the response to a request that stores events waits for the signature of the log.

use crate::openapi::{Describe, Facts};
use crate::reply::Reply;
use actix_web::dev::Payload;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::{FromRequest, HttpRequest};
use std::convert::Infallible;
use std::future::{Ready, ready};

/// The name of the header, which may be given several times.
const PREFER: HeaderName = HeaderName::from_static("prefer");
/// The preference.
const RECEIPT: &str = "receipt";

/// Whether the client prefers a response with receipts.
pub(crate) struct ReceiptPreference(bool);

impl ReceiptPreference {
    /// Whether the header has the preference.
    pub(crate) const fn is_given(&self) -> bool {
        self.0
    }

    /// Notes in the response that the preference was applied.
    pub(crate) fn applied<T, S>(&self, reply: Reply<T, S>) -> Reply<T, S> {
        let name = HeaderName::from_static("preference-applied");
        reply.with_header(name, HeaderValue::from_static(RECEIPT))
    }

    fn read(values: impl Iterator<Item = impl AsRef<[u8]>>) -> Self {
        let is_receipt = |value: &[u8]| {
            // A preference may have a value and parameters; this one has no meaning for them.
            let mut preferences = value.split(|byte| *byte == b',');
            preferences.any(|preference| {
                let name = preference
                    .split(|byte| b";=".contains(byte))
                    .next()
                    .unwrap_or_default();
                name.trim_ascii().eq_ignore_ascii_case(RECEIPT.as_bytes())
            })
        };
        Self(values.into_iter().any(|value| is_receipt(value.as_ref())))
    }
}

impl FromRequest for ReceiptPreference {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self::read(
            request.headers().get_all(PREFER).map(HeaderValue::as_bytes),
        )))
    }
}

impl Describe for ReceiptPreference {
    fn describe(_: &mut Facts) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preference_is_one_of_several() {
        for (values, is_given) in [
            (vec!["receipt"], true),
            (vec!["respond-async, Receipt"], true),
            (vec!["wait=10; x, receipt=\"\"; y=1"], true),
            (vec!["return=minimal", " receipt "], true),
            (vec![], false),
            (vec!["receipts"], false),
            (vec!["return=receipt"], false),
        ] {
            let read = ReceiptPreference::read(values.iter());
            assert_eq!(read.is_given(), is_given, "{values:?}");
        }
    }
}
