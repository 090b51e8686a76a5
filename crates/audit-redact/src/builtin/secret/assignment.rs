//! Names and values in a text: `password=…`, `"api_key": "…"`, `<password>…`, `?code=…`.

use super::name::{Name, may_end_parameter, may_end_secret};
use super::sides::{Value, last_letters, name_before, name_end, name_ending_at, value_at};
use super::value::{Place, has_digit, secret_in};
use super::{calls, list, markup, protocol, spoken};
use crate::scan::Span;
use crate::scan::edge::percent_escape_at;
use crate::work;

/// A value this long is not searched for further assignments.
const SKIPPED_BYTES_MIN: usize = 128;

/// By byte: whether it may separate a name from a value.
const SEPARATORS: [bool; 256] = {
    let mut separators = [false; 256];
    separators[b'=' as usize] = true;
    separators[b':' as usize] = true;
    separators[b'%' as usize] = true;
    separators[b' ' as usize] = true;
    separators[b'\t' as usize] = true;
    separators[b'(' as usize] = true;
    separators[b'>' as usize] = true;
    separators[0xef] = true;
    separators
};

pub(super) fn find(text: &str, hit: &mut impl FnMut(Span)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(|byte| SEPARATORS[usize::from(*byte)]) {
        let separator = at + offset;
        work::bytes_read(offset + 1);
        at = separator + 1;
        if matches!(bytes[separator], b' ' | b'\t') && !spoken::may_be_at(bytes, separator) {
            continue;
        }
        if let Some(secret) = further_form(text, separator) {
            hit(secret);
            at = secret.end;
            continue;
        }
        if let Some(secret) = spoken::code_before(text, separator) {
            hit(secret);
        }
        let Some((name, value_start, place)) = assignment_at(text, separator) else {
            continue;
        };
        let value_start = if name == Name::Code {
            list::first_line(text, value_start)
        } else {
            value_start
        };
        let (mut span, place, mut rest) = value_at(text, value_start, place);
        if name == Name::Authorization {
            span.end = scheme_end(text, span);
            rest = rest.max(span.end);
        }
        if let Some(secret) = secret_in(name, text, span, place) {
            if name == Name::Cookie && !ends_with_set_cookie(&bytes[..separator]) {
                rest = cookies_end(text, rest);
                hit(Span::new(secret.start, rest.max(secret.end)));
            } else {
                hit(secret);
            }
            at = list::find_further(
                text,
                name,
                separator,
                Value {
                    span: secret,
                    place,
                    rest,
                },
                hit,
            );
        } else if let Some(next) = list::changed_value(text, name, rest) {
            hit(next.span);
            at = next.rest;
        } else if span.len() >= SKIPPED_BYTES_MIN {
            at = rest;
        }
        at = at.max(separator + 1);
    }
}

/// A secret that is no value of a name: an argument of a call or of a command of a protocol.
fn further_form(text: &str, separator: usize) -> Option<Span> {
    match text.as_bytes()[separator] {
        b'(' => calls::at(text, separator),
        b' ' => protocol::at(text, separator),
        _ => None,
    }
}

/// The end of the credentials behind a scheme: `Authorization: Token 0123…`.
fn scheme_end(text: &str, value: Span) -> usize {
    let scheme = &text[value.start..value.end];
    let Some(rest) = text[value.end..].strip_prefix(' ') else {
        return value.end;
    };
    let ends = |ch: char| ch.is_ascii_whitespace() || matches!(ch, '"' | '\'' | ',' | ';');
    let credentials = &rest[..rest.find(ends).unwrap_or(rest.len())];
    work::bytes_read(credentials.len());
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphabetic());
    // `Digest username="…"` has parameters.
    if is_scheme && has_digit(credentials) && !credentials.ends_with('=') {
        value.end + 1 + credentials.len()
    } else {
        value.end
    }
}

fn ends_with_set_cookie(before: &[u8]) -> bool {
    const SET_COOKIE: &[u8] = b"set-cookie";
    let before = before.trim_ascii_end();
    before
        .len()
        .checked_sub(SET_COOKIE.len())
        .is_some_and(|at| before[at..].eq_ignore_ascii_case(SET_COOKIE))
}

/// The end of the pairs behind the first one of a `Cookie` header (RFC 6265, section 4.2.1).
fn cookies_end(text: &str, from: usize) -> usize {
    let mut end = from;
    while let Some(rest) = text[end..].strip_prefix("; ") {
        let ends = |ch: char| ch.is_ascii_whitespace() || matches!(ch, ';' | '"' | '\'');
        let pair = &rest[..rest.find(ends).unwrap_or(rest.len())];
        work::bytes_read(pair.len());
        if !pair.contains('=') {
            break;
        }
        end = text.len() - rest.len() + pair.len();
    }
    end
}

