//! Ingest on one node while another node creates projects at full speed.

use super::Bench;
use super::deployment::{Deployment, Load, Rounds, SINGLES};
use super::projects::{self, CreationRate};
use crate::print;
use crate::results::median;
use anyhow::bail;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// More than are created in any measurement.
const PROJECTS_MAX: usize = 20_000;

#[derive(Debug, Serialize)]
pub(crate) struct Creation {
    /// Events to one project, without and with the creation of others.
    pub(crate) without: Rounds,
    pub(crate) with: Rounds,
    /// Of each round.
    pub(crate) rates: Vec<CreationRate>,
}

impl Creation {
    /// Median over the rounds of events/s with creation over those without.
    pub(crate) fn ratio(&self) -> f64 {
        let pairs = self
            .with
            .events_per_second
            .iter()
            .zip(&self.without.events_per_second);
        median(pairs.map(|(with, without)| with / without.max(0.001)).collect())
    }
}

/// Measures without and with in each round.
pub(crate) fn measure(bench: &Bench<'_>) -> anyhow::Result<Creation> {
    let mut deployment = Deployment::start(bench, "creation")?;
    deployment.set_nodes(2)?;
    deployment.grow_projects(1)?;
    deployment.reserve_projects(PROJECTS_MAX)?;
    let (mut without, mut with, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    let mut created = 1;
    for round in 0..bench.plan.rounds {
        print::progress(&format!(
            "creation of projects beside ingest, round {}",
            round + 1
        ))?;
        let ingest = vec![deployment.address(0)?];
        without.push(deployment.load_nodes(ingest.clone(), SINGLES, 1)?);
        let (load, rate) = both(&mut deployment, created)?;
        created += rate.projects;
        with.push(load);
        rates.push(rate);
    }
    match (Rounds::new(without), Rounds::new(with)) {
        (Some(without), Some(with)) => Ok(Creation { without, with, rates }),
        _ => bail!("--rounds is at least 1"),
    }
}

/// The second node creates projects as long as the first one gets events.
fn both(deployment: &mut Deployment<'_>, created: usize) -> anyhow::Result<(Load, CreationRate)> {
    let (ingest, administration) = (deployment.address(0)?, deployment.address(1)?);
    let master_keys = deployment.master_keys().to_vec();
    let is_over = AtomicBool::new(false);
    let (load, creation) = std::thread::scope(|scope| {
        let creation =
            scope.spawn(|| projects::create(administration, &master_keys, created..PROJECTS_MAX, &is_over));
        let load = deployment.load_nodes(vec![ingest], SINGLES, 1);
        is_over.store(true, Ordering::Relaxed);
        (load, creation.join())
    });
    let Ok(creation) = creation else {
        bail!("the thread that creates projects panicked");
    };
    Ok((load?, creation?.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_the_median_of_the_ratios_of_each_round() {
        let rounds = |events: &[u64]| {
            let load = |events: &u64| Load {
                seconds: 1.0,
                events: *events,
                ..Load::default()
            };
            Rounds::new(events.iter().map(load).collect()).unwrap()
        };
        let creation = Creation {
            without: rounds(&[100, 200, 400]),
            with: rounds(&[50, 180, 40]),
            rates: Vec::new(),
        };
        assert_eq!(creation.ratio(), 0.5);
    }
}
