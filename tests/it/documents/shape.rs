//! Compares the shape of a documented example with that of the server's response.

use serde_json::Value;
use std::collections::BTreeMap;

/// Members that may be null in only one of the two, because they lag behind.
const LAGGING: [&str; 1] = ["lastUsedAt"];
/// Shorter texts are words, not ids.
const ID_CHARS_MIN: usize = 20;

/// Texts of the document, such as ids, and their replacements here.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    pub(super) fn insert(&mut self, documented: &str, actual: &str) {
        self.0.insert(documented.to_owned(), actual.to_owned());
    }

    /// The text with all names replaced.
    pub(super) fn replace(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (documented, actual) in &self.0 {
            text = text.replace(documented, actual);
        }
        text
    }

    /// Panics unless both have the same members with values of the same types, at any depth. Records the ids it
    /// encounters.
    pub(super) fn compare(&mut self, documented: &Value, actual: &Value, place: &str) {
        match (documented, actual) {
            (Value::Object(documented), Value::Object(actual)) => {
                let names = |members: &serde_json::Map<String, Value>| -> Vec<String> {
                    let mut names: Vec<_> = members.keys().cloned().collect();
                    names.sort();
                    names
                };
                assert_eq!(names(documented), names(actual), "members of {place}");
                for (name, value) in documented {
                    let either_is_null = value.is_null() || actual[name].is_null();
                    if !(either_is_null && LAGGING.contains(&name.as_str())) {
                        self.compare(value, &actual[name], &format!("{place}.{name}"));
                    }
                }
            }
            (Value::Array(documented), Value::Array(actual)) => {
                assert_eq!(documented.is_empty(), actual.is_empty(), "{place}: {actual:?}");
                for (index, (documented, actual)) in documented.iter().zip(actual).enumerate() {
                    self.compare(documented, actual, &format!("{place}[{index}]"));
                }
            }
            (Value::String(documented), Value::String(actual)) => {
                let is_id = documented.len() >= ID_CHARS_MIN && !documented.contains(char::is_whitespace);
                if is_id && documented != actual {
                    self.insert(documented, actual);
                }
            }
            (Value::Null, Value::Null)
            | (Value::Bool(_), Value::Bool(_))
            | (Value::Number(_), Value::Number(_)) => {}
            _ => panic!("{place} is {actual}, and in the document {documented}"),
        }
    }
}
