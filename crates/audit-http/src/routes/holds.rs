//! `/api/v1/holds`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, Parameters, ProjectParameters};
use crate::parameters::read_instant;
use crate::reply::{Created, Reply};
use crate::schema::{AnyTime, Id, Text, Time, absent_not_null};
use actix_web::web;
use audit_app::{AppError, HeldFor, HoldId, HoldRelease, LegalHold, NewHold};
use audit_auth::Master;
use audit_domain::{Fields, limits};
use schemars::JsonSchema;
use serde::Serialize;

/// The longest reason, in characters.
const REASON_CHARS_MAX: usize = 500;

type Reason = Text<1, REASON_CHARS_MAX>;
type EventsId = Text<1, { limits::ID_CHARS_MAX }>;

/// A new hold. It covers the events that meet every condition, and all of them without one.
#[derive(JsonSchema)]
#[schemars(rename = "HoldInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct NewHoldInput {
    /// Why. It is part of the log.
    reason: Reason,
    /// Only events of this tenant.
    tenant_id: Option<EventsId>,
    /// Only events of this actor.
    actor_id: Option<EventsId>,
    /// Only events with this target.
    target_id: Option<EventsId>,
    /// Only events that the log received at this time or later.
    from: Option<AnyTime>,
    /// Only events that the log received before this time.
    to: Option<AnyTime>,
    /// Whether it can be released only with another master key than this one, which is there already, or a day old by then.
    #[schemars(extend("default" = false))]
    second_key: Option<bool>,
}

impl Fielded for NewHoldInput {
    type Read = NewHold;

    fn read(fields: &mut Fields<'_>) -> Option<NewHold> {
        let reason = fields.required_text("reason", 1, REASON_CHARS_MAX);
        let covers = HeldFor {
            tenant_id: fields.optional_text("tenant_id", 1, limits::ID_CHARS_MAX),
            actor_id: fields.optional_text("actor_id", 1, limits::ID_CHARS_MAX),
            target_id: fields.optional_text("target_id", 1, limits::ID_CHARS_MAX),
            from: read_instant(fields, "from"),
            to: read_instant(fields, "to"),
        };
        let second_key = fields.optional_bool("second_key").unwrap_or(false);
        Some(NewHold {
            reason: reason?,
            covers,
            second_key,
        })
    }
}

/// The release of a hold.
#[derive(JsonSchema)]
#[schemars(rename = "HoldReleaseInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ReleaseInput {
    /// Why. It is part of the log.
    reason: Reason,
}

impl Fielded for ReleaseInput {
    type Read = String;

    fn read(fields: &mut Fields<'_>) -> Option<String> {
        fields.required_text("reason", 1, REASON_CHARS_MAX)
    }
}

/// Which holds are listed.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct HoldsQuery {
    /// Also those that were released.
    #[schemars(example = true)]
    released: Option<bool>,
}

impl Fielded for HoldsQuery {
    type Read = bool;

    fn read(fields: &mut Fields<'_>) -> Option<bool> {
        match fields.has("released") {
            true => fields.optional_parsed::<bool>("released"),
            false => Some(false),
        }
    }
}

