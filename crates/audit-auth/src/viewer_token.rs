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

/// The text of a viewer token. Neither its signature nor its expiry is verified yet: see [`verify`].
///
/// The text is a secret: `Debug` shows nothing of it, and there is no `Display`.
#[derive(Clone)]
pub struct ViewerTokenText(String);

impl ViewerTokenText {
    /// The prefix of the JSON Web Token.
    pub const PREFIX: &'static str = "vt_";
    /// The longest token, in bytes. A tenant id of 256 and a tier of 100 arbitrary characters fit.
    pub const TOKEN_BYTES_MAX: usize = 4_096;

    /// Parses the outer form: `vt_` and three base64url parts separated by dots.
    ///
    /// # Errors
    /// [`CredentialError::UnknownForm`] if the text does not begin with `vt_`;
    /// [`CredentialError::MalformedToken`] if it does, but is too long or not a signed JWT.
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

    /// Whether the text has the prefix of a viewer token, well-formed or not.
    pub(crate) fn is_meant_by(text: &str) -> bool {
        text.starts_with(Self::PREFIX)
    }

    /// The secret. Show it once, on creation; never log it.
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

/// The claims of a viewer token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewerClaims {
    /// The project whose events may be read (`sub`).
    pub project_id: ProjectId,
    /// The tenant to which every query is confined (`tenant_id`).
    pub tenant_id: String,
    /// Name of the visibility tier (`tier`).
    pub tier: String,
    /// The creation time of that tier (`tier_at`, in microseconds). A tier that was deleted and recreated under the same name
    /// is another tier.
    pub tier_created_at: Timestamp,
    /// The time of issue (`iat`), in whole seconds.
    pub issued_at: Timestamp,
    /// The first moment at which the token is no longer valid (`exp`), in whole seconds.
    pub expires_at: Timestamp,
    /// The unique id of the token (`jti`).
    pub token_id: [u8; 16],
}

impl ViewerClaims {
    /// Claims valid from the second of `now` for exactly `lifetime`. `random` makes the token unique.
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

    /// The id of the token as the token has it.
    pub fn jti(&self) -> String {
        Uuid::from_bytes(self.token_id).to_string()
    }
}

/// The claims cannot be signed.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// Tenant and tier are too long for a token.
    #[error(
        "the viewer token would be longer than {} bytes",
        ViewerTokenText::TOKEN_BYTES_MAX
    )]
    TooLong,
    /// Other code of this process has set a `jsonwebtoken` provider that cannot sign with HS256.
    #[error("signing a viewer token with HS256")]
    Provider(#[source] jsonwebtoken::errors::Error),
}

/// The token is refused. The response to both has status 401.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The signature, the header or a claim is invalid. Code `invalid_token`.
    #[error("the viewer token is invalid")]
    Invalid,
    /// The token is valid except that it has expired. Code `token_expired`.
    #[error("the viewer token has expired")]
    Expired,
}

/// Signs a token. Fractions of a second in the claims' times are dropped.
///
/// # Errors
/// [`SignError::TooLong`] if the token would exceed [`ViewerTokenText::TOKEN_BYTES_MAX`].
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

/// Verifies a token against the current secret and the rotated ones, and returns its claims.
///
/// The signature is compared in constant time. There is no leeway: the token is valid before `expires_at` and invalid from
/// then on (RFC 7519 section 4.1.4). `issued_at` may be later than `now`, because the clock of another node may be ahead.
///
/// # Errors
/// [`TokenError::Expired`] if only the time is wrong, [`TokenError::Invalid`] in every other case.
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
    // The header must be exactly the one that `sign` writes. This refuses other algorithms, and `crit` and other parameters
    // that require further checks (RFC 7515 section 4.1.11).
    if found != header(secret.kid()) {
        return Err(TokenError::Invalid);
    }
    let key = DecodingKey::from_secret(secret.as_bytes());
    let decoded = jsonwebtoken::decode::<WireClaims>(token.jwt(), &key, &validation());
    let claims = ViewerClaims::try_from(decoded.map_err(|_| TokenError::Invalid)?.claims)?;
    if now >= claims.expires_at {
        return Err(TokenError::Expired);
    }
    // Otherwise a rotated secret could never be deleted.
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

/// Validates everything except the times, which `jsonwebtoken` would compare with the system's clock and not with `now`.
fn validation() -> Validation {
    let mut validation = Validation::new(Algorithm::HS256);
    validation.validate_exp = false;
    validation.set_issuer(&[ISSUER]);
    validation.set_audience(&[AUDIENCE]);
    validation.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
    validation
}

/// The claims as serialised. All of them are required.
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
            jti: claims.jti(),
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

/// The range of seconds that a [`Timestamp`] can represent; arithmetic on others would overflow.
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
