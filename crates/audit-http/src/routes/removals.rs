//! `/api/v1/log/removals`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::ProjectParameters;
use crate::reply::Reply;
use crate::schema::{ContentHashText, Time};
use audit_app::LoggedRemoval;
use audit_auth::{EventsRead, Keys};
use schemars::JsonSchema;
use serde::Serialize;

/// A plan in its grace period, a removal or an erasure.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LoggedRemoval")]
struct LoggedRemovalBody {
    /// The position of its event in the log.
    seq: u64,
    /// `retention` or `erasure`.
    kind: &'static str,
    /// The action of its event.
    action: String,
    /// The first position that it concerns; `null` where it concerns single events.
    first_seq: Option<u64>,
    /// The position after the last one that it concerns; `null` where it concerns single events.
    end_seq: Option<u64>,
    /// How many events it concerns.
    events: u64,
    /// Commits to these events.
    #[schemars(with = "ContentHashText")]
    digest: String,
    /// When the log received its event.
    #[schemars(with = "Time")]
    at: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LoggedRemovalList")]
pub(super) struct LoggedRemovalsBody {
    removals: Vec<LoggedRemovalBody>,
}

impl From<LoggedRemoval> for LoggedRemovalBody {
    fn from(removal: LoggedRemoval) -> Self {
        Self {
            seq: removal.seq,
            kind: removal.kind.as_str(),
            action: removal.action,
            first_seq: removal.first_seq,
            end_seq: removal.end_seq,
            events: removal.events,
            digest: removal.digest,
            at: removal.at.to_string(),
        }
    }
}

/// Lists plans, removals and erasures.
pub(super) async fn list(
    caller: Caller<Keys<EventsRead>>,
    parameters: ProjectParameters,
) -> Result<Reply<LoggedRemovalsBody>, ApiError> {
    let selection = parameters.read()?;
    let found = caller.read(move |service, principal| service.removals(&principal, selection));
    Ok(Reply::ok(LoggedRemovalsBody {
        removals: found.await?.into_iter().map(LoggedRemovalBody::from).collect(),
    }))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, Sample, Tag};
    use crate::error_code::ErrorCode;

    pub(crate) fn list() -> About {
        About {
            description: "The plans of retention in their grace period, the removals and the erasures, oldest first, as their \
                          events in the log say. The tiles `removed/` have the records of their events. Auditors verify with \
                          both that a missing event was removed by the rules of the log.",
            outcome: "The removals of the log.",
            responses: &[Sample(
                "example",
                r#"{"removals": [{
                    "seq": 1203, "kind": "retention", "action": "audit.events.removed", "first_seq": 0, "end_seq": 900, "events": 871,
                    "digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                    "at": "2026-11-01T02:00:00.000Z"
                }]}"#,
            )],
            errors: &[ErrorCode::LogInconsistent],
            is_additive: true,
            ..About::new("list_log_removals", Tag::Log, "List removals")
        }
    }
}
