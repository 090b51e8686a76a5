//! The retry policy of deliveries.

use crate::{Outcome, RetryAfter};
use audit_domain::Timestamp;

/// Delays before the second and each further attempt, in seconds: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h.
/// The last attempt is made a little more than three days after the first.
pub const RETRY_DELAYS_SECONDS: [i64; 9] = [
    5,
    5 * 60,
    30 * 60,
    2 * 3_600,
    5 * 3_600,
    10 * 3_600,
    14 * 3_600,
    20 * 3_600,
    24 * 3_600,
];

/// Most attempts for one delivery.
pub const ATTEMPTS_MAX: u32 = RETRY_DELAYS_SECONDS.len() as u32 + 1;

/// Longest delay that `Retry-After` can request, in microseconds.
const RETRY_AFTER_MICROS_MAX: i64 = 24 * 3_600 * Timestamp::MICROS_PER_SECOND;
/// The jitter is at most the delay divided by this number.
const JITTER_DIVISOR: i128 = 10;

/// The number of attempts for a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// An alert's message: up to [`ATTEMPTS_MAX`] attempts.
    Schedule,
    /// A test, or a retry of a finished delivery: one attempt.
    Once,
    /// A manual attempt between two scheduled ones. If it fails, the next attempt is at the scheduled time, or later if the
    /// receiver requests that.
    Extra(Timestamp),
}

/// The state of a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// The delivery succeeded.
    Delivered,
    /// The next attempt is due at this time.
    RetryAt(Timestamp),
    /// The delivery failed.
    Failed,
    /// The delivery failed, and the webhook must be disabled: the receiver responded with 410.
    Gone,
}

/// The state of a delivery after an attempt that ended at `now` with `outcome`. `attempts_made` counts the scheduled attempts
/// including this one.
///
/// - Any 2xx is success. 410 disables the webhook, as the Standard Webhooks specification requires, also after a single
///   attempt. Every other response, redirects included, and every failure is retried.
/// - The delay is the longer of the schedule's and the receiver's `Retry-After`, which is capped at 24 hours.
/// - `jitter`, random bits, adds up to a tenth of the delay, so that deliveries that failed together are not retried together.
pub fn next_step(
    outcome: &Outcome,
    attempts_made: u32,
    persistence: Persistence,
    now: Timestamp,
    jitter: u32,
) -> NextStep {
    let retry_after = match *outcome {
        Outcome::Answered {
            status: 200..=299, ..
        } => return NextStep::Delivered,
        Outcome::Answered { status: 410, .. } => return NextStep::Gone,
        Outcome::Answered { retry_after, .. } => retry_after,
        Outcome::Failed(_) => None,
    };
    step_after_failure(retry_after, attempts_made, persistence, now, jitter)
}

/// [`next_step`] after an attempt whose response was neither 2xx nor 410.
pub fn step_after_failure(
    retry_after: Option<RetryAfter>,
    attempts_made: u32,
    persistence: Persistence,
    now: Timestamp,
    jitter: u32,
) -> NextStep {
    let scheduled = match persistence {
        Persistence::Once => None,
        Persistence::Schedule => delay_micros(attempts_made).map(|wait| with_jitter(wait, jitter)),
        // That has its jitter already.
        Persistence::Extra(then) => Some(then.as_micros().saturating_sub(now.as_micros()).max(0)),
    };
    let Some(scheduled) = scheduled else {
        return NextStep::Failed;
    };
    let asked_for = retry_after.map_or(0, |after| {
        let wait = with_jitter(after.wait_micros(now, RETRY_AFTER_MICROS_MAX), jitter);
        wait.min(RETRY_AFTER_MICROS_MAX)
    });
    NextStep::RetryAt(Timestamp::from_micros(now.as_micros() + scheduled.max(asked_for)))
}

/// The delay of the schedule after this many attempts; `None` after the last.
fn delay_micros(attempts_made: u32) -> Option<i64> {
    let index = usize::try_from(attempts_made.saturating_sub(1)).ok()?;
    let seconds = RETRY_DELAYS_SECONDS.get(index)?;
    Some(seconds * Timestamp::MICROS_PER_SECOND)
}

