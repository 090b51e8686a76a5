//! `/api/v1/viewer-tokens`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, NoParameters};
use crate::reply::{Created, Reply};
use crate::schema::{Text, Time, absent_not_null};
use audit_auth::{Project, TokenLifetime};
use audit_domain::{DEFAULT_TIER, Fields, limits};
use schemars::JsonSchema;
use serde::Serialize;

/// A viewer token to be made.
#[derive(JsonSchema)]
#[schemars(rename = "ViewerTokenInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct NewTokenInput {
    /// Whose events the token reads.
    tenant_id: Text<1, { limits::ID_CHARS_MAX }>,
    /// The name of a viewer tier of the project.
    #[schemars(extend("default" = DEFAULT_TIER))]
    tier: Option<Text<1, { limits::ID_CHARS_MAX }>>,
    /// Whole seconds.
    #[schemars(
        range(min = TokenLifetime::SECONDS_MIN, max = TokenLifetime::SECONDS_MAX),
        extend("default" = TokenLifetime::SECONDS_DEFAULT)
    )]
    expires_in: Option<u32>,
}

impl Fielded for NewTokenInput {
    type Read = (String, Option<String>, TokenLifetime);

    fn read(fields: &mut Fields<'_>) -> Option<Self::Read> {
        let tenant_id = fields.required_text("tenant_id", 1, limits::ID_CHARS_MAX);
        let tier = fields.optional_text("tier", 1, limits::ID_CHARS_MAX);
        let range = TokenLifetime::SECONDS_MIN..=TokenLifetime::SECONDS_MAX;
        let seconds = fields
            .optional_integer("expires_in", range)
            .unwrap_or(TokenLifetime::SECONDS_DEFAULT);
        Some((tenant_id?, tier, TokenLifetime::from_seconds(seconds).ok()?))
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ViewerToken")]
pub(super) struct TokenBody {
    /// `vt_` and a JWT, signed with HS256.
    #[schemars(regex(pattern = r"^vt_[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+$"))]
    token: String,
    /// The token is valid before this time.
    #[schemars(with = "Time")]
    expires_at: String,
}

/// Makes a token that reads one tenant's events.
pub(super) async fn create(
    caller: Caller<Project>,
    parameters: NoParameters,
    body: JsonBody<NewTokenInput>,
) -> Result<Reply<TokenBody, Created>, ApiError> {
    parameters.refuse()?;
    let (tenant_id, tier, lifetime) = body.read(caller.room()).await?;
    let made = caller
        .run(move |service, key| service.create_viewer_token(&key, tenant_id, tier, lifetime))
        .await?;
    let (token, expires_at) = made;
    Ok(Reply::created(TokenBody {
        token: token.as_str().to_owned(),
        expires_at: expires_at.to_string(),
    }))
}
