//! The output of the mask behaviour.

use crate::builtin::Builtin;
use crate::outputs::MASK_VISIBLE_CHARS;
use crate::scan::width::Narrowed;

/// Shortest text of unknown kind whose last characters stay visible.
const VISIBLE_FROM_CHARS: usize = 12;

/// Masks the text. `kind` is the kind of the whole text, if known.
pub(crate) fn mask(kind: Option<Builtin>, text: &str) -> String {
    // The digits of a full-width number are hidden like others.
    let text = &Narrowed::new(text).text;
    match kind {
        Some(Builtin::CreditCard) => format!("****-****-****-{}", last_digits(text)),
        Some(Builtin::Ssn) => format!("***-**-{}", last_digits(text)),
        Some(Builtin::Email) => mask_email(text),
        Some(Builtin::Phone) => mask_phone(text),
        _ => mask_any(text),
    }
}

fn last_digits(text: &str) -> String {
    let digits: Vec<char> = text.chars().filter(char::is_ascii_digit).collect();
    digits[digits.len().saturating_sub(MASK_VISIBLE_CHARS)..]
        .iter()
        .collect()
}

/// `a***@example.com`. The first character of a quoted local part is the one after the quote.
fn mask_email(text: &str) -> String {
    let domain = text.rfind('@').or_else(|| text.rfind("%40"));
    let first = text.trim_start_matches(['"', '\\']).chars().next();
    match (first, domain) {
        (Some(first), Some(at)) => {
            // Punctuation as the first character is masked too, so that the output has the form of a mask.
            let shown = if first.is_alphanumeric() { first } else { '*' };
            format!("{shown}***{}", &text[at..])
        }
        _ => mask_any(text),
    }
}

fn mask_phone(text: &str) -> String {
    // The digit of a percent-encoded plus sign is not part of the number.
    let plus = text
        .get(..3)
        .filter(|start| start.eq_ignore_ascii_case("%2b"))
        .unwrap_or_default();
    let rest = &text[plus.len()..];
    let hidden = rest
        .bytes()
        .filter(u8::is_ascii_digit)
        .count()
        .saturating_sub(MASK_VISIBLE_CHARS);
    let mut seen = 0;
    let starred = rest.chars().map(|ch| {
        seen += usize::from(ch.is_ascii_digit());
        if ch.is_ascii_digit() && seen <= hidden {
            '*'
        } else {
            ch
        }
    });
    plus.chars().chain(starred).collect()
}

fn mask_any(text: &str) -> String {
    let chars = text.chars().count();
    let visible = if chars >= VISIBLE_FROM_CHARS {
        MASK_VISIBLE_CHARS
    } else {
        0
    };
    let hidden = chars - visible;
    std::iter::repeat_n('*', hidden)
        .chain(text.chars().skip(hidden))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_own_mask() {
        for (kind, text, masked) in [
            (
                Some(Builtin::CreditCard),
                "4111 1111 1111 1234",
                "****-****-****-1234",
            ),
            (
                Some(Builtin::CreditCard),
                "378282246310005",
                "****-****-****-0005",
            ),
            (Some(Builtin::Ssn), "123-45-6789", "***-**-6789"),
            (Some(Builtin::Ssn), "123456789", "***-**-6789"),
            (Some(Builtin::Email), "ada@example.com", "a***@example.com"),
            (Some(Builtin::Email), "\"a b\"@example.com", "a***@example.com"),
            (Some(Builtin::Email), "ada%40example.com", "a***%40example.com"),
            (Some(Builtin::Phone), "+1 (555) 123-4567", "+* (***) ***-4567"),
            (Some(Builtin::Phone), "%2B15551234567", "%2B*******4567"),
            (
                Some(Builtin::AwsKey),
                "AKIAIOSFODNN7EXAMPLE",
                "****************MPLE",
            ),
            (None, "twelve chars", "********hars"),
            (None, "eleven char", "***********"),
        ] {
            assert_eq!(mask(kind, text), masked);
        }
    }
}
