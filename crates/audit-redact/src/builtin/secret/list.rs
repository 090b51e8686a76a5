//! Further values of one name: lists, and the value behind an arrow in a difference.

use super::name::Name;
use super::sides::{Value, value_at};
use super::value::{Place, secret_in, stands_out};
use crate::scan::Span;

/// What stands between the value before a change and the one after it.
const ARROWS: &[&str] = &[" -> ", " → ", " => "];

/// The start of the first code of a list that has a line for each.
pub(super) fn first_line(text: &str, from: usize) -> usize {
    let is_list = text[from..].starts_with(['\n', '\r']);
    let marks = |ch: char| is_list && matches!(ch, '\n' | '\r' | ' ' | '-' | '*');
    text.len() - text[from..].trim_start_matches(marks).len()
}

/// Finds the secrets behind the first one: those of a list behind the plural of a name (`passwords: one, two`), and the one behind an
/// arrow. Returns the offset behind them.
pub(super) fn find_further(
    text: &str,
    name: Name,
    separator: usize,
    first: Value,
    hit: &mut impl FnMut(Span),
) -> usize {
    if let Some(next) = changed_value(text, name, first.rest) {
        hit(next.span);
        return next.rest;
    }
    if !ends_plural(&text.as_bytes()[..separator]) {
        return first.rest;
    }
    let len = first.span.len();
    let mut at = first.rest;
    while let Some(from) = next_item(text, at, name) {
        let (span, place, rest) = value_at(text, from, first.place);
        // A word, or the name of the next value, is no secret.
        let next = &text[span.start..span.end];
        let is_listed = text[..from].ends_with(',') || span.len() == len;
        if !is_listed || next.contains(['=', ':']) || !stands_out(next) {
            break;
        }
        let Some(secret) = secret_in(name, text, span, place) else {
            break;
        };
        hit(secret);
        at = rest;
    }
    at
}

/// The start of the next item of a list, behind a comma. Codes are also separated by spaces and lines.
fn next_item(text: &str, end: usize, name: Name) -> Option<usize> {
    let bytes = text.as_bytes();
    let end = end + usize::from(matches!(bytes.get(end), Some(b'"' | b'\'')));
    let is_next = match bytes.get(end)? {
        b',' => true,
        b' ' | b'\n' => name == Name::Code,
        _ => false,
    };
    is_next.then_some(end + 1)
}

/// The secret behind an arrow and a value that ends at `end`: `"old" -> "new"`.
pub(super) fn changed_value(text: &str, name: Name, end: usize) -> Option<Value> {
    let rest = &text[end..];
    let rest = rest.strip_prefix(['"', '\'', ')', ']']).unwrap_or(rest);
    let arrow = ARROWS.iter().find(|arrow| rest.starts_with(**arrow))?;
    let (span, place, rest) = value_at(text, text.len() - rest.len() + arrow.len(), Place::Assigned);
    let span = secret_in(name, text, span, place)?;
    Some(Value { span, place, rest })
}

/// Whether the name before a separator is a plural, as `tokens` is and `pass` is not.
fn ends_plural(before: &[u8]) -> bool {
    const GAP_BYTES_MAX: usize = 4;
    let name = before
        .iter()
        .rev()
        .take(GAP_BYTES_MAX)
        .position(u8::is_ascii_alphabetic)
        .map_or(before, |gap| &before[..before.len() - gap]);
    matches!(name, [.., before, b's' | b'S'] if !before.eq_ignore_ascii_case(&b's'))
}
