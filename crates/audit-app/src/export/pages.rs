//! A running export, page by page.

use super::Slot;
use crate::authentication::Presented;
use crate::error::Result;
use crate::events::{RemovedBefore, as_stored, found_json, permitted};
use crate::reading::ReadRequest;
use crate::self_audit::{Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use crate::turns::CredentialOwner;
use audit_auth::{Principal, Readers};
use audit_domain::{EventFilter, EventJson, EventOrder, PageLimit, Position, ViewerRoute, ViewerTier};
use audit_store::{EventPage, EventQuery};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The approximate size of a page. The size of the previous events determines the number of events.
const PAGE_BYTES: usize = 512 * 1024;
/// The number of events of the first page.
const FIRST_PAGE_EVENTS: usize = 100;
/// While events are stored, an export pauses for this many times the duration of its last page.
const PAUSE_FACTOR: u32 = 4;

/// A running export.
pub struct Export {
    service: Arc<AuditLog>,
    request: Arc<ReadRequest>,
    after: Option<Position>,
    limit: PageLimit,
    is_finished: bool,
    removed_before: Option<RemovedBefore>,
    /// The number of events that this process had stored when the last page was read.
    stored_events: u64,
    slot: Slot,
}

impl Presented<Readers> {
    /// Begins an export of all events that match the filter and that the principal may see, newest first. `principal` is
    /// the holder of this credential, which is looked up again for every page.
    ///
    /// # Errors
    /// [`TooManyExports`](crate::AppError::TooManyExports).
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
            removed_before: None,
        })
    }
}

impl AuditLog {
    fn export_page(
        &self,
        request: &ReadRequest,
        after: Option<Position>,
        limit: PageLimit,
    ) -> Result<(EventPage, Option<ViewerTier>, Option<RemovedBefore>)> {
        let (page, query, ((project_id, requester, event), scope)) = self.read_page(|reader| {
            let access =
                request
                    .presented
                    .read_access(reader, request.selection, Some(ViewerRoute::Export))?;
            let filter = permitted(&access.principal, &access.scope, request.filter.clone())?;
            let (project, environment) = (&access.scope.project.project, access.scope.environment);
            let event = ServiceEvent::events_exported(project, environment, &filter);
            let begun = (project.id, Requester::from(&access.principal), event);
            let query = EventQuery {
                ledger_id: access.scope.ledger_id,
                filter: as_stored(&self.stream_engine, filter),
                tier: access.tier,
                order: EventOrder::Descending,
                after,
                limit,
            };
            Ok((query, (begun, access.scope)))
        })?;
        let mut removed_before = None;
        if after.is_none() {
            // The response begins after this.
            self.record_read(project_id, &requester, event)?;
            removed_before = self.known_removed_before(&scope);
        }
        Ok((page, query.tier, removed_before))
    }
}

/// A page in its output format.
struct WrittenPage<T> {
    output: T,
    next: Option<Position>,
    removed_before: Option<RemovedBefore>,
    events: usize,
    bytes: usize,
    worked: Duration,
}

impl Export {
    /// What removals have taken of the log; `None` without a removal, and before the first page.
    pub const fn removed_before(&self) -> Option<RemovedBefore> {
        self.removed_before
    }

    /// The next page, converted by `write`; `None` after the last page. `write` also gets whether it is the last, and may block.
    ///
    /// # Errors
    /// When the credential is no longer valid or the database fails. The export is then incomplete.
    pub async fn next<T: Send + 'static>(
        &mut self,
        write: impl FnOnce(&[EventJson], bool) -> Result<T> + Send + 'static,
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
        self.is_finished = written.next.is_none();
        self.after = written.next;
        self.removed_before = self.removed_before.or(written.removed_before);
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
    write: impl FnOnce(&[EventJson], bool) -> Result<T>,
) -> Result<WrittenPage<T>> {
    let started = Instant::now();
    let (page, tier, removed_before) = service.export_page(request, after, limit)?;
    let events = page.events.iter().map(|event| found_json(event, tier.as_ref()));
    let events: Vec<_> = events.collect::<Result<_>>()?;
    Ok(WrittenPage {
        output: write(&events, page.next.is_none())?,
        next: page.next,
        removed_before,
        events: events.len(),
        bytes: events.iter().map(|event| event.get().len()).sum(),
        worked: started.elapsed(),
    })
}
