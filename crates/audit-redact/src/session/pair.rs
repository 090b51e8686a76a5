//! Objects that are a pair of a name and a value: `{"name": "password", "value": "hunter2"}`.

use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::small::Tail;

/// Members that hold the name.
const NAMES: &[&str] = &[
    "name",
    "key",
    "field",
    "property",
    "attribute",
    "parameter",
    "variable",
    "setting",
    "header",
    "parameterName",
    "parameterKey",
    "parameter_name",
    "parameter_key",
];
/// Members that hold the value, or the value before or after a change.
const VALUES: &[&str] = &[
    "value",
    "values",
    "val",
    "new_value",
    "old_value",
    "newValue",
    "oldValue",
    "new",
    "old",
    "before",
    "after",
    "parameterValue",
    "parameter_value",
];

/// The name in a pair object, if it is that of a secret.
#[derive(Clone, Copy)]
pub(super) struct SecretName(Option<Tail>);

impl SecretName {
    pub(super) fn of(map: &Map<String, Value>, engine: &Engine) -> SecretName {
        let name = map.iter().find_map(|(key, value)| match value {
            Value::String(text)
                if engine.may_name_secret(text) && is_one_of(key, NAMES) && engine.names_secret(text) =>
            {
                Some(text)
            }
            _ => None,
        });
        match name {
            Some(text) => SecretName(Some(Tail::new(text))),
            None => SecretName(None),
        }
    }

    /// The key in whose context the value of the member `key` is scanned.
    pub(super) fn context<'a>(&'a self, key: &'a str) -> &'a str {
        match &self.0 {
            Some(name) if is_one_of(key, VALUES) => name.as_str(),
            _ => key,
        }
    }
}

fn is_one_of(key: &str, members: &[&str]) -> bool {
    members.iter().any(|member| key.eq_ignore_ascii_case(member))
}
