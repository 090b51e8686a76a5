//! A full run on one database, phase by phase.

use crate::checks::{Checks, Proofs};
use crate::generator::{self, End, Job, QueriedService, QueriesJob, QueryReport, Report, Traffic};
use crate::machine::{Machine, now_ms};
use crate::plan::{
    BATCHES, CONNECTIONS, LOAD_BATCH, OVERLOAD_CONNECTIONS, OVERLOAD_PADDING_BYTES, PROOF_REQUESTS, Plan,
    QUERY_ROUNDS, SINGLES_CONNECTIONS,
};
use crate::queries::{QueryKind, QueryTimes, kinds};
use crate::raw_limit;
use crate::results::{AlternatingRound, Phase, QueryResult, Results, Size};
use crate::service::Database;
use crate::system_under_test::SystemUnderTest;
use crate::workload::{BodyOptions, RunTimes, timestamp_text};
use crate::{print, targets};
use anyhow::{Context, bail};
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs all phases on an empty database.
pub(crate) fn run(
    binary: &Path,
    database: &Database,
    folder: &Path,
    plan: &Plan,
    commit: Option<String>,
) -> anyhow::Result<Results> {
    let (began, began_ms) = (Instant::now(), now_ms());
    let machine = Machine::describe(folder)?;
    print::progress(&format!("{}: {}", database.kind().title(), machine.line()))?;
    let times = RunTimes { began_ms };
    let mut system = SystemUnderTest::start(binary, database, folder, plan, times)?;
    let mut results = empty_results(database, plan, commit, machine, began_ms)?;
    run_phases(&mut system, &mut results, binary, folder).with_context(|| system.log())?;
    results.server_log = system.server.log().lines().map(str::to_owned).collect();
    results.seconds = began.elapsed().as_secs_f64();
    results.targets = targets::check(&results);
    Ok(results)
}

/// Loads an empty database up to each size and measures the queries there, and nothing else.
pub(crate) fn run_queries_only(
    binary: &Path,
    database: &Database,
    folder: &Path,
    plan: &Plan,
) -> anyhow::Result<Results> {
    let began_ms = now_ms();
    let mut system = SystemUnderTest::start(binary, database, folder, plan, RunTimes { began_ms })?;
    let machine = Machine::describe(folder)?;
    let mut results = empty_results(database, plan, None, machine, began_ms)?;
    load_and_query(&mut system, &mut results, binary, folder).with_context(|| system.log())?;
    Ok(results)
}

fn empty_results(
    database: &Database,
    plan: &Plan,
    commit: Option<String>,
    machine: Machine,
    began_ms: i64,
) -> anyhow::Result<Results> {
    Ok(Results {
        database: database.kind(),
        database_version: database.version()?,
        version: env!("CARGO_PKG_VERSION"),
        commit,
        began_at: timestamp_text(began_ms),
        seconds: 0.0,
        machine,
        plan: plan.clone(),
        targets: Vec::new(),
        raw: Vec::new(),
        health: Vec::new(),
        alternating: Vec::new(),
        loads: Vec::new(),
        ingest: Vec::new(),
        overload: Vec::new(),
        sizes: Vec::new(),
        proofs: Proofs::default(),
        checks: Checks::default(),
        server_log: Vec::new(),
        queries: Vec::new(),
    })
}

fn run_phases(
    system: &mut SystemUnderTest<'_>,
    results: &mut Results,
    binary: &Path,
    folder: &Path,
) -> anyhow::Result<()> {
    load_and_query(system, results, binary, folder)?;
    print::progress("proofs of inclusion")?;
    results.proofs = Proofs::measure(&mut system.client()?, PROOF_REQUESTS)?;
    let size = system.events_stored + system.plan.events_beyond();
    results.loads.push(system.load(size)?);
    // Directly after the load that it is compared with, because the speed of the machine varies over a run. Not before
    // it: a saturated disk stays slow for a while, and the next phase does not write.
    results.raw = raw_limit(system, folder)?;
    system.database.vacuum_and_checkpoint()?;
    results.health = health(system)?;
    results.alternating = alternating(system)?;
    results.ingest = ingest(system)?;
    results.overload = overload(system)?;
    results.checks = Checks::read(&mut system.client()?)?;
    Ok(())
}

/// Loads up to each size and measures the queries there. A second server holds the smallest size, so that its queries
/// alternate with those at the largest.
fn load_and_query(
    system: &mut SystemUnderTest<'_>,
    results: &mut Results,
    binary: &Path,
    folder: &Path,
) -> anyhow::Result<()> {
    let (smallest, largest) = results.ends();
    let small_folder = folder.join("small");
    std::fs::create_dir(&small_folder)?;
    let small_database = system.database.another(&small_folder)?;
    let mut small =
        SystemUnderTest::start(binary, &small_database, &small_folder, system.plan, system.times)?;
    if results.has_growth() {
        small.load(smallest)?;
    }
    for size in system.plan.sizes.clone() {
        system.reset_peak_memory();
        results.loads.push(system.load(size)?);
        system.database.vacuum_and_checkpoint()?;
        match results.has_growth() {
            true if size == largest => query(&[&small, system], &mut results.queries)?,
            true if size == smallest => {}
            _ => query(&[system], &mut results.queries)?,
        }
        results.sizes.push(Size {
            events: system.events_stored,
            disk_bytes: system.disk_bytes,
            peak_memory_mib: system.peak_memory_mib(),
        });
    }
    Ok(())
}

