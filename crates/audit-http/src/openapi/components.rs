//! The components that several parts of the document refer to.

use super::credential_kind::security_scheme;
use super::model::{Components, Example, Header, JSON, Media, Named, Or, Parameter, PathItem, Response};
use crate::error::ErrorResponse;
use crate::error_code::ErrorCode;
use crate::schema::{Uuid, Word};
use audit_domain::Environment;
use schemars::generate::SchemaGenerator;
use schemars::json_schema;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The name of the security scheme.
pub(super) const BEARER: &str = "bearer";
pub(super) const PROJECT_ID: &str = "ProjectId";
pub(super) const ENVIRONMENT: &str = "Environment";

/// The id of the requests in examples.
pub(super) const REQUEST_ID_EXAMPLE: &str = "req_chyvb5dsbb7vww51esam";
const PROJECT_ID_EXAMPLE: &str = "8aefe29f-cd1a-4802-85e0-718cd30d0f63";

/// The codes of a status with which some endpoint refuses.
pub(super) type Refusal = (u16, Vec<ErrorCode>);

/// All components.
pub(super) fn components(
    generator: &mut SchemaGenerator,
    refusals: &BTreeSet<Refusal>,
    path_items: Named<PathItem>,
) -> Components {
    generator.subschema_for::<ErrorResponse<'_>>();
    let parameters = parameters(generator);
    let responses = refusals
        .iter()
        .map(|refused| (refusal_name(refused), refusal(refused)));
    // A method that a path does not take is no operation.
    let codes = ErrorCode::ALL
        .iter()
        .filter(|code| **code != ErrorCode::MethodNotAllowed)
        .map(|code| (code.as_str().to_owned(), error_example(*code)));
    let mut schemas: Vec<(String, Value)> = generator.take_definitions(true).into_iter().collect();
    schemas.sort_by(|(one, _), (other, _)| one.cmp(other));
    Components {
        schemas: Named(schemas),
        responses: Named(responses.collect()),
        path_items,
        parameters,
        examples: Named(codes.collect()),
        headers: headers(),
        security_schemes: Named::one(BEARER, security_scheme()),
    }
}

fn parameters(generator: &mut SchemaGenerator) -> Named<Parameter> {
    let parameter = |name: &str, place, description: &str, is_additive, schema, example| Parameter {
        name: name.to_owned(),
        place,
        required: false,
        description: description.to_owned(),
        is_additive,
        schema,
        example: json!(example),
    };
    let project = "The project, for master keys; not needed when the organization has only one. A project key may \
                   name its own. The header `X-Project-Id` is equivalent.";
    let project_id = generator.subschema_for::<Uuid>();
    let environment = generator.subschema_for::<Word<Environment>>();
    Named(vec![
        (
            PROJECT_ID.to_owned(),
            parameter(
                "project_id",
                "query",
                project,
                true,
                project_id,
                PROJECT_ID_EXAMPLE,
            ),
        ),
        (
            ENVIRONMENT.to_owned(),
            parameter(
                "environment",
                "query",
                "The environment, for master keys: `live` by default. Other credentials have one environment.",
                true,
                environment,
                "live",
            ),
        ),
    ])
}

fn headers() -> Named<Header> {
    let header = |name: &str, required, description, schema, example: Value| {
        let header = Header {
            description,
            required,
            schema,
            example,
        };
        (name.to_owned(), header)
    };
    let seconds = || json_schema!({"type": "integer", "format": "int64", "minimum": 0});
    let text = || json_schema!({"type": "string"});
    Named(vec![
        header(
            "x-request-id",
            true,
            "The id of the request; equal to `request_id` in the body.",
            text(),
            json!(REQUEST_ID_EXAMPLE),
        ),
        header(
            "ratelimit-limit",
            false,
            "If the operator limits the request rate: the number of requests at once.",
            seconds(),
            json!(100),
        ),
        header(
            "ratelimit-remaining",
            false,
            "The number of requests left.",
            seconds(),
            json!(99),
        ),
        header(
            "ratelimit-reset",
            false,
            "Seconds until all are available again.",
            seconds(),
            json!(1),
        ),
        header(
            "retry-after",
            false,
            "Seconds after which the request may be retried. Absent if a retry does not help.",
            seconds(),
            json!(1),
        ),
        header(
            "www-authenticate",
            true,
            "Always `Bearer`.",
            text(),
            json!("Bearer"),
        ),
    ])
}

fn references(names: &[&str]) -> Named<Or<Header>> {
    let reference = |name: &&str| ((*name).to_owned(), Or::component("headers", name));
    Named(names.iter().map(reference).collect())
}

const OF_CREDENTIALS: [&str; 4] = [
    "x-request-id",
    "ratelimit-limit",
    "ratelimit-remaining",
    "ratelimit-reset",
];

/// The headers of a successful response.
pub(super) fn success_headers(with_credential: bool) -> Named<Or<Header>> {
    references(if with_credential {
        &OF_CREDENTIALS
    } else {
        &OF_CREDENTIALS[..1]
    })
}

/// The headers of an error.
fn headers_of_errors(codes: &[ErrorCode]) -> Named<Or<Header>> {
    let mut names = OF_CREDENTIALS.to_vec();
    match codes.first().map(|code| code.status().as_u16()) {
        Some(401) => names.push("www-authenticate"),
        Some(429 | 503) => names.push("retry-after"),
        _ => {}
    }
    references(&names)
}

/// The name of a refusal: the status, and the codes when there are others of that status.
pub(super) fn refusal_name((status, codes): &Refusal) -> String {
    let of_status = ErrorCode::ALL
        .iter()
        .filter(|code| code.status().as_u16() == *status);
    if of_status.count() == codes.len() {
        return status.to_string();
    }
    let words: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    format!("{status}-{}", words.join("-"))
}

/// The response to a request that is refused with one of the codes.
fn refusal((_, codes): &Refusal) -> Response {
    let list: Vec<String> = codes
        .iter()
        .map(|code| format!("`{}`: {}.", code.as_str(), code.when()))
        .collect();
    let words: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let schema = json_schema!({"$ref": "#/components/schemas/ErrorResponse"});
    let example = |word: &&str| ((*word).to_owned(), Or::component("examples", word));
    Response {
        description: list.join("\n\n"),
        headers: headers_of_errors(codes),
        content: Named::one(
            JSON,
            Media {
                schema,
                examples: Named(words.iter().map(example).collect()),
            },
        ),
        links: Named::default(),
    }
}

fn error_example(code: ErrorCode) -> Example {
    let mut error = json!({"code": code.as_str(), "message": code.example_message()});
    if code == ErrorCode::ValidationError {
        error["details"] = json!([
            {"field": "tenant_id", "message": "Required"},
            {"field": "actor.type", "message": "must be one of user, api_key, service, system"},
        ]);
    }
    if code == ErrorCode::EventsRemoved {
        error["cursor"] = json!("a cursor");
    }
    Example {
        summary: code.when().to_owned(),
        value: json!({"error": error, "request_id": REQUEST_ID_EXAMPLE}),
    }
}
