//! `/api/v1/log`: the data for auditors.
//!
//! Checkpoints, tiles and the key are served in the formats of C2SP, as plain text and bytes, for tools that know those.

mod removed;

use crate::caller::{Bearer, Caller};
use crate::error::ApiError;
use crate::input::{Fielded, Parameters, ProjectParameters};
use crate::parameters::WholeNumber;
use crate::reply::Reply;
use crate::schema::{Text, absent_not_null};
use actix_web::http::header::{CACHE_CONTROL, ContentType};
use actix_web::{HttpResponse, web};
use audit_app::{AppError, Selection, TenantCompleteness, TileId};
use audit_auth::{EventsRead, Keys, Readers};
use audit_domain::{Fields, limits};
use removed::RemovedBody;
use schemars::JsonSchema;
use serde::Serialize;

/// Whether the witnesses that have cosigned a checkpoint are a quorum.
const QUORUM_HEADER: &str = "log-quorum";
/// A full tile never changes.
const FULL_TILE_CACHE: &str = "private, max-age=31536000, immutable";

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ConsistencyProof")]
pub(super) struct ConsistencyBody {
    from: u64,
    to: u64,
    /// The hashes that lead to both roots (RFC 9162 §2.1.4), in base64.
    consistency: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(transform = absent_not_null)]
#[schemars(rename = "CompletenessProof")]
pub(super) struct CompletenessBody {
    tenant_id: String,
    /// Blinds the position of the tenant in the map: 32 bytes in base64.
    salt: String,
    /// A signed note (C2SP `tlog-checkpoint`): the size and root of the tenant's log. Absent where the tenant has no events,
    /// which the note of the map then states.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
    /// The 64 hashes that lead from the tenant's log to the root of the map, in base64. Absent with `checkpoint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Vec<String>>,
    /// A signed note: log, time, root of the map, binding to the size of the log.
    map: String,
    /// What removals have taken of the events. Absent where they have taken none. A statement of the server, which is not signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<RemovedBody>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TenantMap")]
pub(super) struct TenantMapBody {
    /// The number of events of the log that the map is computed from.
    size: u64,
    /// The secret of the map: 32 bytes in base64. Not for viewers.
    key: String,
    /// A signed note: log, time, root of the map, binding to the size of the log.
    map: String,
}

/// The tenant whose log is proved.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct CompletenessQuery {
    /// Required with a key. A viewer token proves its own tenant.
    #[schemars(example = &"acme")]
    tenant_id: Option<Text<1, { limits::ID_CHARS_MAX }>>,
}

impl Fielded for CompletenessQuery {
    type Read = Option<String>;

    fn read(fields: &mut Fields<'_>) -> Option<Option<String>> {
        Some(fields.optional_text("tenant_id", 1, limits::ID_CHARS_MAX))
    }
}

impl From<TenantCompleteness> for CompletenessBody {
    fn from(TenantCompleteness { proof, removed }: TenantCompleteness) -> Self {
        let (checkpoint, path) = match proof.log {
            Some((checkpoint, path)) => (Some(checkpoint), Some(path.to_base64())),
            None => (None, None),
        };
        Self {
            tenant_id: proof.tenant_id,
            salt: proof.salt.to_base64(),
            checkpoint,
            path,
            map: proof.map,
            removed: removed.map(Into::into),
        }
    }
}

/// Two sizes of a log.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ConsistencyQuery {
    /// The earlier size.
    #[schemars(example = 1)]
    from: u64,
    /// The later size.
    #[schemars(example = 2)]
    to: u64,
}

impl Fielded for ConsistencyQuery {
    type Read = (u64, u64);

    fn read(fields: &mut Fields<'_>) -> Option<(u64, u64)> {
        let from = fields.required_parsed::<WholeNumber>("from");
        let to = fields.required_parsed::<WholeNumber>("to");
        Some((from?.0 as u64, to?.0 as u64))
    }
}

