//! Event queries.

use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::reading::ReadAccess;
use crate::service::{AuditLog, Scope, Selection};
use audit_auth::{Principal, Readers};
use audit_domain::{
    Condition, EventFilter, EventId, EventJson, EventOrder, Facet, FacetValues, MetadataPath, PageLimit,
    Position, Sha256Digest, StoredEvent, Timestamp, ViewerRoute, ViewerTier, Violation, Violations,
};
use audit_redact::Engine;
use audit_store::{EventPage, EventQuery, LoggedEvent, Reader};
use std::collections::BTreeSet;
use std::mem::take;

/// A request for a page of events. Ids in the filter are unredacted; redaction may have stored them in other forms.
#[derive(Clone, Debug)]
pub struct EventsRequest {
    /// The filter.
    pub filter: EventFilter,
    /// Only events with one of these ids, by id; `None` for all.
    pub ids: Option<BTreeSet<EventId>>,
    /// The order of the events.
    pub order: EventOrder,
    /// The cursor of an earlier response.
    pub cursor: Option<String>,
    /// The maximum number of events. A page also ends at [`audit_store::PAGE_BYTES_MAX`].
    pub limit: PageLimit,
}

/// A page of events.
#[derive(Debug)]
pub struct EventsResponse {
    /// The events as JSON.
    pub events: Vec<EventJson>,
    /// The cursor of the next page; `None` on the last page.
    pub cursor: Option<String>,
    /// What removals have taken of the log; `None` without a removal.
    pub removed_before: Option<RemovedBefore>,
}

/// The removals of a log, as responses state them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemovedBefore {
    /// The latest time before which one has taken events, of any category.
    pub time: Timestamp,
    /// The manifest of the archive that the newest one names, which has what it took; `None` where none was recorded before it.
    pub archive: Option<Sha256Digest>,
}

impl Presented<Readers> {
    /// One page of the events that the holder of the credential may see.
    ///
    /// # Errors
    /// Those of [`Self::authenticate`]; [`AppError::Invalid`] when the cursor belongs to another query;
    /// [`AppError::NotFound`] when the credential has no access to the project.
    pub fn events(&self, selection: Selection, request: EventsRequest) -> Result<EventsResponse> {
        self.in_its_cell(selection.project_id, |presented| {
            presented.events_here(selection, request.clone())
        })
    }

    fn events_here(&self, selection: Selection, request: EventsRequest) -> Result<EventsResponse> {
        let service = &self.service;
        let prepare = |reader: &mut Reader<'_>| {
            let ReadAccess {
                principal,
                scope,
                tier,
            } = self.read_access(reader, selection, None)?;
            let filter = permitted(&principal, &scope, request.filter.clone())?;
            // Of the filter as it was asked for, so that cursors survive a change of the hash key.
            let mut cursor_scope = cursor_scope(&scope, tier.as_ref(), &filter, request.order);
            for id in request.ids.iter().flatten() {
                cursor_scope += &format!(" {id}");
            }
            let filter = as_stored(&service.stream_engine, filter);
            let after = match &request.cursor {
                Some(text) => Some(service.open_cursor(text, &cursor_scope)?),
                None => None,
            };
            let query = EventQuery {
                ledger_id: scope.ledger_id,
                filter,
                tier,
                order: request.order,
                after,
                limit: request.limit,
            };
            Ok((query.ledger_id, query, (cursor_scope, scope)))
        };
        let (page, query, (cursor_scope, scope)) =
            service.read_ledger(prepare, |reader, query| match &request.ids {
                Some(ids) => reader.events_of_ids(query, ids),
                None => reader.events(query),
            })?;
        Ok(EventsResponse {
            removed_before: service.known_removed_before(&scope),
            ..service.events_response(page, query.tier.as_ref(), &cursor_scope)?
        })
    }

    /// One event by its id.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the reader's project has no such event, or its tenant and tier do not show it;
    /// [`AppError::EventRemoved`] instead where a removal may have taken it.
    pub fn event(&self, selection: Selection, id: EventId) -> Result<EventJson> {
        self.in_its_cell(selection.project_id, |presented| {
            presented.event_here(selection, id)
        })
    }

    fn event_here(&self, selection: Selection, id: EventId) -> Result<EventJson> {
        let service = &self.service;
        let (access, logged) = service.store.query(|reader| {
            let access = self.read_access(reader, selection, Some(ViewerRoute::Event))?;
            let logged = service.visible_event(reader, &access, id)?;
            Ok::<_, AppError>((access, logged))
        })?;
        let logged = logged.ok_or_else(|| service.no_event(&access.scope, id))?;
        visible_json(&logged.event, access.tier.as_ref())
    }
}

impl AuditLog {
    /// An event, if it exists and the reader may see it.
    pub(crate) fn visible_event(
        &self,
        reader: &mut Reader<'_>,
        access: &ReadAccess,
        id: EventId,
    ) -> Result<Option<LoggedEvent>> {
        let Some(logged) = reader.event(access.scope.ledger_id, id)? else {
            return Ok(None);
        };
        if let (Principal::Viewer(viewer), Some(tier)) = (&access.principal, &access.tier) {
            let facets = logged.event.facets()?;
            if facets.get(Facet::TenantId) != Some(&viewer.tenant_id) || !tier.shows(&facets) {
                return Ok(None);
            }
        }
        Ok(Some(logged))
    }

    /// The error of an id for which there is no event, or none that the reader may see. It is the same for both, so that a viewer does
    /// not learn which events of others exist.
    pub(crate) fn no_event(&self, scope: &Scope, id: EventId) -> AppError {
        match self.known_removed_before(scope) {
            Some(before) if id.time() < before.time => AppError::EventRemoved { before: before.time },
            _ => AppError::NotFound("event"),
        }
    }

