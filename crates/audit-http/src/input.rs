//! Bodies and query strings. Bodies are read, and both are parsed, after the caller is authenticated, so that a client
//! without a valid credential learns only that and holds no memory. Their types declare what they may contain.

use crate::body::{Body, Room, UnreadBody};
use crate::error::ApiError;
use crate::error_code::ErrorCode;
use crate::openapi::{Describe, Facts, Input, JSON, SchemaOf};
use actix_web::dev::Payload;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderName};
use actix_web::{FromRequest, HttpMessage, HttpRequest, web};
use audit_app::Selection;
use audit_domain::json::{self, Json};
use audit_domain::{Environment, Fields, ProjectId, Violation, Violations};
use schemars::JsonSchema;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::marker::PhantomData;

/// A JSON object or a query string: the fields of the type describe it in the OpenAPI document, and `read` parses it.
/// Tests compare the two.
pub(crate) trait Fielded: JsonSchema {
    /// The parsed value.
    type Read;

    /// Takes the fields it knows; all others are refused.
    fn read(fields: &mut Fields<'_>) -> Option<Self::Read>;

    /// Whether a parameter of this name may be given several times. `read` then takes an array.
    fn is_repeatable(_parameter: &str) -> bool {
        false
    }
}

/// The body of a request that must be JSON as `T` describes it. It is not read yet.
pub(crate) struct JsonBody<T> {
    body: UnreadBody,
    /// Why it is refused whatever it contains.
    refusal: Option<ApiError>,
    content: PhantomData<T>,
}

impl<T: 'static> FromRequest for JsonBody<T> {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let is_json = request.content_type().eq_ignore_ascii_case(JSON);
        let refusal = (!is_json).then_some(ApiError::UnsupportedMediaType { accepted: JSON });
        ready(Ok(Self::of(request, payload, refusal)))
    }
}

/// How a body is compressed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Coding {
    Identity,
    Gzip,
}

/// The coding of the request's body; `None` for one that is not supported, and for several.
fn coding_of(request: &HttpRequest) -> Option<Coding> {
    let mut codings = request.headers().get_all(CONTENT_ENCODING);
    let coding = match (codings.next(), codings.next()) {
        (None, _) => return Some(Coding::Identity),
        (Some(coding), None) => coding.to_str().ok()?.to_ascii_lowercase(),
        (Some(_), Some(_)) => return None,
    };
    match coding.as_str() {
        "identity" | "" => Some(Coding::Identity),
        // RFC 9110, section 8.4.1.3.
        "gzip" | "x-gzip" => Some(Coding::Gzip),
        _ => None,
    }
}

impl<T> JsonBody<T> {
    /// The body of a request; `refusal` is the error where its content type is not accepted.
    pub(crate) fn of(request: &HttpRequest, payload: &mut Payload, refusal: Option<ApiError>) -> Self {
        let coding = coding_of(request);
        let refusal = refusal.or_else(|| coding.is_none().then_some(ApiError::UnsupportedCoding));
        let declared = request.headers().get(CONTENT_LENGTH);
        let declared = declared.and_then(|length| length.to_str().ok()?.parse().ok());
        Self {
            body: UnreadBody {
                payload: payload.take(),
                declared,
                // A body that is refused anyway is not inflated.
                is_gzip: refusal.is_none() && coding == Some(Coding::Gzip),
            },
            refusal,
            content: PhantomData,
        }
    }

    /// Reads the body. Returns its text.
    pub(crate) async fn bytes(&mut self, room: Room) -> Result<Body, ApiError> {
        let body = self.body.collect(room).await;
        match self.refusal.take() {
            None => body,
            Some(refusal) => Err(refusal),
        }
    }

    /// Describes a body of this content, and the errors that it can be refused with.
    pub(crate) fn describe_as(facts: &mut Facts, content: Input) {
        facts.codes.extend([
            ErrorCode::ValidationError,
            ErrorCode::PayloadTooLarge,
            ErrorCode::UnsupportedMediaType,
            ErrorCode::Unavailable,
        ]);
        facts.body = Some(content);
    }
}

impl<T: Fielded> JsonBody<T> {
    /// Reads and parses the body.
    pub(crate) async fn read(mut self, room: Room) -> Result<T::Read, ApiError> {
        let bytes = self.bytes(room).await?;
        let value = json::parse(&bytes).map_err(|error| Violations::one("body", error))?;
        if !matches!(value, Json::Object(_)) {
            return Err(Violations::one("body", "must be a JSON object").into());
        }
        Ok(Fields::read(value, T::read)?)
    }
}

impl<T: Fielded> Describe for JsonBody<T> {
    fn describe(facts: &mut Facts) {
        let schema: SchemaOf = |generator| generator.subschema_for::<T>();
        Self::describe_as(facts, input::<T>(schema));
    }
}

fn input<T: Fielded>(schema: SchemaOf) -> Input {
    Input {
        schema,
        #[cfg(test)]
        check: |value| Fields::read(value, T::read).map(|_| ()),
    }
}

/// The header that chooses a project.
const PROJECT_ID: HeaderName = HeaderName::from_static("x-project-id");

/// The query string, and the header that chooses a project.
struct Asked {
    query: String,
    /// The header `X-Project-Id`, empty when it is not text.
    project: Option<String>,
}

