//! Identifiers that several subjects share.

/// The database's number for a project and environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerId(pub i64);

/// The SHA-256 of a stream's token.
pub type StreamTokenHash = [u8; 32];
