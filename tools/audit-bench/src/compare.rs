//! Comparison of two server binaries, measured in turns on the same machine.
//!
//! Both servers run throughout, each on a database of its own with the same events. A round measures one and then the other.
//! Every other round reverses the order, so that a drift of the machine's speed affects both alike.

use crate::arguments::{CompareOptions, Measurement};
use crate::checks::Proofs;
use crate::generator::{End, QueriesJob, QueryReport, Traffic};
use crate::machine::{Machine, cpu_seconds, now_ms};
use crate::plan::{LOAD_BATCH, LOAD_CONNECTIONS, Plan, SINGLES_CONNECTIONS};
use crate::print;
use crate::results::{Phase, median, ratio};
use crate::run::run_queries;
use crate::service::database::DatabaseKind;
use crate::service::process::Folder;
use crate::service::{Cluster, Database, server_binary};
use crate::system_under_test::SystemUnderTest;
use crate::workload::RunTimes;
use anyhow::Context;
use std::path::Path;

/// Requests of each query in a round.
const ROUND_QUERY_REQUESTS: u32 = 20;
/// Proofs requested in a round.
const ROUND_PROOF_REQUESTS: usize = 2_000;

/// A measured quantity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    pub(crate) name: String,
    /// Baseline and candidate in each round.
    pub(crate) rounds: Vec<[f64; 2]>,
}

impl Figure {
    fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            rounds: Vec::new(),
        }
    }

    pub(crate) fn baseline(&self) -> f64 {
        median(self.rounds.iter().map(|[baseline, _]| *baseline).collect())
    }

    pub(crate) fn candidate(&self) -> f64 {
        median(self.rounds.iter().map(|[_, candidate]| *candidate).collect())
    }

    /// Change from baseline to candidate, as a share of the baseline.
    pub(crate) fn changes(&self) -> Changes {
        let change = |[baseline, candidate]: &[f64; 2]| ratio(candidate - baseline, *baseline);
        let mut changes: Vec<f64> = self.rounds.iter().map(change).collect();
        changes.sort_by(f64::total_cmp);
        let at = |quarter: usize| {
            let last = changes.len().saturating_sub(1);
            changes.get((last * quarter + 2) / 4).copied().unwrap_or_default()
        };
        Changes {
            least: at(0),
            lower_quartile: at(1),
            upper_quartile: at(3),
            greatest: at(4),
            median: median(changes),
        }
    }
}

/// The changes of the rounds, from the least to the greatest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Changes {
    pub(crate) least: f64,
    pub(crate) lower_quartile: f64,
    pub(crate) median: f64,
    pub(crate) upper_quartile: f64,
    pub(crate) greatest: f64,
}

/// Runs the comparison and prints its table.
pub(crate) fn compare(options: &CompareOptions) -> anyhow::Result<()> {
    let plan = Plan::comparison(options.events, options.seconds)?;
    let baseline = server_binary(Some(&options.baseline))?;
    let candidate = server_binary(options.candidate.as_deref())?;
    let folder = Folder::create(options.location.folder.as_deref())?;
    // Stops when it is dropped, so it is kept until the end.
    let cluster;
    let database = match options.database {
        DatabaseKind::Sqlite => Database::sqlite(folder.path()),
        DatabaseKind::Postgres => {
            cluster = Cluster::start(options.location.postgres_url.as_deref(), folder.path())
                .context("cannot start PostgreSQL")?;
            Database::postgres(&cluster)?
        }
    };
    let candidate_folder = folder.path().join("candidate");
    std::fs::create_dir(&candidate_folder)?;
    let candidate_database = database.another(&candidate_folder)?;
    let machine = Machine::describe(folder.path())?;
    print::progress(&format!("{}: {}", database.kind().title(), machine.line()))?;

    let times = RunTimes { began_ms: now_ms() };
    let start =
        |binary: &Path, database, folder| SystemUnderTest::start(binary, database, folder, &plan, times);
    let mut systems = [
        start(&baseline, &database, folder.path())?,
        start(&candidate, &candidate_database, &candidate_folder)?,
    ];
    let figures = measure(&mut systems, options)
        .with_context(|| systems.each_ref().map(|system| system.log()).join("\n"))?;
    let title = format!(
        "\n# Comparison on {}, {} events\n\n{}\nbaseline: {}\ncandidate: {}\n\n",
        database.version()?,
        options.events,
        machine.line(),
        baseline.display(),
        candidate.display()
    );
    print::print(&(title + &print::comparison(&figures)))
}

