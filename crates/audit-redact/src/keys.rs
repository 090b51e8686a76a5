//! Rewrites the keys of an object.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::outputs;

/// Most digits of the number that makes a rewritten key unique.
const SUFFIX_DIGITS_MAX: usize = 9;

/// Renames every member: `(old key, new key, value)`. If several keys become equal, the later ones get the suffix
/// `#2`, `#3` and so on, so that no value is dropped.
pub(crate) fn rename(
    map: Map<String, Value>,
    mut new_key: impl FnMut(&str) -> Option<String>,
) -> Vec<(String, String, Value)> {
    let mut taken = HashSet::new();
    let mut renamed: Vec<(String, Option<String>, Value)> = Vec::with_capacity(map.len());
    for (key, value) in map {
        let new = new_key(&key).filter(|new| *new != key);
        if new.is_none() {
            taken.insert(key.clone());
        }
        renamed.push((key, new, value));
    }
    let mut last_numbers: HashMap<String, usize> = HashMap::new();
    let mut unique = |new: String| {
        let mut candidate = new.clone();
        while !taken.insert(candidate.clone()) {
            let number = last_numbers.entry(new.clone()).or_insert(1);
            *number += 1;
            candidate = format!("{new}#{number}");
        }
        candidate
    };
    renamed
        .into_iter()
        .map(|(key, new, value)| {
            let new = new.map_or_else(|| key.clone(), &mut unique);
            (key, new, value)
        })
        .collect()
}

/// The start of the `#N` suffix that an earlier redaction appended, or the length of the key. No rule scans the suffix:
/// a pattern such as `[0-9]` would otherwise redact it in every pass.
pub(crate) fn suffix_start(key: &str) -> usize {
    let Some((text, number)) = key.rsplit_once('#') else {
        return key.len();
    };
    let numbered =
        (1..=SUFFIX_DIGITS_MAX).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    if numbered && (text.contains('*') || !outputs::protected_spans(text).is_empty()) {
        text.len()
    } else {
        key.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_that_become_equal_are_numbered_and_none_is_lost() {
        let Value::Object(map) = json!({"a": 1, "b": 2, "c": 3, "x": 4, "x#2": 5}) else {
            panic!()
        };
        let renamed = rename(map, |key| (!key.starts_with('x')).then(|| "x".to_owned()));
        let keys: Vec<_> = renamed
            .iter()
            .map(|(_, new, value)| (new.as_str(), value.as_u64()))
            .collect();
        let expected = [
            ("x#3", Some(1)),
            ("x#4", Some(2)),
            ("x#5", Some(3)),
            ("x", Some(4)),
            ("x#2", Some(5)),
        ];
        assert_eq!(keys, expected);
    }

    #[test]
    fn only_a_number_behind_redacted_text_is_a_suffix() {
        assert_eq!(suffix_start("[REDACTED]#2"), "[REDACTED]".len());
        assert_eq!(suffix_start("a***@x.com#12"), "a***@x.com".len());
        assert_eq!(suffix_start("issue#12"), "issue#12".len());
        assert_eq!(suffix_start("[REDACTED]#"), "[REDACTED]#".len());
    }
}
