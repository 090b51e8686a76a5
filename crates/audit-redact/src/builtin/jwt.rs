//! JSON Web Tokens: base64url parts separated by dots. The first part decodes to a JSON object.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use crate::scan::edge::{blocked_after, blocked_before};
use crate::scan::{Span, Subject};
use crate::work;

/// `{"`, `{` with a line feed, and `{` with a space, in base64url.
const PREFIXES: &[&str] = &["eyJ", "ewo", "eyA"];

/// Longest part that is decoded. Real headers are far shorter.
const DECODED_BYTES_MAX: usize = 16 * 1024;

/// Most candidate starts within one part.
const TRIES_MAX: usize = 4;

const DECODER: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

pub(super) fn find(subject: Subject<'_>, mut hit: impl FnMut(Span)) {
    let text = subject.text;
    let mut at = 0;
    let mut tried = (0, 0);
    while let Some(offset) = text[at..].find('e') {
        let start = at + offset;
        at = start + 1;
        work::bytes_read(offset + 1);
        let has_prefix = PREFIXES.iter().any(|prefix| text[start..].starts_with(prefix));
        if !has_prefix || blocked_before(text, start) {
            continue;
        }
        if let Some(end) = token_end(text, start) {
            hit(Span::new(start, end));
            at = end;
            continue;
        }
        // Without a limit, `_eyJ_eyJ_eyJ…` would be read to its end for every candidate.
        let header_end = part_end(text, start);
        tried = (header_end, if tried.0 == header_end { tried.1 + 1 } else { 1 });
        if tried.1 == TRIES_MAX {
            at = header_end;
        }
    }
}

fn token_end(text: &str, start: usize) -> Option<usize> {
    let mut parts = [(start, start); 5];
    let mut count = 0;
    let mut at = start;
    while count < parts.len() {
        let end = part_end(text, at);
        parts[count] = (at, end);
        count += 1;
        if text.as_bytes().get(end) != Some(&b'.') {
            break;
        }
        at = end + 1;
    }
    let body = |index: usize| &text[parts[index].0..parts[index].1];
    // Five parts are an encrypted token. Otherwise the first three parts are a signed token.
    let encrypted = count == 5 && !body(2).is_empty() && !body(3).is_empty() && !body(4).is_empty();
    if count < 3 || (!encrypted && body(1).is_empty()) {
        return None;
    }
    let valid = match decoded(body(0)) {
        Some(Value::Object(header)) if header.get("alg").is_some_and(Value::is_string) => true,
        _ => matches!(decoded(body(1)), Some(Value::Object(_))),
    };
    let end = if encrypted { parts[4].1 } else { parts[2].1 };
    (valid && !blocked_after(text, end)).then_some(end)
}

/// The end of the part that begins at `start`, padding included.
fn part_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let is_base64url = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let mut end = start + bytes[start..].iter().take_while(is_base64url).count();
    while end > start {
        if bytes.get(end) == Some(&b'=') {
            end += 1;
        } else if bytes[end..].starts_with(b"%3D") || bytes[end..].starts_with(b"%3d") {
            end += 3;
        } else {
            break;
        }
    }
    work::bytes_read(end - start);
    end
}

fn decoded(part: &str) -> Option<Value> {
    if part.len() > DECODED_BYTES_MAX {
        return None;
    }
    let unpadded = part.split(['=', '%']).next()?;
    let bytes = DECODER.decode(unpadded).ok()?;
    serde_json::from_slice(&bytes).ok()
}
