//! What generators of clients need, rule by rule. `clients/generated/check` runs them; these tests name the place.

use super::{below, parsed};
use crate::schema::variable_name;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Every value of the document that stands where a schema does, with its JSON pointer.
fn schemas() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    walk(&parsed(), "", false, &mut found);
    assert!(found.len() > 500, "{} schemas", found.len());
    found
}

/// Examples are data and not searched.
fn walk(value: &Value, pointer: &str, is_schema: bool, found: &mut Vec<(String, Value)>) {
    if is_schema {
        found.push((pointer.to_owned(), value.clone()));
    }
    let Value::Object(fields) = value else { return };
    for (name, field) in fields {
        let pointer = format!("{pointer}/{name}");
        match name.as_str() {
            "example" | "examples" if !pointer.ends_with("/properties/example") => {}
            "schema" | "items" | "additionalProperties" => walk(field, &pointer, true, found),
            "schemas" | "properties" if field.is_object() => {
                for (name, schema) in field.as_object().into_iter().flatten() {
                    walk(schema, &format!("{pointer}/{name}"), true, found);
                }
            }
            "oneOf" | "anyOf" | "allOf" => {
                for (index, schema) in field.as_array().into_iter().flatten().enumerate() {
                    walk(schema, &format!("{pointer}/{index}"), true, found);
                }
            }
            _ if field.is_array() => {
                for (index, item) in field.as_array().into_iter().flatten().enumerate() {
                    walk(item, &format!("{pointer}/{index}"), false, found);
                }
            }
            _ => walk(field, &pointer, false, found),
        }
    }
}

/// Fails with every place at which the rule is broken.
fn check(rule: impl Fn(&str, &Value) -> bool) {
    let broken: Vec<String> = schemas()
        .into_iter()
        .filter(|(pointer, schema)| !rule(pointer, schema))
        .map(|(pointer, _)| pointer)
        .collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

fn names_of(kind: &str) -> BTreeSet<String> {
    let document = parsed();
    let components = document["components"][kind].as_object().unwrap();
    components.keys().cloned().collect()
}

/// Each operation with its path item's pointer.
fn operations() -> Vec<(String, Value)> {
    let document = parsed();
    let items = document["paths"].as_object().unwrap().iter();
    let operations = items.flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (format!("{method} {path}"), operation.clone()))
    });
    operations.collect()
}

#[test]
fn no_schema_is_a_boolean() {
    check(|pointer, schema| match schema {
        Value::Bool(is_open) => !is_open && pointer.ends_with("/additionalProperties"),
        _ => true,
    });
}

#[test]
fn integers_have_a_registered_format_that_holds_them() {
    check(|_, schema| {
        let kinds = schema["type"]
            .as_array()
            .cloned()
            .unwrap_or_else(|| vec![schema["type"].clone()]);
        let maximum = schema["maximum"].as_i64();
        match schema["format"].as_str() {
            _ if !kinds.contains(&"integer".into()) => true,
            Some("int32") => maximum.is_some_and(|maximum| maximum <= i64::from(i32::MAX)),
            format => format == Some("int64"),
        }
    });
}

/// Clients in typed languages parse a text with a format into another type, to which the pattern does not apply.
#[test]
fn no_text_has_a_format_and_a_pattern() {
    check(|_, schema| schema.get("format").is_none() || schema.get("pattern").is_none());
}

#[test]
fn a_choice_is_between_one_type_and_null_or_exclusive() {
    check(|_, schema| {
        let Some(choices) = schema["anyOf"].as_array() else {
            return true;
        };
        choices.len() == 2 && choices[1] == serde_json::json!({"type": "null"})
    });
}

/// A choice among objects names the field that decides, and each object is one that has it.
#[test]
fn a_choice_among_objects_has_a_discriminator() {
    let document = parsed();
    let mut choices = 0;
    let is_object = |choice: &&Value| {
        let reference = choice["$ref"].as_str();
        reference.is_some_and(|name| document.pointer(&name[1..]).unwrap()["type"] != "array")
    };
    check(|_, schema| {
        let objects = schema["oneOf"].as_array().into_iter().flatten().filter(is_object);
        objects.count() < 2 || schema.get("discriminator").is_some()
    });
    for (pointer, schema) in schemas() {
        let Some(mapping) = schema["discriminator"]["mapping"].as_object() else {
            continue;
        };
        let property = schema["discriminator"]["propertyName"].as_str().unwrap();
        assert_eq!(
            mapping.len(),
            schema["oneOf"].as_array().unwrap().len(),
            "{pointer}"
        );
        for (value, reference) in mapping {
            let object = document.pointer(&reference.as_str().unwrap()[1..]).unwrap();
            assert_eq!(
                object["properties"][property]["enum"],
                serde_json::json!([value]),
                "{pointer}"
            );
            choices += 1;
        }
    }
    assert!(choices > 0, "no choice was looked at");
}

