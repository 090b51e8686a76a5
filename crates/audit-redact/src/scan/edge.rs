//! The boundaries of a match: an adjacent letter or digit blocks it, any other character does not.

/// Whether the character before `start` prevents a match from beginning there.
pub(crate) fn blocked_before(text: &str, start: usize) -> bool {
    match text[..start].chars().next_back() {
        Some(ch) => ch.is_alphanumeric() && !ends_with_escape(text.as_bytes(), start),
        None => false,
    }
}

/// Whether the character at `end` prevents a match from ending there.
pub(crate) fn blocked_after(text: &str, end: usize) -> bool {
    match text.as_bytes().get(end) {
        Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric(),
        Some(_) => text[end..].chars().next().is_some_and(char::is_alphanumeric),
        None => false,
    }
}

/// Whether the letters or digits before `end` are part of an escaped non-alphanumeric character: `%3D`, `\n`,
/// `\u003d`.
pub(crate) fn ends_with_escape(bytes: &[u8], end: usize) -> bool {
    if let Some(decoded) = percent_escape_before(bytes, end) {
        return !decoded.is_ascii_alphanumeric();
    }
    end.checked_sub(2)
        .is_some_and(|start| is_letter_escape(&bytes[start..end]))
        || unicode_escape_before(bytes, end).is_some()
}

/// The length of the escaped non-alphanumeric character at `start`, or zero.
pub(crate) fn escape_len(bytes: &[u8], start: usize) -> usize {
    match bytes.get(start) {
        Some(b'%') if percent_escape_at(bytes, start).is_some_and(|byte| !byte.is_ascii_alphanumeric()) => 3,
        Some(b'\\') if is_letter_escape(&bytes[start..]) => 2,
        Some(b'\\') if unicode_escape_before(bytes, start + 6).is_some() => 6,
        _ => 0,
    }
}

/// Whether the bytes begin with `\n`, `\t`, `\r`, `\b` or `\f`.
fn is_letter_escape(bytes: &[u8]) -> bool {
    matches!(bytes, [b'\\', b'n' | b't' | b'r' | b'b' | b'f', ..])
}

/// The UTF-16 unit encoded by a `\uXXXX` that ends at `end`.
pub(crate) fn unicode_escape_before(bytes: &[u8], end: usize) -> Option<u16> {
    match bytes.get(end.checked_sub(6)?..end)? {
        [b'\\', b'u', digits @ ..] => digits
            .iter()
            .try_fold(0, |unit, digit| Some(unit << 4 | u16::from(hex_value(*digit)?))),
        _ => None,
    }
}

/// The byte encoded by a `%XX` that ends at `end`.
pub(crate) fn percent_escape_before(bytes: &[u8], end: usize) -> Option<u8> {
    percent_escape_at(bytes, end.checked_sub(3)?)
}

/// The byte encoded by a `%XX` at `start`.
pub(crate) fn percent_escape_at(bytes: &[u8], start: usize) -> Option<u8> {
    match bytes.get(start..start + 3)? {
        [b'%', high, low] => Some(hex_value(*high)? << 4 | hex_value(*low)?),
        _ => None,
    }
}

fn hex_value(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_digits_block_and_escapes_do_not() {
        for (before, blocked) in [
            ("", false),
            ("_", false),
            ("x", true),
            ("ß", true),
            ("7", true),
            ("%3D", false),
            ("%41", true),
            ("\\n", false),
            ("\\u003d", false),
            ("n", true),
        ] {
            assert_eq!(blocked_before(before, before.len()), blocked, "{before}");
        }
    }

    #[test]
    fn escaped_punctuation_has_a_length_and_an_escaped_letter_has_none() {
        for (text, len) in [
            ("%3Dx", 3),
            ("%41x", 0),
            ("\\nx", 2),
            ("\\x", 0),
            ("\\u003dx", 6),
            ("\\u003", 0),
            ("x", 0),
            ("", 0),
        ] {
            assert_eq!(escape_len(text.as_bytes(), 0), len, "{text}");
        }
    }
}
