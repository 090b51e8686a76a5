//! What a load occupies: CPU time by process, and what the sessions of PostgreSQL wait for.

use super::counters::Connection;
use crate::machine::{cpu_seconds, machine_cpu_seconds, tree_cpu_seconds};
use crate::results::ratio;
use crate::service::Server;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Interval between two samples of the sessions.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(50);

/// Busy processors: CPU time over elapsed time. Values that the platform does not provide are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Processors {
    /// Of all nodes.
    pub(crate) nodes: Option<f64>,
    pub(crate) postgres: Option<f64>,
    /// Of all programs, other than those of the benchmark included.
    pub(crate) machine: Option<f64>,
}

impl Processors {
    /// CPU time per event in µs, of the nodes and of PostgreSQL.
    pub(crate) fn us_per_event(&self, seconds: f64, events: u64) -> [Option<f64>; 2] {
        [self.nodes, self.postgres].map(|busy| Some(ratio(busy? * seconds * 1e6, events as f64)))
    }
}

/// A kind of wait, and the mean number of sessions in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Wait {
    pub(crate) name: String,
    pub(crate) sessions: f64,
}

/// CPU times at the start of a measurement.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    began: Instant,
    before: Processors,
}

fn cpu_times(nodes: &[Server], postmaster: Option<u32>) -> Processors {
    let each: Option<Vec<f64>> = nodes.iter().map(|node| cpu_seconds(node.pid())).collect();
    Processors {
        nodes: each.map(|each| each.iter().sum()),
        postgres: postmaster.and_then(tree_cpu_seconds),
        machine: machine_cpu_seconds(),
    }
}

impl Stopwatch {
    pub(crate) fn start(nodes: &[Server], postmaster: Option<u32>) -> Self {
        Self {
            began: Instant::now(),
            before: cpu_times(nodes, postmaster),
        }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Of the same processes since the start.
    pub(crate) fn processors(&self, nodes: &[Server], postmaster: Option<u32>) -> Processors {
        let (after, seconds) = (cpu_times(nodes, postmaster), self.seconds());
        let busy = |after: Option<f64>, before: Option<f64>| {
            Some(ratio(
                after.zip(before).map(|(after, before)| after - before)?,
                seconds,
            ))
        };
        Processors {
            nodes: busy(after.nodes, self.before.nodes),
            postgres: busy(after.postgres, self.before.postgres),
            machine: busy(after.machine, self.before.machine),
        }
    }
}

/// Samples the sessions of the database until `is_over`.
pub(crate) fn sample_waits(connection: &mut Connection, is_over: &AtomicBool) -> anyhow::Result<Vec<Wait>> {
    let (mut totals, mut samples) = (BTreeMap::<String, i64>::new(), 0_u32);
    while !is_over.load(Ordering::Relaxed) {
        for (wait, sessions) in connection.waits()? {
            *totals.entry(wait).or_default() += sessions;
        }
        samples += 1;
        std::thread::sleep(SAMPLE_INTERVAL);
    }
    Ok(most_frequent(totals, samples))
}

/// The mean number of sessions by wait, the largest first.
fn most_frequent(totals: BTreeMap<String, i64>, samples: u32) -> Vec<Wait> {
    let mut waits: Vec<Wait> = totals
        .into_iter()
        .map(|(name, sessions)| Wait {
            name,
            sessions: ratio(sessions as f64, f64::from(samples)),
        })
        .collect();
    waits.sort_by(|one, other| other.sessions.total_cmp(&one.sessions));
    waits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_means_of_the_samples_the_largest_first() {
        let totals = BTreeMap::from([("IO: WALSync".to_owned(), 30), ("running".to_owned(), 60)]);
        let waits = most_frequent(totals, 20);
        assert_eq!((waits[0].name.as_str(), waits[0].sessions), ("running", 3.0));
        assert_eq!(waits[1].sessions, 1.5);
        assert!(most_frequent(BTreeMap::new(), 0).is_empty());
    }

    #[test]
    fn processors_are_cpu_time_over_elapsed_time() {
        let watch = Stopwatch::start(&[], Some(std::process::id()));
        let processors = watch.processors(&[], None);
        assert_eq!((processors.nodes, processors.postgres), (Some(0.0), None));
        let processors = Processors {
            nodes: Some(0.5),
            ..Processors::default()
        };
        assert_eq!(processors.us_per_event(2.0, 10_000), [Some(100.0), None]);
    }
}
