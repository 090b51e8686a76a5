//! Nodes on one database, and its projects.

use super::activity::{Processors, Stopwatch, Wait, sample_waits};
use super::counters::Connection;
use super::projects::{self, CreationRate, ORGANIZATION_PROJECTS};
use super::{Bench, ScalePlan};
use crate::generator::{self, ClosedLoopJob, End, Job, Report, Traffic};
use crate::latency::LatencySummary;
use crate::machine::now_ms;
use crate::results::ratio;
use crate::service::{Database, Organization, Server};
use crate::workload::{BodyOptions, RunTimes};
use anyhow::{Context, bail};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows written per second below which the database counts as settled.
const SETTLED_ROWS_PER_SECOND: i64 = 100;
/// The same of the write-ahead log.
const SETTLED_WAL_BYTES_PER_SECOND: i64 = 65_536;
const SETTLED_SECONDS: u32 = 4;
const SETTLE_SECONDS_MAX: u32 = 300;

/// Events per request, concurrent connections, and requests a second; as many as possible without a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Shape {
    pub(crate) batch: usize,
    pub(crate) connections: usize,
    pub(crate) rate: Option<u32>,
}

pub(crate) const SINGLES: Shape = Shape {
    batch: 1,
    connections: crate::plan::SINGLES_CONNECTIONS,
    rate: None,
};
pub(crate) const BATCHES: Shape = Shape {
    batch: crate::plan::LOAD_BATCH,
    connections: crate::plan::LOAD_CONNECTIONS,
    rate: None,
};

/// The result of one load.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Load {
    pub(crate) seconds: f64,
    pub(crate) events: u64,
    pub(crate) errors: BTreeMap<u16, u64>,
    pub(crate) closed_connections: u64,
    pub(crate) latency: LatencySummary,
    pub(crate) processors: Processors,
    /// CPU time per event, warm-up included: of the nodes, and of PostgreSQL.
    pub(crate) cpu_us: [Option<f64>; 2],
    /// Bytes of PostgreSQL's write-ahead log per event, warm-up included.
    pub(crate) wal_bytes_per_event: f64,
    pub(crate) waits: Vec<Wait>,
}

impl Load {
    pub(crate) fn events_per_second(&self) -> f64 {
        ratio(self.events as f64, self.seconds)
    }

    /// Error responses of any status, and closed connections.
    pub(crate) fn errors(&self) -> u64 {
        self.errors.values().sum::<u64>() + self.closed_connections
    }
}

/// A database with its nodes. The nodes end before the database is dropped.
pub(crate) struct Deployment<'a> {
    bench: &'a Bench<'a>,
    folder: PathBuf,
    nodes: Vec<Server>,
    pub(crate) counters: Connection,
    master_keys: Vec<String>,
    /// A live key of each project.
    project_keys: Vec<String>,
    times: RunTimes,
    next_number: u64,
    nodes_started: usize,
    database: Database,
}

impl<'a> Deployment<'a> {
    /// An empty database with one node, in the folder `name`.
    pub(crate) fn start(bench: &'a Bench<'a>, name: &str) -> anyhow::Result<Self> {
        let folder = bench.folder.join(name);
        std::fs::create_dir(&folder)?;
        let database = Database::postgres(bench.cluster)?;
        let mut deployment = Self {
            bench,
            folder,
            nodes: Vec::new(),
            counters: Connection::open(bench.cluster, &database)?,
            master_keys: Vec::new(),
            project_keys: Vec::new(),
            times: RunTimes { began_ms: now_ms() },
            next_number: 0,
            nodes_started: 0,
            database,
        };
        deployment.add_organization()?;
        deployment.set_nodes(1)?;
        Ok(deployment)
    }

