//! Lines of CSV (RFC 4180), made to be opened in a spreadsheet.
//!
//! `csv-core` escapes the fields. Which of them are quoted is decided here, because no quote style of `csv` fits: a
//! text that a spreadsheet would evaluate as a formula gets a `'` before it (OWASP, "CSV Injection"), and every field
//! but a plain word is quoted. A program with another separator, such as Excel where the comma is the decimal separator,
//! ignores a quote that is not at the begin of what it takes for a field, and finds starts of fields within a field. So
//! a formula gets a `'` there too.
//!
//! Excel converts what looks like a number or a date, and so loses digits and leading zeros. [`Dialect::is_for_excel`] writes such a text as
//! `="…"`, a formula whose value is the text. It has no quote, line break or separator but a comma before a digit, so nothing in it is a
//! formula for a program that finds a field within it.
//!
//! ```
//! use audit_csv::{Dialect, Separator};
//!
//! let mut lines = Vec::new();
//! Dialect::PLAIN.write_line(&mut lines, ["user.created", "a,b", "=1+1"].into_iter());
//! assert_eq!(lines, b"user.created,\"a,b\",\"'=1+1\"\r\n");
//!
//! lines.clear();
//! let excel = Dialect { separator: Separator::Semicolon, is_for_excel: true };
//! excel.write_line(&mut lines, ["evt", "007", "=1+1"].into_iter());
//! assert_eq!(lines, b"evt;\"=\"\"007\"\"\";\"'=1+1\"\r\n");
//! ```
//!
//! Invariants, which `audit-properties` checks for any fields:
//! - A reader of CSV finds every field of a line of several fields as it was, but for the `'` before formulas and the form `="…"`.
//! - No field that a reader with the separator `,`, `;` or tab finds begins with a formula, other than the form `="…"` that a reader with
//!   the separator of the dialect finds.

use std::borrow::Cow;

/// Excel reads no longer text within a formula.
const EXCEL_TEXT_CHARS_MAX: usize = 255;

/// What separates the fields of a line. Not a tab, which programs skip before a formula: with a quote that they find to begin behind a text,
/// one would begin with the tab and the form `="…"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// `,`, as RFC 4180 says.
    Comma,
    /// `;`, which Excel expects where the comma is the decimal separator.
    Semicolon,
}

impl Separator {
    const fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
        }
    }
}

/// A field of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// A text, which stays one.
    Text(&'a str),
    /// A time or a number, which Excel may convert.
    Value(&'a str),
}

impl<'a> From<&'a str> for Field<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// What separates the fields.
    pub separator: Separator,
    /// Whether Excel keeps as a text whatever it would convert to a number or a date, except in the first field of a line: a program with
    /// another separator takes the whole line for that field.
    pub is_for_excel: bool,
}

impl Dialect {
    /// RFC 4180.
    pub const PLAIN: Self = Self {
        separator: Separator::Comma,
        is_for_excel: false,
    };

    /// Writes the fields as a line.
    ///
    /// A line of one empty field is an empty line, which readers skip.
    pub fn write_line<'a>(self, lines: &mut Vec<u8>, fields: impl Iterator<Item: Into<Field<'a>>>) {
        for (index, field) in fields.enumerate() {
            if index > 0 {
                lines.push(self.separator.byte());
            }
            match field.into() {
                Field::Text(text) if self.is_for_excel && index > 0 && is_converted(text) => {
                    write_quoted(lines, &format!("=\"{text}\""));
                }
                Field::Text(text) | Field::Value(text) => self.write_field(lines, text),
            }
        }
        lines.extend_from_slice(b"\r\n");
    }

    fn write_field(self, lines: &mut Vec<u8>, field: &str) {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-');
        if !begins_formula(field) && field.bytes().all(is_plain) {
            lines.extend_from_slice(field.as_bytes());
            return;
        }
        write_quoted(lines, &self.guarded(field));
    }

    /// A text with a `'` before each formula: at its begin, and behind what some program takes for a separator, with the
    /// white space and quotes that programs skip there.
    fn guarded(self, field: &str) -> Cow<'_, str> {
        let mut guarded = String::new();
        let mut copied = 0;
        let mut is_start = true;
        for (index, character) in field.char_indices() {
            // The separator of the dialect separates nothing within quotes.
            let is_separator = matches!(character, ',' | ';' | '\t' | '\r' | '\n')
                && character != char::from(self.separator.byte());
            let is_formula = is_start && is_operator(character) || index == 0 && begins_formula(field);
            if is_formula {
                guarded.push_str(&field[copied..index]);
                guarded.push('\'');
                copied = index;
            }
            is_start =
                is_separator || is_start && !is_formula && (character.is_whitespace() || character == '"');
        }
        if copied == 0 && guarded.is_empty() {
            return Cow::Borrowed(field);
        }
        guarded.push_str(&field[copied..]);
        Cow::Owned(guarded)
    }
}

fn write_quoted(lines: &mut Vec<u8>, field: &str) {
    let field = field.as_bytes();
    lines.push(b'"');
    let start = lines.len();
    // Every byte may be a quote, which is written twice.
    lines.resize(start + 2 * field.len(), 0);
    let (_, _, written) = csv_core::quote(field, &mut lines[start..], b'"', b'"', true);
    lines.truncate(start + written);
    lines.push(b'"');
}

