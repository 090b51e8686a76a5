//! How much is measured: all of it, or a part that takes a minute.

use anyhow::bail;
use serde::Serialize;

/// Sizes and durations of a run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Plan {
    /// How many events there are when queries are measured, ascending.
    pub(crate) sizes: Vec<u64>,
    /// Before each measurement, and not counted.
    pub(crate) warm_up_ms: u64,
    /// Of each measurement of ingest.
    pub(crate) ingest_ms: u64,
    /// Of each measurement of `/healthz`, and of the raw limit.
    pub(crate) limit_ms: u64,
    /// How often `/healthz` and single events take turns.
    pub(crate) turns: usize,
    /// Of each of the two in a turn.
    pub(crate) turn_ms: u64,
    /// Of each overload.
    pub(crate) overload_ms: u64,
    /// Requests of each query.
    pub(crate) query_requests: u32,
    /// More requests of each query whose p99 is more than twice its p50, at most.
    pub(crate) query_extra_requests: u32,
    /// More requests of each query whose p99 is more than twice as high at one size as at the other. A p99 of two hundred
    /// requests is the second longest wait, and of six hundred queries some have waited for the machine twice.
    pub(crate) query_decisive_requests: u32,
    /// After this long a query is not asked again in a round.
    pub(crate) query_round_ms_max: u64,
    /// After this long, for each service that is asked, no more extra requests are made, nor after as long again decisive
    /// ones.
    pub(crate) query_extra_ms_max: u64,
}

/// Connections that ingest and `/healthz` are measured at.
pub(crate) const CONNECTIONS: &[usize] = &[1, 16, 64, 256];
/// Events of a request that ingest is measured at.
pub(crate) const BATCHES: &[usize] = &[1, 10, 100];
/// Connections and events of a request with which events are loaded.
pub(crate) const LOAD_CONNECTIONS: usize = 16;
pub(crate) const LOAD_BATCH: usize = 100;
/// Connections at which single events are judged, and take turns with `/healthz`.
pub(crate) const SINGLES_CONNECTIONS: usize = 64;
/// Connections under overload.
pub(crate) const OVERLOAD_CONNECTIONS: usize = 512;
/// Bytes of additional details in each event of the second overload: a body of half a megabyte.
pub(crate) const OVERLOAD_PADDING_BYTES: usize = 4_500;
/// How often the queries take turns.
pub(crate) const QUERY_ROUNDS: u32 = 4;
/// The page that counts as deep.
pub(crate) const DEEP_PAGE: u32 = 20;

/// Proofs of inclusion that are asked for, of some hundred events in turns: over fewer, a tenth of a second in which the
/// machine does something else makes the p99.
pub(crate) const PROOFS: usize = 10_000;
/// The least size: the events that queries look for as rare are among so many.
const SIZE_MIN: u64 = 10_000;

impl Plan {
    /// `sizes` replace the usual ones unless there are none.
    pub(crate) fn new(is_quick: bool, sizes: &[u64]) -> anyhow::Result<Self> {
        let is_ascending = sizes.is_sorted_by(|one, next| one < next);
        let batch = LOAD_BATCH as u64;
        if !is_ascending || sizes.iter().any(|size| *size < SIZE_MIN || size % batch != 0) {
            bail!("--sizes takes ascending multiples of {batch}, from {SIZE_MIN} on");
        }
        let mut plan = if is_quick { Self::quick() } else { Self::full() };
        if !sizes.is_empty() {
            plan.sizes = sizes.to_vec();
        }
        Ok(plan)
    }

    fn full() -> Self {
        Self {
            sizes: vec![10_000, 100_000, 1_000_000],
            warm_up_ms: 1_000,
            ingest_ms: 5_000,
            limit_ms: 4_000,
            turns: 7,
            turn_ms: 2_500,
            overload_ms: 8_000,
            query_requests: 100,
            query_extra_requests: 600,
            query_decisive_requests: 1_000,
            query_round_ms_max: 1_000,
            query_extra_ms_max: 100_000,
        }
    }

    /// Too short for numbers to quote, long enough to see that all works.
    fn quick() -> Self {
        Self {
            sizes: vec![10_000, 100_000],
            warm_up_ms: 200,
            ingest_ms: 800,
            limit_ms: 800,
            turns: 3,
            turn_ms: 500,
            overload_ms: 2_000,
            query_requests: 20,
            query_extra_requests: 20,
            query_decisive_requests: 40,
            query_round_ms_max: 100,
            query_extra_ms_max: 15_000,
        }
    }

    /// The size that is reached last.
    pub(crate) fn largest(&self) -> u64 {
        self.sizes.last().copied().unwrap_or_default()
    }

    /// Events loaded beyond the largest size, which show how fast batches are with that present. A fifth of it, in whole
    /// batches.
    pub(crate) fn events_beyond(&self) -> u64 {
        (self.largest() / 5).next_multiple_of(LOAD_BATCH as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_that_were_asked_for() {
        let sizes = |asked: &[u64]| Plan::new(false, asked).map(|plan| plan.sizes);
        assert_eq!(sizes(&[]).unwrap(), [10_000, 100_000, 1_000_000]);
        assert_eq!(sizes(&[20_000, 30_000]).unwrap(), [20_000, 30_000]);
        for refused in [&[9_900][..], &[10_050], &[20_000, 10_000], &[20_000, 20_000]] {
            assert!(sizes(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn a_fifth_more_is_loaded_in_whole_batches() {
        let beyond = |largest| Plan::new(true, &[largest]).unwrap().events_beyond();
        assert_eq!((beyond(1_000_000), beyond(10_100)), (200_000, 2_100));
    }
}
