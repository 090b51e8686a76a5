//! Erasure of a person: what events say of the person goes from them, and every proof stays.
//!
//! A [request](request) names the person. The thread of removals lists the events, and an operator confirms the list by its digest. From
//! there on the log authorises the erasure, and the thread carries it out. The identifiers are in the memory of the process that took the
//! request, and nowhere else.

mod identifiers;
mod reach;
mod request;
mod status;
pub(crate) mod subject;

pub use reach::{OutOfReach, OutOfReachKind};
pub use status::{ErasureEvent, ErasureEvents, ErasureState, ErasureStatus};
pub use subject::Identifiers;

use audit_domain::{Basis, Extent};

/// The maximum number of erasures of a log that are not done.
pub const OPEN_ERASURES_MAX: usize = 20;
/// The maximum number of erasures of a log that have found nothing and are shown.
pub(crate) const EMPTY_ERASURES_MAX: usize = 100;
/// The maximum number of identifiers of a request.
pub const IDENTIFIERS_MAX: usize = 50;
/// The maximum length of an identifier, in characters.
pub const IDENTIFIER_CHARS_MAX: usize = 512;
/// The minimum length of a text that a person is found by, in characters.
pub const TEXT_CHARS_MIN: usize = 4;
/// The maximum number of events that one request excludes from a list.
pub const EXCLUDED_MAX: usize = 100;

audit_domain::ulid_id!(
    /// An erasure.
    ErasureId, "ers_", "an erasure id"
);

/// A request to erase a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewErasure {
    /// What the person is found by. At least one.
    pub identifiers: Identifiers,
    /// What of each event goes.
    pub extent: Extent,
    /// The legal ground.
    pub basis: Basis,
    /// The operator's reference.
    pub ticket: Option<String>,
}
