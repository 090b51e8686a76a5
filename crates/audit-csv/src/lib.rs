//! Lines of CSV (RFC 4180), made to be opened in a spreadsheet.
//!
//! `csv-core` escapes the fields. Which of them are quoted is decided here, because no quote style of `csv` fits: a
//! text that a spreadsheet would evaluate as a formula gets a `'` before it (OWASP, "CSV Injection"), and every field
//! but a plain word is quoted. A program with another separator, such as Excel where the comma is the decimal separator,
//! ignores a quote that is not at the begin of what it takes for a field, and finds starts of fields within a field. So
//! a formula gets a `'` there too.
//!
//! ```
//! let mut lines = Vec::new();
//! audit_csv::write_line(&mut lines, ["user.created", "a,b", "=1+1"].into_iter());
//! assert_eq!(lines, b"user.created,\"a,b\",\"'=1+1\"\r\n");
//! ```
//!
//! Invariants, which `audit-properties` checks for any fields:
//! - A reader of CSV finds every field of a line of several fields as it was, but for the `'` before formulas.
//! - No field that a reader with the separator `,`, `;` or tab finds begins with a formula.

use std::borrow::Cow;

/// Writes the fields as a line.
///
/// A line of one empty field is an empty line, which readers skip.
pub fn write_line<'a>(lines: &mut Vec<u8>, fields: impl Iterator<Item = &'a str>) {
    for (index, field) in fields.enumerate() {
        if index > 0 {
            lines.push(b',');
        }
        write_field(lines, field);
    }
    lines.extend_from_slice(b"\r\n");
}

fn write_field(lines: &mut Vec<u8>, field: &str) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-');
    let is_formula = begins_formula(field);
    if !is_formula && field.bytes().all(is_plain) {
        lines.extend_from_slice(field.as_bytes());
        return;
    }
    let guarded = guarded(field);
    let field = guarded.as_bytes();
    lines.push(b'"');
    let start = lines.len();
    // Every byte may be a quote, which is written twice.
    lines.resize(start + 2 * field.len(), 0);
    let (_, _, written) = csv_core::quote(field, &mut lines[start..], b'"', b'"', true);
    lines.truncate(start + written);
    lines.push(b'"');
}

/// A text with a `'` before each formula: at its begin, and behind what some program takes for a separator, with the
/// white space and quotes that programs skip there.
fn guarded(field: &str) -> Cow<'_, str> {
    let mut guarded = String::new();
    let mut copied = 0;
    let mut is_start = true;
    for (index, character) in field.char_indices() {
        let is_separator = matches!(character, ';' | '\t' | '\r' | '\n');
        let is_formula = is_start && is_operator(character) || index == 0 && begins_formula(field);
        if is_formula {
            guarded.push_str(&field[copied..index]);
            guarded.push('\'');
            copied = index;
        }
        is_start = is_separator || is_start && !is_formula && (character.is_whitespace() || character == '"');
    }
    if copied == 0 && guarded.is_empty() {
        return Cow::Borrowed(field);
    }
    guarded.push_str(&field[copied..]);
    Cow::Owned(guarded)
}

/// What a formula begins with, also in full-width form.
const fn is_operator(character: char) -> bool {
    matches!(character, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠')
}

/// Whether a spreadsheet may evaluate a text that begins like this: an operator, or white space that some programs skip
/// before one.
fn begins_formula(field: &str) -> bool {
    let first = field.chars().next();
    first.is_some_and(|first| is_operator(first) || matches!(first, '\t' | '\r' | '\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(text: &str) -> String {
        let mut lines = Vec::new();
        write_field(&mut lines, text);
        String::from_utf8(lines).unwrap()
    }

    #[test]
    fn what_is_no_plain_word_is_quoted() {
        for plain in [
            "",
            "user.created",
            "evt_01",
            "2026-01-15T10:30:00.000Z",
            "sha256:0a",
        ] {
            assert_eq!(field(plain), plain);
        }
        assert_eq!(field("a,b"), "\"a,b\"");
        assert_eq!(field("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(field("two\r\nlines"), "\"two\r\nlines\"");
        assert_eq!(field("a;b"), "\"a;b\"");
        assert_eq!(field("é"), "\"é\"");
    }

    #[test]
    fn what_begins_like_a_formula_is_made_a_text() {
        for first in ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"] {
            let formula = format!("{first}1+1");
            assert_eq!(field(&formula), format!("\"'{formula}\""));
        }
        assert_eq!(field("=a\"b"), "\"'=a\"\"b\"");
        assert_eq!(field("a=1"), "\"a=1\"");
        assert_eq!(field("'=1"), "\"'=1\"");
    }

    /// Excel splits at `;` or a tab in most of Europe. The quote at the begin of the comma-separated field is then within
    /// a field, where it has no meaning.
    #[test]
    fn what_begins_a_formula_behind_another_separator_is_made_a_text() {
        for separator in [";", "\t", "\r\n", "\n", "; ", ";\u{a0}"] {
            for operator in ["=", "+", "-", "@", "＝"] {
                assert_eq!(
                    field(&format!("a{separator}{operator}1;b")),
                    format!("\"a{separator}'{operator}1;b\"")
                );
            }
        }
        assert_eq!(field("a;\"=1\""), "\"a;\"\"'=1\"\"\"");
        assert_eq!(field(";=1;=2"), "\";'=1;'=2\"");
        assert_eq!(field("=1;@2"), "\"'=1;'@2\"");
        assert_eq!(field(" =1"), "\" '=1\"");
        assert_eq!(field("a;b=1-2 @c"), "\"a;b=1-2 @c\"");
        // A comma separates nothing within quotes.
        assert_eq!(field("[1,-2]"), "\"[1,-2]\"");
    }

    #[test]
    fn a_csv_reader_finds_every_field_as_it_was() {
        let fields = [
            "",
            "word",
            "\"",
            "say \"hi\"",
            "a,b;c",
            "two\r\nlines",
            "\"\"\"",
            "é",
            "",
        ];
        let mut line = Vec::new();
        write_line(&mut line, fields.into_iter());
        let (mut text, mut ends) = ([0; 256], [0; 16]);
        let (result, read, _, count) = csv_core::Reader::new().read_record(&line, &mut text, &mut ends);
        // A reader counts the line feed of the CRLF as part of the next record.
        assert_eq!(
            (result, read),
            (csv_core::ReadRecordResult::Record, line.len() - 1)
        );
        let mut start = 0;
        let found = ends[..count].iter().map(|end| {
            let field = &text[start..*end];
            start = *end;
            std::str::from_utf8(field).unwrap()
        });
        assert_eq!(found.collect::<Vec<_>>(), fields);
    }
}
