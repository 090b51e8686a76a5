//! The document as a page to read and to try: the library Scalar, vendored in `assets/scalar`.
//!
//! The policy of the page lets it load and call nothing but this server.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// `@scalar/api-reference`, `dist/browser/standalone.js`. `assets/scalar/README.md` has its version and its origin.
pub(crate) const LIBRARY: &str = include_str!("../../assets/scalar/standalone.js");

const START: &str = include_str!("page/start.js");

/// The page, and its content security policy.
pub(crate) struct Page {
    pub(crate) html: String,
    /// The header `Content-Security-Policy`.
    pub(crate) policy: String,
}

/// The page.
pub(crate) fn page() -> &'static Page {
    static PAGE: LazyLock<Page> = LazyLock::new(render);
    &PAGE
}

/// Scripts: the library, and the start of it, known by its hash. Styles: the library writes its own into the page.
fn render() -> Page {
    let hash = STANDARD.encode(Sha256::digest(START));
    let policy = format!(
        "default-src 'none'; script-src 'self' 'sha256-{hash}'; style-src 'unsafe-inline'; img-src 'self' data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Audit log: HTTP API {}</title>\n\
         </head>\n<body>\n<noscript><p>This page needs JavaScript. <a href=\"api/v1/openapi.json\">The OpenAPI document\
         </a> does not.</p></noscript>\n<div id=\"reference\"></div>\n<script src=\"docs/scalar.js\"></script>\n\
         <script>{START}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    Page { html, policy }
}