/// The name before a separator, the start of the value behind it, and the place of the value.
fn assignment_at(text: &str, separator: usize) -> Option<(Name, usize, Place)> {
    let bytes = text.as_bytes();
    let (end, start, place) = match bytes[separator] {
        b'=' => {
            // `:=`, `=>` and `== 'value'`
            let end = separator - usize::from(separator > 0 && bytes[separator - 1] == b':');
            let is_compared = matches!(
                &bytes[separator + 1..],
                [b'=', b'"' | b'\'', ..] | [b'=', b' ', b'"' | b'\'', ..]
            );
            let is_arrow = bytes.get(separator + 1) == Some(&b'>');
            let start = separator + 1 + usize::from(is_arrow || is_compared);
            (end, start, Place::Assigned)
        }
        // `name := value` has the equals sign, and `token::Kind` is a path.
        b':' if matches!(bytes.get(separator + 1), Some(b'=' | b':')) => return None,
        b':' => (separator, separator + 1, Place::Prose),
        b'%' if percent_escape_at(bytes, separator) == Some(b'=') => {
            (separator, separator + 3, Place::Assigned)
        }
        b'%' if percent_escape_at(bytes, separator) == Some(b':') => (separator, separator + 3, Place::Prose),
        0xef if text[separator..].starts_with('：') => {
            (separator, separator + '：'.len_utf8(), Place::Prose)
        }
        b' ' | b'\t' => return spoken::at(text, separator),
        // `setPassword("value")`
        b'(' if matches!(bytes.get(separator + 1), Some(b'"' | b'\'')) => {
            (separator, separator + 1, Place::Assigned)
        }
        b'>' => return markup::element_at(text, separator),
        _ => return None,
    };
    let end = name_end(bytes, end);
    if place == Place::Prose && bytes.get(start) == Some(&b' ') && !may_end_secret(last_letters(bytes, end)) {
        return spoken::phrase_before(text, end).map(|(kind, place)| (kind, start, place));
    }
    if !(may_end_secret(last_letters(bytes, end))
        || place == Place::Assigned && may_end_parameter(&bytes[..end]))
    {
        return None;
    }
    let name = name_ending_at(text, end);
    // `arn:aws:secretsmanager:eu-west-1:123456789012:secret:name` is a path.
    if bytes[separator] == b':' && text[..name.start].ends_with(':') && bytes[name.start] != b' ' {
        return None;
    }
    let named = &text[name.start..name.end];
    if named.trim_start().eq_ignore_ascii_case("value") {
        return Some((pair_name(text, name.start)?, start, place));
    }
    let word = name.start + named.rfind(' ').map_or(0, |space| space + 1);
    let kind = if place != Place::Assigned {
        Name::in_text(named)
    } else if is_parameter(bytes, word, start) {
        // Behind the digits of `%3F` or `%26`.
        Name::of_parameter(named.trim_start_matches(|ch: char| ch.is_ascii_digit() || ch == 'F'))
    } else {
        Name::in_text(named)
    };
    Some((kind?, start, place))
}

/// The name before `value` in a pair such as `{"name": "password", "value": …}`, which ends before `end`.
fn pair_name(text: &str, end: usize) -> Option<Name> {
    const MARKS: &[char] = &['"', '\'', '\\', ',', ' '];
    const MARKS_MAX: usize = 8;
    let mut from = end.saturating_sub(MARKS_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let end = from + text[from..end].trim_end_matches(MARKS).len();
    let name = name_before(text, end)?;
    let before = text[..name.start].trim_end_matches(['"', '\'', '\\', ' ']);
    let is_pair = before.ends_with([':', '=']);
    Name::of(text[name.start..name.end].trim_start()).filter(|_| is_pair)
}

/// Whether a name is that of a parameter in a query or a form: behind `?` or `&`, or before a value that `&` ends.
fn is_parameter(bytes: &[u8], name: usize, value: usize) -> bool {
    let before = &bytes[..name];
    if matches!(before, [.., b'?' | b'&' | b'%'])
        || before.ends_with(b"&amp;")
        || before.ends_with(b"\\u0026")
    {
        return true;
    }
    // Only the first parameter of a form has nothing before it.
    if !matches!(before, [] | [.., b' ' | b'\n' | b'"' | b'\'']) {
        return false;
    }
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'&' | b'"' | b'\'' | b',');
    let len = bytes[value..].iter().position(ends);
    work::bytes_read(len.unwrap_or(bytes.len() - value));
    len.is_some_and(|len| bytes[value + len] == b'&')
}
