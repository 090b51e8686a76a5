//! One endpoint.

use super::prose::{escape, inline, prose};
use super::{schema, table};
use crate::openapi::CredentialKind;
use crate::openapi::model::{Components, Media, Named, Operation, Or, Parameter, Response};
use serde_json::Value;

/// The whole description of an endpoint.
pub(super) fn article(components: &Components, path: &str, method: &str, operation: &Operation) -> String {
    let is_served = path.starts_with('/');
    let parameters: Vec<&Parameter> = operation
        .parameters
        .iter()
        .filter_map(|one| one.find(&components.parameters))
        .collect();
    let additive = if operation.is_additive {
        " <small>additive</small>"
    } else {
        ""
    };
    let mut html = format!(
        "<article id=\"{id}\">\n<h3>{summary}{additive}</h3>\n\
         <p class=\"route\"><span class=\"method\">{method}</span> <code>{path}</code></p>\n",
        id = operation.operation_id,
        summary = escape(operation.summary),
        method = method.to_uppercase(),
        path = escape(path),
    );
    if is_served {
        html.push_str(&format!("<p>{}</p>\n", who(operation)));
    }
    html.push_str(&prose(operation.description));
    if !parameters.is_empty() {
        html.push_str(&parameter_table(&parameters));
    }
    let body = operation
        .request_body
        .as_ref()
        .and_then(|body| body.content.iter().next());
    if let Some((_, media)) = body {
        html.push_str(&format!("<h4>Body</h4>\n{}", media_html(components, media)));
    }
    if is_served {
        let example = body.and_then(|(_, media)| first_example(components, media));
        html.push_str(&format!(
            "<pre aria-label=\"As a command\"><code>{}</code></pre>\n",
            escape(&curl(path, method, operation, &parameters, example))
        ));
    }
    html.push_str(&answers(components, &operation.responses));
    html.push_str("</article>\n");
    html
}

fn kinds(operation: &Operation) -> Vec<CredentialKind> {
    let is_named = |kind: &CredentialKind| {
        let name = kind.scheme_name();
        operation
            .security
            .iter()
            .any(|requirement| requirement.get(name).is_some())
    };
    CredentialKind::ALL.into_iter().filter(is_named).collect()
}

/// The credentials that may call the endpoint.
fn who(operation: &Operation) -> String {
    let titles: Vec<&str> = kinds(operation).into_iter().map(CredentialKind::title).collect();
    match titles.as_slice() {
        [] => "No credential.".to_owned(),
        titles => format!("With a <a href=\"#credentials\">{}</a>.", titles.join(" or ")),
    }
}

fn parameter_table(parameters: &[&Parameter]) -> String {
    let mut rows = String::new();
    for parameter in parameters {
        let value = parameter.schema.as_value();
        let mut told = vec![inline(&parameter.description)];
        told.extend(schema::rules(value));
        if parameter.is_additive {
            told.push("<small>additive</small>".to_owned());
        }
        told.retain(|text| !text.is_empty());
        rows.push_str(&format!(
            "<tr><th scope=\"row\"><code>{}</code> <small>{}{}</small></th><td>{}</td><td>{}</td></tr>\n",
            escape(&parameter.name),
            parameter.place,
            if parameter.required { "" } else { ", optional" },
            schema::kind(value),
            told.join("<br>")
        ));
    }
    format!(
        "<h4>Parameters</h4>\n{}",
        table(&["Parameter", "Type", "Rules"], &rows)
    )
}

fn media_html(components: &Components, media: &Media) -> String {
    let value = media.schema.as_value();
    let mut html = match value.get("properties") {
        Some(_) => schema::body(value),
        None => format!("<p>{}</p>\n", schema::kind(value)),
    };
    for (name, example) in media.examples.iter() {
        if let Some(example) = example.find(&components.examples) {
            html.push_str(&format!(
                "<details open><summary>Example: {}</summary>\n<pre><code>{}</code></pre>\n</details>\n",
                escape(&name.replace('_', " ")),
                escape(&pretty(&example.value))
            ));
        }
    }
    html
}

fn first_example<'a>(components: &'a Components, media: &'a Media) -> Option<&'a Value> {
    let (_, example) = media.examples.iter().next()?;
    example.find(&components.examples).map(|example| &example.value)
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

/// The request as a line for a shell.
fn curl(
    path: &str,
    method: &str,
    operation: &Operation,
    parameters: &[&Parameter],
    body: Option<&Value>,
) -> String {
    let mut path = path.to_owned();
    for parameter in parameters.iter().filter(|parameter| parameter.place == "path") {
        let example = parameter.example.as_str().unwrap_or_default();
        path = path.replace(&format!("{{{}}}", parameter.name), example);
    }
    let method = match (method, body) {
        ("get", None) | ("post", Some(_)) => String::new(),
        (method, _) => format!(" -X {}", method.to_uppercase()),
    };
    let mut line = format!("curl -sS{method} $HOST{path}");
    let kinds = kinds(operation);
    // The narrowest key that suffices.
    let kind = kinds
        .iter()
        .find(|kind| **kind == CredentialKind::ProjectKey)
        .or(kinds.first());
    if let Some(kind) = kind {
        line.push_str(&format!(
            " \\\n  -H \"Authorization: Bearer {}\"",
            kind.variable()
        ));
    }
    if let Some(body) = body {
        let body = pretty(body).replace('\'', r"'\''");
        line.push_str(&format!(
            " \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'"
        ));
    }
    line
}

fn answers(components: &Components, responses: &Named<Or<Response>>) -> String {
    let (mut rows, mut bodies) = (String::new(), String::new());
    for (status, response) in responses.iter() {
        let Some(found) = response.find(&components.responses) else {
            continue;
        };
        let headers: Vec<String> = found
            .headers
            .iter()
            .map(|(name, _)| format!("<code>{}</code>", escape(name)))
            .collect();
        rows.push_str(&format!(
            "<tr><th scope=\"row\">{status}</th><td>{}</td><td>{}</td></tr>\n",
            prose(&found.description),
            headers.join(" ")
        ));
        // Errors have one form, which the end of the page describes.
        let is_error = matches!(response, Or::Reference { .. });
        for (content_type, media) in found.content.iter().filter(|_| !is_error) {
            bodies.push_str(&format!(
                "<h4>Answer {status}, {content_type}</h4>\n{}",
                media_html(components, media)
            ));
        }
    }
    format!(
        "<h4>Answers</h4>\n{}{bodies}",
        table(&["Status", "Meaning", "Headers"], &rows)
    )
}
