//! The results of a run on one database.

use crate::checks::{Checks, Proofs};
use crate::generator::QueryReport;
use crate::latency::LatencySummary;
use crate::machine::Machine;
use crate::plan::Plan;
use crate::queries::{Expected, QueryKind};
use crate::raw_limit::{Layout, RawRate};
use crate::service::database::DatabaseKind;
use crate::targets::TargetCheck;
use anyhow::bail;
use serde::Serialize;
use std::collections::BTreeMap;

/// The results as written to JSON. The queries have a file of their own.
#[derive(Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) database: DatabaseKind,
    pub(crate) database_version: String,
    /// Of this package, which shares its version with the server.
    pub(crate) version: &'static str,
    /// The commit of the working tree; none outside of a repository.
    pub(crate) commit: Option<String>,
    pub(crate) began_at: String,
    pub(crate) seconds: f64,
    pub(crate) machine: Machine,
    pub(crate) plan: Plan,
    pub(crate) targets: Vec<TargetCheck>,
    pub(crate) raw: Vec<RawRate>,
    pub(crate) health: Vec<Phase>,
    pub(crate) alternating: Vec<AlternatingRound>,
    /// The phases that load the database, in order.
    pub(crate) loads: Vec<Phase>,
    pub(crate) ingest: Vec<Phase>,
    pub(crate) overload: Vec<Phase>,
    pub(crate) sizes: Vec<Size>,
    /// Measured at the largest size.
    pub(crate) proofs: Proofs,
    pub(crate) checks: Checks,
    /// Warnings and errors that the server logged. JSON has their number only: a log repeats itself.
    #[serde(serialize_with = "serialize_count")]
    pub(crate) server_log: Vec<String>,
    #[serde(skip)]
    pub(crate) queries: Vec<QueryResult>,
}

/// The result of one closed-loop job.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Phase {
    pub(crate) connections: usize,
    /// Events per request; 0 for `/healthz`.
    pub(crate) batch: usize,
    /// Events stored at its start.
    pub(crate) events_before: u64,
    pub(crate) seconds: f64,
    pub(crate) requests: u64,
    pub(crate) events: u64,
    /// Error responses by status.
    pub(crate) errors: BTreeMap<u16, u64>,
    /// Connections that the service closed before the response.
    pub(crate) closed_connections: u64,
    pub(crate) latency: LatencySummary,
    pub(crate) usage: Usage,
    /// Progress of a load.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) windows: Vec<crate::generator::Window>,
}

/// `/healthz` followed by single events, over the same number of connections.
#[derive(Debug, Serialize)]
pub(crate) struct AlternatingRound {
    pub(crate) health: Phase,
    pub(crate) singles: Phase,
}

impl AlternatingRound {
    /// Events/s over the requests/s of `/healthz`.
    pub(crate) fn share(&self) -> f64 {
        ratio(
            self.singles.events_per_second(),
            self.health.requests_per_second(),
        )
    }
}

/// Resources used by a phase. Values that the platform does not provide are absent.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Usage {
    /// Growth of the database, per event stored.
    pub(crate) disk_bytes_per_event: Option<f64>,
    /// Bytes that the server wrote to disk, per event stored. SQLite only: PostgreSQL writes in its own processes.
    pub(crate) written_bytes_per_event: Option<f64>,
    /// CPU time of the server, per event stored.
    pub(crate) server_cpu_us: Option<f64>,
    /// CPU time of the load generator, per measured event, or per measured request of `/healthz`.
    pub(crate) generator_cpu_us: Option<f64>,
    /// Peak resident memory of the server in this phase.
    pub(crate) peak_memory_mib: Option<f64>,
}

impl Phase {
    pub(crate) fn requests_per_second(&self) -> f64 {
        rate(self.requests, self.seconds)
    }

    pub(crate) fn events_per_second(&self) -> f64 {
        rate(self.events, self.seconds)
    }

    /// Share of 503 in all responses.
    pub(crate) fn unavailable_share(&self) -> f64 {
        let errors: u64 = self.errors.values().sum();
        let unavailable = self.errors.get(&503).copied().unwrap_or_default();
        ratio(unavailable as f64, (errors + self.requests) as f64)
    }

    /// Error responses other than 503, and connections that the service closed.
    pub(crate) fn failures(&self) -> u64 {
        let others = self.errors.iter().filter(|(status, _)| **status != 503);
        others.map(|(_, count)| count).sum::<u64>() + self.closed_connections
    }
}

fn serialize_count<S: serde::Serializer>(lines: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(lines.len() as u64)
}

fn rate(count: u64, seconds: f64) -> f64 {
    ratio(count as f64, seconds)
}

/// 0 if there are no numbers.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let Some(last) = numbers.len().checked_sub(1) else {
        return 0.0;
    };
    (numbers[last / 2] + numbers[last.div_ceil(2)]) / 2.0
}

/// 0 if `whole` is 0.
pub(crate) fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The database at one of its sizes.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Size {
    pub(crate) events: u64,
    pub(crate) disk_bytes: u64,
    /// While it was loaded and queried.
    pub(crate) peak_memory_mib: Option<f64>,
}

