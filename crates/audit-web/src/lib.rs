//! The pages of the audit log: the viewer component, the portal, the console and the start page, with their headers.
//!
//! The files are built from `web/` and committed in `assets/`, so that a build of the server needs no Node. `web/check` builds them
//! again and compares byte for byte.
//!
//! ```
//! use actix_web::App;
//! use audit_web::{FrameAncestors, Pages};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pages = Pages::new(FrameAncestors::parse(&["https://app.example.com".to_owned()])?)?;
//! let application = App::new().configure(|config| audit_web::configure(config, &pages));
//! # drop(application);
//! # Ok(())
//! # }
//! ```
//!
//! Invariants:
//! - Every response has a `Content-Security-Policy` without inline code, `nosniff` and `Referrer-Policy: no-referrer`.
//! - A file whose name has its hash never changes and is cached forever. Everything else is revalidated by its `ETag`.
//! - Only `GET` and `HEAD` are served. Other methods and paths are left to the services that are registered later.
//! - Files are sent as gzip to clients that accept it; they were compressed once, when the pages were made.
//! - No page needs a credential, and none contains data: pages read the HTTP API like any other client.

mod compression;
mod files;
mod policy;

pub use compression::{gzip, takes_gzip};
pub use policy::{FrameAncestorError, FrameAncestors};

use actix_web::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, InvalidHeaderValue, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use actix_web::web::{self, Bytes};
use actix_web::{HttpRequest, HttpResponse, guard};
use files::{FILES, File};
use flate2::Compression;
use policy::Policies;
use std::sync::Arc;

/// `Cache-Control` of files whose name has their hash.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// `Cache-Control` of files that have the same name in every version.
const REVALIDATED: &str = "no-cache";
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const CROSS_ORIGIN_OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// The pages, with their policies, as they are sent.
#[derive(Clone, Debug)]
pub struct Pages {
    served: Vec<Arc<Served>>,
}

/// A file with what all of its responses have.
#[derive(Debug)]
struct Served {
    file: &'static File,
    policy: HeaderValue,
    compressed: Bytes,
    /// The entity tag of the compressed form, which has bytes of its own (RFC 9110, section 8.8.3.3).
    compressed_etag: String,
}

impl Pages {
    /// Pages of which only the portal may be framed, by these ancestors.
    ///
    /// # Errors
    /// The ancestors are not the value of a header; those that [`FrameAncestors::parse`] accepts are.
    pub fn new(ancestors: FrameAncestors) -> Result<Self, InvalidHeaderValue> {
        let policies = Policies::new(&ancestors)?;
        let served = FILES
            .iter()
            .map(|file| Arc::new(Served::new(file, policies.of(file))));
        Ok(Self {
            served: served.collect(),
        })
    }
}

/// Adds the routes of all files. Register them before services that take every path.
pub fn configure(config: &mut web::ServiceConfig, pages: &Pages) {
    for served in &pages.served {
        let path = served.file.path;
        let served = Arc::clone(served);
        let handler = move |request: HttpRequest| {
            let response = served.respond(&request);
            async move { response }
        };
        // HEAD is GET whose body is not sent (RFC 9110, section 9.3.2).
        let read = guard::Any(guard::Get()).or(guard::Head());
        config.service(web::resource(path).guard(read).to(handler));
    }
}

impl Served {
    fn new(file: &'static File, policy: &HeaderValue) -> Self {
        Self {
            file,
            policy: policy.clone(),
            compressed: gzip(file.bytes, Compression::best())
                .expect("memory is written")
                .into(),
            compressed_etag: format!("{}-gzip\"", file.etag.trim_end_matches('"')),
        }
    }

    fn respond(&self, request: &HttpRequest) -> HttpResponse {
        let Self { file, policy, .. } = self;
        let is_compressed = takes_gzip(request);
        let etag = match is_compressed {
            true => self.compressed_etag.as_str(),
            false => file.etag,
        };
        let is_known = request
            .headers()
            .get(IF_NONE_MATCH)
            .and_then(|tags| tags.to_str().ok())
            .is_some_and(|tags| has_tag(tags, etag));
        let mut response = match is_known {
            true => HttpResponse::NotModified(),
            false => HttpResponse::Ok(),
        };
        response
            .insert_header((ETAG, etag))
            .insert_header((VARY, "Accept-Encoding"))
            .insert_header((CACHE_CONTROL, if file.is_hashed { FOR_EVER } else { REVALIDATED }))
            .insert_header((CONTENT_SECURITY_POLICY, policy.clone()))
            .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .insert_header((REFERRER_POLICY, "no-referrer"));
        if file.is_page() {
            response.insert_header((CROSS_ORIGIN_OPENER_POLICY, "same-origin"));
        }
        if file.is_embedded() {
            // Modules of other origins are fetched with CORS.
            response
                .insert_header((ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
                .insert_header((CROSS_ORIGIN_RESOURCE_POLICY, "cross-origin"));
        } else {
            response.insert_header((CROSS_ORIGIN_RESOURCE_POLICY, "same-origin"));
        }
        if is_known {
            return response.finish();
        }
        response.insert_header((CONTENT_TYPE, file.media_type()));
        if is_compressed {
            response
                .insert_header((CONTENT_ENCODING, "gzip"))
                .body(self.compressed.clone())
        } else {
            response.body(file.bytes)
        }
    }
}

/// Whether the value of `If-None-Match` has the tag (RFC 9110, section 13.1.2: weak comparison).
fn has_tag(tags: &str, tag: &str) -> bool {
    let mut listed = tags
        .split(',')
        .map(|listed| listed.trim().trim_start_matches("W/"));
    listed.any(|listed| listed == "*" || listed == tag)
}

#[cfg(test)]
mod tests;
