//! Separators between groups of digits.

use super::edge::percent_escape_at;

/// A separator between two groups of digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// A tab, a space of any width, breaking or not, or `%20`; or two of them.
    Space,
    /// A hyphen or any other dash.
    Dash,
    Dot,
    /// A space in form encoding.
    Plus,
    Underscore,
    Slash,
}

/// The separator at `at` and its length in bytes.
pub(crate) fn separator_at(text: &str, at: usize) -> Option<(Separator, usize)> {
    let (separator, len) = single_at(text, at)?;
    if separator == Separator::Space
        && let Some((Separator::Space, second)) = single_at(text, at + len)
    {
        return Some((separator, len + second));
    }
    Some((separator, len))
}

fn single_at(text: &str, at: usize) -> Option<(Separator, usize)> {
    let bytes = text.as_bytes();
    match bytes.get(at)? {
        b' ' | b'\t' => Some((Separator::Space, 1)),
        b'-' => Some((Separator::Dash, 1)),
        b'.' => Some((Separator::Dot, 1)),
        b'+' => Some((Separator::Plus, 1)),
        b'_' => Some((Separator::Underscore, 1)),
        b'/' => Some((Separator::Slash, 1)),
        b'%' => match percent_escape_at(bytes, at)? {
            b' ' => Some((Separator::Space, 3)),
            b'-' => Some((Separator::Dash, 3)),
            _ => None,
        },
        byte if byte.is_ascii() => None,
        _ => {
            let ch = text.get(at..)?.chars().next()?;
            if is_wide_space(ch) {
                Some((Separator::Space, ch.len_utf8()))
            } else if is_wide_dash(ch) {
                Some((Separator::Dash, ch.len_utf8()))
            } else {
                None
            }
        }
    }
}

/// The separator that ends at `end` and its length in bytes.
pub(crate) fn separator_before(text: &str, end: usize) -> Option<(Separator, usize)> {
    let (separator, len) = single_before(text, end)?;
    if separator == Separator::Space
        && let Some((Separator::Space, first)) = single_before(text, end - len)
    {
        return Some((separator, first + len));
    }
    Some((separator, len))
}

fn single_before(text: &str, end: usize) -> Option<(Separator, usize)> {
    let ch = text[..end].chars().next_back()?;
    let start = end - ch.len_utf8();
    if let Some((separator, len)) = single_at(text, start)
        && len == ch.len_utf8()
    {
        return Some((separator, len));
    }
    let escape = end.checked_sub(3)?;
    single_at(text, escape).filter(|(_, len)| *len == 3 && text.as_bytes()[escape] == b'%')
}

fn is_wide_space(ch: char) -> bool {
    matches!(
        ch,
        '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{202f}' | '\u{205f}' | '\u{2060}' | '\u{3000}'
    )
}

fn is_wide_dash(ch: char) -> bool {
    matches!(
        ch,
        '\u{ad}' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
    )
}
