//! What a copy reads from its source: ledgers, events and tiles.

use crate::ids::LedgerId;
use audit_domain::{Month, Timestamp};

/// A ledger of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLedger {
    /// Its number.
    pub ledger_id: LedgerId,
    /// Its project.
    pub project_id: String,
    /// `live` or `test`.
    pub environment: String,
    /// The number of its events.
    pub size: i64,
    /// The right edge of its tree.
    pub frontier: Option<Vec<u8>>,
}

impl SourceLedger {
    /// The name of the log: project and environment.
    pub fn name(&self) -> String {
        format!("{}/{}", self.project_id, self.environment)
    }
}

/// An event as the source has it.
#[derive(Debug)]
pub(crate) struct SourceEvent {
    pub(crate) seq: i64,
    pub(crate) id: Vec<u8>,
    pub(crate) content_hash: Vec<u8>,
    pub(crate) content_salt: Vec<u8>,
    pub(crate) idempotency_hash: Option<Vec<u8>>,
    pub(crate) sent_digest: Option<Vec<u8>>,
    pub(crate) redacted: bool,
    pub(crate) sender: Option<i64>,
    pub(crate) row_code: Vec<u8>,
    pub(crate) body: String,
}

/// An event that was checked, with its month and the time in its text.
#[derive(Debug)]
pub(crate) struct CheckedEvent {
    pub(crate) event: SourceEvent,
    pub(crate) month: Month,
    pub(crate) occurred_at: Timestamp,
}

/// A full tile.
#[derive(Debug)]
pub(crate) struct SourceTile {
    pub(crate) level: i64,
    pub(crate) tile_index: i64,
    pub(crate) hashes: Vec<u8>,
}

/// The bounds of one batch of events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchLimits {
    pub(crate) events: i64,
    pub(crate) bytes: usize,
}
