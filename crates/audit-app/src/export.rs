//! Exports: every event that matches a query, page by page.
//!
//! An export holds one page in memory. Between pages it holds no connection. It continues after the position of the last
//! event in query order. So it contains every event that existed when it began exactly once, whatever is stored meanwhile.
//! Ingest has priority: while events are stored, an export pauses between pages.

pub(crate) mod pages;

use crate::error::{AppError, Result};
use crate::turns::{CredentialOwner, Member, OwnedTurns};
use audit_admission::TurnsOptions;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of concurrent exports of this process.
pub const EXPORTS_MAX: usize = 8;
/// The maximum number of concurrent exports of one organization.
pub const ORGANIZATION_EXPORTS_MAX: usize = 4;
/// The maximum number of concurrent exports of the viewers of one organization, so that its keys can export.
const VIEWERS_EXPORTS_MAX: usize = 3;
/// The maximum number of concurrent exports of the viewers of one tenant.
const TENANT_EXPORTS_MAX: usize = 1;
/// The maximum number of concurrent page reads of all exports. An organization alone gets two.
const READS_MAX: usize = 3;
/// How long an export waits to read a page. The others pause while they keep their turn.
const READ_WAIT: Duration = Duration::from_secs(600);

/// The number of running exports by owner.
type RunningCounts = Mutex<HashMap<CredentialOwner, usize>>;

/// The state that all exports share.
pub(crate) struct Exports {
    running: Arc<RunningCounts>,
    pub(crate) reads: OwnedTurns,
}

impl Default for Exports {
    fn default() -> Self {
        Self {
            running: Arc::default(),
            reads: OwnedTurns::new(TurnsOptions {
                permits: READS_MAX,
                group_share: 1,
                member_share: 1,
                group_waiting_max: EXPORTS_MAX,
                member_waiting_max: EXPORTS_MAX,
                wait_max: READ_WAIT,
            }),
        }
    }
}

impl Exports {
    pub(crate) fn running(&self) -> usize {
        self.running.lock().values().sum()
    }

    /// A slot for an export of `owner`. Exports run for long, so an organization gets at most as many as remain free.
    fn begin(&self, owner: CredentialOwner) -> Result<Slot> {
        let mut running = self.running.lock();
        let count = |counts: &dyn Fn(&CredentialOwner) -> bool| -> usize {
            let counted = running.iter().filter(|(owner, _)| counts(owner));
            counted.map(|(_, count)| count).sum()
        };
        let free = EXPORTS_MAX.saturating_sub(count(&|_| true));
        let is_ours = |other: &CredentialOwner| other.organization_id == owner.organization_id;
        let is_within_shares = match &owner.member {
            Member::Key(_) => true,
            Member::Tenant(..) => {
                let viewers =
                    |other: &CredentialOwner| is_ours(other) && matches!(other.member, Member::Tenant(..));
                count(&|other| *other == owner) < TENANT_EXPORTS_MAX && count(&viewers) < VIEWERS_EXPORTS_MAX
            }
        };
        if !is_within_shares || count(&is_ours) >= ORGANIZATION_EXPORTS_MAX.min(free) {
            return Err(AppError::TooManyExports);
        }
        *running.entry(owner.clone()).or_default() += 1;
        Ok(Slot {
            running: Arc::clone(&self.running),
            owner,
        })
    }
}

/// Counts a running export until it is dropped.
struct Slot {
    running: Arc<RunningCounts>,
    owner: CredentialOwner,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut running = self.running.lock();
        if let Some(own) = running.get_mut(&self.owner) {
            *own -= 1;
        }
        running.retain(|_, own| *own > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::{KeyId, OrganizationId, ProjectId};

    fn owner(organization: u8, member: Member) -> CredentialOwner {
        CredentialOwner {
            organization_id: OrganizationId::from_random([organization; 16]),
            member,
        }
    }

    fn key(organization: u8) -> CredentialOwner {
        owner(organization, Member::Key(KeyId::from_random([0; 16])))
    }

    fn tenant(organization: u8, name: &str) -> CredentialOwner {
        let project_id = ProjectId::from_random([organization; 16]);
        owner(organization, Member::Tenant(project_id, name.into()))
    }

    fn begun(exports: &Exports, owner: &CredentialOwner) -> Vec<Slot> {
        std::iter::from_fn(|| exports.begin(owner.clone()).ok()).collect()
    }

    #[test]
    fn an_organization_runs_four_exports_and_leaves_some_to_others() {
        let exports = Exports::default();
        let running = [key(1), key(2), key(3), key(4)].map(|owner| begun(&exports, &owner));
        assert_eq!(running.each_ref().map(Vec::len), [4, 2, 1, 1]);
        assert_eq!(exports.running(), EXPORTS_MAX);
        let refused = exports.begin(key(5));
        assert!(matches!(refused, Err(AppError::TooManyExports)));
        drop(running);
        assert_eq!(exports.running(), 0);
        assert!(exports.running.lock().is_empty());
    }

    #[test]
    fn a_viewer_leaves_exports_to_other_tenants_and_viewers_leave_one_to_keys() {
        let exports = Exports::default();
        let tenants = ["a", "b", "c", "d"].map(|name| begun(&exports, &tenant(1, name)));
        assert_eq!(tenants.each_ref().map(Vec::len), [1, 1, 1, 0]);
        assert_eq!(begun(&exports, &key(1)).len(), 1);
    }
}
