//! Answers that carry the request's id.

use crate::request_id::RequestId;
use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, Responder};
use serde::Serialize;

/// A JSON answer. `request_id` is added to the body's fields.
pub(crate) struct Reply<T> {
    status: StatusCode,
    body: T,
}

#[derive(Serialize)]
struct WithRequestId<'a, T> {
    #[serde(flatten)]
    body: T,
    request_id: &'a str,
}

impl<T: Serialize> Reply<T> {
    /// 200.
    pub(crate) fn ok(body: T) -> Self {
        Self {
            status: StatusCode::OK,
            body,
        }
    }

    /// 202.
    pub(crate) fn accepted(body: T) -> Self {
        Self {
            status: StatusCode::ACCEPTED,
            body,
        }
    }

    /// 201.
    pub(crate) fn created(body: T) -> Self {
        Self {
            status: StatusCode::CREATED,
            body,
        }
    }
}

/// The answer to a deletion.
#[derive(Serialize)]
pub(crate) struct Deleted {
    deleted: bool,
}

impl Reply<Deleted> {
    /// 200, and `deleted`.
    pub(crate) fn deleted() -> Self {
        Self::ok(Deleted { deleted: true })
    }
}

impl<T: Serialize> Responder for Reply<T> {
    type Body = BoxBody;

    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        let id = RequestId::of(request);
        HttpResponseBuilder::new(self.status).json(WithRequestId {
            body: self.body,
            request_id: id.as_str(),
        })
    }
}
