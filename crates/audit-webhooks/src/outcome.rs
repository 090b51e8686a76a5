//! The outcome of an attempt.

use crate::{FailureKind, RetryAfter};

/// The outcome of an attempt. Of the response it contains only a number and a time, so it can be logged and shown to the owner
/// of the webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver sent a response.
    Answered {
        /// The HTTP status, 100 to 999.
        status: u16,
        /// The header `Retry-After`.
        retry_after: Option<RetryAfter>,
    },
    /// No response.
    Failed(FailureKind),
}

impl Outcome {
    /// Whether the message was delivered: the response is any 2xx.
    pub const fn is_delivered(&self) -> bool {
        matches!(
            self,
            Self::Answered {
                status: 200..=299,
                ..
            }
        )
    }
}
