//! `/api/v1/streams`.

use super::events::IngestedBody;
use crate::caller::{Caller, Master, blocking};
use crate::client_address::client_of;
use crate::error::ApiError;
use crate::input::{JsonBody, read_query, read_selection};
use crate::reply::Reply;
use crate::state::HttpState;
use actix_web::{HttpRequest, web};
use audit_app::StreamInfo;
use audit_domain::{ClaimToken, Violations};
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
pub(super) struct StreamBody {
    claim_token: ClaimToken,
    event_count: u64,
    status: &'static str,
    created_at: String,
    expires_at: String,
}

#[derive(Serialize)]
pub(super) struct ClaimedBody {
    event_count: u64,
}

impl From<StreamInfo> for StreamBody {
    fn from(stream: StreamInfo) -> Self {
        Self {
            claim_token: stream.claim_token,
            event_count: stream.event_count,
            status: stream.status.as_str(),
            created_at: stream.created_at.to_string(),
            expires_at: stream.expires_at.to_string(),
        }
    }
}

fn token_in(path: &str) -> Result<ClaimToken, Violations> {
    path.parse().map_err(|error| Violations::one("token", error))
}

/// Stores one event or an array of them in a stream. No credential.
pub(super) async fn ingest(
    request: HttpRequest,
    state: web::Data<HttpState>,
    token: web::Path<String>,
    body: JsonBody,
) -> Result<Reply<IngestedBody>, ApiError> {
    read_query(&request, |_| Some(()))?;
    let token = token_in(&token)?;
    let bytes = body.bytes()?;
    let client = client_of(&request, &state.trusted_proxies);
    let service = Arc::clone(&state.service);
    let ingested = blocking(move || service.ingest_stream(token, client, &bytes)).await?;
    state.metrics.ingested(&ingested);
    Ok(Reply::created(ingested.into()))
}

/// What may be known of a stream. No credential.
pub(super) async fn info(
    request: HttpRequest,
    state: web::Data<HttpState>,
    token: web::Path<String>,
) -> Result<Reply<StreamBody>, ApiError> {
    read_query(&request, |_| Some(()))?;
    let token = token_in(&token)?;
    let client = client_of(&request, &state.trusted_proxies);
    let service = Arc::clone(&state.service);
    let stream = blocking(move || service.stream_info(token, client)).await?;
    Ok(Reply::ok(stream.into()))
}

/// Moves the events of a stream into a project.
pub(super) async fn claim(
    caller: Caller<Master>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<Reply<ClaimedBody>, ApiError> {
    let selection = read_selection(&request)?;
    let token = body.read(|fields| fields.required_parsed::<ClaimToken>("claim_token"))?;
    let event_count = caller
        .run(move |service, master| service.claim_stream(&master, selection, token))
        .await?;
    Ok(Reply::ok(ClaimedBody { event_count }))
}