/// Which checkpoint is read.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct CheckpointQuery {
    /// The last checkpoint that has a quorum of witnesses, however old, instead of the newest one.
    #[schemars(example = true)]
    cosigned: Option<bool>,
}

impl Fielded for CheckpointQuery {
    type Read = bool;

    fn read(fields: &mut Fields<'_>) -> Option<bool> {
        match fields.has("cosigned") {
            true => fields.optional_parsed::<bool>("cosigned"),
            false => Some(false),
        }
    }
}

/// The newest signed checkpoint, or the last one that has a quorum of witnesses.
pub(super) async fn checkpoint(
    caller: Caller<Keys<EventsRead>>,
    parameters: Parameters<CheckpointQuery>,
) -> Result<HttpResponse, ApiError> {
    let (selection, is_cosigned) = parameters.read()?;
    let checkpoint = caller
        .read(move |service, principal| service.log_checkpoint(&principal, selection, is_cosigned))
        .await?;
    let mut response = HttpResponse::Ok();
    response.content_type(ContentType::plaintext());
    if let Some(has_quorum) = checkpoint.has_quorum {
        response.insert_header((QUORUM_HEADER, if has_quorum { "true" } else { "false" }));
    }
    Ok(response.body(checkpoint.note))
}

/// A tile of hashes, or the bundle of the entries below one.
pub(super) async fn tile(
    caller: Caller<Keys<EventsRead>>,
    parameters: ProjectParameters,
    path: web::Path<String>,
) -> Result<HttpResponse, ApiError> {
    let selection = parameters.read()?;
    if let Some(index) = path.strip_prefix("removed/") {
        return removed_tile(caller, selection, index).await;
    }
    let entries = path.strip_prefix("entries/");
    let id = entries.map_or_else(|| format!("tile/{path}"), |index| format!("tile/0/{index}"));
    let id: TileId = id.parse().map_err(|_| AppError::NotFound("tile"))?;
    let is_of_entries = entries.is_some();
    let bytes = caller
        .read(move |service, principal| match is_of_entries {
            true => service.log_entries(&principal, selection, id),
            false => service.log_tile(&principal, selection, id),
        })
        .await?;
    let mut response = HttpResponse::Ok();
    response.content_type(ContentType::octet_stream());
    if id.is_full() {
        response.insert_header((CACHE_CONTROL, FULL_TILE_CACHE));
    }
    Ok(response.body(bytes))
}

/// The records of the events of a tile that were removed, or are planned to be. Each removal adds some, so they are never cached.
async fn removed_tile(
    caller: Caller<Keys<EventsRead>>,
    selection: Selection,
    index: &str,
) -> Result<HttpResponse, ApiError> {
    let id: Option<TileId> = format!("tile/0/{index}").parse().ok();
    let id = id.filter(TileId::is_full).ok_or(AppError::NotFound("tile"))?;
    let bytes = caller
        .read(move |service, principal| service.removed_tile(&principal, selection, id.index()))
        .await?;
    Ok(HttpResponse::Ok()
        .content_type(ContentType::octet_stream())
        .body(bytes))
}

/// The key that verifies checkpoints.
pub(super) async fn key(
    caller: Caller<Keys<EventsRead>>,
    parameters: ProjectParameters,
) -> Result<HttpResponse, ApiError> {
    parameters.read()?;
    let key = caller.run(move |service, _| service.log_key()).await?;
    Ok(HttpResponse::Ok()
        .content_type(ContentType::plaintext())
        .body(format!("{key}\n")))
}

/// The statements by which each key of the log names the next one.
pub(super) async fn rotations(
    caller: Caller<Keys<EventsRead>>,
    parameters: ProjectParameters,
) -> Result<HttpResponse, ApiError> {
    parameters.read()?;
    let statements = caller.run(move |service, _| service.log_key_rotations()).await?;
    Ok(HttpResponse::Ok()
        .content_type(ContentType::plaintext())
        .body(statements))
}

