//! The documented inputs of requests against the code that reads them.

use super::super::facts::{Check, Input};
use super::{Checker, parsed};
use crate::routes::ENDPOINTS;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A request body or a query string of an endpoint.
struct Case {
    name: String,
    schema: Value,
    examples: Vec<Value>,
    check: Check,
    is_query: bool,
}

fn cases(document: &Value) -> Vec<Case> {
    let mut cases = Vec::new();
    for endpoint in ENDPOINTS {
        let facts = (endpoint.facts)();
        let operation = &document["paths"][endpoint.path][endpoint.method.to_lowercase()];
        let name = operation["operationId"].as_str().unwrap();
        if let Some(Input { check, .. }) = facts.body {
            let media = &operation["requestBody"]["content"]["application/json"];
            let examples = media["examples"].as_object().unwrap().values();
            cases.push(Case {
                name: name.to_owned(),
                schema: media["schema"].clone(),
                examples: examples.map(|example| example["value"].clone()).collect(),
                check,
                is_query: false,
            });
        }
        if let Some(Input { check, .. }) = facts.query {
            cases.push(query_case(name, operation, check));
        }
    }
    assert!(cases.len() > 15, "{} cases", cases.len());
    cases
}

/// Parameters that exclude each other.
const ALTERNATIVES: [[&str; 2]; 2] = [["time_zone", "utc_offset"], ["days", "preset"]];

/// The parameters of a query string as the fields of an object, and one example with all of them, or two with each of the alternatives.
fn query_case(name: &str, operation: &Value, check: Check) -> Case {
    let (mut properties, mut example, mut required) = (Map::new(), Map::new(), Vec::new());
    for parameter in operation["parameters"].as_array().unwrap() {
        if parameter["in"] == "query" {
            let name = parameter["name"].as_str().unwrap();
            properties.insert(name.to_owned(), parameter["schema"].clone());
            if parameter["required"] == true {
                required.push(name);
            }
            let value = parameter.get("example").cloned();
            example.insert(name.to_owned(), value.unwrap_or_else(|| json!("a cursor")));
        }
    }
    let are_there = |names: &[&str; 2]| names.iter().all(|name| example.contains_key(*name));
    let alternatives = ALTERNATIVES.into_iter().find(are_there);
    let without = |name: &&str| {
        let mut example = example.clone();
        example.remove(*name);
        Value::from(example)
    };
    let examples = match alternatives {
        Some(names) => names.iter().map(without).collect(),
        None => vec![example.clone().into()],
    };
    Case {
        name: format!("the query of {name}"),
        schema: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false
        }),
        examples,
        check,
        is_query: true,
    }
}

impl Case {
    /// The fields that the reader rejects. Query strings contain only texts, several of one name where it is an array.
    fn faults(&self, value: &Value) -> Vec<(String, String)> {
        let value = match value {
            Value::Object(object) if self.is_query => {
                let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let texts = |value: &Value| match value {
                    Value::Array(items) => json!(items.iter().map(text).collect::<Vec<_>>()),
                    one => json!(text(one)),
                };
                object
                    .iter()
                    .map(|(name, value)| (name.clone(), texts(value)))
                    .collect()
            }
            other => other.clone(),
        };
        match (self.check)(value) {
            Ok(()) => Vec::new(),
            Err(found) => {
                let found = found.into_vec().into_iter();
                found
                    .map(|violation| (violation.field, violation.message))
                    .collect()
            }
        }
    }

    /// The fields of the whole input.
    fn declared(&self) -> impl Iterator<Item = String> {
        let properties = self.schema["properties"].as_object();
        properties
            .into_iter()
            .flat_map(|properties| properties.keys().cloned())
    }

    fn accepts(&self, value: &Value) -> bool {
        self.faults(value).is_empty()
    }
}

/// A location in an example: its JSON pointer, and the schema of its value.
struct Place<'a> {
    pointer: String,
    schema: &'a Value,
}

/// Every location in the example, with each of the schemas that describe it.
fn places<'a>(
    checker: &Checker<'a>,
    schema: &'a Value,
    value: &Value,
    pointer: &str,
    found: &mut Vec<Place<'a>>,
) {
    let schema = checker.resolve(schema);
    for choice in ["oneOf", "anyOf"] {
        for schema in schema[choice].as_array().into_iter().flatten() {
            if checker.check(schema, value).is_ok() {
                places(checker, schema, value, pointer, found);
            }
        }
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            places(checker, schema, value, &format!("{pointer}/{name}"), found);
        }
    }
    if let Some(item) = value.get(0) {
        places(checker, &schema["items"], item, &format!("{pointer}/0"), found);
    }
    found.push(Place {
        pointer: pointer.to_owned(),
        schema,
    });
}

