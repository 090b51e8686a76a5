//! `/api/v1/usage`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::ProjectParameters;
use crate::reply::Reply;
use crate::schema::{Time, Word};
use audit_app::{Quota, Usage};
use audit_auth::{EventsRead, Keys};
use audit_domain::{Environment, Plan};
use schemars::JsonSchema;
use serde::Serialize;

/// A usage and its limit.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Quota")]
struct QuotaBody {
    count: u64,
    /// `null` for no limit. It can be less than `count` after a change of the plan.
    max: Option<u64>,
}

/// All events.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StoredEvents")]
struct StoredEventsBody {
    live: u64,
    test: u64,
}

/// The usage of a project with its limits.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Usage")]
struct UsageBody {
    #[schemars(with = "Word<Plan>")]
    plan: &'static str,
    /// Live events of the present UTC day, without those that the service records itself.
    events_today: QuotaBody,
    /// When the next UTC day begins.
    #[schemars(with = "Time")]
    day_ends_at: String,
    events: StoredEventsBody,
    /// Keys of the project that are not revoked.
    keys: QuotaBody,
    /// Custom redaction rules.
    redaction_rules: QuotaBody,
    /// Custom alert rules.
    alert_rules: QuotaBody,
    webhooks: QuotaBody,
    viewer_tiers: QuotaBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UsageResult")]
pub(super) struct OneUsageBody {
    usage: UsageBody,
}

impl From<Quota> for QuotaBody {
    fn from(Quota { count, max }: Quota) -> Self {
        Self { count, max }
    }
}

impl From<Usage> for OneUsageBody {
    fn from(usage: Usage) -> Self {
        let events = |environment| usage.events.get(&environment).copied().unwrap_or(0);
        Self {
            usage: UsageBody {
                plan: usage.plan.as_str(),
                events_today: usage.day_events.into(),
                day_ends_at: usage.day_ends_at.to_string(),
                events: StoredEventsBody {
                    live: events(Environment::Live),
                    test: events(Environment::Test),
                },
                keys: usage.keys.into(),
                redaction_rules: usage.redaction_rules.into(),
                alert_rules: usage.alert_rules.into(),
                webhooks: usage.webhooks.into(),
                viewer_tiers: usage.viewer_tiers.into(),
            },
        }
    }
}

/// Reads plan and usage.
pub(super) async fn get(
    caller: Caller<Keys<EventsRead>>,
    parameters: ProjectParameters,
) -> Result<Reply<OneUsageBody>, ApiError> {
    let selection = parameters.read()?;
    let usage = caller
        .read(move |service, holder| service.usage(&holder, selection))
        .await?;
    Ok(Reply::ok(usage.into()))
}
