//! What a witness does with a request: C2SP `tlog-witness`, `add-checkpoint`.

use crate::cosignature::{Cosignature, WitnessSigner};
use crate::note::{NOTE_BYTES_MAX, NoteError, SignedNote};
use crate::proof::ProofTextError;
use crate::{
    Checkpoint, CheckpointError, ConsistencyProof, HistoryError, SignedCheckpoint, TreeHead, VerifierKey,
};
use std::fmt;
use std::str::FromStr;

/// A request to cosign a checkpoint. `Display` writes the body of the HTTP request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddCheckpoint {
    /// The size of the last checkpoint that the witness cosigned, as the client knows it; 0 for none.
    pub old_size: u64,
    /// The proof that the checkpoint continues that one; without hashes if there is none, or the sizes are equal.
    pub consistency: ConsistencyProof,
    /// The note of the checkpoint.
    pub checkpoint: String,
}

/// A checkpoint that a witness has accepted. Store [`Self::note`] durably before anything is returned to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witnessed {
    /// The cosignature for the client.
    pub cosignature: Cosignature,
    /// The checkpoint with the signature of its log and this cosignature.
    pub note: String,
}

/// The body of a request is not well-formed: HTTP status 400.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddCheckpointTextError {
    /// The text exceeds [`AddCheckpoint::BYTES_MAX`].
    #[error("a request has at most {} bytes", AddCheckpoint::BYTES_MAX)]
    TooLong,
    /// The first line is not the old size.
    #[error("the first line is `old` and the size of the last checkpoint, without leading zeros")]
    OldSize,
    /// A line of the proof cannot be read.
    #[error(transparent)]
    Proof(#[from] ProofTextError),
    /// No empty line separates the proof from the checkpoint.
    #[error("an empty line is before the checkpoint")]
    Checkpoint,
}

/// A witness does not cosign a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WitnessError {
    /// The text is not a checkpoint: 400.
    #[error(transparent)]
    Text(CheckpointError),
    /// The witness does not know the log: 404.
    #[error("this witness does not know the log")]
    UnknownLog,
    /// The signature of the log is missing or not valid: 403.
    #[error(transparent)]
    Signature(CheckpointError),
    /// The old size is above the size of the checkpoint: 400.
    #[error("the old size is larger than the checkpoint")]
    OldSize,
    /// The old size is not that of the last checkpoint that was cosigned: 409.
    #[error("the last checkpoint that was cosigned has {last} entries")]
    Conflict {
        /// Its size.
        last: u64,
    },
    /// The checkpoint does not continue the last one: 422.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The checkpoint is that of an empty log, and its root is not that of the empty tree: 422.
    #[error("the root is not that of the empty tree")]
    EmptyRoot,
}

impl AddCheckpoint {
    /// Most bytes of a request: old size, 63 hashes and a note.
    pub const BYTES_MAX: usize = NOTE_BYTES_MAX + 64 * 45;

    /// The origin of the checkpoint, which nothing has verified.
    ///
    /// # Errors
    /// [`WitnessError::Text`] if it is not a checkpoint.
    pub fn origin(&self) -> Result<String, WitnessError> {
        let text = SignedNote::parse(&self.checkpoint).map_err(|error| WitnessError::Text(error.into()))?;
        let origin = text.text().split('\n').next().unwrap_or_default();
        Ok(origin.to_owned())
    }

    /// Decides as a witness: verifies the signature of the log and that the checkpoint continues `last`, the one that the
    /// witness has stored for this origin, or the empty tree. `time` is in seconds since 1970.
    ///
    /// The caller must hold a lock on the origin from the moment it reads `last` until [`Witnessed::note`] is stored.
    ///
    /// # Errors
    /// [`WitnessError`] names the check that failed.
    pub fn witness(
        &self,
        last: &TreeHead,
        log: &VerifierKey,
        signer: &WitnessSigner,
        time: u64,
    ) -> Result<Witnessed, WitnessError> {
        let signed = match SignedCheckpoint::open_of_owner(&self.checkpoint, log) {
            Ok(signed) => signed,
            Err(CheckpointError::Root) => return Err(WitnessError::EmptyRoot),
            Err(
                error @ CheckpointError::Note(NoteError::UnknownSigner | NoteError::WrongSignature { .. }),
            ) => {
                return Err(WitnessError::Signature(error));
            }
            Err(CheckpointError::OtherLog { .. }) => return Err(WitnessError::UnknownLog),
            Err(error) => return Err(WitnessError::Text(error)),
        };
        let head = *signed.head();
        if self.old_size > head.size {
            return Err(WitnessError::OldSize);
        }
        if self.old_size != last.size {
            return Err(WitnessError::Conflict { last: last.size });
        }
        last.check_successor(&head, &self.consistency)?;
        let text = signed.checkpoint().to_string();
        let cosignature = signer.cosign(&text, time);
        let of_log = log
            .lines_on(&self.checkpoint)
            .map_err(|error| WitnessError::Text(error.into()))?;
        let note = format!("{text}\n{of_log}{}", cosignature.line);
        Ok(Witnessed { cosignature, note })
    }
}

impl fmt::Display for AddCheckpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "old {}", self.old_size)?;
        for hash in self.consistency.hashes() {
            writeln!(formatter, "{hash}")?;
        }
        write!(formatter, "\n{}", self.checkpoint)
    }
}

impl FromStr for AddCheckpoint {
    type Err = AddCheckpointTextError;

    fn from_str(text: &str) -> Result<Self, AddCheckpointTextError> {
        if text.len() > Self::BYTES_MAX {
            return Err(AddCheckpointTextError::TooLong);
        }
        let (old_size, text) = text
            .strip_prefix("old ")
            .and_then(|text| text.split_once('\n'))
            .ok_or(AddCheckpointTextError::OldSize)?;
        let size: u64 = old_size.parse().map_err(|_| AddCheckpointTextError::OldSize)?;
        if size.to_string() != old_size {
            return Err(AddCheckpointTextError::OldSize);
        }
        let (hashes, checkpoint) = match text.strip_prefix('\n') {
            Some(checkpoint) => (Vec::new(), checkpoint),
            None => {
                let (hashes, checkpoint) = text
                    .split_once("\n\n")
                    .ok_or(AddCheckpointTextError::Checkpoint)?;
                (hashes.split('\n').collect(), checkpoint)
            }
        };
        Ok(Self {
            old_size: size,
            consistency: ConsistencyProof::from_base64(hashes)?,
            checkpoint: checkpoint.to_owned(),
        })
    }
}

/// The head of a note that this witness has stored.
///
/// # Errors
/// [`CheckpointError`] if the text is not a checkpoint.
pub fn stored_head(note: &str) -> Result<TreeHead, CheckpointError> {
    Ok(*Checkpoint::parse(SignedNote::parse(note)?.text())?.head())
}

#[cfg(test)]
mod tests;
