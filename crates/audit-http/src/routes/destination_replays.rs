//! `/api/v1/destinations/{id}/replay`.

use super::destinations::{ReplayBody, id_in};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, ProjectParameters};
use crate::parameters::read_instant;
use crate::reply::{Deleted, Reply};
use crate::schema::{AnyTime, absent_not_null};
use actix_web::web;
use audit_app::{ReplayRange, ReplayRequest};
use audit_auth::DestinationOwners;
use audit_domain::Fields;
use schemars::JsonSchema;
use serde::Serialize;

/// The events that are sent again.
#[derive(JsonSchema)]
#[schemars(rename = "ReplayInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ReplayInput {
    /// From this position in the log on; by default from its beginning. Not together with `from`.
    #[schemars(range(min = 0))]
    from_seq: Option<i64>,
    /// From the first event on that the log received at this time or later.
    from: Option<AnyTime>,
    /// To the last event that the log received before this time; by default to the end of the log now.
    to: Option<AnyTime>,
    /// Only counts.
    #[schemars(extend("default" = false))]
    dry_run: Option<bool>,
}

impl Fielded for ReplayInput {
    type Read = (ReplayRequest, bool);

    fn read(fields: &mut Fields<'_>) -> Option<Self::Read> {
        let from_seq = fields.optional_integer("from_seq", 0..=i64::MAX);
        if from_seq.is_some() && fields.has("from") {
            fields.violate::<()>("from", "must not be together with from_seq");
        }
        let request = ReplayRequest {
            from_seq: from_seq.map(i64::cast_unsigned),
            from: read_instant(fields, "from"),
            to: read_instant(fields, "to"),
        };
        let is_dry_run = fields.optional_bool("dry_run").unwrap_or(false);
        Some((request, is_dry_run))
    }
}

/// What a replay sends.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReplayResult")]
pub(super) struct ReplayResultBody {
    /// The position in the log of the first event.
    #[schemars(range(min = 0))]
    from_seq: i64,
    /// The position in the log after the last event.
    #[schemars(range(min = 0))]
    end_seq: i64,
    /// How many events of it the filter lets pass; `null` without `dry_run`.
    count: Option<ReplayCountBody>,
    /// The replay; `null` after `dry_run`.
    replay: Option<ReplayBody>,
}

/// How many events of a range a filter lets pass.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReplayCount")]
struct ReplayCountBody {
    /// Those that it lets pass, of the first `looked_at`.
    #[schemars(range(min = 0))]
    matching: i64,
    /// The events that were looked at: all of them, unless there are too many for one request.
    #[schemars(range(min = 0))]
    looked_at: i64,
}

impl From<ReplayRange> for ReplayResultBody {
    fn from(range: ReplayRange) -> Self {
        Self {
            from_seq: range.from_seq.cast_signed(),
            end_seq: range.end_seq.cast_signed(),
            count: range.count.map(|count| ReplayCountBody {
                matching: count.matching.cast_signed(),
                looked_at: count.looked_at.cast_signed(),
            }),
            replay: range.replay.map(ReplayBody::from),
        }
    }
}

/// Starts a replay, or counts what it would send.
pub(super) async fn replay(
    caller: Caller<DestinationOwners>,
    parameters: ProjectParameters,
    id: web::Path<String>,
    body: JsonBody<ReplayInput>,
) -> Result<Reply<ReplayResultBody>, ApiError> {
    let selection = parameters.read()?;
    let (request, is_dry_run) = body.read(caller.room()).await?;
    let id = id_in(&id)?;
    let range = match is_dry_run {
        true => {
            caller
                .read(move |service, owner| service.count_replay(&owner, selection, id, request))
                .await?
        }
        false => {
            caller
                .run(move |service, owner| service.start_replay(&owner, selection, id, request))
                .await?
        }
    };
    Ok(Reply::ok(range.into()))
}

/// Stops a replay.
pub(super) async fn stop_replay(
    caller: Caller<DestinationOwners>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<Deleted>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let stopped = caller.run(move |service, owner| service.stop_replay(&owner, selection, id));
    stopped.await?;
    Ok(Reply::deleted())
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::routes::destinations::about::id;

    pub(crate) fn replay() -> About {
        About {
            description: "Sends events of the past again, beside the main run, which goes on. Their records have `stream.replay` and \
                      a numbering of their own. Starting one needs a paid plan. One replay of a destination at a time: 409 \
                      `conflict`. A range without events: 400. `dry_run` only counts.",
            path: id(),
            requests: &[
                Sample(
                    "from_time",
                    r#"{"from": "2026-01-15T00:00:00Z", "to": "2026-01-16T00:00:00Z", "dry_run": true}"#,
                ),
                Sample("from_position", r#"{"from_seq": 0, "dry_run": false}"#),
            ],
            outcome: "What the replay sends, and the replay if it has started.",
            responses: &[
                Sample(
                    "dry_run",
                    r#"{"from_seq": 120, "end_seq": 345, "count": {"matching": 40, "looked_at": 225}, "replay": null}"#,
                ),
                Sample(
                    "started",
                    r#"{
                    "from_seq": 120, "end_seq": 345, "count": null,
                    "replay": {"number": 1768474800000, "position": 0, "cursor_seq": 120, "end_seq": 345, "state": "active"}
                }"#,
                ),
            ],
            errors: &[ErrorCode::Conflict],
            is_additive: true,
            ..About::new(
                "replay_destination",
                Tag::Destinations,
                "Send events of the past again",
            )
        }
    }

    pub(crate) fn stop_replay() -> About {
        About {
            description: "On every plan. The main run is not changed.",
            path: id(),
            outcome: "The replay is stopped.",
            responses: &[Sample("example", r#"{"deleted": true}"#)],
            is_additive: true,
            ..About::new("stop_replay", Tag::Destinations, "Stop a replay")
        }
    }
}
