//! Response times. Every one is kept, so percentiles are exact.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Durations in microseconds, four bytes each: those of an hour fit into memory.
#[derive(Debug, Default, Clone)]
pub(crate) struct Latencies(Vec<u32>);

/// Percentiles in microseconds.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LatencySummary {
    pub(crate) p50_us: u32,
    pub(crate) p99_us: u32,
    pub(crate) max_us: u32,
}

impl Latencies {
    pub(crate) fn add(&mut self, duration: Duration) {
        self.0
            .push(u32::try_from(duration.as_micros()).unwrap_or(u32::MAX));
    }

    /// Whether p99 > 2 × p50. The p99 then depends on few requests, and a reliable one needs more of them.
    pub(crate) fn has_long_tail(&self) -> bool {
        let summary = self.clone().summary();
        summary.p99_us > 2 * summary.p50_us
    }

    pub(crate) fn summary(mut self) -> LatencySummary {
        self.0.sort_unstable();
        LatencySummary {
            p50_us: percentile(&self.0, 50),
            p99_us: percentile(&self.0, 99),
            max_us: self.0.last().copied().unwrap_or_default(),
        }
    }
}

impl LatencySummary {
    pub(crate) fn p50_ms(&self) -> f64 {
        f64::from(self.p50_us) / 1_000.0
    }

    pub(crate) fn p99_ms(&self) -> f64 {
        f64::from(self.p99_us) / 1_000.0
    }
}

/// Nearest-rank percentile; 0 if there are no values.
fn percentile(sorted: &[u32], percent: usize) -> u32 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(micros: impl IntoIterator<Item = u64>) -> LatencySummary {
        let mut latencies = Latencies::default();
        micros
            .into_iter()
            .for_each(|micros| latencies.add(Duration::from_micros(micros)));
        latencies.summary()
    }

    #[test]
    fn percentiles_are_the_nearest_rank() {
        let all = summary((1..=200).rev());
        assert_eq!((all.p50_us, all.p99_us, all.max_us), (100, 198, 200));
        let few = summary([7, 5, 6]);
        assert_eq!((few.p50_us, few.p99_us, few.max_us), (6, 7, 7));
    }

    #[test]
    fn a_tail_is_long_when_p99_is_more_than_twice_p50() {
        let with_slow = |count| {
            let mut latencies = Latencies::default();
            (0..200)
                .for_each(|index| latencies.add(Duration::from_micros(if index < count { 21 } else { 10 })));
            latencies
        };
        assert!(with_slow(3).has_long_tail());
        assert!(!with_slow(2).has_long_tail());
    }

    #[test]
    fn percentiles_of_one_and_of_no_request_are_defined() {
        let one = summary([42]);
        assert_eq!((one.p50_us, one.p99_us, one.max_us), (42, 42, 42));
        assert_eq!(summary([]), LatencySummary::default());
    }

    #[test]
    fn a_duration_beyond_the_number_range_saturates() {
        assert_eq!(summary([u64::from(u32::MAX) + 10]).max_us, u32::MAX);
    }
}
