//! Reads JSON objects field by field and collects every violation.

use crate::json::{Json, Members};
use crate::{Violation, Violations};
use serde_json::Number;
use std::borrow::Cow;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The unread fields of one object, and the list of violations.
///
/// A method that cannot read a field notes a violation and returns `None`. Reading goes on, so that one response names
/// every failing field.
///
/// `null` stands for an absent field where a field is optional. Where it is a value, [`Self::take_any`] and
/// [`Self::take_null`] read it.
pub struct Fields<'a> {
    prefix: Cow<'a, str>,
    members: Members<'a>,
    found: &'a mut Vec<Violation>,
}

impl<'a> Fields<'a> {
    fn new(prefix: Cow<'a, str>, members: Members<'a>, found: &'a mut Vec<Violation>) -> Self {
        Self {
            prefix,
            members,
            found,
        }
    }

    /// Reads a JSON object, by default an event, with `read`, which takes the fields it knows; all others are refused.
    ///
    /// # Errors
    /// Every field that is missing, unknown or not as it must be.
    pub fn read<'j, T>(
        value: impl Into<Json<'j>>,
        read: impl FnOnce(&mut Fields<'_>) -> Option<T>,
    ) -> Result<T, Violations> {
        let mut found = Vec::new();
        let outcome = match value.into() {
            Json::Object(members) => {
                let mut fields = Fields::new(Cow::Borrowed(""), members, &mut found);
                let outcome = read(&mut fields);
                fields.refuse_the_rest();
                outcome
            }
            other => {
                found.push(Violation::new(
                    "event",
                    format_args!("Expected object, received {}", other.type_name()),
                ));
                None
            }
        };
        Violations::check(found)?;
        outcome.ok_or_else(|| Violations::one("", "could not be read"))
    }

    /// An object without fields, for noting violations.
    pub(crate) fn noting(found: &'a mut Vec<Violation>) -> Self {
        Self::new(Cow::Borrowed(""), Members::new(), found)
    }

