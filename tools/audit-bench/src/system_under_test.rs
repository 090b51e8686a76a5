//! A server under test: starting it, loading it and recording the resources that it uses.

use crate::generator::{self, ClosedLoopJob, ClosedLoopReport, End, HttpClient, Job, Report, Traffic};
use crate::machine::{cpu_seconds, peak_memory_kib, reset_peak_memory, written_bytes};
use crate::plan::{LOAD_BATCH, LOAD_CONNECTIONS, OVERLOAD_CONNECTIONS, Plan};
use crate::print;
use crate::results::{Phase, Usage, ratio};
use crate::service::database::DatabaseKind;
use crate::service::{Database, Server};
use crate::workload::{BodyOptions, RunTimes};
use anyhow::bail;
use std::path::Path;

/// Windows that the load of the largest size is divided into.
const LOAD_WINDOWS: u64 = 45;

/// A server on a database of its own.
pub(crate) struct SystemUnderTest<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) database: &'a Database,
    pub(crate) server: Server,
    pub(crate) times: RunTimes,
    pub(crate) events_stored: u64,
    /// After the last closed-loop job.
    pub(crate) disk_bytes: u64,
    next_number: u64,
}

/// Counters of the server process at the start of a job; none where the platform does not provide them.
#[derive(Debug, Clone, Copy)]
struct Counters {
    cpu_seconds: Option<f64>,
    written_bytes: Option<u64>,
}

impl Counters {
    fn read(pid: u32) -> Self {
        Self {
            cpu_seconds: cpu_seconds(pid),
            written_bytes: written_bytes(pid),
        }
    }
}

impl<'a> SystemUnderTest<'a> {
    /// Starts a server on an empty database. `folder` takes its log.
    pub(crate) fn start(
        binary: &Path,
        database: &'a Database,
        folder: &Path,
        plan: &'a Plan,
        times: RunTimes,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            plan,
            database,
            server: Server::start(binary, database, folder)?,
            times,
            next_number: 0,
            events_stored: 0,
            disk_bytes: database.disk_bytes()?,
        })
    }

    /// Loads batches until `size` events are stored.
    pub(crate) fn load(&mut self, size: u64) -> anyhow::Result<Phase> {
        print::progress(&format!("loading {size} events"))?;
        let events = size - self.events_stored;
        let options = BodyOptions {
            has_rare: self.events_stored == 0,
            has_imports: true,
            ..self.bodies(LOAD_BATCH)
        };
        let phase = self.closed_loop(
            LOAD_CONNECTIONS,
            Traffic::Events(options),
            End::AfterEvents(events),
        )?;
        if self.events_stored != size {
            bail!("{} events are stored instead of {size}", self.events_stored);
        }
        Ok(phase)
    }

    /// Request bodies of `batch` events that continue the sequence of event numbers.
    pub(crate) fn bodies(&self, batch: usize) -> BodyOptions {
        BodyOptions {
            batch,
            first_number: self.next_number,
            times: self.times,
            has_rare: false,
            has_imports: false,
            padding_bytes: 0,
        }
    }

    /// Runs a closed-loop job and records the resources that the server used.
    pub(crate) fn closed_loop(
        &mut self,
        connections: usize,
        traffic: Traffic,
        end: End,
    ) -> anyhow::Result<Phase> {
        let batch = match &traffic {
            Traffic::Health => 0,
            Traffic::Events(options) => options.batch,
        };
        let is_load = matches!(end, End::AfterEvents(_));
        let job = Job::ClosedLoop(ClosedLoopJob {
            addresses: vec![self.server.address()],
            project_keys: vec![self.server.project_key().to_owned()],
            connections,
            interval_ns: None,
            traffic,
            end,
            window_events: is_load.then_some((self.plan.largest() / LOAD_WINDOWS).max(1)),
            counts_errors: connections >= OVERLOAD_CONNECTIONS,
        });
        if !is_load {
            self.reset_peak_memory();
        }
        let before = Counters::read(self.server.pid());
        let Report::ClosedLoop(report) = generator::run(&job)? else {
            bail!("the load generator sent a report of another job");
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
            errors: report.errors,
            closed_connections: report.closed_connections,
            latency: report.latency,
            usage,
            windows: report.windows,
        })
    }

    /// Reads the counters of the server before the WAL checkpoint that the size on disk requires.
    fn usage(&mut self, before: Counters, report: &ClosedLoopReport) -> anyhow::Result<Usage> {
        let after = Counters::read(self.server.pid());
        let peak_memory_mib = self.peak_memory_mib();
        let disk_bytes = self.database.disk_bytes()?;
        let grown = disk_bytes.saturating_sub(self.disk_bytes);
        self.disk_bytes = disk_bytes;

        let cpu = after.cpu_seconds.zip(before.cpu_seconds);
        let written = after.written_bytes.zip(before.written_bytes);
        let is_sqlite = self.database.kind() == DatabaseKind::Sqlite;
        // The warm-up uses server resources too. Its events are counted, its requests are not.
        let has_events = report.events_stored > 0;
        let per_event = |amount: f64| has_events.then(|| ratio(amount, report.events_stored as f64));
        let measured = if has_events {
            report.events
        } else {
            report.requests
        };
        Ok(Usage {
            disk_bytes_per_event: per_event(grown as f64),
            written_bytes_per_event: written
                .filter(|_| is_sqlite)
                .and_then(|(after, before)| per_event(after.saturating_sub(before) as f64)),
            server_cpu_us: cpu.and_then(|(after, before)| per_event((after - before) * 1e6)),
            generator_cpu_us: report
                .generator_cpu_seconds
                .map(|seconds| ratio(seconds * 1e6, measured as f64)),
            peak_memory_mib,
        })
    }

    pub(crate) fn client(&self) -> anyhow::Result<HttpClient> {
        HttpClient::connect(self.server.address(), self.server.project_key())
    }

    /// Where the kernel refuses, the peak remains that of an earlier phase: too high, never too low.
    pub(crate) fn reset_peak_memory(&self) {
        reset_peak_memory(self.server.pid());
    }

    pub(crate) fn peak_memory_mib(&self) -> Option<f64> {
        peak_memory_kib(self.server.pid()).map(|kib| kib as f64 / 1_024.0)
    }

    /// The server's log, as the context of an error.
    pub(crate) fn log(&self) -> String {
        format!("the log of the server:\n{}", self.server.log())
    }
}
