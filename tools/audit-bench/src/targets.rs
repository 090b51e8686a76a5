//! The targets of the service, and whether a run meets them.

use crate::checks::{Checks, Proofs};
use crate::plan::SINGLES_CONNECTIONS;
use crate::raw_limit::Layout;
use crate::results::{Phase, QueryResult, Results, ratio};
use crate::service::database::DatabaseKind;
use serde::Serialize;

/// Upper limit of the growth of a query's p99 and p50.
const QUERY_GROWTH_MAX: f64 = 2.0;
const MEMORY_MIB_MAX: f64 = 256.0;
const SINGLES_P99_MS_MAX: f64 = 25.0;
const PROOF_MS_MAX: f64 = 1.0;
const PROOF_BYTES_MAX: f64 = 2_048.0;
/// A quarter of the events contain something to redact. The limit allows for the variance of a sample of 200.
const REDACTED_SHARE_MIN: f64 = 0.1;

/// A target and the measured value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TargetCheck {
    pub(crate) name: String,
    pub(crate) measured: f64,
    pub(crate) bound: Bound,
    /// Desired value beyond the bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) aim: Option<f64>,
    pub(crate) is_met: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl TargetCheck {
    fn new(name: impl Into<String>, measured: f64, bound: Bound, aim: Option<f64>) -> Self {
        let is_met = match bound {
            Bound::AtLeast(least) => measured >= least,
            Bound::AtMost(most) => measured <= most,
        };
        Self {
            name: name.into(),
            measured,
            bound,
            aim,
            is_met,
        }
    }
}

/// Checks the targets of the database of this run.
pub(crate) fn check(results: &Results) -> Vec<TargetCheck> {
    let mut checks = match results.database {
        DatabaseKind::Sqlite => sqlite(results),
        DatabaseKind::Postgres => postgres(results),
    };
    checks.extend(memory(results));
    if results.has_growth() {
        checks.push(decline(results));
        checks.push(query_growth("p99", QueryResult::p99_growth, results));
        // Disturbances of the machine affect p99, but hardly p50.
        checks.push(query_growth("p50", QueryResult::p50_growth, results));
    }
    checks.extend(proofs(results));
    checks.extend(features(&results.checks));
    checks
}

fn sqlite(results: &Results) -> Vec<TargetCheck> {
    let raw = results.rows_per_second(Layout::Raw);
    let singles = at_connections(&results.ingest, 1).cloned().unwrap_or_default();
    vec![
        TargetCheck::new(
            "batches of 100, ratio to raw inserts",
            ratio(batch_rate_last(results), raw),
            Bound::AtLeast(0.25),
            Some(0.35),
        ),
        TargetCheck::new(
            "single events at 64 connections, ratio to /healthz, median",
            results.share_of_health(),
            Bound::AtLeast(0.3),
            Some(0.4),
        ),
        TargetCheck::new(
            "p99 of single events at 64 connections, ms",
            singles.latency.p99_ms(),
            Bound::AtMost(SINGLES_P99_MS_MAX),
            None,
        ),
    ]
}

fn postgres(results: &Results) -> Vec<TargetCheck> {
    let singles = at_connections(&results.ingest, 1).map_or(0.0, Phase::events_per_second);
    vec![
        TargetCheck::new(
            "batches of 100, events/s",
            batch_rate_last(results),
            Bound::AtLeast(18_000.0),
            None,
        ),
        TargetCheck::new(
            "single events at 64 connections, events/s",
            singles,
            Bound::AtLeast(10_000.0),
            None,
        ),
    ]
}

/// Batches of 100 at the largest size: the last load.
fn batch_rate_last(results: &Results) -> f64 {
    results.loads.last().map_or(0.0, Phase::events_per_second)
}

/// The rate of the last load over that of the second. The first load has an empty database and a cold server; the second
/// starts at the smallest size.
fn decline(results: &Results) -> TargetCheck {
    let first = results.loads.get(1).map_or(0.0, Phase::events_per_second);
    let (smallest, largest) = results.ends();
    TargetCheck::new(
        format!("batches of 100, rate at {largest} events over rate at {smallest}"),
        ratio(batch_rate_last(results), first),
        Bound::AtLeast(0.8),
        None,
    )
}