/// One query at every size.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct QueryResult {
    #[serde(flatten)]
    pub(crate) kind: QueryKind,
    pub(crate) at: Vec<QueryAtSize>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct QueryAtSize {
    /// Events stored.
    pub(crate) size: u64,
    pub(crate) requests: u32,
    /// Events on the page.
    pub(crate) found: u32,
    #[serde(flatten)]
    pub(crate) latency: LatencySummary,
}

impl QueryResult {
    /// Adds the measurement at `size` events; none if the result has fewer pages.
    pub(crate) fn add(&mut self, size: u64, report: Option<QueryReport>) -> anyhow::Result<()> {
        let Some(QueryReport {
            requests,
            events: found,
            latency,
        }) = report
        else {
            return Ok(());
        };
        let is_unexpected = match self.kind.expected {
            Expected::Nothing => found > 0,
            Expected::Something => found == 0,
            Expected::Unknown => false,
        };
        if is_unexpected {
            bail!("unexpected number of results: {found} events for {:?}", self.kind);
        }
        let index = self.at.partition_point(|at| at.size < size);
        self.at.insert(
            index,
            QueryAtSize {
                size,
                requests,
                found,
                latency,
            },
        );
        Ok(())
    }

    pub(crate) fn at(&self, size: u64) -> Option<&QueryAtSize> {
        self.at.iter().find(|at| at.size == size)
    }

    /// p99 at `last` over p99 at `first`; none if one of them was not measured.
    pub(crate) fn p99_growth(&self, (first, last): (u64, u64)) -> Option<f64> {
        let (first, last) = (self.at(first)?, self.at(last)?);
        Some(ratio(last.latency.p99_ms(), first.latency.p99_ms()))
    }

    /// p50 at `last` over p50 at `first`; none if one of them was not measured.
    pub(crate) fn p50_growth(&self, (first, last): (u64, u64)) -> Option<f64> {
        let (first, last) = (self.at(first)?, self.at(last)?);
        Some(ratio(last.latency.p50_ms(), first.latency.p50_ms()))
    }
}

impl Results {
    /// The smallest and the largest size.
    pub(crate) fn ends(&self) -> (u64, u64) {
        let sizes = &self.plan.sizes;
        let end = |size: Option<&u64>| size.copied().unwrap_or_default();
        (end(sizes.first()), end(sizes.last()))
    }

    /// Whether there is more than one size to compare.
    pub(crate) fn has_growth(&self) -> bool {
        self.plan.sizes.len() > 1
    }

    /// Of the faster transaction size.
    pub(crate) fn rows_per_second(&self, layout: Layout) -> f64 {
        let rates = self.raw.iter().filter(|rate| rate.layout == layout);
        rates.map(|rate| rate.rows_per_second).fold(0.0, f64::max)
    }

    /// Median over the alternating rounds.
    pub(crate) fn share_of_health(&self) -> f64 {
        median(self.alternating.iter().map(AlternatingRound::share).collect())
    }

    pub(crate) fn phases(&self) -> impl Iterator<Item = &Phase> {
        let singles = self.alternating.iter().map(|round| &round.singles);
        [&self.health, &self.loads, &self.ingest, &self.overload]
            .into_iter()
            .flatten()
            .chain(singles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_shares_of_nothing_are_zero() {
        let phase = Phase::default();
        assert_eq!((phase.events_per_second(), phase.unavailable_share()), (0.0, 0.0));
    }

    #[test]
    fn rates_are_per_second_and_shares_are_of_all_responses() {
        let phase = Phase {
            seconds: 2.0,
            requests: 30,
            events: 3_000,
            errors: BTreeMap::from([(408, 5), (503, 10)]),
            closed_connections: 2,
            ..Phase::default()
        };
        assert_eq!(phase.requests_per_second(), 15.0);
        assert_eq!(phase.events_per_second(), 1_500.0);
        assert_eq!(phase.unavailable_share(), 10.0 / 45.0);
        assert_eq!(phase.failures(), 7);
    }

    #[test]
    fn the_share_of_health_is_the_median_of_the_rounds() {
        let phase = |requests, events| Phase {
            seconds: 1.0,
            requests,
            events,
            ..Phase::default()
        };
        let round = |requests, events| AlternatingRound {
            health: phase(requests, 0),
            singles: phase(events, events),
        };
        let rounds = [round(100, 90), round(100, 20), round(200, 60)];
        let shares = rounds.iter().map(AlternatingRound::share).collect();
        assert_eq!(median(shares), 0.3);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(Vec::new()), 0.0);
    }

    #[test]
    fn growth_is_the_ratio_of_the_last_size_to_the_first() {
        let at = |size, p50_us, p99_us| QueryAtSize {
            size,
            requests: 200,
            found: 50,
            latency: LatencySummary {
                p50_us,
                p99_us,
                max_us: p99_us,
            },
        };
        let query = QueryResult {
            kind: QueryKind::default(),
            at: vec![at(10, 2_000, 4_000), at(100, 1, 1), at(1_000, 3_000, 10_000)],
        };
        assert_eq!(query.p99_growth((10, 1_000)), Some(2.5));
        assert_eq!(query.p50_growth((10, 1_000)), Some(1.5));
        assert_eq!(query.p99_growth((10, 2_000)), None);
    }
}
