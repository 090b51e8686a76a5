//! Reading JSON from outside without losing or inventing anything.
//!
//! `serde_json` alone keeps the last of two equal keys and rounds numbers silently. Both would make the stored event
//! another than the one that was sent, so both are refused here. Integers keep all their digits.

use crate::canonical::is_escaped;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

/// A JSON value. Keys and texts without escapes are those of the bytes it was read from.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// Any number, with all its digits.
    Number(Number),
    /// A text.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object. A parsed object has no repeated key.
    Object(Members<'a>),
}

/// The members of an object, as they came.
pub type Members<'a> = Vec<(Cow<'a, str>, Json<'a>)>;

impl Json<'_> {
    /// The name of the value's type, for messages.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

impl From<Value> for Json<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::String(text.into()),
            Value::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Value::Object(object) => {
                let members = object.into_iter();
                Self::Object(members.map(|(key, value)| (key.into(), value.into())).collect())
            }
        }
    }
}

impl From<Json<'_>> for Value {
    fn from(json: Json<'_>) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(value),
            Json::Number(number) => Self::Number(number),
            Json::String(text) => Self::String(text.into_owned()),
            Json::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Json::Object(members) => Self::Object(to_map(members)),
        }
    }
}

/// The members by key.
#[must_use]
pub fn to_map(members: Members<'_>) -> Map<String, Value> {
    // Collecting would sort a list of them first.
    let mut map = Map::new();
    for (key, value) in members {
        map.insert(key.into_owned(), value.into());
    }
    map
}

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

/// The text without the UTF-8 byte order mark that some programs begin a file or a body with (RFC 8259, section 8.1).
#[must_use]
pub fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text)
}

/// Reads one JSON value.
///
/// # Errors
/// [`JsonError`] when the text is not JSON, an object names a key twice, or a number cannot be kept exactly.
pub fn parse(bytes: &[u8]) -> Result<Json<'_>, JsonError> {
    let numbers = Numbers::default();
    let value = match std::str::from_utf8(bytes) {
        Ok(text) => read(serde_json::Deserializer::from_str(text), &numbers),
        // Says where it is no UTF-8, or what is wrong before that.
        Err(_) => read(serde_json::Deserializer::from_slice(bytes), &numbers),
    };
    let value = value.map_err(JsonError::Syntax)?;
    // What fits into 64 bits is exact. An object that pretends to be a number makes more numbers than there are literals.
    if numbers.has_others.get() && check_numbers(bytes)? != numbers.count.get() {
        return Err(JsonError::ReservedKey);
    }
    Ok(value)
}

fn read<'a, R: serde_json::de::Read<'a>>(
    mut deserializer: serde_json::Deserializer<R>,
    numbers: &Numbers,
) -> serde_json::Result<Json<'a>> {
    let value = Exact { numbers }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Whether a value has at most so many characters as compact JSON.
pub(crate) fn has_at_most(value: &Json<'_>, chars_max: usize) -> bool {
    /// What is left of `chars_max` if every byte of every text needed the longest escape, which need not be looked at.
    fn left(value: &Json<'_>, left_before: usize) -> Option<usize> {
        const ESCAPE_CHARS: usize = "\\u0000".len();
        let text_chars = |text: &str| 3 + ESCAPE_CHARS * text.len();
        match value {
            Json::Null | Json::Bool(_) => left_before.checked_sub(6),
            Json::Number(number) => left_before.checked_sub(number.as_str().len() + 1),
            Json::String(text) => left_before.checked_sub(text_chars(text)),
            Json::Array(items) => items
                .iter()
                .try_fold(left_before.checked_sub(3)?, |before, item| left(item, before)),
            Json::Object(members) => members
                .iter()
                .try_fold(left_before.checked_sub(3)?, |before, (key, value)| {
                    left(value, before.checked_sub(text_chars(key) + 1)?)
                }),
        }
    }
    left(value, chars_max).is_some() || compact_chars_up_to(value, chars_max).is_some()
}

/// The number of characters of a value as compact JSON, or `None` when there are more than `chars_max`.
fn compact_chars_up_to(value: &Json<'_>, chars_max: usize) -> Option<usize> {
    fn text_chars(text: &str) -> usize {
        let continued = |byte: &u8| byte & 0xC0 == 0x80;
        let bytes = text.as_bytes();
        let escapes: usize = bytes
            .iter()
            .filter(|byte| is_escaped(byte))
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

    fn count(value: &Json<'_>, left: usize) -> Option<usize> {
        let commas = |items: usize| items.saturating_sub(1);
        match value {
            Json::Null | Json::Bool(true) => left.checked_sub(4),
            Json::Bool(false) => left.checked_sub(5),
            Json::Number(number) => left.checked_sub(number.as_str().len()),
            Json::String(text) => left.checked_sub(text_chars(text)),
            Json::Array(items) => items
                .iter()
                .try_fold(left.checked_sub(2 + commas(items.len()))?, |left, item| {
                    count(item, left)
                }),
            Json::Object(members) => members.iter().try_fold(
                left.checked_sub(2 + commas(members.len()))?,
                |left, (key, value)| count(value, left.checked_sub(text_chars(key) + 1)?),
            ),
        }
    }

    count(value, chars_max).map(|left| chars_max - left)
}

/// The numbers of a text.
#[derive(Default)]
struct Numbers {
    count: Cell<usize>,
    /// Whether there are any but integers of 64 bits.
    has_others: Cell<bool>,
}

/// Builds a [`Json`], refusing repeated keys and counting the numbers.
#[derive(Clone, Copy)]
struct Exact<'n> {
    numbers: &'n Numbers,
}

