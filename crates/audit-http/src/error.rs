//! Which code each error has; its status follows from that. Clients see a code, a fixed message and the request's id;
//! causes go to the log.

use crate::error_code::ErrorCode;
use crate::schema::Word;
use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, HttpResponseBuilder, ResponseError};
use audit_app::AppError;
use audit_domain::{Violation, Violations};
use schemars::JsonSchema;
use serde::Serialize;

/// Seconds after which a client should try again when the service is busy.
const RETRY_AFTER_SECONDS: u64 = 1;
/// Seconds after which a client should send events again to a log that the operator has to verify first.
const STOPPED_RETRY_AFTER_SECONDS: u64 = 30;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The application's reasons.
    #[error(transparent)]
    App(#[from] AppError),
    /// The interface has no such path.
    #[error("there is nothing at this path")]
    NoRoute,
    /// The operator has switched anonymous streams off.
    #[error("this server has no anonymous streams: they are switched off")]
    StreamsOff,
    /// The path does not support this method.
    #[error("this path takes {allow} only")]
    MethodNotAllowed {
        /// The supported methods, as the header `Allow` lists them.
        allow: String,
    },
    /// The body is larger than [`crate::BODY_BYTES_MAX`].
    #[error("the request body must have at most {} bytes", crate::BODY_BYTES_MAX)]
    PayloadTooLarge,
    /// The body is not declared to be what the endpoint takes.
    #[error("the header Content-Type must be {accepted}")]
    UnsupportedMediaType {
        /// The accepted content types.
        accepted: &'static str,
    },
    /// The body is compressed in a way that is not supported.
    #[error("the header Content-Encoding must be gzip or identity, or absent")]
    UnsupportedCoding,
    /// The body is declared to be gzip and is none, or ends before its end.
    #[error("the request body is not valid gzip")]
    BrokenGzip,
    /// The connection broke before the body was complete.
    #[error("the request body is incomplete")]
    IncompleteBody,
    /// The body did not have its minimum rate, or exceeded its total time.
    #[error("the request body takes too long")]
    SlowBody,
    /// The owner of the request holds its share of the memory for bodies or responses.
    #[error("the service is busy")]
    Overloaded,
    /// The process stops soon.
    #[error("the server is stopping")]
    Stopping,
}

impl From<Violations> for ApiError {
    fn from(violations: Violations) -> Self {
        Self::App(violations.into())
    }
}

/// An invalid field.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorDetail")]
pub(crate) struct DetailBody {
    /// The dot path of the field (`actor.type`, `changes[2].field`; `[3].actor.type` in an array of events), the name of
    /// a parameter, `body` for the body as a whole, or empty for the event as a whole.
    field: String,
    /// For people; may change.
    message: String,
}

/// Why the request failed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorInfo")]
pub(crate) struct ErrorBody {
    /// For programs.
    #[schemars(with = "Word<ErrorCode>")]
    pub(crate) code: &'static str,
    /// For people; may change.
    pub(crate) message: String,
    /// With `validation_error`: everything that is wrong with the request, field by field.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<DetailBody>")]
    pub(crate) details: Option<Vec<DetailBody>>,
    /// With `events_removed`: the cursor to continue with, which stands for the same position.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) cursor: Option<String>,
}

/// The response to a failed request.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorResponse")]
pub(crate) struct ErrorResponse<'a> {
    error: ErrorBody,
    /// The id of the request, also in the header `x-request-id` and in the service's log.
    request_id: &'a str,
}

fn details(violations: &Violations) -> Vec<DetailBody> {
    let detail = |Violation { field, message }: &Violation| DetailBody {
        field: field.clone(),
        message: message.clone(),
    };
    violations.as_slice().iter().map(detail).collect()
}

/// The code and message of an application error, which are decided only here.
fn app_response(error: &AppError) -> (ErrorCode, String) {
    let code = match error {
        AppError::Invalid(_) => ErrorCode::ValidationError,
        AppError::Unauthorized => ErrorCode::Unauthorized,
        AppError::InvalidKey => ErrorCode::InvalidApiKey,
        AppError::KeyRevoked => ErrorCode::KeyRevoked,
        AppError::KeyExpired => ErrorCode::KeyExpired,
        AppError::InvalidToken => ErrorCode::InvalidToken,
        AppError::TokenExpired => ErrorCode::TokenExpired,
        AppError::Forbidden(_) => ErrorCode::Forbidden,
        AppError::AlertRuleLimit(_) => ErrorCode::AlertRuleLimitReached,
        AppError::WebhooksNotAvailable => ErrorCode::WebhooksNotAvailable,
        AppError::ProjectArchived(_) => ErrorCode::ProjectArchived,
        AppError::Transition(_) => ErrorCode::InvalidTransition,
        AppError::NotFound(_) => ErrorCode::NotFound,
        AppError::EventRemoved { .. } => ErrorCode::EventRemoved,
        AppError::EventsRemoved { .. } => ErrorCode::EventsRemoved,
        AppError::Conflict(_) => ErrorCode::Conflict,
        AppError::TooManyRemoved => ErrorCode::TooManyRemoved,
        AppError::DailyLimit { .. } => ErrorCode::DailyEventLimitReached,
        AppError::StreamNotFound => ErrorCode::StreamNotFound,
        AppError::StreamExpired => ErrorCode::StreamExpired,
        AppError::StreamClaimed => ErrorCode::StreamAlreadyClaimed,
        AppError::RateLimited { .. } => ErrorCode::RateLimited,
        AppError::StreamDailyLimit { .. } => ErrorCode::StreamDailyLimitReached,
        AppError::StreamEventLimit { .. } => ErrorCode::StreamEventLimitReached,
        AppError::Unavailable(_)
        | AppError::MapBehind(_)
        | AppError::OutcomeUnknown(_)
        | AppError::NotSigned(_)
        | AppError::TooManyExports => ErrorCode::Unavailable,
        AppError::LogInconsistent(_) => ErrorCode::LogInconsistent,
        AppError::LogStopped(_) => ErrorCode::LogStopped,
        AppError::SealedSecret(_) | AppError::Internal(_) => {
            return (ErrorCode::InternalError, "internal error".to_owned());
        }
    };
    (code, error.to_string())
}

