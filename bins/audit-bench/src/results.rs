//! What was measured on one database.

use crate::checks::{Checks, Proofs};
use crate::generator::QueryReport;
use crate::latency::LatencySummary;
use crate::machine::Machine;
use crate::plan::Plan;
use crate::queries::{Expected, QueryKind};
use crate::raw_limit::RawRate;
use crate::service::database::DatabaseKind;
use crate::targets::Verdict;
use anyhow::bail;
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything, as it goes to JSON. The queries go to a file of their own.
#[derive(Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) database: DatabaseKind,
    pub(crate) database_version: String,
    /// Of this program, which is built together with the server.
    pub(crate) version: &'static str,
    /// The commit of the working folder; none outside of a repository.
    pub(crate) commit: Option<String>,
    pub(crate) began_at: String,
    pub(crate) seconds: f64,
    pub(crate) machine: Machine,
    pub(crate) plan: Plan,
    pub(crate) targets: Vec<Verdict>,
    pub(crate) raw: Vec<RawRate>,
    pub(crate) health: Vec<Phase>,
    pub(crate) turns: Vec<Turn>,
    /// The loads, in which the number of events grows.
    pub(crate) loads: Vec<Phase>,
    pub(crate) ingest: Vec<Phase>,
    pub(crate) overload: Vec<Phase>,
    pub(crate) sizes: Vec<Size>,
    /// With the largest size present.
    pub(crate) proofs: Proofs,
    pub(crate) checks: Checks,
    /// What the server wrote to its log, which takes warnings and errors only.
    #[serde(serialize_with = "count")]
    pub(crate) server_log: Vec<String>,
    #[serde(skip)]
    pub(crate) queries: Vec<QueryResult>,
}

/// One flood of requests.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Phase {
    pub(crate) connections: usize,
    /// Events of a request; 0 for `/healthz`.
    pub(crate) batch: usize,
    /// Stored before it began.
    pub(crate) events_before: u64,
    pub(crate) seconds: f64,
    pub(crate) requests: u64,
    pub(crate) events: u64,
    /// Requests that stored nothing, by the status of the answer.
    pub(crate) refused: BTreeMap<u16, u64>,
    /// Hung up on.
    pub(crate) broken: u64,
    pub(crate) latency: LatencySummary,
    pub(crate) usage: Usage,
    /// Events stored since the beginning of the phase, and when.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) windows: Vec<crate::generator::Window>,
}

/// `/healthz` and right after it single events, at the same number of connections.
#[derive(Debug, Serialize)]
pub(crate) struct Turn {
    pub(crate) health: Phase,
    pub(crate) singles: Phase,
}

impl Turn {
    /// Events stored, of the requests that `/healthz` answers in the same time.
    pub(crate) fn share(&self) -> f64 {
        ratio(
            self.singles.events_per_second(),
            self.health.requests_per_second(),
        )
    }
}

/// What it cost. What the machine does not tell is absent.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Usage {
    /// By how much the database grew, over the events that it grew by.
    pub(crate) disk_bytes_per_event: Option<f64>,
    /// What the server sent to the disk, over the same events. Not of PostgreSQL, which does its own writing.
    pub(crate) written_bytes_per_event: Option<f64>,
    /// Processor time of the server, over the same events, or over requests where there are none.
    pub(crate) server_cpu_us: Option<f64>,
    /// Of the process that sends, over measured events or requests.
    pub(crate) generator_cpu_us: Option<f64>,
    /// The most memory that the server held in this phase.
    pub(crate) peak_memory_mib: Option<f64>,
}

impl Phase {
    pub(crate) fn requests_per_second(&self) -> f64 {
        rate(self.requests, self.seconds)
    }

    pub(crate) fn events_per_second(&self) -> f64 {
        rate(self.events, self.seconds)
    }

    /// Those answered with 503, of all requests that were answered.
    pub(crate) fn unavailable_share(&self) -> f64 {
        let refused: u64 = self.refused.values().sum();
        let unavailable = self.refused.get(&503).copied().unwrap_or_default();
        ratio(unavailable as f64, (refused + self.requests) as f64)
    }

    /// Answers with other statuses, and connections that the service closed.
    pub(crate) fn failures(&self) -> u64 {
        let others = self.refused.iter().filter(|(status, _)| **status != 503);
        others.map(|(_, count)| count).sum::<u64>() + self.broken
    }
}

/// A log says the same thing often; the file keeps how many lines there were.
fn count<S: serde::Serializer>(lines: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(lines.len() as u64)
}

