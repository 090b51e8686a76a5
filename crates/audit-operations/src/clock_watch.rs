//! Jumps of the system's clock, which the log of the service names.

use audit_cli::SystemClock;
use audit_domain::{Clock, Timestamp};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

/// A difference between the clock and the monotonic one that is reported, in seconds. Corrections of a running time service are
/// smaller.
const JUMP_SECONDS_MIN: i64 = 60;

/// The system's clock. It compares itself with the monotonic clock, which no one sets, once in each second that it shows: every request
/// reads it several times, on every thread.
#[derive(Default)]
pub(crate) struct WatchedClock {
    last: Mutex<Option<(Timestamp, Instant)>>,
    /// The second that `last` shows; 0 before the first.
    last_second: AtomicI64,
}

impl Clock for WatchedClock {
    fn now(&self) -> Timestamp {
        let now = SystemClock.now();
        if now.as_seconds() == self.last_second.load(Ordering::Relaxed) {
            return now;
        }
        // Otherwise another thread compares at this moment.
        if let Some(mut last) = self.last.try_lock() {
            let instant = Instant::now();
            if let Some(seconds) = last.and_then(|last| jump(last, (now, instant))) {
                report(seconds);
            }
            *last = Some((now, instant));
            self.last_second.store(now.as_seconds(), Ordering::Relaxed);
        }
        now
    }
}

/// By how many seconds the clock jumped between two readings, if it did.
fn jump(before: (Timestamp, Instant), after: (Timestamp, Instant)) -> Option<i64> {
    let passed = after.1.saturating_duration_since(before.1).as_secs();
    let shown = after.0.as_seconds().saturating_sub(before.0.as_seconds());
    let jumped = shown.saturating_sub(i64::try_from(passed).unwrap_or(i64::MAX));
    (jumped.abs() >= JUMP_SECONDS_MIN).then_some(jumped)
}

fn report(seconds: i64) {
    match seconds {
        ..0 => log::error!(
            "the system's clock went back by {} s; events get the time of the latest one of their log until the clock has \
             reached it; check the time service of the machine",
            -seconds
        ),
        _ => log::error!(
            "the system's clock jumped forward by {seconds} s; if it is wrong, stop this node and correct it: the times of a \
             log never go back, so its next events get the wrong time too"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_jump_is_what_the_clock_shows_beyond_the_time_that_passed() {
        let (at, then) = (Timestamp::from_micros(1_800_000_000_000_000), Instant::now());
        let after = |shown: i64, passed: u64| {
            jump(
                (at, then),
                (at.plus_seconds(shown), then + Duration::from_secs(passed)),
            )
        };
        assert_eq!(after(5_000, 5_000), None);
        assert_eq!(after(59, 0), None);
        assert_eq!(after(60, 0), Some(60));
        assert_eq!(after(-7_000, 200), Some(-7_200));
    }
}
