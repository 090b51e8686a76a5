//! `/api/v1/log` and `/api/v1/events/{id}/proof`: what an auditor checks.
//!
//! Checkpoints, tiles and the key are served in the formats of C2SP, as plain text and bytes, for tools that know those.

use crate::caller::{Caller, Keys, Readers};
use crate::error::ApiError;
use crate::input::{read_query, read_selection, selection};
use crate::parameters::WholeNumber;
use crate::reply::Reply;
use actix_web::http::header::{CACHE_CONTROL, ContentType};
use actix_web::{HttpRequest, HttpResponse, web};
use audit_app::{AppError, EventProof, TileId};
use audit_domain::EventId;
use serde::Serialize;

/// A full tile never changes.
const FULL_TILE_CACHE: &str = "private, max-age=31536000, immutable";

#[derive(Serialize)]
pub(super) struct ProofBody {
    seq: u64,
    content_hash: String,
    inclusion: Vec<String>,
    checkpoint: String,
}

#[derive(Serialize)]
pub(super) struct ConsistencyBody {
    from: usize,
    to: usize,
    consistency: Vec<String>,
}

impl From<EventProof> for ProofBody {
    fn from(proof: EventProof) -> Self {
        Self {
            seq: proof.seq,
            content_hash: proof.content_hash.to_string(),
            inclusion: proof.inclusion.to_base64(),
            checkpoint: proof.checkpoint,
        }
    }
}

/// The newest signed checkpoint.
pub(super) async fn checkpoint(caller: Caller<Keys>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let selection = read_selection(&request)?;
    let note = caller
        .run(move |service, principal| service.log_checkpoint(&principal, selection))
        .await?;
    Ok(HttpResponse::Ok()
        .content_type(ContentType::plaintext())
        .body(note))
}

/// A tile of hashes.
pub(super) async fn tile(
    caller: Caller<Keys>,
    request: HttpRequest,
    path: web::Path<String>,
) -> Result<HttpResponse, ApiError> {
    let selection = read_selection(&request)?;
    let id: TileId = format!("tile/{path}")
        .parse()
        .map_err(|_| AppError::NotFound("tile"))?;
    let bytes = caller
        .run(move |service, principal| service.log_tile(&principal, selection, id))
        .await?;
    let mut response = HttpResponse::Ok();
    response.content_type(ContentType::octet_stream());
    if id.is_full() {
        response.insert_header((CACHE_CONTROL, FULL_TILE_CACHE));
    }
    Ok(response.body(bytes))
}

/// The key that verifies checkpoints.
pub(super) async fn key(caller: Caller<Keys>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    read_selection(&request)?;
    let key = caller.run(move |service, _| service.log_key()).await?;
    Ok(HttpResponse::Ok()
        .content_type(ContentType::plaintext())
        .body(format!("{key}\n")))
}

/// That an event is in the log.
pub(super) async fn proof(
    caller: Caller<Readers>,
    request: HttpRequest,
    id: web::Path<String>,
) -> Result<Reply<ProofBody>, ApiError> {
    let selection = read_selection(&request)?;
    let id: EventId = id.parse().map_err(|_| AppError::NotFound("event"))?;
    let proof = caller
        .run(move |service, principal| service.event_proof(&principal, selection, id))
        .await?;
    Ok(Reply::ok(proof.into()))
}

/// That the log at one size begins with the log at an earlier one.
pub(super) async fn consistency(
    caller: Caller<Keys>,
    request: HttpRequest,
) -> Result<Reply<ConsistencyBody>, ApiError> {
    let (selection, from, to) = read_query(&request, |fields| {
        let selection = selection(&request, fields);
        let from = fields.required_parsed::<WholeNumber>("from");
        let to = fields.required_parsed::<WholeNumber>("to");
        Some((selection, from?.0, to?.0))
    })?;
    let proof = caller
        .run(move |service, principal| service.log_consistency(&principal, selection, from as u64, to as u64))
        .await?;
    Ok(Reply::ok(ConsistencyBody {
        from,
        to,
        consistency: proof.to_base64(),
    }))
}
