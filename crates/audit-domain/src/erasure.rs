//! Erasures of persons: what goes of an event, and what stays of its text and salt.

use crate::{EventField, EventPart, PartMask, StoredSalt, canonical, words};
use serde_json::{Map, Value};

/// In place of a text beside the log in which an erasure found what it erases.
pub const ERASED_TEXT: &str = "[ERASED]";

words! {
    /// What of each event goes.
    pub enum Extent {
        /// The parts that have the person, or are about it.
        Person = "person",
        /// All parts but the kind of the event.
        All = "all",
        /// The whole row.
        Row = "row",
    }
}

words! {
    /// The legal ground.
    pub enum Basis {
        /// Article 17 of the General Data Protection Regulation.
        Gdpr17 = "gdpr_17",
        /// California Consumer Privacy Act, section 1798.105.
        Ccpa = "ccpa",
        /// A contract.
        Contract = "contract",
        /// Another one.
        Other = "other",
    }
}

/// The text and the salt of an event without the parts of `mask`, which is not that of a row. The content hash stays. Parts that are
/// erased already keep their erasure; where nothing is left to erase, text and salt are unchanged. `None` where the text is not that of
/// an event. `erasure` is the position of the event of the log that authorises it.
pub fn erase_parts(
    canonical: &str,
    salt: &StoredSalt,
    mask: PartMask,
    erasure: u64,
) -> Option<(String, StoredSalt)> {
    debug_assert!(!mask.is_row(), "a row is deleted");
    let left = salt.without(canonical, mask, erasure)?;
    if left == *salt {
        return Some((canonical.to_owned(), left));
    }
    let erased: Vec<EventPart> = left.erased()?.proofs().hidden().collect();
    let event: Map<String, Value> = serde_json::from_str(canonical).ok()?;
    let text = canonical::to_string(&EventField::proved(&event, &erased).into());
    Some((text, left))
}

#[cfg(test)]
mod tests;
