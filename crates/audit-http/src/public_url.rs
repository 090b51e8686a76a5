//! The URL of the server for its clients: in links that responses contain.

use crate::client_address::scheme_of;
use crate::openapi::{Describe, Facts};
use crate::state::HttpState;
use actix_web::dev::Payload;
use actix_web::http::Uri;
use actix_web::http::header::HOST;
use actix_web::{FromRequest, HttpRequest, web};
use std::convert::Infallible;
use std::fmt;
use std::future::{Ready, ready};
use std::str::FromStr;

/// Scheme, host and port of the server, without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(String);

/// The text is not the URL of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be http or https and a host, such as https://audit.example.com, without a path")]
pub struct PublicUrlError;

impl FromStr for PublicUrl {
    type Err = PublicUrlError;

    fn from_str(text: &str) -> Result<Self, PublicUrlError> {
        let uri: Uri = text.parse().map_err(|_| PublicUrlError)?;
        let scheme = uri
            .scheme_str()
            .filter(|scheme| ["http", "https"].contains(scheme));
        let authority = uri
            .authority()
            .filter(|authority| !authority.as_str().contains('@'));
        match (scheme, authority, uri.path(), uri.query()) {
            (Some(scheme), Some(authority), "/", None) if !text.contains('#') => {
                Ok(Self(format!("{scheme}://{authority}")))
            }
            _ => Err(PublicUrlError),
        }
    }
}

impl PublicUrl {
    /// Whether clients reach the server over plain HTTP.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.0.starts_with("http://")
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The URL of the server for the client of a request: that of the configuration, otherwise the one that the client has used. The
/// response of a request goes to the client that has written its `Host`, so a forged one deceives nobody else.
pub(crate) struct OwnUrl(pub(crate) Option<PublicUrl>);

impl OwnUrl {
    fn of(request: &HttpRequest) -> Option<PublicUrl> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_a_scheme_and_a_host() {
        for (text, url) in [
            ("https://audit.example.com", "https://audit.example.com"),
            ("https://audit.example.com/", "https://audit.example.com"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://[::1]:8080/", "http://[::1]:8080"),
        ] {
            assert_eq!(
                text.parse::<PublicUrl>().map(|url| url.to_string()).as_deref(),
                Ok(url)
            );
        }
        for text in [
            "",
            "audit.example.com",
            "javascript:alert(1)",
            "ftp://audit.example.com",
            "https://",
            "https://audit.example.com/audit",
            "https://audit.example.com?x",
            "https://audit.example.com/#token=vt_x",
            "https://audit.example.com@evil.example",
        ] {
            assert_eq!(text.parse::<PublicUrl>(), Err(PublicUrlError), "{text}");
        }
    }
}