fn rate(count: u64, seconds: f64) -> f64 {
    ratio(count as f64, seconds)
}

/// Of an even number the higher one of the two in the middle; 0 of none.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

/// 0 when there is nothing to compare with.
pub(crate) fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The database at one of its sizes.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Size {
    pub(crate) events: u64,
    pub(crate) disk_bytes: u64,
    /// While it was loaded and asked.
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
    /// Events that there are.
    pub(crate) size: u64,
    pub(crate) requests: u32,
    /// Events on the page.
    pub(crate) found: u32,
    #[serde(flatten)]
    pub(crate) latency: LatencySummary,
}

impl QueryResult {
    /// Takes in what was measured with so many events, unless there is no such page.
    pub(crate) fn add(&mut self, size: u64, report: Option<QueryReport>) -> anyhow::Result<()> {
        let Some(QueryReport {
            requests,
            events: found,
            latency,
        }) = report
        else {
            return Ok(());
        };
        let is_wrong = match self.kind.expected {
            Expected::Nothing => found > 0,
            Expected::Something => found == 0,
            Expected::Unknown => false,
        };
        if is_wrong {
            bail!("{:?} finds {found} events, which cannot be", self.kind);
        }
        let place = self.at.partition_point(|at| at.size < size);
        self.at.insert(
            place,
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

    /// p99 at `last` over p99 at `first`; none when it was not measured at both.
    pub(crate) fn growth(&self, (first, last): (u64, u64)) -> Option<f64> {
        let (first, last) = (self.at(first)?, self.at(last)?);
        Some(ratio(last.latency.p99_ms(), first.latency.p99_ms()))
    }

    /// The same of p50.
    pub(crate) fn growth_of_median(&self, (first, last): (u64, u64)) -> Option<f64> {
        let (first, last) = (self.at(first)?, self.at(last)?);
        Some(ratio(last.latency.p50_ms(), first.latency.p50_ms()))
    }
}

impl Results {
    /// The smallest and the largest size that queries were measured at.
    pub(crate) fn ends(&self) -> (u64, u64) {
        let sizes = &self.plan.sizes;
        let end = |size: Option<&u64>| size.copied().unwrap_or_default();
        (end(sizes.first()), end(sizes.last()))
    }

    /// Whether there is more than one size, and so something to compare.
    pub(crate) fn has_growth(&self) -> bool {
        self.plan.sizes.len() > 1
    }

    /// Rows a second of the faster size of transactions.
    pub(crate) fn raw_rows_per_second(&self) -> f64 {
        let rates = self.raw.iter().map(|rate| rate.rows_per_second);
        rates.fold(0.0, f64::max)
    }

    /// The median of what turns come to.
    pub(crate) fn share_of_health(&self) -> f64 {
        median(self.turns.iter().map(Turn::share).collect())
    }

    pub(crate) fn phases(&self) -> impl Iterator<Item = &Phase> {
        let turns = self.turns.iter().map(|turn| &turn.singles);
        [&self.health, &self.loads, &self.ingest, &self.overload]
            .into_iter()
            .flatten()
            .chain(turns)
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
    fn rates_are_per_second_and_shares_of_all_answers() {
        let phase = Phase {
            seconds: 2.0,
            requests: 30,
            events: 3_000,
            refused: BTreeMap::from([(408, 5), (503, 10)]),
            broken: 2,
            ..Phase::default()
        };
        assert_eq!(phase.requests_per_second(), 15.0);
        assert_eq!(phase.events_per_second(), 1_500.0);
        assert_eq!(phase.unavailable_share(), 10.0 / 45.0);
        assert_eq!(phase.failures(), 7);
    }

    #[test]
    fn of_turns_the_median_counts() {
        let phase = |requests, events| Phase {
            seconds: 1.0,
            requests,
            events,
            ..Phase::default()
        };
        let turn = |requests, events| Turn {
            health: phase(requests, 0),
            singles: phase(events, events),
        };
        let turns = [turn(100, 90), turn(100, 20), turn(200, 60)];
        assert_eq!(median(turns.iter().map(Turn::share).collect()), 0.3);
        assert_eq!(median(Vec::new()), 0.0);
    }

    #[test]
    fn growth_is_of_the_last_size_over_the_first() {
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
        assert_eq!(query.growth((10, 1_000)), Some(2.5));
        assert_eq!(query.growth_of_median((10, 1_000)), Some(1.5));
        assert_eq!(query.growth((10, 2_000)), None);
    }
}
