//! Cross-origin reads with a viewer token, as the Fetch standard defines them (CORS protocol).
//!
//! Every route that a viewer token may read takes part. A preflight names no credential, so it is answered for every origin that may
//! use a viewer token; the response itself carries the headers only when the credential is one.

use crate::error::ApiError;
use crate::state::{CorsOrigins, HttpState};
use crate::vary;
use actix_web::dev::ServiceResponse;
use actix_web::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION,
    HeaderMap, HeaderValue, ORIGIN,
};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};

/// Adds the headers that let a page read the response of a route that a viewer token may read.
pub(crate) fn let_read<B>(state: &HttpState, response: &mut ServiceResponse<B>) {
    // Also without the other headers: a cache must not give one origin the response to another one.
    vary::add(response.headers_mut(), "Origin");
    let request = response.request();
    if !reads_with_a_viewer_token(request) {
        return;
    }
    if let Some(origin) = allowed_origin(request, &state.cors_origins) {
        allow(response.headers_mut(), origin);
    }
}

fn allow(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(
            "x-request-id, retry-after, content-disposition, events-removed-before, events-archived-manifest, ratelimit-limit, \
             ratelimit-remaining, ratelimit-reset",
        ),
    );
}

fn reads_with_a_viewer_token(request: &HttpRequest) -> bool {
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return false;
    }
    let authorization = request
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let token = authorization
        .and_then(|text| text.split_once(' '))
        .map(|(_, token)| token.trim_start());
    token.is_some_and(|token| token.starts_with("vt_"))
}

/// The value of `Access-Control-Allow-Origin`, if the page may read.
fn allowed_origin(request: &HttpRequest, origins: &CorsOrigins) -> Option<HeaderValue> {
    let origin = request.headers().get(ORIGIN)?;
    match origins {
        CorsOrigins::Any => Some(HeaderValue::from_static("*")),
        CorsOrigins::Only(allowed) => allowed
            .iter()
            .any(|allowed| allowed.as_bytes() == origin.as_bytes())
            .then(|| origin.clone()),
    }
}

/// The response to what a browser asks before it sends the token. `methods` are those that the path takes.
pub(crate) fn preflight(
    request: &HttpRequest,
    state: &HttpState,
    methods: &str,
) -> Result<HttpResponse, ApiError> {
    let asks_to_read = request
        .headers()
        .get(ACCESS_CONTROL_REQUEST_METHOD)
        .is_some_and(|method| [&b"GET"[..], b"HEAD"].contains(&method.as_bytes()));
    let origin = allowed_origin(request, &state.cors_origins).filter(|_| asks_to_read);
    let Some(origin) = origin else {
        return Err(ApiError::MethodNotAllowed {
            allow: methods.to_owned(),
        });
    };
    let mut response = HttpResponse::new(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    allow(headers, origin);
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, HEAD"),
    );
    headers.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("authorization, content-type, last-event-id, x-request-id"),
    );
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    Ok(response)
}
