//! The responses of `/api/v1/retention`.

use crate::schema::{ContentHashText, FreeFormObject, Id, Time, True, Word};
use audit_app::{
    PolicyInForce, PreviewMonth, Retention, RetentionPlan, RetentionPreset, RetentionPreview,
    RetentionRemoval, WaitingFor,
};
use audit_domain::EventId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// The policy in force.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RetentionPolicy")]
pub(in crate::routes) struct PolicyBody {
    /// `null` for ever.
    days: Option<u32>,
    /// Days by category; empty where all are kept for `days`.
    #[schemars(with = "FreeFormObject")]
    categories: Value,
    /// The preset that it was set by.
    #[schemars(with = "Option<Word<RetentionPreset>>")]
    preset: Option<String>,
    /// Events go once an archive has them that the log names.
    archive: bool,
    /// When it was set.
    #[schemars(with = "Time")]
    since: String,
    /// The position of its event in the log.
    seq: u64,
}

/// A plan in its grace period.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RetentionPlan")]
struct PlanBody {
    /// The position of its event in the log. A request to cancel it names the plan by this.
    seq: u64,
    /// The times, by category and `default`, before which the log has received its events.
    #[schemars(with = "FreeFormObject")]
    received_before: Value,
    /// How many events it removes.
    events: u64,
    /// How many events of its range are held.
    held: u64,
    /// How many events of its range stay for other reasons.
    kept: u64,
    /// Commits to the events that it removes.
    #[schemars(with = "ContentHashText")]
    digest: String,
    #[schemars(with = "Time")]
    planned_at: String,
    /// Its events are not removed before this time.
    #[schemars(with = "Time")]
    not_before: String,
    /// `planned`; `null` where the database does not know the plan.
    state: Option<&'static str>,
}

/// An archive that the log names.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecordedArchive")]
struct ArchiveBody {
    /// The position behind the last one that it has.
    end_seq: u64,
    /// The digest of its newest manifest.
    #[schemars(with = "ContentHashText")]
    manifest: String,
    /// The position of its event in the log.
    seq: u64,
    /// When it was recorded.
    #[schemars(with = "Time")]
    at: String,
}

/// A removal.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RetentionRemoval")]
struct RemovalBody {
    /// The position of its event in the log.
    seq: u64,
    /// The id of its event.
    #[schemars(with = "Id<EventId>")]
    id: String,
    /// When it was authorised.
    #[schemars(with = "Time")]
    at: String,
    /// How many events it removes.
    events: u64,
    /// The times, by category and `default`, before which the log has received its events.
    #[schemars(with = "FreeFormObject")]
    received_before: Value,
    /// The digest of the newest manifest of the archive that has them; `null` where the log names none.
    #[schemars(with = "Option<ContentHashText>")]
    archive: Option<String>,
    /// `removing`, `cleaning` or `done`; `null` where the database does not know the removal.
    state: Option<&'static str>,
}

/// The retention of a log.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Retention")]
pub(in crate::routes) struct RetentionBody {
    /// `null` where none was set: all events are kept.
    policy: Option<PolicyBody>,
    /// The plan in its grace period.
    plan: Option<PlanBody>,
    /// What holds the plan, or the next one, back on this node.
    #[schemars(with = "Option<Word<WaitingFor>>")]
    waiting_for: Option<&'static str>,
    /// The newest archive that the log names; `null` where none is recorded.
    archive: Option<ArchiveBody>,
    /// The newest 100, the newest first.
    removals: Vec<RemovalBody>,
    /// How many events all removals together remove.
    removed: u64,
    /// How many legal holds are in force.
    holds: u64,
    /// The fewest days that a policy can have.
    minimum_days: u32,
}

/// A month of a preview.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RetentionPreviewMonth")]
struct PreviewMonthBody {
    #[schemars(regex(pattern = "^[0-9]{4}-[0-9]{2}$"))]
    month: String,
    /// Its events.
    events: u64,
    /// Those that go.
    to_remove: u64,
    /// Those that are old enough, and stay because a hold covers them.
    held: u64,
    /// Those that are not old enough.
    kept: u64,
}

/// What a policy would remove now.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RetentionPreview")]
pub(in crate::routes) struct PreviewBody {
    /// The times, by category and `default`, before which the log has received the events that go. Empty where all stay.
    #[schemars(with = "FreeFormObject")]
    received_before: Value,
    /// The months of the last ten years that have events that are old enough, the earliest first.
    months: Vec<PreviewMonthBody>,
    /// How many events go.
    events: u64,
    /// The numbers count events by the time at which they happened, and the share of a month by its days.
    #[schemars(with = "True")]
    estimated: bool,
    /// The ids of the destinations that have not got all events that go.
    destinations_behind: Vec<String>,
    /// Whether an archive that the log names has all events that go.
    archived: bool,
}

impl From<PolicyInForce> for PolicyBody {
    fn from(PolicyInForce { policy, since, seq }: PolicyInForce) -> Self {
        Self {
            days: policy.days,
            categories: json!(policy.categories),
            preset: policy.preset,
            archive: policy.archive,
            since: since.to_string(),
            seq,
        }
    }
}

impl From<RetentionPlan> for PlanBody {
    fn from(plan: RetentionPlan) -> Self {
        Self {
            seq: plan.seq,
            received_before: plan.received_before,
            events: plan.events,
            held: plan.held,
            kept: plan.kept,
            digest: plan.digest,
            planned_at: plan.planned_at.to_string(),
            not_before: plan.not_before,
            state: plan.state,
        }
    }
}

impl From<RetentionRemoval> for RemovalBody {
    fn from(removal: RetentionRemoval) -> Self {
        Self {
            seq: removal.seq,
            id: removal.id,
            at: removal.at.to_string(),
            events: removal.events,
            received_before: removal.received_before,
            archive: removal.archive,
            state: removal.state,
        }
    }
}

impl From<Retention> for RetentionBody {
    fn from(retention: Retention) -> Self {
        Self {
            policy: retention.policy.map(PolicyBody::from),
            plan: retention.plan.map(PlanBody::from),
            waiting_for: retention.waiting_for.map(WaitingFor::as_str),
            archive: retention.archive.map(|archive| ArchiveBody {
                end_seq: archive.end_seq,
                manifest: archive.manifest,
                seq: archive.seq,
                at: archive.at.to_string(),
            }),
            removals: retention.removals.into_iter().map(RemovalBody::from).collect(),
            removed: retention.removed,
            holds: retention.holds as u64,
            minimum_days: retention.minimum_days,
        }
    }
}

impl From<PreviewMonth> for PreviewMonthBody {
    fn from(month: PreviewMonth) -> Self {
        Self {
            month: month.month.to_string(),
            events: month.events,
            to_remove: month.to_remove,
            held: month.held,
            kept: month.kept,
        }
    }
}

impl From<RetentionPreview> for PreviewBody {
    fn from(preview: RetentionPreview) -> Self {
        let times = preview.received_before.into_iter();
        Self {
            received_before: times
                .map(|(name, time)| (name, json!(time.to_string())))
                .collect(),
            months: preview.months.into_iter().map(PreviewMonthBody::from).collect(),
            events: preview.events,
            estimated: true,
            destinations_behind: preview.destinations_behind,
            archived: preview.archived,
        }
    }
}
