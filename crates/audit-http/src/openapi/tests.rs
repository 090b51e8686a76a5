//! The document against the code that it describes.

mod checker;
mod event_fields;
mod generators;
mod inputs;
mod snapshot;

use super::{document, json};
use crate::error_code::ErrorCode;
use crate::routes::ENDPOINTS;
use checker::Checker;
use serde_json::Value;
use std::collections::BTreeSet;

fn parsed() -> Value {
    serde_json::from_str(json()).unwrap()
}

/// Everything in a document below a key.
fn below<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                if name == key {
                    found.push(value);
                }
                below(value, key, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| below(item, key, found)),
        _ => {}
    }
}

#[test]
fn the_document_has_every_endpoint_and_no_other() {
    let served: BTreeSet<_> = ENDPOINTS
        .iter()
        .map(|endpoint| (endpoint.path.to_owned(), endpoint.method.to_lowercase()))
        .collect();
    let parsed = parsed();
    let operations = parsed["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, operations)| {
            let methods = operations.as_object().unwrap().keys();
            methods.map(|method| (path.clone(), method.clone()))
        });
    assert_eq!(operations.collect::<BTreeSet<_>>(), served);
}

#[test]
fn every_operation_has_a_name_of_its_own() {
    let mut names = BTreeSet::new();
    for operation in document()
        .paths
        .iter()
        .flat_map(|(_, operations)| operations.iter())
    {
        let name = operation.1.operation_id;
        assert!(names.insert(name), "{name} stands twice");
        assert!(
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
            "{name}"
        );
        assert!(!operation.1.summary.ends_with('.'), "{name}");
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_component_is_referred_to() {
    let parsed = parsed();
    let mut references = Vec::new();
    below(&parsed, "$ref", &mut references);
    let references: BTreeSet<&str> = references.iter().map(|value| value.as_str().unwrap()).collect();
    for reference in &references {
        assert!(parsed.pointer(&reference[1..]).is_some(), "{reference}");
    }
    for kind in [
        "schemas",
        "responses",
        "parameters",
        "headers",
        "examples",
        "pathItems",
    ] {
        for name in parsed["components"][kind].as_object().unwrap().keys() {
            // Unknown paths and unsupported methods have no operation.
            let is_used = references.contains(format!("#/components/{kind}/{name}").as_str());
            assert!(is_used, "nothing refers to {kind}/{name}");
        }
    }
}

#[test]
fn every_code_is_one_of_some_operation() {
    let documented: BTreeSet<&str> = document()
        .components
        .responses
        .iter()
        .flat_map(|(_, response)| response.content.iter())
        .flat_map(|(_, media)| media.examples.iter().map(|(code, _)| code))
        .collect();
    // An unsupported method has no operation.
    let all = ErrorCode::ALL
        .iter()
        .filter(|code| **code != ErrorCode::MethodNotAllowed);
    let all: BTreeSet<&str> = all.map(|code| code.as_str()).collect();
    assert_eq!(documented, all);
}

#[test]
fn every_body_and_every_response_has_an_example_that_fits_its_schema() {
    let parsed = parsed();
    let checker = Checker::new(&parsed);
    for (path, operations) in parsed["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let place = format!("{method} {path}");
            check_examples(&checker, &operation["requestBody"], &place);
            for (status, response) in operation["responses"].as_object().unwrap() {
                let place = format!("{place} {status}");
                check_examples(&checker, checker.resolve(response), &place);
            }
        }
    }
    for (name, webhook) in parsed["webhooks"].as_object().unwrap() {
        check_examples(&checker, &checker.resolve(webhook)["post"]["requestBody"], name);
    }
}

fn check_examples(checker: &Checker<'_>, holder: &Value, place: &str) {
    let media = &holder["content"]["application/json"];
    let Some(schema) = media
        .get("schema")
        .filter(|schema| schema["type"] != "object" || schema.get("properties").is_some())
    else {
        return;
    };
    let examples = media["examples"].as_object();
    assert!(
        examples.is_some_and(|examples| !examples.is_empty()),
        "{place} has no example"
    );
    for (name, example) in examples.unwrap() {
        let value = &checker.resolve(example)["value"];
        checker
            .check(schema, value)
            .unwrap_or_else(|error| panic!("{place}, example {name}: {error}"));
    }
}

#[test]
fn parameters_have_examples_that_fit_their_schemas() {
    let parsed = parsed();
    let checker = Checker::new(&parsed);
    let mut lists = Vec::new();
    below(&parsed, "parameters", &mut lists);
    for parameter in lists.iter().filter_map(|list| list.as_array()).flatten() {
        let parameter = checker.resolve(parameter);
        let name = &parameter["name"];
        if name == "cursor" || name == "after" {
            continue;
        }
        let outcome = checker.check(&parameter["schema"], &parameter["example"]);
        outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
