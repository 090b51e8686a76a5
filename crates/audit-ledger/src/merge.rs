//! The signatures of two notes of one text, on one note.

use crate::note::{NOTE_SIGNATURES_MAX, SignedNote};

/// `note` with the signatures of `other` that it lacks. A signature is lacking if `note` has none with its name and key id.
/// `None` if one of the two is not a note, their texts differ, or the result has too many signatures. Nothing is verified.
///
/// ```
/// use audit_ledger::merge_signatures;
///
/// let (one, other) = ("text\n\n— a AAAAAAE=\n", "text\n\n— b AAAAAAI=\n");
/// assert_eq!(merge_signatures(one, other).as_deref(), Some("text\n\n— a AAAAAAE=\n— b AAAAAAI=\n"));
/// assert_eq!(merge_signatures(one, one).as_deref(), Some(one));
/// assert_eq!(merge_signatures(one, "another text\n\n— b AAAAAAI=\n"), None);
/// ```
pub fn merge_signatures(note: &str, other: &str) -> Option<String> {
    let (parsed, added) = (SignedNote::parse(note).ok()?, SignedNote::parse(other).ok()?);
    if parsed.text() != added.text() {
        return None;
    }
    let present: Vec<_> = parsed.signers().collect();
    let lines = other[added.text().len() + 1..].split_inclusive('\n');
    let mut merged = note.to_owned();
    for (line, _) in lines
        .zip(added.signers())
        .filter(|(_, signer)| !present.contains(signer))
    {
        merged.push_str(line);
    }
    let signatures = SignedNote::parse(&merged).ok()?.signers().count();
    (signatures <= NOTE_SIGNATURES_MAX).then_some(merged)
}

/// The text of a note, without its signatures. Nothing is verified.
pub fn note_text(note: &str) -> Option<&str> {
    SignedNote::parse(note).ok().map(|note| note.text())
}
