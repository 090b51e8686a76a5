//! Signed notes of streams: how far a destination of events has got.
//!
//! The first line of the text is `<log>/destinations/<destination>/<run>`, which is the name of no log. So a note is a checkpoint of no log,
//! although the lines that follow begin as those of a checkpoint do. [`StreamNote`] has them.

mod text;

pub use text::{StreamChain, StreamNote, StreamTextError};

use crate::key::signature_line;
use crate::note::{NoteError, SignedNote};
use crate::{SigningKey, VerifierKey};

/// A note of a stream with a valid signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedStream {
    note: String,
    text_bytes: usize,
}

/// A text is not a signed note of a stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StreamNoteError {
    /// The text is not a note, or no trusted key signed it.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// Its first line names no stream.
    #[error("the first line of a stream's note is <log>/destinations/<destination>/<run>")]
    Form,
    /// The log is not one of the key's owner.
    #[error("the note is of the log {0}, which is not one of the key's owner")]
    OtherLog(String),
}

/// The log of a stream, by the first line of the text of its note.
fn log_of(text: &str) -> Option<&str> {
    let (name, _) = text.split_once('\n')?;
    let (of_destination, run) = name.rsplit_once('/')?;
    let (of_log, destination) = of_destination.rsplit_once('/')?;
    let is_number = !run.is_empty() && run.bytes().all(|byte| byte.is_ascii_digit());
    of_log
        .strip_suffix("/destinations")
        .filter(|log| is_number && !log.is_empty() && !destination.is_empty())
}

impl SignedStream {
    /// Parses and verifies the note of a stream of a log of the key's owner. The caller decides by the first line of [`Self::text`] whether
    /// it is the right stream.
    ///
    /// # Errors
    /// [`StreamNoteError`] names the check that failed.
    pub fn open(note: &str, keys: &[VerifierKey]) -> Result<Self, StreamNoteError> {
        let text = SignedNote::parse(note)?.verify(keys)?;
        let log = log_of(text).ok_or(StreamNoteError::Form)?;
        let is_of = |key: &VerifierKey| {
            let rest = log.strip_prefix(key.name().as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        match keys.iter().any(is_of) {
            true => Ok(Self {
                text_bytes: text.len(),
                note: note.to_owned(),
            }),
            false => Err(StreamNoteError::OtherLog(log.to_owned())),
        }
    }

    /// The text that is signed.
    pub fn text(&self) -> &str {
        &self.note[..self.text_bytes]
    }

    /// The note with its signatures.
    pub fn note(&self) -> &str {
        &self.note
    }
}

impl VerifierKey {
    /// The note with a signature that was made elsewhere, such as in an HSM, over its text.
    ///
    /// # Errors
    /// [`StreamNoteError`] if it is not a signature of this key, or the text is not that of a stream.
    pub fn attach_stream(&self, text: &str, signature: &[u8]) -> Result<SignedStream, StreamNoteError> {
        let line = signature_line(self.name(), self.id(), signature);
        SignedStream::open(&format!("{text}\n{line}"), std::slice::from_ref(self))
    }
}

impl SigningKey {
    /// Signs the text of a stream's note.
    ///
    /// # Errors
    /// [`StreamNoteError`] if the text is not that of a stream of a log of this key's owner. Nothing else gets a signature.
    pub fn sign_stream(&self, text: &str) -> Result<SignedStream, StreamNoteError> {
        log_of(text).ok_or(StreamNoteError::Form)?;
        self.verifier().attach_stream(text, &self.signature(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Checkpoint, CheckpointError, Hash, KeyName, Origin, SignedCheckpoint, TreeHead};

    fn key(name: &str, seed: u8) -> SigningKey {
        SigningKey::from_seed(KeyName::parse(name).unwrap(), &[seed; 32]).unwrap()
    }

    /// As a checkpoint: its second and third line are those of one.
    fn text() -> String {
        format!(
            "log/p/live/destinations/dst_1/0\n5\n{}\n",
            Hash::from_bytes([3; 32])
        )
    }

    #[test]
    fn a_note_is_signed_and_verified() {
        let (own, other) = (key("log", 1), key("log", 2));
        let signed = own.sign_stream(&text()).unwrap();
        assert_eq!(signed.text(), text());
        let keys = [other.verifier().clone(), own.verifier().clone()];
        assert_eq!(SignedStream::open(signed.note(), &keys), Ok(signed.clone()));
        assert_eq!(
            SignedStream::open(signed.note(), &keys[..1]),
            Err(NoteError::UnknownSigner.into())
        );
        let changed = signed.note().replacen("\n5\n", "\n6\n", 1);
        assert!(matches!(
            SignedStream::open(&changed, &keys),
            Err(StreamNoteError::Note(NoteError::WrongSignature { .. }))
        ));
    }

    #[test]
    fn nothing_but_the_note_of_a_stream_of_its_logs_gets_a_signature() {
        let own = key("log", 1);
        let of =
            |origin: &str| own.sign_stream(&text().replacen("log/p/live/destinations/dst_1/0", origin, 1));
        for origin in [
            "log/p/live",
            "log/p/live/destinations",
            "log/p/live/destinations/dst_1",
            "log/p/live/destinations//0",
            "log/p/live/destinations/dst_1/",
            "log/p/live/destinations/dst_1/x",
            "/destinations/dst_1/0",
        ] {
            assert_eq!(of(origin), Err(StreamNoteError::Form), "{origin}");
        }
        let other = of("logs/p/live/destinations/dst_1/0");
        assert_eq!(other, Err(StreamNoteError::OtherLog("logs/p/live".to_owned())));
    }

    #[test]
    fn a_note_is_no_checkpoint_of_the_log_and_a_checkpoint_no_note() {
        let own = key("log", 1);
        let keys = [own.verifier().clone()];
        let log = Origin::parse("log/p/live").unwrap();
        let signed = own.sign_stream(&text()).unwrap();
        assert!(matches!(
            SignedCheckpoint::open(signed.note(), &log, &keys),
            Err(CheckpointError::OtherLog { .. })
        ));
        let head = TreeHead {
            size: 5,
            root: Hash::from_bytes([3; 32]),
        };
        let checkpoint = own.sign(Checkpoint::new(log, head));
        assert_eq!(
            SignedStream::open(checkpoint.note(), &keys),
            Err(StreamNoteError::Form)
        );
    }
}
