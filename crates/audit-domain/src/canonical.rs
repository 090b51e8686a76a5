//! Canonical JSON as RFC 8785 (JCS) defines it: keys in order of their UTF-16 code units, numbers as ECMAScript writes
//! them, no white space, the fewest escapes.
//!
//! One addition: integers beyond ±(2^53−1), which a double cannot hold, are written with the digits they have.

use serde_json::{Map, Number, Value};
use std::fmt::{Display, Write};

/// The canonical form of `value`.
pub fn to_string(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

/// Appends the canonical form of `value`.
pub fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(object) => write_object(out, object),
    }
}

/// Appends the text of an id or a time as a string. Neither has anything to escape.
pub(crate) fn write_plain(out: &mut String, value: impl Display) {
    write!(out, "\"{value}\"").expect("a string takes all that is written to it");
}

/// Appends the canonical form of `object`.
pub fn write_object(out: &mut String, object: &Map<String, Value>) {
    out.push('{');
    let mut first = true;
    let mut write_entry = |(key, value): (&String, &Value)| {
        if !first {
            out.push(',');
        }
        first = false;
        write_string(out, key);
        out.push(':');
        write_value(out, value);
    };
    if is_in_utf16_order(object) {
        object.iter().for_each(&mut write_entry);
    } else {
        let mut entries: Vec<_> = object.iter().collect();
        entries.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
        entries.into_iter().for_each(&mut write_entry);
    }
    out.push('}');
}

/// Whether the map already iterates as RFC 8785 wants it. Byte order and UTF-16 order differ only where a key has a
/// character from U+E000 on (first byte 0xEE or more).
fn is_in_utf16_order(object: &Map<String, Value>) -> bool {
    let mut previous: Option<&String> = None;
    object.keys().all(|key| {
        let in_order = previous.is_none_or(|previous| previous < key);
        previous = Some(key);
        in_order && key.bytes().all(|byte| byte < 0xEE)
    })
}

/// Appends a number: integers digit by digit, everything else as ECMAScript's `Number::toString`.
fn write_number(out: &mut String, number: &Number) {
    let literal = number.as_str();
    let is_integer = literal.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match number.as_f64() {
        Some(0.0) => out.push('0'),
        Some(double) if !is_integer => out.push_str(ryu_js::Buffer::new().format(double)),
        _ => out.push_str(literal),
    }
}

/// Appends a string in quotes, escaping only what RFC 8785 §3.2.2.2 says.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = first_escaped(rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let byte = rest.as_bytes()[at];
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            0x0C => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            _ => {
                out.push_str("\\u00");
                let digit = |value: u8| char::from_digit(value.into(), 16);
                out.extend([byte >> 4, byte & 15].into_iter().filter_map(digit));
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Whether a string has the byte only escaped.
pub(crate) const fn is_escaped(byte: &u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..=0x1F)
}

/// Where the first byte is that a string has only escaped.
pub(crate) fn first_escaped(bytes: &[u8]) -> Option<usize> {
    const fn eight_times(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    let (words, rest) = bytes.as_chunks();
    for (index, word) in words.iter().enumerate() {
        // The highest bit of each byte says whether it is such a one; of those behind the first it may say so wrongly.
        let word = u64::from_le_bytes(*word);
        let is_zero = |word: u64| word.wrapping_sub(eight_times(1)) & !word;
        let is_control = word.wrapping_sub(eight_times(0x20)) & !word;
        let is_escaped_byte =
            is_control | is_zero(word ^ eight_times(b'"')) | is_zero(word ^ eight_times(b'\\'));
        let found = is_escaped_byte & eight_times(0x80);
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    rest.iter()
        .position(is_escaped)
        .map(|at| bytes.len() - rest.len() + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn the_example_of_rfc_8785_comes_out_as_printed_there() {
        let value: Value = serde_json::from_str(
            r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
                "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#,
        )
        .unwrap();
        assert_eq!(
            to_string(&value),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
        );
    }

    #[test]
    fn keys_are_sorted_by_utf16_code_units() {
        let value =
            json!({"\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7});
        let text = to_string(&value);
        let order: Vec<usize> = [
            "\\r",
            "\"1\"",
            "\u{80}",
            "\u{f6}",
            "\u{20ac}",
            "\u{1f600}",
            "\u{fb33}",
        ]
        .iter()
        .map(|key| text.find(key).unwrap())
        .collect();
        assert!(order.is_sorted(), "{text}");
    }

    #[test]
    fn large_integers_keep_their_digits() {
        assert_eq!(
            to_string(&json!([9_007_199_254_740_993_u64, u64::MAX, i64::MIN, -0.0])),
            "[9007199254740993,18446744073709551615,-9223372036854775808,0]"
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn canonical_text_is_a_fixed_point(value in any_json()) {
            let text = to_string(&value);
            prop_assert_eq!(to_string(&serde_json::from_str(&text).unwrap()), text);
        }

        #[test]
        fn the_first_escaped_byte_is_found(bytes in proptest::collection::vec(prop_oneof![
            9 => any::<u8>().prop_filter("not escaped", |byte| !matches!(byte, b'"' | b'\\' | 0..=0x1F)),
            1 => prop_oneof![Just(b'"'), Just(b'\\'), 0..=0x1F_u8],
        ], 0..40)) {
            let found = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F));
            prop_assert_eq!(first_escaped(&bytes), found);
        }
    }
}
