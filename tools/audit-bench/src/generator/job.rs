//! The messages between the benchmark and the load generator.

use crate::latency::LatencySummary;
use crate::workload::BodyOptions;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Job {
    ClosedLoop(ClosedLoopJob),
    Queries(QueriesJob),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    ClosedLoop(ClosedLoopReport),
    /// By service, in the order of its queries; none for a query whose result has fewer pages than requested.
    Queries(Vec<Vec<Option<QueryReport>>>),
}

/// Closed-loop load: each connection sends its next request once the previous response is complete. With an interval the load has a
/// constant rate instead.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ClosedLoopJob {
    /// The nodes. Connections are distributed over them evenly.
    pub(crate) addresses: Vec<SocketAddr>,
    /// Each request is sent with one of these keys, chosen at random.
    pub(crate) project_keys: Vec<String>,
    pub(crate) connections: usize,
    /// Time from one request to the next, over all connections, in nanoseconds. A request whose time comes while every connection
    /// waits for a response is sent late, and its latency counts from its time.
    pub(crate) interval_ns: Option<u64>,
    pub(crate) traffic: Traffic,
    pub(crate) end: End,
    /// Record a [`Window`] each time this many more events are stored.
    pub(crate) window_events: Option<u64>,
    /// Whether error responses of any status and closed connections are counted. Otherwise 503 is the only error that the
    /// service may respond with.
    pub(crate) counts_errors: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Traffic {
    /// `GET /healthz`.
    Health,
    /// `POST /api/v1/events`.
    Events(BodyOptions),
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum End {
    /// Measures for `measured_ms` after a warm-up.
    AfterMs { warm_up_ms: u64, measured_ms: u64 },
    /// Sends this many events without a warm-up.
    AfterEvents(u64),
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ClosedLoopReport {
    /// The measured time.
    pub(crate) seconds: f64,
    /// Successful requests in the measured time.
    pub(crate) requests: u64,
    /// Events of these requests.
    pub(crate) events: u64,
    /// Events stored, including the warm-up.
    pub(crate) events_stored: u64,
    /// Error responses in the measured time, by status.
    pub(crate) errors: BTreeMap<u16, u64>,
    /// Connections closed before the response, in the measured time.
    pub(crate) closed_connections: u64,
    /// Of the successful requests in the measured time.
    pub(crate) latency: LatencySummary,
    /// See [`ClosedLoopJob::window_events`].
    pub(crate) windows: Vec<Window>,
    /// One more than the number of the last event sent.
    pub(crate) next_number: u64,
    /// CPU time of the load generator in the measured time; none if the platform does not provide it.
    pub(crate) generator_cpu_seconds: Option<f64>,
}

/// Progress of a job.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Window {
    /// Events stored since the start.
    pub(crate) events: u64,
    /// Seconds since the start.
    pub(crate) seconds: f64,
}

/// One query after another, each sent to all services in turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct QueriesJob {
    pub(crate) services: Vec<QueriedService>,
    /// Of each query.
    pub(crate) requests: u32,
    /// Additional requests of each query with a long tail at one service or more. All requests count.
    pub(crate) long_tail_requests: u32,
    /// Additional requests of each query whose p99 differs more than twofold between services, whatever the result of the
    /// first of them. All requests count.
    pub(crate) outlier_requests: u32,
    /// Time limit of the long-tail requests, measured from the start, and again of the outlier requests.
    pub(crate) extra_ms_max: u64,
    /// Rounds over which the requests of a query are spread, so that a disturbance of the machine affects many queries a
    /// little.
    pub(crate) rounds: u32,
    /// Time after which a query gets no more requests in a round.
    pub(crate) round_ms_max: u64,
}

/// A service queried over one connection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct QueriedService {
    pub(crate) address: SocketAddr,
    pub(crate) project_key: String,
    /// The same queries in the same order for all services.
    pub(crate) queries: Vec<Query>,
}

/// A query and the measured page of its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Query {
    /// Path and query string.
    pub(crate) target: String,
    /// From 1.
    pub(crate) page: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct QueryReport {
    pub(crate) requests: u32,
    /// Events on the page.
    pub(crate) events: u32,
    pub(crate) latency: LatencySummary,
}