    /// The fields of an object within this one.
    pub fn nested<'b>(&'b mut self, name: &'b str, members: Members<'b>) -> Fields<'b> {
        Fields::new(self.path(name), members, self.found)
    }

    /// The full path of one of this object's fields.
    pub fn path<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self.prefix.is_empty() {
            true => Cow::Borrowed(name),
            false => Cow::Owned(format!("{}.{name}", self.prefix)),
        }
    }

    /// Notes a violation; returns `None` to stand for the field that could not be read.
    pub fn violate<T>(&mut self, name: &str, message: impl Display) -> Option<T> {
        if !self.is_full() {
            let path = self.path(name);
            self.found.push(Violation::new(path, message));
        }
        None
    }

    /// A field of any type.
    pub fn required(&mut self, name: &str) -> Option<Json<'a>> {
        match self.take_any(name) {
            Some(value) => Some(value),
            None => self.violate(name, "Required"),
        }
    }

    /// A text of `chars_min` to `chars_max` characters.
    pub fn required_text(&mut self, name: &str, chars_min: usize, chars_max: usize) -> Option<String> {
        let value = self.required(name)?;
        self.as_text(name, value, chars_min, chars_max)
            .map(Cow::into_owned)
    }

    /// A text of `chars_min` to `chars_max` characters, if there is one.
    pub fn optional_text(&mut self, name: &str, chars_min: usize, chars_max: usize) -> Option<String> {
        let value = self.optional(name)?;
        self.as_text(name, value, chars_min, chars_max)
            .map(Cow::into_owned)
    }

    /// The texts of an array, or a text alone; none if there is no field.
    pub fn repeated_text(&mut self, name: &str, chars_min: usize, chars_max: usize) -> Vec<String> {
        let items = match self.optional(name) {
            None => return Vec::new(),
            Some(Json::Array(items)) => items,
            Some(one) => vec![one],
        };
        let texts = items.into_iter();
        texts
            .filter_map(|text| self.as_text(name, text, chars_min, chars_max))
            .map(Cow::into_owned)
            .collect()
    }

    /// A text that is parsed into a value.
    pub fn required_parsed<T: FromStr<Err: Display>>(&mut self, name: &str) -> Option<T> {
        let value = self.required(name)?;
        self.as_parsed(name, value)
    }

    /// A text that is parsed into a value, if there is one.
    pub fn optional_parsed<T: FromStr<Err: Display>>(&mut self, name: &str) -> Option<T> {
        let value = self.optional(name)?;
        self.as_parsed(name, value)
    }

    fn as_parsed<T: FromStr<Err: Display>>(&mut self, name: &str, value: Json<'_>) -> Option<T> {
        match self.as_text(name, value, 0, usize::MAX)?.parse() {
            Ok(parsed) => Some(parsed),
            Err(error) => self.violate(name, error),
        }
    }

    /// `true` or `false`, if there is one.
    pub fn optional_bool(&mut self, name: &str) -> Option<bool> {
        match self.optional(name)? {
            Json::Bool(value) => Some(value),
            other => self.violate(
                name,
                format_args!("Expected boolean, received {}", other.type_name()),
            ),
        }
    }

    /// A whole number that is converted into a value, if there is one.
    pub fn optional_number<T: TryFrom<i64, Error: Display>>(&mut self, name: &str) -> Option<T> {
        let number = self.optional_integer(name, i64::MIN..=i64::MAX)?;
        self.as_number(name, number)
    }

    /// A whole number that is converted into a value.
    pub fn required_number<T: TryFrom<i64, Error: Display>>(&mut self, name: &str) -> Option<T> {
        let value = self.required(name)?;
        let number = self.as_integer(name, &value, i64::MIN..=i64::MAX)?;
        self.as_number(name, number)
    }

    fn as_number<T: TryFrom<i64, Error: Display>>(&mut self, name: &str, number: i64) -> Option<T> {
        match T::try_from(number) {
            Ok(value) => Some(value),
            Err(error) => self.violate(name, error),
        }
    }

    /// A whole number within `range`, if there is one.
    pub fn optional_integer(&mut self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let value = self.optional(name)?;
        self.as_integer(name, &value, range)
    }

    /// A whole number within `range`.
    pub fn required_integer(&mut self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let value = self.required(name)?;
        self.as_integer(name, &value, range)
    }

    fn as_integer(&mut self, name: &str, value: &Json<'_>, range: RangeInclusive<i64>) -> Option<i64> {
        let Json::Number(number) = value else {
            return self.violate(
                name,
                format_args!("Expected number, received {}", value.type_name()),
            );
        };
        match whole(number).filter(|number| range.contains(number)) {
            Some(number) => Some(number),
            None if range == (i64::MIN..=i64::MAX) => self.violate(name, "must be a whole number"),
            None => self.violate(
                name,
                format_args!("must be a whole number from {} to {}", range.start(), range.end()),
            ),
        }
    }

    /// An array of at most `items_max` texts that stand for values, if there is one.
    pub fn optional_list<T: FromStr<Err: Display>>(
        &mut self,
        name: &str,
        items_max: usize,
    ) -> Option<Vec<T>> {
        let items = self.optional_array(name)?;
        self.as_list(name, items, items_max)
    }

    /// The same, where an array has an item at least.
    pub fn optional_filled_list<T: FromStr<Err: Display>>(
        &mut self,
        name: &str,
        items_max: usize,
    ) -> Option<Vec<T>> {
        let items = self.optional_array(name)?;
        if items.is_empty() {
            return self.violate(name, "must have at least 1 item");
        }
        self.as_list(name, items, items_max)
    }

    fn as_list<T: FromStr<Err: Display>>(
        &mut self,
        name: &str,
        items: Vec<Json<'a>>,
        items_max: usize,
    ) -> Option<Vec<T>> {
        if items.len() > items_max {
            return self.violate(name, format_args!("must have at most {items_max} items"));
        }
        let mut read = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            read.extend(self.as_parsed(&format!("{name}[{index}]"), item));
        }
        Some(read)
    }

    /// The names of the unread fields that begin with `prefix`.
    pub fn names_with(&self, prefix: &str) -> Vec<String> {
        let names = self.members.iter().map(|(name, _)| name.as_ref());
        let found = names.filter(|name: &&str| name.starts_with(prefix));
        found.map(str::to_owned).collect()
    }

    /// Whether the object has the field, other than as `null`, and it is unread.
    pub fn has(&self, name: &str) -> bool {
        let mut members = self.members.iter();
        members.any(|(key, value)| key == name && !matches!(value, Json::Null))
    }

    /// Whether the field is there and `null`; takes it if so.
    pub fn take_null(&mut self, name: &str) -> bool {
        let is_null = |(key, value): &(_, _)| key == name && matches!(value, Json::Null);
        match self.members.iter().position(is_null) {
            Some(index) => {
                self.members.swap_remove(index);
                true
            }
            None => false,
        }
    }

    /// A value of any type but `null`, if there is one.
    pub fn optional(&mut self, name: &str) -> Option<Json<'a>> {
        self.take_any(name).filter(|value| !matches!(value, Json::Null))
    }

    /// A value of any type, `null` included, if there is one.
    pub fn take_any(&mut self, name: &str) -> Option<Json<'a>> {
        let index = self.members.iter().position(|(key, _)| key == name)?;
        Some(self.members.swap_remove(index).1)
    }

    /// Notes a violation whose full path is known.
    pub fn note(&mut self, violation: Violation) {
        if !self.is_full() {
            self.found.push(violation);
        }
    }

    /// Whether the response can report no further violation, so that checking can stop.
    pub fn is_full(&self) -> bool {
        self.found.len() >= Violations::COUNT_MAX
    }

    /// An object.
    pub fn required_object(&mut self, name: &str) -> Option<Members<'a>> {
        let value = self.required(name)?;
        self.as_object(name, value)
    }

    /// An object, if there is one.
    pub fn optional_object(&mut self, name: &str) -> Option<Members<'a>> {
        let value = self.optional(name)?;
        self.as_object(name, value)
    }

    /// An array, if there is one.
    pub fn optional_array(&mut self, name: &str) -> Option<Vec<Json<'a>>> {
        match self.optional(name)? {
            Json::Array(items) => Some(items),
            other => self.violate(
                name,
                format_args!("Expected array, received {}", other.type_name()),
            ),
        }
    }

    fn as_text<'j>(
        &mut self,
        name: &str,
        value: Json<'j>,
        chars_min: usize,
        chars_max: usize,
    ) -> Option<Cow<'j, str>> {
        let Json::String(text) = value else {
            return self.violate(
                name,
                format_args!("Expected string, received {}", value.type_name()),
            );
        };
        if text.contains('\0') {
            return self.violate(name, "must not contain a NUL character");
        }
        // A text has at least as many bytes as characters, so short texts need no count.
        if text.len() > chars_max && text.chars().count() > chars_max {
            return self.violate(name, format_args!("must have at most {chars_max} characters"));
        }
        if text.len() < chars_min {
            return self.violate(name, "must not be empty");
        }
        Some(text)
    }

    /// `value` as an object.
    pub fn as_object<'j>(&mut self, name: &str, value: Json<'j>) -> Option<Members<'j>> {
        match value {
            Json::Object(members) => Some(members),
            other => self.violate(
                name,
                format_args!("Expected object, received {}", other.type_name()),
            ),
        }
    }

    /// Notes a violation for each unread field: it is not part of the interface.
    pub fn refuse_the_rest(mut self) {
        let mut rest = std::mem::take(&mut self.members);
        rest.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        for (name, _) in rest {
            self.violate::<()>(&name, "Unrecognized field");
        }
    }
}

