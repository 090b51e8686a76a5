//! Checkpoints: C2SP `tlog-checkpoint`.

use crate::key::{SigningKey, VerifierKey};
use crate::note::{NOTE_BYTES_MAX, NoteError, SignedNote};
use crate::range::RangeError;
use crate::{ConsistencyProof, Hash, HistoryError, TreeHead};
use std::fmt;

/// Which log: the first line of its checkpoints. By convention a URL without its scheme. A log that lost events, by a
/// restored backup for one, must go on under a new origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin(String);

/// What a log says of itself: which log it is, how large, and the hash over everything in it. Displayed as the text that
/// is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    origin: Origin,
    head: TreeHead,
    extensions: Vec<String>,
}

/// A checkpoint that was signed by a key that somebody trusts. There is no other way to get one than to sign or to verify
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    checkpoint: Checkpoint,
    note: String,
}

/// The text is not a checkpoint of the log, signed by one of its keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// It is not a note, or not signed by whom it should be.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The origin is empty, too long, or more than one line.
    #[error("an origin is one line of 1 to {} bytes", Origin::BYTES_MAX)]
    Origin,
    /// The second line is not a number of leaves.
    #[error("the second line of a checkpoint is its size, without leading zeros")]
    Size,
    /// The third line is not a hash, or not that of the empty tree while the size is 0.
    #[error("the third line of a checkpoint is its root hash in base64")]
    Root,
    /// A line after the third is empty, or has a control character.
    #[error("the lines of a checkpoint have text and no control characters")]
    Extension,
    /// It is too long, or does not end with a newline.
    #[error("a checkpoint is three lines or more, at most {NOTE_BYTES_MAX} bytes")]
    Lines,
    /// It is signed, but of another log.
    #[error("this is a checkpoint of {found}, not of {expected}")]
    OtherLog {
        /// The log that was asked for.
        expected: String,
        /// The log that answered.
        found: String,
    },
}

impl Origin {
    /// The most bytes of an origin.
    pub const BYTES_MAX: usize = 1_024;

    /// Checks an origin. The format allows any line; to be usable as the name of a key as well, it must have neither
    /// spaces nor plus signs.
    ///
    /// # Errors
    /// [`CheckpointError::Origin`] when it is empty, too long, or has a control character.
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

    /// Reads the text of a checkpoint. It says nothing before its signature has been verified: see
    /// [`SignedCheckpoint::open`].
    ///
    /// # Errors
    /// [`CheckpointError`] when it is anything but what [`Self::to_string`](ToString::to_string) writes.
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

    /// Which log.
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Its size and root.
    pub const fn head(&self) -> &TreeHead {
        &self.head
    }

    /// Further lines, which mean nothing to this crate. The specification advises against them, since nobody can check
    /// them against the log; so there is no way to add any here.
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
    /// Reads a checkpoint as a log serves it: of this log, signed by at least one of these keys.
    ///
    /// # Errors
    /// [`CheckpointError`] when it is not that.
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

    /// What was signed.
    pub const fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Size and root of the log.
    pub const fn head(&self) -> &TreeHead {
        self.checkpoint.head()
    }

    /// The note with all its signatures, as it is served and kept. Keep it and not only what it says: two notes that
    /// contradict each other are evidence, and anybody can check them.
    pub fn note(&self) -> &str {
        &self.note
    }
}

impl SigningKey {
    /// Signs the first checkpoint of a log. For each later one use [`Self::sign_successor`].
    pub fn sign(&self, checkpoint: Checkpoint) -> SignedCheckpoint {
        let text = checkpoint.to_string();
        let note = format!("{text}\n{}", self.signature_line(&text));
        SignedCheckpoint { checkpoint, note }
    }

    /// Signs the next checkpoint of a log, if it continues the last one. A log whose database was rolled back or changed
    /// would otherwise sign its own conviction: two checkpoints that cannot both be true.
    ///
    /// # Errors
    /// [`HistoryError`] when it does not continue the last one. The log must go on under a new origin then.
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
    // Leading zeros and plus signs would be further spellings of the same checkpoint.
    if size.to_string() != text || RangeError::check_size(size).is_err() {
        return Err(CheckpointError::Size);
    }
    Ok(size)
}

#[cfg(test)]
mod tests;