/// Whether Excel may convert the text, in some language: it has a digit, and nothing that no number and no date has. Numbers lose what is
/// behind the 15th digit, and zeros at their begin; `1-2`, `MAR1` and `1E5` become dates and exponents. A text that is not converted
/// is the same in the form that this decides about.
///
/// The comma is the decimal separator or groups digits, as do apostrophes and spaces that do not break. It has to be before a digit: a
/// program that separates at commas finds the begin of a field behind it, where neither an operator nor the closing quote may be.
fn is_converted(text: &str) -> bool {
    let mut following = text.chars().skip(1);
    let mut is_of_number = |character: char| {
        let next = following.next();
        match character {
            ',' => next.is_some_and(|next| next.is_ascii_digit()),
            ' ' | '\u{a0}' | '\u{202f}' | '.' | ':' | '/' | '+' | '-' | '%' | '$' | '€' | '£' | '\''
            | '’' => true,
            _ => character.is_alphanumeric(),
        }
    };
    text.chars().any(char::is_numeric)
        && text.chars().all(&mut is_of_number)
        && text.chars().count() <= EXCEL_TEXT_CHARS_MAX
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
        Dialect::PLAIN.write_field(&mut lines, text);
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
        Dialect::PLAIN.write_line(&mut line, fields.into_iter());
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

    fn dialect(separator: Separator) -> Dialect {
        Dialect {
            separator,
            is_for_excel: true,
        }
    }

    /// The second field of a line for Excel.
    fn excel(separator: Separator, text: &str) -> String {
        let mut lines = Vec::new();
        dialect(separator).write_line(&mut lines, ["a", text].into_iter());
        String::from_utf8(lines).unwrap()
    }

    #[test]
    fn excel_keeps_as_text_what_it_would_convert() {
        for text in [
            "12345678901234567890",
            "007",
            "1-2",
            "2026-01-15",
            "1/2",
            "10:30",
            "MAR1",
            "März 3",
            "1E5",
            "12e3",
            "1.5",
            "50%",
            "$5",
            "+491701234567",
            "-5",
            "１２３",
            "1,5",
            ",5",
            "1,234.50",
            "-1.234,50",
            "1'000",
            "1’000,5",
            "1\u{a0}000",
            "1\u{202f}000,5",
        ] {
            for (separator, between) in [(Separator::Comma, ','), (Separator::Semicolon, ';')] {
                let expected = format!("a{between}\"=\"\"{text}\"\"\"\r\n");
                assert_eq!(excel(separator, text), expected);
            }
            // For programs nothing changes.
            assert!(!field(text).contains("=\"\""), "{text}");
        }
        for (text, written) in [
            ("user.created", "user.created"),
            ("evt_007", "evt_007"),
            ("", ""),
            ("Jane", "Jane"),
            ("-x", "\"'-x\""),
            ("=1+1", "\"'=1+1\""),
        ] {
            assert_eq!(excel(Separator::Comma, text), format!("a,{written}\r\n"));
        }
    }

    #[test]
    fn excel_converts_values() {
        let mut lines = Vec::new();
        let fields = [
            Field::Text("a"),
            Field::Value("2026-01-15 10:30:00"),
            Field::Value("=1"),
        ];
        dialect(Separator::Comma).write_line(&mut lines, fields.into_iter());
        assert_eq!(lines, b"a,\"2026-01-15 10:30:00\",\"'=1\"\r\n");
    }

    #[test]
    fn no_text_leaves_the_form_that_keeps_it() {
        for text in [
            "1\"&A1&\"",
            "1;=2",
            "1,=2",
            "1,-2",
            "1, +2",
            "1,",
            "1,a",
            "1\t=2",
            "1\n=2",
            "1\r\n=2",
            "1)",
            "1&2",
            "1\"",
            "@1",
            "=1",
        ] {
            for separator in [Separator::Comma, Separator::Semicolon] {
                assert!(!excel(separator, text).contains("\"=\"\""), "{text:?}");
            }
        }
        // A program with another separator takes the line for one field.
        let mut lines = Vec::new();
        dialect(Separator::Semicolon).write_line(&mut lines, ["007", "b"].into_iter());
        assert_eq!(lines, b"007;b\r\n");
    }

    #[test]
    fn the_longest_text_that_excel_reads_in_a_formula_has_255_characters() {
        let digits = "1".repeat(EXCEL_TEXT_CHARS_MAX);
        assert!(excel(Separator::Comma, &digits).contains('='));
        assert!(!excel(Separator::Comma, &format!("{digits}1")).contains('='));
    }

    #[test]
    fn a_formula_behind_another_separator_than_that_of_the_dialect_is_made_a_text() {
        for (separator, text, written) in [
            (Separator::Semicolon, "a,=1;=2", "a;\"a,'=1;=2\"\r\n"),
            (Separator::Comma, "a,=1;=2", "a,\"a,=1;'=2\"\r\n"),
        ] {
            assert_eq!(excel(separator, text), written);
        }
    }
}