fn measure(systems: &mut [SystemUnderTest<'_>; 2], options: &CompareOptions) -> anyhow::Result<Vec<Figure>> {
    for system in systems.iter_mut() {
        system.load(options.events)?;
        system.database.vacuum_and_checkpoint()?;
    }
    let mut figures = Vec::new();
    // Ingest comes last: it adds more events to the faster server.
    for measurement in [Measurement::Query, Measurement::Proof, Measurement::Ingest] {
        if options.only.contains(&measurement) {
            figures.extend(match measurement {
                Measurement::Query => queries(systems, options.rounds)?,
                Measurement::Proof => proofs(systems, options.rounds)?,
                Measurement::Ingest => ingest(systems, options.rounds)?,
            });
        }
    }
    Ok(figures)
}

/// Calls `measure` for both systems in each round. Its values are those of `names`, in this order.
fn in_turns<'a, const N: usize>(
    systems: &mut [SystemUnderTest<'a>; 2],
    rounds: u32,
    names: [String; N],
    mut measure: impl FnMut(&mut SystemUnderTest<'a>) -> anyhow::Result<[f64; N]>,
) -> anyhow::Result<Vec<Figure>> {
    let mut figures = names.map(Figure::new);
    for round in 0..rounds {
        let mut measured = [[0.0; N]; 2];
        for index in turn_order(round) {
            measured[index] = measure(&mut systems[index])?;
        }
        add_round(&mut figures, measured);
    }
    Ok(figures.into())
}

/// Appends the values of the baseline and of the candidate to the figures.
fn add_round<const N: usize>(figures: &mut [Figure; N], [baseline, candidate]: [[f64; N]; 2]) {
    for (figure, values) in figures.iter_mut().zip(baseline.into_iter().zip(candidate)) {
        figure.rounds.push(values.into());
    }
}

/// Baseline first in the even rounds, candidate first in the odd ones.
fn turn_order(round: u32) -> [usize; 2] {
    if round.is_multiple_of(2) { [0, 1] } else { [1, 0] }
}

fn ingest(systems: &mut [SystemUnderTest<'_>; 2], rounds: u32) -> anyhow::Result<Vec<Figure>> {
    let loads = [
        ("batches of 100, 16 connections", LOAD_BATCH, LOAD_CONNECTIONS),
        ("single events, 64 connections", 1, SINGLES_CONNECTIONS),
    ];
    let mut figures = Vec::new();
    for (title, batch, connections) in loads {
        print::progress(title)?;
        let columns = ["events/s", "p50 ms", "p99 ms", "server µs/event", "peak MiB"];
        let names = columns.map(|column| format!("{title}: {column}"));
        figures.extend(in_turns(systems, rounds, names, |system| {
            let end = End::AfterMs {
                warm_up_ms: system.plan.warm_up_ms,
                measured_ms: system.plan.ingest_ms,
            };
            let traffic = Traffic::Events(system.bodies(batch));
            let phase = system.closed_loop(connections, traffic, end)?;
            Ok(ingest_values(&phase))
        })?);
    }
    Ok(figures)
}

fn ingest_values(phase: &Phase) -> [f64; 5] {
    [
        phase.events_per_second(),
        phase.latency.p50_ms(),
        phase.latency.p99_ms(),
        phase.usage.server_cpu_us.unwrap_or_default(),
        phase.usage.peak_memory_mib.unwrap_or_default(),
    ]
}

fn proofs(systems: &mut [SystemUnderTest<'_>; 2], rounds: u32) -> anyhow::Result<Vec<Figure>> {
    print::progress("proofs of inclusion")?;
    let names = ["proofs: p50 ms", "proofs: p99 ms"].map(str::to_owned);
    in_turns(systems, rounds, names, |system| {
        let proofs = Proofs::measure(&mut system.client()?, ROUND_PROOF_REQUESTS)?;
        Ok([proofs.latency.p50_ms(), proofs.latency.p99_ms()])
    })
}

/// The load generator alternates between both servers request by request.
fn queries(systems: &[SystemUnderTest<'_>; 2], rounds: u32) -> anyhow::Result<Vec<Figure>> {
    let mut figures = QUERY_FIGURES.map(Figure::new);
    for round in 0..rounds {
        let order = turn_order(round);
        let before = cpu_of(systems);
        let (_, reports) = run_queries(&order.map(|index| &systems[index]), |services, _| QueriesJob {
            services,
            requests: ROUND_QUERY_REQUESTS,
            long_tail_requests: 0,
            outlier_requests: 0,
            extra_ms_max: 0,
            rounds: 1,
            round_ms_max: u64::MAX,
        })?;
        let after = cpu_of(systems);
        let mut measured = [[0.0; QUERY_FIGURES.len()]; 2];
        for (index, reports) in order.into_iter().zip(reports) {
            let used = after[index].zip(before[index]);
            measured[index] = query_values(&reports, used.map(|(after, before)| after - before));
        }
        add_round(&mut figures, measured);
    }
    Ok(figures.into())
}

/// The processor time that each server process has used so far, user and system, in seconds.
fn cpu_of(systems: &[SystemUnderTest<'_>; 2]) -> [Option<f64>; 2] {
    systems.each_ref().map(|system| cpu_seconds(system.server.pid()))
}

/// Names of the values that [`query_values`] returns.
const QUERY_FIGURES: [&str; 4] = [
    "queries: mean p50 ms",
    "queries: highest p50 ms",
    "queries: mean of the slowest request, ms",
    "queries: server µs/request",
];

/// `cpu_seconds` is what the server used for all requests of the reports.
fn query_values(reports: &[Option<QueryReport>], cpu_seconds: Option<f64>) -> [f64; QUERY_FIGURES.len()] {
    let requests: u64 = reports
        .iter()
        .flatten()
        .map(|report| u64::from(report.requests))
        .sum();
    let latencies = || reports.iter().flatten().map(|report| report.latency);
    let count = latencies().count() as f64;
    let p50 = latencies().map(|latency| latency.p50_ms());
    let slowest = latencies().map(|latency| f64::from(latency.max_us) / 1_000.0);
    [
        ratio(p50.clone().sum(), count),
        p50.fold(0.0, f64::max),
        ratio(slowest.sum(), count),
        ratio(cpu_seconds.unwrap_or_default() * 1e6, requests as f64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::LatencySummary;

    #[test]
    fn a_change_is_relative_to_the_baseline_of_its_round() {
        let figure = Figure {
            name: "events/s".to_owned(),
            rounds: vec![[100.0, 110.0], [200.0, 190.0], [50.0, 51.0]],
        };
        let changes = figure.changes();
        assert!((changes.least + 0.05).abs() < 1e-9 && (changes.median - 0.02).abs() < 1e-9);
        assert!((changes.greatest - 0.1).abs() < 1e-9, "{changes:?}");
        assert_eq!((figure.baseline(), figure.candidate()), (100.0, 110.0));
    }

    #[test]
    fn one_half_of_the_rounds_lies_between_the_quartiles() {
        let figure = Figure {
            name: "events/s".to_owned(),
            rounds: (0..9).map(|number| [100.0, 100.0 + f64::from(number)]).collect(),
        };
        let changes = figure.changes();
        assert!((changes.lower_quartile - 0.02).abs() < 1e-9, "{changes:?}");
        assert!((changes.upper_quartile - 0.06).abs() < 1e-9, "{changes:?}");
        assert!((changes.least - 0.0).abs() < 1e-9 && (changes.greatest - 0.08).abs() < 1e-9);
    }

    #[test]
    fn the_order_of_the_servers_alternates() {
        assert_eq!([0, 1, 2].map(turn_order), [[0, 1], [1, 0], [0, 1]]);
    }

    #[test]
    fn queries_without_the_requested_page_are_left_out() {
        let report = |p50_us, max_us| {
            Some(QueryReport {
                requests: 20,
                events: 50,
                latency: LatencySummary {
                    p50_us,
                    p99_us: max_us,
                    max_us,
                },
            })
        };
        let values = query_values(&[report(1_000, 2_000), None, report(3_000, 4_000)], Some(0.02));
        assert_eq!(values, [2.0, 3.0, 3.0, 500.0]);
    }
}
