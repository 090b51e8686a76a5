//! Reading JSON from outside without losing or inventing anything.
//!
//! `serde_json` alone keeps the last of two equal keys and rounds numbers silently. Both would make the stored event
//! another than the one that was sent, so both are refused here. Integers keep all their digits.

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::Cell;
use std::fmt;

/// The bytes are not JSON that can be kept as it was sent.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// Broken syntax, invalid UTF-8, a lone surrogate, a repeated key, or nesting beyond the parser's limit.
    #[error("must be valid JSON: {0}")]
    Syntax(#[source] serde_json::Error),
    /// A number that would be changed by keeping it.
    #[error(
        "the number {literal} at byte {offset} cannot be kept exactly: integers have up to {INTEGER_DIGITS_MAX} digits, others 17 significant ones within the range of a double; send it as a string"
    )]
    Number {
        /// The number as it was sent, shortened.
        literal: String,
        /// Where it begins.
        offset: usize,
    },
    /// A key that `serde_json` uses to speak of numbers with itself.
    #[error("must not have the key {NUMBER_KEY}")]
    ReservedKey,
}

/// The most digits of an integer; one more and it is beyond the range of a double.
const INTEGER_DIGITS_MAX: usize = 308;
/// The most digits a double keeps of any decimal (ECMA-262 writes at most 17).
const SIGNIFICANT_DIGITS_MAX: usize = 17;
/// Characters of a refused number that the message shows.
const LITERAL_CHARS_SHOWN: usize = 40;
/// How `serde_json` with `arbitrary_precision` hands a number to a visitor: as a map with this one key.
const NUMBER_KEY: &str = "$serde_json::private::Number";

/// Reads one JSON value.
///
/// # Errors
/// [`JsonError`] when the text is not JSON, an object names a key twice, or a number cannot be kept exactly.
pub fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
    let numbers = Cell::new(0);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Exact { numbers: &numbers }
        .deserialize(&mut deserializer)
        .map_err(JsonError::Syntax)?;
    deserializer.end().map_err(JsonError::Syntax)?;
    // An object that pretends to be a number makes more numbers than there are literals.
    if numbers.get() > 0 && check_numbers(bytes)? != numbers.get() {
        return Err(JsonError::ReservedKey);
    }
    Ok(value)
}

/// Whether a value has at most so many characters as compact JSON.
pub fn has_at_most(value: &Value, chars_max: usize) -> bool {
    /// What is left of `chars_max` if every byte of every text needed the longest escape, which need not be looked at.
    fn left(value: &Value, left_before: usize) -> Option<usize> {
        const ESCAPE_CHARS: usize = "\\u0000".len();
        let text_chars = |text: &str| 3 + ESCAPE_CHARS * text.len();
        match value {
            Value::Null | Value::Bool(_) => left_before.checked_sub(6),
            Value::Number(number) => left_before.checked_sub(number.as_str().len() + 1),
            Value::String(text) => left_before.checked_sub(text_chars(text)),
            Value::Array(items) => items
                .iter()
                .try_fold(left_before.checked_sub(3)?, |before, item| left(item, before)),
            Value::Object(object) => object
                .iter()
                .try_fold(left_before.checked_sub(3)?, |before, (key, value)| {
                    left(value, before.checked_sub(text_chars(key) + 1)?)
                }),
        }
    }
    left(value, chars_max).is_some() || compact_chars_up_to(value, chars_max).is_some()
}

