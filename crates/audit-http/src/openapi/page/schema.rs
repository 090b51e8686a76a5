//! Schemas as tables.

use super::prose::{escape, inline, prose};
use super::table;
use crate::schema::ADDITIVE;
use serde_json::{Map, Value};

/// A schema that others refer to.
pub(super) fn component(name: &str, schema: &Value) -> String {
    let name = escape(name);
    format!(
        "<article id=\"schema-{name}\">\n<h3><code>{name}</code></h3>\n{}</article>\n",
        body(schema)
    )
}

/// A schema as HTML: its description, and a table of its fields, if any.
pub(super) fn body(schema: &Value) -> String {
    let mut html = text_of(schema, "description").map(prose).unwrap_or_default();
    if schema.get("properties").is_some() {
        let mut rows = String::new();
        field_rows(schema, "", &mut rows);
        html.push_str(&table(&["Field", "Type", "Rules"], &rows));
        return html;
    }
    if let Some(choices) = choices(schema) {
        html.push_str("<ul>\n");
        for choice in choices {
            let is_object = choice.get("properties").is_some();
            let shown = if is_object { body(choice) } else { kind(choice) };
            html.push_str(&format!("<li>{shown}</li>\n"));
        }
        html.push_str("</ul>\n");
        return html;
    }
    html.push_str(&format!(
        "<p>{}. {}</p>\n",
        kind(schema),
        rules(schema).join("; ")
    ));
    html
}

fn text_of<'a>(schema: &'a Value, keyword: &str) -> Option<&'a str> {
    schema.get(keyword)?.as_str()
}

fn choices(schema: &Value) -> Option<&Vec<Value>> {
    ["oneOf", "anyOf"]
        .iter()
        .find_map(|keyword| schema.get(keyword)?.as_array())
}

/// The fields in the order in which they are required, then the others.
fn ordered<'a>(properties: &'a Map<String, Value>, required: &[&str]) -> Vec<(&'a str, &'a Value, bool)> {
    let of_name = |name: &&str| properties.get_key_value(*name);
    let first = required
        .iter()
        .filter_map(of_name)
        .map(|(name, schema)| (name.as_str(), schema, true));
    let is_optional = |(name, _): &(&String, &Value)| !required.contains(&name.as_str());
    let rest = properties
        .iter()
        .filter(is_optional)
        .map(|(name, schema)| (name.as_str(), schema, false));
    first.chain(rest).collect()
}

/// A row for each field, and below it one for each field within.
fn field_rows(schema: &Value, prefix: &str, rows: &mut String) {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return;
    };
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field, is_required) in ordered(properties, &required) {
        let path = format!("{prefix}{name}");
        let mut told: Vec<String> = text_of(field, "description").map(inline).into_iter().collect();
        told.extend(rules(field));
        rows.push_str(&format!(
            "<tr><th scope=\"row\"><code>{}</code>{}</th><td>{}</td><td>{}</td></tr>\n",
            escape(&path),
            if is_required {
                ""
            } else {
                " <small>optional</small>"
            },
            kind(field),
            told.join("<br>")
        ));
        field_rows(field, &format!("{path}."), rows);
        if let Some(item) = field.get("items") {
            field_rows(item, &format!("{path}[]."), rows);
        }
    }
}

/// The kind of a valid value.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(name) = text_of(schema, "$ref").and_then(|reference| reference.rsplit('/').next()) {
        let name = escape(name);
        return format!("<a href=\"#schema-{name}\"><code>{name}</code></a>");
    }
    if let Some(choices) = choices(schema) {
        return choices.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    if let Some(first) = schema.get("allOf").and_then(|all| all.get(0)) {
        return kind(first);
    }
    let items = schema
        .get("items")
        .map(|items| format!("array of {}", kind(items)));
    let name = |name: &Value| match name.as_str() {
        Some("array") => items.clone().unwrap_or_else(|| "array".to_owned()),
        Some(name) => escape(name),
        None => String::new(),
    };
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().map(name).collect::<Vec<_>>().join(" or "),
        Some(only) => name(only),
        None => "any JSON".to_owned(),
    }
}

/// The other constraints.
pub(super) fn rules(schema: &Value) -> Vec<String> {
    let code = |value: &Value| format!("<code>{}</code>", escape(&value.to_string()));
    let mut rules = Vec::new();
    for (least, most, unit) in [
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
        ("minimum", "maximum", ""),
    ] {
        match (schema.get(least), schema.get(most)) {
            (Some(least), Some(most)) => rules.push(format!("{least} to {most}{unit}")),
            (None, Some(most)) => rules.push(format!("at most {most}{unit}")),
            (Some(least), None) if *least != 0 => rules.push(format!("at least {least}{unit}")),
            _ => {}
        }
    }
    if let Some(Value::Array(words)) = schema.get("enum") {
        rules.push(words.iter().map(code).collect::<Vec<_>>().join(", "));
    }
    if let Some(only) = schema.get("const") {
        rules.push(format!("always {}", code(only)));
    }
    if let Some(format) = text_of(schema, "format").filter(|format| !format.contains("int")) {
        rules.push(format!("format {}", escape(format)));
    }
    if let Some(pattern) = text_of(schema, "pattern") {
        rules.push(format!("<code>{}</code>", escape(pattern)));
    }
    if let Some(default) = schema.get("default") {
        rules.push(format!("default {}", code(default)));
    }
    if schema.get(ADDITIVE).is_some() {
        rules.push("<small>additive</small>".to_owned());
    }
    rules
}