/// A legal hold. The events that it covers are not removed while it is in force.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Hold")]
struct HoldBody {
    #[schemars(with = "Id<HoldId>")]
    id: String,
    reason: String,
    /// The tenant whose events it covers; empty for any.
    tenant_id: Vec<String>,
    /// The forms in which the id of the actor may be stored; empty for any.
    actor_id: Vec<String>,
    /// The forms in which the id of the target may be stored; empty for any.
    target_id: Vec<String>,
    #[schemars(with = "Option<Time>")]
    from: Option<String>,
    #[schemars(with = "Option<Time>")]
    to: Option<String>,
    #[schemars(with = "Time")]
    placed_at: String,
    /// The id of the key that placed it.
    placed_by: String,
    /// The position of its event in the log.
    seq: u64,
    /// Whether it can be released only with another key.
    second_key: bool,
    /// `null` while it is in force.
    #[schemars(with = "Option<Time>")]
    released_at: Option<String>,
    /// The id of the key that released it.
    released_by: Option<String>,
    release_reason: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HoldResult")]
pub(super) struct OneHoldBody {
    hold: HoldBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HoldList")]
pub(super) struct HoldsBody {
    holds: Vec<HoldBody>,
}

impl From<LegalHold> for HoldBody {
    fn from(hold: LegalHold) -> Self {
        let (released_at, released_by, release_reason) = match hold.released {
            Some(HoldRelease { at, by, reason, .. }) => (Some(at.to_string()), Some(by), Some(reason)),
            None => (None, None, None),
        };
        Self {
            id: hold.id,
            reason: hold.reason,
            tenant_id: hold.tenant_id,
            actor_id: hold.actor_id,
            target_id: hold.target_id,
            from: hold.from.map(|at| at.to_string()),
            to: hold.to.map(|at| at.to_string()),
            placed_at: hold.placed_at.to_string(),
            placed_by: hold.placed_by,
            seq: hold.seq,
            second_key: hold.second_key,
            released_at,
            released_by,
            release_reason,
        }
    }
}

impl From<LegalHold> for OneHoldBody {
    fn from(hold: LegalHold) -> Self {
        Self { hold: hold.into() }
    }
}

/// Lists the holds of the project for one environment.
pub(super) async fn list(
    caller: Caller<Master>,
    parameters: Parameters<HoldsQuery>,
) -> Result<Reply<HoldsBody>, ApiError> {
    let (selection, released) = parameters.read()?;
    let found = caller.read(move |service, master| service.holds(&master, selection, released));
    Ok(Reply::ok(HoldsBody {
        holds: found.await?.into_iter().map(HoldBody::from).collect(),
    }))
}

/// Places a hold.
pub(super) async fn place(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    body: JsonBody<NewHoldInput>,
) -> Result<Reply<OneHoldBody, Created>, ApiError> {
    let selection = parameters.read()?;
    let new = body.read(caller.room()).await?;
    let hold = caller
        .run(move |service, master| service.place_hold(&master, selection, &new))
        .await?;
    Ok(Reply::created(hold.into()))
}

/// Releases a hold.
pub(super) async fn release(
    caller: Caller<Master>,
    parameters: ProjectParameters,
    id: web::Path<String>,
    body: JsonBody<ReleaseInput>,
) -> Result<Reply<OneHoldBody>, ApiError> {
    let selection = parameters.read()?;
    let reason = body.read(caller.room()).await?;
    let id: HoldId = id.parse().map_err(|_| AppError::NotFound("hold"))?;
    let hold = caller
        .run(move |service, master| service.release_hold(&master, selection, id, &reason))
        .await?;
    Ok(Reply::ok(hold.into()))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::schema::Id;
    use audit_app::HoldId;

    pub(crate) fn list() -> About {
        About {
            description: "The holds in force, oldest first; with `released=true` those that were released as well. They are read \
                          from the log.",
            outcome: "The holds.",
            responses: &[Sample(
                "example",
                r#"{"holds": [{
                    "id": "hld_01KF15PHN8E1V6GK2Q6JQ5N9Y1", "reason": "Case 2026-117", "tenant_id": ["acme"], "actor_id": [],
                    "target_id": [], "from": "2026-01-01T00:00:00.000Z", "to": null, "placed_at": "2026-01-15T10:30:00.000Z",
                    "placed_by": "67e55044-10b1-426f-9247-bb680e5fe0c8", "seq": 1187, "second_key": true,
                    "released_at": "2026-03-15T10:30:00.000Z", "released_by": "729f9843-9137-4ff6-bf03-7f4b3ef8ab36",
                    "release_reason": "Case 2026-117 is closed"
                }]}"#,
            )],
            errors: &[ErrorCode::LogInconsistent],
            is_additive: true,
            ..About::new("list_holds", Tag::Retention, "List legal holds")
        }
    }

    pub(crate) fn place() -> About {
        About {
            description: "From now on the events that it covers are not removed, on every plan. It cancels a plan of retention in \
                          its grace period. A log has at most 100 holds in force: 403 `forbidden`. After a change of the hash \
                          key, place holds of actors and targets again.",
            requests: &[
                Sample(
                    "example",
                    r#"{
                        "reason": "Case 2026-117", "tenant_id": "acme", "actor_id": "user_42",
                        "from": "2026-01-01T00:00:00Z", "to": "2026-07-01T00:00:00Z", "second_key": true
                    }"#,
                ),
                Sample(
                    "target",
                    r#"{"reason": "Case 2026-118", "target_id": "invoice_7"}"#,
                ),
            ],
            outcome: "The hold.",
            responses: &[Sample("example", PLACED)],
            errors: &[ErrorCode::LogInconsistent],
            is_additive: true,
            ..About::new("place_hold", Tag::Retention, "Place a legal hold")
        }
    }

    const PLACED: &str = r#"{"hold": {
        "id": "hld_01KF15PHN8E1V6GK2Q6JQ5N9Y1", "reason": "Case 2026-117", "tenant_id": ["acme"],
        "actor_id": ["user_42", "sha256:f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2"],
        "target_id": [], "from": "2026-01-01T00:00:00.000Z", "to": "2026-07-01T00:00:00.000Z",
        "placed_at": "2026-01-15T10:30:00.000Z", "placed_by": "67e55044-10b1-426f-9247-bb680e5fe0c8", "seq": 1187,
        "second_key": true, "released_at": null, "released_by": null, "release_reason": null
    }}"#;

    const RELEASED: &str = r#"{"hold": {
        "id": "hld_01KF15PHN8E1V6GK2Q6JQ5N9Y1", "reason": "Case 2026-117", "tenant_id": ["acme"],
        "actor_id": ["user_42", "sha256:f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2"],
        "target_id": [], "from": "2026-01-01T00:00:00.000Z", "to": "2026-07-01T00:00:00.000Z",
        "placed_at": "2026-01-15T10:30:00.000Z", "placed_by": "67e55044-10b1-426f-9247-bb680e5fe0c8", "seq": 1187,
        "second_key": true, "released_at": "2026-03-15T10:30:00.000Z",
        "released_by": "729f9843-9137-4ff6-bf03-7f4b3ef8ab36", "release_reason": "Case 2026-117 is closed"
    }}"#;

    pub(crate) fn release() -> About {
        About {
            description: "The events that it covered follow the retention policy again. A hold with `second_key` asks for another \
                          key than the one that placed it, which was created before the hold or is a day old: 403 `forbidden`. A \
                          hold that was released: 409 `conflict`.",
            path: Some(PathParameter {
                description: "The id of the hold.",
                schema: |generator| generator.subschema_for::<Id<HoldId>>(),
                example: "hld_01KF15PHN8E1V6GK2Q6JQ5N9Y1",
                refusal: ErrorCode::NotFound,
            }),
            requests: &[Sample("example", r#"{"reason": "Case 2026-117 is closed"}"#)],
            outcome: "The hold.",
            responses: &[Sample("example", RELEASED)],
            errors: &[ErrorCode::Conflict, ErrorCode::LogInconsistent],
            is_additive: true,
            ..About::new("release_hold", Tag::Retention, "Release a legal hold")
        }
    }
}
