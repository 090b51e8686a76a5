//! The members of a record in a line of text.

use log::kv::{Error, Key, Source, Value, VisitSource, VisitValue};
use std::fmt::Write;

/// Appends ` name=value` for each member that has a value.
pub(super) fn append(line: &mut String, members: &dyn Source) {
    // Writing to memory does not fail.
    members.visit(&mut Line(line)).ok();
}

struct Line<'a>(&'a mut String);

/// The name of a member that is to be written before its value, if it has one.
struct Member<'a, 'kvs> {
    line: &'a mut String,
    name: Key<'kvs>,
}

impl<'kvs> VisitSource<'kvs> for Line<'_> {
    fn visit_pair(&mut self, name: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        value.visit(Member { line: self.0, name })
    }
}

impl<'v> VisitValue<'v> for Member<'_, '_> {
    fn visit_any(&mut self, value: Value<'_>) -> Result<(), Error> {
        write!(self.line, " {}={value}", self.name).map_err(Error::from)
    }

    fn visit_null(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn visit_str(&mut self, value: &str) -> Result<(), Error> {
        self.line.push(' ');
        self.line.push_str(self.name.as_str());
        self.line.push('=');
        self.line.push_str(value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use log::kv::ToValue;

    #[test]
    fn members_follow_the_message() {
        let mut line = "request".to_owned();
        let members = [
            ("status", 200_u64.to_value()),
            ("key_id", None::<u64>.to_value()),
            ("route", "/docs".to_value()),
        ];
        append(&mut line, &members.as_slice());
        assert_eq!(line, "request status=200 route=/docs");
    }
}
