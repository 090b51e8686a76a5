//! Makes the document.

use super::components::{self, headers_of_errors, success_headers};
use super::facts::{Facts, Input};
use super::model::{
    Document, Example, Info, License, Media, Named, Operation, Or, Parameter, RequestBody, Response, Server,
    TagInfo,
};
use super::outbound;
use crate::about::{About, Plain, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::routes::{ENDPOINTS, Endpoint};
use crate::schema::{ADDITIVE, finish};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{Schema, json_schema};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const JSON: &str = "application/json";
/// The id of the requests in examples.
pub(super) const REQUEST_ID: &str = "req_chyvb5dsbb7vww51esam";

/// Makes the document.
pub(super) fn build() -> Document {
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .with_transform(finish)
        .into_generator();
    let mut paths = Named::<Named<Operation>>::default();
    let mut refusals = BTreeSet::new();
    for endpoint in ENDPOINTS {
        let operation = operation(endpoint, &mut generator, &mut refusals);
        let method = endpoint.method.to_lowercase();
        match paths.0.iter_mut().find(|(path, _)| path == endpoint.path) {
            Some((_, operations)) => operations.push(method, operation),
            None => paths.push(endpoint.path, Named::one(&method, operation)),
        }
    }
    let webhooks = outbound::webhooks(&mut generator);
    Document {
        openapi: "3.1.0",
        info: Info {
            title: "Audit log",
            version: env!("CARGO_PKG_VERSION"),
            summary: "Audit events in, durable and redacted; queries, alerts and proofs out.",
            description: include_str!("description.md"),
            license: License {
                name: "MIT OR Apache-2.0",
                identifier: "MIT OR Apache-2.0",
            },
        },
        servers: vec![Server {
            url: "/",
            description: "The server that this document comes from.",
        }],
        tags: Tag::ALL
            .iter()
            .map(|tag| TagInfo {
                name: tag.as_str(),
                description: tag.about(),
            })
            .collect(),
        paths,
        webhooks,
        components: components::components(&mut generator, &refusals),
    }
}

/// The codes of a status with which some endpoint refuses.
pub(super) type Refusal = (u16, Vec<ErrorCode>);

fn operation(
    endpoint: &Endpoint,
    generator: &mut SchemaGenerator,
    refusals: &mut BTreeSet<Refusal>,
) -> Operation {
    let (facts, about) = ((endpoint.facts)(), (endpoint.about)());
    let security = facts.credentials.iter().flatten();
    Operation {
        operation_id: about.id,
        tags: vec![about.tag.as_str()],
        summary: about.summary,
        description: about.description,
        is_additive: about.is_additive,
        security: security.map(|kind| Named::one(kind.scheme_name(), [])).collect(),
        parameters: parameters(endpoint.path, &facts, &about, generator),
        request_body: facts.body.as_ref().map(|body| RequestBody {
            required: true,
            content: Named::one(JSON, media(body, about.requests, generator)),
        }),
        responses: responses(&facts, &about, generator, refusals),
    }
}

fn media(body: &Input, samples: &[Sample], generator: &mut SchemaGenerator) -> Media {
    let examples = samples
        .iter()
        .map(|sample| (sample.0.to_owned(), example(value_of(sample))));
    Media {
        schema: (body.schema)(generator),
        examples: Named(examples.collect()),
    }
}

fn value_of(sample: &Sample) -> Value {
    serde_json::from_str(sample.1).expect("an example is JSON")
}

fn example(value: Value) -> Or<Example> {
    Or::Here(Example {
        summary: String::new(),
        value,
    })
}

fn parameters(
    path: &str,
    facts: &Facts,
    about: &About,
    generator: &mut SchemaGenerator,
) -> Vec<Or<Parameter>> {
    let mut parameters = Vec::new();
    if let (Some((_, rest)), Some(about)) = (path.split_once('{'), &about.path) {
        parameters.push(Or::Here(Parameter {
            name: rest.split('}').next().unwrap_or_default().to_owned(),
            place: "path",
            required: true,
            description: about.description.to_owned(),
            is_additive: false,
            schema: (about.schema)(generator),
            example: json!(about.example),
        }));
    }
    if let Some(query) = &facts.query {
        parameters.extend(query_parameters(query, generator));
    }
    for header in about.headers {
        parameters.push(Or::Here(Parameter {
            name: header.name.to_owned(),
            place: "header",
            required: header.is_required,
            description: header.description.to_owned(),
            is_additive: false,
            schema: (header.schema)(generator),
            example: json!(header.example),
        }));
    }
    if facts.takes_project {
        let names = [
            components::PROJECT_ID,
            components::ENVIRONMENT,
            components::PROJECT_ID_HEADER,
        ];
        parameters.extend(names.map(|name| Or::component("parameters", name)));
    }
    parameters.push(Or::component("parameters", components::REQUEST_ID));
    parameters
}

/// The fields of an object as parameters of a query string.
fn query_parameters(query: &Input, generator: &mut SchemaGenerator) -> Vec<Or<Parameter>> {
    let mut schema = (query.schema)(generator);
    let Some(Value::Object(properties)) = schema.remove("properties") else {
        return Vec::new();
    };
    let required = schema.remove("required").unwrap_or_default();
    let is_required = |name: &str| {
        required
            .as_array()
            .is_some_and(|names| names.contains(&json!(name)))
    };
    let parameter = |(name, property): (String, Value)| {
        let mut schema: Schema = property.try_into().unwrap_or_default();
        finish(&mut schema);
        let description = schema.remove("description").unwrap_or_default();
        let examples = schema.remove("examples").unwrap_or_default();
        Or::Here(Parameter {
            required: is_required(&name),
            name,
            place: "query",
            description: description.as_str().unwrap_or_default().to_owned(),
            is_additive: schema.remove(ADDITIVE).is_some(),
            schema,
            example: examples.get(0).cloned().unwrap_or_default(),
        })
    };
    properties.into_iter().map(parameter).collect()
}

fn responses(
    facts: &Facts,
    about: &About,
    generator: &mut SchemaGenerator,
    refusals: &mut BTreeSet<Refusal>,
) -> Named<Or<Response>> {
    let headers = success_headers(facts.credentials.is_some());
    let mut status = 200;
    let mut content = Named::default();
    if let Some(plain) = &about.plain {
        status = plain.status;
        content = plain_content(plain);
    }
    if let Some(answer) = &facts.answer {
        let mut schema = (answer.schema)(generator);
        schema.remove("description");
        finish(&mut schema);
        status = answer.status;
        content
            .0
            .insert(0, (JSON.to_owned(), answer_media(schema, about.answers)));
    }
    let success = Response {
        description: about.outcome.to_owned(),
        headers,
        content,
    };
    let mut responses = Named::one(&status.to_string(), Or::Here(success));
    let codes = facts.codes.iter().chain(about.errors);
    let codes: BTreeSet<ErrorCode> = codes
        .chain(about.path.iter().map(|path| &path.refusal))
        .copied()
        .collect();
    let mut by_status = BTreeMap::<u16, Vec<ErrorCode>>::new();
    for code in codes {
        by_status.entry(code.status().as_u16()).or_default().push(code);
    }
    for refusal in by_status {
        let name = components::refusal_name(&refusal);
        responses.push(refusal.0.to_string(), Or::component("responses", &name));
        refusals.insert(refusal);
    }
    responses
}

fn answer_media(schema: Schema, samples: &[Sample]) -> Media {
    let with_request_id = |sample: &Sample| {
        let mut value = value_of(sample);
        value["request_id"] = json!(REQUEST_ID);
        (sample.0.to_owned(), example(value))
    };
    Media {
        schema,
        examples: Named(samples.iter().map(with_request_id).collect()),
    }
}

fn plain_content(plain: &Plain) -> Named<Media> {
    let media = |content_type: &&str| {
        let media = Media {
            schema: json_schema!({"type": plain.json_type}),
            examples: Named::default(),
        };
        ((*content_type).to_owned(), media)
    };
    Named(plain.content_types.iter().map(media).collect())
}

/// The response to a request that is refused with one of the codes.
pub(super) fn refusal((_, codes): &Refusal) -> Response {
    let list: Vec<String> = codes
        .iter()
        .map(|code| format!("`{}`: {}.", code.as_str(), code.when()))
        .collect();
    let words: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let schema = json_schema!({
        "allOf": [
            {"$ref": "#/components/schemas/Error"},
            {"properties": {"error": {"properties": {"code": {"enum": words}}}}},
        ],
    });
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
    }
}
