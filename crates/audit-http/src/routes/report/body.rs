//! The report as JSON.

use crate::routes::retention::PolicyBody;
use crate::schema::{FreeFormObject, Time};
use audit_app::{LegalHold, LogReport, ReportedEvent};
use audit_domain::LifecycleEvent;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::cmp::Reverse;

/// The entries of each list, at most: the newest, and all holds in force.
pub(super) const LISTED_MAX: usize = 1_000;

/// A lifecycle event.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReportedEvent")]
struct EventBody {
    /// Its position in the log.
    seq: u64,
    /// When the log received it.
    #[schemars(with = "Time")]
    at: String,
    by: ActorBody,
    /// The `metadata` of the event without `previous`.
    #[schemars(with = "FreeFormObject")]
    metadata: Map<String, Value>,
}

/// The key, command line or service that caused an event.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReportedActor")]
struct ActorBody {
    id: String,
    name: Option<String>,
}

/// A legal hold, without the ids that it names.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReportedHold")]
struct HoldBody {
    placed: EventBody,
    /// How many of tenant, actor and target it names. With none it covers all events of its time.
    names: u64,
    /// It covers events that the log received at this time or later.
    #[schemars(with = "Option<Time>")]
    from: Option<String>,
    /// It covers events that the log received before this time.
    #[schemars(with = "Option<Time>")]
    to: Option<String>,
    /// `null` while it is in force.
    released: Option<EventBody>,
}

/// Numbers of events, as the events of removals and erasures say them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReportCounts")]
struct CountsBody {
    /// The number of positions of the log.
    positions: u64,
    /// Events that are gone. One that two removals took counts twice, unless the events were verified.
    removed: u64,
    /// Events that lost a part. One of which two erasures took a part counts twice.
    erased: u64,
    /// Events that are there.
    stored: u64,
    /// Positions without an event that no removal covers; `null` where the events were not verified.
    unexplained: Option<u64>,
}

/// What a verification of all events has found.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReportVerification")]
struct VerifiedBody {
    #[schemars(with = "Time")]
    at: String,
    /// The number of positions that were read.
    size: u64,
    findings: u64,
}

/// Policies, holds, removals and erasures of a log. Each list has its newest 1,000 entries, the newest first; holds in force come
/// first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LogReport")]
pub(in crate::routes) struct ReportBody {
    /// `<project id>/<environment>`.
    log: String,
    #[schemars(with = "Time")]
    made_at: String,
    /// The number of positions of the log.
    size: u64,
    /// How many of them the checkpoint covers; `null` without one.
    signed: Option<u64>,
    /// The last checkpoint, a signed note.
    checkpoint: Option<String>,
    /// The policy in force; `null` where none was set: all events are kept.
    policy: Option<PolicyBody>,
    policies: Vec<EventBody>,
    /// Confirmations of how far plans reach.
    confirmed: Vec<EventBody>,
    /// Plans of retention and of erasures in their grace period.
    planned: Vec<EventBody>,
    /// Cancellations of plans.
    cancelled: Vec<EventBody>,
    removals: Vec<EventBody>,
    erasures: Vec<EventBody>,
    /// Archives that the log names.
    archives: Vec<EventBody>,
    /// Removed events that were put back from an archive.
    restored: Vec<EventBody>,
    holds: Vec<HoldBody>,
    /// Whether a list has more entries.
    more: bool,
    counts: CountsBody,
    /// `null` in a response: only the command `log report` verifies all events.
    verified: Option<VerifiedBody>,
}

impl From<&ReportedEvent> for EventBody {
    fn from(reported: &ReportedEvent) -> Self {
        let mut metadata = reported.event.metadata(None);
        metadata.remove("previous");
        Self {
            seq: reported.seq,
            at: reported.at.to_string(),
            by: ActorBody {
                id: reported.actor_id.clone(),
                name: reported.actor_name.clone(),
            },
            metadata,
        }
    }
}

/// `None` where the report lacks the event by which it was placed.
fn hold_body(hold: &LegalHold, events: &[ReportedEvent]) -> Option<HoldBody> {
    let event = |seq: u64| {
        let index = events.binary_search_by_key(&seq, |event| event.seq).ok()?;
        events.get(index).map(EventBody::from)
    };
    let named = [&hold.tenant_id, &hold.actor_id, &hold.target_id];
    Some(HoldBody {
        placed: event(hold.seq)?,
        names: named.iter().filter(|ids| !ids.is_empty()).count() as u64,
        from: hold.from.map(|at| at.to_string()),
        to: hold.to.map(|at| at.to_string()),
        released: hold.released.as_ref().and_then(|release| event(release.seq)),
    })
}

impl From<LogReport> for ReportBody {
    fn from(mut report: LogReport) -> Self {
        let unexplained = report.verified.map(|verified| verified.unexplained);
        let gone = report.removed.saturating_add(unexplained.unwrap_or_default());
        report
            .holds
            .sort_by_key(|hold| (hold.released.is_some(), Reverse(hold.seq)));
        let holds = report.holds.iter();
        let holds = holds.filter_map(|hold| hold_body(hold, &report.events));
        let mut body = Self {
            holds: holds.collect(),
            log: report.log,
            made_at: report.made_at.to_string(),
            size: report.size,
            signed: report.signed,
            checkpoint: report.checkpoint,
            policy: report.policy.map(PolicyBody::from),
            policies: Vec::new(),
            confirmed: Vec::new(),
            planned: Vec::new(),
            cancelled: Vec::new(),
            removals: Vec::new(),
            erasures: Vec::new(),
            archives: Vec::new(),
            restored: Vec::new(),
            more: false,
            counts: CountsBody {
                positions: report.size,
                removed: report.removed,
                erased: report.erased,
                stored: report.size.saturating_sub(gone),
                unexplained,
            },
            verified: report.verified.map(|verified| VerifiedBody {
                at: verified.at.to_string(),
                size: verified.size,
                findings: verified.findings,
            }),
        };
        for event in report.events.iter().rev() {
            body.add(event);
        }
        body.more |= body.holds.len() > LISTED_MAX;
        body.holds.truncate(LISTED_MAX);
        body
    }
}

impl ReportBody {
    /// Adds an event to its list. A plan that was carried out or cancelled is in the entry of what ended it, by its position.
    fn add(&mut self, reported: &ReportedEvent) {
        let list = match &reported.event {
            LifecycleEvent::RetentionChanged(_) => &mut self.policies,
            LifecycleEvent::RetentionConfirmed { .. } => &mut self.confirmed,
            LifecycleEvent::Planned(_) | LifecycleEvent::ErasurePlanned(_) => match reported.is_open {
                true => &mut self.planned,
                false => return,
            },
            LifecycleEvent::Cancelled { .. } | LifecycleEvent::ErasureCancelled { .. } => &mut self.cancelled,
            LifecycleEvent::Removed(_) => &mut self.removals,
            LifecycleEvent::Erased(_) => &mut self.erasures,
            LifecycleEvent::Archived(_) => &mut self.archives,
            LifecycleEvent::Restored(_) => &mut self.restored,
            // Holds have a list of their own.
            LifecycleEvent::HoldPlaced(_) | LifecycleEvent::HoldReleased { .. } => return,
        };
        match list.len() < LISTED_MAX {
            true => list.push(reported.into()),
            false => self.more = true,
        }
    }
}