    /// What removals have taken of a log; `None` without a removal.
    ///
    /// # Errors
    /// When the lifecycle events of the log cannot be read, or are not those that were signed.
    pub(crate) fn removed_before(&self, scope: &Scope) -> Result<Option<RemovedBefore>> {
        let lifecycle = self.lifecycle(scope)?;
        let removals = || lifecycle.fold.removals().map(|(_, _, removal)| removal);
        let times = removals().flat_map(|removal| removal.received_before.values().copied());
        Ok(times.max().map(|time| RemovedBefore {
            time,
            archive: removals().last().and_then(|newest| newest.archive),
        }))
    }

    /// [`Self::removed_before`] for a reader of events. Where it is not known it is left out, because reading must go on.
    pub(crate) fn known_removed_before(&self, scope: &Scope) -> Option<RemovedBefore> {
        self.removed_before(scope).unwrap_or_else(|error| {
            log::warn!(
                "the removals of the log {} are not known: {error}",
                scope.log_name()
            );
            None
        })
    }

    fn open_cursor(&self, text: &str, scope: &str) -> Result<Position> {
        self.cursor_key
            .open(text, scope)
            .and_then(|bytes| Position::from_bytes(&bytes))
            .map_err(|error| Violations::one("cursor", error).into())
    }

    fn events_response(
        &self,
        page: EventPage,
        tier: Option<&ViewerTier>,
        cursor_scope: &str,
    ) -> Result<EventsResponse> {
        let cursor = page
            .next
            .map(|position| self.cursor_key.seal(&position.to_bytes(), cursor_scope));
        let events = page.events.iter().map(|event| found_json(event, tier));
        Ok(EventsResponse {
            events: events.collect::<Result<_>>()?,
            cursor,
            removed_before: None,
        })
    }
}

/// The filter, restricted to the tenant of a viewer.
///
/// # Errors
/// [`AppError::Invalid`] when it filters by a member of the metadata that the project does not name. Only keys learn which ones it names:
/// to viewers they may be hidden.
pub(crate) fn permitted(
    principal: &Principal,
    scope: &Scope,
    mut filter: EventFilter,
) -> Result<EventFilter> {
    let named = &scope.project.project.metadata_filter_paths;
    let unnamed = filter.metadata.iter().filter(|(path, _)| !named.contains(path));
    let unnamed = unnamed.map(|(path, condition)| {
        Violation::new(path.parameter(condition), unnamed_message(principal, named))
    });
    // The messages are long, and a request can have many.
    Violations::check(unnamed.take(MetadataPath::OF_PROJECT_MAX).collect())?;
    if let Principal::Viewer(viewer) = principal {
        let tenant = filter.conditions.entry(Facet::TenantId).or_default();
        tenant.any_of = Condition::is(viewer.tenant_id.as_str()).any_of;
    }
    Ok(filter)
}

fn unnamed_message(principal: &Principal, named: &[MetadataPath]) -> String {
    let named: Vec<&str> = named.iter().map(MetadataPath::as_str).collect();
    match principal {
        Principal::Viewer(_) => "is not a member of the metadata by which this project filters".to_owned(),
        _ if named.is_empty() => {
            "must be one of the project's metadata_filter_paths, of which there are none: PATCH /projects/:id sets them".to_owned()
        }
        _ => format!("must be one of the project's metadata_filter_paths: {}", named.join(", ")),
    }
}

/// The filter with each identifier, and each text that is searched for as a whole, in all forms in which redaction may have stored it. These
/// do not depend on rules, so any engine with the hash key knows them.
pub(crate) fn as_stored(engine: &Engine, mut filter: EventFilter) -> EventFilter {
    for (facet, condition) in &mut filter.conditions {
        if facet.values() == FacetValues::Identifier {
            *condition = take(condition).in_all_forms(|id| engine.identifier_forms(id));
        }
    }
    let search = filter.search.take();
    filter.search = search.map(|search| search.in_all_forms(|text| engine.identifier_forms(text)));
    filter
}

/// The tier of a reader who does not see all of the JSON of an event.
fn hiding<'a>(event: &StoredEvent, tier: Option<&'a ViewerTier>) -> Option<&'a ViewerTier> {
    tier.filter(|tier| tier.hides_something() || event.content_salt.erased().is_some())
}

/// The JSON of an event without what the tier hides.
pub(crate) fn visible_json(event: &StoredEvent, tier: Option<&ViewerTier>) -> Result<EventJson> {
    match hiding(event, tier) {
        Some(tier) => redacted_json(event, tier),
        None => Ok(event.to_json()?),
    }
}

/// [`visible_json`] of an event that a filter has found, which has checked the stored text.
pub(crate) fn found_json(event: &StoredEvent, tier: Option<&ViewerTier>) -> Result<EventJson> {
    match hiding(event, tier) {
        Some(tier) => redacted_json(event, tier),
        None => Ok(event.to_checked_json()),
    }
}

fn redacted_json(event: &StoredEvent, tier: &ViewerTier) -> Result<EventJson> {
    let mut object = event.to_object()?;
    tier.redact(&mut object);
    Ok(EventJson::of(object))
}

/// The scope of a cursor: it is valid only for the same log, tier, filter and order.
fn cursor_scope(scope: &Scope, tier: Option<&ViewerTier>, filter: &EventFilter, order: EventOrder) -> String {
    let tier = tier.map(|tier| tier.name.as_str()).unwrap_or_default();
    format!(
        "events {order} {} {} {tier} {}",
        scope.project.project.id,
        scope.environment,
        filter.fingerprint()
    )
}
