//! Exports: every event that a query finds, page by page.
//!
//! An export holds one page. Between pages it holds no connection, and where it goes on is a place in the order of the
//! events, so what was there when it began is in it exactly once, whatever is stored meanwhile. Events are stored first:
//! while some are, an export reads only part of the time.

use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::events::{as_stored, permitted, visible_json};
use crate::reading::Asked;
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

/// Exports that run at once in this process.
pub const EXPORTS_MAX: usize = 8;
/// Of these, exports of one organization.
pub const ORGANIZATION_EXPORTS_MAX: usize = 4;
/// Pages that are read at once, of all exports together.
const READS_MAX: usize = 2;
/// What a page holds, about: the number of its events follows from the size of those before.
const PAGE_BYTES: usize = 512 * 1024;
/// Events of the first page, whose size nobody knows.
const FIRST_PAGE_EVENTS: usize = 100;
/// While events are stored, an export rests this many times as long as it has worked.
const REST_FACTOR: u32 = 4;

type Running = Mutex<HashMap<OrganizationId, usize>>;

/// What all exports share.
pub(crate) struct Exports {
    running: Arc<Running>,
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

/// One of the exports that run.
struct Slot {
    running: Arc<Running>,
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

/// An export that is running.
pub struct Export {
    service: Arc<AuditLog>,
    asked: Arc<Asked>,
    after: Option<Position>,
    limit: PageLimit,
    is_over: bool,
    /// Events that this process had stored when the last page was read.
    stored_events: u64,
    _slot: Slot,
}

impl Presented<Readers> {
    /// Begins an export of all events that the principal may see and the filter matches, newest first. `principal` is
    /// the holder of this credential, which is looked up again with every page.
    ///
    /// # Errors
    /// [`AppError::TooManyExports`].
    pub fn export(self, principal: &Principal, selection: Selection, filter: EventFilter) -> Result<Export> {
        let service = Arc::clone(&self.service);
        Ok(Export {
            _slot: service.exports.begin(principal.organization_id())?,
            stored_events: service.store.statistics().events,
            service,
            asked: Arc::new(Asked {
                presented: self,
                selection,
                filter,
            }),
            after: None,
            limit: PageLimit::for_export(FIRST_PAGE_EVENTS),
            is_over: false,
        })
    }
}

impl AuditLog {
    fn export_page(
        &self,
        asked: &Asked,
        after: Option<Position>,
        limit: PageLimit,
    ) -> Result<(EventPage, Option<ViewerTier>)> {
        self.store.query(|reader| {
            let access = asked.presented.read_access(reader, asked.selection)?;
            let filter = permitted(&access.principal, asked.filter.clone());
            let query = EventQuery {
                ledger_id: access.scope.ledger_id,
                filter: as_stored(&access.scope, filter),
                tier: access.tier,
                after,
                limit,
            };
            Ok((reader.events(&query)?, query.tier))
        })
    }
}

/// A page that was read, and what was made of it.
struct Written<T> {
    text: T,
    last: Option<Position>,
    events: usize,
    bytes: usize,
    has_more: bool,
    worked: Duration,
    permit: OwnedSemaphorePermit,
}

impl Export {
    /// What `write` makes of the next events, `None` after the last. It is called where it may block.
    ///
    /// # Errors
    /// When the credential no longer holds, and when the database cannot be asked: then the export is not whole.
    pub async fn next<T: Send + 'static>(
        &mut self,
        write: impl FnOnce(&[Box<RawValue>]) -> Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        if self.is_over {
            return Ok(None);
        }
        let permit = Arc::clone(&self.service.exports.reads).acquire_owned().await;
        let permit = permit.map_err(AppError::internal)?;
        let (service, asked) = (Arc::clone(&self.service), Arc::clone(&self.asked));
        let (after, limit) = (self.after, self.limit);
        let work = move || read_and_write(&service, &asked, after, limit, permit, write);
        let written = tokio::task::spawn_blocking(work).await;
        let written = written.map_err(AppError::internal)??;
        self.is_over = !written.has_more;
        self.after = written.last.or(self.after);
        if let Some(event_bytes) = written.bytes.checked_div(written.events) {
            self.limit = PageLimit::for_export(PAGE_BYTES / event_bytes.max(1));
        }
        self.rest(written.worked).await;
        // Only now may the next page be read, by whoever is next.
        drop(written.permit);
        Ok(Some(written.text))
    }

    /// Leaves the machine to those who store events, if there are any.
    async fn rest(&mut self, worked: Duration) {
        let statistics = self.service.store.statistics();
        let is_storing = statistics.events != self.stored_events || statistics.queue_depth > 0;
        self.stored_events = statistics.events;
        if is_storing {
            tokio::time::sleep(worked * REST_FACTOR).await;
        }
    }
}

fn read_and_write<T>(
    service: &AuditLog,
    asked: &Asked,
    after: Option<Position>,
    limit: PageLimit,
    permit: OwnedSemaphorePermit,
    write: impl FnOnce(&[Box<RawValue>]) -> Result<T>,
) -> Result<Written<T>> {
    let started = Instant::now();
    let (page, tier) = service.export_page(asked, after, limit)?;
    let events = page.events.iter().map(|event| visible_json(event, tier.as_ref()));
    let events: Vec<_> = events.collect::<Result<_>>()?;
    Ok(Written {
        text: write(&events)?,
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