/// The example with another value at one location.
fn with(example: &Value, pointer: &str, value: Value) -> Value {
    let mut example = example.clone();
    *example.pointer_mut(pointer).unwrap() = value;
    example
}

/// Calls `test` with every location of every example.
fn each_place(mut test: impl FnMut(&Case, &Value, &Place<'_>)) {
    let document = parsed();
    let checker = Checker::new(&document);
    for case in cases(&document) {
        for example in &case.examples {
            let mut found = Vec::new();
            places(&checker, &case.schema, example, "", &mut found);
            found.iter().for_each(|place| test(&case, example, place));
        }
    }
}

#[test]
fn every_example_is_accepted() {
    for case in cases(&parsed()) {
        assert!(!case.examples.is_empty(), "{} has no example", case.name);
        for example in &case.examples {
            assert_eq!(case.faults(example), [], "{}: {example}", case.name);
        }
    }
}

/// Together with the test above: every field that is declared is one that the reader takes.
#[test]
fn the_examples_have_every_field_that_is_declared() {
    let (mut declared, mut shown) = (BTreeSet::new(), BTreeSet::new());
    each_place(|case, example, place| {
        for name in place.schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
        {
            let field = (
                case.name.clone(),
                format!("{}/{name}", place.pointer.replace("/0", "")),
            );
            if example.pointer(&format!("{}/{name}", place.pointer)).is_some() {
                shown.insert(field.clone());
            }
            declared.insert(field);
        }
    });
    let missing: Vec<_> = declared.difference(&shown).collect();
    assert!(missing.is_empty(), "declared, but in no example: {missing:?}");
}

#[test]
fn fields_that_are_not_declared_are_refused() {
    each_place(|case, example, place| {
        let Some(Value::Object(object)) = example.pointer(&place.pointer) else {
            return;
        };
        let is_open = place.schema["additionalProperties"].is_object();
        let mut object = object.clone();
        // The members of a map are all of one type.
        let alike = object.values().next().filter(|_| is_open).cloned();
        object.insert("surplus".to_owned(), alike.unwrap_or(json!("text")));
        let changed = with(example, &place.pointer, object.into());
        assert_eq!(case.accepts(&changed), is_open, "{}: {changed}", case.name);
    });
}

/// A parameter that a reader takes and the document does not have would be an unknown one to every other test.
#[test]
fn parameters_of_other_queries_and_columns_are_refused_where_they_are_not_declared() {
    let cases = cases(&parsed());
    let queries = || cases.iter().filter(|case| case.is_query);
    let mut names: BTreeSet<String> = queries().flat_map(Case::declared).collect();
    for field in audit_domain::EventField::ALL {
        names.insert(crate::csv::column(*field).to_owned());
        names.insert(field.path().last().unwrap().to_owned());
    }
    for case in queries() {
        let declared: BTreeSet<String> = case.declared().collect();
        for name in names.difference(&declared) {
            let mut example = case.examples[0].clone();
            example[name] = json!("1");
            assert!(!case.accepts(&example), "{} takes {name}", case.name);
        }
    }
}

#[test]
fn fields_can_be_left_out_unless_they_are_required() {
    each_place(|case, example, place| {
        let required = place.schema["required"].as_array();
        for name in place.schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
        {
            let is_required = required.is_some_and(|required| required.contains(&json!(name)));
            let mut object = example.pointer(&place.pointer).unwrap().clone();
            object.as_object_mut().unwrap().remove(name);
            let changed = with(example, &place.pointer, object);
            assert_eq!(
                case.accepts(&changed),
                !is_required,
                "{} without {name}: {changed}",
                case.name
            );
        }
    });
}

/// The document does not say so, because generators make two kinds of absence of it: a field that may be absent may be
/// `null`.
#[test]
fn null_is_accepted_where_a_field_is_optional_or_lists_it() {
    let document = parsed();
    let checker = Checker::new(&document);
    each_place(|case, example, place| {
        if case.is_query {
            return;
        }
        let required = place.schema["required"].as_array();
        for (name, property) in place.schema["properties"].as_object().into_iter().flatten() {
            let pointer = format!("{}/{name}", place.pointer);
            if example.pointer(&pointer).is_none() {
                continue;
            }
            let is_required = required.is_some_and(|required| required.contains(&json!(name)));
            let is_accepted = !is_required || checker.check(property, &Value::Null).is_ok();
            let changed = with(example, &pointer, Value::Null);
            assert_eq!(case.accepts(&changed), is_accepted, "{}: {changed}", case.name);
        }
    });
}

#[test]
fn null_is_no_item_of_a_list() {
    each_place(|case, example, place| {
        if !case.is_query && place.pointer.ends_with("/0") {
            let changed = with(example, &place.pointer, Value::Null);
            assert!(!case.accepts(&changed), "{}: {changed}", case.name);
        }
    });
}

#[test]
fn limits_of_texts_are_those_of_the_reader() {
    each_place(|case, example, place| {
        let Some(chars_max) = place.schema["maxLength"]
            .as_u64()
            .filter(|_| place.schema.get("pattern").is_none())
        else {
            return;
        };
        let text = |chars: u64| with(example, &place.pointer, json!("é".repeat(chars as usize)));
        // The size of an event is limited too, and a text in it cannot exceed that limit.
        let is_limited_as_a_whole = chars_max > 10_000;
        if !is_limited_as_a_whole {
            assert!(
                case.accepts(&text(chars_max)),
                "{} {}: {chars_max}",
                case.name,
                place.pointer
            );
        }
        assert!(
            !case.accepts(&text(chars_max + 1)),
            "{} {}: {chars_max} + 1",
            case.name,
            place.pointer
        );
        let is_empty_allowed = place.schema.get("minLength").is_none();
        assert_eq!(
            case.accepts(&text(0)),
            is_empty_allowed,
            "{} {}: empty",
            case.name,
            place.pointer
        );
    });
}

#[test]
fn limits_of_texts_with_a_pattern_are_those_of_the_reader() {
    each_place(|case, example, place| {
        let (Some(chars_max), Some(pattern)) = (
            place.schema["maxLength"].as_u64(),
            place.schema["pattern"].as_str(),
        ) else {
            return;
        };
        // The target of a webhook is checked later, against the operator's policy; a logo must be an image.
        if ["/url", "/logo"].contains(&place.pointer.as_str()) {
            return;
        }
        let old = example.pointer(&place.pointer).unwrap().as_str().unwrap();
        let tail = "x".repeat(chars_max as usize - old.chars().count());
        let head = old.trim_end_matches('*');
        let star = &old[head.len()..];
        let text = |tail: &str| with(example, &place.pointer, json!(format!("{head}{tail}{star}")));
        assert!(
            case.accepts(&text(&tail)),
            "{} {}: {chars_max}",
            case.name,
            place.pointer
        );
        assert!(
            !case.accepts(&text(&(tail.clone() + "x"))),
            "{} {}: {chars_max} + 1",
            case.name,
            place.pointer
        );
        let pattern = regex::Regex::new(pattern).unwrap();
        for odd in [
            "", ".", "a..b", "A.b", "a b", "a.b.", "*", "a*", "*a", "é", "a-b", "metadata", "a.b", "_", "0.a",
        ] {
            let changed = with(example, &place.pointer, json!(odd));
            let fits = pattern.is_match(odd) && !(odd.is_empty() && place.schema.get("minLength").is_some());
            assert_eq!(
                case.accepts(&changed),
                fits,
                "{} {}: {odd:?}",
                case.name,
                place.pointer
            );
        }
    });
}

#[test]
fn limits_of_numbers_are_those_of_the_reader() {
    each_place(|case, example, place| {
        for (limit, step) in [("minimum", -1), ("maximum", 1)] {
            let Some(limit) = place.schema[limit].as_i64() else {
                continue;
            };
            let number = |number: i64| with(example, &place.pointer, json!(number));
            assert!(
                case.accepts(&number(limit)),
                "{} {}: {limit}",
                case.name,
                place.pointer
            );
            let past = limit + step;
            assert!(
                !case.accepts(&number(past)),
                "{} {}: {past}",
                case.name,
                place.pointer
            );
        }
    });
}

#[test]
fn limits_of_lists_are_those_of_the_reader() {
    each_place(|case, example, place| {
        let Some(Value::Array(items)) = example.pointer(&place.pointer) else {
            return;
        };
        let list = |length: u64| {
            let items = items.iter().cycle().take(length as usize).cloned().collect();
            with(example, &place.pointer, Value::Array(items))
        };
        if let Some(items_max) = place.schema["maxItems"].as_u64() {
            assert!(
                case.accepts(&list(items_max)),
                "{} {}: {items_max}",
                case.name,
                place.pointer
            );
            assert!(
                !case.accepts(&list(items_max + 1)),
                "{} {}: {items_max} + 1",
                case.name,
                place.pointer
            );
            let is_empty_allowed = place.schema.get("minItems").is_none();
            assert_eq!(
                case.accepts(&list(0)),
                is_empty_allowed,
                "{} {}: none",
                case.name,
                place.pointer
            );
        }
    });
}

#[test]
fn words_are_those_of_the_reader() {
    each_place(|case, example, place| {
        let Some(words) = place.schema["enum"].as_array() else {
            return;
        };
        for word in words {
            assert!(
                case.accepts(&with(example, &place.pointer, word.clone())),
                "{}: {word}",
                case.name
            );
        }
        assert!(
            !case.accepts(&with(example, &place.pointer, json!("another"))),
            "{}",
            case.name
        );
    });
}
