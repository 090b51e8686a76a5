//! Warnings and errors that repeat: in an outage every request and every commit has one.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Lines of one cause that are written in each [`WINDOW`].
const LINES_MAX: u64 = 10;
const WINDOW: Duration = Duration::from_secs(60);
/// The maximum number of causes whose lines are counted. Lines of other causes are always written.
const CAUSES_MAX: usize = 256;

/// Counts the lines of each cause.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    windows: Mutex<HashMap<String, Window>>,
    /// Whether a line was left out, and no line says so yet.
    has_left_out: AtomicBool,
}

#[derive(Debug)]
struct Window {
    begun: Instant,
    lines: u64,
}

/// Lines that were left out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) count: u64,
    /// What they have in common: the message without words that have digits.
    pub(super) cause: String,
}

impl Repeats {
    /// Whether this warning or error is to be written.
    pub(super) fn admits(&self, target: &str, message: &str, now: Instant) -> bool {
        let mut windows = self.windows.lock();
        let cause = cause_of(target, message);
        if windows.len() >= CAUSES_MAX && !windows.contains_key(&cause) {
            windows.retain(|_, window| !window.has_ended(now) || window.lines > LINES_MAX);
            if windows.len() >= CAUSES_MAX {
                return true;
            }
        }
        let window = windows.entry(cause).or_insert(Window { begun: now, lines: 0 });
        // With lines left out it ends when these are reported.
        if window.has_ended(now) && window.lines <= LINES_MAX {
            *window = Window { begun: now, lines: 0 };
        }
        window.lines += 1;
        if window.lines > LINES_MAX {
            self.has_left_out.store(true, Ordering::Relaxed);
        }
        window.lines <= LINES_MAX
    }

    /// The lines that were left out in windows that have ended. Cheap while there are none.
    pub(super) fn take_left_out(&self, now: Instant) -> Vec<LeftOut> {
        if !self.has_left_out.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let mut windows = self.windows.lock();
        let ended = windows.extract_if(|_, window| window.lines > LINES_MAX && window.has_ended(now));
        let left_out = ended.map(|(cause, window)| LeftOut {
            count: window.lines - LINES_MAX,
            cause,
        });
        let left_out = left_out.collect();
        let remains = windows.values().any(|window| window.lines > LINES_MAX);
        self.has_left_out.store(remains, Ordering::Relaxed);
        left_out
    }
}

impl Window {
    fn has_ended(&self, now: Instant) -> bool {
        now.duration_since(self.begun) >= WINDOW
    }
}

/// What lines of one cause have in common: ids, numbers and addresses have digits.
fn cause_of(target: &str, message: &str) -> String {
    let has_digit = |word: &str| word.contains(|found: char| found.is_ascii_digit());
    let words = message
        .split(' ')
        .map(|word| if has_digit(word) { "…" } else { word });
    [target].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_cause_are_counted_beyond_some_and_reported_after_a_minute() {
        let (repeats, begin) = (Repeats::default(), Instant::now());
        let line = |number: u64| format!("req_{number}: the database is unavailable: timeout");
        let written = (0..1_000)
            .filter(|number| repeats.admits("a", &line(*number), begin))
            .count();
        assert_eq!(written as u64, LINES_MAX);
        assert!(
            repeats.admits("a", "req_1: the disk is full", begin),
            "another cause"
        );
        assert!(repeats.admits("b", &line(1), begin), "another target");
        assert_eq!(repeats.take_left_out(begin), []);
        let later = begin + WINDOW;
        assert!(!repeats.admits("a", &line(1), later), "not before the report");
        let expected = LeftOut {
            count: 1_001 - LINES_MAX,
            cause: "a … the database is unavailable: timeout".to_owned(),
        };
        assert_eq!(repeats.take_left_out(later), [expected]);
        assert_eq!(repeats.take_left_out(later), []);
        assert!(repeats.admits("a", &line(1), later));
    }

    #[test]
    fn a_rare_line_is_always_written_and_memory_is_bounded() {
        let (repeats, begin) = (Repeats::default(), Instant::now());
        for minute in 0..20 {
            assert!(repeats.admits("a", "rare", begin + WINDOW * minute));
        }
        let name = |number: usize| "x".repeat(number);
        for number in 0..2 * CAUSES_MAX {
            assert!(repeats.admits("a", &name(number), begin));
        }
        assert!(repeats.windows.lock().len() <= CAUSES_MAX);
        // Those of the minute before make room.
        assert!(repeats.admits("a", "new", begin + WINDOW * 40));
        assert_eq!(repeats.windows.lock().len(), 1);
    }
}
