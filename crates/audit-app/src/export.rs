//! Exports: every event that matches a query, page by page.
//!
//! An export holds one page in memory. Between pages it holds no connection. It continues after the position of the last
//! event in query order. So it contains every event that existed when it began exactly once, whatever is stored meanwhile.
//! Ingest has priority: while events are stored, an export pauses between pages.

use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::events::{as_stored, permitted, visible_json};
use crate::reading::ReadRequest;
use crate::service::{AuditLog, Selection};
use audit_auth::{Principal, Readers};
use audit_domain::{EventFilter, OrganizationId, PageLimit, Position, ViewerTier};
use audit_store::{EventPage, EventQuery};
use parking_lot::Mutex;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The maximum number of concurrent exports of this process.
pub const EXPORTS_MAX: usize = 8;
/// The maximum number of concurrent exports of one organization.
pub const ORGANIZATION_EXPORTS_MAX: usize = 4;
/// The maximum number of concurrent page reads of all exports.
const READS_MAX: usize = 2;
/// The approximate size of a page. The size of the previous events determines the number of events.
const PAGE_BYTES: usize = 512 * 1024;
/// The number of events of the first page.
const FIRST_PAGE_EVENTS: usize = 100;
/// While events are stored, an export pauses for this many times the duration of its last page.
const PAUSE_FACTOR: u32 = 4;

/// The number of running exports by organization.
type RunningCounts = Mutex<HashMap<OrganizationId, usize>>;

/// The state that all exports share.
pub(crate) struct Exports {
    running: Arc<RunningCounts>,
    reads: Arc<Semaphore>,
}

impl Default for Exports {
    fn default() -> Self {
        Self {
            running: Arc::default(),
            reads: Arc::new(Semaphore::new(READS_MAX)),
        }
    }
}

impl Exports {
    pub(crate) fn running(&self) -> usize {
        self.running.lock().values().sum()
    }

    fn begin(&self, organization_id: OrganizationId) -> Result<Slot> {
        let mut running = self.running.lock();
        let own = running.get(&organization_id).copied().unwrap_or_default();
        if own >= ORGANIZATION_EXPORTS_MAX || running.values().sum::<usize>() >= EXPORTS_MAX {
            return Err(AppError::TooManyExports);
        }
        running.insert(organization_id, own + 1);
        Ok(Slot {
            running: Arc::clone(&self.running),
            organization_id,
        })
    }
}

/// Counts a running export until it is dropped.
struct Slot {
    running: Arc<RunningCounts>,
    organization_id: OrganizationId,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut running = self.running.lock();
        if let Some(own) = running.get_mut(&self.organization_id) {
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
    _slot: Slot,
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
            _slot: service.exports.begin(principal.organization_id())?,
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
        let (page, query, ()) = self.read_page(|reader| {
            let access = request.presented.read_access(reader, request.selection)?;
            let filter = permitted(&access.principal, request.filter.clone());
            let query = EventQuery {
                ledger_id: access.scope.ledger_id,
                filter: as_stored(&access.scope, filter),
                tier: access.tier,
                after,
                limit,
            };
            Ok((query, ()))
        })?;
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
    permit: OwnedSemaphorePermit,
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
        let permit = Arc::clone(&self.service.exports.reads).acquire_owned().await;
        let permit = permit.map_err(AppError::internal)?;
        let (service, request) = (Arc::clone(&self.service), Arc::clone(&self.request));
        let (after, limit) = (self.after, self.limit);
        let work = move || read_and_write(&service, &request, after, limit, permit, write);
        let written = tokio::task::spawn_blocking(work).await;
        let written = written.map_err(AppError::internal)??;
        self.is_finished = !written.has_more;
        self.after = written.last.or(self.after);
        if let Some(event_bytes) = written.bytes.checked_div(written.events) {
            self.limit = PageLimit::for_export(PAGE_BYTES / event_bytes.max(1));
        }
        self.pause(written.worked).await;
        // Released only after the pause, so that no other export reads during it.
        drop(written.permit);
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
    permit: OwnedSemaphorePermit,
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
        permit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_organization_runs_four_exports_and_the_process_eight() {
        let exports = Exports::default();
        let organization = |number| OrganizationId::from_random([number; 16]);
        let mut slots: Vec<Slot> = (0..4).map(|_| exports.begin(organization(1)).unwrap()).collect();
        assert!(matches!(
            exports.begin(organization(1)),
            Err(AppError::TooManyExports)
        ));
        slots.extend((0..4).map(|_| exports.begin(organization(2)).unwrap()));
        assert!(matches!(
            exports.begin(organization(3)),
            Err(AppError::TooManyExports)
        ));
        assert_eq!(exports.running(), 8);
        slots.pop();
        drop(exports.begin(organization(3)).unwrap());
        drop(slots);
        assert_eq!(exports.running(), 0);
        assert!(exports.running.lock().is_empty());
    }
}
