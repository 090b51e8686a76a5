//! Makes the document.

use super::components::{self, REQUEST_ID_EXAMPLE, Refusal, success_headers};
use super::facts::{Facts, Input, SchemaOf};
use super::model::{
    Document, Example, Info, JSON, LINES, License, Link, Media, Named, Operation, Or, Pagination, Parameter,
    PathItem, RequestBody, Response, Server, ServerVariable, TagInfo,
};
use super::outbound;
use crate::about::{About, Plain, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::routes::{ENDPOINTS, Endpoint};
use crate::schema::{ADDITIVE, finish};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{Schema, json_schema};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Makes the document.
pub(super) fn build() -> Document {
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .with_transform(finish)
        .into_generator();
    let mut paths = Named::<PathItem>::default();
    let mut refusals = BTreeSet::new();
    for endpoint in ENDPOINTS {
        let operation = operation(endpoint, &mut generator, &mut refusals);
        let method = endpoint.method.to_lowercase();
        match paths.0.iter_mut().find(|(path, _)| path == endpoint.path) {
            Some((_, operations)) => operations.push(method, operation),
            None => paths.push(endpoint.path, Named::one(&method, operation)),
        }
    }
    let (webhooks, path_items) = outbound::webhooks(&mut generator);
    let mut components = components::components(&mut generator, &refusals, path_items);
    close_requests(&paths, &mut components.schemas);
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
        servers: vec![server()],
        tags: Tag::ALL
            .iter()
            .map(|tag| TagInfo {
                name: tag.as_str(),
                description: tag.about(),
            })
            .collect(),
        paths,
        webhooks,
        components,
    }
}

/// Closes the objects in bodies of requests: the document states exactly which fields this version accepts. Objects in
/// responses and messages stay open, because later versions may add fields.
fn close_requests(paths: &Named<PathItem>, schemas: &mut Named<Value>) {
    let operations = paths.iter().flat_map(|(_, operations)| operations.iter());
    let bodies = operations.filter_map(|(_, operation)| operation.request_body.as_ref());
    let media = bodies.flat_map(|body| body.content.iter());
    let mut waiting = BTreeSet::new();
    media.for_each(|(_, media)| references_in(media.schema.as_value(), &mut waiting));
    let mut seen = BTreeSet::new();
    while let Some(name) = waiting.pop_first() {
        let found = schemas.0.iter_mut().find(|(known, _)| *known == name);
        if let Some((_, schema)) = found.filter(|_| seen.insert(name)) {
            close(schema);
            references_in(schema, &mut waiting);
        }
    }
}

/// Puts the default of a field into its description. Generators for TypeScript take a field with a default for one that is
/// always there.
fn describe_default(field: &mut Map<String, Value>) {
    let Some(default) = field.remove("default") else {
        return;
    };
    let about = field.get("description").and_then(Value::as_str);
    let space = if about.is_some() { " " } else { "" };
    let default = default
        .as_str()
        .map_or_else(|| default.to_string(), str::to_owned);
    let about = format!("{}{space}When absent: `{default}`.", about.unwrap_or_default());
    field.insert("description".to_owned(), about.into());
}

