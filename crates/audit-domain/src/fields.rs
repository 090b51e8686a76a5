//! Reading JSON objects field by field, noting everything that is wrong with them.

use crate::{Violation, Violations};
use serde_json::{Map, Value};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The fields of one object that are still to be read, and where violations are noted.
///
/// What a method could not read is noted and comes back as `None`, so that reading goes on and every failing field is
/// named at once.
pub struct Fields<'a> {
    prefix: String,
    object: Map<String, Value>,
    found: &'a mut Vec<Violation>,
}

impl<'a> Fields<'a> {
    fn new(prefix: String, object: Map<String, Value>, found: &'a mut Vec<Violation>) -> Self {
        Self {
            prefix,
            object,
            found,
        }
    }

    /// Reads a JSON object, by default an event, with `read`, which takes the fields it knows; all others are refused.
    ///
    /// # Errors
    /// Every field that is missing, unknown or not as it must be.
    pub fn read<T>(value: Value, read: impl FnOnce(&mut Fields<'_>) -> Option<T>) -> Result<T, Violations> {
        let mut found = Vec::new();
        let outcome = match value {
            Value::Object(object) => {
                let mut fields = Fields::new(String::new(), object, &mut found);
                let outcome = read(&mut fields);
                fields.refuse_the_rest();
                outcome
            }
            other => {
                found.push(Violation::new(
                    "event",
                    format_args!("Expected object, received {}", type_name(&other)),
                ));
                None
            }
        };
        Violations::check(found)?;
        outcome.ok_or_else(|| Violations::one("", "could not be read"))
    }

    /// Only a place where violations are noted.
    pub(crate) fn noting(found: &'a mut Vec<Violation>) -> Self {
        Self::new(String::new(), Map::new(), found)
    }

    /// The fields of an object within this one.
    pub fn nested(&mut self, name: &str, object: Map<String, Value>) -> Fields<'_> {
        Fields::new(self.path(name), object, self.found)
    }

    /// The full path of one of this object's fields.
    pub fn path(&self, name: &str) -> String {
        if self.prefix.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.prefix)
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
    pub fn required(&mut self, name: &str) -> Option<Value> {
        match self.object.remove(name) {
            Some(value) => Some(value),
            None => self.violate(name, "Required"),
        }
    }

    /// A text of `chars_min` to `chars_max` characters.
    pub fn required_text(&mut self, name: &str, chars_min: usize, chars_max: usize) -> Option<String> {
        let value = self.required(name)?;
        self.as_text(name, value, chars_min, chars_max)
    }

    /// A text of `chars_min` to `chars_max` characters, if there is one.
    pub fn optional_text(&mut self, name: &str, chars_min: usize, chars_max: usize) -> Option<String> {
        let value = self.object.remove(name)?;
        self.as_text(name, value, chars_min, chars_max)
    }

    /// A text that stands for a value.
    pub fn required_parsed<T: FromStr<Err: Display>>(&mut self, name: &str) -> Option<T> {
        let text = self.required_text(name, 0, usize::MAX)?;
        match text.parse() {
            Ok(parsed) => Some(parsed),
            Err(error) => self.violate(name, error),
        }
    }

    /// A text that stands for a value, if there is one.
    pub fn optional_parsed<T: FromStr<Err: Display>>(&mut self, name: &str) -> Option<T> {
        let text = self.optional_text(name, 0, usize::MAX)?;
        match text.parse() {
            Ok(parsed) => Some(parsed),
            Err(error) => self.violate(name, error),
        }
    }

    /// `true` or `false`, if there is one.
    pub fn optional_bool(&mut self, name: &str) -> Option<bool> {
        match self.object.remove(name)? {
            Value::Bool(value) => Some(value),
            other => self.violate(
                name,
                format_args!("Expected boolean, received {}", type_name(&other)),
            ),
        }
    }

    /// A whole number that stands for a value, if there is one.
    pub fn optional_number<T: TryFrom<i64, Error: Display>>(&mut self, name: &str) -> Option<T> {
        let number = self.optional_integer(name, i64::MIN..=i64::MAX)?;
        match T::try_from(number) {
            Ok(value) => Some(value),
            Err(error) => self.violate(name, error),
        }
    }

