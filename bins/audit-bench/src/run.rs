//! One run on one database, phase by phase.

use crate::checks::{Checks, Proofs};
use crate::generator::{
    AskedService, End, FloodOrder, FloodReport, Order, PageReader, QueriesOrder, Report, Traffic, send,
};
use crate::machine::{Machine, cpu_seconds, forget_peak, now_ms, peak_memory_kib, written_bytes};
use crate::plan::{
    BATCHES, CONNECTIONS, LOAD_BATCH, LOAD_CONNECTIONS, OVERLOAD_CONNECTIONS, OVERLOAD_PADDING_BYTES, Plan,
    QUERY_ROUNDS, SINGLES_CONNECTIONS,
};
use crate::queries::{Times, kinds};
use crate::raw_limit;
use crate::results::{Phase, QueryResult, Results, Size, Turn, Usage, ratio};
use crate::service::{Database, Server};
use crate::workload::{BodyOptions, Epoch, timestamp_text};
use crate::{print, targets};
use anyhow::{Context, bail};
use std::path::Path;
use std::time::{Duration, Instant};

/// How many windows the longest load is reported in.
const LOAD_WINDOWS: u64 = 45;

/// A run on the way.
struct Run<'a> {
    plan: &'a Plan,
    database: &'a Database,
    server: Server,
    epoch: Epoch,
    next_number: u64,
    events_stored: u64,
    disk_bytes: u64,
}

/// Measures everything on an empty database.
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
    let epoch = Epoch { began_ms };
    let mut run = Run::start(binary, database, folder, plan, epoch)?;
    let mut results = Results {
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
        turns: Vec::new(),
        loads: Vec::new(),
        ingest: Vec::new(),
        overload: Vec::new(),
        sizes: Vec::new(),
        proofs: Proofs::default(),
        checks: Checks::default(),
        server_log: Vec::new(),
        queries: Vec::new(),
    };
    run.grow(&mut results, binary, folder)
        .with_context(|| run.log())?;
    results.health = run.health().with_context(|| run.log())?;
    results.turns = run.turns().with_context(|| run.log())?;
    results.ingest = run.ingest().with_context(|| run.log())?;
    results.overload = run.overload().with_context(|| run.log())?;
    results.checks = Checks::read(&mut run.reader()?).with_context(|| run.log())?;
    results.server_log = run.server.log().lines().map(str::to_owned).collect();
    results.seconds = began.elapsed().as_secs_f64();
    results.targets = targets::judge(&results);
    Ok(results)
}

