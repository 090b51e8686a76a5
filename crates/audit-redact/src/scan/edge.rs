//! Where a match may begin and end: a letter or digit next to it blocks it, anything else does not.

/// Whether the character before `start` keeps a match from beginning there.
pub(crate) fn blocked_before(text: &str, start: usize) -> bool {
    match text[..start].chars().next_back() {
        Some(ch) => ch.is_alphanumeric() && !ends_with_escape(text.as_bytes(), start),
        None => false,
    }
}

/// Whether the character at `end` keeps a match from ending there.
pub(crate) fn blocked_after(text: &str, end: usize) -> bool {
    match text.as_bytes().get(end) {
        Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric(),
        Some(_) => text[end..].chars().next().is_some_and(char::is_alphanumeric),
        None => false,
    }
}

/// Whether the letters or digits before `end` belong to an escape of some punctuation: `%3D`, `\n`, `\u003d`.
pub(crate) fn ends_with_escape(bytes: &[u8], end: usize) -> bool {
    if let Some(decoded) = percent_escape_before(bytes, end) {
        return !decoded.is_ascii_alphanumeric();
    }
    if end >= 2 && bytes[end - 2] == b'\\' && matches!(bytes[end - 1], b'n' | b't' | b'r' | b'b' | b'f') {
        return true;
    }
    end >= 6 && &bytes[end - 6..end - 4] == b"\\u" && bytes[end - 4..end].iter().all(u8::is_ascii_hexdigit)
}

/// The byte that `%XX` directly before `end` stands for.
pub(crate) fn percent_escape_before(bytes: &[u8], end: usize) -> Option<u8> {
    percent_escape_at(bytes, end.checked_sub(3)?)
}

/// The byte that `%XX` at `start` stands for.
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
}
