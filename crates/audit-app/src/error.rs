//! The errors of the use cases.

use crate::log::program::SigningError;
use crate::log::tenants::behind::MapBehind;
use audit_alerts::{BuiltinRuleError, TransitionError};
use audit_auth::{CredentialError, Refused, SignError, TokenError};
use audit_domain::{DamagedEvent, ProjectId, Timestamp, Violations};
use audit_secrets::{OpenError, Place};
use audit_store::StoreError;

/// The error of a use case. `audit-http` maps each variant to one response.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The request is invalid; the violations name the fields.
    #[error("the request is not valid")]
    Invalid(#[from] Violations),
    /// The credential is missing or malformed.
    #[error("no credential of a known form was sent")]
    Unauthorized,
    /// The key is mistyped or unknown.
    #[error("the API key is not valid")]
    InvalidKey,
    /// The key was revoked.
    #[error("the API key was revoked")]
    KeyRevoked,
    /// The key has expired.
    #[error("the API key has expired")]
    KeyExpired,
    /// The viewer token was modified, or its tier or secret no longer exists.
    #[error("the viewer token is not valid")]
    InvalidToken,
    /// The viewer token has expired.
    #[error("the viewer token has expired")]
    TokenExpired,
    /// The credential or the API does not allow this.
    #[error("{0}")]
    Forbidden(String),
    /// The object does not exist, or the credential has no access to it.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// No event has this id now, and a removal may have taken it.
    #[error(
        "events that were received before {before} were removed; this id was one of them, or never existed"
    )]
    EventRemoved {
        /// The latest time before which a removal has taken events.
        before: Timestamp,
    },
    /// A removal has taken events behind the cursor.
    #[error("events behind this cursor were removed; error.cursor continues with those that are left")]
    EventsRemoved {
        /// The same position, for a reader that knows of the removal.
        cursor: String,
    },
    /// Removals have left too many holes in the log of a tenant for one proof.
    #[error(
        "removals have taken too many events from between those that the tenant still has for one proof; an audit of the log with a \
         project key covers them"
    )]
    TooManyRemoved,
    /// The request conflicts with the present state.
    #[error("{0}")]
    Conflict(String),
    /// The plan or the project allows no more custom alert rules.
    #[error("{0}")]
    AlertRuleLimit(String),
    /// The plan includes no webhooks.
    #[error("webhooks need a paid plan")]
    WebhooksNotAvailable,
    /// A stored secret cannot be decrypted.
    #[error(transparent)]
    SealedSecret(Box<SecretFailure>),
    /// The state of the alert does not allow the transition.
    #[error(transparent)]
    Transition(#[from] TransitionError),
    /// The project has reached the daily limit of its plan.
    #[error("the project has reached its limit of {limit} events a day")]
    DailyLimit {
        /// Events per UTC day.
        limit: u64,
        /// Seconds until the next UTC day.
        retry_after_seconds: u64,
    },
    /// The project is archived.
    #[error(
        "the project {0} is archived and takes no events; `PATCH /projects/{0}` with `{{\"archived\": false}}` changes that"
    )]
    ProjectArchived(ProjectId),
    /// No stream has this token.
    #[error("stream not found")]
    StreamNotFound,
    /// The stream has expired.
    #[error("the stream has expired")]
    StreamExpired,
    /// The stream was claimed by a project.
    #[error("the stream was claimed")]
    StreamClaimed,
    /// The client has reached a rate limit.
    #[error("{message}")]
    RateLimited {
        /// Describes the limit.
        message: String,
        /// Seconds until the next request is allowed.
        retry_after_seconds: u64,
    },
    /// The stream has reached its daily limit.
    #[error("the stream has reached its limit of {limit} events a day")]
    StreamDailyLimit {
        /// Events per UTC day.
        limit: u64,
        /// Seconds until the next UTC day.
        retry_after_seconds: u64,
    },
    /// The stream has reached its total limit.
    #[error("the stream has reached its limit of {limit} events")]
    StreamEventLimit {
        /// Events in total.
        limit: u64,
    },
    /// Nothing was changed, and the same request may succeed soon.
    #[error("the service is busy or its database cannot be reached")]
    Unavailable(#[source] StoreError),
    /// The database did not confirm the commit. The request may have been carried out or not.
    #[error(
        "the database did not confirm the request in time, so its outcome is unknown; a retry with the same idempotency keys \
         settles it and stores nothing twice"
    )]
    OutcomeUnknown(#[source] StoreError),
    /// The limit of concurrent exports is reached.
    #[error("too many exports are running")]
    TooManyExports,
    /// A map of tenants lacks events of its log, and is being brought up to date.
    #[error("{0}")]
    MapBehind(MapBehind),
    /// The log takes no events: its head was forged, or it could not be signed for too long.
    #[error("the log takes no events until its operator has verified it")]
    LogStopped(#[source] StoreError),
    /// The program that has the signing key of the log does not sign.
    #[error("the log cannot be signed now")]
    NotSigned(#[from] SigningError),
    /// The stored log contradicts its last signed checkpoint: it lost events, or was tampered with.
    #[error("the log contradicts its signed checkpoint; the operator has to verify it")]
    LogInconsistent(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// An internal failure that the client cannot fix.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A stored secret cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFailure {
    /// Where it is stored.
    pub place: Place,
    /// Why it does not open.
    pub error: OpenError,
}

impl std::error::Error for SecretFailure {}

impl std::fmt::Display for SecretFailure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if matches!(self.error, OpenError::NeedsKey | OpenError::UnknownKey(_)) {
            formatter.write_str("AUDIT_ENCRYPTION_KEY does not match the database: ")?;
        }
        write!(formatter, "the stored secret {} {}", self.place, self.error)
    }
}

/// The result of a use case.
pub type Result<T, E = AppError> = std::result::Result<T, E>;

impl AppError {
    /// The error of a request that the database has not responded to for too long.
    pub fn no_response() -> Self {
        StoreError::OutcomeUnknown("no response".to_owned()).into()
    }

    pub(crate) fn internal(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Internal(Box::new(error))
    }

    pub(crate) fn inconsistent(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::LogInconsistent(Box::new(error))
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        match error {
            // `Stale` gets here only when the configuration changes faster than a request can be prepared.
            StoreError::Overloaded
            | StoreError::Unreachable(_)
            | StoreError::Stopped
            | StoreError::Stale
            | StoreError::ForgedRow { .. }
            | StoreError::NotInCell => Self::Unavailable(error),
            StoreError::ForgedHead { .. } | StoreError::Unsigned { .. } => Self::LogStopped(error),
            StoreError::OutcomeUnknown(_) => Self::OutcomeUnknown(error),
            StoreError::ProjectArchived(id) => Self::ProjectArchived(id),
            StoreError::Duplicate => Self::Conflict("the entry already exists".to_owned()),
            other => Self::internal(other),
        }
    }
}

impl From<SecretFailure> for AppError {
    fn from(failure: SecretFailure) -> Self {
        Self::SealedSecret(Box::new(failure))
    }
}

impl From<CredentialError> for AppError {
    fn from(error: CredentialError) -> Self {
        match error {
            CredentialError::UnknownForm => Self::Unauthorized,
            CredentialError::MistypedKey => Self::InvalidKey,
            CredentialError::MalformedToken => Self::InvalidToken,
        }
    }
}

impl From<Refused> for AppError {
    fn from(refused: Refused) -> Self {
        Self::Forbidden(refused.to_string())
    }
}

impl From<BuiltinRuleError> for AppError {
    fn from(error: BuiltinRuleError) -> Self {
        Self::Forbidden(error.to_string())
    }
}

impl From<TokenError> for AppError {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Invalid => Self::InvalidToken,
            TokenError::Expired => Self::TokenExpired,
        }
    }
}

impl From<SignError> for AppError {
    fn from(error: SignError) -> Self {
        Self::internal(error)
    }
}

impl From<DamagedEvent> for AppError {
    fn from(error: DamagedEvent) -> Self {
        Self::internal(error)
    }
}