/// Inline objects get made-up names.
#[test]
fn every_object_in_a_body_has_a_name() {
    check(|pointer, schema| {
        let is_named = pointer
            .rsplit_once('/')
            .is_some_and(|(parent, _)| parent == "/components/schemas");
        schema.get("properties").is_none() || is_named
    });
    for (name, operation) in operations() {
        for holder in [&operation["requestBody"], &operation["responses"]] {
            let mut media = Vec::new();
            below(holder, "application/json", &mut media);
            for media in media {
                let schema = &media["schema"];
                let is_free = schema == &serde_json::json!({"type": "object"});
                assert!(schema.get("$ref").is_some() || is_free, "{name}");
            }
        }
    }
}

/// Clients must ignore fields that they do not know; the server refuses them.
#[test]
fn objects_in_requests_are_closed_and_all_others_are_open() {
    let document = parsed();
    let mut in_requests = BTreeSet::new();
    for (_, operation) in operations() {
        collect(&document, &operation["requestBody"], &mut in_requests);
    }
    let (mut closed, mut open) = (0, 0);
    for name in names_of("schemas") {
        let schema = &document["components"]["schemas"][&name];
        if schema.get("properties").is_none() {
            continue;
        }
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        assert_eq!(is_closed, in_requests.contains(&name), "{name}");
        if is_closed { closed += 1 } else { open += 1 }
    }
    assert!(closed > 10 && open > 10, "{closed} closed, {open} open");
}

/// An object of a request that is also one of a response could be neither open nor closed.
#[test]
fn no_object_is_in_requests_and_in_responses() {
    let document = parsed();
    let (mut sent, mut received) = (BTreeSet::new(), BTreeSet::new());
    for (_, operation) in operations() {
        collect(&document, &operation["requestBody"], &mut sent);
        collect(&document, &operation["responses"], &mut received);
    }
    collect(&document, &document["components"]["pathItems"], &mut received);
    let is_object = |name: &&String| {
        document["components"]["schemas"][name.as_str()]
            .get("properties")
            .is_some()
    };
    let both: Vec<_> = sent.intersection(&received).filter(is_object).collect();
    assert!(both.is_empty(), "{both:?}");
}

/// The names of the schemas that the value refers to, directly or not.
fn collect(document: &Value, value: &Value, names: &mut BTreeSet<String>) {
    let mut references = Vec::new();
    below(value, "$ref", &mut references);
    for reference in references {
        let reference = reference.as_str().unwrap();
        let name = reference.rsplit('/').next().unwrap().to_owned();
        if !reference.starts_with("#/components/schemas/") || names.insert(name) {
            collect(document, document.pointer(&reference[1..]).unwrap(), names);
        }
    }
}

#[test]
fn every_error_is_the_same_schema_by_reference() {
    let document = parsed();
    for (name, operation) in operations() {
        for (status, response) in operation["responses"].as_object().unwrap() {
            if status.starts_with(['4', '5']) {
                let reference = response["$ref"]
                    .as_str()
                    .unwrap_or_else(|| panic!("{name} {status}"));
                let response = document.pointer(&reference[1..]).unwrap();
                let schema = &response["content"]["application/json"]["schema"];
                assert_eq!(
                    schema["$ref"], "#/components/schemas/ErrorResponse",
                    "{name} {status}"
                );
                assert!(
                    response["description"].as_str().unwrap().starts_with('`'),
                    "{name} {status}"
                );
            }
        }
    }
}

/// Such parameters would be arguments of each generated function.
#[test]
fn no_operation_has_a_parameter_of_the_transport() {
    for (name, operation) in operations() {
        assert!(
            !name.starts_with("options ") && !name.starts_with("head "),
            "{name}"
        );
        let mut names = Vec::new();
        below(&operation["parameters"], "name", &mut names);
        for parameter in names {
            let parameter = parameter.as_str().unwrap().to_lowercase();
            assert!(
                !["x-request-id", "x-project-id"].contains(&parameter.as_str()),
                "{name}: {parameter}"
            );
        }
    }
}

#[test]
fn there_is_one_security_scheme_and_each_operation_lists_its_credentials() {
    let document = parsed();
    assert_eq!(names_of("securitySchemes"), BTreeSet::from(["bearer".to_owned()]));
    let kinds = document["components"]["securitySchemes"]["bearer"]["x-credentials"]
        .as_object()
        .unwrap();
    for (name, operation) in operations() {
        let credentials = operation["x-credentials"].as_array();
        let is_secured = !operation["security"].as_array().unwrap().is_empty();
        assert_eq!(credentials.is_some(), is_secured, "{name}");
        for credential in credentials.into_iter().flatten() {
            assert!(
                kinds.contains_key(credential.as_str().unwrap()),
                "{name}: {credential}"
            );
        }
    }
}

