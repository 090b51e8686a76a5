//! E-mail addresses.

mod domain;

use crate::scan::edge::{percent_escape_before, unicode_escape_before};
use crate::scan::{Span, Subject};
use crate::work;

/// Most characters of a local part.
const LOCAL_CHARS_MAX: usize = 64;

pub(super) fn find(subject: Subject<'_>, mut hit: impl FnMut(Span)) {
    let text = subject.text;
    let bytes = text.as_bytes();
    let mut floor = 0;
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(|byte| matches!(byte, b'@' | b'%')) {
        let at_sign = at + offset;
        let at_sign_len = if bytes[at_sign] == b'@' { 1 } else { 3 };
        at = at_sign + 1;
        work::bytes_read(offset + 1);
        if at_sign_len == 3 && !bytes[at_sign..].starts_with(b"%40") {
            continue;
        }
        let Some(end) = domain::end(text, at_sign + at_sign_len) else {
            continue;
        };
        let Some(start) = local_start(text, floor, at_sign) else {
            continue;
        };
        if is_remote(text, start, at_sign, end) {
            continue;
        }
        hit(Span::new(start, end));
        floor = end;
        at = end;
    }
}

/// The start of the local part that ends at `end`.
fn local_start(text: &str, floor: usize, end: usize) -> Option<usize> {
    let before = &text[floor..end];
    if before.ends_with('"')
        && let Some(len) = quoted_len(before)
    {
        return Some(end - len);
    }
    let mut start = end;
    let mut chars = 0;
    while start > floor {
        let (width, belongs) = step_back(text, floor, start);
        if !belongs {
            break;
        }
        start -= width;
        chars += 1;
        if chars > LOCAL_CHARS_MAX {
            return None;
        }
    }
    let start = skip_escape_letter(text, start);
    let local = &text[start..end];
    let trimmed = local.trim_start_matches(['.', '-', '\'', '!', '#', '$', '~', '^', '%']);
    trimmed
        .contains(char::is_alphanumeric)
        .then(|| end - trimmed.len())
}

/// The length of the character or escape before `at`, and whether it may be part of a local part.
fn step_back(text: &str, floor: usize, at: usize) -> (usize, bool) {
    let bytes = text.as_bytes();
    if at >= floor + 3
        && let Some(decoded) = percent_escape_before(bytes, at)
    {
        let belongs = !decoded.is_ascii() || decoded.is_ascii_alphanumeric() || b"+.-_'".contains(&decoded);
        return (3, belongs);
    }
    if at >= floor + 6
        && let Some(unit) = unicode_escape_before(bytes, at)
    {
        let belongs = char::from_u32(u32::from(unit)).is_some_and(char::is_alphanumeric);
        return (6, belongs);
    }
    let Some(ch) = text[floor..at].chars().next_back() else {
        return (0, false);
    };
    let belongs = match ch {
        '.' | '_' | '+' | '-' | '!' | '#' | '$' | '%' | '~' | '^' => true,
        // An apostrophe as in `o'brien`, not a quotation mark.
        '\'' => {
            at < text.len()
                && text[at..].starts_with(char::is_alphanumeric)
                && text[floor..at - 1].ends_with(char::is_alphanumeric)
        }
        '=' => is_tagged_sender(&text[floor..at - 1]),
        _ => ch.is_alphanumeric() || is_mark(ch),
    };
    (ch.len_utf8(), belongs)
}

/// Whether the character combines with the letter before it.
fn is_mark(ch: char) -> bool {
    matches!(ch, '\u{300}'..='\u{36f}' | '\u{93e}'..='\u{94d}' | '\u{200c}' | '\u{200d}')
}

/// Whether an `=` behind this text belongs to a tagged sender, as in `bounces+jane=example.com@…`. Otherwise it
/// separates a key from a value.
fn is_tagged_sender(before: &str) -> bool {
    let reach = before.len().saturating_sub(LOCAL_CHARS_MAX);
    let bytes = &before.as_bytes()[reach..];
    let word_start = bytes
        .iter()
        .rposition(|byte| !(byte.is_ascii_alphanumeric() || b"+-._=".contains(byte)))
        .map_or(0, |at| at + 1);
    let word = &bytes[word_start..];
    word.contains(&b'+')
        || [b"prvs".as_slice(), b"SRS0", b"SRS1"]
            .iter()
            .any(|tag| word.get(..4).is_some_and(|head| head.eq_ignore_ascii_case(tag)))
}