/// How many events a tenant has, and which.
pub(super) async fn completeness(
    bearer: Bearer<Readers>,
    parameters: Parameters<CompletenessQuery>,
) -> Result<Reply<CompletenessBody>, ApiError> {
    let (presented, (selection, tenant_id)) = bearer.with(parameters.read()).await?;
    let own = presented.clone();
    let proof = presented
        .read_with_map(move || own.tenant_proof(selection, tenant_id.clone()))
        .await?;
    Ok(Reply::ok(proof.into()))
}

/// The map of all tenants, for auditors.
pub(super) async fn tenants(
    caller: Caller<Keys<EventsRead>>,
    parameters: ProjectParameters,
) -> Result<Reply<TenantMapBody>, ApiError> {
    let selection = parameters.read()?;
    let map = caller
        .read_with_map(move |service, principal| service.audited_tenant_map(principal, selection))
        .await?;
    Ok(Reply::ok(TenantMapBody {
        size: map.size,
        key: map.key.to_base64(),
        map: map.note,
    }))
}

/// That the log at one size begins with the log at an earlier one.
pub(super) async fn consistency(
    caller: Caller<Keys<EventsRead>>,
    parameters: Parameters<ConsistencyQuery>,
) -> Result<Reply<ConsistencyBody>, ApiError> {
    let (selection, (from, to)) = parameters.read()?;
    let proof = caller
        .read(move |service, principal| service.log_consistency(&principal, selection, from, to))
        .await?;
    Ok(Reply::ok(ConsistencyBody {
        from,
        to,
        consistency: proof.to_base64(),
    }))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Plain, Sample, Tag};
    use crate::error_code::ErrorCode;
    use schemars::json_schema;

    pub(crate) fn checkpoint() -> About {
        About {
            description: "A signed note: the name of the log, its size and the root of its tree, in the format of \
                          C2SP `tlog-checkpoint`. It has everything that was acknowledged before. Where the \
                          deployment has witnesses, it has their cosignatures as far as they are known, and the \
                          header `Log-Quorum` tells whether they are the quorum. `cosigned=true` reads the last \
                          checkpoint with a quorum, or 404.",
            outcome: "The newest checkpoint.",
            plain: Some(Plain::TEXT),
            errors: &[
                ErrorCode::LogInconsistent,
                ErrorCode::NotFound,
                ErrorCode::InternalError,
                ErrorCode::Unavailable,
            ],
            is_additive: true,
            ..About::new("get_log_checkpoint", Tag::Log, "Read the checkpoint")
        }
    }

    pub(crate) fn tile() -> About {
        About {
            description: "Up to 256 neighbouring hashes of the tree, 32 bytes each, in the format of C2SP \
                          `tlog-tiles`. Level 0 has the hashes of leaves: `SHA-256(0x00 || content hash)`. A full \
                          tile never changes. `entries` in place of the level reads the entries themselves: two \
                          bytes of length and the content hash of each event. `removed` reads the records of its events \
                          that were removed, or are planned to be, 82 bytes each, integers big endian: position (8), \
                          position of the event of its plan, removal or erasure (8), mask of what is removed (2), content \
                          hash (32), label of its tenant (32); 404 without one.",
            path: Some(PathParameter {
                description: "Level and index, and the width of a partial tile: `0/x001/x234/067` or `0/000.p/7`; \
                              `entries/000` for entries, `removed/000` for records.",
                schema: |_| json_schema!({"type": "string"}),
                example: "0/000.p/1",
                refusal: ErrorCode::NotFound,
            }),
            outcome: "The hashes.",
            plain: Some(Plain {
                content_types: &["application/octet-stream"],
                ..Plain::TEXT
            }),
            errors: &[ErrorCode::InternalError, ErrorCode::Unavailable],
            is_additive: true,
            ..About::new("get_log_tile", Tag::Log, "Read a tile of the tree")
        }
    }

    pub(crate) fn key() -> About {
        About {
            description: "The deployment's Ed25519 key as C2SP `signed-note` writes it: name, key id, public key. \
                          Keep it somewhere else than what it is to verify.",
            outcome: "The key that verifies checkpoints.",
            plain: Some(Plain::TEXT),
            errors: &[ErrorCode::InternalError, ErrorCode::Unavailable],
            is_additive: true,
            ..About::new("get_log_key", Tag::Log, "Read the public key")
        }
    }

    pub(crate) fn rotations() -> About {
        About {
            description: "Signed notes, one after another, by which each key of the deployment names the one that \
                          follows it; both sign. Empty before the first rotation. A verifier that knows an earlier \
                          key follows them to the present one.",
            outcome: "The rotations of the key.",
            plain: Some(Plain::TEXT),
            errors: &[ErrorCode::InternalError, ErrorCode::Unavailable],
            is_additive: true,
            ..About::new("get_log_key_rotations", Tag::Log, "Read the rotations of the key")
        }
    }

    pub(crate) fn consistency() -> About {
        About {
            description: "The hashes that lead to the roots of both sizes: nothing that was there at the earlier one \
                          was changed, removed or moved since.",
            errors: &[ErrorCode::LogInconsistent],
            outcome: "That the log at size `to` begins with all it had at size `from`.",
            responses: &[Sample(
                "example",
                r#"{"from": 1, "to": 2, "consistency": ["4ti0sSFJI4tq9ir51ZSZd7atRj8YaOVJT6RMa+wRq4U="]}"#,
            )],
            is_additive: true,
            ..About::new(
                "get_log_consistency",
                Tag::Log,
                "Prove that the log is append-only",
            )
        }
    }

    pub(crate) fn completeness() -> About {
        About {
            description: "The signed size and root of the tree over all events of a tenant, in the order of the \
                          feed, and the path to the root of the map that commits to all tenants. Whoever reads the \
                          tenant's events computes size and root from their content hashes: a difference shows that \
                          an event was left out. It tells nothing of other tenants. A tier that hides events has \
                          none. Where removals have taken events, `removed` has what is needed to compute the tree over \
                          the others; 409 `too_many_removed` where that is more than one response has.",
            errors: &[ErrorCode::LogInconsistent, ErrorCode::TooManyRemoved],
            outcome: "The proof of the tenant's events.",
            responses: &[Sample(
                "example",
                r#"{
                    "tenant_id": "acme", "salt": "iNNzqoDxzE1bu4RlR52b2Elc9jVQb5WqhL8292PVz2Y=",
                    "checkpoint": "audit-log-33ea0d660239eab4/e08c3d15-61b1-4005-9dc1-2205d270c86f/live/tenants/1c0f…\n2\n…",
                    "path": ["4ti0sSFJI4tq9ir51ZSZd7atRj8YaOVJT6RMa+wRq4U="],
                    "map": "audit-log-33ea0d660239eab4/e08c3d15-61b1-4005-9dc1-2205d270c86f/live/tenants\n2026-11-22T10:15:00.123Z\n…"
                }"#,
            )],
            is_additive: true,
            ..About::new("get_log_completeness", Tag::Log, "Prove a tenant's events")
        }
    }

    pub(crate) fn tenants() -> About {
        About {
            description: "The signed map of all tenants, with the secret that blinds it and the size of the log that \
                          it is computed from: an auditor computes the same map from the events.",
            errors: &[ErrorCode::LogInconsistent],
            outcome: "The map.",
            responses: &[Sample(
                "example",
                r#"{
                    "size": 2, "key": "iNNzqoDxzE1bu4RlR52b2Elc9jVQb5WqhL8292PVz2Y=",
                    "map": "audit-log-33ea0d660239eab4/e08c3d15-61b1-4005-9dc1-2205d270c86f/live/tenants\n2026-11-22T10:15:00.123Z\n…"
                }"#,
            )],
            is_additive: true,
            ..About::new("get_log_tenants", Tag::Log, "Read the map of tenants")
        }
    }
}
