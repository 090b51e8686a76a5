//! Why the service did not do what it was asked.

use audit_alerts::{BuiltinRuleError, TransitionError};
use audit_auth::{CredentialError, Refused, SignError, TokenError};
use audit_domain::{DamagedEvent, Violations};
use audit_store::StoreError;
use audit_webhooks::OpenError;

/// Why the service did not do what it was asked. Each variant becomes one answer of the interface.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The request is not as it must be.
    #[error("the request is not valid")]
    Invalid(#[from] Violations),
    /// There is no credential, or none of a known form.
    #[error("no credential of a known form was sent")]
    Unauthorized,
    /// The key is mistyped or was never given out.
    #[error("the API key is not valid")]
    InvalidKey,
    /// The key was revoked.
    #[error("the API key was revoked")]
    KeyRevoked,
    /// The viewer token is altered, or its tier or secret is gone.
    #[error("the viewer token is not valid")]
    InvalidToken,
    /// The viewer token's time is over.
    #[error("the viewer token has expired")]
    TokenExpired,
    /// The credential does not allow this, or the interface does not.
    #[error("{0}")]
    Forbidden(String),
    /// There is no such thing within reach of the credential.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// It contradicts what is there.
    #[error("{0}")]
    Conflict(String),
    /// The plan or the project allows no more custom alert rules.
    #[error("{0}")]
    AlertRuleLimit(String),
    /// The plan includes no webhooks.
    #[error("webhooks need a paid plan")]
    WebhooksNotAvailable,
    /// A webhook's secret cannot be read.
    #[error(transparent)]
    SealedSecret(#[from] OpenError),
    /// The alert is where no way leads to what was asked.
    #[error(transparent)]
    Transition(#[from] TransitionError),
    /// The project has stored as many events as its plan allows on a day.
    #[error("the project has reached its limit of {limit} events a day")]
    DailyLimit {
        /// Events a UTC day.
        limit: u64,
        /// Seconds until the next day begins.
        retry_after_seconds: u64,
    },
    /// There is no stream of this token.
    #[error("stream not found")]
    StreamNotFound,
    /// The stream's time is over.
    #[error("the stream has expired")]
    StreamExpired,
    /// The stream belongs to a project.
    #[error("the stream was claimed")]
    StreamClaimed,
    /// The sender asks more often than it may.
    #[error("{message}")]
    RateLimited {
        /// What the limit is.
        message: String,
        /// Seconds until it may ask again.
        retry_after_seconds: u64,
    },
    /// The stream has taken as many events as it may on one day.
    #[error("the stream has reached its limit of {limit} events a day")]
    StreamDailyLimit {
        /// Events a UTC day.
        limit: u64,
        /// Seconds until the next day begins.
        retry_after_seconds: u64,
    },
    /// The stream has taken as many events as it ever may.
    #[error("the stream has reached its limit of {limit} events")]
    StreamEventLimit {
        /// Events in all.
        limit: u64,
    },
    /// Nothing was done, and the same request may succeed soon.
    #[error("the service is busy or its database cannot be reached")]
    Unavailable(#[source] StoreError),
    /// As many exports are running as may at once.
    #[error("too many exports are running")]
    TooManyExports,
    /// Something went wrong that the sender can do nothing about.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The result of a use case.
pub type Result<T, E = AppError> = std::result::Result<T, E>;

impl AppError {
    pub(crate) fn internal(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Internal(Box::new(error))
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        match error {
            // `Stale` comes this far only when the configuration changes faster than a request can be prepared.
            StoreError::Overloaded | StoreError::Unreachable(_) | StoreError::Stopped | StoreError::Stale => {
                Self::Unavailable(error)
            }
            StoreError::Duplicate => Self::Conflict("there is one already".to_owned()),
            other => Self::internal(other),
        }
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
    fn from(Refused(message): Refused) -> Self {
        Self::Forbidden(message.to_owned())
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