/// An application error in the list of a batch's refused events.
pub(crate) fn item_error(error: &AppError) -> ErrorBody {
    let (code, message) = app_response(error);
    let details = match error {
        AppError::Invalid(violations) => Some(details(violations)),
        _ => None,
    };
    ErrorBody {
        code: code.as_str(),
        message,
        details,
        cursor: cursor_of(error),
    }
}

fn cursor_of(error: &AppError) -> Option<String> {
    match error {
        AppError::EventsRemoved { cursor } => Some(cursor.clone()),
        _ => None,
    }
}

impl ApiError {
    fn response(&self) -> (ErrorCode, String) {
        let code = match self {
            Self::App(error) => return app_response(error),
            Self::NoRoute | Self::StreamsOff => ErrorCode::NotFound,
            Self::MethodNotAllowed { .. } => ErrorCode::MethodNotAllowed,
            Self::PayloadTooLarge => ErrorCode::PayloadTooLarge,
            Self::UnsupportedMediaType { .. } | Self::UnsupportedCoding => ErrorCode::UnsupportedMediaType,
            Self::IncompleteBody | Self::SlowBody | Self::BrokenGzip => ErrorCode::ValidationError,
            Self::Overloaded | Self::Stopping => ErrorCode::Unavailable,
        };
        (code, self.to_string())
    }

    /// The response, with the request's id in it.
    pub(crate) fn render(&self, request_id: &str) -> HttpResponse {
        let (code, message) = self.response();
        let status = code.status();
        let details = match self {
            Self::App(AppError::Invalid(violations)) => Some(details(violations)),
            _ => None,
        };
        let cursor = match self {
            Self::App(error) => cursor_of(error),
            _ => None,
        };
        self.log(request_id, status);
        let mut response = HttpResponseBuilder::new(status);
        match self {
            // RFC 9110, section 15.5.16.
            Self::UnsupportedCoding => response.insert_header((header::ACCEPT_ENCODING, "gzip, identity")),
            Self::MethodNotAllowed { allow } => response.insert_header((header::ALLOW, allow.as_str())),
            Self::App(
                AppError::DailyLimit {
                    retry_after_seconds, ..
                }
                | AppError::StreamDailyLimit {
                    retry_after_seconds, ..
                }
                | AppError::RateLimited {
                    retry_after_seconds, ..
                },
            ) => response.insert_header((header::RETRY_AFTER, retry_after_seconds.to_string())),
            Self::Overloaded
            | Self::Stopping
            | Self::App(
                AppError::Unavailable(_)
                | AppError::MapBehind(_)
                | AppError::OutcomeUnknown(_)
                | AppError::NotSigned(_)
                | AppError::TooManyExports,
            ) => response.insert_header((header::RETRY_AFTER, RETRY_AFTER_SECONDS.to_string())),
            Self::App(AppError::LogStopped(_)) => {
                response.insert_header((header::RETRY_AFTER, STOPPED_RETRY_AFTER_SECONDS.to_string()))
            }
            _ if status == StatusCode::UNAUTHORIZED => {
                response.insert_header((header::WWW_AUTHENTICATE, "Bearer"))
            }
            _ => &mut response,
        };
        response.json(ErrorResponse {
            error: ErrorBody {
                code: code.as_str(),
                message,
                details,
                cursor,
            },
            request_id,
        })
    }

    /// Causes are for the operator, not for the client.
    fn log(&self, request_id: &str, status: StatusCode) {
        let Self::App(error) = self else { return };
        let cause = std::error::Error::source(error);
        match cause {
            Some(cause) if status == StatusCode::INTERNAL_SERVER_ERROR => {
                log::error!("{request_id}: {error}: {cause}")
            }
            Some(cause) if status == StatusCode::SERVICE_UNAVAILABLE => {
                log::warn!("{request_id}: {error}: {cause}")
            }
            _ => {}
        }
    }
}

/// Only the status: the body is written by the middleware, which knows the request's id.
impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.response().0.status()
    }

    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status_code())
    }
}