fn with_jitter(wait_micros: i64, jitter: u32) -> i64 {
    let share = i128::from(wait_micros) * i128::from(jitter) / i128::from(u32::MAX) / JITTER_DIVISOR;
    wait_micros + i64::try_from(share).expect("a share of a wait is no longer than the wait")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FailureKind, RetryAfter};
    use proptest::prelude::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

    fn answered(status: u16) -> Outcome {
        Outcome::Answered {
            status,
            retry_after: None,
        }
    }

    fn after(outcome: Outcome, attempts_made: u32, jitter: u32) -> NextStep {
        next_step(&outcome, attempts_made, Persistence::Schedule, NOW, jitter)
    }

    fn in_seconds(seconds: i64) -> NextStep {
        NextStep::RetryAt(NOW.plus_seconds(seconds))
    }

    #[test]
    fn there_are_ten_attempts_over_three_days() {
        let waits = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
        for (attempts_made, seconds) in (1..).zip(waits) {
            assert_eq!(after(answered(500), attempts_made, 0), in_seconds(seconds));
            let latest = NOW.as_micros() + seconds * 1_100_000;
            let expected = NextStep::RetryAt(Timestamp::from_micros(latest));
            assert_eq!(after(answered(500), attempts_made, u32::MAX), expected);
        }
        assert_eq!(ATTEMPTS_MAX, 10);
        for attempts_made in [10, 11, u32::MAX] {
            assert_eq!(after(answered(500), attempts_made, 0), NextStep::Failed);
        }
    }

    #[test]
    fn the_status_decides() {
        for status in [200, 201, 204, 299] {
            assert_eq!(after(answered(status), 1, 0), NextStep::Delivered, "{status}");
            assert_eq!(after(answered(status), 10, 0), NextStep::Delivered, "{status}");
            assert!(answered(status).is_delivered());
        }
        for status in [101, 199, 300, 302, 307, 400, 404, 409, 411, 429, 500, 503, 999] {
            assert_eq!(after(answered(status), 1, 0), in_seconds(5), "{status}");
            assert!(!answered(status).is_delivered());
        }
        assert_eq!(after(answered(410), 1, 0), NextStep::Gone);
    }

    #[test]
    fn every_failure_is_retried() {
        for kind in FailureKind::ALL {
            let failed = Outcome::Failed(*kind);
            assert_eq!(after(failed, 2, 0), in_seconds(300), "{kind}");
            assert!(!failed.is_delivered());
            assert_eq!(kind.as_str().parse(), Ok(*kind));
        }
    }

    #[test]
    fn a_single_attempt_is_not_retried() {
        let once = |outcome: Outcome| next_step(&outcome, 1, Persistence::Once, NOW, 0);
        assert_eq!(once(answered(204)), NextStep::Delivered);
        assert_eq!(once(answered(500)), NextStep::Failed);
        assert_eq!(once(answered(410)), NextStep::Gone);
        assert_eq!(once(Outcome::Failed(FailureKind::TimedOut)), NextStep::Failed);
    }

    #[test]
    fn the_longer_of_schedule_and_retry_after_applies() {
        let asking = |status: u16, after: RetryAfter| Outcome::Answered {
            status,
            retry_after: Some(after),
        };
        for status in [302, 404, 429, 503] {
            assert_eq!(after(asking(status, RetryAfter::Seconds(4)), 1, 0), in_seconds(5));
            assert_eq!(after(asking(status, RetryAfter::Seconds(6)), 1, 0), in_seconds(6));
        }
        let date = RetryAfter::At(NOW.plus_seconds(90));
        assert_eq!(after(asking(429, date), 1, 0), in_seconds(90));
        assert_eq!(after(asking(429, date), 2, 0), in_seconds(300));
        let past = RetryAfter::At(NOW.plus_seconds(-90));
        assert_eq!(after(asking(429, past), 1, 0), in_seconds(5));
        assert_eq!(
            after(asking(429, RetryAfter::Seconds(86_400)), 1, 0),
            in_seconds(86_400)
        );
        assert_eq!(
            after(asking(429, RetryAfter::Seconds(86_401)), 1, 0),
            in_seconds(86_400)
        );
        // `Retry-After` neither undoes a delivery nor adds an attempt.
        assert_eq!(after(asking(200, date), 1, 0), NextStep::Delivered);
        assert_eq!(after(asking(410, date), 1, 0), NextStep::Gone);
        assert_eq!(after(asking(429, date), 10, 0), NextStep::Failed);
    }

    #[test]
    fn retry_after_is_capped_at_a_day() {
        for seconds in [80_000, 86_400, u64::MAX] {
            let asking = Outcome::Answered {
                status: 429,
                retry_after: Some(RetryAfter::Seconds(seconds)),
            };
            assert_eq!(after(asking, 1, u32::MAX), in_seconds(86_400));
        }
        // The cap does not apply to the schedule's own delay of a day.
        let latest = NOW.as_micros() + 86_400 * 1_100_000;
        let expected = NextStep::RetryAt(Timestamp::from_micros(latest));
        assert_eq!(after(answered(500), 9, u32::MAX), expected);
    }

    #[test]
    fn a_manual_attempt_does_not_change_the_schedule() {
        let extra = |outcome: Outcome, then: i64| {
            next_step(
                &outcome,
                1,
                Persistence::Extra(NOW.plus_seconds(then)),
                NOW,
                u32::MAX,
            )
        };
        assert_eq!(extra(answered(204), 300), NextStep::Delivered);
        assert_eq!(extra(answered(410), 300), NextStep::Gone);
        assert_eq!(extra(answered(500), 300), in_seconds(300));
        assert_eq!(
            extra(answered(500), -300),
            in_seconds(0),
            "the scheduled time has passed"
        );
        let asking = Outcome::Answered {
            status: 503,
            retry_after: Some(RetryAfter::Seconds(1_000)),
        };
        assert_eq!(extra(asking, 300), in_seconds(1_100));
        assert_eq!(extra(asking, 2_000), in_seconds(2_000));
    }

    proptest! {
        #[test]
        fn jitter_adds_up_to_a_tenth(attempts_made in 1u32..10, asked_for in 0u64..200_000, jitter in any::<u32>()) {
            let outcome = Outcome::Answered { status: 503, retry_after: Some(RetryAfter::Seconds(asked_for)) };
            let schedule = RETRY_DELAYS_SECONDS[attempts_made as usize - 1];
            let wait_micros = schedule.max(asked_for.min(86_400) as i64) * 1_000_000;
            let NextStep::RetryAt(at) = after(outcome, attempts_made, jitter) else {
                return Err(TestCaseError::fail("a retry"));
            };
            let waited = at.as_micros() - NOW.as_micros();
            prop_assert!(wait_micros <= waited && waited <= wait_micros + wait_micros / 10, "{waited}");
            prop_assert!(schedule == 86_400 || waited <= 86_400_000_000, "{waited}");
        }
    }
}