/// The number of characters of a value as compact JSON, or `None` when there are more than `chars_max`.
pub fn compact_chars_up_to(value: &Value, chars_max: usize) -> Option<usize> {
    fn text_chars(text: &str) -> usize {
        let escaped = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1F);
        let continued = |byte: &u8| byte & 0xC0 == 0x80;
        let bytes = text.as_bytes();
        let escapes: usize = bytes
            .iter()
            .filter(|byte| escaped(byte))
            .map(|byte| escape_chars(*byte) - 1)
            .sum();
        2 + bytes.len() - bytes.iter().filter(|byte| continued(byte)).count() + escapes
    }

    fn escape_chars(byte: u8) -> usize {
        if matches!(byte, b'"' | b'\\' | 0x08 | 0x09 | 0x0A | 0x0C | 0x0D) {
            2
        } else {
            6
        }
    }

    fn count(value: &Value, left: usize) -> Option<usize> {
        let commas = |items: usize| items.saturating_sub(1);
        match value {
            Value::Null | Value::Bool(true) => left.checked_sub(4),
            Value::Bool(false) => left.checked_sub(5),
            Value::Number(number) => left.checked_sub(number.as_str().len()),
            Value::String(text) => left.checked_sub(text_chars(text)),
            Value::Array(items) => items
                .iter()
                .try_fold(left.checked_sub(2 + commas(items.len()))?, |left, item| {
                    count(item, left)
                }),
            Value::Object(object) => object.iter().try_fold(
                left.checked_sub(2 + commas(object.len()))?,
                |left, (key, value)| count(value, left.checked_sub(text_chars(key) + 1)?),
            ),
        }
    }

    count(value, chars_max).map(|left| chars_max - left)
}

/// Builds a [`Value`], refusing repeated keys and counting the numbers.
#[derive(Clone, Copy)]
struct Exact<'a> {
    numbers: &'a Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Exact<'_> {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Exact<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        self.numbers.set(self.numbers.get() + 1);
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        self.numbers.set(self.numbers.get() + 1);
        Ok(Value::Number(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if key == NUMBER_KEY {
                let literal: String = access.next_value()?;
                self.numbers.set(self.numbers.get() + 1);
                return literal
                    .parse::<Number>()
                    .map(Value::Number)
                    .map_err(de::Error::custom);
            }
            if object.contains_key(&key) {
                return Err(de::Error::custom(format_args!(
                    "the key {key:?} stands twice in one object"
                )));
            }
            let value = access.next_value_seed(self)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// Looks at every number literal of `bytes`, which is known to be valid JSON, and counts them.
fn check_numbers(bytes: &[u8]) -> Result<usize, JsonError> {
    let (mut at, mut numbers) = (0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at),
            b'-' | b'0'..=b'9' => {
                let end = bytes[at..]
                    .iter()
                    .position(|byte| !matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))
                    .map_or(bytes.len(), |length| at + length);
                if !is_exact(&bytes[at..end]) {
                    let shown = bytes[at..end]
                        .iter()
                        .take(LITERAL_CHARS_SHOWN)
                        .map(|byte| char::from(*byte));
                    let cut = if end - at > LITERAL_CHARS_SHOWN { "…" } else { "" };
                    let literal = shown.collect::<String>() + cut;
                    return Err(JsonError::Number { literal, offset: at });
                }
                (at, numbers) = (end, numbers + 1);
            }
            _ => at += 1,
        }
    }
    Ok(numbers)
}

/// The index after the closing quote of the string that opens at `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// Whether keeping the literal keeps its value: an integer of any length, or a decimal that the nearest double, written
/// with as many digits, gives back.
fn is_exact(literal: &[u8]) -> bool {
    let text = std::str::from_utf8(literal).unwrap_or_default();
    if literal.iter().all(|byte| matches!(byte, b'-' | b'0'..=b'9')) {
        return text.trim_start_matches('-').len() <= INTEGER_DIGITS_MAX;
    }
    let digits = significant_digits(text);
    if digits.is_empty() {
        return true;
    }
    // First, because the digits decide how many are written for the comparison.
    if digits.len() > SIGNIFICANT_DIGITS_MAX {
        return false;
    }
    text.parse::<f64>().is_ok_and(|value| {
        let written = format!("{:.*e}", digits.len() - 1, value);
        value.is_finite() && significant_digits(&written) == digits
    })
}

