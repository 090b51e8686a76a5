//! Recognises the crate's own output.
//!
//! The output of every behaviour must not change when it is redacted again. Otherwise a pattern such as `[A-Z]+` would
//! turn `[REDACTED]` into `[[REDACTED]]`, and each further pass would add brackets.

use crate::hash::{DIGEST_HEX_CHARS, HMAC_PREFIX, SHA256_PREFIX};
use crate::scan::{Span, places};
use crate::work;

/// The output of the replace behaviour.
pub(crate) const REDACTED: &str = "[REDACTED]";

/// Fewest stars that the general mask writes before visible characters.
const MASK_STARS_MIN: usize = 8;

/// Characters that a mask leaves visible at the end.
pub(crate) const MASK_VISIBLE_CHARS: usize = 4;

/// The spans that no rule may touch again, in order: `[REDACTED]` and both hash forms, exactly as written.
pub(crate) fn protected_spans(text: &str) -> Vec<Span> {
    work::bytes_read(text.len());
    let mut spans: Vec<Span> = places(text, REDACTED)
        .map(|start| Span::new(start, start + REDACTED.len()))
        .collect();
    for at in places(text, SHA256_PREFIX) {
        let digest = at + SHA256_PREFIX.len();
        if is_digest(text.as_bytes(), digest) {
            let keyed = text[..at].ends_with(&HMAC_PREFIX[..HMAC_PREFIX.len() - SHA256_PREFIX.len()]);
            let start = if keyed {
                at + SHA256_PREFIX.len() - HMAC_PREFIX.len()
            } else {
                at
            };
            spans.push(Span::new(start, digest + DIGEST_HEX_CHARS));
        }
    }
    spans.sort_unstable();
    spans
}

fn is_digest(bytes: &[u8], start: usize) -> bool {
    let hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let end = start + DIGEST_HEX_CHARS;
    bytes.get(start..end).is_some_and(|digest| digest.iter().all(hex)) && !bytes.get(end).is_some_and(hex)
}

/// Whether the whole text is a hash form.
pub(crate) fn is_hash(text: &str) -> bool {
    let digest = text
        .strip_prefix(HMAC_PREFIX)
        .or_else(|| text.strip_prefix(SHA256_PREFIX));
    digest.is_some_and(|digest| digest.len() == DIGEST_HEX_CHARS && is_digest(digest.as_bytes(), 0))
}

/// Whether the whole text is a mask.
pub(crate) fn is_mask(text: &str) -> bool {
    mask_spans(text).first() == Some(&Span::new(0, text.len()))
}

/// The spans that have the form of a mask, in order: stars with at most four visible characters behind them, or a
/// masked e-mail address. A custom pattern's hit inside such a span is ignored, because it covers only characters that
/// a mask left visible on purpose. A hit that extends beyond the span counts.
pub(crate) fn mask_spans(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find('*') {
        let first = at + offset;
        let span = mask_at(text, at, first);
        work::bytes_read(span.end - at);
        at = span.end;
        spans.push(span);
    }
    spans
}

fn mask_at(text: &str, floor: usize, first: usize) -> Span {
    let bytes = text.as_bytes();
    let stars = bytes[first..].iter().take_while(|byte| **byte == b'*').count();
    let after = first + stars;
    if stars == 3
        && let Some(end) = masked_domain_end(text, after)
    {
        let start = text[floor..first]
            .chars()
            .next_back()
            .map_or(first, |shown| first - shown.len_utf8());
        return Span::new(start, end);
    }
    if stars >= MASK_STARS_MIN {
        let shown = text[after..]
            .chars()
            .take(MASK_VISIBLE_CHARS)
            .map(char::len_utf8)
            .sum::<usize>();
        return Span::new(first, after + shown);
    }
    let mut start = first;
    while start > floor && matches!(bytes[start - 1], b'+' | b'(') {
        start -= 1;
    }
    Span::new(start, masked_digits_end(text, after))
}

fn masked_domain_end(text: &str, after: usize) -> Option<usize> {
    let rest = &text[after..];
    let domain = rest.strip_prefix('@').or_else(|| rest.strip_prefix("%40"))?;
    let domain_len = domain
        .find(|ch: char| !(ch.is_alphanumeric() || matches!(ch, '.' | '-')))
        .unwrap_or(domain.len());
    work::bytes_read(domain_len);
    Some(text.len() - domain.len() + domain_len)
}

/// The end of a mask of stars, punctuation and at most four digits: `****-****-****-1234`, `***) ***-4567`.
fn masked_digits_end(text: &str, after: usize) -> usize {
    let mut end = after;
    let mut digits = 0;
    for (offset, ch) in text[after..].char_indices() {
        let next = after + offset + ch.len_utf8();
        work::bytes_read(ch.len_utf8());
        match ch {
            '*' if digits == 0 => end = next,
            '0'..='9' if digits < MASK_VISIBLE_CHARS => {
                digits += 1;
                end = next;
            }
            ' ' | '-' | '.' | '(' | ')' | '/' | '+' | '\u{a0}' | '\u{2010}'..='\u{2015}' => {}
            _ => break,
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, spans: Vec<Span>) -> Vec<&str> {
        spans
            .into_iter()
            .map(|span| &text[span.start..span.end])
            .collect()
    }

    #[test]
    fn only_the_exact_forms_are_protected() {
        let digest = "0".repeat(64);
        let text = format!("a [REDACTED] [redacted] sha256:{digest} hmac-sha256:{digest} sha256:{digest}0");
        let expected = [
            "[REDACTED]".to_owned(),
            format!("sha256:{digest}"),
            format!("hmac-sha256:{digest}"),
        ];
        assert_eq!(cut(&text, protected_spans(&text)), expected);
    }

    #[test]
    fn every_mask_is_recognised_as_a_whole() {
        for mask in [
            "****-****-****-1234",
            "***-**-6789",
            "a***@example.com",
            "ü***%40example.com",
            "+* (***) ***-4567",
            "+** * ** ** 56 78",
            "********abcd",
            "********",
            "***",
        ] {
            assert!(is_mask(mask), "{mask}: {:?}", mask_spans(mask));
        }
    }

    #[test]
    fn a_mask_covers_at_most_four_characters_behind_the_stars() {
        assert_eq!(cut("**** 41111111", mask_spans("**** 41111111")), ["**** 4111"]);
        assert_eq!(cut("x ** y", mask_spans("x ** y")), ["**"]);
    }
}
