//! Which answer each error becomes. Clients see a code, a fixed message and the request's id; causes go to the log.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, HttpResponseBuilder, ResponseError};
use audit_app::AppError;
use audit_domain::{Violation, Violations};
use serde::Serialize;

/// Seconds after which a client should try again when the service is busy.
const RETRY_AFTER_SECONDS: u64 = 1;

/// Why a request is not answered as asked.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The application's reasons.
    #[error(transparent)]
    App(#[from] AppError),
    /// The path is none of the interface's.
    #[error("there is nothing at this path")]
    NoRoute,
    /// The path is not for this method.
    #[error("this path takes {allow} only")]
    MethodNotAllowed {
        /// The methods it is for, as the header `Allow` lists them.
        allow: String,
    },
    /// The body is larger than [`crate::BODY_BYTES_MAX`].
    #[error("the request body must have at most {} bytes", crate::BODY_BYTES_MAX)]
    PayloadTooLarge,
    /// The body is not declared to be JSON, or is compressed.
    #[error("the header Content-Type must be application/json, and the body not compressed")]
    UnsupportedMediaType,
    /// The connection broke before the body was there.
    #[error("the request body could not be read")]
    IncompleteBody,
}

impl From<Violations> for ApiError {
    fn from(violations: Violations) -> Self {
        Self::App(violations.into())
    }
}

/// `error.details[]`.
#[derive(Debug, Serialize)]
pub(crate) struct DetailBody {
    field: String,
    message: String,
}

/// `error`.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorBody {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<Vec<DetailBody>>,
}

/// The whole answer.
#[derive(Debug, Serialize)]
struct ErrorAnswer<'a> {
    error: ErrorBody,
    request_id: &'a str,
}

fn details(violations: &Violations) -> Vec<DetailBody> {
    let detail = |Violation { field, message }: &Violation| DetailBody {
        field: field.clone(),
        message: message.clone(),
    };
    violations.as_slice().iter().map(detail).collect()
}

/// Status, code and message of an application error; the one place where they are decided.
fn app_answer(error: &AppError) -> (StatusCode, &'static str, String) {
    let (status, code) = match error {
        AppError::Invalid(_) => (StatusCode::BAD_REQUEST, "validation_error"),
        AppError::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized"),
        AppError::InvalidKey => (StatusCode::UNAUTHORIZED, "invalid_api_key"),
        AppError::KeyRevoked => (StatusCode::UNAUTHORIZED, "key_revoked"),
        AppError::InvalidToken => (StatusCode::UNAUTHORIZED, "invalid_token"),
        AppError::TokenExpired => (StatusCode::UNAUTHORIZED, "token_expired"),
        AppError::Forbidden(_) => (StatusCode::FORBIDDEN, "forbidden"),
        AppError::AlertRuleLimit(_) => (StatusCode::FORBIDDEN, "alert_rule_limit_reached"),
        AppError::WebhooksNotAvailable => (StatusCode::FORBIDDEN, "webhooks_not_available"),
        AppError::Transition(_) => (StatusCode::CONFLICT, "invalid_transition"),
        AppError::NotFound(_) => (StatusCode::NOT_FOUND, "not_found"),
        AppError::Conflict(_) => (StatusCode::CONFLICT, "conflict"),
        AppError::DailyLimit { .. } => (StatusCode::TOO_MANY_REQUESTS, "daily_event_limit_reached"),
        AppError::StreamNotFound => (StatusCode::NOT_FOUND, "stream_not_found"),
        AppError::StreamExpired => (StatusCode::GONE, "stream_expired"),
        AppError::StreamClaimed => (StatusCode::GONE, "stream_already_claimed"),
        AppError::RateLimited { .. } => (StatusCode::TOO_MANY_REQUESTS, "rate_limited"),
        AppError::StreamDailyLimit { .. } => (StatusCode::TOO_MANY_REQUESTS, "stream_daily_limit_reached"),
        AppError::StreamEventLimit { .. } => (StatusCode::TOO_MANY_REQUESTS, "stream_event_limit_reached"),
        AppError::Unavailable(_) | AppError::TooManyExports => {
            (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
        }
        AppError::SealedSecret(_) | AppError::Internal(_) => {
            let message = "internal error".to_owned();
            return (StatusCode::INTERNAL_SERVER_ERROR, "internal_error", message);
        }
    };
    (status, code, error.to_string())
}

/// An application error as it stands in the list of a batch's refused events.
pub(crate) fn item_error(error: &AppError) -> ErrorBody {
    let (_, code, message) = app_answer(error);
    let details = match error {
        AppError::Invalid(violations) => Some(details(violations)),
        _ => None,
    };
    ErrorBody {
        code,
        message,
        details,
    }
}

impl ApiError {
    fn answer(&self) -> (StatusCode, &'static str, String) {
        let (status, code) = match self {
            Self::App(error) => return app_answer(error),
            Self::NoRoute => (StatusCode::NOT_FOUND, "not_found"),
            Self::MethodNotAllowed { .. } => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::PayloadTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large"),
            Self::UnsupportedMediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::IncompleteBody => (StatusCode::BAD_REQUEST, "validation_error"),
        };
        (status, code, self.to_string())
    }

    /// The answer, with the request's id in it.
    pub(crate) fn render(&self, request_id: &str) -> HttpResponse {
        let (status, code, message) = self.answer();
        let details = match self {
            Self::App(AppError::Invalid(violations)) => Some(details(violations)),
            _ => None,
        };
        self.log(request_id, status);
        let mut response = HttpResponseBuilder::new(status);
        match self {
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
            Self::App(AppError::Unavailable(_) | AppError::TooManyExports) => {
                response.insert_header((header::RETRY_AFTER, RETRY_AFTER_SECONDS.to_string()))
            }
            _ if status == StatusCode::UNAUTHORIZED => {
                response.insert_header((header::WWW_AUTHENTICATE, "Bearer"))
            }
            _ => &mut response,
        };
        response.json(ErrorAnswer {
            error: ErrorBody {
                code,
                message,
                details,
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
        self.answer().0
    }

    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status_code())
    }
}