    pub(crate) fn plan(&self) -> &'a ScalePlan {
        self.bench.plan
    }

    pub(crate) fn nodes(&self) -> &[Server] {
        &self.nodes
    }

    pub(crate) fn postmaster(&self) -> Option<u32> {
        self.bench.cluster.pid()
    }

    pub(crate) fn address(&self, node: usize) -> anyhow::Result<SocketAddr> {
        let node = self.nodes.get(node).context("there are fewer nodes")?;
        Ok(node.address())
    }

    pub(crate) fn master_keys(&self) -> &[String] {
        &self.master_keys
    }

    /// Its first project is not used, so that all projects are created in the same way.
    fn add_organization(&mut self) -> anyhow::Result<()> {
        let organization = Organization::create(self.bench.binary, self.database.url())?;
        self.master_keys.push(organization.master_key);
        Ok(())
    }

    /// Starts nodes, or ends the ones started last.
    pub(crate) fn set_nodes(&mut self, count: usize) -> anyhow::Result<()> {
        self.nodes.truncate(count);
        while self.nodes.len() < count {
            let log = self.folder.join(format!("node-{}.log", self.nodes_started));
            self.nodes_started += 1;
            let binary = self.bench.binary;
            self.nodes
                .push(Server::serve(binary, &self.database, &log, String::new())?);
        }
        Ok(())
    }

    /// Room for projects up to this number of them.
    pub(crate) fn reserve_projects(&mut self, count: usize) -> anyhow::Result<()> {
        while self.master_keys.len() * ORGANIZATION_PROJECTS < count {
            self.add_organization()?;
        }
        Ok(())
    }

    /// Creates projects until there are `count`. Returns the rate of those created.
    pub(crate) fn grow_projects(&mut self, count: usize) -> anyhow::Result<CreationRate> {
        let numbers = self.project_keys.len()..count;
        if numbers.is_empty() {
            return Ok(CreationRate::default());
        }
        self.reserve_projects(count)?;
        let never = AtomicBool::new(false);
        let (keys, rate) = projects::create(self.address(0)?, &self.master_keys, numbers, &never)?;
        self.project_keys.extend(keys);
        Ok(rate)
    }

    pub(crate) fn project_count(&self) -> usize {
        self.project_keys.len()
    }

    /// Sends events to the first `projects` projects over all nodes.
    pub(crate) fn load(&mut self, shape: Shape, projects: usize) -> anyhow::Result<Load> {
        let addresses = self.nodes.iter().map(Server::address).collect();
        self.load_nodes(addresses, shape, projects)
    }

    /// Sends events to the first `projects` projects over the nodes at `addresses`.
    pub(crate) fn load_nodes(
        &mut self,
        addresses: Vec<SocketAddr>,
        shape: Shape,
        projects: usize,
    ) -> anyhow::Result<Load> {
        let keys = self
            .project_keys
            .get(..projects)
            .context("there are fewer projects")?;
        let job = Job::ClosedLoop(ClosedLoopJob {
            addresses,
            project_keys: keys.to_vec(),
            connections: shape.connections,
            interval_ns: shape.rate.map(|rate| 1_000_000_000 / u64::from(rate.max(1))),
            traffic: Traffic::Events(BodyOptions {
                batch: shape.batch,
                first_number: self.next_number,
                times: self.times,
                has_rare: false,
                has_imports: false,
                padding_bytes: 0,
            }),
            end: End::AfterMs {
                warm_up_ms: self.plan().warm_up_ms,
                measured_ms: self.plan().measured_ms,
            },
            window_events: None,
            counts_errors: true,
        });
        let wal_bytes = self.counters.totals()?.wal_bytes;
        let (postmaster, counters) = (self.postmaster(), &mut self.counters);
        let watch = Stopwatch::start(&self.nodes, postmaster);
        let is_over = AtomicBool::new(false);
        let (report, waits) = std::thread::scope(|scope| {
            let waits = scope.spawn(|| sample_waits(counters, &is_over));
            let report = generator::run(&job);
            is_over.store(true, Ordering::Relaxed);
            (report, waits.join())
        });
        let (processors, seconds) = (watch.processors(&self.nodes, postmaster), watch.seconds());
        let Report::ClosedLoop(report) = report.with_context(|| self.log())? else {
            bail!("the load generator sent a report of another job");
        };
        let Ok(waits) = waits else {
            bail!("the thread that samples waits panicked");
        };
        self.next_number = self.next_number.max(report.next_number);
        let wal_bytes = self.counters.totals()?.wal_bytes - wal_bytes;
        Ok(Load {
            seconds: report.seconds,
            events: report.events,
            errors: report.errors,
            closed_connections: report.closed_connections,
            latency: report.latency,
            processors,
            cpu_us: processors.us_per_event(seconds, report.events_stored),
            wal_bytes_per_event: ratio(wal_bytes as f64, report.events_stored as f64),
            waits: waits?,
        })
    }

    /// Waits until the work behind the commits (indexing, signing, merging) is done: little is written for some seconds.
    /// Returns the seconds waited; none if that did not happen in time.
    pub(crate) fn settle(&mut self) -> anyhow::Result<Option<u32>> {
        let mut quiet_seconds = 0;
        let mut before = self.counters.totals()?;
        for second in 1..=SETTLE_SECONDS_MAX {
            std::thread::sleep(std::time::Duration::from_secs(1));
            let now = self.counters.totals()?;
            let is_quiet = now.rows_written - before.rows_written < SETTLED_ROWS_PER_SECOND
                && now.wal_bytes - before.wal_bytes < SETTLED_WAL_BYTES_PER_SECOND;
            quiet_seconds = if is_quiet { quiet_seconds + 1 } else { 0 };
            before = now;
            if quiet_seconds == SETTLED_SECONDS {
                return Ok(Some(second));
            }
        }
        Ok(None)
    }

    pub(crate) fn vacuum(&self) -> anyhow::Result<()> {
        self.database.vacuum_and_checkpoint()
    }

    /// A project key.
    pub(crate) fn project_key(&self, number: usize) -> anyhow::Result<&str> {
        let key = self.project_keys.get(number);
        Ok(key.context("there are fewer projects")?)
    }

    /// The warnings and errors of the nodes, as the context of an error.
    fn log(&self) -> String {
        let logs: Vec<String> = self.nodes.iter().map(Server::log).collect();
        format!("the logs of the nodes:\n{}", logs.join("\n"))
    }
}

