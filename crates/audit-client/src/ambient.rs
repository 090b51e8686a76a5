//! The clock and the randomness of the machine. A client has to read them: for the time of an event, for idempotency keys, for
//! the jitter of waits. Nothing else in this crate does.

use audit_domain::Timestamp;
use std::time::{SystemTime, UNIX_EPOCH};

/// The current time.
#[expect(
    clippy::disallowed_methods,
    reason = "an event's time is that of the client's clock"
)]
pub(crate) fn now() -> Timestamp {
    // A clock before 1970 is wrong in any case.
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
}

/// Unpredictable bytes.
///
/// # Panics
/// If the operating system has no randomness: then no idempotency key would be unique.
#[expect(
    clippy::disallowed_methods,
    reason = "idempotency keys are made by the client"
)]
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system has randomness");
    bytes
}

/// A random UUID (version 4) as text.
pub(crate) fn uuid4() -> String {
    uuid::Builder::from_random_bytes(random()).into_uuid().to_string()
}
