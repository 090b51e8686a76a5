//! When a request is attempted again, and how long the client waits. No I/O, no clock.

use crate::error::{ApiError, Error};
use backon::{BackoffBuilder, ExponentialBuilder};
use std::time::Duration;

/// The first attempt and two retries.
pub(crate) const ATTEMPTS_MAX: usize = 3;

/// Exponential backoff with jitter.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Least wait before the first retry; it doubles with each one. Jitter adds up to the same again.
    pub backoff: Duration,
    /// The longest wait, without its jitter.
    pub backoff_max: Duration,
    /// A longer `Retry-After` is not waited for: the error is reported at once.
    pub retry_after_max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            backoff: Duration::from_millis(500),
            backoff_max: Duration::from_secs(30),
            retry_after_max: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// The wait after the failed `attempt` (1, 2, …); `None` if there is no further one.
    pub(crate) fn wait_before_retry(&self, attempt: usize, error: &Error, seed: u64) -> Option<Duration> {
        if attempt >= ATTEMPTS_MAX || !is_retryable(error) {
            return None;
        }
        let told = told(error).unwrap_or_default();
        (told <= self.retry_after_max).then(|| self.wait(attempt - 1, seed).max(told))
    }

    /// The wait before what failed `failures` times, each time with all attempts, is sent again.
    pub(crate) fn pause(&self, failures: usize, error: &Error, seed: u64) -> Duration {
        let longest = self.backoff_max.max(Duration::from_millis(1));
        let least = Duration::from_millis(1 << failures.min(10)).min(longest);
        let wait = self.wait(failures + ATTEMPTS_MAX - 1, seed);
        wait.max(self.told(error)).max(least)
    }

    /// The time of `Retry-After`, as far as it is waited for.
    pub(crate) fn told(&self, error: &Error) -> Duration {
        told(error).unwrap_or_default().min(self.retry_after_max)
    }

    /// The wait number `index`, from 0. Jitter keeps clients that failed together from returning together.
    fn wait(&self, index: usize, seed: u64) -> Duration {
        let mut waits = ExponentialBuilder::new()
            .with_min_delay(self.backoff)
            .with_max_delay(self.backoff_max)
            .without_max_times()
            .with_jitter()
            .with_jitter_seed(seed)
            .build();
        // The maximum is reached long before.
        waits.nth(index.min(64)).unwrap_or(self.backoff_max)
    }
}

fn told(error: &Error) -> Option<Duration> {
    error.api()?.retry_after
}

/// Whether another attempt is made at once: not after a 429 that does not say when.
fn is_retryable(error: &Error) -> bool {
    is_temporary(error) && (error.status() != Some(429) || told(error).is_some())
}

/// Whether time can remove the cause: 5xx, 408, 429, and no or no readable response.
pub(crate) fn is_temporary(error: &Error) -> bool {
    match error {
        Error::Network { .. } => true,
        Error::Api(error) => matches!(error.status, Some(408 | 429 | 500..)),
        _ => false,
    }
}

/// Whether a request that must not be executed twice may be sent again: the server has not executed the first.
pub(crate) fn is_known_unsent(error: &Error) -> bool {
    matches!(error, Error::Network { is_unsent: true, .. }) || error.status() == Some(429)
}

/// Whether the error is about the events themselves, so that sending them again cannot succeed.
///
/// A key can be replaced (401, 403), an address corrected (3xx, 404), a setting of the client too (a 400 on `project_id`). A response
/// without a code is not one of the service but, for example, of a proxy that is configured wrongly; a 413 concerns the size of the
/// request wherever it comes from.
pub(crate) fn concerns_events(error: &Error) -> bool {
    match error {
        Error::Network { .. } => false,
        Error::Api(error) => match error.status {
            None | Some(413) => true,
            Some(400) => error.code.is_some() && names_events(error),
            Some(409 | 410 | 422) => error.code.is_some(),
            Some(_) => false,
        },
        _ => true,
    }
}

/// Whether a detail is about an event of the request's array (`[3].actor.id`), or about the array.
fn names_events(error: &ApiError) -> bool {
    let mut details = error.details.iter();
    details.any(|detail| detail.field.starts_with('[') || detail.field == "body")
}

/// Whether the server could not read the request at all, so that its events may be valid one by one.
pub(crate) fn concerns_request(error: &Error) -> bool {
    let Some(error) = error.api() else { return false };
    let is_about_body = || error.details.iter().any(|detail| detail.field == "body");
    error.status == Some(413) || (error.status == Some(400) && is_about_body())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, retry_after: Option<u64>) -> Error {
        response_with(status, retry_after, b"<html>")
    }

    fn response_with(status: u16, retry_after: Option<u64>, body: &[u8]) -> Error {
        let retry_after = retry_after.map(Duration::from_secs);
        Error::Api(Box::new(ApiError::of_response(status, retry_after, None, body)))
    }

    #[test]
    fn waits_double_and_have_a_maximum() {
        let policy = RetryPolicy::default();
        for (index, millis) in [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]
            .into_iter()
            .enumerate()
        {
            let least = Duration::from_millis(millis);
            let wait = policy.wait(index, 7);
            assert!(least <= wait && wait <= 2 * least, "{index}: {wait:?}");
        }
        assert!(policy.wait(usize::MAX, 7) <= 2 * policy.backoff_max);
    }

    #[test]
    fn retry_after_is_the_least_wait_and_has_a_limit() {
        let policy = RetryPolicy::default();
        let wait = |seconds| policy.wait_before_retry(1, &response(429, seconds), 7);
        assert_eq!(wait(Some(60)), Some(Duration::from_secs(60)));
        assert_eq!(wait(Some(61)), None);
        assert_eq!(wait(None), None);
        assert_eq!(policy.wait_before_retry(3, &response(503, None), 7), None);
    }

    #[test]
    fn what_time_removes_is_not_what_concerns_the_events() {
        let refusal = |status| response_with(status, None, br#"{"error": {"code": "some_code"}}"#);
        for status in [408, 429, 500, 503] {
            assert!(
                is_temporary(&refusal(status)) && !concerns_events(&refusal(status)),
                "{status}"
            );
        }
        for status in [302, 401, 403, 404] {
            assert!(
                !is_temporary(&refusal(status)) && !concerns_events(&refusal(status)),
                "{status}"
            );
        }
        for status in [409, 410, 413, 422] {
            assert!(
                !is_temporary(&refusal(status)) && concerns_events(&refusal(status)),
                "{status}"
            );
        }
        for (field, is_about_events) in [
            ("[0].actor.id", true),
            ("[12]", true),
            ("body", true),
            ("environment", false),
            ("project_id", false),
            ("query", false),
        ] {
            let body = format!(
                r#"{{"error": {{"code": "validation_error", "details": [{{"field": "{field}"}}]}}}}"#
            );
            let error = response_with(400, None, body.as_bytes());
            assert_eq!(concerns_events(&error), is_about_events, "{field}");
        }
        assert!(!concerns_events(&refusal(400)), "without a detail");
        for status in [400, 409, 410, 422] {
            assert!(!concerns_events(&response(status, None)), "{status} of a proxy");
        }
        assert!(concerns_events(&response(413, None)));
    }
}
