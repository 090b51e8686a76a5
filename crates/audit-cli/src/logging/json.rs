//! Lines of the log as JSON objects.

use log::Record;
use log::kv::{Error, Key, Value, VisitSource, VisitValue};
use serde_json::to_writer;
use std::fmt::Display;
use std::io::Write;

/// Bytes of a line of the access log.
const LINE_BYTES: usize = 512;

/// One object in one line: `time`, `level`, `target`, `message`, and the members of the record.
pub(super) fn line(time: &str, record: &Record<'_>) -> Vec<u8> {
    let mut object = Object(Vec::with_capacity(LINE_BYTES));
    object.0.push(b'{');
    object.text("time", time);
    object.text("level", record.level().as_str());
    object.text("target", record.target());
    match record.args().as_str() {
        Some(message) => object.text("message", message),
        None => object.text("message", &record.args().to_string()),
    }
    // Writing to memory does not fail.
    record.key_values().visit(&mut object).ok();
    object.0.extend_from_slice(b"}\n");
    object.0
}

/// The beginning of an object.
struct Object(Vec<u8>);

impl Object {
    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        self.value(name);
        self.0.push(b':');
    }

    fn value(&mut self, text: &str) {
        // Writing to memory does not fail.
        to_writer(&mut self.0, text).ok();
    }

    fn bare(&mut self, value: impl Display) -> Result<(), Error> {
        write!(self.0, "{value}").map_err(|_| Error::msg("no memory"))
    }

    fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        self.value(text);
    }
}

impl<'kvs> VisitSource<'kvs> for Object {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        self.name(key.as_str());
        value.visit(self)
    }
}

/// What is neither number nor boolean is text.
impl<'v> VisitValue<'v> for Object {
    fn visit_any(&mut self, value: Value<'_>) -> Result<(), Error> {
        self.value(&value.to_string());
        Ok(())
    }

    fn visit_null(&mut self) -> Result<(), Error> {
        self.bare("null")
    }

    fn visit_u64(&mut self, value: u64) -> Result<(), Error> {
        self.bare(value)
    }

    fn visit_i64(&mut self, value: i64) -> Result<(), Error> {
        self.bare(value)
    }

    fn visit_f64(&mut self, value: f64) -> Result<(), Error> {
        match value.is_finite() {
            true => self.bare(value),
            false => self.visit_null(),
        }
    }

    fn visit_bool(&mut self, value: bool) -> Result<(), Error> {
        self.bare(value)
    }

    fn visit_str(&mut self, value: &str) -> Result<(), Error> {
        self.value(value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use log::Level;
    use log::kv::ToValue;
    use serde_json::{Value as Json, json};

    #[test]
    fn every_value_is_escaped_and_on_one_line() {
        let mut record = Record::builder();
        let text = "a\"b\\c\nd\u{1b}";
        let members = [
            ("text", text.to_value()),
            ("whole", 7_u64.to_value()),
            ("part", 1.5.to_value()),
            ("none", None::<u64>.to_value()),
            ("shown", Value::from_display(&text)),
        ];
        let members = members.as_slice();
        let record = record.level(Level::Warn).target("t").key_values(&members);
        let line = line("now", &record.args(format_args!("{text}")).build());
        let text_of_line = std::str::from_utf8(&line).unwrap();
        assert_eq!(text_of_line.find('\n'), Some(text_of_line.len() - 1));
        assert!(text_of_line.starts_with(r#"{"time":"now","level":"WARN","target":"t","message":"#));
        let read: Json = serde_json::from_slice(&line).unwrap();
        let expected = json!({
            "time": "now", "level": "WARN", "target": "t", "message": text,
            "text": text, "whole": 7, "part": 1.5, "none": null, "shown": text,
        });
        assert_eq!(read, expected);
    }
}
