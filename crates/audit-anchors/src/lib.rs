//! The places outside of a deployment to which its anchors go, and the time stamps that others give them.
//!
//! [`TimeStampAuthority`] asks for a time stamp (RFC 3161), [`Bucket`] stores in an S3-compatible bucket, [`store_in`] in a
//! directory. Calls block. Nothing is scheduled or repeated here.
//!
//! # Invariants
//! - No file and no object is replaced: one of the same name and content counts as stored, one of other content is
//!   [`PlaceError::Different`].
//! - Secrets are not printed: `Debug` hides them.
//! - The crate reads neither clock nor randomness, except through the HTTP client (timeouts) and TLS.

mod authority;
mod bucket;
mod directory;
mod http;

pub use audit_timestamp::{RootsError, TimeStamp, TimeStampError, TimeStampRequest, TimeStampRoots};
pub use authority::TimeStampAuthority;
pub use bucket::{Bucket, BucketError, BucketOptions, LockMode, ObjectLock, ObjectLockError};
pub use directory::{read_from, store_in};

/// Why something was not stored or obtained.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// No response.
    #[error("there was no response: {0}")]
    Request(#[from] Box<ureq::Error>),
    /// The response is not a success.
    #[error("the response was {0}")]
    Status(u16),
    /// Something else is stored under this name.
    #[error("something else is stored as {0}")]
    Different(String),
    /// The bucket lists more objects.
    #[error("there are more than {0} objects")]
    TooMany(usize),
    /// A file cannot be written or read.
    #[error("cannot use {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The time stamp is not the one that was asked for.
    #[error("the time stamp was refused: {0}")]
    TimeStamp(#[from] TimeStampError),
}

impl From<ureq::Error> for PlaceError {
    fn from(error: ureq::Error) -> Self {
        match error {
            ureq::Error::StatusCode(status) => Self::Status(status),
            error => Self::Request(Box::new(error)),
        }
    }
}
