//! Every event of the service: its action, its category, and what it says. No event contains a secret, the text of a key, or
//! the path of a webhook's URL, which often is a secret of the receiver.

mod destinations;
mod lifecycle;

use super::settings::{self, Settings, changes, origin_of_url, text_or_null};
use crate::portal::Portal;
use crate::webhooks::Webhook;
use audit_alerts::{Alert, AlertNote, AlertRule, AlertStatus};
use audit_auth::ViewerClaims;
use audit_domain::{
    Action, ActionError, ActionLabel, Actor, Category, Context, Environment, Event, EventFilter, Facet, Plan,
    ProjectId, SERVICE_TENANT_ID, Target, Timestamp, ViewerTier,
};
use audit_store::{Key, Organization, Project, RedactionRuleRow, StreamTokenHash};
use serde_json::{Map, Value, json};

audit_domain::words! {
    /// The actions of the service's own events.
    pub enum ServiceAction {
        /// A project key was created.
        ApiKeyCreated = "audit.api_key.created",
        /// Name, end or networks of a project key were changed.
        ApiKeyUpdated = "audit.api_key.updated",
        /// A project key was replaced by another one.
        ApiKeyRotated = "audit.api_key.rotated",
        /// A project key was revoked.
        ApiKeyRevoked = "audit.api_key.revoked",
        /// A master key was created.
        MasterKeyCreated = "audit.master_key.created",
        /// A master key was replaced by another one.
        MasterKeyRotated = "audit.master_key.rotated",
        /// A master key was revoked.
        MasterKeyRevoked = "audit.master_key.revoked",
        /// A person signed out of the console, which ended all console sessions of the key.
        ConsoleSignedOut = "audit.console.signed_out",
        /// A project was created.
        ProjectCreated = "audit.project.created",
        /// The name or the `metadata_filter_paths` of a project were changed.
        ProjectUpdated = "audit.project.updated",
        /// A project was archived: it takes no events of clients.
        ProjectArchived = "audit.project.archived",
        /// A project was archived no longer.
        ProjectUnarchived = "audit.project.unarchived",
        /// The plan of an organization was changed.
        PlanUpdated = "audit.plan.updated",
        /// A custom redaction rule was created.
        RedactionRuleCreated = "audit.redaction_rule.created",
        /// A redaction rule was changed.
        RedactionRuleUpdated = "audit.redaction_rule.updated",
        /// A custom redaction rule was deleted.
        RedactionRuleDeleted = "audit.redaction_rule.deleted",
        /// A viewer tier was created.
        ViewerTierCreated = "audit.viewer_tier.created",
        /// A viewer tier was changed.
        ViewerTierUpdated = "audit.viewer_tier.updated",
        /// A viewer tier was deleted.
        ViewerTierDeleted = "audit.viewer_tier.deleted",
        /// Settings of the portal were changed.
        PortalUpdated = "audit.portal.updated",
        /// An action was labelled.
        ActionLabelCreated = "audit.action_label.created",
        /// The labels of an action were changed.
        ActionLabelUpdated = "audit.action_label.updated",
        /// The labels of an action were deleted.
        ActionLabelDeleted = "audit.action_label.deleted",
        /// A viewer token was created.
        ViewerTokenCreated = "audit.viewer_token.created",
        /// A custom alert rule was created.
        AlertRuleCreated = "audit.alert_rule.created",
        /// An alert rule was changed.
        AlertRuleUpdated = "audit.alert_rule.updated",
        /// A custom alert rule was deleted.
        AlertRuleDeleted = "audit.alert_rule.deleted",
        /// The status of an alert was changed, or a note was written.
        AlertUpdated = "audit.alert.updated",
        /// A webhook was created.
        WebhookCreated = "audit.webhook.created",
        /// A webhook was changed, or its receiver disabled it by responding 410.
        WebhookUpdated = "audit.webhook.updated",
        /// A webhook was deleted.
        WebhookDeleted = "audit.webhook.deleted",
        /// The secret of a webhook was replaced.
        WebhookSecretRotated = "audit.webhook.secret_rotated",
        /// A destination was created.
        DestinationCreated = "audit.destination.created",
        /// A destination was changed.
        DestinationUpdated = "audit.destination.updated",
        /// A destination was deleted.
        DestinationDeleted = "audit.destination.deleted",
        /// The credentials of a destination were replaced.
        DestinationCredentialsRotated = "audit.destination.credentials_rotated",
        /// A destination was paused.
        DestinationPaused = "audit.destination.paused",
        /// A destination that was paused or parked was resumed.
        DestinationResumed = "audit.destination.resumed",
        /// A replay of a destination was started.
        DestinationReplayStarted = "audit.destination.replay_started",
        /// A replay of a destination was stopped.
        DestinationReplayStopped = "audit.destination.replay_stopped",
        /// The receiver of a destination has taken no events for five minutes.
        DestinationDelayed = "audit.destination.delayed",
        /// The receiver of a destination takes events again.
        DestinationRecovered = "audit.destination.recovered",
        /// The receiver of a destination refused several events in a row, so nothing more is sent.
        DestinationParked = "audit.destination.parked",
        /// The receiver of a destination refused the credentials.
        DestinationRefusedCredentials = "audit.destination.refused_credentials",
        /// The receiver of a destination refused an event.
        DestinationEventSetAside = "audit.destination.event_set_aside",
        /// A stream was claimed.
        StreamClaimed = "audit.stream.claimed",
        /// An export began.
        EventsExported = "audit.events.exported",
        /// The retention policy of a log was changed.
        RetentionChanged = "audit.retention.changed",
        /// The operator confirmed up to which time plans of retention may reach.
        RetentionConfirmed = "audit.retention.confirmed",
        /// A removal of events by retention was planned.
        RetentionPlanned = "audit.retention.planned",
        /// A plan of retention was cancelled.
        RetentionCancelled = "audit.retention.cancelled",
        /// A destination that has not taken all events of a plan of retention delays it.
        RetentionDelayed = "audit.retention.delayed",
        /// A plan of retention is carried out: its events are removed.
        EventsRemoved = "audit.events.removed",
        /// An erasure was requested.
        ErasureRequested = "audit.erasure.requested",
        /// An erasure was planned.
        ErasurePlanned = "audit.erasure.planned",
        /// A planned erasure was cancelled.
        ErasureCancelled = "audit.erasure.cancelled",
        /// An erasure is carried out: events, or parts of them, are erased.
        EventsErased = "audit.events.erased",
        /// An archive has the events of the log up to a position.
        EventsArchived = "audit.events.archived",
        /// Removed events were restored from an archive.
        EventsRestored = "audit.events.restored",
        /// A legal hold was placed.
        HoldPlaced = "audit.hold.placed",
        /// A legal hold was released.
        HoldReleased = "audit.hold.released",
        /// The operator had the service record its changes again.
        SelfAuditEnabled = "audit.self_audit.enabled",
        /// The operator had the service record its changes no longer.
        SelfAuditDisabled = "audit.self_audit.disabled",
    }
}

