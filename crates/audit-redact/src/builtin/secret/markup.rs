//! Values of elements in XML.

use super::name::Name;
use super::sides::name_before;
use super::value::Place;

/// Longest tag.
const TAG_BYTES_MAX: usize = 96;
/// Attributes that name the value of their element.
const NAMES: &[&str] = &["name", "key", "id"];
/// Elements that hold a value, whose name is in the element before.
const VALUES: &[&str] = &["string", "value"];

/// The name of the element whose tag ends at `end`: `<password>value`, `<property name="db.password">value` or
/// `<key>password</key><string>value`.
pub(super) fn element_at(text: &str, end: usize) -> Option<(Name, usize, Place)> {
    let mut from = end.saturating_sub(TAG_BYTES_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let open = from + text[from..end].rfind('<')?;
    let tag = &text[open + 1..end];
    let (element, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
    let is_value = VALUES.iter().any(|known| element.eq_ignore_ascii_case(known));
    if is_value && attributes.is_empty() {
        let before = text[..open].trim_end();
        let before = before.strip_suffix("<value>").unwrap_or(before).trim_end();
        let before = before
            .strip_suffix("</key>")
            .or_else(|| before.strip_suffix("</name>"))?;
        let name = name_before(text, before.len())?;
        return Some((Name::of(&text[name.start..name.end])?, end + 1, Place::Prose));
    }
    if element.starts_with('/') || attributes.ends_with('/') || element == "input" {
        return None;
    }
    if let Some(kind) = Name::of(element.rsplit(':').next().unwrap_or(element)) {
        return Some((kind, end + 1, Place::Assigned));
    }
    let named = NAMES.iter().find_map(|known| {
        let at = attributes.find(known)? + known.len();
        let value = attributes[at..].strip_prefix("=\"")?;
        value.split('"').next()
    })?;
    Some((Name::of(named)?, end + 1, Place::Prose))
}