impl Asked {
    fn of(request: &HttpRequest) -> Self {
        let header = request.headers().get(PROJECT_ID);
        Self {
            query: request.query_string().to_owned(),
            project: header.map(|value| value.to_str().unwrap_or_default().to_owned()),
        }
    }

    /// Parses the query string with `read`. Parameters that it does not take are refused, and repeated ones unless they are
    /// `repeatable`.
    fn read<T>(
        &self,
        repeatable: impl Fn(&str) -> bool,
        read: impl FnOnce(Option<&str>, &mut Fields<'_>) -> Option<T>,
    ) -> Result<T, ApiError> {
        let pairs = web::Query::<Vec<(String, String)>>::from_query(&self.query)
            .map_err(|error| Violations::one("query", error))?;
        let mut parameters = BTreeMap::<String, Vec<Json<'_>>>::new();
        for (name, value) in pairs.into_inner() {
            let values = parameters.entry(name).or_default();
            values.push(Json::String(value.into()));
        }
        let is_twice = |(name, values): &(&String, &Vec<_>)| values.len() > 1 && !repeatable(name);
        let twice = parameters.iter().filter(is_twice);
        let twice = twice.map(|(name, _)| Violation::new(name.clone(), "must be given once"));
        Violations::check(twice.collect())?;
        let member = |(name, mut values): (String, Vec<_>)| match (values.len(), values.pop()) {
            (1, Some(only)) => (name.into(), only),
            (_, last) => (name.into(), Json::Array(values.into_iter().chain(last).collect())),
        };
        let project = self.project.as_deref();
        let members = parameters.into_iter().map(member);
        Ok(Fields::read(Json::Object(members.collect()), |fields| {
            read(project, fields)
        })?)
    }
}

/// The project that a request names in its header or query string, to find its cell; `None` also where it is not an id,
/// which [`Parameters`] reports.
pub(crate) fn selected_project(request: &HttpRequest) -> Option<ProjectId> {
    let header = request.headers().get(PROJECT_ID);
    let mut parameters = request.query_string().split('&');
    let text = match header {
        Some(header) => header.to_str().ok(),
        None => parameters.find_map(|parameter| parameter.strip_prefix("project_id=")),
    };
    text?.parse().ok()
}

/// The query string of an endpoint that takes no parameters.
pub(crate) struct NoParameters(Asked);

/// The query string of an endpoint that takes only those parameters by which every request chooses its project.
pub(crate) struct ProjectParameters(Asked);

/// The query string of an endpoint that takes those and the fields of `T`.
pub(crate) struct Parameters<T> {
    asked: Asked,
    content: PhantomData<T>,
}

/// The query string of an endpoint that takes only the fields of `T`.
pub(crate) struct UnscopedParameters<T> {
    asked: Asked,
    content: PhantomData<T>,
}

impl<T: Fielded> UnscopedParameters<T> {
    /// The parameters.
    pub(crate) fn read(&self) -> Result<T::Read, ApiError> {
        self.asked.read(T::is_repeatable, |_, fields| T::read(fields))
    }
}

impl<T: 'static> FromRequest for UnscopedParameters<T> {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self {
            asked: Asked::of(request),
            content: PhantomData,
        }))
    }
}

impl<T: Fielded> Describe for UnscopedParameters<T> {
    fn describe(facts: &mut Facts) {
        NoParameters::describe(facts);
        facts.query = Some(input::<T>(T::json_schema));
    }
}

impl NoParameters {
    /// Refuses every parameter.
    pub(crate) fn refuse(&self) -> Result<(), ApiError> {
        self.0.read(|_| false, |_, _| Some(()))
    }
}

impl ProjectParameters {
    /// The project and environment.
    pub(crate) fn read(&self) -> Result<Selection, ApiError> {
        self.0
            .read(|_| false, |project, fields| Some(selection(project, fields)))
    }
}

impl<T: Fielded> Parameters<T> {
    /// The project and environment, and the other parameters.
    pub(crate) fn read(&self) -> Result<(Selection, T::Read), ApiError> {
        self.asked.read(T::is_repeatable, |project, fields| {
            let selection = selection(project, fields);
            Some((selection, T::read(fields)?))
        })
    }
}

impl FromRequest for NoParameters {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(Asked::of(request))))
    }
}

impl FromRequest for ProjectParameters {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(Asked::of(request))))
    }
}

impl<T: 'static> FromRequest for Parameters<T> {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self {
            asked: Asked::of(request),
            content: PhantomData,
        }))
    }
}

impl Describe for NoParameters {
    fn describe(facts: &mut Facts) {
        facts.codes.insert(ErrorCode::ValidationError);
    }
}

impl Describe for ProjectParameters {
    fn describe(facts: &mut Facts) {
        facts.takes_project = true;
        facts
            .codes
            .extend([ErrorCode::ValidationError, ErrorCode::NotFound]);
    }
}

impl<T: Fielded> Describe for Parameters<T> {
    fn describe(facts: &mut Facts) {
        ProjectParameters::describe(facts);
        facts.query = Some(input::<T>(T::json_schema));
    }
}

/// The project by header or parameter, and the environment by parameter.
fn selection(header: Option<&str>, fields: &mut Fields<'_>) -> Selection {
    let header = header.map(str::parse::<ProjectId>);
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
