//! The text of a JSON value, independent of the order of its keys.

use serde_json::Value;

/// The value as JSON without white space and with sorted keys. The order of a `serde_json` map depends on a feature
/// that any crate of a build can enable; a hash must not depend on it.
pub(crate) fn canonical_text(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, item)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write(item, out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_at_every_depth() {
        let value = json!({"b": [1, {"d": null, "c": "x\"y"}], "a": true});
        assert_eq!(
            canonical_text(&value),
            r#"{"a":true,"b":[1,{"c":"x\"y","d":null}]}"#
        );
    }
}