fn raw_limit(system: &SystemUnderTest<'_>, folder: &Path) -> anyhow::Result<Vec<raw_limit::RawRate>> {
    print::progress("raw inserts into a table without an index")?;
    let stored = raw_limit::read_stored(&mut system.client()?)?;
    let time = Duration::from_millis(system.plan.limit_ms);
    raw_limit::measure(system.database, folder, &stored, time)
}

fn health(system: &mut SystemUnderTest<'_>) -> anyhow::Result<Vec<Phase>> {
    print::progress("/healthz")?;
    let end = timed(system.plan, system.plan.limit_ms);
    let phases = CONNECTIONS
        .iter()
        .map(|connections| system.closed_loop(*connections, Traffic::Health, end));
    phases.collect()
}

/// Alternates because the speed of the machine varies over a run, which would distort the ratio of two separate phases.
fn alternating(system: &mut SystemUnderTest<'_>) -> anyhow::Result<Vec<AlternatingRound>> {
    print::progress("/healthz and single events, alternating")?;
    let end = End::AfterMs {
        warm_up_ms: system.plan.alternating_ms / 5,
        measured_ms: system.plan.alternating_ms,
    };
    let mut rounds = Vec::new();
    for _ in 0..system.plan.alternating_rounds {
        let singles = Traffic::Events(system.bodies(1));
        rounds.push(AlternatingRound {
            health: system.closed_loop(SINGLES_CONNECTIONS, Traffic::Health, end)?,
            singles: system.closed_loop(SINGLES_CONNECTIONS, singles, end)?,
        });
    }
    Ok(rounds)
}

/// Every batch size at every number of connections. The largest batches come last, because they add the most events.
fn ingest(system: &mut SystemUnderTest<'_>) -> anyhow::Result<Vec<Phase>> {
    let end = timed(system.plan, system.plan.ingest_ms);
    let mut phases = Vec::new();
    for batch in BATCHES {
        for connections in CONNECTIONS {
            print::progress(&format!("batches of {batch}, {connections} connections"))?;
            let traffic = Traffic::Events(system.bodies(*batch));
            phases.push(system.closed_loop(*connections, traffic, end)?);
        }
    }
    Ok(phases)
}

/// More load than capacity: first ordinary events, then bodies of 500 KB.
fn overload(system: &mut SystemUnderTest<'_>) -> anyhow::Result<Vec<Phase>> {
    let end = timed(system.plan, system.plan.overload_ms);
    let mut phases = Vec::new();
    for padding_bytes in [0, OVERLOAD_PADDING_BYTES] {
        print::progress(&format!(
            "overload, {padding_bytes} bytes of additional metadata per event"
        ))?;
        let traffic = Traffic::Events(BodyOptions {
            padding_bytes,
            ..system.bodies(LOAD_BATCH)
        });
        phases.push(system.closed_loop(OVERLOAD_CONNECTIONS, traffic, end)?);
    }
    Ok(phases)
}

fn timed(plan: &Plan, measured_ms: u64) -> End {
    End::AfterMs {
        warm_up_ms: plan.warm_up_ms,
        measured_ms,
    }
}

/// Sends every query to all systems in turn, and adds the measurements to those at other sizes.
fn query(systems: &[&SystemUnderTest<'_>], results: &mut Vec<QueryResult>) -> anyhow::Result<()> {
    let (kinds, reports) = run_queries(systems, |services, plan| QueriesJob {
        requests: plan.query_requests,
        long_tail_requests: plan.query_long_tail_requests,
        outlier_requests: plan.query_outlier_requests,
        rounds: QUERY_ROUNDS,
        round_ms_max: plan.query_round_ms_max,
        extra_ms_max: plan.query_extra_ms_max * services.len() as u64,
        services,
    })?;
    if results.is_empty() {
        let empty = |kind| QueryResult { kind, at: Vec::new() };
        results.extend(kinds.into_iter().map(empty));
    }
    for (system, reports) in systems.iter().zip(reports) {
        for (result, report) in results.iter_mut().zip(reports) {
            result.add(system.events_stored, report)?;
        }
    }
    Ok(())
}

/// The reports by system, in the order of the queries; see [`Report::Queries`].
pub(crate) type QueryReports = Vec<Vec<Option<QueryReport>>>;

/// Runs the job that `job` makes of the systems' queries.
pub(crate) fn run_queries(
    systems: &[&SystemUnderTest<'_>],
    job: impl FnOnce(Vec<QueriedService>, &Plan) -> QueriesJob,
) -> anyhow::Result<(Vec<QueryKind>, QueryReports)> {
    let plan = systems.first().context("there is no service to query")?.plan;
    let (mut services, mut all_kinds) = (Vec::new(), Vec::new());
    for system in systems {
        let times = QueryTimes::read(system.times, now_ms(), &mut system.client()?)?;
        let queries;
        (all_kinds, queries) = kinds(&times).into_iter().unzip();
        services.push(QueriedService {
            address: system.server.address(),
            project_key: system.server.project_key().to_owned(),
            queries,
        });
    }
    let sizes: Vec<String> = systems
        .iter()
        .map(|system| system.events_stored.to_string())
        .collect();
    print::progress(&format!(
        "{} queries over {} events",
        all_kinds.len(),
        sizes.join(" and ")
    ))?;
    let Report::Queries(reports) = generator::run(&Job::Queries(job(services, plan)))? else {
        bail!("the load generator sent a report of another job");
    };
    Ok((all_kinds, reports))
}