/// The number if it is whole, however it is written: clients that know only doubles send `3600.0`.
fn whole(number: &Number) -> Option<i64> {
    /// Doubles hold every whole number up to here.
    const EXACT_MAX: f64 = 9_007_199_254_740_991.0;
    let is_whole = |double: &f64| double.fract() == 0.0 && double.abs() <= EXACT_MAX;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole number of at most 53 bits"
    )]
    number
        .as_i64()
        .or_else(|| number.as_f64().filter(is_whole).map(|double| double as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_whole_number_may_have_a_fraction_of_zeros() {
        let read = |value: serde_json::Value| {
            Fields::read(json!({"n": value}), |fields| {
                Some(fields.optional_integer("n", 0..=1 << 53))
            })
        };
        for text in ["3600", "3600.0", "3.6e3", "36000e-1"] {
            let value = serde_json::from_str(text).unwrap();
            assert_eq!(read(value), Ok(Some(3600)), "{text}");
        }
        for text in ["3600.5", "-1.0", "1e300", "9007199254740994.0"] {
            let value = serde_json::from_str(text).unwrap();
            assert!(read(value).is_err(), "{text}");
        }
        assert_eq!(read(json!(null)), Ok(None));
    }

    #[test]
    fn null_is_an_absent_field_where_it_is_optional() {
        let value = || json!({"a": null, "b": null, "c": null});
        let read = Fields::read(value(), |fields| {
            assert!(!fields.has("a"));
            assert_eq!(fields.optional_text("a", 1, 9), None);
            assert_eq!(fields.optional_bool("b"), None);
            assert!(fields.take_null("c"));
            Some(())
        });
        assert_eq!(read, Ok(()));
        let required = Fields::read(value(), |fields| {
            fields.required_text("a", 1, 9);
            fields.required_number::<i64>("b");
            fields.optional_object("c");
            Some(())
        });
        let found = required.unwrap_err().into_vec();
        let found: Vec<String> = found
            .into_iter()
            .map(|violation| format!("{}: {}", violation.field, violation.message))
            .collect();
        assert_eq!(
            found,
            [
                "a: Expected string, received null",
                "b: Expected number, received null"
            ]
        );
    }
}
