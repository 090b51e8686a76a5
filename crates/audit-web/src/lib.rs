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
//! - Only `GET` is served. Other methods and paths are left to the services that are registered later.
//! - No page needs a credential, and none contains data: pages read the HTTP API like any other client.

mod files;
mod policy;

pub use policy::{FrameAncestorError, FrameAncestors};

use actix_web::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName,
    HeaderValue, IF_NONE_MATCH, InvalidHeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponse, guard, web};
use files::{FILES, File};
use policy::Policies;
use std::sync::Arc;

/// `Cache-Control` of files whose name has their hash.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// `Cache-Control` of files that have the same name in every version.
const REVALIDATED: &str = "no-cache";
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const CROSS_ORIGIN_OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// The pages and their policies.
#[derive(Clone, Debug)]
pub struct Pages {
    policies: Arc<Policies>,
}

impl Pages {
    /// Pages of which only the portal may be framed, by these ancestors.
    ///
    /// # Errors
    /// The ancestors are not the value of a header; those that [`FrameAncestors::parse`] accepts are.
    pub fn new(ancestors: FrameAncestors) -> Result<Self, InvalidHeaderValue> {
        Ok(Self {
            policies: Arc::new(Policies::new(&ancestors)?),
        })
    }
}

/// Adds the routes of all files. Register them before services that take every path.
pub fn configure(config: &mut web::ServiceConfig, pages: &Pages) {
    for file in FILES {
        let policy = pages.policies.of(file).clone();
        let handler = move |request: HttpRequest| {
            let response = respond(&request, file, &policy);
            async move { response }
        };
        config.service(web::resource(file.path).guard(guard::Get()).to(handler));
    }
}

fn respond(request: &HttpRequest, file: &'static File, policy: &HeaderValue) -> HttpResponse {
    let is_known = request
        .headers()
        .get(IF_NONE_MATCH)
        .and_then(|tags| tags.to_str().ok())
        .is_some_and(|tags| has_tag(tags, file.etag));
    let mut response = match is_known {
        true => HttpResponse::NotModified(),
        false => HttpResponse::Ok(),
    };
    response
        .insert_header((ETAG, file.etag))
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
    response
        .insert_header((CONTENT_TYPE, file.media_type()))
        .body(file.bytes)
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