/// The names of the schemas that the schema refers to.
fn references_in(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            let name = schema
                .get("$ref")
                .and_then(|name| name.as_str()?.rsplit('/').next());
            names.extend(name.map(str::to_owned));
            fields.values().for_each(|value| references_in(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| references_in(item, names)),
        _ => {}
    }
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            let is_object = fields.get("type").is_some_and(|kind| kind == "object");
            if is_object && fields.contains_key("properties") {
                fields.entry("additionalProperties").or_insert(json!(false));
            }
            describe_default(fields);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn operation(
    endpoint: &Endpoint,
    generator: &mut SchemaGenerator,
    refusals: &mut BTreeSet<Refusal>,
) -> Operation {
    let (facts, about) = ((endpoint.facts)(), (endpoint.about)());
    let credentials = facts.credentials.iter().flatten();
    let pagination = pagination(&facts, generator);
    Operation {
        operation_id: about.id,
        tags: vec![about.tag.as_str()],
        summary: about.summary,
        description: about.description,
        is_additive: about.is_additive,
        security: facts
            .credentials
            .iter()
            .map(|_| Named::one(components::BEARER, []))
            .collect(),
        credentials: credentials.map(|kind| kind.name()).collect(),
        parameters: parameters(endpoint.path, &facts, &about, generator),
        request_body: facts.body.as_ref().map(|body| {
            let mut content = Named::one(JSON, media(body, about.requests, generator));
            if facts.takes_lines {
                content.push(LINES, lines(about.requests));
            }
            RequestBody {
                required: true,
                content,
            }
        }),
        responses: responses(&facts, &about, pagination.as_ref(), generator, refusals),
        pagination,
    }
}

/// Where the service listens unless it is told otherwise, and a variable for where it really is.
fn server() -> Server {
    let scheme = ServerVariable {
        choices: &["http", "https"],
        default: "http",
        description: "`https` behind a proxy that terminates TLS.",
    };
    let host = ServerVariable {
        choices: &[],
        default: "127.0.0.1:8080",
        description: "The name or address of the service, with its port unless it is the default port.",
    };
    Server {
        url: "{scheme}://{host}",
        description: "Your server.",
        variables: Named(vec![("scheme".to_owned(), scheme), ("host".to_owned(), host)]),
    }
}

/// How a response is paged, which its fields and the parameters of its request show.
fn pagination(facts: &Facts, generator: &mut SchemaGenerator) -> Option<Pagination> {
    let mut fields_of = |schema: SchemaOf| {
        let schema = schema(generator);
        let name = schema
            .get("$ref")
            .and_then(|name| name.as_str()?.rsplit('/').next());
        let schema = match name {
            Some(name) => generator.definitions().get(name)?.get("properties").cloned(),
            None => schema.get("properties").cloned(),
        };
        schema?.as_object().cloned()
    };
    let page = fields_of(facts.response.as_ref()?.schema)?;
    page.get("cursor")?;
    let parameters = fields_of(facts.query.as_ref()?.schema)?;
    let parameter = ["cursor", "after"]
        .into_iter()
        .find(|name| parameters.contains_key(*name))?;
    let (items, _) = page.iter().find(|(_, field)| field["type"] == "array")?;
    Some(Pagination {
        items: items.clone(),
        next: "cursor",
        parameter,
        has_more: "has_more",
    })
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

/// JSON lines: the items of the samples that are arrays.
fn lines(samples: &[Sample]) -> Media {
    let text = |sample: &Sample| {
        let items = value_of(sample);
        let lines = items.as_array()?.iter().map(|item| format!("{item}\n"));
        let text = lines.collect::<Vec<_>>().concat();
        Some((sample.0.to_owned(), example(text.into())))
    };
    Media {
        schema: json_schema!({"type": "string"}),
        examples: Named(samples.iter().filter_map(text).collect()),
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
        let names = [components::PROJECT_ID, components::ENVIRONMENT];
        parameters.extend(names.map(|name| Or::component("parameters", name)));
    }
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
    pagination: Option<&Pagination>,
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
    if let Some(response) = &facts.response {
        let schema = (response.schema)(generator);
        status = response.status;
        content
            .0
            .insert(0, (JSON.to_owned(), response_media(schema, about.responses)));
    }
    let success = Response {
        description: about.outcome.to_owned(),
        headers,
        content,
        links: pagination
            .map(|pages| next_page(about.id, pages))
            .unwrap_or_default(),
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

fn next_page(operation_id: &'static str, pages: &Pagination) -> Named<Link> {
    let link = Link {
        operation_id,
        parameters: Named::one(pages.parameter, "$response.body#/cursor"),
        description: "The next page, with all other parameters as they were.",
    };
    Named::one("next", link)
}

fn response_media(schema: Schema, samples: &[Sample]) -> Media {
    let with_request_id = |sample: &Sample| {
        let mut value = value_of(sample);
        value["request_id"] = json!(REQUEST_ID_EXAMPLE);
        (sample.0.to_owned(), example(value))
    };
    Media {
        schema,
        examples: Named(samples.iter().map(with_request_id).collect()),
    }
}

fn plain_content(plain: &Plain) -> Named<Media> {
    let media = |content_type: &&str| {
        let schema = match *content_type {
            "application/octet-stream" => json_schema!({"type": "string", "format": "binary"}),
            _ => json_schema!({"type": plain.json_type}),
        };
        let media = Media {
            schema,
            examples: Named::default(),
        };
        ((*content_type).to_owned(), media)
    };
    Named(plain.content_types.iter().map(media).collect())
}
