//! The retry policy of requests to a running server (`import --url`, `log audit`).
//!
//! The rule is documented once, in docs/configuration.md under "Retries". The schedule is backon's. The loop is not:
//! backon's blocking loop cannot lengthen a pause, and `Retry-After` has to.

use crate::client::{Outcome, Reply};
use audit_domain::{Clock, Entropy, Timestamp};
use backon::{BackoffBuilder, ExponentialBuilder};
use std::time::{Duration, UNIX_EPOCH};

/// The code of the error of a log that contradicts its signed checkpoint.
pub const LOG_INCONSISTENT: &str = "log_inconsistent";
/// Attempts of one request, the first one included.
const ATTEMPTS_MAX: usize = 5;
/// The pause before the second attempt. Each further pause is twice as long. Jitter adds up to the same again.
const PAUSE_MS_MIN: u64 = 250;
/// The longest pause that a server can request. A longer one ends the attempts.
const RETRY_AFTER_SECONDS_MAX: u64 = 60;

/// Retries a request while its failure is temporary. Time, randomness and sleeping are arguments.
pub(crate) struct Retries {
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) entropy: Box<dyn Entropy>,
    pub(crate) sleep: Box<dyn Fn(Duration)>,
}

impl Retries {
    /// Makes attempts until one has a final outcome or all are used up, and returns the last outcome. `request` names
    /// the request in the log.
    pub(crate) fn run(&self, request: &str, mut attempt: impl FnMut() -> Outcome) -> Outcome {
        for (index, pause) in self.schedule().enumerate() {
            let outcome = attempt();
            let Some(pause) = pause_before_retry(&outcome, pause, self.clock.now()) else {
                return outcome;
            };
            let (number, seconds) = (index + 1, pause.as_secs_f64());
            let problem = describe(&outcome);
            log::warn!(
                "{request}: {problem}; attempt {number} of {ATTEMPTS_MAX} failed, next in {seconds:.1} s"
            );
            (self.sleep)(pause);
        }
        attempt()
    }

    /// The pauses between attempts. The jitter keeps clients that failed together from returning together.
    fn schedule(&self) -> impl Iterator<Item = Duration> {
        let mut seed = [0; 8];
        self.entropy.fill(&mut seed);
        ExponentialBuilder::new()
            .with_min_delay(Duration::from_millis(PAUSE_MS_MIN))
            .with_max_times(ATTEMPTS_MAX - 1)
            .with_jitter()
            .with_jitter_seed(u64::from_le_bytes(seed))
            .build()
    }
}

/// The rule: which outcomes are retried, and after which pause. `None`: the outcome is final.
fn pause_before_retry(outcome: &Outcome, scheduled: Duration, now: Timestamp) -> Option<Duration> {
    let reply = match outcome {
        Ok(reply) => reply,
        Err(error) => return is_network_failure(error).then_some(scheduled),
    };
    let retry_after = reply
        .retry_after
        .as_deref()
        .and_then(|text| parse_retry_after(text, now));
    let pause = match (reply.status, retry_after) {
        // The log stays as it is until its operator does something.
        (500, _) if reply.has_code(LOG_INCONSISTENT) => return None,
        (408 | 500.., None) => scheduled,
        (408 | 429 | 500.., Some(asked)) => scheduled.max(asked),
        _ => return None,
    };
    let asked_at_most = Duration::from_secs(RETRY_AFTER_SECONDS_MAX);
    (retry_after.unwrap_or_default() <= asked_at_most).then_some(pause)
}

/// Whether another attempt may get a response. A malformed URL or a refused certificate stays as it is.
fn is_network_failure(error: &ureq::Error) -> bool {
    use ureq::Error::{ConnectionFailed, HostNotFound, Io, Protocol, Timeout};
    matches!(
        error,
        Io(_) | Timeout(_) | HostNotFound | ConnectionFailed | Protocol(_)
    )
}

/// Seconds or an HTTP date (RFC 9110 section 10.2.3), as a pause from `now` on.
fn parse_retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number beyond 64 bits is as final as the largest one.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    let date = date.duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Duration::from_micros(u64::try_from(now.as_micros()).unwrap_or_default());
    Some(date.saturating_sub(now))
}