impl ServiceAction {
    /// The category of its events: `security` for what decides who sees which data and which data stays, `system` for what a receiver
    /// does, `admin` for the rest.
    pub const fn category(self) -> Category {
        match self {
            Self::ApiKeyCreated
            | Self::ApiKeyUpdated
            | Self::ApiKeyRotated
            | Self::ApiKeyRevoked
            | Self::MasterKeyCreated
            | Self::MasterKeyRotated
            | Self::MasterKeyRevoked
            | Self::ConsoleSignedOut
            | Self::RedactionRuleCreated
            | Self::RedactionRuleUpdated
            | Self::RedactionRuleDeleted
            | Self::ViewerTierCreated
            | Self::ViewerTierUpdated
            | Self::ViewerTierDeleted
            | Self::ViewerTokenCreated
            | Self::WebhookSecretRotated
            | Self::DestinationCreated
            | Self::DestinationUpdated
            | Self::DestinationDeleted
            | Self::DestinationCredentialsRotated
            | Self::DestinationReplayStarted
            | Self::EventsExported
            | Self::RetentionChanged
            | Self::RetentionConfirmed
            | Self::RetentionPlanned
            | Self::RetentionCancelled
            | Self::RetentionDelayed
            | Self::EventsRemoved
            | Self::ErasureRequested
            | Self::ErasurePlanned
            | Self::ErasureCancelled
            | Self::EventsErased
            | Self::EventsArchived
            | Self::EventsRestored
            | Self::HoldPlaced
            | Self::HoldReleased
            | Self::SelfAuditEnabled
            | Self::SelfAuditDisabled => Category::Security,
            Self::ProjectCreated
            | Self::ProjectUpdated
            | Self::ProjectArchived
            | Self::ProjectUnarchived
            | Self::PlanUpdated
            | Self::PortalUpdated
            | Self::ActionLabelCreated
            | Self::ActionLabelUpdated
            | Self::ActionLabelDeleted
            | Self::AlertRuleCreated
            | Self::AlertRuleUpdated
            | Self::AlertRuleDeleted
            | Self::AlertUpdated
            | Self::WebhookCreated
            | Self::WebhookUpdated
            | Self::WebhookDeleted
            | Self::DestinationPaused
            | Self::DestinationResumed
            | Self::DestinationReplayStopped
            | Self::StreamClaimed => Category::Admin,
            Self::DestinationDelayed
            | Self::DestinationRecovered
            | Self::DestinationParked
            | Self::DestinationRefusedCredentials
            | Self::DestinationEventSetAside => Category::System,
        }
    }

