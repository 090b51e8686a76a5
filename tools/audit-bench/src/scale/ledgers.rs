//! What the number of projects costs: with events to all of them, with events to one of them, and without events.

use super::Bench;
use super::activity::{Processors, Stopwatch};
use super::counters::Rates;
use super::deployment::{Deployment, Rounds, SINGLES, Shape};
use super::projects::CreationRate;
use crate::generator::HttpClient;
use crate::print;
use crate::results::median;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Interval between the events of the trickle.
const TRICKLE_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug, Serialize)]
pub(crate) struct Ledgers {
    pub(crate) rows: Vec<LedgersRow>,
}

/// The cost at one number of projects.
#[derive(Debug, Serialize)]
pub(crate) struct LedgersRow {
    pub(crate) projects: usize,
    /// Of the projects since the previous row.
    pub(crate) creation: CreationRate,
    /// As many events as possible.
    pub(crate) full: Turns,
    /// Half as many as all projects could store.
    pub(crate) half: Turns,
    /// Seconds after the load until the work behind the commits was done; none if it did not end.
    pub(crate) settle_seconds: Option<u32>,
    pub(crate) idle: Background,
    /// Ten events a second to the first project.
    pub(crate) trickle: Background,
}

/// The same load in turns.
#[derive(Debug, Serialize)]
pub(crate) struct Turns {
    /// Events to the first project only.
    pub(crate) one: Rounds,
    /// Events to all projects.
    pub(crate) all: Rounds,
}

/// What runs without load.
#[derive(Debug, Serialize)]
pub(crate) struct Background {
    pub(crate) processors: Processors,
    pub(crate) rates: Rates,
}

impl Turns {
    /// Median over the rounds of p99 with all projects over p99 with one.
    pub(crate) fn p99_ratio(&self) -> f64 {
        let pairs = self.all.p99_ms.iter().zip(&self.one.p99_ms);
        median(pairs.map(|(all, one)| all / one.max(0.001)).collect())
    }

    /// The same of events/s.
    pub(crate) fn rate_ratio(&self) -> f64 {
        let pairs = self.all.events_per_second.iter().zip(&self.one.events_per_second);
        median(pairs.map(|(all, one)| all / one.max(0.001)).collect())
    }
}

/// One database that gets more and more projects.
pub(crate) fn measure(bench: &Bench<'_>) -> anyhow::Result<Ledgers> {
    let mut deployment = Deployment::start(bench, "ledgers")?;
    let mut rows = Vec::new();
    for projects in bench.plan.ledgers.clone() {
        print::progress(&format!("ledgers: creating projects up to {projects}"))?;
        let creation = deployment.grow_projects(projects)?;
        // Otherwise autovacuum analyzes the new rows during the measurement.
        deployment.vacuum()?;
        rows.push(measure_row(&mut deployment, creation)?);
    }
    Ok(Ledgers { rows })
}

fn measure_row(deployment: &mut Deployment<'_>, creation: CreationRate) -> anyhow::Result<LedgersRow> {
    let projects = deployment.project_count();
    print::progress(&format!("ledgers: events to one and to {projects} projects"))?;
    // Every project gets events, so that caches are filled as in a service that runs for long.
    deployment.load(SINGLES, projects)?;
    let full = in_turns(deployment, SINGLES, projects)?;
    let half = Shape {
        rate: Some((full.all.median.events_per_second() / 2.0) as u32),
        ..SINGLES
    };
    let half = in_turns(deployment, half, projects)?;
    print::progress(&format!("ledgers: {projects} projects without load"))?;
    let settle_seconds = deployment.settle()?;
    Ok(LedgersRow {
        projects,
        creation,
        full,
        half,
        settle_seconds,
        idle: background(deployment, false)?,
        trickle: background(deployment, true)?,
    })
}

fn in_turns(deployment: &mut Deployment<'_>, shape: Shape, projects: usize) -> anyhow::Result<Turns> {
    let (mut one, mut all) = (Vec::new(), Vec::new());
    for round in 0..deployment.plan().rounds {
        if round.is_multiple_of(2) {
            one.push(deployment.load(shape, 1)?);
        }
        all.push(deployment.load(shape, projects)?);
        if !round.is_multiple_of(2) {
            one.push(deployment.load(shape, 1)?);
        }
    }
    let rounds = |loads| Rounds::new(loads).ok_or_else(|| anyhow::anyhow!("--rounds is at least 1"));
    Ok(Turns {
        one: rounds(one)?,
        all: rounds(all)?,
    })
}

/// Measures without load, except for the trickle.
fn background(deployment: &mut Deployment<'_>, has_trickle: bool) -> anyhow::Result<Background> {
    let idle = Duration::from_millis(deployment.plan().idle_ms);
    let mut client = HttpClient::connect(deployment.address(0)?, deployment.project_key(0)?)?;
    deployment.counters.count_statements(true)?;
    let totals = deployment.counters.totals()?;
    let postmaster = deployment.postmaster();
    let watch = Stopwatch::start(deployment.nodes(), postmaster);
    if has_trickle {
        trickle(&mut client, idle)?;
    } else {
        std::thread::sleep(idle);
    }
    let processors = watch.processors(deployment.nodes(), postmaster);
    let rates = deployment.counters.rates_since(totals, watch.seconds())?;
    deployment.counters.count_statements(false)?;
    Ok(Background { processors, rates })
}

fn trickle(client: &mut HttpClient, duration: Duration) -> anyhow::Result<()> {
    let began = Instant::now();
    while began.elapsed() < duration {
        client.post(
            "/api/v1/events",
            r#"{"action":"benchmark.trickled","category":"system","tenant_id":"benchmark",
            "actor":{"id":"benchmark","type":"system"}}"#,
        )?;
        std::thread::sleep(TRICKLE_INTERVAL);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::LatencySummary;
    use crate::scale::deployment::Load;

    #[test]
    fn ratios_are_medians_of_the_ratios_of_each_round() {
        let rounds = |rounds: &[(u64, u32)]| {
            let load = |(events, p99_us): &(u64, u32)| Load {
                seconds: 1.0,
                events: *events,
                latency: LatencySummary {
                    p99_us: *p99_us,
                    ..LatencySummary::default()
                },
                ..Load::default()
            };
            Rounds::new(rounds.iter().map(load).collect()).unwrap()
        };
        let turns = Turns {
            one: rounds(&[(100, 1_000), (200, 2_000), (100, 1_000)]),
            all: rounds(&[(50, 2_000), (200, 2_000), (80, 5_000)]),
        };
        assert_eq!((turns.p99_ratio(), turns.rate_ratio()), (2.0, 0.8));
    }
}