fn describe(outcome: &Outcome) -> String {
    match outcome {
        Ok(reply @ Reply { status, .. }) => format!("{status} {}", reply.error_message()),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recorded;
    use std::cell::Cell;
    use ureq::Error;

    fn reply(status: u16, retry_after: Option<&str>) -> Outcome {
        Ok(Reply {
            status,
            retry_after: retry_after.map(str::to_owned),
            body: Vec::new(),
        })
    }

    fn network_failure() -> Outcome {
        Err(Error::Io(std::io::ErrorKind::ConnectionReset.into()))
    }

    /// The number of attempts at a request that always has the same outcome, and the pauses between them.
    fn attempts(outcome: impl Fn() -> Outcome) -> (usize, Vec<Duration>) {
        let (retries, pauses) = recorded(1);
        let count = Cell::new(0);
        let attempt = || {
            count.set(count.get() + 1);
            outcome()
        };
        assert_eq!(
            describe(&retries.run("GET /", attempt)),
            describe(&outcome()),
            "the last outcome is returned"
        );
        (count.get(), pauses.take())
    }

    #[test]
    fn network_failures_5xx_and_408_are_attempted_five_times() {
        assert_eq!(attempts(network_failure).0, 5);
        assert_eq!(attempts(|| Err(Error::HostNotFound)).0, 5);
        assert_eq!(attempts(|| reply(500, None)).0, 5);
        assert_eq!(attempts(|| reply(408, None)).0, 5);
        assert_eq!(attempts(|| reply(503, Some("1"))).0, 5);
        assert_eq!(
            attempts(|| reply(503, Some("soon"))).0,
            5,
            "an unreadable header is ignored"
        );
    }

    #[test]
    fn a_429_is_retried_only_with_retry_after() {
        assert_eq!(attempts(|| reply(429, Some("2"))).0, 5);
        assert_eq!(attempts(|| reply(429, None)).0, 1);
        assert_eq!(attempts(|| reply(429, Some("soon"))).0, 1);
    }

    #[test]
    fn every_other_outcome_is_final() {
        for status in [200, 201, 301, 400, 401, 403, 404, 409, 413] {
            assert_eq!(attempts(|| reply(status, Some("1"))).0, 1, "{status}");
        }
        assert_eq!(attempts(|| Err(Error::BadUri("nonsense".to_owned()))).0, 1);
        assert_eq!(attempts(|| Err(Error::BodyExceedsLimit(1))).0, 1);
    }

    #[test]
    fn a_log_that_contradicts_its_checkpoint_is_not_asked_again() {
        let error = |code: &str| {
            let body = format!(r#"{{"error":{{"code":"{code}","message":"","details":[]}}}}"#);
            Ok(Reply {
                status: 500,
                retry_after: None,
                body: body.into_bytes(),
            })
        };
        assert_eq!(attempts(|| error("log_inconsistent")).0, 1);
        assert_eq!(attempts(|| error("internal_error")).0, 5);
    }

    #[test]
    fn a_success_ends_the_attempts() {
        let (retries, pauses) = recorded(1);
        let mut outcomes = vec![reply(201, None), network_failure(), reply(503, None)];
        let last = retries.run("GET /", || outcomes.pop().unwrap());
        assert_eq!(last.unwrap().status, 201);
        assert_eq!(pauses.borrow().len(), 2);
    }

    #[test]
    fn pauses_double_and_have_jitter() {
        let pauses = |seed| -> Vec<Duration> { recorded(seed).0.schedule().collect() };
        for seed in 0..20 {
            let pauses = pauses(seed);
            assert_eq!(pauses.len(), 4);
            for (pause, least_ms) in pauses.iter().zip([250, 500, 1_000, 2_000]) {
                let least = Duration::from_millis(least_ms);
                assert!((least..=2 * least).contains(pause), "{pause:?}");
            }
        }
        assert_ne!(pauses(1), pauses(2));
        assert_eq!(pauses(1), pauses(1), "the seed decides");
    }

    #[test]
    fn retry_after_lengthens_a_pause_and_never_shortens_one() {
        let pauses = attempts(|| reply(503, Some("1"))).1;
        assert_eq!(pauses[0], Duration::from_secs(1));
        assert!(pauses[3] >= Duration::from_secs(2));
        let seven = attempts(|| reply(429, Some("Thu, 01 Jan 2026 00:00:07 GMT"))).1;
        assert_eq!(seven, [Duration::from_secs(7); 4]);
        let past = attempts(|| reply(503, Some("Wed, 31 Dec 2025 23:59:00 GMT"))).1;
        assert!(past[0] < Duration::from_secs(1));
    }

    #[test]
    fn a_pause_of_more_than_a_minute_is_not_waited_for() {
        for status in [429, 503] {
            assert_eq!(attempts(|| reply(status, Some("60"))).0, 5);
            assert_eq!(attempts(|| reply(status, Some("61"))).0, 1);
            assert_eq!(attempts(|| reply(status, Some("99999999999999999999"))).0, 1);
        }
    }
}