impl<'a> Run<'a> {
    /// A server on an empty database.
    fn start(
        binary: &Path,
        database: &'a Database,
        folder: &Path,
        plan: &'a Plan,
        epoch: Epoch,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            plan,
            database,
            server: Server::start(binary, database, folder)?,
            epoch,
            next_number: 0,
            events_stored: 0,
            disk_bytes: database.disk_bytes()?,
        })
    }

    fn health(&mut self) -> anyhow::Result<Vec<Phase>> {
        print::progress("/healthz")?;
        let end = self.measured(self.plan.limit_ms);
        let phases = CONNECTIONS
            .iter()
            .map(|connections| self.flood(*connections, Traffic::Health, end));
        phases.collect()
    }

    /// One after the other several times: what else the machine does changes over a run, and would be taken for one of
    /// the two.
    fn turns(&mut self) -> anyhow::Result<Vec<Turn>> {
        print::progress("/healthz and single events in turns")?;
        let end = End::AfterMs {
            warm_up_ms: self.plan.turn_ms / 5,
            measured_ms: self.plan.turn_ms,
        };
        let mut turns = Vec::new();
        for _ in 0..self.plan.turns {
            let singles = Traffic::Events(self.bodies(1));
            turns.push(Turn {
                health: self.flood(SINGLES_CONNECTIONS, Traffic::Health, end)?,
                singles: self.flood(SINGLES_CONNECTIONS, singles, end)?,
            });
        }
        Ok(turns)
    }

    /// Loads up to each size, and asks the queries there. Those of the smallest size are asked of another service, in turns
    /// with those of the largest.
    fn grow(&mut self, results: &mut Results, binary: &Path, folder: &Path) -> anyhow::Result<()> {
        let (smallest, largest) = results.ends();
        let small_folder = folder.join("small");
        std::fs::create_dir(&small_folder)?;
        let small_database = self.database.another(&small_folder)?;
        let mut small = Run::start(binary, &small_database, &small_folder, self.plan, self.epoch)?;
        if results.has_growth() {
            small.load(smallest)?;
        }
        for size in self.plan.sizes.clone() {
            self.forget_peak();
            results.loads.push(self.load(size)?);
            self.database.settle()?;
            match results.has_growth() {
                true if size == largest => query(&[&small, self], &mut results.queries)?,
                true if size == smallest => {}
                _ => query(&[self], &mut results.queries)?,
            }
            results.sizes.push(Size {
                events: self.events_stored,
                disk_bytes: self.disk_bytes,
                peak_memory_mib: self.peak_memory_mib(),
            });
        }
        drop(small);
        drop(small_database);
        print::progress("proofs of inclusion")?;
        results.proofs = Proofs::measure(&mut self.reader()?)?;
        let size = self.events_stored + self.plan.events_beyond();
        results.loads.push(self.load(size)?);
        // Right after the load that is compared with it: what else the machine does changes over a run. Not before it: a disk
        // that was written to as fast as it can be needs a while, and what comes next does not write.
        results.raw = self.raw(folder)?;
        self.database.settle()?;
        Ok(())
    }

    fn load(&mut self, size: u64) -> anyhow::Result<Phase> {
        print::progress(&format!("loading up to {size} events"))?;
        let events = size - self.events_stored;
        let options = BodyOptions {
            has_rare: self.events_stored == 0,
            has_imports: true,
            ..self.bodies(LOAD_BATCH)
        };
        let phase = self.flood(
            LOAD_CONNECTIONS,
            Traffic::Events(options),
            End::AfterEvents(events),
        )?;
        if self.events_stored != size {
            bail!("{} events are stored instead of {size}", self.events_stored);
        }
        Ok(phase)
    }

    fn raw(&self, folder: &Path) -> anyhow::Result<Vec<raw_limit::RawRate>> {
        print::progress("the same rows into a table without an index")?;
        let mut reader = self.reader()?;
        let stored = raw_limit::read_stored(&mut reader)?;
        let time = Duration::from_millis(self.plan.limit_ms);
        raw_limit::measure(self.database, folder, &stored, time)
    }

    /// Every batch size at every number of connections. The largest batches come last, since they add most events.
    fn ingest(&mut self) -> anyhow::Result<Vec<Phase>> {
        let end = self.measured(self.plan.ingest_ms);
        let mut phases = Vec::new();
        for batch in BATCHES {
            for connections in CONNECTIONS {
                print::progress(&format!("batches of {batch}, connections: {connections}"))?;
                let traffic = Traffic::Events(self.bodies(*batch));
                phases.push(self.flood(*connections, traffic, end)?);
            }
        }
        Ok(phases)
    }

    /// More than can be served: first ordinary events, then such as fill bodies of half a megabyte.
    fn overload(&mut self) -> anyhow::Result<Vec<Phase>> {
        let end = self.measured(self.plan.overload_ms);
        let mut phases = Vec::new();
        for padding_bytes in [0, OVERLOAD_PADDING_BYTES] {
            print::progress(&format!(
                "overload, {padding_bytes} bytes of details in each event"
            ))?;
            let traffic = Traffic::Events(BodyOptions {
                padding_bytes,
                ..self.bodies(LOAD_BATCH)
            });
            phases.push(self.flood(OVERLOAD_CONNECTIONS, traffic, end)?);
        }
        Ok(phases)
    }

    fn measured(&self, measured_ms: u64) -> End {
        End::AfterMs {
            warm_up_ms: self.plan.warm_up_ms,
            measured_ms,
        }
    }

    fn bodies(&self, batch: usize) -> BodyOptions {
        BodyOptions {
            batch,
            first_number: self.next_number,
            epoch: self.epoch,
            has_rare: false,
            has_imports: false,
            padding_bytes: 0,
        }
    }

    /// Lets the sending process work, and takes note of what it cost the server.
    fn flood(&mut self, connections: usize, traffic: Traffic, end: End) -> anyhow::Result<Phase> {
        let batch = match &traffic {
            Traffic::Health => 0,
            Traffic::Events(options) => options.batch,
        };
        let is_load = matches!(end, End::AfterEvents(_));
        let order = Order::Flood(FloodOrder {
            address: self.server.address(),
            project_key: self.server.project_key().to_owned(),
            connections,
            traffic,
            end,
            window_events: is_load.then_some((self.plan.largest() / LOAD_WINDOWS).max(1)),
            is_overload: connections >= OVERLOAD_CONNECTIONS,
        });
        if !is_load {
            self.forget_peak();
        }
        let pid = self.server.pid();
        let before = (cpu_seconds(pid), written_bytes(pid));
        let Report::Flood(report) = send(&order)? else {
            bail!("the sending process reports something else");
        };
        let events_before = self.events_stored;
        self.events_stored += report.events_stored;
        self.next_number = self.next_number.max(report.next_number);
        let usage = self.usage(before, &report)?;
        Ok(Phase {
            connections,
            batch,
            events_before,
            seconds: report.seconds,
            requests: report.requests,
            events: report.events,
            refused: report.refused,
            broken: report.broken,
            latency: report.latency,
            usage,
            windows: report.windows,
        })
    }

    fn usage(&mut self, before: (Option<f64>, Option<u64>), report: &FloodReport) -> anyhow::Result<Usage> {
        let pid = self.server.pid();
        let cpu = cpu_seconds(pid)
            .zip(before.0)
            .map(|(after, before)| after - before);
        // A checkpoint of ours comes after this, and is not the server's writing.
        let written = written_bytes(pid).zip(before.1);
        let written = written.map(|(after, before)| after.saturating_sub(before));
        let peak_memory_mib = self.peak_memory_mib();
        let disk_bytes = self.database.disk_bytes()?;
        let grown = disk_bytes.saturating_sub(self.disk_bytes);
        self.disk_bytes = disk_bytes;
        let stored = report.events_stored as f64;
        let has_events = report.events_stored > 0;
        let is_sqlite = self.database.kind() == crate::service::database::DatabaseKind::Sqlite;
        // The server also works while the generator warms up; events are counted then, requests are not.
        let per_event = |amount: f64| has_events.then(|| ratio(amount, stored));
        let units = if has_events {
            report.events
        } else {
            report.requests
        };
        Ok(Usage {
            disk_bytes_per_event: per_event(grown as f64),
            written_bytes_per_event: written
                .filter(|_| is_sqlite)
                .and_then(|bytes| per_event(bytes as f64)),
            server_cpu_us: cpu.and_then(|seconds| per_event(seconds * 1e6)),
            generator_cpu_us: report
                .generator_cpu_seconds
                .map(|seconds| ratio(seconds * 1e6, units as f64)),
            peak_memory_mib,
        })
    }

    fn reader(&self) -> anyhow::Result<PageReader> {
        PageReader::connect(self.server.address(), self.server.project_key())
    }

    fn forget_peak(&self) {
        // Where the kernel does not allow it the peak stays what it was, which is never too low.
        forget_peak(self.server.pid());
    }

    fn peak_memory_mib(&self) -> Option<f64> {
        peak_memory_kib(self.server.pid()).map(|kib| kib as f64 / 1_024.0)
    }

    fn log(&self) -> String {
        format!("the server's log says:\n{}", self.server.log())
    }
}

