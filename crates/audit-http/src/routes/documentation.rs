//! `/api/v1/openapi.json` and `/docs`: the description of the interface; no credential.

use crate::openapi;
use actix_web::HttpResponse;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ContentType, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};

/// The description is that of this process: another version may handle the next request.
const NO_CACHE: (actix_web::http::header::HeaderName, &str) = (CACHE_CONTROL, "no-cache");

/// The OpenAPI document. A document of another specification's form: there is no `request_id` in it.
pub(super) async fn openapi() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header(ContentType::json())
        .insert_header(NO_CACHE)
        .body(openapi::json())
}

/// The same as a page to read.
pub(super) async fn page() -> HttpResponse {
    let page = openapi::page();
    HttpResponse::Ok()
        .insert_header(ContentType::html())
        .insert_header(NO_CACHE)
        .insert_header((CONTENT_SECURITY_POLICY, page.policy.as_str()))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .body(page.html.as_str())
}

/// The library of the page.
pub(super) async fn library() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "text/javascript; charset=utf-8"))
        .insert_header(NO_CACHE)
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(openapi::LIBRARY)
}
