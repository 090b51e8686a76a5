//! Access of readers. The credential is looked up in the same transaction as the events, or, where a read replica may have the
//! events, in the database immediately before. The feed and exports look it up for every page, so that a revocation ends them.

use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::service::{AuditLog, Scope, Selection};
use audit_auth::{Principal, Readers};
use audit_domain::{EventFilter, ViewerRoute, ViewerTier};
use audit_store::{EventPage, EventQuery, LedgerId, Reader, ReplicaStatistics, StoreError};

/// The request of a client that reads page by page.
#[derive(Clone)]
pub(crate) struct ReadRequest {
    pub(crate) presented: Presented<Readers>,
    pub(crate) selection: Selection,
    /// Ids in it are unredacted, as the client sent them.
    pub(crate) filter: EventFilter,
}

/// The reader of a page and its access, as configured while the page is read.
pub(crate) struct ReadAccess {
    pub(crate) principal: Principal,
    pub(crate) scope: Scope,
    /// The tier of a viewer; `None` for keys, which see everything.
    pub(crate) tier: Option<ViewerTier>,
}

/// The long-running reads of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingStatistics {
    /// Requests and event streams that follow the feed.
    pub feed_readers: usize,
    /// The number of them that have read everything and wait for new events.
    pub feed_waiting: usize,
    /// Running exports.
    pub exports: usize,
}

impl Presented<Readers> {
    /// The access of the holder of the credential, as the database has it now. `route` is what the tier of a viewer must allow.
    pub(crate) fn read_access(
        &self,
        reader: &mut Reader<'_>,
        selection: Selection,
        route: Option<ViewerRoute>,
    ) -> Result<ReadAccess> {
        let present = &mut self.service.directory.present();
        let principal = self.identify(reader, present)?;
        let scope = self.service.scope_at(reader, present, &principal, selection)?;
        let tier = visible_tier(&scope, &principal)?;
        if let (Some(tier), Some(route)) = (&tier, route) {
            require_route(tier, route)?;
        }
        Ok(ReadAccess {
            principal,
            scope,
            tier,
        })
    }
}

impl AuditLog {
    /// The page of the query that `prepare` makes, and what else it returns.
    pub(crate) fn read_page<T>(
        &self,
        mut prepare: impl FnMut(&mut Reader<'_>) -> Result<(EventQuery, T)>,
    ) -> Result<(EventPage, EventQuery, T)> {
        let prepare = |reader: &mut Reader<'_>| {
            let (query, rest) = prepare(reader)?;
            Ok((query.ledger_id, query, rest))
        };
        self.read_ledger(prepare, |reader, query| reader.events(query))
    }

    /// What `read` finds with the query that `prepare` makes for a ledger, that query, and what else `prepare` returns.
    pub(crate) fn read_ledger<Q, R, T>(
        &self,
        mut prepare: impl FnMut(&mut Reader<'_>) -> Result<(LedgerId, Q, T)>,
        read: impl Fn(&mut Reader<'_>, &Q) -> Result<R, StoreError>,
    ) -> Result<(R, Q, T)> {
        if !self.store.has_replica() {
            return self.store.query(|reader| {
                let (_, query, rest) = prepare(reader)?;
                Ok((read(reader, &query)?, query, rest))
            });
        }
        let (ledger_id, end, query, rest) = self.store.read(|reader| {
            let (ledger_id, query, rest) = prepare(reader)?;
            let end = reader.log_end(ledger_id)?;
            Ok::<_, AppError>((ledger_id, end, query, rest))
        })?;
        let found = self
            .store
            .query_ledger(ledger_id, &end, |reader| read(reader, &query))?;
        Ok((found, query, rest))
    }

    /// Outcomes of the queries that a read replica could have served.
    pub fn replica_statistics(&self) -> ReplicaStatistics {
        let cells = self.cells.opened();
        let of_cells = cells.iter().map(|cell| cell.replica_statistics());
        of_cells.fold(self.store.replica_statistics(), ReplicaStatistics::plus)
    }

    /// The long-running reads of this process.
    pub fn reading_statistics(&self) -> ReadingStatistics {
        let mut sums = ReadingStatistics {
            feed_readers: self.feeds.readers(),
            feed_waiting: self.feeds.waiting(),
            exports: self.exports.running(),
        };
        for cell in self.cells.opened() {
            let of_cell = cell.reading_statistics();
            sums.feed_readers += of_cell.feed_readers;
            sums.feed_waiting += of_cell.feed_waiting;
            sums.exports += of_cell.exports;
        }
        sums
    }

    /// Ends every present and future wait for events, because the process is shutting down.
    pub fn stop_feeds(&self) {
        for cell in self.cells.opened() {
            cell.stop_feeds();
        }
        self.feeds.stop();
    }
}

/// # Errors
/// [`AppError::Forbidden`] when the tier does not allow it.
pub(crate) fn require_route(tier: &ViewerTier, route: ViewerRoute) -> Result<()> {
    match tier.allows(route) {
        true => Ok(()),
        false => Err(AppError::Forbidden(format!(
            "the viewer tier `{}` does not allow `{}`",
            tier.name,
            route.as_str()
        ))),
    }
}

/// The tier of a viewer; `None` for keys, which see everything.
pub(crate) fn visible_tier(scope: &Scope, principal: &Principal) -> Result<Option<ViewerTier>> {
    let Principal::Viewer(viewer) = principal else {
        return Ok(None);
    };
    let tier = scope
        .project
        .tiers
        .iter()
        .find(|tier| tier.tier.name.as_str() == viewer.tier);
    tier.map(|tier| Some(tier.tier.clone()))
        .ok_or(AppError::InvalidToken)
}
