//! `/api/v1/viewer-tokens`.

use crate::caller::{Caller, Project};
use crate::error::ApiError;
use crate::input::{JsonBody, read_query};
use crate::reply::Reply;
use actix_web::HttpRequest;
use audit_auth::TokenLifetime;
use audit_domain::limits;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct TokenBody {
    token: String,
    expires_at: String,
}

/// Makes a token that reads one tenant's events.
pub(super) async fn create(
    caller: Caller<Project>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<Reply<TokenBody>, ApiError> {
    read_query(&request, |_| Some(()))?;
    let (tenant_id, tier, lifetime) = body.read(|fields| {
        let tenant_id = fields.required_text("tenant_id", 1, limits::ID_CHARS_MAX);
        let tier = fields.optional_text("tier", 1, limits::ID_CHARS_MAX);
        let range = TokenLifetime::SECONDS_MIN..=TokenLifetime::SECONDS_MAX;
        let seconds = fields
            .optional_integer("expires_in", range)
            .unwrap_or(TokenLifetime::SECONDS_DEFAULT);
        Some((tenant_id?, tier, TokenLifetime::from_seconds(seconds).ok()?))
    })?;
    let made = caller
        .run(move |service, key| service.create_viewer_token(&key, tenant_id, tier, lifetime))
        .await?;
    let (token, expires_at) = made;
    Ok(Reply::created(TokenBody {
        token: token.as_str().to_owned(),
        expires_at: expires_at.to_string(),
    }))
}
