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

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, Sample, Tag};

    pub(crate) fn get() -> About {
        About {
            description: "The plan of the organization, and the usage of the project with its limits.",
            outcome: "Plan and usage.",
            responses: &[Sample(
                "example",
                r#"{"usage": {
                    "plan": "pro",
                    "events_today": {"count": 4211, "max": 1000000}, "day_ends_at": "2026-01-16T00:00:00.000Z",
                    "events": {"live": 182404, "test": 310},
                    "keys": {"count": 4, "max": 1000},
                    "redaction_rules": {"count": 2, "max": 100}, "alert_rules": {"count": 1, "max": 100},
                    "webhooks": {"count": 1, "max": 20}, "viewer_tiers": {"count": 3, "max": 50}
                }}"#,
            )],
            is_additive: true,
            ..About::new("get_usage", Tag::Projects, "Read plan and usage")
        }
    }
}
