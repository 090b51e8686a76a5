//! Reading events.

use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::reading::ReadAccess;
use crate::service::{AuditLog, Scope, Selection};
use audit_auth::{KeyHolder, Principal, Readers};
use audit_domain::{EventFilter, EventId, PageLimit, Position, StoredEvent, ViewerTier, Violations};
use audit_store::{EventPage, EventQuery, LoggedEvent, Reader};
use serde_json::value::{RawValue, to_raw_value};

/// What a reader asks for. Ids in the filter are as the reader knows them; redaction may have stored other forms.
#[derive(Clone, Debug)]
pub struct EventsRequest {
    /// Which events.
    pub filter: EventFilter,
    /// From an earlier answer.
    pub cursor: Option<String>,
    /// How many at most.
    pub limit: PageLimit,
}

/// A page of events.
#[derive(Debug)]
pub struct EventsAnswer {
    /// The events, each as JSON text.
    pub events: Vec<Box<RawValue>>,
    /// Where the next page begins; `None` on the last.
    pub cursor: Option<String>,
}

impl Presented<Readers> {
    /// One page of the events that the holder of the credential may see.
    ///
    /// # Errors
    /// Those of [`Self::authenticate`], and when the cursor is not one of this query or the credential does not reach the
    /// project.
    pub fn events(&self, selection: Selection, request: EventsRequest) -> Result<EventsAnswer> {
        let service = &self.service;
        service.store.query(|reader| {
            let ReadAccess {
                principal,
                scope,
                tier,
            } = self.read_access(reader, selection)?;
            let filter = as_stored(&scope, permitted(&principal, request.filter));
            let cursor_scope = cursor_scope(&scope, tier.as_ref(), &filter);
            let after = match &request.cursor {
                Some(text) => Some(service.open_cursor(text, &cursor_scope)?),
                None => None,
            };
            let query = EventQuery {
                ledger_id: scope.ledger_id,
                filter,
                tier,
                after,
                limit: request.limit,
            };
            let page = reader.events(&query)?;
            service.answer(page, query.tier.as_ref(), &cursor_scope)
        })
    }
}

impl AuditLog {
    /// One event by its id.
    ///
    /// # Errors
    /// [`AppError::NotFound`] when the principal's project has no such event.
    pub fn event(&self, principal: &KeyHolder, selection: Selection, id: EventId) -> Result<Box<RawValue>> {
        self.store.query(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            let logged = reader
                .event(scope.ledger_id, id)?
                .ok_or(AppError::NotFound("event"))?;
            Ok(logged.event.to_json()?)
        })
    }

    /// An event that the reader may see.
    pub(crate) fn visible_event(
        &self,
        reader: &mut Reader<'_>,
        access: &ReadAccess,
        id: EventId,
    ) -> Result<LoggedEvent> {
        let logged = reader
            .event(access.scope.ledger_id, id)?
            .ok_or(AppError::NotFound("event"))?;
        if let (Principal::Viewer(viewer), Some(tier)) = (&access.principal, &access.tier) {
            let facets = logged.event.facets()?;
            if facets.tenant_id != viewer.tenant_id || !tier.shows(&facets) {
                return Err(AppError::NotFound("event"));
            }
        }
        Ok(logged)
    }

    fn open_cursor(&self, text: &str, scope: &str) -> Result<Position> {
        self.cursor_key
            .open(text, scope)
            .and_then(|place| Position::from_bytes(&place))
            .map_err(|error| Violations::one("cursor", error).into())
    }

    fn answer(&self, page: EventPage, tier: Option<&ViewerTier>, cursor_scope: &str) -> Result<EventsAnswer> {
        let last = page.events.last().filter(|_| page.has_more);
        let cursor = last.map(|event| {
            let position = Position {
                occurred_at: event.occurred_at,
                id: event.id,
            };
            self.cursor_key.seal(&position.to_bytes(), cursor_scope)
        });
        let events = page.events.iter().map(|event| visible_json(event, tier));
        Ok(EventsAnswer {
            events: events.collect::<Result<_>>()?,
            cursor,
        })
    }
}

/// The filter with what the principal is confined to.
pub(crate) fn permitted(principal: &Principal, mut filter: EventFilter) -> EventFilter {
    if let Principal::Viewer(viewer) = principal {
        filter.tenant_id = Some(viewer.tenant_id.clone());
    }
    filter
}

/// The filter with its ids in every form in which redaction may have stored them.
pub(crate) fn as_stored(scope: &Scope, filter: EventFilter) -> EventFilter {
    let engine = &scope.project.engine;
    let all_forms = |ids: Vec<String>| ids.iter().flat_map(|id| engine.identifier_forms(id)).collect();
    // Without `..`: of a new filter it must be decided whether redaction stores what it compares with in another form.
    let EventFilter {
        tenant_id,
        actor_ids,
        actor_type,
        action,
        category,
        target_ids,
        target_type,
        start,
        end,
        search,
    } = filter;
    EventFilter {
        tenant_id,
        actor_ids: actor_ids.map(all_forms),
        actor_type,
        action,
        category,
        target_ids: target_ids.map(all_forms),
        target_type,
        start,
        end,
        search,
    }
}

/// An event as a reader may see it.
pub(crate) fn visible_json(event: &StoredEvent, tier: Option<&ViewerTier>) -> Result<Box<RawValue>> {
    let Some(tier) = tier.filter(|tier| tier.hides_something()) else {
        return Ok(event.to_json()?);
    };
    let mut object = event.to_object()?;
    tier.redact(&mut object);
    to_raw_value(&object).map_err(AppError::internal)
}

/// What a viewer may see; `None` for keys, which see everything.
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

/// A cursor is good for the same log, visibility and filters.
fn cursor_scope(scope: &Scope, tier: Option<&ViewerTier>, filter: &EventFilter) -> String {
    let tier = tier.map(|tier| tier.name.as_str()).unwrap_or_default();
    format!(
        "events {} {} {tier} {}",
        scope.project.project.id,
        scope.environment,
        filter.fingerprint()
    )
}