/// Asks every query of all services in turns, and adds what was measured to what was measured at other sizes.
fn query(runs: &[&Run<'_>], results: &mut Vec<QueryResult>) -> anyhow::Result<()> {
    let Some(plan) = runs.first().map(|run| run.plan) else {
        return Ok(());
    };
    let (mut services, mut all_kinds) = (Vec::new(), Vec::new());
    for run in runs {
        let times = Times::read(run.epoch, now_ms(), &mut run.reader()?)?;
        let queries;
        (all_kinds, queries) = kinds(&times).into_iter().unzip();
        services.push(AskedService {
            address: run.server.address(),
            project_key: run.server.project_key().to_owned(),
            queries,
        });
    }
    let sizes: Vec<u64> = runs.iter().map(|run| run.events_stored).collect();
    print::progress(&format!("{} queries over {sizes:?} events", all_kinds.len()))?;
    let order = Order::Queries(QueriesOrder {
        services,
        requests: plan.query_requests,
        extra_requests: plan.query_extra_requests,
        decisive_requests: plan.query_decisive_requests,
        rounds: QUERY_ROUNDS,
        round_ms_max: plan.query_round_ms_max,
        extra_ms_max: plan.query_extra_ms_max * runs.len() as u64,
    });
    let Report::Queries(reports) = send(&order)? else {
        bail!("the sending process reports something else");
    };
    if results.is_empty() {
        let empty = |kind| QueryResult { kind, at: Vec::new() };
        results.extend(all_kinds.into_iter().map(empty));
    }
    for (size, reports) in sizes.into_iter().zip(reports) {
        for (result, report) in results.iter_mut().zip(reports) {
            result.add(size, report)?;
        }
    }
    Ok(())
}
