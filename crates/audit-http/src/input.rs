//! Bodies and query strings. Both are only collected while the caller is being authenticated, and read afterwards, so
//! that somebody without a credential learns nothing but that.

use crate::BODY_BYTES_MAX;
use crate::error::ApiError;
use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::header::CONTENT_ENCODING;
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpMessage, HttpRequest, web};
use audit_app::Selection;
use audit_domain::{Environment, Fields, ProjectId, Violation, Violations, json};
use serde_json::{Map, Value};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;

/// The body of a request that must be JSON.
pub(crate) struct JsonBody(Result<Bytes, ApiError>);

impl FromRequest for JsonBody {
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Infallible>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let is_compressed = request
            .headers()
            .get(CONTENT_ENCODING)
            .is_some_and(|coding| coding.as_bytes() != b"identity");
        let is_json = request.content_type().eq_ignore_ascii_case("application/json") && !is_compressed;
        let bytes = Bytes::from_request(request, payload);
        Box::pin(async move {
            let body = match bytes.await {
                _ if !is_json => Err(ApiError::UnsupportedMediaType),
                Ok(bytes) => Ok(bytes),
                Err(error) => Err(body_error(&error)),
            };
            Ok(Self(body))
        })
    }
}

fn body_error(error: &actix_web::Error) -> ApiError {
    match error.as_error::<PayloadError>() {
        Some(PayloadError::Overflow) => ApiError::PayloadTooLarge,
        _ => ApiError::IncompleteBody,
    }
}

impl JsonBody {
    /// The text of the body.
    pub(crate) fn bytes(self) -> Result<Bytes, ApiError> {
        let bytes = self.0?;
        if bytes.len() > BODY_BYTES_MAX {
            Err(ApiError::PayloadTooLarge)
        } else {
            Ok(bytes)
        }
    }

    /// Reads the body's object with `read`; fields that it does not take are refused.
    pub(crate) fn read<T>(self, read: impl FnOnce(&mut Fields<'_>) -> Option<T>) -> Result<T, ApiError> {
        let bytes = self.bytes()?;
        let value = json::parse(&bytes).map_err(|error| Violations::one("body", error))?;
        if !value.is_object() {
            return Err(Violations::one("body", "must be a JSON object").into());
        }
        Ok(Fields::read(value, read)?)
    }
}

/// Reads the parameters of the query string with `read`; parameters that it does not take are refused, and so is one
/// that stands twice.
pub(crate) fn read_query<T>(
    request: &HttpRequest,
    read: impl FnOnce(&mut Fields<'_>) -> Option<T>,
) -> Result<T, ApiError> {
    let pairs = web::Query::<Vec<(String, String)>>::from_query(request.query_string())
        .map_err(|error| Violations::one("query", error))?;
    let mut parameters = Map::new();
    let mut twice = Vec::new();
    for (name, value) in pairs.into_inner() {
        if parameters.insert(name.clone(), Value::String(value)).is_some() {
            twice.push(Violation::new(name, "must be given once"));
        }
    }
    Violations::check(twice)?;
    Ok(Fields::read(Value::Object(parameters), read)?)
}

/// Reads the parameters of an endpoint that takes only those by which every request chooses its project.
pub(crate) fn read_selection(request: &HttpRequest) -> Result<Selection, ApiError> {
    read_query(request, |fields| Some(selection(request, fields)))
}

/// The project by header or parameter, and the environment by parameter.
pub(crate) fn selection(request: &HttpRequest, fields: &mut Fields<'_>) -> Selection {
    let header = request
        .headers()
        .get("x-project-id")
        .map(|value| value.to_str().unwrap_or_default().parse());
    let parameter = fields.optional_parsed::<ProjectId>("project_id");
    let environment = fields.optional_parsed::<Environment>("environment");
    let project_id = match (header, parameter) {
        (None, parameter) => parameter,
        (Some(Err(error)), _) => {
            fields.violate("project_id", format_args!("the header X-Project-Id {error}"))
        }
        (Some(Ok(header)), None) => Some(header),
        (Some(Ok(header)), Some(parameter)) if header == parameter => Some(header),
        (Some(Ok(_)), Some(_)) => {
            fields.violate("project_id", "must name the project of the header X-Project-Id")
        }
    };
    Selection {
        project_id,
        environment,
    }
}
