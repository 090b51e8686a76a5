//! The events about destinations.

use super::{ServiceAction, ServiceEvent, action_of};
use crate::destinations::Destination;
use crate::self_audit::settings;
use audit_store::{DestinationRow, DestinationRunRow};

impl ServiceEvent {
    fn about(action: ServiceAction, destination: &Destination) -> Self {
        Self::new(action, "destination", destination.id, Some(&destination.name))
            .with("environment", destination.environment.as_str())
            .with_tenant(destination.created_by_tenant.as_deref())
    }

    /// Names the tenant that has created the destination.
    fn with_tenant(self, tenant: Option<&str>) -> Self {
        match tenant {
            Some(tenant) => self.with("tenant_id", tenant),
            None => self,
        }
    }

    pub(crate) fn destination(before: Option<&Destination>, after: Option<&Destination>) -> Option<Self> {
        let action = action_of(
            before.is_some(),
            after.is_some(),
            [
                ServiceAction::DestinationCreated,
                ServiceAction::DestinationUpdated,
                ServiceAction::DestinationDeleted,
            ],
        )?;
        let event = Self::about(action, after.or(before)?);
        Some(event.changed_to(before, after, settings::of_destination))
    }

    /// The events of a change of a destination. `was_parked` if it was and goes on now.
    pub(crate) fn destination_changed(
        before: &Destination,
        after: &Destination,
        is_rotated: bool,
        was_parked: bool,
    ) -> Vec<Self> {
        let has_other_settings = before.settings != after.settings;
        let is_updated =
            has_other_settings || settings::of_destination(before) != settings::of_destination(after);
        let updated = is_updated.then(|| Self::destination(Some(before), Some(after)));
        let updated = updated.flatten().map(|event| match has_other_settings {
            // Also where only what is not shown is another one, such as the path of a URL.
            true => event.with("settings_changed", true),
            false => event,
        });
        let rotated = is_rotated.then_some(ServiceAction::DestinationCredentialsRotated);
        let switched = match (before.paused, after.paused) {
            (false, true) => Some(ServiceAction::DestinationPaused),
            (true, false) => Some(ServiceAction::DestinationResumed),
            _ => was_parked.then_some(ServiceAction::DestinationResumed),
        };
        let others = rotated.into_iter().chain(switched);
        let others = others.map(|action| Self::about(action, after));
        updated.into_iter().chain(others).collect()
    }

    pub(crate) fn destination_replay_started(row: &DestinationRow, replay: &DestinationRunRow) -> Self {
        Self::destination_noted(ServiceAction::DestinationReplayStarted, row)
            .with("run", replay.number)
            .with("from_seq", replay.cursor_seq)
            .with("end_seq", replay.end_seq)
    }

    pub(crate) fn destination_replay_stopped(row: &DestinationRow, replay: &DestinationRunRow) -> Self {
        Self::destination_noted(ServiceAction::DestinationReplayStopped, row).with("run", replay.number)
    }

    /// The destination delays the plan of retention at this position of its log. Stored once for each plan.
    pub(crate) fn retention_delayed(row: &DestinationRow, plan: u64) -> Self {
        let event = Self::destination_noted(ServiceAction::RetentionDelayed, row);
        event.delaying(plan, &row.id)
    }

    /// Something about a destination that changes no setting.
    pub(crate) fn destination_noted(action: ServiceAction, row: &DestinationRow) -> Self {
        Self::new(action, "destination", &row.id, Some(&row.name))
            .with("environment", row.environment.as_str())
            .with_tenant(row.created_by_tenant.as_deref())
    }
}
