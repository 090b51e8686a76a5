//! What came of an attempt.

use crate::{FailureKind, RetryAfter};

/// What came of an attempt to deliver. It holds nothing that a receiver wrote but a number and a time, so it can be
/// logged and shown to whoever owns the webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver answered.
    Answered {
        /// The HTTP status, 100 to 999.
        status: u16,
        /// When the receiver asks to be tried again.
        retry_after: Option<RetryAfter>,
    },
    /// There was no answer.
    Failed(FailureKind),
}

impl Outcome {
    /// Whether the message was delivered: the answer is any 2xx.
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
