//! Responses with the request's id.

use crate::openapi::{Describe, Facts, Response};
use crate::request_id::RequestId;
use crate::schema::True;
use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, Responder};
use audit_app::RemovedBefore;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::borrow::Cow;
use std::marker::PhantomData;

/// The headers with the latest time before which a removal has taken events of the log, and with the manifest of the archive that has what
/// the newest one took; none without a removal.
pub(crate) fn removed_before(
    before: Option<RemovedBefore>,
) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    let time = before.map(|before| ("events-removed-before", before.time.to_string()));
    let archive = before.and_then(|before| before.archive);
    let archive = archive.map(|manifest| ("events-archived-manifest", manifest.to_string()));
    let headers = time.into_iter().chain(archive);
    headers.filter_map(|(name, value)| {
        Some((HeaderName::from_static(name), HeaderValue::from_str(&value).ok()?))
    })
}

/// The status of a successful request.
pub(crate) trait Success: 'static {
    const STATUS: StatusCode;
}

/// 200.
pub(crate) struct Done;
/// 201.
pub(crate) struct Created;
/// 202.
pub(crate) struct Accepted;

impl Success for Done {
    const STATUS: StatusCode = StatusCode::OK;
}

impl Success for Created {
    const STATUS: StatusCode = StatusCode::CREATED;
}

impl Success for Accepted {
    const STATUS: StatusCode = StatusCode::ACCEPTED;
}

/// A JSON response. `request_id` is added to the body's fields.
pub(crate) struct Reply<T, S = Done> {
    body: T,
    headers: Vec<(HeaderName, HeaderValue)>,
    success: PhantomData<S>,
}

#[derive(Serialize)]
struct WithRequestId<'a, T> {
    #[serde(flatten)]
    body: T,
    request_id: &'a str,
}

/// [`WithRequestId`] without its values.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is sent")]
struct Identified<T> {
    #[serde(flatten)]
    body: T,
    /// The id of the request, also in the header `x-request-id` and in the service's log.
    request_id: String,
}

/// It has the name of its body: `EventPage`, not a name made of both types.
impl<T: JsonSchema> JsonSchema for WithRequestId<'_, T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        <Identified<T>>::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = <Identified<T>>::json_schema(generator);
        let about = T::json_schema(generator).remove("description");
        schema.remove("description");
        if let Some(about) = about {
            schema.insert("description".to_owned(), about);
        }
        schema
    }
}

impl<T, S> Reply<T, S> {
    fn new(body: T) -> Self {
        Self {
            body,
            headers: Vec::new(),
            success: PhantomData,
        }
    }

    /// With the headers of [`removed_before`].
    pub(crate) fn with_removed_before(mut self, before: Option<RemovedBefore>) -> Self {
        self.headers.extend(removed_before(before));
        self
    }

    /// With a header.
    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl<T> Reply<T> {
    /// 200.
    pub(crate) fn ok(body: T) -> Self {
        Self::new(body)
    }
}

impl<T> Reply<T, Created> {
    /// 201.
    pub(crate) fn created(body: T) -> Self {
        Self::new(body)
    }
}

impl<T> Reply<T, Accepted> {
    /// 202.
    pub(crate) fn accepted(body: T) -> Self {
        Self::new(body)
    }
}

impl<T: JsonSchema, S: Success> Describe for Reply<T, S> {
    fn describe(facts: &mut Facts) {
        facts.response = Some(Response {
            status: S::STATUS.as_u16(),
            schema: |generator| generator.subschema_for::<WithRequestId<'_, T>>(),
        });
    }
}

/// The response to a deletion.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Deletion")]
pub(crate) struct Deleted {
    #[schemars(with = "True")]
    deleted: bool,
}

impl Reply<Deleted> {
    /// 200, and `deleted`.
    pub(crate) fn deleted() -> Self {
        Self::ok(Deleted { deleted: true })
    }
}

impl<T: Serialize, S: Success> Responder for Reply<T, S> {
    type Body = BoxBody;

    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        let id = RequestId::of(request);
        let mut response = HttpResponseBuilder::new(S::STATUS);
        for header in self.headers {
            response.insert_header(header);
        }
        response.json(WithRequestId {
            body: self.body,
            request_id: id.as_str(),
        })
    }
}