/// The load of the median rate, and the least and the greatest rate.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Rounds {
    pub(crate) median: Load,
    pub(crate) least: f64,
    pub(crate) greatest: f64,
    /// Events/s of each round, in order.
    pub(crate) events_per_second: Vec<f64>,
    /// p99 of each round in ms, in order.
    pub(crate) p99_ms: Vec<f64>,
}

impl Rounds {
    /// None without loads.
    pub(crate) fn new(mut loads: Vec<Load>) -> Option<Self> {
        let events_per_second: Vec<f64> = loads.iter().map(Load::events_per_second).collect();
        let p99_ms = loads.iter().map(|load| load.latency.p99_ms()).collect();
        loads.sort_by(|one, other| one.events_per_second().total_cmp(&other.events_per_second()));
        let (first, last) = (loads.first()?, loads.last()?);
        Some(Self {
            least: first.events_per_second(),
            greatest: last.events_per_second(),
            median: loads[(loads.len() - 1) / 2].clone(),
            events_per_second,
            p99_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_show_the_load_of_the_median_rate() {
        let load = |events| Load {
            seconds: 2.0,
            events,
            errors: BTreeMap::from([(503, events / 100)]),
            ..Load::default()
        };
        let rounds = Rounds::new(vec![load(600), load(200), load(400)]).unwrap();
        assert_eq!((rounds.least, rounds.greatest), (100.0, 300.0));
        assert_eq!(
            (rounds.median.events_per_second(), rounds.median.errors()),
            (200.0, 4)
        );
        assert_eq!(rounds.events_per_second, [300.0, 100.0, 200.0]);
        assert!(Rounds::new(Vec::new()).is_none());
    }
}
