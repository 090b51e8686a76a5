//! Retention and legal holds of a ledger, the log of one project and environment.
//!
//! Policies, holds, plans and removals are events of the log itself, the lifecycle events. The head of the ledger names the newest one, and
//! each names the one before. No table has them, so there is no row that could be deleted, changed or replayed.

mod chain;
mod holds;
mod known;
mod policy;
mod preview;
mod removed;
mod report;
mod stored;
pub(crate) mod worker;

pub use holds::{HOLDS_MAX, HeldFor, HoldId, HoldRelease, LegalHold, NewHold};
pub use known::WaitingFor;
pub(crate) use known::{CHAIN_EVENTS_MAX, LedgerLifecycle, Lifecycles, REQUESTED_EVENTS_MAX};
pub use policy::{
    PolicyInForce, RETENTION_DAYS_MAX, RecordedArchive, Retention, RetentionChange, RetentionPlan,
    RetentionPreset, RetentionRemoval,
};
pub use preview::{PREVIEW_MONTHS_MAX, PreviewMonth, RetentionPreview};
pub use removed::LoggedRemoval;
pub use report::{LogReport, ReportedEvent, VerifiedLog, stored_report};
pub use stored::{StoredPlan, StoredRetention, stored_retention};
