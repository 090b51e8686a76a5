//! How much a project has of what its plan and the service limit.

use crate::error::{AppError, Result};
use crate::keys::PROJECT_KEYS_MAX;
use crate::redaction::{BUILTIN, CUSTOM_RULES_MAX as REDACTION_RULES_MAX};
use crate::service::{AuditLog, Selection};
use crate::viewers::TIERS_MAX;
use crate::webhooks::WEBHOOKS_MAX;
use audit_alerts::{CUSTOM_RULES_MAX as ALERT_RULES_MAX, RuleOrigin};
use audit_auth::Principal;
use audit_domain::{Environment, Plan, Timestamp};
use audit_store::LedgerCount;
use std::collections::BTreeMap;

/// How much a project has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The plan of its organization.
    pub plan: Plan,
    /// Live events of the present UTC day, those that the service records itself left out.
    pub day_events: Quota,
    /// When the next day begins.
    pub day_ends_at: Timestamp,
    /// All events, by environment.
    pub events: BTreeMap<Environment, u64>,
    /// Keys of the project that are not revoked.
    pub keys: Quota,
    /// Custom redaction rules.
    pub redaction_rules: Quota,
    /// Custom alert rules.
    pub alert_rules: Quota,
    /// Webhooks.
    pub webhooks: Quota,
    /// Viewer tiers.
    pub viewer_tiers: Quota,
}

/// A number and its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// How many there are.
    pub count: u64,
    /// How many there may be; `None` for no limit. A change of the plan can make the limit the smaller one.
    pub max: Option<u64>,
}

impl Quota {
    const fn of(count: usize, max: usize) -> Self {
        Self {
            count: count as u64,
            max: Some(max as u64),
        }
    }

    /// Of what only paid plans have.
    const fn paid(count: usize, max: usize, plan: Plan) -> Self {
        match plan {
            Plan::Free => Self::of(count, 0),
            Plan::Pro | Plan::Enterprise => Self::of(count, max),
        }
    }
}

impl AuditLog {
    /// How much a project has of what is limited.
    ///
    /// # Errors
    /// When the principal has no access to the project.
    pub fn usage(&self, principal: &Principal, selection: Selection) -> Result<Usage> {
        let now = self.clock.now();
        // Lists of the project, so a reading session and not one of the few for look-ups.
        self.store.query(|reader| {
            let project = self.scope(reader, principal, selection)?.project;
            let (id, organization_id) = (project.project.id, project.project.organization_id);
            let plan = reader.plan_of(id)?;
            let mut counts: BTreeMap<Environment, LedgerCount> = BTreeMap::new();
            for (environment, ledger_id) in &project.ledgers {
                counts.insert(*environment, reader.ledger_count(*ledger_id, now.utc_day())?);
            }
            let live = counts
                .get(&Environment::Live)
                .ok_or(AppError::NotFound("project"))?;
            let keys = reader.project_keys(organization_id, Some(id))?;
            let redaction_rules = reader.redaction_rules(id)?;
            let alert_rules = reader.alert_rules(id)?;
            let is_custom =
                |rule: &audit_alerts::AlertRule| matches!(rule.origin(), RuleOrigin::Custom { .. });
            Ok(Usage {
                plan,
                day_events: Quota {
                    count: live.day_events,
                    max: self.settings.daily_events_max(plan),
                },
                day_ends_at: now.next_midnight(),
                keys: Quota::of(
                    keys.iter().filter(|key| key.revoked_at.is_none()).count(),
                    PROJECT_KEYS_MAX,
                ),
                redaction_rules: Quota::of(
                    redaction_rules.iter().filter(|rule| rule.kind != BUILTIN).count(),
                    REDACTION_RULES_MAX,
                ),
                alert_rules: Quota::paid(
                    alert_rules.into_iter().filter(is_custom).count(),
                    ALERT_RULES_MAX,
                    plan,
                ),
                webhooks: Quota::paid(reader.webhooks(id)?.len(), WEBHOOKS_MAX, plan),
                viewer_tiers: Quota::of(reader.tiers(id)?.len(), TIERS_MAX),
                events: counts
                    .into_iter()
                    .map(|(environment, count)| (environment, count.size))
                    .collect(),
            })
        })
    }
}
