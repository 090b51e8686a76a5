//! Why a part of an archive cannot be written or is refused.

use audit_ledger::{CheckpointError, ProofError};
use parquet::errors::ParquetError;
use std::io;

/// A part of an archive cannot be written, or does not prove what it states.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file is not Parquet, or cannot be written.
    #[error("not a Parquet file of this format")]
    Parquet(#[from] ParquetError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The columns are others, or the file has something that readers use and nothing proves.
    #[error("the file has {0}")]
    Form(&'static str),
    /// The statistics of a column are not those of its values, so that readers would skip events.
    #[error("the statistics of the column {0} are wrong")]
    Statistics(String),
    /// The values of a row are not those of an event of the log.
    #[error("event {seq} {problem}")]
    Event {
        /// Its position in the log.
        seq: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// The rows are others than the manifest states.
    #[error("{0}")]
    Range(String),
    /// A manifest is not written in the one form of its content.
    #[error("the manifest is not written as the service writes it")]
    ManifestForm,
    /// A manifest is not JSON with the members of a manifest.
    #[error("the manifest cannot be read")]
    ManifestJson(#[from] serde_json::Error),
    /// A member of a manifest is wrong.
    #[error("the member {member} of the manifest is wrong: {problem}")]
    Member {
        /// The name of the member.
        member: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The manifest does not continue the one before it.
    #[error("it does not continue the archive: {0}")]
    Chain(String),
    /// The checkpoint is not signed by an expected key, or of another log.
    #[error("its checkpoint is wrong")]
    Checkpoint(#[from] CheckpointError),
    /// The events are not those of the checkpoint.
    #[error("its events are not those of the signed checkpoint")]
    Proof(#[from] ProofError),
}

impl ArchiveError {
    pub(crate) fn member(member: &'static str, problem: impl ToString) -> Self {
        Self::Member {
            member,
            problem: problem.to_string(),
        }
    }
}

/// The result of writing or reading a part of an archive.
pub type Result<T, E = ArchiveError> = std::result::Result<T, E>;