fn memory(results: &Results) -> Vec<TargetCheck> {
    let peak = |name: &str, mib: f64| TargetCheck::new(name, mib, Bound::AtMost(MEMORY_MIB_MAX), None);
    let of = |phases: &mut dyn Iterator<Item = &Phase>| {
        phases
            .filter_map(|phase| phase.usage.peak_memory_mib)
            .fold(0.0, f64::max)
    };
    let at_sizes = results.sizes.iter().filter_map(|size| size.peak_memory_mib);
    let ordinary = of(&mut results.phases().filter(|phase| phase.connections <= 256));
    let mut checks = vec![peak(
        "peak memory of the server, MiB",
        at_sizes.fold(ordinary, f64::max),
    )];
    let overloads = ["ordinary events", "bodies of 500 KB"];
    for (load, phase) in overloads.into_iter().zip(&results.overload) {
        let name = format!("peak memory under overload, {load}, MiB");
        checks.push(peak(&name, of(&mut std::iter::once(phase))));
    }
    checks
}

fn proofs(results: &Results) -> [TargetCheck; 3] {
    let (_, largest) = results.ends();
    let Proofs { latency, bytes_max } = results.proofs;
    let took = |name: &str, milliseconds| {
        let name = format!("proof of inclusion at {largest} events, {name}, ms");
        TargetCheck::new(name, milliseconds, Bound::AtMost(PROOF_MS_MAX), None)
    };
    [
        took("p50", latency.p50_ms()),
        took("p99", latency.p99_ms()),
        TargetCheck::new(
            "longest proof of inclusion, bytes",
            bytes_max as f64,
            Bound::AtMost(PROOF_BYTES_MAX),
            None,
        ),
    ]
}

/// Features whose omission would make ingest faster.
fn features(checks: &Checks) -> [TargetCheck; 3] {
    let least = |name: &str, measured, least| TargetCheck::new(name, measured, Bound::AtLeast(least), None);
    [
        least(
            "redaction active: share of the newest events redacted",
            checks.redacted_share,
            REDACTED_SHARE_MIN,
        ),
        least(
            "alert rules active: alerts on one page",
            checks.alerts as f64,
            1.0,
        ),
        least(
            "idempotency active: repeated event detected",
            f64::from(u8::from(checks.is_repeat_detected)),
            1.0,
        ),
    ]
}

/// Of the query that grows most.
fn query_growth(
    percentile: &str,
    growth: fn(&QueryResult, (u64, u64)) -> Option<f64>,
    results: &Results,
) -> TargetCheck {
    let (smallest, largest) = results.ends();
    let (mut worst, mut over, mut all) = (0.0_f64, 0, 0);
    for growth in results
        .queries
        .iter()
        .filter_map(|query| growth(query, results.ends()))
    {
        worst = worst.max(growth);
        over += usize::from(growth > QUERY_GROWTH_MAX);
        all += 1;
    }
    let name = format!(
        "highest growth of query {percentile}, {largest} over {smallest} events ({over} of {all} exceed the limit)"
    );
    TargetCheck::new(name, worst, Bound::AtMost(QUERY_GROWTH_MAX), None)
}

/// The phase at [`SINGLES_CONNECTIONS`] with this batch.
fn at_connections(phases: &[Phase], batch: usize) -> Option<&Phase> {
    let mut phases = phases.iter();
    phases.find(|phase| phase.connections == SINGLES_CONNECTIONS && phase.batch == batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_inclusive() {
        let met = |measured, bound| TargetCheck::new("a", measured, bound, None).is_met;
        assert!(met(0.25, Bound::AtLeast(0.25)) && !met(0.249, Bound::AtLeast(0.25)));
        assert!(met(25.0, Bound::AtMost(25.0)) && !met(25.1, Bound::AtMost(25.0)));
    }

    #[test]
    fn a_phase_is_found_by_connections_and_batch() {
        let phase = |connections, batch| Phase {
            connections,
            batch,
            ..Phase::default()
        };
        let phases = [phase(16, 1), phase(64, 10), phase(64, 1)];
        assert_eq!(at_connections(&phases, 1).map(|phase| phase.batch), Some(1));
        assert!(at_connections(&phases, 100).is_none());
    }
}