/// Pages are recognised by their cursor.
#[test]
fn every_page_says_how_the_next_one_is_requested() {
    let document = parsed();
    let mut pages = 0;
    for (name, operation) in operations() {
        let success = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].as_str();
        let schema = success.and_then(|reference| document.pointer(&reference[1..]));
        let is_page = schema.is_some_and(|schema| schema["properties"].get("cursor").is_some());
        assert_eq!(operation.get("x-pagination").is_some(), is_page, "{name}");
        if !is_page {
            continue;
        }
        pages += 1;
        let (pagination, schema) = (&operation["x-pagination"], schema.unwrap());
        assert_eq!(
            schema["properties"][pagination["items"].as_str().unwrap()]["type"],
            "array",
            "{name}"
        );
        for field in ["next", "has_more"] {
            assert!(
                schema["properties"]
                    .get(pagination[field].as_str().unwrap())
                    .is_some(),
                "{name}"
            );
        }
        let link = &operation["responses"]["200"]["links"]["next"];
        assert_eq!(link["operationId"], operation["operationId"], "{name}");
        let parameter = pagination["parameter"].as_str().unwrap();
        assert_eq!(link["parameters"][parameter], "$response.body#/cursor", "{name}");
        let known = operation["parameters"].as_array().unwrap();
        assert!(known.iter().any(|known| known["name"] == parameter), "{name}");
    }
    assert!(pages > 3, "{pages} pages");
}

/// Clients are generated without the server; its address is a setting of theirs.
#[test]
fn the_server_has_variables() {
    let document = parsed();
    for server in document["servers"].as_array().unwrap() {
        let url = server["url"].as_str().unwrap();
        let variables = server["variables"].as_object().unwrap();
        let names: BTreeSet<&str> = url
            .split('{')
            .skip(1)
            .filter_map(|rest| rest.split('}').next())
            .collect();
        assert!(!names.is_empty(), "{url}");
        assert_eq!(names, variables.keys().map(String::as_str).collect());
    }
}

/// A generator may not make a client of the messages: nothing sends them but the service.
#[test]
fn messages_have_a_tag_of_their_own_and_are_references() {
    let document = parsed();
    let mut count = 0;
    for item in document["webhooks"].as_object().unwrap().values() {
        let reference = item["$ref"].as_str().unwrap();
        let item = document.pointer(&reference[1..]).unwrap();
        assert_eq!(item["post"]["tags"], serde_json::json!(["webhook-messages"]));
        count += 1;
    }
    assert!(count > 1, "{count} messages");
    for (name, operation) in operations() {
        assert_ne!(operation["tags"][0], "webhook-messages", "{name}");
    }
}

/// TypeScript's generator makes a field with a default one that a request must have.
#[test]
fn fields_of_bodies_have_no_default() {
    check(|pointer, schema| !pointer.starts_with("/components/schemas/") || schema.get("default").is_none());
}

/// Types of the languages for which clients are generated, and of their runtimes.
const BUILT_IN: &[&str] = &[
    "Any",
    "Array",
    "Boolean",
    "Buffer",
    "Change",
    "Claim",
    "Client",
    "Configuration",
    "Context",
    "Date",
    "Dict",
    "Environment",
    "Error",
    "Event",
    "EventTarget",
    "Exception",
    "File",
    "Function",
    "Integer",
    "Iterator",
    "Key",
    "List",
    "Location",
    "Long",
    "Map",
    "Number",
    "Object",
    "Option",
    "Optional",
    "Problem",
    "Process",
    "Promise",
    "Proxy",
    "Record",
    "Request",
    "Response",
    "Result",
    "Runtime",
    "Self",
    "Set",
    "Severity",
    "Status",
    "String",
    "Symbol",
    "System",
    "Thread",
    "Time",
    "Type",
    "Uri",
    "Url",
    "Uuid",
    "Vec",
    "Version",
    "Void",
];

#[test]
fn names_of_schemas_collide_with_nothing() {
    let names = names_of("schemas");
    let mut lower = BTreeSet::new();
    for name in &names {
        assert!(!BUILT_IN.contains(&name.as_str()), "{name} is a built-in type");
        assert!(
            name.bytes().all(|byte| byte.is_ascii_alphabetic()),
            "{name} was numbered"
        );
        assert!(
            name.starts_with(|first: char| first.is_ascii_uppercase()),
            "{name}"
        );
        assert!(name.len() <= 24, "{name} is long");
        assert!(
            lower.insert(name.to_lowercase()),
            "{name} differs from another in case only"
        );
        // Go names the constructor of `Actor` `NewActor`.
        assert!(!name.starts_with("New"), "{name}");
    }
}

/// In Go the constants of all lists share a name space.
#[test]
fn no_two_lists_of_words_have_a_constant_of_the_same_name() {
    let document = parsed();
    let mut owners = BTreeMap::<String, String>::new();
    for name in names_of("schemas") {
        let schema = &document["components"]["schemas"][&name];
        for (index, word) in schema["enum"].as_array().into_iter().flatten().enumerate() {
            let constant = variable_name(&name, word.as_str().unwrap());
            if let Some(names) = schema.get("x-enum-varnames") {
                assert_eq!(names[index], constant, "{name}");
            }
            if let Some(owner) = owners.insert(constant.clone(), name.clone()) {
                panic!("{constant} is a constant of {owner} and of {name}");
            }
        }
    }
    assert!(owners.len() > 30);
}
