//! JSON Schema, as far as the document uses it. A keyword that is not known here is an error, so none is overlooked.

use regex::Regex;
use serde_json::Value;

pub(super) struct Checker<'a> {
    document: &'a Value,
}

impl<'a> Checker<'a> {
    pub(super) fn new(document: &'a Value) -> Self {
        Self { document }
    }

    /// The target of a value that is a reference.
    pub(super) fn resolve<'b>(&self, value: &'b Value) -> &'b Value
    where
        'a: 'b,
    {
        match value.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.document.pointer(&reference[1..]).unwrap(),
            None => value,
        }
    }

    /// Whether the value fits the schema.
    pub(super) fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let Value::Object(keywords) = schema else {
            return match schema {
                Value::Bool(true) => Ok(()),
                _ => Err("nothing fits here".to_owned()),
            };
        };
        for (keyword, expected) in keywords {
            if !self.keyword(keyword, expected, schema, value)? {
                return Err(format!("{value} does not fit {keyword}: {expected}"));
            }
        }
        Ok(())
    }

    fn keyword(
        &self,
        keyword: &str,
        expected: &Value,
        schema: &Value,
        value: &Value,
    ) -> Result<bool, String> {
        let fits = |schema: &Value| self.check(schema, value).is_ok();
        let chars = value.as_str().map(|text| text.chars().count() as u64);
        let items = value.as_array().map(|items| items.len() as u64);
        Ok(match keyword {
            "description" | "x-enum-varnames" | "discriminator" | "default" | "examples" | "format"
            | "x-additive" => true,
            "$ref" => return self.check(self.resolve(schema), value).map(|()| true),
            "type" => match expected {
                Value::Array(names) => names.iter().any(|name| is_of_type(value, name)),
                name => is_of_type(value, name),
            },
            "enum" => expected.as_array().unwrap().contains(value),
            "const" => value == expected,
            "pattern" => {
                let pattern = Regex::new(expected.as_str().unwrap()).unwrap();
                value.as_str().is_none_or(|text| pattern.is_match(text))
            }
            "minLength" => chars.is_none_or(|chars| chars >= expected.as_u64().unwrap()),
            "maxLength" => chars.is_none_or(|chars| chars <= expected.as_u64().unwrap()),
            "minItems" => items.is_none_or(|items| items >= expected.as_u64().unwrap()),
            "maxItems" => items.is_none_or(|items| items <= expected.as_u64().unwrap()),
            "minimum" => value
                .as_i64()
                .is_none_or(|number| number >= expected.as_i64().unwrap()),
            "maximum" => value
                .as_i64()
                .is_none_or(|number| number <= expected.as_i64().unwrap()),
            "allOf" => {
                for schema in expected.as_array().unwrap() {
                    self.check(schema, value)?;
                }
                true
            }
            "anyOf" => expected.as_array().unwrap().iter().any(fits),
            "oneOf" => {
                expected
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|schema| fits(schema))
                    .count()
                    == 1
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    self.check(expected, item)?;
                }
                true
            }
            "required" => {
                let names = expected
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|name| name.as_str().unwrap());
                value
                    .as_object()
                    .is_none_or(|object| names.into_iter().all(|name| object.contains_key(name)))
            }
            "properties" => {
                for (name, schema) in expected.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        self.check(schema, value)
                            .map_err(|error| format!("{name}: {error}"))?;
                    }
                }
                true
            }
            "additionalProperties" => match expected {
                Value::Object(_) => true,
                _ => value
                    .as_object()
                    .is_none_or(|object| object.keys().all(|name| schema["properties"].get(name).is_some())),
            },
            other => return Err(format!("the keyword {other} is not known here")),
        })
    }
}

fn is_of_type(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "integer" => value.as_i64().is_some() || value.as_u64().is_some(),
        other => panic!("the type {other} is not known here"),
    }
}