    /// Whether the change takes access away and gives none. Such a change must not wait for a log that takes no events.
    const fn takes_access_away(self) -> bool {
        match self {
            Self::ApiKeyRevoked
            | Self::MasterKeyRevoked
            | Self::ConsoleSignedOut
            | Self::ViewerTierDeleted
            | Self::WebhookDeleted
            | Self::DestinationDeleted
            | Self::DestinationPaused
            | Self::DestinationReplayStopped => true,
            Self::ApiKeyCreated
            | Self::ApiKeyUpdated
            | Self::ApiKeyRotated
            | Self::MasterKeyCreated
            | Self::MasterKeyRotated
            | Self::ProjectCreated
            | Self::ProjectUpdated
            | Self::ProjectArchived
            | Self::ProjectUnarchived
            | Self::PlanUpdated
            | Self::RedactionRuleCreated
            | Self::RedactionRuleUpdated
            | Self::RedactionRuleDeleted
            | Self::ViewerTierCreated
            | Self::ViewerTierUpdated
            | Self::ViewerTokenCreated
            | Self::PortalUpdated
            | Self::ActionLabelCreated
            | Self::ActionLabelUpdated
            | Self::ActionLabelDeleted
            | Self::AlertRuleCreated
            | Self::AlertRuleUpdated
            | Self::AlertRuleDeleted
            | Self::AlertUpdated
            | Self::WebhookCreated
            | Self::WebhookUpdated
            | Self::WebhookSecretRotated
            | Self::DestinationCreated
            | Self::DestinationUpdated
            | Self::DestinationCredentialsRotated
            | Self::DestinationResumed
            | Self::DestinationReplayStarted
            | Self::DestinationDelayed
            | Self::DestinationRecovered
            | Self::DestinationParked
            | Self::DestinationRefusedCredentials
            | Self::DestinationEventSetAside
            | Self::StreamClaimed
            | Self::EventsExported
            | Self::RetentionChanged
            | Self::RetentionConfirmed
            | Self::RetentionPlanned
            | Self::RetentionCancelled
            | Self::RetentionDelayed
            | Self::EventsRemoved
            | Self::ErasureRequested
            | Self::ErasurePlanned
            | Self::ErasureCancelled
            | Self::EventsErased
            | Self::EventsArchived
            | Self::EventsRestored
            | Self::HoldPlaced
            | Self::HoldReleased
            | Self::SelfAuditEnabled
            | Self::SelfAuditDisabled => false,
        }
    }
}

/// An event of the service, without its actor. `Display` names action and target.
#[derive(Clone, Debug)]
pub(crate) struct ServiceEvent {
    action: ServiceAction,
    target: Target,
    before: Settings,
    after: Settings,
    metadata: Map<String, Value>,
    idempotency_key: Option<String>,
}

impl ServiceEvent {
    fn new(action: ServiceAction, target_type: &str, id: impl ToString, name: Option<&str>) -> Self {
        Self {
            action,
            target: Target {
                id: id.to_string(),
                target_type: target_type.to_owned(),
                name: name.map(str::to_owned),
            },
            before: Settings::default(),
            after: Settings::default(),
            metadata: Map::new(),
            idempotency_key: None,
        }
    }

