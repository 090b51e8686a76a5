//! `/api/v1/openapi.json` and `/docs`: the description of the interface; no credential.

use crate::compression::mark;
use crate::openapi;
use crate::vary;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, EntityTag, Header, HeaderValue, IfNoneMatch,
    REFERRER_POLICY,
};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use audit_web::{gzip, takes_gzip};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::Compression;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// A text that is the same as long as the process runs.
struct Fixed {
    content_type: &'static str,
    text: &'static str,
    /// Compressed once: no credential is needed to ask for it, and compression costs.
    gzip: Option<Vec<u8>>,
    /// Both forms have it, so it is a weak one.
    tag: EntityTag,
}

impl Fixed {
    fn new(content_type: &'static str, text: &'static str) -> Self {
        Self {
            content_type,
            text,
            gzip: gzip(text.as_bytes(), Compression::default()).ok(),
            tag: EntityTag::new_weak(URL_SAFE_NO_PAD.encode(&Sha256::digest(text)[..16])),
        }
    }

    /// The text, or 304 if the client has it. A cache has to ask: another version may handle the next request.
    fn response(&'static self, request: &HttpRequest) -> HttpResponse {
        let mut response = match self.is_known(request) {
            true => HttpResponse::NotModified().finish(),
            false => self.whole(request),
        };
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if let Ok(tag) = HeaderValue::from_str(&self.tag.to_string()) {
            headers.insert(ETAG, tag);
        }
        vary::add(headers, "Accept-Encoding");
        response
    }

    fn is_known(&self, request: &HttpRequest) -> bool {
        match IfNoneMatch::parse(request) {
            Ok(IfNoneMatch::Any) => true,
            Ok(IfNoneMatch::Items(tags)) => tags.iter().any(|tag| tag.weak_eq(&self.tag)),
            Err(_) => false,
        }
    }

    fn whole(&'static self, request: &HttpRequest) -> HttpResponse {
        let mut response = HttpResponse::Ok();
        response.insert_header((CONTENT_TYPE, self.content_type));
        match &self.gzip {
            Some(gzip) if takes_gzip(request) => {
                let mut response = response.body(Bytes::from_static(gzip));
                mark(response.headers_mut());
                response
            }
            _ => response.body(Bytes::from_static(self.text.as_bytes())),
        }
    }
}

/// The OpenAPI document. A document of another specification's form: there is no `request_id` in it.
pub(super) async fn openapi(request: HttpRequest) -> HttpResponse {
    static DOCUMENT: LazyLock<Fixed> = LazyLock::new(|| Fixed::new("application/json", openapi::json()));
    DOCUMENT.response(&request)
}

/// The same as a page to read and to try.
pub(super) async fn page(request: HttpRequest) -> HttpResponse {
    static PAGE: LazyLock<Fixed> =
        LazyLock::new(|| Fixed::new("text/html; charset=utf-8", &openapi::page().html));
    let mut response = PAGE.response(&request);
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&openapi::page().policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// The library of the page.
pub(super) async fn library(request: HttpRequest) -> HttpResponse {
    static LIBRARY: LazyLock<Fixed> =
        LazyLock::new(|| Fixed::new("text/javascript; charset=utf-8", openapi::LIBRARY));
    LIBRARY.response(&request)
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, Plain, Tag};

    pub(crate) fn openapi() -> About {
        About {
            description: "The only JSON response without `request_id`, whose form OpenAPI defines; the header \
                          `x-request-id` is present.",
            outcome: "This document.",
            plain: Some(Plain {
                status: 200,
                content_types: &["application/json"],
                json_type: "object",
            }),
            is_additive: true,
            ..About::new("get_openapi", Tag::Operations, "Read the OpenAPI document")
        }
    }

    pub(crate) fn page() -> About {
        About {
            description: "A page with search and a form that sends requests to this server. It loads nothing from \
                          other servers.",
            outcome: "The page.",
            plain: Some(Plain {
                status: 200,
                content_types: &["text/html"],
                json_type: "string",
            }),
            is_additive: true,
            ..About::new("get_documentation", Tag::Operations, "Read the documentation")
        }
    }

    pub(crate) fn library() -> About {
        About {
            outcome: "The library that shows the page.",
            plain: Some(Plain {
                status: 200,
                content_types: &["text/javascript"],
                json_type: "string",
            }),
            is_additive: true,
            ..About::new(
                "get_documentation_script",
                Tag::Operations,
                "Read the script of the documentation page",
            )
        }
    }
}
