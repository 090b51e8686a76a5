//! Exports: every event that matches a query, page by page.
//!
//! An export holds one page in memory. Between pages it holds no connection. It continues after the position of the last
//! event in query order. So it contains every event that existed when it began exactly once, whatever is stored meanwhile.
//! Ingest has priority: while events are stored, an export pauses between pages.

use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::events::{as_stored, permitted, visible_json};
use crate::reading::ReadRequest;
use crate::self_audit::{Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use crate::turns::{CredentialOwner, Member, OwnedTurns};
use audit_admission::TurnsOptions;
use audit_auth::{Principal, Readers};
use audit_domain::{EventFilter, PageLimit, Position, ViewerRoute, ViewerTier};
use audit_store::{EventPage, EventQuery};
use parking_lot::Mutex;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
/// The approximate size of a page. The size of the previous events determines the number of events.
const PAGE_BYTES: usize = 512 * 1024;
/// The number of events of the first page.
const FIRST_PAGE_EVENTS: usize = 100;
/// While events are stored, an export pauses for this many times the duration of its last page.
const PAUSE_FACTOR: u32 = 4;

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

/// A running export.
pub struct Export {
    service: Arc<AuditLog>,
    request: Arc<ReadRequest>,
    after: Option<Position>,
    limit: PageLimit,
    is_finished: bool,
    /// The number of events that this process had stored when the last page was read.
    stored_events: u64,
    slot: Slot,
}

impl Presented<Readers> {
    /// Begins an export of all events that match the filter and that the principal may see, newest first. `principal` is
    /// the holder of this credential, which is looked up again for every page.
    ///
    /// # Errors
    /// [`AppError::TooManyExports`].
    pub fn export(self, principal: &Principal, selection: Selection, filter: EventFilter) -> Result<Export> {
        let service = Arc::clone(&self.service);
        Ok(Export {
            slot: service.exports.begin(CredentialOwner::of(principal))?,
            stored_events: service.store.statistics().events,
            service,
            request: Arc::new(ReadRequest {
                presented: self,
                selection,
                filter,
            }),
            after: None,
            limit: PageLimit::for_export(FIRST_PAGE_EVENTS),
            is_finished: false,
        })
    }
}

impl AuditLog {
    fn export_page(
        &self,
        request: &ReadRequest,
        after: Option<Position>,
        limit: PageLimit,
    ) -> Result<(EventPage, Option<ViewerTier>)> {
        let (page, query, (project_id, requester, event)) = self.read_page(|reader| {
            let access =
                request
                    .presented
                    .read_access(reader, request.selection, Some(ViewerRoute::Export))?;
            let filter = permitted(&access.principal, request.filter.clone());
            let (project, environment) = (&access.scope.project.project, access.scope.environment);
            let event = ServiceEvent::events_exported(project, environment, &filter);
            let begun = (project.id, Requester::from(&access.principal), event);
            let query = EventQuery {
                ledger_id: access.scope.ledger_id,
                filter: as_stored(&self.stream_engine, filter),
                tier: access.tier,
                after,
                limit,
            };
            Ok((query, begun))
        })?;
        if after.is_none() {
            // The response begins after this.
            self.record_read(project_id, &requester, event)?;
        }
        Ok((page, query.tier))
    }
}

/// A page in its output format.
struct WrittenPage<T> {
    output: T,
    last: Option<Position>,
    events: usize,
    bytes: usize,
    has_more: bool,
    worked: Duration,
}

impl Export {
    /// The next page, converted by `write`; `None` after the last page. `write` may block.
    ///
    /// # Errors
    /// When the credential is no longer valid or the database fails. The export is then incomplete.
    pub async fn next<T: Send + 'static>(
        &mut self,
        write: impl FnOnce(&[Box<RawValue>]) -> Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        if self.is_finished {
            return Ok(None);
        }
        let owner = &self.slot.owner;
        let turn = Arc::new(self.service.exports.reads.take(owner).await?);
        let session = self.service.turns.sessions.take(owner).await?;
        let (service, request) = (Arc::clone(&self.service), Arc::clone(&self.request));
        let (after, limit) = (self.after, self.limit);
        // The turn lasts as long as the work, although the client may have gone.
        let kept = Arc::clone(&turn);
        let work = move || {
            let written = read_and_write(&service, &request, after, limit, write);
            drop(kept);
            written
        };
        let written = session.run(work).await?;
        self.is_finished = !written.has_more;
        self.after = written.last.or(self.after);
        if let Some(event_bytes) = written.bytes.checked_div(written.events) {
            self.limit = PageLimit::for_export(PAGE_BYTES / event_bytes.max(1));
        }
        self.pause(written.worked).await;
        // Released only after the pause, so that no other export reads during it. Others use the session meanwhile.
        drop(turn);
        Ok(Some(written.output))
    }

    /// Pauses in proportion to `worked` if events are being stored.
    async fn pause(&mut self, worked: Duration) {
        let statistics = self.service.store.statistics();
        let is_storing = statistics.events != self.stored_events || statistics.queue_depth > 0;
        self.stored_events = statistics.events;
        if is_storing {
            tokio::time::sleep(worked * PAUSE_FACTOR).await;
        }
    }
}

fn read_and_write<T>(
    service: &AuditLog,
    request: &ReadRequest,
    after: Option<Position>,
    limit: PageLimit,
    write: impl FnOnce(&[Box<RawValue>]) -> Result<T>,
) -> Result<WrittenPage<T>> {
    let started = Instant::now();
    let (page, tier) = service.export_page(request, after, limit)?;
    let events = page.events.iter().map(|event| visible_json(event, tier.as_ref()));
    let events: Vec<_> = events.collect::<Result<_>>()?;
    Ok(WrittenPage {
        output: write(&events)?,
        last: page.events.last().map(|event| Position {
            occurred_at: event.occurred_at,
            id: event.id,
        }),
        events: events.len(),
        bytes: events.iter().map(|event| event.get().len()).sum(),
        has_more: page.has_more,
        worked: started.elapsed(),
    })
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
