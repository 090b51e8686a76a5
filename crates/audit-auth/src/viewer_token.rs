//! Viewer tokens: `vt_` and a JSON Web Token (RFC 7519), signed with HS256 (RFC 7518 section 3.2).

use crate::hs256::ensure_provider;
use crate::{CredentialError, TokenLifetime, ViewerSecret};
use audit_domain::{ProjectId, Timestamp};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use std::fmt;
use uuid::Uuid;

const ISSUER: &str = "audit-log";
const AUDIENCE: &str = "audit-viewer";
const JTI_CHARS: usize = 36;

/// The text of a viewer token. Nothing is known yet about who signed it and whether it has expired: see [`verify`].
///
/// The text is a secret: `Debug` shows nothing of it, and there is no `Display`.
#[derive(Clone)]
pub struct ViewerTokenText(String);

impl ViewerTokenText {
    /// Before the JSON Web Token.
    pub const PREFIX: &'static str = "vt_";
    /// The longest token, in bytes. A tenant id of 256 and a tier of 100 characters fit, whichever characters they are.
    pub const TOKEN_BYTES_MAX: usize = 4_096;

    /// Reads the outer form: `vt_` and three parts between dots, each in the alphabet of base64url.
    ///
    /// # Errors
    /// [`CredentialError::UnknownForm`] when the text does not begin with `vt_`;
    /// [`CredentialError::MalformedToken`] when it does, but is too long or no signed JWT.
    pub fn parse(text: &str) -> Result<Self, CredentialError> {
        let jwt = text
            .strip_prefix(Self::PREFIX)
            .ok_or(CredentialError::UnknownForm)?;
        if text.len() > Self::TOKEN_BYTES_MAX || jwt.split('.').count() != 3 {
            return Err(CredentialError::MalformedToken);
        }
        let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if jwt
            .split('.')
            .any(|part| part.is_empty() || !part.bytes().all(is_base64url))
        {
            return Err(CredentialError::MalformedToken);
        }
        Ok(Self(text.to_owned()))
    }

    /// Whether whoever sent this text meant it to be a viewer token, well-formed or not.
    pub(crate) fn is_meant_by(text: &str) -> bool {
        text.starts_with(Self::PREFIX)
    }

    /// The secret itself: to be shown once, on creation, and never logged.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn jwt(&self) -> &str {
        &self.0[Self::PREFIX.len()..]
    }
}

impl fmt::Debug for ViewerTokenText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ViewerTokenText").finish_non_exhaustive()
    }
}

/// What a viewer token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewerClaims {
    /// The project whose events may be read (`sub`).
    pub project_id: ProjectId,
    /// The tenant to which every query is confined (`tenant_id`).
    pub tenant_id: String,
    /// Name of the visibility tier (`tier`).
    pub tier: String,
    /// When that tier was made (`tier_at`, in microseconds): a tier that was deleted and made anew under its name is
    /// another one.
    pub tier_created_at: Timestamp,
    /// When the token was made (`iat`). A token keeps whole seconds.
    pub issued_at: Timestamp,
    /// The first moment at which it is no longer valid (`exp`). A token keeps whole seconds.
    pub expires_at: Timestamp,
    /// Tells the token from every other (`jti`).
    pub token_id: [u8; 16],
}

impl ViewerClaims {
    /// Claims that hold from the second of `now` on for exactly `lifetime`; `random` makes the token unique.
    pub fn issue(
        project_id: ProjectId,
        tenant_id: String,
        (tier, tier_created_at): (String, Timestamp),
        now: Timestamp,
        lifetime: TokenLifetime,
        random: [u8; 16],
    ) -> Self {
        let issued_at = Timestamp::from_seconds(now.as_seconds());
        let expires_at = issued_at.plus_seconds(lifetime.seconds());
        Self {
            project_id,
            tenant_id,
            tier,
            tier_created_at,
            issued_at,
            expires_at,
            token_id: random,
        }
    }
}

/// No token could be made of the claims.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// Tenant and tier are longer than a token can carry.
    #[error(
        "the viewer token would be longer than {} bytes",
        ViewerTokenText::TOKEN_BYTES_MAX
    )]
    TooLong,
    /// Other code of this process has set a `jsonwebtoken` provider that cannot sign with HS256.
    #[error("signing a viewer token with HS256")]
    Provider(#[source] jsonwebtoken::errors::Error),
}

/// The token opens nothing. Both are answered with status 401.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Not signed by one of our secrets, or not what we sign. Answered as `invalid_token`.
    #[error("the viewer token is invalid")]
    Invalid,
    /// Ours, but its time has passed. Answered as `token_expired`.
    #[error("the viewer token has expired")]
    Expired,
}

