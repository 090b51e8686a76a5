//! Queries at two numbers of events, on one node. Both databases are queried in turn, request by request.

use super::Bench;
use crate::results::{QueryResult, Results, median};
use crate::run;
use crate::service::Database;
use anyhow::Context;
use serde::Serialize;

/// A query that grows more than others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Growing {
    pub(crate) query: String,
    pub(crate) first_p99_ms: f64,
    pub(crate) last_p99_ms: f64,
    pub(crate) growth: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Growth {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) load_events_per_second: f64,
    pub(crate) bytes_per_event: f64,
    pub(crate) queries: usize,
    /// Medians over the queries, at the first and at the last size.
    pub(crate) p50_ms: [f64; 2],
    pub(crate) p99_ms: [f64; 2],
    /// Of the slowest query at each size.
    pub(crate) highest_p99_ms: [f64; 2],
    /// Median over the queries of p99 at the last size over p99 at the first.
    pub(crate) median_growth: f64,
    /// Queries whose p50 and whose p99 grow to more than [`GROWTH_MAX`] times. Disturbances of the machine hardly affect p50.
    pub(crate) growing_p50: usize,
    pub(crate) growing_p99: usize,
    /// Those that grow most.
    pub(crate) most: Vec<Growing>,
}

/// Time at the last size over time at the first that is allowed.
pub(crate) const GROWTH_MAX: f64 = 1.5;
const MOST: usize = 8;

pub(crate) fn measure(bench: &Bench<'_>) -> anyhow::Result<Growth> {
    let folder = bench.folder.join("events");
    std::fs::create_dir(&folder)?;
    let database = Database::postgres(bench.cluster)?;
    let results = run::run_queries_only(bench.binary, &database, &folder, &bench.plan.queries)?;
    summary(&results)
}

fn summary(results: &Results) -> anyhow::Result<Growth> {
    let (first, last) = results.ends();
    let measured: Vec<&QueryResult> = results
        .queries
        .iter()
        .filter(|query| query.at(first).is_some() && query.at(last).is_some())
        .collect();
    let values = |size, value: fn(&crate::results::QueryAtSize) -> f64| -> Vec<f64> {
        measured
            .iter()
            .filter_map(|query| query.at(size))
            .map(value)
            .collect()
    };
    let p50 = |size| values(size, |at| at.latency.p50_ms());
    let p99 = |size| values(size, |at| at.latency.p99_ms());
    let highest = |size| p99(size).into_iter().fold(0.0, f64::max);
    let mut most: Vec<Growing> = measured
        .iter()
        .filter_map(|query| growing(query, first, last))
        .collect();
    most.sort_by(|one, other| other.growth.total_cmp(&one.growth));
    let p50_growths = measured
        .iter()
        .filter_map(|query| query.p50_growth((first, last)));
    let size = results.sizes.last().context("no size was measured")?;
    let load = results.loads.last().context("nothing was loaded")?;
    Ok(Growth {
        first,
        last,
        load_events_per_second: load.events_per_second(),
        bytes_per_event: crate::results::ratio(size.disk_bytes as f64, size.events as f64),
        queries: measured.len(),
        p50_ms: [median(p50(first)), median(p50(last))],
        p99_ms: [median(p99(first)), median(p99(last))],
        highest_p99_ms: [highest(first), highest(last)],
        median_growth: median(most.iter().map(|query| query.growth).collect()),
        growing_p50: p50_growths.filter(|growth| *growth > GROWTH_MAX).count(),
        growing_p99: most.iter().filter(|query| query.growth > GROWTH_MAX).count(),
        most: most.into_iter().take(MOST).collect(),
    })
}

fn growing(query: &QueryResult, first: u64, last: u64) -> Option<Growing> {
    Some(Growing {
        query: format!(
            "{} ({}), page {}",
            query.kind.filters, query.kind.selectivity, query.kind.page
        ),
        first_p99_ms: query.at(first)?.latency.p99_ms(),
        last_p99_ms: query.at(last)?.latency.p99_ms(),
        growth: query.p99_growth((first, last))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::LatencySummary;
    use crate::queries::QueryKind;
    use crate::results::QueryAtSize;

    #[test]
    fn growth_is_taken_at_the_first_and_the_last_size() {
        let at = |size, p99_us| QueryAtSize {
            size,
            requests: 100,
            found: 50,
            latency: LatencySummary {
                p50_us: p99_us,
                p99_us,
                max_us: p99_us,
            },
        };
        let query = QueryResult {
            kind: QueryKind::default(),
            at: vec![at(10, 2_000), at(100, 9_000), at(1_000, 5_000)],
        };
        let growing = growing(&query, 10, 1_000).unwrap();
        assert_eq!(
            (growing.first_p99_ms, growing.last_p99_ms, growing.growth),
            (2.0, 5.0, 2.5)
        );
    }
}
