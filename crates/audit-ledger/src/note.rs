//! Signed notes: C2SP `signed-note`.

use crate::key::{KeyId, KeyName, VerifierKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Most bytes in a note. The specification requires room for sixteen signatures of nearly 5 kB, 7 kB each in base64.
pub const NOTE_BYTES_MAX: usize = 128 * 1024;
/// Most signatures on a note: the log's own and those of witnesses.
pub const NOTE_SIGNATURES_MAX: usize = 100;

/// The prefix of a signature line: an em dash and a space.
pub(crate) const SIGNATURE_START: &str = "— ";

/// The text is not a note, or no trusted key signed it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The text exceeds [`NOTE_BYTES_MAX`], or the limit of its kind.
    #[error("a note has at most {bytes_max} bytes, not {bytes}")]
    TooLong {
        /// Bytes of the text.
        bytes: usize,
        /// Most bytes of such a note.
        bytes_max: usize,
    },
    /// The text has a control character other than a newline.
    #[error("a note has no control characters except newlines")]
    ControlCharacter,
    /// No empty line with signatures after it.
    #[error("a note ends with an empty line and its signature lines")]
    NoSignatures,
    /// The note has more than [`NOTE_SIGNATURES_MAX`] signatures.
    #[error("a note has at most {NOTE_SIGNATURES_MAX} signatures")]
    TooManySignatures,
    /// A line after the empty one is not a signature.
    #[error("line {line} after the note's text is not a signature")]
    SignatureLine {
        /// The number of the line, from 1.
        line: usize,
    },
    /// No signature is by a trusted key.
    #[error("the note is not signed by a known key")]
    UnknownSigner,
    /// A signature in the name of a trusted key is invalid. The text was changed after it was signed, or the signature is
    /// forged.
    #[error("the note's signature by {name}+{id} is invalid")]
    WrongSignature {
        /// The key's name.
        name: String,
        /// Its id.
        id: KeyId,
    },
}

/// A parsed note. Do not use its text before [`Self::verify`].
#[derive(Debug)]
pub(crate) struct SignedNote<'a> {
    text: &'a str,
    signatures: Vec<Signature<'a>>,
}

#[derive(Debug)]
struct Signature<'a> {
    name: &'a str,
    id: KeyId,
    bytes: Vec<u8>,
}

impl<'a> SignedNote<'a> {
    /// Splits a note at its last empty line.
    pub(crate) fn parse(note: &'a str) -> Result<Self, NoteError> {
        Self::parse_within(note, NOTE_BYTES_MAX)
    }

    /// [`Self::parse`] of a note with another limit.
    pub(crate) fn parse_within(note: &'a str, bytes_max: usize) -> Result<Self, NoteError> {
        if note.len() > bytes_max {
            let bytes = note.len();
            return Err(NoteError::TooLong { bytes, bytes_max });
        }
        if note.bytes().any(|byte| byte < b' ' && byte != b'\n') {
            return Err(NoteError::ControlCharacter);
        }
        let blank = note.rfind("\n\n").ok_or(NoteError::NoSignatures)?;
        let (text, rest) = note.split_at(blank + 1);
        let lines = rest[1..].strip_suffix('\n').ok_or(NoteError::NoSignatures)?;
        let mut signatures = Vec::new();
        for (position, line) in lines.split('\n').enumerate() {
            if position == NOTE_SIGNATURES_MAX {
                return Err(NoteError::TooManySignatures);
            }
            let signature = Signature::parse(line);
            signatures.push(signature.ok_or(NoteError::SignatureLine { line: position + 1 })?);
        }
        Ok(Self { text, signatures })
    }

    /// The text. Nothing is verified.
    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    /// Name and key id of each signature, in their order.
    pub(crate) fn signers(&self) -> impl Iterator<Item = (&'a str, KeyId)> {
        self.signatures
            .iter()
            .map(|signature| (signature.name, signature.id))
    }

    /// The signatures in the name of this key.
    pub(crate) fn signatures_of(&self, name: &KeyName, id: KeyId) -> impl Iterator<Item = &[u8]> {
        let named = self
            .signatures
            .iter()
            .filter(move |signature| signature.name == name.as_str() && signature.id == id);
        named.map(|signature| signature.bytes.as_slice())
    }

    /// The text, if at least one of the keys signed it. Signatures by other keys are ignored, so that a log can rotate its key
    /// and witnesses can add signatures. An invalid signature in the name of a known key invalidates the note, even beside a
    /// valid one, as the specification advises.
    pub(crate) fn verify(&self, keys: &[VerifierKey]) -> Result<&'a str, NoteError> {
        let mut is_signed = false;
        for signature in &self.signatures {
            let is_named =
                |key: &&VerifierKey| key.name().as_str() == signature.name && key.id() == signature.id;
            let Some(key) = keys.iter().find(is_named) else {
                continue;
            };
            if !key.is_signature(self.text, &signature.bytes) {
                return Err(NoteError::WrongSignature {
                    name: signature.name.to_owned(),
                    id: signature.id,
                });
            }
            is_signed = true;
        }
        is_signed.then_some(self.text).ok_or(NoteError::UnknownSigner)
    }
}

impl<'a> Signature<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (name, base64) = line.strip_prefix(SIGNATURE_START)?.split_once(' ')?;
        if !KeyName::is_well_formed(name) {
            return None;
        }
        let decoded = STANDARD.decode(base64).ok()?;
        let (id, bytes) = decoded.split_first_chunk()?;
        let bytes = (!bytes.is_empty()).then(|| bytes.to_vec())?;
        Some(Self {
            name,
            id: KeyId::from_bytes(*id),
            bytes,
        })
    }
}

#[cfg(test)]
mod tests;
