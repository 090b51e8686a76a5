//! The URL of the server for the client of a request.

use crate::client_address::scheme_of;
use crate::openapi::{Describe, Facts};
use crate::public_url::PublicUrl;
use crate::state::HttpState;
use actix_web::dev::Payload;
use actix_web::http::header::HOST;
use actix_web::{FromRequest, HttpRequest, web};
use std::convert::Infallible;
use std::future::{Ready, ready};

/// The URL of the server for the client of a request: that of the configuration, otherwise the one that the client has used. The
/// response of a request goes to the client that has written its `Host`, so a forged one deceives nobody else.
pub(crate) struct OwnUrl(pub(crate) Option<PublicUrl>);

impl OwnUrl {
    pub(crate) fn of(request: &HttpRequest) -> Option<PublicUrl> {
        let state = request.app_data::<web::Data<HttpState>>()?;
        if let Some(configured) = &state.public_url {
            return Some(configured.clone());
        }
        let own = if state.has_tls { "https" } else { "http" };
        let scheme = scheme_of(request, &state.trusted_proxies).unwrap_or(own);
        let host = request.headers().get(HOST)?.to_str().ok()?;
        format!("{scheme}://{host}").parse().ok()
    }
}

impl FromRequest for OwnUrl {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(Self::of(request))))
    }
}

impl Describe for OwnUrl {
    fn describe(_: &mut Facts) {}
}