/// Makes a token. Fractions of a second in the claims' times are dropped.
///
/// # Errors
/// [`SignError::TooLong`] when `tenant_id` and `tier` exceed what [`ViewerTokenText::TOKEN_BYTES_MAX`] has room for.
pub fn sign(claims: &ViewerClaims, secret: &ViewerSecret) -> Result<ViewerTokenText, SignError> {
    ensure_provider();
    let key = EncodingKey::from_secret(secret.as_bytes());
    let jwt = jsonwebtoken::encode(&header(secret.kid()), &WireClaims::from(claims), &key)
        .map_err(SignError::Provider)?;
    let text = format!("{}{jwt}", ViewerTokenText::PREFIX);
    if text.len() > ViewerTokenText::TOKEN_BYTES_MAX {
        return Err(SignError::TooLong);
    }
    Ok(ViewerTokenText(text))
}

/// Checks a token against the secrets that may have signed it, the current one and those rotated out, and reads it.
///
/// The signature is compared in constant time. There is no leeway: the token is valid before `expires_at`, and from
/// then on it is not (RFC 7519 section 4.1.4). `issued_at` may lie ahead of `now`, because another node's clock may.
///
/// # Errors
/// [`TokenError::Expired`] when all is right except the time, [`TokenError::Invalid`] in every other case.
pub fn verify(
    token: &ViewerTokenText,
    secrets: &[ViewerSecret],
    now: Timestamp,
) -> Result<ViewerClaims, TokenError> {
    ensure_provider();
    let found = jsonwebtoken::decode_header(token.jwt()).map_err(|_| TokenError::Invalid)?;
    let secret = secrets
        .iter()
        .find(|secret| found.kid.as_deref() == Some(secret.kid()))
        .ok_or(TokenError::Invalid)?;
    // The header must be the one we write: that refuses other algorithms, and `crit` and whatever else would ask for
    // another way of checking (RFC 7515 section 4.1.11).
    if found != header(secret.kid()) {
        return Err(TokenError::Invalid);
    }
    let key = DecodingKey::from_secret(secret.as_bytes());
    let decoded = jsonwebtoken::decode::<WireClaims>(token.jwt(), &key, &validation());
    let claims = ViewerClaims::try_from(decoded.map_err(|_| TokenError::Invalid)?.claims)?;
    if now >= claims.expires_at {
        return Err(TokenError::Expired);
    }
    // Otherwise a secret that was rotated out could never be forgotten.
    if claims.issued_at.plus_seconds(TokenLifetime::SECONDS_MAX) < claims.expires_at {
        return Err(TokenError::Invalid);
    }
    Ok(claims)
}

/// `{"typ":"JWT","alg":"HS256","kid":…}`.
fn header(kid: &str) -> Header {
    let mut header = Header::new(Algorithm::HS256);
    header.kid = Some(kid.to_owned());
    header
}

/// Everything but the times: `jsonwebtoken` would compare those with the system's clock instead of `now`.
fn validation() -> Validation {
    let mut validation = Validation::new(Algorithm::HS256);
    validation.validate_exp = false;
    validation.set_issuer(&[ISSUER]);
    validation.set_audience(&[AUDIENCE]);
    validation.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
    validation
}

/// The claims as they are written. All of them are required.
#[derive(Serialize, Deserialize)]
struct WireClaims {
    iss: String,
    aud: String,
    sub: String,
    tenant_id: String,
    tier: String,
    tier_at: i64,
    iat: i64,
    exp: i64,
    jti: String,
}

impl From<&ViewerClaims> for WireClaims {
    fn from(claims: &ViewerClaims) -> Self {
        Self {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.to_owned(),
            sub: claims.project_id.to_string(),
            tenant_id: claims.tenant_id.clone(),
            tier: claims.tier.clone(),
            tier_at: claims.tier_created_at.as_micros(),
            iat: claims.issued_at.as_seconds(),
            exp: claims.expires_at.as_seconds(),
            jti: Uuid::from_bytes(claims.token_id).to_string(),
        }
    }
}

impl TryFrom<WireClaims> for ViewerClaims {
    type Error = TokenError;

    fn try_from(wire: WireClaims) -> Result<Self, TokenError> {
        let token_id = match Uuid::try_parse(&wire.jti) {
            Ok(uuid) if wire.jti.len() == JTI_CHARS => uuid.into_bytes(),
            _ => return Err(TokenError::Invalid),
        };
        Ok(Self {
            project_id: wire.sub.parse().map_err(|_| TokenError::Invalid)?,
            tenant_id: wire.tenant_id,
            tier: wire.tier,
            tier_created_at: Timestamp::from_micros(wire.tier_at),
            issued_at: timestamp(wire.iat)?,
            expires_at: timestamp(wire.exp)?,
            token_id,
        })
    }
}

/// Seconds that a [`Timestamp`] can hold; arithmetic on others would overflow.
fn timestamp(seconds: i64) -> Result<Timestamp, TokenError> {
    if seconds < Timestamp::MIN.as_seconds() || seconds >= Timestamp::MAX.as_seconds() {
        return Err(TokenError::Invalid);
    }
    Ok(Timestamp::from_seconds(seconds))
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
