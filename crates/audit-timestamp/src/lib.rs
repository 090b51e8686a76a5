//! Time stamps (RFC 3161): the request to an authority, and the verification of its response.
//!
//! ```
//! use audit_timestamp::TimeStampRequest;
//!
//! let request = TimeStampRequest::new([7; 32], [9; 8]); // The digest of a document, and random bytes.
//! assert_eq!(request.der().len(), 69);
//! ```
//!
//! # Invariants
//! - A time stamp is accepted only for the digest and the nonce that were sent. [`TimeStamp::verify`] also verifies the
//!   signature and the certificates.
//! - The crate reads neither clock nor randomness.

mod time_stamp;
mod token;

pub use time_stamp::{RootsError, TimeStamp, TimeStampError, TimeStampRequest, TimeStampRoots};
