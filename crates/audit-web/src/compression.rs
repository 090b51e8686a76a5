//! gzip (RFC 1952) for the clients that take it: of the pages, and of the responses of the API.

use actix_web::HttpRequest;
use actix_web::http::header::{ACCEPT_ENCODING, AcceptEncoding, Encoding, Header};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// Whether the client names gzip, and prefers it to bytes as they are (RFC 9110, section 12.5.3).
#[must_use]
pub fn takes_gzip(request: &HttpRequest) -> bool {
    let offered = [Encoding::gzip(), Encoding::identity()];
    request.headers().contains_key(ACCEPT_ENCODING)
        && AcceptEncoding::parse(request)
            .ok()
            .and_then(|accepted| accepted.negotiate(offered.iter()))
            .is_some_and(|chosen| chosen == Encoding::gzip())
}

/// The bytes as gzip.
///
/// # Errors
/// None: memory is written.
pub fn gzip(bytes: &[u8], level: Compression) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn gzip_is_chosen_only_where_the_client_takes_it() {
        let takes = |accepted: &str| {
            takes_gzip(
                &TestRequest::default()
                    .insert_header((ACCEPT_ENCODING, accepted))
                    .to_http_request(),
            )
        };
        for accepted in [
            "gzip",
            "gzip, deflate, br, zstd",
            "gzip;q=0.5, identity;q=0.1",
            "x, gzip",
        ] {
            assert!(takes(accepted), "{accepted}");
        }
        for refused in [
            "identity",
            "br",
            "gzip;q=0",
            "deflate",
            "gzip;q=0.1, identity;q=0.5",
            ";;;",
        ] {
            assert!(!takes(refused), "{refused}");
        }
        assert!(!takes_gzip(&TestRequest::default().to_http_request()));
    }
}