    fn changing(self, before: Settings) -> Self {
        Self { before, ..self }
    }

    fn to(self, after: Settings) -> Self {
        Self { after, ..self }
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.to_owned(), value.into());
        self
    }

    /// The event, by `actor`.
    ///
    /// # Errors
    /// None: every action is one.
    pub(super) fn into_event(self, actor: Actor, context: Option<Context>) -> Result<Event, ActionError> {
        let changes = match self.action {
            ServiceAction::HoldPlaced => settings::whole_changes(self.before, self.after),
            _ => changes(self.before, self.after),
        };
        Ok(Event {
            action: self.action.as_str().parse::<Action>()?,
            category: self.action.category(),
            tenant_id: SERVICE_TENANT_ID.to_owned(),
            actor,
            target: Some(self.target),
            targets: None,
            outcome: None,
            context,
            metadata: Some(self.metadata).filter(|metadata| !metadata.is_empty()),
            changes: Some(changes).filter(|changes| !changes.is_empty()),
            idempotency_key: self.idempotency_key,
            occurred_at: None,
        })
    }

    /// Whether its change may go on where the live log takes no events.
    pub(super) const fn takes_access_away(&self) -> bool {
        self.action.takes_access_away()
    }

    /// The same event, in another log than that of live events.
    #[must_use]
    pub(super) fn displaced(self) -> Self {
        self.with("instead_of", Environment::Live.as_str())
    }

    fn of_key(action: [ServiceAction; 2], key: &Key) -> Self {
        let (action, kind) = match key.project {
            Some(_) => (action[0], "api_key"),
            None => (action[1], "master_key"),
        };
        Self::new(action, kind, key.id, Some(&key.name))
    }

    pub(crate) fn key_created(key: &Key) -> Self {
        let actions = [ServiceAction::ApiKeyCreated, ServiceAction::MasterKeyCreated];
        Self::of_key(actions, key).to(settings::of_key(key))
    }

    pub(crate) fn key_updated(before: &Key, after: &Key) -> Self {
        Self::new(
            ServiceAction::ApiKeyUpdated,
            "api_key",
            after.id,
            Some(&after.name),
        )
        .changing(settings::of_key(before))
        .to(settings::of_key(after))
    }

    pub(crate) fn key_revoked(key: &Key) -> Self {
        let actions = [ServiceAction::ApiKeyRevoked, ServiceAction::MasterKeyRevoked];
        let status = |status: &str| Settings::from([("status", json!(status))]);
        Self::of_key(actions, key)
            .changing(status("active"))
            .to(status("revoked"))
    }

    pub(crate) fn console_signed_out(key: &Key) -> Self {
        Self::of_key([ServiceAction::ConsoleSignedOut; 2], key)
    }

    /// `old` ends at `end`, unless it ends earlier, and `new` follows it.
    pub(crate) fn key_rotated(old: &Key, new: &Key, end: Timestamp) -> Self {
        let actions = [ServiceAction::ApiKeyRotated, ServiceAction::MasterKeyRotated];
        let before = old.limits.expires_at;
        let after = before.map_or(end, |before| before.min(end));
        let expires_at = |at: Option<Timestamp>| Settings::from([("expires_at", text_or_null(at))]);
        Self::of_key(actions, old)
            .changing(expires_at(before))
            .to(expires_at(Some(after)))
            .with("new_key_id", new.id.to_string())
    }

    pub(crate) fn project_created(project: &Project) -> Self {
        Self::new(
            ServiceAction::ProjectCreated,
            "project",
            project.id,
            Some(&project.name),
        )
    }

    /// The events of a change of a project.
    pub(crate) fn project_changed(before: &Project, after: &Project) -> Vec<Self> {
        let event = |action| Self::new(action, "project", after.id, Some(&after.name));
        let [was, is] = [before, after].map(settings::of_project);
        let is_updated = was != is;
        let updated = is_updated.then(|| event(ServiceAction::ProjectUpdated).changing(was).to(is));
        let archived = match (before.archived_at.is_some(), after.archived_at.is_some()) {
            (false, true) => Some(event(ServiceAction::ProjectArchived)),
            (true, false) => Some(event(ServiceAction::ProjectUnarchived)),
            _ => None,
        };
        updated.into_iter().chain(archived).collect()
    }

    pub(crate) fn plan_updated(before: &Organization, after: Plan) -> Self {
        let plan = |plan: Plan| Settings::from([("plan", json!(plan.as_str()))]);
        Self::new(
            ServiceAction::PlanUpdated,
            "organization",
            before.id,
            Some(&before.name),
        )
        .changing(plan(before.plan))
        .to(plan(after))
    }

    pub(crate) fn portal_updated(project_id: ProjectId, before: &Portal, after: &Portal) -> Self {
        Self::new(ServiceAction::PortalUpdated, "project", project_id, None)
            .changing(settings::of_portal(before))
            .to(settings::of_portal(after))
    }

    pub(crate) fn action_label(
        action: &Action,
        before: Option<&ActionLabel>,
        after: Option<&ActionLabel>,
    ) -> Option<Self> {
        let kind = action_of(
            before.is_some(),
            after.is_some(),
            [
                ServiceAction::ActionLabelCreated,
                ServiceAction::ActionLabelUpdated,
                ServiceAction::ActionLabelDeleted,
            ],
        )?;
        let event = Self::new(kind, "action_label", action, None);
        Some(event.changed_to(before, after, settings::of_action_label))
    }

    pub(crate) fn redaction_rule(
        before: Option<&RedactionRuleRow>,
        after: Option<&RedactionRuleRow>,
    ) -> Option<Self> {
        let action = action_of(
            before.is_some(),
            after.is_some(),
            [
                ServiceAction::RedactionRuleCreated,
                ServiceAction::RedactionRuleUpdated,
                ServiceAction::RedactionRuleDeleted,
            ],
        )?;
        let rule = after.or(before)?;
        let event = Self::new(action, "redaction_rule", &rule.id, Some(&rule.name));
        Some(event.changed_to(before, after, settings::of_redaction_rule))
    }

    pub(crate) fn alert_rule(before: Option<&AlertRule>, after: Option<&AlertRule>) -> Option<Self> {
        let action = action_of(
            before.is_some(),
            after.is_some(),
            [
                ServiceAction::AlertRuleCreated,
                ServiceAction::AlertRuleUpdated,
                ServiceAction::AlertRuleDeleted,
            ],
        )?;
        let rule = after.or(before)?;
        let name = rule.definition().name.as_str();
        let event = Self::new(action, "alert_rule", rule.id(), Some(name));
        Some(event.changed_to(before, after, settings::of_alert_rule))
    }

    pub(crate) fn viewer_tier(before: Option<&ViewerTier>, after: Option<&ViewerTier>) -> Option<Self> {
        let action = action_of(
            before.is_some(),
            after.is_some(),
            [
                ServiceAction::ViewerTierCreated,
                ServiceAction::ViewerTierUpdated,
                ServiceAction::ViewerTierDeleted,
            ],
        )?;
        let tier = after.or(before)?;
        let event = Self::new(action, "viewer_tier", &tier.name, None);
        Some(event.changed_to(before, after, settings::of_tier))
    }

    pub(crate) fn webhook(before: Option<&Webhook>, after: Option<&Webhook>) -> Option<Self> {
        let action = action_of(
            before.is_some(),
            after.is_some(),
            [
                ServiceAction::WebhookCreated,
                ServiceAction::WebhookUpdated,
                ServiceAction::WebhookDeleted,
            ],
        )?;
        let webhook = after.or(before)?;
        let name = origin_of_url(&webhook.url);
        let event = Self::new(action, "webhook", webhook.id, Some(&name));
        let event = event.changed_to(before, after, settings::of_webhook);
        let is_moved = before
            .zip(after)
            .is_some_and(|(before, after)| before.url != after.url);
        Some(match is_moved {
            // Also where only the path is another one, which is not shown.
            true => event.with("url_changed", true),
            false => event,
        })
    }

    pub(crate) fn webhook_secret_rotated(webhook: &Webhook) -> Self {
        let name = origin_of_url(&webhook.url);
        Self::new(
            ServiceAction::WebhookSecretRotated,
            "webhook",
            webhook.id,
            Some(&name),
        )
    }

    pub(crate) fn alert_updated(
        before: AlertStatus,
        alert: &Alert,
        environment: Environment,
        note: Option<&AlertNote>,
    ) -> Self {
        let status = |status: AlertStatus| Settings::from([("status", json!(status.as_str()))]);
        let name = alert.rule_name.as_str();
        let event = Self::new(ServiceAction::AlertUpdated, "alert", alert.id, Some(name))
            .changing(status(before))
            .to(status(alert.state.status()))
            .with("environment", environment.as_str());
        match note {
            Some(note) => event.with("note", note.as_str()),
            None => event,
        }
    }

    /// The token of a stream is a secret, so its SHA-256 names the stream.
    pub(crate) fn stream_claimed(token: &StreamTokenHash, events: u64, environment: Environment) -> Self {
        let hex: String = token.iter().map(|byte| format!("{byte:02x}")).collect();
        Self::new(
            ServiceAction::StreamClaimed,
            "stream",
            format!("sha256:{hex}"),
            None,
        )
        .with("event_count", events)
        .with("environment", environment.as_str())
    }

    pub(crate) fn viewer_token_created(claims: &ViewerClaims) -> Self {
        Self::new(
            ServiceAction::ViewerTokenCreated,
            "tenant",
            &claims.tenant_id,
            None,
        )
        .with("tier", claims.tier.as_str())
        .with("token_id", claims.jti())
        .with("expires_at", claims.expires_at.to_string())
    }

    /// The tenants are those of the request, at most [`Condition::PATTERNS_MAX`](audit_domain::Condition::PATTERNS_MAX).
    pub(crate) fn events_exported(project: &Project, environment: Environment, filter: &EventFilter) -> Self {
        let event = Self::new(
            ServiceAction::EventsExported,
            "project",
            project.id,
            Some(&project.name),
        )
        .with("environment", environment.as_str());
        let event = match filter.values(Facet::TenantId).as_deref() {
            Some([tenant_id]) => event.with("tenant_id", *tenant_id),
            Some(tenant_ids) => event.with("tenant_ids", tenant_ids),
            None => event,
        };
        match filter.excluded_values(Facet::TenantId).as_slice() {
            [] => event,
            excluded => event.with("not_tenant_ids", excluded),
        }
    }

    /// `switch_id` identifies the switch, so that it is recorded once in each project.
    pub(crate) fn self_audit_switched(is_on: bool, project: &Project, switch_id: &str) -> Self {
        let action = match is_on {
            true => ServiceAction::SelfAuditEnabled,
            false => ServiceAction::SelfAuditDisabled,
        };
        let event = Self::new(action, "project", project.id, Some(&project.name));
        Self {
            idempotency_key: Some(format!("{action} {switch_id}")),
            ..event
        }
    }

    fn changed_to<T>(self, before: Option<&T>, after: Option<&T>, settings: fn(&T) -> Settings) -> Self {
        self.changing(before.map(settings).unwrap_or_default())
            .to(after.map(settings).unwrap_or_default())
    }
}

impl std::fmt::Display for ServiceEvent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Target { id, target_type, .. } = &self.target;
        write!(formatter, "{} of the {target_type} {id}", self.action)
    }
}

/// Created, updated or deleted; `None` where there was nothing and is nothing.
const fn action_of(
    was: bool,
    is: bool,
    [created, updated, deleted]: [ServiceAction; 3],
) -> Option<ServiceAction> {
    match (was, is) {
        (false, true) => Some(created),
        (true, true) => Some(updated),
        (true, false) => Some(deleted),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_one_of_the_service_and_documented_with_its_category() {
        let document = include_str!("../../../../docs/api.md");
        for action in ServiceAction::ALL {
            let parsed = action.as_str().parse::<Action>().unwrap();
            assert!(
                audit_domain::is_service_event(SERVICE_TENANT_ID, &parsed),
                "{action}"
            );
            let mut rows = document.lines().filter(|line| line.starts_with("| `audit."));
            let row = rows.find(|row| row.contains(&format!("`{action}`")));
            let category = format!("| `{}` |", action.category());
            assert!(
                row.is_some_and(|row| row.contains(&category)),
                "{action}: {row:?}"
            );
        }
    }
}
