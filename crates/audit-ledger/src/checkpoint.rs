//! Checkpoints: C2SP `tlog-checkpoint`.

use crate::key::{SigningKey, VerifierKey, signature_line};
use crate::note::{NOTE_BYTES_MAX, NoteError, SignedNote};
use crate::range::RangeError;
use crate::{ConsistencyProof, Hash, HistoryError, TreeHead};
use std::fmt;

/// The identity of a log: the first line of its checkpoints. By convention a URL without its scheme. A log that lost
/// events, for example by a restored backup, must continue under a new origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin(String);

/// A log's origin, size and root hash. `Display` writes the text that is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    origin: Origin,
    head: TreeHead,
    extensions: Vec<String>,
}

/// A checkpoint with a valid signature by a trusted key. It can only be made by signing or by verifying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    checkpoint: Checkpoint,
    note: String,
}

/// A text is not a checkpoint of the log, signed by one of its keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// The text is not a note, or no trusted key signed it.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The origin is empty, too long, or more than one line.
    #[error("an origin is one line of 1 to {} bytes", Origin::BYTES_MAX)]
    Origin,
    /// The second line is not a valid size.
    #[error("the second line of a checkpoint is its size, without leading zeros")]
    Size,
    /// The third line is not a hash, or the size is 0 and it is not the root of the empty tree.
    #[error("the third line of a checkpoint is its root hash in base64")]
    Root,
    /// An extension line is empty or has a control character.
    #[error("a line of a checkpoint is not empty and has no control characters")]
    Extension,
    /// The text is too long, or does not end with a newline.
    #[error("a checkpoint has at least three lines and at most {NOTE_BYTES_MAX} bytes")]
    Lines,
    /// The signature is valid, but the origin is that of another log.
    #[error("this is a checkpoint of {found}, not of {expected}")]
    OtherLog {
        /// The origin expected.
        expected: String,
        /// The origin in the checkpoint.
        found: String,
    },
}

impl Origin {
    /// Most bytes in an origin.
    pub const BYTES_MAX: usize = 1_024;

    /// Parses an origin. The format allows any line. An origin that also serves as a key name has neither spaces nor plus
    /// signs.
    ///
    /// # Errors
    /// [`CheckpointError::Origin`] if the text is empty, too long, or has a control character.
    pub fn parse(text: &str) -> Result<Self, CheckpointError> {
        if text.is_empty() || text.len() > Self::BYTES_MAX || has_control(text) {
            return Err(CheckpointError::Origin);
        }
        Ok(Self(text.to_owned()))
    }

    /// The origin as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Checkpoint {
    /// The checkpoint of a log at a size.
    pub const fn new(origin: Origin, head: TreeHead) -> Self {
        Self {
            origin,
            head,
            extensions: Vec::new(),
        }
    }

    /// Parses the text of a checkpoint. Do not trust the result: it is not verified. See [`SignedCheckpoint::open`].
    ///
    /// # Errors
    /// [`CheckpointError`] if the text is not in the form that [`Self::to_string`](ToString::to_string) writes.
    pub fn parse(text: &str) -> Result<Self, CheckpointError> {
        if text.len() > NOTE_BYTES_MAX {
            return Err(CheckpointError::Lines);
        }
        let lines = text.strip_suffix('\n').ok_or(CheckpointError::Lines)?;
        let mut lines = lines.split('\n');
        let mut line = || lines.next().ok_or(CheckpointError::Lines);
        let origin = Origin::parse(line()?)?;
        let size = parse_size(line()?)?;
        let root: Hash = line()?.parse().map_err(|_| CheckpointError::Root)?;
        if size == 0 && root != Hash::of_empty_tree() {
            return Err(CheckpointError::Root);
        }
        let extensions: Vec<String> = lines.map(str::to_owned).collect();
        if extensions.iter().any(|line| line.is_empty() || has_control(line)) {
            return Err(CheckpointError::Extension);
        }
        Ok(Self {
            origin,
            head: TreeHead { size, root },
            extensions,
        })
    }

    /// The identity of the log.
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The size and root of the log.
    pub const fn head(&self) -> &TreeHead {
        &self.head
    }

    /// Extension lines of a parsed checkpoint. This crate does not interpret them and writes none: the specification advises
    /// against them, because a verifier cannot check them against the log.
    pub fn extensions(&self) -> &[String] {
        &self.extensions
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TreeHead { size, root } = self.head;
        write!(formatter, "{}\n{size}\n{root}\n", self.origin)?;
        self.extensions
            .iter()
            .try_for_each(|line| writeln!(formatter, "{line}"))
    }
}

