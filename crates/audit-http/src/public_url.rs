//! The URL of the server for its clients: in links that responses contain.

use actix_web::http::Uri;
use std::fmt;
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
