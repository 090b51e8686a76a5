//! What the service promises, and whether it keeps it here.

use crate::checks::{Checks, Proofs};
use crate::plan::SINGLES_CONNECTIONS;
use crate::results::{Phase, QueryResult, Results, ratio};
use crate::service::database::DatabaseKind;
use serde::Serialize;

/// The most by which p99 of a query may grow.
const QUERY_GROWTH_MAX: f64 = 2.0;
const MEMORY_MIB_MAX: f64 = 256.0;
const SINGLES_P99_MS_MAX: f64 = 25.0;
const PROOF_MS_MAX: f64 = 1.0;
const PROOF_BYTES_MAX: f64 = 2_048.0;
/// A quarter of the events that are sent have something to redact, and chance has its share in 200 of them.
const REDACTED_SHARE_MIN: f64 = 0.1;

/// A target and what was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Verdict {
    pub(crate) name: String,
    pub(crate) measured: f64,
    pub(crate) bound: Bound,
    /// What is aimed at beyond the bound.
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

impl Verdict {
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

/// Compares what was measured with the targets of its database.
pub(crate) fn judge(results: &Results) -> Vec<Verdict> {
    let mut verdicts = match results.database {
        DatabaseKind::Sqlite => sqlite(results),
        DatabaseKind::Postgres => postgres(results),
    };
    verdicts.extend(memory(results));
    if results.has_growth() {
        verdicts.push(decline(results));
        verdicts.push(query_growth("p99", QueryResult::growth, results));
        // A p99 tells of disturbances too; this tells of the query.
        verdicts.push(query_growth("p50", QueryResult::growth_of_median, results));
    }
    verdicts.extend(proofs(results));
    verdicts.extend(checks(&results.checks));
    verdicts
}

fn sqlite(results: &Results) -> Vec<Verdict> {
    let raw = results.raw_rows_per_second();
    let singles = at_connections(&results.ingest, 1).cloned().unwrap_or_default();
    vec![
        Verdict::new(
            "batches of 100, of the raw index-free rate",
            ratio(batch_rate_last(results), raw),
            Bound::AtLeast(0.25),
            Some(0.35),
        ),
        Verdict::new(
            "single events at 64 connections, of /healthz, the median of turns",
            results.share_of_health(),
            Bound::AtLeast(0.3),
            Some(0.4),
        ),
        Verdict::new(
            "p99 of single events at 64 connections, ms",
            singles.latency.p99_ms(),
            Bound::AtMost(SINGLES_P99_MS_MAX),
            None,
        ),
    ]
}

fn postgres(results: &Results) -> Vec<Verdict> {
    let singles = at_connections(&results.ingest, 1).map_or(0.0, Phase::events_per_second);
    vec![
        Verdict::new(
            "batches of 100, events/s",
            batch_rate_last(results),
            Bound::AtLeast(18_000.0),
            None,
        ),
        Verdict::new(
            "single events at 64 connections, events/s",
            singles,
            Bound::AtLeast(10_000.0),
            None,
        ),
    ]
}

/// Batches of 100 with the largest size present: the last load.
fn batch_rate_last(results: &Results) -> f64 {
    results.loads.last().map_or(0.0, Phase::events_per_second)
}

/// The first load begins on an empty database and a cold server; the second begins at the smallest size.
fn decline(results: &Results) -> Verdict {
    let first = results.loads.get(1).map_or(0.0, Phase::events_per_second);
    let (smallest, largest) = results.ends();
    Verdict::new(
        format!("batches of 100 at {largest} events, of the rate at {smallest}"),
        ratio(batch_rate_last(results), first),
        Bound::AtLeast(0.8),
        None,
    )
}

fn memory(results: &Results) -> Vec<Verdict> {
    let peak = |name: &str, mib: f64| Verdict::new(name, mib, Bound::AtMost(MEMORY_MIB_MAX), None);
    let of = |phases: &mut dyn Iterator<Item = &Phase>| {
        phases
            .filter_map(|phase| phase.usage.peak_memory_mib)
            .fold(0.0, f64::max)
    };
    let at_sizes = results.sizes.iter().filter_map(|size| size.peak_memory_mib);
    let ordinary = of(&mut results.phases().filter(|phase| phase.connections <= 256));
    let mut verdicts = vec![peak(
        "peak memory of the server, MiB",
        at_sizes.fold(ordinary, f64::max),
    )];
    let overloads = ["of ordinary events", "of bodies of half a megabyte"];
    for (what, phase) in overloads.into_iter().zip(&results.overload) {
        let name = format!("peak memory under overload {what}, MiB");
        verdicts.push(peak(&name, of(&mut std::iter::once(phase))));
    }
    verdicts
}

fn proofs(results: &Results) -> [Verdict; 3] {
    let (_, largest) = results.ends();
    let Proofs { latency, bytes_max } = results.proofs;
    let took = |name: &str, milliseconds| {
        let name = format!("{name} of a proof of inclusion at {largest} events, ms");
        Verdict::new(name, milliseconds, Bound::AtMost(PROOF_MS_MAX), None)
    };
    [
        took("p50", latency.p50_ms()),
        took("p99", latency.p99_ms()),
        Verdict::new(
            "bytes of the longest proof of inclusion",
            bytes_max as f64,
            Bound::AtMost(PROOF_BYTES_MAX),
            None,
        ),
    ]
}

/// A service that leaves work out is fast. It was not left out when these are met.
fn checks(checks: &Checks) -> [Verdict; 3] {
    let least = |name: &str, measured, least| Verdict::new(name, measured, Bound::AtLeast(least), None);
    [
        least(
            "redaction on: share of the newest events that it changed",
            checks.redacted_share,
            REDACTED_SHARE_MIN,
        ),
        least("alert rules on: alerts, on one page", checks.alerts as f64, 1.0),
        least(
            "idempotency on: a repeated event is recognised",
            f64::from(u8::from(checks.is_repeat_recognised)),
            1.0,
        ),
    ]
}

/// The worst of all queries.
fn query_growth(
    name: &str,
    growth: fn(&QueryResult, (u64, u64)) -> Option<f64>,
    results: &Results,
) -> Verdict {
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
        "{name} of the query that grows most, {largest} over {smallest} events ({over} of {all} grow too much)"
    );
    Verdict::new(name, worst, Bound::AtMost(QUERY_GROWTH_MAX), None)
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
    fn a_bound_is_met_when_it_is_reached() {
        let met = |measured, bound| Verdict::new("a", measured, bound, None).is_met;
        assert!(met(0.25, Bound::AtLeast(0.25)) && !met(0.249, Bound::AtLeast(0.25)));
        assert!(met(25.0, Bound::AtMost(25.0)) && !met(25.1, Bound::AtMost(25.0)));
    }

    #[test]
    fn the_phase_that_is_judged_is_found() {
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
