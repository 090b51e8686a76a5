//! Alerts: listing and transitions.

use crate::error::{AppError, Result};
use crate::self_audit::{Place, Requester, ServiceEvent};
use crate::service::{AuditLog, Scope, Selection};
use audit_alerts::{Alert, AlertAction, AlertId, GroupBy};
use audit_auth::KeyHolder;
use audit_domain::{Environment, ProjectId, SearchedText, Violations};
use audit_store::{AlertFilter, LedgerId, Reader, StoreError};

/// A request for a page of alerts.
#[derive(Clone, Debug)]
pub struct AlertsRequest {
    /// The filter.
    pub filter: AlertFilter,
    /// The cursor of an earlier response.
    pub cursor: Option<String>,
    /// The maximum number of alerts.
    pub limit: usize,
}

/// An alert, with what people need to place it: the API and the messages to webhooks show both.
#[derive(Clone, Debug)]
pub struct AlertInContext {
    /// The alert.
    pub alert: Alert,
    /// The project.
    pub project_id: ProjectId,
    /// The present name of the project.
    pub project_name: String,
    /// The environment of the events.
    pub environment: Environment,
    /// Of a rule that groups by actor: the name of the actor in the newest sample event, as stored. `None` if it has none.
    pub actor_name: Option<String>,
    /// Where the console shows the alert; `None` if the operator has not set the URL of the pages.
    pub url: Option<String>,
}

/// A page of alerts.
#[derive(Clone, Debug)]
pub struct AlertsResponse {
    /// The alerts, newest first.
    pub alerts: Vec<AlertInContext>,
    /// The cursor of the next page; `None` on the last page.
    pub cursor: Option<String>,
}

/// The name of the actor of an alert whose rule groups by actor. A damaged event, which verification reports, has none.
pub(crate) fn actor_name(
    reader: &mut Reader<'_>,
    ledger_id: LedgerId,
    alert: &Alert,
) -> Result<Option<String>> {
    let Some(newest) = alert.sample_event_ids.first() else {
        return Ok(None);
    };
    if alert.group_by != GroupBy::ActorId {
        return Ok(None);
    }
    let event = match reader.event(ledger_id, *newest) {
        Err(StoreError::DamagedEvent(_) | StoreError::Damaged { .. }) => None,
        event => event?,
    };
    let Some(event) = event else {
        return Ok(None);
    };
    let facets = event.event.facets().ok();
    let name = facets.and_then(|facets| facets.searched_text(SearchedText::ActorName).map(str::to_owned));
    Ok(name)
}

impl AuditLog {
    /// One page of the alerts of a project and environment.
    ///
    /// # Errors
    /// [`AppError::Invalid`] when the cursor belongs to another query; when the principal has no access to the project.
    pub fn alerts(
        &self,
        principal: &KeyHolder,
        selection: Selection,
        request: &AlertsRequest,
    ) -> Result<AlertsResponse> {
        self.store.query(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            let cursor_scope = format!(
                "alerts {} {} {:?}",
                scope.project.project.id, scope.environment, request.filter
            );
            let after = self.open_id_cursor(request.cursor.as_deref(), &cursor_scope)?;
            let after = after.map(AlertId::from_bytes);
            let mut alerts = reader.alerts(scope.ledger_id, &request.filter, after, request.limit + 1)?;
            let id = |alert: &Alert| alert.id.to_bytes().to_vec();
            let cursor = self.seal_id_cursor(&mut alerts, request.limit, &cursor_scope, id);
            let in_context = |alert| self.in_context(reader, &scope, alert);
            let alerts = alerts.into_iter().map(in_context).collect::<Result<_>>()?;
            Ok(AlertsResponse { alerts, cursor })
        })
    }

    /// An alert of a project and environment.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn alert(&self, principal: &KeyHolder, selection: Selection, id: AlertId) -> Result<AlertInContext> {
        self.store.read(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            let alert = reader.alert(scope.ledger_id, &id.to_bytes())?;
            self.in_context(reader, &scope, alert.ok_or(AppError::NotFound("alert"))?)
        })
    }

    fn in_context(&self, reader: &mut Reader<'_>, scope: &Scope, alert: Alert) -> Result<AlertInContext> {
        let project = &scope.project.project;
        Ok(AlertInContext {
            actor_name: actor_name(reader, scope.ledger_id, &alert)?,
            url: self.alert_url(project.id, scope.environment, alert.id),
            project_id: project.id,
            project_name: project.name.clone(),
            environment: scope.environment,
            alert,
        })
    }

    /// Where the console shows an alert.
    pub(crate) fn alert_url(
        &self,
        project_id: ProjectId,
        environment: Environment,
        id: AlertId,
    ) -> Option<String> {
        let pages = self.settings.pages_url.as_ref()?;
        // The console reads its fragment, so nothing of it is in the log of a proxy.
        Some(format!(
            "{pages}/console#/alerts?alert={id}&project={project_id}&environment={environment}"
        ))
    }

    /// Changes the state of an alert.
    ///
    /// # Errors
    /// [`AppError::NotFound`], or [`AppError::Transition`] when the state does not allow it.
    pub fn change_alert(
        &self,
        principal: &KeyHolder,
        selection: Selection,
        id: AlertId,
        action: AlertAction,
    ) -> Result<AlertInContext> {
        let scope = self
            .store
            .read(|reader| self.scope(reader, principal, selection))?;
        let (project_id, ledger_id) = (scope.project.project.id, scope.ledger_id);
        let environment = scope.environment;
        let recorder = self.recorder(Place::Project(project_id), &Requester::from(principal))?;
        let now = self.clock.now();
        let changed = self.store.write_for(project_id, move |writer| {
            if recorder.is_some() {
                // Its event needs the head. Locked after the alert, it could deadlock with another change of an alert.
                writer.hold_configuration(project_id)?;
            }
            let alert = writer.lock_alert(ledger_id, id)?;
            let alert = alert.ok_or(AppError::NotFound("alert"))?;
            let before = alert.state;
            let alert = alert.apply(action, now)?;
            if alert.state == before {
                return Ok(alert);
            }
            writer.update_alert_state(ledger_id, &alert)?;
            if let Some(recorder) = recorder {
                let event = ServiceEvent::alert_updated(before.status(), &alert, environment);
                recorder.record(writer, project_id, vec![event])?;
            }
            Ok::<_, AppError>(alert)
        });
        // An event may have raised an alert.
        self.wake_deliveries();
        let changed = changed?;
        self.store
            .read(|reader| self.in_context(reader, &scope, changed.clone()))
    }

    /// The id in a cursor of a list that is sorted by id.
    pub(crate) fn open_id_cursor(&self, cursor: Option<&str>, scope: &str) -> Result<Option<[u8; 16]>> {
        let Some(text) = cursor else { return Ok(None) };
        let invalid = || AppError::from(Violations::one("cursor", audit_domain::CursorError));
        let id = self.cursor_key.open(text, scope).map_err(|_| invalid())?;
        id.try_into().map(Some).map_err(|_| invalid())
    }

    /// Truncates `found` to `limit`. If it was longer, returns the cursor of the next page.
    pub(crate) fn seal_id_cursor<T>(
        &self,
        found: &mut Vec<T>,
        limit: usize,
        scope: &str,
        id: impl FnOnce(&T) -> Vec<u8>,
    ) -> Option<String> {
        if found.len() <= limit {
            return None;
        }
        found.truncate(limit);
        found.last().map(|last| self.cursor_key.seal(&id(last), scope))
    }
}
