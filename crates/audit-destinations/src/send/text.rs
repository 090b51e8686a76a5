//! Texts about an attempt.

/// The most bytes of a response that are shown.
const SHOWN_BYTES_MAX: usize = 500;

/// The first bytes of `text`, with control characters, and those that change the direction of text or have no width, escaped.
pub(super) fn shown(text: &str) -> String {
    let mut end = text.len().min(SHOWN_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut shown = String::with_capacity(end);
    for c in text[..end].chars() {
        match c {
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
                shown.extend(c.escape_unicode());
            }
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

/// `POST https://host/… 12 records, 10,340 bytes`.
pub(super) fn request(method: &str, target: &str, records: usize, bytes: usize) -> String {
    let noun = if records == 1 { "record" } else { "records" };
    format!(
        "{method} {target} {} {noun}, {} bytes",
        grouped(records),
        grouped(bytes)
    )
}

/// A number with a comma after each group of three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_is_described_with_its_size() {
        assert_eq!(
            request("POST", "https://siem.example/…", 12, 10_340),
            "POST https://siem.example/… 12 records, 10,340 bytes"
        );
        assert_eq!(
            request("PUT", "x", 1, 1_234_567),
            "PUT x 1 record, 1,234,567 bytes"
        );
        assert_eq!(request("PUT", "x", 100, 999), "PUT x 100 records, 999 bytes");
    }

    #[test]
    fn control_characters_and_reordering_are_escaped() {
        assert_eq!(
            shown("a\u{1b}[31m\r\nb\0\u{202e}c\u{feff}é"),
            "a\\u{1b}[31m\\r\\nb\\u{0}\\u{202e}c\\u{feff}é"
        );
    }

    #[test]
    fn a_response_is_cut_at_a_character() {
        assert_eq!(shown(&"x".repeat(501)).len(), 500);
        assert_eq!(shown(&format!("x{}", "é".repeat(300))).len(), 499);
    }

    proptest! {
        #[test]
        fn nothing_shown_has_control_characters(text in "\\PC{0,300}|[\\x00-\\x20\u{80}-\u{9f}]{0,300}") {
            prop_assert!(!shown(&text).chars().any(char::is_control));
        }
    }
}
