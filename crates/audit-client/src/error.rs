//! What can go wrong.

use audit_domain::Violations;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// Of messages about pages of proxies, and about addresses of other programs.
pub(crate) const NOT_OF_THE_SERVICE: &str = "the response is not one of the service, but perhaps of a proxy";

/// An error of this crate.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A response with an error status, or the refusal of one event of a batch.
    #[error(transparent)]
    Api(#[from] Box<ApiError>),
    /// No response came, or none that can be read: the outcome of the request is unknown.
    #[error("{message}")]
    Network {
        /// What happened.
        message: String,
        /// Whether no connection was made, so that the server has not seen the request.
        is_unsent: bool,
    },
    /// The queue or the spool has no room, and [`Overflow`](crate::Overflow) says that this is an error.
    #[error("{pending} events wait to be sent, and there is no room for more")]
    QueueFull {
        /// The number of events that wait.
        pending: u64,
    },
    /// The client was closed and takes no more events.
    #[error("the client is closed")]
    Closed,
    /// The client was closed before the event was stored.
    #[error("the client was closed before the event was stored")]
    NotSent,
    /// The spool cannot be used or written. An event for which this error was returned is not safe on the disk.
    #[error("the spool: {0}")]
    Spool(String),
    /// The application's database failed for the outbox. Its rows are as they were, or sent and not deleted yet.
    #[error("the outbox: {0}")]
    Outbox(String),
    /// An argument is not usable. Nothing was sent.
    #[error("{field}: {message}")]
    Argument {
        /// The name of the argument.
        field: String,
        /// What it must be.
        message: String,
    },
    /// A proof, a signature or a message is not valid. Do not use what it was to prove.
    #[error("not verified: {0}")]
    Verification(String),
}

impl Error {
    pub(crate) fn network(message: impl fmt::Display) -> Self {
        Self::Network {
            message: message.to_string(),
            is_unsent: false,
        }
    }

    pub(crate) fn argument(field: &str, message: impl fmt::Display) -> Self {
        Self::Argument {
            field: field.to_owned(),
            message: message.to_string(),
        }
    }

    /// The service's error, if this is one.
    pub fn api(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => Some(error),
            _ => None,
        }
    }

    /// The status of the response, if there was one.
    pub fn status(&self) -> Option<u16> {
        self.api()?.status
    }

    /// The `error.code` of the response, if it has one.
    pub fn code(&self) -> Option<&str> {
        self.api()?.code.as_deref()
    }
}

impl From<Violations> for Error {
    fn from(violations: Violations) -> Self {
        let texts: Vec<String> = violations
            .as_slice()
            .iter()
            .map(|violation| format!("{}: {}", violation.field, violation.message))
            .collect();
        Self::argument("event", texts.join("; "))
    }
}

/// What the service said about one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Dot path of the field.
    pub field: String,
    /// What it must be.
    pub message: String,
}

/// An error of the service. `docs/api.md`, "Errors", lists the codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The status of the response. `None` for a refused event of a batch that was accepted otherwise.
    pub status: Option<u16>,
    /// `error.code`. `None` if the body is not the service's, for example that of a proxy.
    pub code: Option<String>,
    /// `error.message`, or a sentence with the status.
    pub message: String,
    /// One for each invalid field.
    pub details: Vec<Detail>,
    /// With the code `events_removed`, 410: retention has removed events behind the cursor of the feed before they were read. To go on
    /// without them, continue with this cursor, which stands for the same position.
    pub cursor: Option<String>,
    /// `x-request-id` of the response.
    pub request_id: Option<String>,
    /// `Retry-After` of the response, in seconds.
    pub retry_after: Option<Duration>,
}

impl std::error::Error for ApiError {}

impl fmt::Display for ApiError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, &self.code) {
            (Some(status), Some(code)) => write!(formatter, "{status} {code}: ")?,
            (None, Some(code)) => write!(formatter, "{code}: ")?,
            (_, None) => {}
        }
        formatter.write_str(&self.message)?;
        for detail in &self.details {
            write!(formatter, "; {}: {}", detail.field, detail.message)?;
        }
        match &self.request_id {
            Some(id) => write!(formatter, " ({id})"),
            None => Ok(()),
        }
    }
}

impl ApiError {
    /// The error of a response with another status than 2xx.
    pub(crate) fn of_response(
        status: u16,
        retry_after: Option<Duration>,
        request_id: Option<String>,
        body: &[u8],
    ) -> Self {
        let parsed: Value = serde_json::from_slice(body).unwrap_or_default();
        let error = &parsed["error"];
        let message = match error["message"].as_str() {
            Some(message) => message.to_owned(),
            None => format!("{NOT_OF_THE_SERVICE}: status {status}"),
        };
        Self {
            status: Some(status),
            code: error["code"].as_str().map(str::to_owned),
            message,
            details: details_of(&error["details"]),
            cursor: error["cursor"].as_str().map(str::to_owned),
            request_id,
            retry_after,
        }
    }

    /// The error of one event, from the `errors` of a partly accepted batch.
    pub(crate) fn of_entry(entry: &Value, request_id: Option<&str>) -> Self {
        Self {
            status: None,
            code: entry["code"].as_str().map(str::to_owned),
            message: entry["message"]
                .as_str()
                .unwrap_or("the event was refused")
                .to_owned(),
            details: details_of(&entry["details"]),
            cursor: None,
            request_id: request_id.map(str::to_owned),
            retry_after: None,
        }
    }
}

fn details_of(value: &Value) -> Vec<Detail> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entries = value.as_array().into_iter().flatten();
    entries
        .map(|entry| Detail {
            field: text(&entry["field"]),
            message: text(&entry["message"]),
        })
        .collect()
}
