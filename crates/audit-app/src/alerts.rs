//! Alerts: listing and transitions.

use crate::error::{AppError, Result};
use crate::self_audit::{Place, Requester, ServiceEvent};
use crate::service::{AuditLog, Scope, Selection};
use audit_alerts::{Alert, AlertAction, AlertId, AlertNote, GroupBy};
use audit_auth::KeyHolder;
use audit_domain::{Environment, EventId, KeyScope, ProjectId, SearchedText, Violations};
use audit_store::{AlertFilter, LedgerId, Reader};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::slice::from_ref;

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

/// A change of an alert: a status, a note, or both.
#[derive(Clone, Debug)]
pub struct AlertChange {
    /// The transition; `None` for a note alone.
    pub action: Option<AlertAction>,
    /// What the operator has found. It is stored in the event of the change and nowhere else.
    pub note: Option<AlertNote>,
}

/// An alert, with what people need to place it, in the JSON form of the API and of messages to webhooks.
#[derive(Clone, Debug, Serialize)]
pub struct AlertInContext {
    /// The alert.
    #[serde(flatten)]
    pub alert: Alert,
    /// The project.
    pub project_id: ProjectId,
    /// The present name of the project.
    pub project_name: String,
    /// The environment of the events.
    #[serde(serialize_with = "as_word")]
    pub environment: Environment,
    /// Of a rule that groups by actor: the name of the actor in the newest sample event, as stored. `None` if it has none, or if the key
    /// may not read events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_name: Option<String>,
    /// Where the console shows the alert; `None` if the operator has not set the URL of the pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

fn as_word<S: Serializer>(environment: &Environment, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(environment.as_str())
}

/// A page of alerts.
#[derive(Clone, Debug)]
pub struct AlertsResponse {
    /// The alerts, newest first.
    pub alerts: Vec<AlertInContext>,
    /// The cursor of the next page; `None` on the last page.
    pub cursor: Option<String>,
}

/// The number of events of one read, so that a page of alerts holds few of them at a time.
const EVENTS_READ_MAX: usize = 25;

/// The names of the actors of those alerts whose rule groups by actor. A damaged event, which verification reports, has none.
pub(crate) fn actor_names(
    reader: &mut Reader<'_>,
    ledger_id: LedgerId,
    alerts: &[Alert],
) -> Result<BTreeMap<AlertId, String>> {
    let newest = |alert: &Alert| match alert.group_by {
        GroupBy::ActorId => Some((alert.id, *alert.sample_event_ids.first()?)),
        _ => None,
    };
    let newest: Vec<(AlertId, EventId)> = alerts.iter().filter_map(newest).collect();
    let ids: BTreeSet<EventId> = newest.iter().map(|(_, id)| *id).collect();
    let ids: Vec<EventId> = ids.into_iter().collect();
    let mut names = BTreeMap::new();
    for ids in ids.chunks(EVENTS_READ_MAX) {
        for event in reader.intact_events(ledger_id, ids)? {
            let Ok(facets) = event.facets() else { continue };
            let name = facets.searched_text(SearchedText::ActorName);
            names.extend(name.map(|name| (event.id, name.to_owned())));
        }
    }
    let named = |(alert_id, event_id): (AlertId, EventId)| Some((alert_id, names.get(&event_id)?.clone()));
    Ok(newest.into_iter().filter_map(named).collect())
}

/// As [`actor_names`], for the holder of a key. A name is a field of an event, so a key without [`KeyScope::EventsRead`] gets none.
fn names_for(
    principal: &KeyHolder,
    reader: &mut Reader<'_>,
    ledger_id: LedgerId,
    alerts: &[Alert],
) -> Result<BTreeMap<AlertId, String>> {
    let reads_events = principal
        .scopes()
        .is_none_or(|scopes| scopes.contain(KeyScope::EventsRead));
    match reads_events {
        true => actor_names(reader, ledger_id, alerts),
        false => Ok(BTreeMap::new()),
    }
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
            let mut names = names_for(principal, reader, scope.ledger_id, &alerts)?;
            let in_context = |alert| self.in_context(&scope, &mut names, alert);
            let alerts = alerts.into_iter().map(in_context).collect();
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
            let alert = alert.ok_or(AppError::NotFound("alert"))?;
            let mut names = names_for(principal, reader, scope.ledger_id, from_ref(&alert))?;
            Ok(self.in_context(&scope, &mut names, alert))
        })
    }

    fn in_context(
        &self,
        scope: &Scope,
        names: &mut BTreeMap<AlertId, String>,
        alert: Alert,
    ) -> AlertInContext {
        let project = &scope.project.project;
        AlertInContext {
            actor_name: names.remove(&alert.id),
            url: self.alert_url(project.id, scope.environment, alert.id),
            project_id: project.id,
            project_name: project.name.clone(),
            environment: scope.environment,
            alert,
        }
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

    /// Changes the state of an alert, or records a note about it.
    ///
    /// # Errors
    /// [`AppError::Invalid`] without a status and a note; [`AppError::NotFound`]; [`AppError::Transition`] when the state does not allow it.
    /// For a note [`AppError::Conflict`] while the service does not record its own events, and [`AppError::RateLimited`].
    pub fn change_alert(
        &self,
        principal: &KeyHolder,
        selection: Selection,
        id: AlertId,
        AlertChange { action, note }: AlertChange,
    ) -> Result<AlertInContext> {
        if action.is_none() && note.is_none() {
            return Err(Violations::one("status", "Required").into());
        }
        let scope = self
            .store
            .read(|reader| self.scope(reader, principal, selection))?;
        let (project_id, ledger_id) = (scope.project.project.id, scope.ledger_id);
        let environment = scope.environment;
        let requester = Requester::from(principal);
        let recorder = self.recorder(Place::Project(project_id), &requester)?;
        let now = self.clock.now();
        if note.is_some() {
            if recorder.is_none() {
                let message =
                    "a note is stored as an event of the service, and the operator has switched these off";
                return Err(AppError::Conflict(message.to_owned()));
            }
            self.read_limit.count(project_id, &requester, now)?;
        }
        let changed = self.store.write_for(project_id, move |writer| {
            if recorder.is_some() {
                // Its event needs the head. Locked after the alert, it could deadlock with another change of an alert.
                writer.hold_configuration(project_id)?;
            }
            let alert = writer.lock_alert(ledger_id, id)?;
            let alert = alert.ok_or(AppError::NotFound("alert"))?;
            let before = alert.state;
            let alert = match action {
                Some(action) => alert.apply(action, now)?,
                None => alert,
            };
            if alert.state != before {
                writer.update_alert_state(ledger_id, &alert)?;
            } else if note.is_none() {
                return Ok(alert);
            }
            if let Some(recorder) = recorder {
                let event = ServiceEvent::alert_updated(before.status(), &alert, environment, note.as_ref());
                recorder.record(writer, project_id, vec![event])?;
            }
            Ok::<_, AppError>(alert)
        });
        // An event may have raised an alert.
        self.wake_deliveries();
        let changed = changed?;
        let mut names = self
            .store
            .read(|reader| names_for(principal, reader, ledger_id, from_ref(&changed)))?;
        Ok(self.in_context(&scope, &mut names, changed))
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

#[cfg(test)]
mod tests {
    use super::*;
    use audit_alerts::{AlertRuleId, AlertState, BuiltinRule, DistinctField, Severity};
    use audit_domain::Timestamp;
    use serde_json::Value;

    #[test]
    fn an_alert_has_the_members_of_the_document() {
        let fired_at = Timestamp::from_seconds(1_768_473_000);
        let shown = AlertInContext {
            alert: Alert {
                id: AlertId::new(fired_at, [0; 10]),
                rule_id: AlertRuleId::Builtin(BuiltinRule::PasswordSpraying),
                rule_name: "Password Spraying".parse().unwrap(),
                severity: Severity::High,
                state: AlertState::Open,
                tenant_id: "acme".to_owned(),
                group_by: GroupBy::IpAddress,
                group_key: "203.0.113.7".to_owned(),
                count_distinct: Some(DistinctField::ActorId),
                event_count: 5,
                sample_event_ids: Vec::new(),
                fired_at,
            },
            project_id: "8aefe29f-cd1a-4802-85e0-718cd30d0f63".parse().unwrap(),
            project_name: "default".to_owned(),
            environment: Environment::Live,
            actor_name: Some("Jane".to_owned()),
            url: Some("https://audit.example/console".to_owned()),
        };
        let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
        let document: Value = serde_json::from_slice(&std::fs::read(document).unwrap()).unwrap();
        let described = &document["components"]["schemas"]["Alert"]["properties"];
        let sent = serde_json::to_value(&shown).unwrap();
        let names = |object: &Value| {
            object
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<BTreeSet<_>>()
        };
        assert_eq!(names(&sent), names(described));
    }
}
