//! `/api/v1/viewer-tokens`.

use crate::caller::Caller;
use crate::compression::NEITHER_STORED_NOR_COMPRESSED;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, NoParameters};
use crate::own_url::OwnUrl;
use crate::public_url::PublicUrl;
use crate::reply::{Created, Reply};
use crate::schema::{Text, Time, absent_not_null};
use crate::state::HttpState;
use actix_web::http::header::CACHE_CONTROL;
use actix_web::web;
use audit_auth::{Project, TokenLifetime};
use audit_domain::{DEFAULT_TIER, Fields, Violations, limits};
use schemars::JsonSchema;
use serde::Serialize;

/// The properties of a new viewer token.
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
    /// Whether the response has the link to the portal of this server too.
    #[schemars(extend("default" = false))]
    portal: Option<bool>,
}

/// What a new token is for.
pub(super) struct NewToken {
    tenant_id: String,
    tier: Option<String>,
    lifetime: TokenLifetime,
    has_link: bool,
}

impl Fielded for NewTokenInput {
    type Read = NewToken;

    fn read(fields: &mut Fields<'_>) -> Option<Self::Read> {
        let tenant_id = fields.required_text("tenant_id", 1, limits::ID_CHARS_MAX);
        let tier = fields.optional_text("tier", 1, limits::ID_CHARS_MAX);
        let range = TokenLifetime::SECONDS_MIN..=TokenLifetime::SECONDS_MAX;
        let seconds = fields
            .optional_integer("expires_in", range)
            .unwrap_or(TokenLifetime::SECONDS_DEFAULT);
        let has_link = fields.optional_bool("portal").unwrap_or(false);
        Some(NewToken {
            tenant_id: tenant_id?,
            tier,
            lifetime: TokenLifetime::from_seconds(seconds).ok()?,
            has_link,
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ViewerToken", transform = absent_not_null)]
pub(super) struct TokenBody {
    /// `vt_` and a JWT, signed with HS256.
    #[schemars(regex(pattern = r"^vt_[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+$"))]
    token: String,
    /// The token is valid before this time.
    #[schemars(with = "Time")]
    expires_at: String,
    /// On request: the link that opens the portal with this token. Whoever has it can read the events until the token expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    portal_url: Option<String>,
}

/// The server for the link of a new token, if one is wanted.
fn linked_server(own: OwnUrl, state: &HttpState, has_link: bool) -> Result<Option<PublicUrl>, ApiError> {
    if !has_link {
        return Ok(None);
    }
    if state.without_pages {
        return Err(Violations::one("portal", "must be false, because this server has no pages").into());
    }
    let message = "needs a Host header in the request, or the public URL in the configuration of the server";
    match own.0 {
        Some(url) => Ok(Some(url)),
        None => Err(Violations::one("portal", message).into()),
    }
}

/// Makes a token that reads one tenant's events.
pub(super) async fn create(
    caller: Caller<Project>,
    parameters: NoParameters,
    body: JsonBody<NewTokenInput>,
    own_url: OwnUrl,
    state: web::Data<HttpState>,
) -> Result<Reply<TokenBody, Created>, ApiError> {
    parameters.refuse()?;
    let new = body.read(caller.room()).await?;
    let server = linked_server(own_url, &state, new.has_link)?;
    let made = caller.run(move |service, key| {
        let (token, expires_at) = service.create_viewer_token(&key, new.tenant_id, new.tier, new.lifetime)?;
        let link = server.map(|server| service.portal_link(&server.to_string(), &token));
        Ok((token, expires_at, link.transpose()?))
    });
    let (token, expires_at, portal_url) = made.await?;
    let reply = Reply::created(TokenBody {
        token: token.as_str().to_owned(),
        expires_at: expires_at.to_string(),
        portal_url,
    });
    // With the link it can be long enough to be compressed, and no response with a secret is.
    Ok(reply.with_header(CACHE_CONTROL, NEITHER_STORED_NOR_COMPRESSED))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, Sample, Tag};

    pub(crate) fn create() -> About {
        About {
            description: "For a live project key; a test key gets 403. The token reads one tenant's live events \
                          through `GET /api/v1/events`, manages destinations of the tenant if its tier allows that, and can do \
                          nothing else. It cannot be revoked alone: deleting \
                          its tier ends all tokens of that tier.",
            requests: &[
                Sample(
                    "example",
                    r#"{"tenant_id": "acme", "tier": "minimal", "expires_in": 600}"#,
                ),
                Sample("portal", r#"{"tenant_id": "acme", "portal": true}"#),
            ],
            outcome: "The token, shown here only.",
            responses: &[
                Sample(
                    "example",
                    r#"{"token": "vt_eyJub3QiOiJyZWFsIn0.eyJub3QiOiJyZWFsIn0.bm90LXJlYWw", "expires_at": "2026-01-15T10:40:00.000Z"}"#,
                ),
                Sample(
                    "portal",
                    r#"{
                        "token": "vt_eyJub3QiOiJyZWFsIn0.eyJub3QiOiJyZWFsIn0.bm90LXJlYWw", "expires_at": "2026-01-15T10:40:00.000Z",
                        "portal_url": "https://audit.example.com/portal#token=vt_eyJub3QiOiJyZWFsIn0.eyJub3QiOiJyZWFsIn0.bm90LXJlYWw&key=audit-log-1%2B0a1b2c3d%2BAQ=="
                    }"#,
                ),
            ],
            ..About::new("create_viewer_token", Tag::Viewers, "Create a viewer token")
        }
    }
}