/// Skips the `n` of a `\n` before an address.
fn skip_escape_letter(text: &str, start: usize) -> usize {
    let escape = text[..start].ends_with('\\') && text[start..].starts_with(['n', 't', 'r']);
    if escape { start + 1 } else { start }
}

/// The length of the quoted local part at the end of `before`, quotation marks included.
fn quoted_len(before: &str) -> Option<usize> {
    let inside = &before[..before.len() - 1];
    // In JSON inside a string the quotation marks are escaped.
    let inside = inside.strip_suffix('\\').unwrap_or(inside);
    let mut chars = 0;
    for (at, ch) in inside.char_indices().rev() {
        if ch == '"' {
            let escaped = inside[..at].ends_with('\\');
            let start = if escaped { at - 1 } else { at };
            let opens = !inside[..start].ends_with(|ch: char| ch.is_alphanumeric());
            let json_value = inside[at + 1..].contains([':', ',', '{', '}']);
            return (chars > 0 && opens && !json_value).then(|| before.len() - start);
        }
        chars += 1;
        if chars > LOCAL_CHARS_MAX || ch == '\n' {
            return None;
        }
    }
    None
}

/// Whether the match is an account on a host and not a mailbox: `git@host:path`, `ssh://git@host/path`, or the user
/// and password of a URL.
fn is_remote(text: &str, start: usize, at_sign: usize, end: usize) -> bool {
    let behind = text[end..].chars().next();
    if &text[start..at_sign] == "git" && matches!(behind, Some(':' | '/')) {
        return true;
    }
    if text.as_bytes()[at_sign] != b'@' {
        return false;
    }
    const URL_USER_BYTES_MAX: usize = 256;
    let mut reach = start.saturating_sub(URL_USER_BYTES_MAX);
    while !text.is_char_boundary(reach) {
        reach += 1;
    }
    let before = &text[reach..start];
    let user = before
        .rfind(|ch: char| matches!(ch, '/' | '?' | '#' | '@') || ch.is_whitespace())
        .map_or("", |at| &before[at..]);
    user.starts_with('/')
        && before[..before.len() - user.len()].ends_with(":/")
        && (user == "/" || user.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut spans = Vec::new();
        find(
            Subject {
                key: "",
                text,
                integer: false,
            },
            |span| spans.push(&text[span.start..span.end]),
        );
        spans
    }

    #[test]
    fn the_span_of_an_address_is_exact() {
        for (text, addresses) in [
            (
                "mail jane.doe+tag@example.co.uk, please",
                vec!["jane.doe+tag@example.co.uk"],
            ),
            ("email=jane@example.com&x=1", vec!["jane@example.com"]),
            ("q=jane%40example.com%26", vec!["jane%40example.com"]),
            ("to%3Djane%2Btag%40example.com", vec!["jane%2Btag%40example.com"]),
            ("<jörg@münchen.de>", vec!["jörg@münchen.de"]),
            ("\"john doe\"@example.com", vec!["\"john doe\"@example.com"]),
            (r#"{"from":"a@b.io","to":"c@d.io"}"#, vec!["a@b.io", "c@d.io"]),
            (
                "o'brien@example.com and 'x@example.com'",
                vec!["o'brien@example.com", "x@example.com"],
            ),
            ("line\\njane@example.com", vec!["jane@example.com"]),
            (
                "bounces+jane=example.com@lists.example.org",
                vec!["bounces+jane=example.com@lists.example.org"],
            ),
            ("\\u003cjane@example.com\\u003e", vec!["jane@example.com"]),
            ("j\\u00f6rg@example.com", vec!["j\\u00f6rg@example.com"]),
            (
                "http://localhost:3000?email=jane@example.com",
                vec!["jane@example.com"],
            ),
            ("jane@example.com.", vec!["jane@example.com"]),
            ("jane@x.com.csv", vec!["jane@x.com"]),
        ] {
            assert_eq!(found(text), addresses, "{text}");
        }
    }

    #[test]
    fn an_at_sign_alone_is_no_address() {
        for text in [
            "logo@2x.png",
            "react@18.2.0",
            "@babel/core@7.22.5-beta.rc",
            "git@github.com:org/repo.git",
            "ssh://git@github.com/org/repo.git",
            "https://user:secret@db.example.com/x",
            "actions/checkout@v4.1.1",
            "jane@localhost",
            "a***@example.com",
            "user@192.168.0.1",
            "@example.com",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn a_local_part_has_at_most_sixty_four_characters() {
        let address = |chars: usize| format!("{}@example.com", "ä".repeat(chars));
        assert_eq!(found(&address(64)).len(), 1);
        assert_eq!(found(&address(65)).len(), 0);
    }
}
