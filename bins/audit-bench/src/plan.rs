//! How much is measured: all of it, or a part that takes a minute.

use serde::Serialize;

/// Sizes and durations of a run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Plan {
    /// How many events there are when queries are measured, ascending.
    pub(crate) sizes: Vec<u64>,
    /// Events of the last load, which shows how fast batches are with the largest size present.
    pub(crate) events_beyond: u64,
    /// Before each measurement, and not counted.
    pub(crate) warm_up_ms: u64,
    /// Of each measurement of ingest.
    pub(crate) ingest_ms: u64,
    /// Of each measurement of `/healthz`, and of the raw limit.
    pub(crate) limit_ms: u64,
    /// Of each overload.
    pub(crate) overload_ms: u64,
    /// Requests of each query.
    pub(crate) query_requests: u32,
    /// More requests of each query whose p99 is more than twice its p50.
    pub(crate) query_extra_requests: u32,
    /// After this long a query is not asked again in a round.
    pub(crate) query_round_ms_max: u64,
}

/// Connections that ingest and `/healthz` are measured at.
pub(crate) const CONNECTIONS: &[usize] = &[1, 16, 64, 256];
/// Events of a request that ingest is measured at.
pub(crate) const BATCHES: &[usize] = &[1, 10, 100];
/// Connections and events of a request with which events are loaded.
pub(crate) const LOAD_CONNECTIONS: usize = 16;
pub(crate) const LOAD_BATCH: usize = 100;
/// Connections under overload.
pub(crate) const OVERLOAD_CONNECTIONS: usize = 512;
/// Bytes of additional details in each event of the second overload: a body of half a megabyte.
pub(crate) const OVERLOAD_PADDING_BYTES: usize = 4_500;
/// How often the queries take turns.
pub(crate) const QUERY_ROUNDS: u32 = 4;
/// The page that counts as deep.
pub(crate) const DEEP_PAGE: u32 = 20;

impl Plan {
    pub(crate) fn full() -> Self {
        Self {
            sizes: vec![10_000, 100_000, 1_000_000],
            events_beyond: 200_000,
            warm_up_ms: 1_000,
            ingest_ms: 5_000,
            limit_ms: 4_000,
            overload_ms: 8_000,
            query_requests: 200,
            query_extra_requests: 600,
            query_round_ms_max: 2_000,
        }
    }

    /// Too short for numbers to quote, long enough to see that all works.
    pub(crate) fn quick() -> Self {
        Self {
            sizes: vec![10_000, 100_000],
            events_beyond: 50_000,
            warm_up_ms: 200,
            ingest_ms: 800,
            limit_ms: 800,
            overload_ms: 2_000,
            query_requests: 20,
            query_extra_requests: 20,
            query_round_ms_max: 100,
        }
    }
}