    /// A whole number that stands for a value.
    pub fn required_number<T: TryFrom<i64, Error: Display>>(&mut self, name: &str) -> Option<T> {
        match self.has(name) {
            true => self.optional_number(name),
            false => self.violate(name, "Required"),
        }
    }

    /// A whole number within `range`, if there is one.
    pub fn optional_integer(&mut self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let value = self.object.remove(name)?;
        let Value::Number(number) = &value else {
            return self.violate(
                name,
                format_args!("Expected number, received {}", type_name(&value)),
            );
        };
        match number.as_i64().filter(|number| range.contains(number)) {
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
        if items.len() > items_max {
            return self.violate(name, format_args!("must have at most {items_max} items"));
        }
        let mut read = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let path = format!("{name}[{index}]");
            let Some(text) = self.as_text(&path, item, 0, usize::MAX) else {
                continue;
            };
            match text.parse() {
                Ok(item) => read.push(item),
                Err(error) => {
                    self.violate::<()>(&path, error);
                }
            }
        }
        Some(read)
    }

    /// Whether the field is there and has not been taken.
    pub fn has(&self, name: &str) -> bool {
        self.object.contains_key(name)
    }

    /// Whether the field is there and `null`; takes it if so.
    pub fn take_null(&mut self, name: &str) -> bool {
        let is_null = self.object.get(name).is_some_and(Value::is_null);
        if is_null {
            self.object.remove(name);
        }
        is_null
    }

    /// A value of any type, if there is one.
    pub fn optional(&mut self, name: &str) -> Option<Value> {
        self.object.remove(name)
    }

    /// Notes a violation whose full path is known.
    pub fn note(&mut self, violation: Violation) {
        if !self.is_full() {
            self.found.push(violation);
        }
    }

    /// Whether as many violations are noted as are told; looking for more is then a waste.
    pub fn is_full(&self) -> bool {
        self.found.len() >= Violations::COUNT_MAX
    }

    /// An object.
    pub fn required_object(&mut self, name: &str) -> Option<Map<String, Value>> {
        let value = self.required(name)?;
        self.as_object(name, value)
    }

    /// An object, if there is one.
    pub fn optional_object(&mut self, name: &str) -> Option<Map<String, Value>> {
        let value = self.object.remove(name)?;
        self.as_object(name, value)
    }

    /// An array, if there is one.
    pub fn optional_array(&mut self, name: &str) -> Option<Vec<Value>> {
        match self.object.remove(name)? {
            Value::Array(items) => Some(items),
            other => self.violate(
                name,
                format_args!("Expected array, received {}", type_name(&other)),
            ),
        }
    }

    fn as_text(&mut self, name: &str, value: Value, chars_min: usize, chars_max: usize) -> Option<String> {
        let Value::String(text) = value else {
            return self.violate(
                name,
                format_args!("Expected string, received {}", type_name(&value)),
            );
        };
        if text.contains('\0') {
            return self.violate(name, "must not contain a NUL character");
        }
        // Bytes are at least as many as characters, so short texts need not be counted.
        if text.len() > chars_max && text.chars().count() > chars_max {
            return self.violate(name, format_args!("must have at most {chars_max} characters"));
        }
        if text.len() < chars_min {
            return self.violate(name, "must not be empty");
        }
        Some(text)
    }

    /// `value` as an object.
    pub fn as_object(&mut self, name: &str, value: Value) -> Option<Map<String, Value>> {
        match value {
            Value::Object(object) => Some(object),
            other => self.violate(
                name,
                format_args!("Expected object, received {}", type_name(&other)),
            ),
        }
    }

    /// What nobody has read is not part of the interface.
    pub fn refuse_the_rest(mut self) {
        for name in std::mem::take(&mut self.object).keys() {
            self.violate::<()>(name, "Unrecognized field");
        }
    }
}

/// The JSON name of the value's type, for messages.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