impl SignedCheckpoint {
    /// Parses and verifies a checkpoint: it must have this origin and a signature by at least one of these keys.
    ///
    /// # Errors
    /// [`CheckpointError`] names the check that failed.
    pub fn open(note: &str, origin: &Origin, keys: &[VerifierKey]) -> Result<Self, CheckpointError> {
        let checkpoint = Checkpoint::parse(SignedNote::parse(note)?.verify(keys)?)?;
        if checkpoint.origin != *origin {
            return Err(CheckpointError::OtherLog {
                expected: origin.to_string(),
                found: checkpoint.origin.to_string(),
            });
        }
        Ok(Self {
            checkpoint,
            note: note.to_owned(),
        })
    }

    /// Parses and verifies a checkpoint of any log of the key's owner: its origin is the name of the key, or begins with the
    /// name and a slash. The caller decides by the origin whether it is the right log.
    ///
    /// # Errors
    /// [`CheckpointError`] names the check that failed.
    pub fn open_of_owner(note: &str, key: &VerifierKey) -> Result<Self, CheckpointError> {
        let text = SignedNote::parse(note)?.verify(std::slice::from_ref(key))?;
        let checkpoint = Checkpoint::parse(text)?;
        let rest = checkpoint.origin.as_str().strip_prefix(key.name().as_str());
        if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
            return Err(CheckpointError::OtherLog {
                expected: format!("{}/…", key.name()),
                found: checkpoint.origin.to_string(),
            });
        }
        Ok(Self {
            checkpoint,
            note: note.to_owned(),
        })
    }

    /// The same with another signature line by a key of the log.
    pub(crate) fn with_line(&self, line: &str) -> Self {
        Self {
            checkpoint: self.checkpoint.clone(),
            note: format!("{}{line}", self.note),
        }
    }

    /// The checkpoint that was signed.
    pub const fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Size and root of the log.
    pub const fn head(&self) -> &TreeHead {
        self.checkpoint.head()
    }

    /// The note with all its signatures, as it is served. Store the note and not only its content: two contradicting notes
    /// are evidence that anyone can verify.
    pub fn note(&self) -> &str {
        &self.note
    }
}

impl VerifierKey {
    /// The checkpoint with a signature that was made elsewhere, such as in an HSM, over its text.
    ///
    /// # Errors
    /// [`CheckpointError::Note`] if it is not a signature of this key.
    pub fn attach(
        &self,
        checkpoint: Checkpoint,
        signature: &[u8],
    ) -> Result<SignedCheckpoint, CheckpointError> {
        let line = signature_line(self.name(), self.id(), signature);
        let note = format!("{checkpoint}\n{line}");
        let origin = checkpoint.origin;
        SignedCheckpoint::open(&note, &origin, std::slice::from_ref(self))
    }
}

impl SigningKey {
    /// Signs the first checkpoint of a log. For each later one use [`Self::sign_successor`].
    pub fn sign(&self, checkpoint: Checkpoint) -> SignedCheckpoint {
        let text = checkpoint.to_string();
        let note = format!("{text}\n{}", self.signature_line(&text));
        SignedCheckpoint { checkpoint, note }
    }

    /// Signs the next checkpoint of a log if it continues the last one. Without this check, a log whose database was rolled
    /// back or changed would sign two contradicting checkpoints.
    ///
    /// # Errors
    /// [`HistoryError`] if it does not continue the last one. The log must then continue under a new origin.
    pub fn sign_successor(
        &self,
        last: &SignedCheckpoint,
        head: TreeHead,
        proof: &ConsistencyProof,
    ) -> Result<SignedCheckpoint, HistoryError> {
        last.head().check_successor(&head, proof)?;
        let origin = last.checkpoint.origin.clone();
        Ok(self.sign(Checkpoint::new(origin, head)))
    }
}

fn has_control(line: &str) -> bool {
    line.bytes().any(|byte| byte < b' ')
}

fn parse_size(text: &str) -> Result<u64, CheckpointError> {
    let size: u64 = text.parse().map_err(|_| CheckpointError::Size)?;
    // Leading zeros and plus signs would be other encodings of the same checkpoint.
    if size.to_string() != text || RangeError::check_size(size).is_err() {
        return Err(CheckpointError::Size);
    }
    Ok(size)
}

#[cfg(test)]
mod tests;
