//! The domain of an e-mail address.

use std::sync::LazyLock;

use super::is_mark;
use crate::work;

/// Longest domain.
const DOMAIN_BYTES_MAX: usize = 255;
/// Longest label of a domain.
const LABEL_CHARS_MAX: usize = 63;
/// Most labels that are read. Real domains have far fewer.
const LABELS_MAX: usize = 32;

/// The ASCII names of the root zone (IANA), in lower case and in order.
const ROOT_ZONE: &str = include_str!("tlds.txt");
/// Names that are in use without being in the root zone: reserved by RFC 2606, RFC 6761 and RFC 6762, or usual in private
/// networks.
const PRIVATE_ZONES: &[&str] = &[
    "corp",
    "example",
    "home",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "onion",
    "private",
    "test",
];
/// Names in the root zone that are more often file extensions. A missed address is worse than a redacted file name, so
/// country domains (`.rs`, `.py`, `.sh`) are not listed.
const FILE_EXTENSIONS: &[&str] = &["java", "map", "mov", "zip"];

/// The first label of annotation names in OData: `members@odata.id`.
const ANNOTATION_LABEL: &str = "odata";

/// The end of the domain that begins at `start`.
pub(super) fn end(text: &str, start: usize) -> Option<usize> {
    let mut ends = [0; LABELS_MAX];
    let mut count = 0;
    let mut at = start;
    while count < LABELS_MAX {
        let label_end = label_end(text, at);
        if label_end == at {
            break;
        }
        ends[count] = label_end;
        count += 1;
        at = label_end + 1;
        if text.as_bytes().get(label_end) != Some(&b'.') {
            break;
        }
    }
    let label = |index: usize| {
        let from = if index == 0 { start } else { ends[index - 1] + 1 };
        &text[from..ends[index]]
    };
    if count >= 2 && (is_version(label(0), label(1)) || label(0).eq_ignore_ascii_case(ANNOTATION_LABEL)) {
        return None;
    }
    while count >= 2 && !is_top_level(label(count - 1)) {
        count -= 1;
    }
    let well_formed = count >= 2
        && ends[count - 1] - start <= DOMAIN_BYTES_MAX
        && (0..count)
            .all(|index| label(index).chars().count() <= LABEL_CHARS_MAX && !label(index).starts_with('-'));
    well_formed.then(|| ends[count - 1])
}

/// The end of the label at `start`: letters with their marks, digits and inner dashes. A trailing dash is not part of
/// the label.
fn label_end(text: &str, start: usize) -> usize {
    let rest = &text[start.min(text.len())..];
    let len = rest
        .find(|ch: char| !(ch.is_alphanumeric() || ch == '-' || is_mark(ch)))
        .unwrap_or(rest.len());
    work::bytes_read(len);
    start + rest[..len].trim_end_matches('-').len()
}

/// Whether the first two labels are a version such as `18.2` or `v4.1`.
fn is_version(first: &str, second: &str) -> bool {
    let number = first.strip_prefix(['v', 'V']).unwrap_or(first);
    !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && second.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
}

/// Whether the label is a name of the root zone or of a private one. Internationalised names are not looked up.
fn is_top_level(label: &str) -> bool {
    const NAME_BYTES_MAX: usize = 24;
    if !label.is_ascii() {
        return label.chars().count() >= 2 && label.chars().all(|ch| ch.is_alphabetic() || is_mark(ch));
    }
    let mut lower = [0; NAME_BYTES_MAX];
    let Some(lower) = lower.get_mut(..label.len()) else {
        return false;
    };
    lower.copy_from_slice(label.as_bytes());
    lower.make_ascii_lowercase();
    let Ok(name) = std::str::from_utf8(lower) else {
        return false;
    };
    name.starts_with("xn--")
        || PRIVATE_ZONES.contains(&name)
        || (ROOT_ZONE_NAMES.binary_search(&name).is_ok() && !FILE_EXTENSIONS.contains(&name))
}

static ROOT_ZONE_NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| ROOT_ZONE.split_whitespace().collect());

#[cfg(test)]
mod tests {
    use super::{ROOT_ZONE_NAMES, end};

    #[test]
    fn a_domain_ends_with_a_top_level_domain() {
        for (text, domain) in [
            ("example.com", Some("example.com")),
            ("mail.example.co.uk.", Some("mail.example.co.uk")),
            ("example.com-", Some("example.com")),
            ("example.com.tar.gz", Some("example.com")),
            ("example.xn--p1ai", Some("example.xn--p1ai")),
            ("163.com", Some("163.com")),
            ("server.local", Some("server.local")),
            ("example.com.2024", Some("example.com")),
            ("mu\u{308}ller.de", Some("mu\u{308}ller.de")),
            ("example.com\u{200d}", Some("example.com\u{200d}")),
            ("2x.png", None),
            ("18.2.0", None),
            ("1.2.3-rc.beta", None),
            ("host", None),
            ("7.x", None),
            ("odata.bind", None),
            ("odata.id", None),
            ("1000.service", None),
            ("EXAMPLE.COM", Some("EXAMPLE.COM")),
        ] {
            assert_eq!(end(text, 0), domain.map(str::len), "{text}");
        }
    }

    #[test]
    fn the_root_zone_is_in_order() {
        assert!(ROOT_ZONE_NAMES.is_sorted());
        assert!(ROOT_ZONE_NAMES.len() > 1_000);
    }
}