impl Exact<'_> {
    fn count(self) {
        self.numbers.count.set(self.numbers.count.get() + 1);
    }
}

impl<'de> DeserializeSeed<'de> for Exact<'_> {
    type Value = Json<'de>;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Json<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Exact<'_> {
    type Value = Json<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json<'de>, E> {
        self.count();
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json<'de>, E> {
        self.count();
        Ok(Json::Number(value.into()))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::String(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json<'de>, E> {
        Ok(Json::String(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json<'de>, A::Error> {
        let mut members = Members::new();
        let mut keys = Keys::default();
        while let Some(key) = access.next_key_seed(Key)? {
            if key == NUMBER_KEY {
                let literal: String = access.next_value()?;
                self.count();
                self.numbers.has_others.set(true);
                return literal
                    .parse::<Number>()
                    .map(Json::Number)
                    .map_err(de::Error::custom);
            }
            if !keys.insert(&members, &key) {
                return Err(de::Error::custom(format_args!(
                    "the key {key:?} stands twice in one object"
                )));
            }
            let value = access.next_value_seed(self)?;
            members.push((key, value));
        }
        Ok(Json::Object(members))
    }
}

/// Reads a key as it stands in the bytes, if it has no escapes.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(value.to_owned()))
    }
}

/// Which keys an object has: of a few the members themselves are looked through.
#[derive(Default)]
struct Keys(HashSet<String>);

impl Keys {
    /// Members of an object that are looked through one by one, at most.
    const FEW: usize = 16;

    /// Whether the key is new, given the members before it.
    fn insert(&mut self, members: &[(Cow<'_, str>, Json<'_>)], key: &str) -> bool {
        if members.len() < Self::FEW {
            return members.iter().all(|(other, _)| other != key);
        }
        if self.0.is_empty() {
            self.0 = members.iter().map(|(key, _)| key.to_string()).collect();
        }
        self.0.insert(key.to_owned())
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

    fn value(text: &str) -> Value {
        parse(text.as_bytes()).unwrap().into()
    }

    #[test]
    fn ordinary_json_is_read_as_serde_json_reads_it() {
        let text = r#"{"a":[1,-2,3.5,true,null,"x\u00e9\ud83d\ude00"],"b":{"c":18446744073709551615}}"#;
        assert_eq!(value(text), serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(parse(text.as_bytes()).unwrap(), Json::from(value(text)));
    }

    #[test]
    fn what_has_no_escapes_is_not_copied() {
        let members = match parse(br#"{"a":"b","\u0061b":"\n"}"#).unwrap() {
            Json::Object(members) => members,
            other => panic!("{other:?}"),
        };
        let is_borrowed = |text: &Cow<'_, str>| matches!(text, Cow::Borrowed(_));
        let borrowed: Vec<_> = members
            .iter()
            .map(|(key, value)| {
                (
                    is_borrowed(key),
                    matches!(value, Json::String(text) if is_borrowed(text)),
                )
            })
            .collect();
        assert_eq!(borrowed, [(true, true), (false, false)]);
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        let error = parse(br#"{"a":{"b":1,"b":1}}"#).unwrap_err().to_string();
        assert!(error.contains(r#"the key "b" stands twice"#), "{error}");
        assert!(
            parse(br#"{"a":1,"\u0061":1}"#).is_err(),
            "also when one is escaped"
        );
        for keys in 2..40 {
            let names: Vec<String> = (0..keys).map(|key| format!("\"k{key}\":1")).collect();
            assert!(parse(format!("{{{}}}", names.join(",")).as_bytes()).is_ok());
            for repeated in [0, keys / 2, keys - 1] {
                let text = format!("{{{},{}}}", names.join(","), names[repeated]);
                let error = parse(text.as_bytes()).unwrap_err().to_string();
                assert!(
                    error.contains(&format!("\"k{repeated}\" stands twice")),
                    "{error}"
                );
            }
        }
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
        let value = Json::from(value);
        assert_eq!(compact_chars_up_to(&value, chars), Some(chars));
        assert_eq!(compact_chars_up_to(&value, chars - 1), None);
        assert!(has_at_most(&value, chars) && !has_at_most(&value, chars - 1));
        for longest in ["\u{1}".repeat(9), "a".repeat(9)] {
            let value = json!([longest, null, { "": false }, 1]);
            let chars = value.to_string().chars().count();
            let value = Json::from(value);
            let smallest = (0..200).find(|chars_max| has_at_most(&value, *chars_max));
            assert_eq!(smallest, Some(chars), "{value:?}");
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
            assert_eq!(value(text).to_string(), text);
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
        assert_eq!(value(text)["a"], json!(0.5));
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
        fn any_double_is_kept(double in proptest::num::f64::NORMAL) {
            let text = format!("[{}]", serde_json::to_string(&double).unwrap());
            prop_assert_eq!(value(&text)[0].as_f64(), Some(double));
        }
    }
}
