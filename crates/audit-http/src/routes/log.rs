//! `/api/v1/log` and `/api/v1/events/{id}/proof`: the data for auditors.
//!
//! Checkpoints, tiles and the key are served in the formats of C2SP, as plain text and bytes, for tools that know those.

use crate::caller::{Bearer, Caller};
use crate::error::ApiError;
use crate::input::{Fielded, Parameters, ProjectParameters};
use crate::parameters::WholeNumber;
use crate::reply::Reply;
use crate::schema::{ContentHashText, ContentSaltText, Text, absent_not_null};
use actix_web::http::header::{CACHE_CONTROL, ContentType};
use actix_web::{HttpResponse, web};
use audit_app::{AppError, Disclosure, EventProof, TenantProof, TileId};
use audit_auth::{EventsRead, Keys, Readers};
use audit_domain::{EventId, Fields, limits};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// Whether the witnesses that have cosigned a checkpoint are a quorum.
const QUORUM_HEADER: &str = "log-quorum";
/// A full tile never changes.
const FULL_TILE_CACHE: &str = "private, max-age=31536000, immutable";

#[derive(Serialize, JsonSchema)]
#[schemars(transform = absent_not_null)]
#[schemars(rename = "InclusionProof")]
pub(super) struct ProofBody {
    /// The place of the event in the log, from 0; for a viewer token, in the log of its tenant.
    seq: u64,
    #[schemars(with = "ContentHashText")]
    content_hash: String,
    /// For readers who see the whole event: the random bytes in its content hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ContentSaltText>")]
    content_salt: Option<String>,
    /// For viewers from whom fields are hidden: by part of the event `{"salt": …}`, or `{"hash": …}` if the tier hides something
    /// of the part, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Map<String, Value>>,
    /// The hashes that lead from the event to the root of the checkpoint (RFC 9162 §2.1.3), in base64.
    inclusion: Vec<String>,
    /// A signed note (C2SP `tlog-checkpoint`).
    checkpoint: String,
}

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

impl From<TenantProof> for CompletenessBody {
    fn from(proof: TenantProof) -> Self {
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

impl From<EventProof> for ProofBody {
    fn from(proof: EventProof) -> Self {
        let (content_salt, parts) = match proof.disclosure {
            Disclosure::Whole(salt) => (Some(salt.to_string()), None),
            Disclosure::Parts(proofs) => (None, Some(proofs.to_json())),
        };
        Self {
            seq: proof.seq,
            content_hash: proof.content_hash.to_string(),
            content_salt,
            parts,
            inclusion: proof.inclusion.to_base64(),
            checkpoint: proof.checkpoint,
        }
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

/// That an event is in the log.
pub(super) async fn proof(
    bearer: Bearer<Readers>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<ProofBody>, ApiError> {
    let input = parameters.read().and_then(|selection| {
        let id = id.parse::<EventId>();
        Ok((selection, id.map_err(|_| AppError::NotFound("event"))?))
    });
    let (presented, (selection, id)) = bearer.with(input).await?;
    let own = presented.clone();
    let proof = presented
        .read_with_map(move || own.event_proof(selection, id))
        .await?;
    Ok(Reply::ok(proof.into()))
}

/// That an event is in the log, in one file.
pub(super) async fn receipt(
    bearer: Bearer<Readers>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<HttpResponse, ApiError> {
    let input = parameters.read().and_then(|selection| {
        let id = id.parse::<EventId>();
        Ok((selection, id.map_err(|_| AppError::NotFound("event"))?))
    });
    let (presented, (selection, id)) = bearer.with(input).await?;
    let own = presented.clone();
    let receipt = presented
        .read_with_map(move || own.event_receipt(selection, id))
        .await?;
    Ok(HttpResponse::Ok()
        .content_type(ContentType::plaintext())
        .body(receipt.to_string()))
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
