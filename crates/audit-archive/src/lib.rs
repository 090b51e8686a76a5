//! The archive of a log: its events as Parquet, month by month, with manifests that prove them. No database, no network.
//!
//! A file has a row for each event of a range of positions. Its columns are the fields that the content hash covers, so the hash of each
//! event is computed from the file alone. The manifest beside it joins these hashes to a signed checkpoint of the log, and names the
//! manifest before it. docs/archive.md has the format.
//!
//! - [`EventWriter`] writes a file, [`read_events`] reads one and computes the content hashes.
//! - [`Manifest`] is read and written in one form.
//! - [`Chain`] verifies one file after the other, from the first position of a log.
//! - [`layout`] names files and lists directories.
//!
//! # Invariants
//! - [`read_events`] passes an event only if its content hash is that of its columns, and no other value of a column has the same hash, but
//!   for `redacted`, which nothing proves.
//! - A file that [`Chain::add`] accepts has every event of its positions, or the content hash of each that was removed, and its statistics
//!   are those of its values.

mod chain;
mod columns;
mod error;
mod footer;
pub mod layout;
mod manifest;
mod reader;
mod stored;
#[cfg(test)]
mod tests;
mod writer;

pub use chain::{Chain, file_digest};
pub use error::{ArchiveError, Result};
pub use manifest::{Manifest, RemovedRun, parse_month};
pub use reader::{ArchivedEvent, read_events};
pub use writer::{EventWriter, ROW_GROUP_ROWS_MAX};
