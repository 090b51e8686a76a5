//! Sizes and durations of a full run and of a quick one.

use anyhow::bail;
use serde::Serialize;

/// Sizes and durations of a run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Plan {
    /// Event counts at which queries are measured, ascending.
    pub(crate) sizes: Vec<u64>,
    /// Precedes each timed measurement and is not counted.
    pub(crate) warm_up_ms: u64,
    /// Duration of each ingest measurement.
    pub(crate) ingest_ms: u64,
    /// Duration of each measurement of `/healthz` and of raw inserts.
    pub(crate) limit_ms: u64,
    /// Rounds in which `/healthz` and single events alternate.
    pub(crate) alternating_rounds: usize,
    /// Duration of each of the two in a round.
    pub(crate) alternating_ms: u64,
    /// Duration of each overload measurement.
    pub(crate) overload_ms: u64,
    /// Requests of each query.
    pub(crate) query_requests: u32,
    /// Upper limit of additional requests of a query with p99 > 2 × p50.
    pub(crate) query_long_tail_requests: u32,
    /// Additional requests of a query whose p99 differs more than twofold between two sizes. The p99 of 200 requests is the
    /// second slowest, and among 600 queries the machine delays some twice.
    pub(crate) query_outlier_requests: u32,
    /// Time after which a query gets no more requests in a round.
    pub(crate) query_round_ms_max: u64,
    /// Time limit, for each service queried, of the long-tail requests, and again of the outlier requests.
    pub(crate) query_extra_ms_max: u64,
}

/// Connection counts for ingest and `/healthz`.
pub(crate) const CONNECTIONS: &[usize] = &[1, 16, 64, 256];
/// Events per request for ingest.
pub(crate) const BATCHES: &[usize] = &[1, 10, 100];
/// Connections that load the database.
pub(crate) const LOAD_CONNECTIONS: usize = 16;
/// Events per request that loads the database.
pub(crate) const LOAD_BATCH: usize = 100;
/// Connections at which single events are compared with the targets and with `/healthz`.
pub(crate) const SINGLES_CONNECTIONS: usize = 64;
/// Connections under overload.
pub(crate) const OVERLOAD_CONNECTIONS: usize = 512;
/// Bytes of additional metadata per event in the second overload: bodies of 500 KB.
pub(crate) const OVERLOAD_PADDING_BYTES: usize = 4_500;
/// Rounds over which the requests of each query are spread.
pub(crate) const QUERY_ROUNDS: u32 = 4;
/// The page measured as a deep page.
pub(crate) const DEEP_PAGE: u32 = 20;
/// Requests for proofs of inclusion. Fewer take so little time that one disturbance of 100 ms sets the p99.
pub(crate) const PROOF_REQUESTS: usize = 10_000;
/// The rare events that queries look for are among the first this many.
const SIZE_MIN: u64 = 10_000;

impl Plan {
    /// `sizes` replace the default ones unless empty.
    pub(crate) fn new(is_quick: bool, sizes: &[u64]) -> anyhow::Result<Self> {
        let is_ascending = sizes.is_sorted_by(|one, next| one < next);
        if !is_ascending || !sizes.iter().copied().all(is_size) {
            bail!("--sizes takes ascending multiples of {LOAD_BATCH}, at least {SIZE_MIN}");
        }
        let mut plan = if is_quick { Self::quick() } else { Self::full() };
        if !sizes.is_empty() {
            plan.sizes = sizes.to_vec();
        }
        Ok(plan)
    }

    /// A plan for a comparison over `events`, with ingest measurements of `seconds`.
    pub(crate) fn comparison(events: u64, seconds: u64) -> anyhow::Result<Self> {
        if !is_size(events) {
            bail!("--events takes a multiple of {LOAD_BATCH}, at least {SIZE_MIN}");
        }
        Ok(Self {
            sizes: vec![events],
            warm_up_ms: 500,
            ingest_ms: seconds * 1_000,
            ..Self::quick()
        })
    }

    fn full() -> Self {
        Self {
            sizes: vec![10_000, 100_000, 1_000_000],
            warm_up_ms: 1_000,
            ingest_ms: 5_000,
            limit_ms: 4_000,
            alternating_rounds: 7,
            alternating_ms: 2_500,
            overload_ms: 8_000,
            query_requests: 100,
            query_long_tail_requests: 600,
            query_outlier_requests: 1_000,
            query_round_ms_max: 1_000,
            query_extra_ms_max: 100_000,
        }
    }

    /// Exercises every phase. Too short for meaningful figures.
    fn quick() -> Self {
        Self {
            sizes: vec![10_000, 100_000],
            warm_up_ms: 200,
            ingest_ms: 800,
            limit_ms: 800,
            alternating_rounds: 3,
            alternating_ms: 500,
            overload_ms: 2_000,
            query_requests: 20,
            query_long_tail_requests: 20,
            query_outlier_requests: 40,
            query_round_ms_max: 100,
            query_extra_ms_max: 15_000,
        }
    }

    pub(crate) fn largest(&self) -> u64 {
        self.sizes.last().copied().unwrap_or_default()
    }

    /// Events loaded on top of the largest size, to measure batches with that size present: a fifth of it, in whole batches.
    pub(crate) fn events_beyond(&self) -> u64 {
        (self.largest() / 5).next_multiple_of(LOAD_BATCH as u64)
    }
}

fn is_size(events: u64) -> bool {
    events >= SIZE_MIN && events.is_multiple_of(LOAD_BATCH as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_from_the_command_line() {
        let sizes = |given: &[u64]| Plan::new(false, given).map(|plan| plan.sizes);
        assert_eq!(sizes(&[]).unwrap(), [10_000, 100_000, 1_000_000]);
        assert_eq!(sizes(&[20_000, 30_000]).unwrap(), [20_000, 30_000]);
        for refused in [&[9_900][..], &[10_050], &[20_000, 10_000], &[20_000, 20_000]] {
            assert!(sizes(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn a_comparison_loads_whole_batches_and_the_rare_events() {
        assert_eq!(Plan::comparison(10_000, 2).unwrap().sizes, [10_000]);
        assert!(Plan::comparison(9_900, 2).is_err() && Plan::comparison(10_050, 2).is_err());
    }

    #[test]
    fn a_fifth_more_is_loaded_in_whole_batches() {
        let beyond = |largest| Plan::new(true, &[largest]).unwrap().events_beyond();
        assert_eq!((beyond(1_000_000), beyond(10_100)), (200_000, 2_100));
    }
}