/// The digits of a number without those zeros that only say where the point is; empty for zero.
fn significant_digits(number: &str) -> String {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn ordinary_json_is_read_as_serde_json_reads_it() {
        let text = r#"{"a":[1,-2,3.5,true,null,"x\u00e9\ud83d\ude00"],"b":{"c":18446744073709551615}}"#;
        assert_eq!(
            parse(text.as_bytes()).unwrap(),
            serde_json::from_str::<Value>(text).unwrap()
        );
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        let error = parse(br#"{"a":{"b":1,"b":1}}"#).unwrap_err().to_string();
        assert!(error.contains(r#"the key "b" stands twice"#), "{error}");
        assert!(
            parse(br#"{"a":1,"\u0061":1}"#).is_err(),
            "also when one is escaped"
        );
    }

    #[test]
    fn numbers_that_would_change_are_refused() {
        for text in ["0.12345678901234567891", "1e400", "1e-400", &"9".repeat(309)] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        for text in [
            "18446744073709551615",
            "-9223372036854775808",
            "9007199254740993",
            "0.1",
            "1.0",
            "1e21",
            "0.30000000000000004",
            "0.10000000000000001",
            "9007199254740992.0",
            "1.50",
            "-0.0",
            "0e5",
            "100000000000000000000.0",
        ] {
            assert!(parse(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn characters_are_counted_as_compact_json_has_them() {
        let value = json!({"a\"é": ["\u{1f600}\n\u{1}", null, true, false, 12.5, {}], "b": []});
        let chars = value.to_string().chars().count();
        assert_eq!(compact_chars_up_to(&value, chars), Some(chars));
        assert_eq!(compact_chars_up_to(&value, chars - 1), None);
        assert!(has_at_most(&value, chars) && !has_at_most(&value, chars - 1));
        for longest in ["\u{1}".repeat(9), "a".repeat(9)] {
            let value = json!([longest, null, { "": false }, 1]);
            let chars = value.to_string().chars().count();
            let smallest = (0..200).find(|chars_max| has_at_most(&value, *chars_max));
            assert_eq!(smallest, Some(chars), "{value}");
        }
    }

    #[test]
    fn a_fraction_of_any_length_is_refused_and_nothing_worse() {
        for digits in [18, 70_000, 500_000] {
            let text = format!("1.{}", "1".repeat(digits));
            assert!(
                matches!(parse(text.as_bytes()), Err(JsonError::Number { .. })),
                "{digits}"
            );
        }
    }

    #[test]
    fn integers_keep_all_their_digits() {
        for text in [
            "123456789012345678901234567890",
            "-9223372036854775809",
            &"9".repeat(308),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_object_cannot_pretend_to_be_a_number() {
        for text in [
            r#"{"$serde_json::private::Number":"5"}"#,
            r#"[1,{"\u0024serde_json::private::Number":"5"}]"#,
        ] {
            assert!(
                matches!(parse(text.as_bytes()), Err(JsonError::ReservedKey)),
                "{text}"
            );
        }
        assert!(parse(br#"{"a":1,"$serde_json::private::Number":"x"}"#).is_err());
    }

    #[test]
    fn digits_inside_strings_are_not_numbers() {
        let text = r#"{"a":0.5,"b":"1e400 \" 123456789012345678901234567890"}"#;
        assert_eq!(parse(text.as_bytes()).unwrap()["a"], json!(0.5));
    }

    #[test]
    fn broken_text_is_refused() {
        for text in [
            &b"{"[..],
            b"",
            b"{} {}",
            b"{\"a\":}",
            b"\"\\ud800\"",
            b"\"\xff\"",
            b"NaN",
            b"'a'",
            b"\"a\nb\"",
        ] {
            assert!(
                matches!(parse(text), Err(JsonError::Syntax(_))),
                "{}",
                String::from_utf8_lossy(text)
            );
        }
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn any_double_is_kept(value in proptest::num::f64::NORMAL) {
            let text = format!("[{}]", serde_json::to_string(&value).unwrap());
            prop_assert_eq!(parse(text.as_bytes()).unwrap()[0].as_f64(), Some(value));
        }
    }
}
