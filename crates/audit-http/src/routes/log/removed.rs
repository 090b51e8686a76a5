//! What removals have taken of the log of a tenant.

use crate::schema::Time;
use audit_app::RemovedOfTenant;
use schemars::JsonSchema;
use serde::Serialize;

/// What removals have taken of the events of a tenant.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemovedFromTenant")]
pub(super) struct RemovedBody {
    /// The number of removed events.
    events: u64,
    /// The latest time before which a removal has taken events of the log.
    #[schemars(with = "Time")]
    before: String,
    /// The index of the first event of the tenant that is there. All before it were removed.
    prefix: u64,
    /// The hashes of the complete subtrees over the first `prefix` leaves, largest first (RFC 6962 §2.1), in base64.
    frontier: Vec<String>,
    /// The removed leaves behind them, at most 10,000.
    leaves: Vec<RemovedLeafBody>,
}

/// A leaf of the tenant's log whose event was removed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemovedLeaf")]
struct RemovedLeafBody {
    /// Its index in the tenant's log.
    index: u64,
    /// Its hash in base64.
    hash: String,
}

impl From<RemovedOfTenant> for RemovedBody {
    fn from(removed: RemovedOfTenant) -> Self {
        let leaves = removed.leaves.iter().map(|(index, hash)| RemovedLeafBody {
            index: *index,
            hash: hash.to_string(),
        });
        Self {
            events: removed.events,
            before: removed.before.to_string(),
            prefix: removed.prefix,
            frontier: removed.frontier.iter().map(ToString::to_string).collect(),
            leaves: leaves.collect(),
        }
    }
}
