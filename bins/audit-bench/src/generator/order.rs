//! What the two processes say to each other.

use crate::latency::LatencySummary;
use crate::workload::BodyOptions;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    Flood(FloodOrder),
    Queries(QueriesOrder),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    Flood(FloodReport),
    /// By service, in the order of its queries; none for a query whose answer has fewer pages.
    Queries(Vec<Vec<Option<QueryReport>>>),
}

/// Many connections, each sending the next request as soon as the last one is answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FloodOrder {
    pub(crate) address: SocketAddr,
    pub(crate) project_key: String,
    pub(crate) connections: usize,
    pub(crate) traffic: Traffic,
    pub(crate) end: End,
    /// Report how far it had come after each so many events.
    pub(crate) window_events: Option<u64>,
    /// More is sent than can be served. Then the service may refuse anything and hang up; otherwise it may answer 503 only.
    pub(crate) is_overload: bool,
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
    /// Measure for this long, after a time that does not count.
    AfterMs { warm_up_ms: u64, measured_ms: u64 },
    /// Send so many events, and measure all of it.
    AfterEvents(u64),
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct FloodReport {
    /// The measured time.
    pub(crate) seconds: f64,
    /// Requests that were answered as expected in the measured time.
    pub(crate) requests: u64,
    /// Their events.
    pub(crate) events: u64,
    /// Events stored in all, the time that does not count included.
    pub(crate) events_stored: u64,
    /// Requests that were answered otherwise in the measured time, by status.
    pub(crate) refused: BTreeMap<u16, u64>,
    /// Connections that were closed before the answer, in the measured time.
    pub(crate) broken: u64,
    /// Of requests answered as expected, in the measured time.
    pub(crate) latency: LatencySummary,
    /// See [`FloodOrder::window_events`].
    pub(crate) windows: Vec<Window>,
    /// The number after that of the last event sent.
    pub(crate) next_number: u64,
    /// Processor time of the sending process in the measured time; none where it cannot be known.
    pub(crate) generator_cpu_seconds: Option<f64>,
}

/// How far a flood had come.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Window {
    /// Events stored since it began.
    pub(crate) events: u64,
    /// Seconds since it began.
    pub(crate) seconds: f64,
}

/// One query after another, each of all services in turns.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct QueriesOrder {
    pub(crate) services: Vec<AskedService>,
    /// Of each query.
    pub(crate) requests: u32,
    /// In addition, of each query whose p99 is not settled by these at some service. All of them count.
    pub(crate) extra_requests: u32,
    /// In addition to both, of each query whose p99 differs much between services. All of them count, and nothing that
    /// comes out ends them early.
    pub(crate) decisive_requests: u32,
    /// Since the beginning; then there are no more rounds of extra requests. As long again for the decisive ones.
    pub(crate) extra_ms_max: u64,
    /// The queries take turns so many times, so that a disturbance of the machine hits many queries a little.
    pub(crate) rounds: u32,
    /// A query that has taken this long in one round is not asked again in it.
    pub(crate) round_ms_max: u64,
}

/// Who is asked over one connection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AskedService {
    pub(crate) address: SocketAddr,
    pub(crate) project_key: String,
    /// The same of all services, in the same order.
    pub(crate) queries: Vec<Query>,
}

/// A query, and the page of its answer that is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Query {
    /// Path and query string.
    pub(crate) target: String,
    /// From 1.
    pub(crate) page: u32,
}

/// A query that was asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct QueryReport {
    pub(crate) requests: u32,
    /// On the page.
    pub(crate) events: u32,
    pub(crate) latency: LatencySummary,
}
