//! Lines of CSV, with fields that clients chose.

use crate::{seeds, text};
use audit_csv::{Dialect, Separator};
use csv_core::{ReadRecordResult, ReaderBuilder};

/// Separates the fields of an input: no other character is as useless in a field.
const FIELD_END: char = '\u{1f}';
/// What programs take for the separator.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];
const OPERATORS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// A reader of CSV finds every field as it was, but for the `'` before formulas and the form that Excel keeps as a text, and whatever it takes
/// for the separator, no field begins with another formula. The fields of the input are separated by U+001F.
pub fn csv(bytes: &[u8]) -> bool {
    // A line of one empty field is an empty line, which a reader skips.
    let Some(text) = text(bytes).filter(|text| !text.is_empty()) else {
        return false;
    };
    let fields: Vec<&str> = text.split(FIELD_END).collect();
    for (separator, byte) in [(Separator::Comma, b','), (Separator::Semicolon, b';')] {
        for is_for_excel in [false, true] {
            let dialect = Dialect {
                separator,
                is_for_excel,
            };
            check_line(dialect, byte, &fields);
        }
    }
    true
}

fn check_line(dialect: Dialect, own: u8, fields: &[&str]) {
    let mut line = Vec::new();
    dialect.write_line(&mut line, fields.iter().copied());
    let line = String::from_utf8(line).expect("fields are text");
    for separator in SEPARATORS {
        let records = records(line.as_bytes(), separator);
        let is_own = separator == own;
        for field in records.iter().flatten() {
            let is_kept = is_own && dialect.is_for_excel && kept_text(field).is_some();
            assert!(
                is_kept || !begins_formula(field),
                "{separator}: {field:?} of {line:?}"
            );
        }
        if is_own {
            let [found] = records.as_slice() else {
                panic!("one line, read as {records:?}");
            };
            assert_eq!(found.len(), fields.len(), "{line:?}");
            for (found, field) in found.iter().zip(fields) {
                let is_kept = dialect.is_for_excel && kept_text(found) == Some(*field);
                assert!(is_kept || is_guarded(found, field), "{found:?} was {field:?}");
            }
        }
    }
    // A program that knows no quotes.
    let is_end =
        |character| matches!(character, ',' | ';' | '\t' | '\r' | '\n') && character != char::from(own);
    for field in line.split(is_end) {
        assert!(
            !begins_formula(field.trim_start_matches('"')),
            "{field:?} of {line:?}"
        );
    }
}

/// The text that Excel finds in a formula that is nothing but a text.
fn kept_text(field: &str) -> Option<&str> {
    let text = field.strip_prefix("=\"")?.strip_suffix('"')?;
    let begins_digit = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
    let is_inside = !text.contains(['"', ';', '\t', '\r', '\n']) && text.split(',').skip(1).all(begins_digit);
    is_inside.then_some(text)
}

/// The records that a reader finds.
fn records(line: &[u8], separator: u8) -> Vec<Vec<String>> {
    let mut reader = ReaderBuilder::new().delimiter(separator).build();
    let mut records = Vec::new();
    let (mut text, mut ends) = (vec![0; line.len() + 1], vec![0; line.len() + 2]);
    let mut rest = line;
    loop {
        let (result, read, _, count) = reader.read_record(rest, &mut text, &mut ends);
        rest = &rest[read..];
        match result {
            ReadRecordResult::Record => records.push(fields(&text, &ends[..count])),
            ReadRecordResult::End => return records,
            // The end of the input, which the next call gets as an empty one.
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                panic!("a record is not longer than its line")
            }
        }
    }
}

fn fields(text: &[u8], ends: &[usize]) -> Vec<String> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let fields = starts.zip(ends).map(|(start, end)| &text[start..*end]);
    fields
        .map(|field| String::from_utf8_lossy(field).into_owned())
        .collect()
}

/// Whether a spreadsheet takes the field for a formula: spaces before it do not matter.
fn begins_formula(field: &str) -> bool {
    field.trim_start().starts_with(OPERATORS)
}

/// Whether a field that was read is the written one with a `'` before some formulas.
fn is_guarded(found: &str, written: &str) -> bool {
    let mut written = written.chars().peekable();
    let mut found = found.chars().peekable();
    while let Some(character) = found.next() {
        if written.next_if_eq(&character).is_some() {
            continue;
        }
        let is_guard = character == '\''
            && found
                .peek()
                .is_some_and(|next| OPERATORS.contains(next) || matches!(next, '\t' | '\r' | '\n'));
        if !is_guard {
            return false;
        }
    }
    written.next().is_none()
}

/// Inputs of [`csv`].
pub fn csv_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        "user.created\u{1f}\u{1f}a,b\u{1f}say \"hi\"\u{1f}two\r\nlines",
        "=1+1\u{1f}a;=1\u{1f}a\t@1\u{1f}\r\n-1\u{1f}＋1\u{1f}'=1",
        "evt_1\u{1f}007\u{1f}1,=2\u{1f}1E5;\u{1f}+49 170\u{1f}2026-01-15\u{1f}x,\u{1f}1-2\u{1f}1;\"\u{1f}1\u{1f}1,5\u{1f}1,-5\u{1f},5\u{1f}1,\u{1f}1'000",
        "a;\"=1\u{1f}\";\" \u{a0}=1\u{1f};\u{1f}\"\u{1f}=",
    ])
}
