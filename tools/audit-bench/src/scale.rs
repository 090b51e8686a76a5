//! Several nodes on one PostgreSQL, and many projects on it.
//!
//! Each part runs on a database of its own. Figures that are compared are measured in turns, because the speed of the
//! machine varies.

mod activity;
mod counters;
mod creation;
mod deployment;
mod events;
mod ledgers;
mod nodes;
mod projects;
mod tables;

use crate::arguments::{ScaleOptions, ScalePart};
use crate::machine::{Machine, now_ms};
use crate::plan::Plan;
use crate::print;
use crate::service::process::Folder;
use crate::service::{Cluster, server_binary};
use crate::workload::timestamp_text;
use anyhow::{Context, bail};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Sizes and durations.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ScalePlan {
    /// Numbers of nodes.
    pub(crate) nodes: Vec<usize>,
    /// Active projects where there are many.
    pub(crate) projects: usize,
    /// Numbers of projects whose cost is measured, ascending.
    pub(crate) ledgers: Vec<usize>,
    /// Numbers of events at which queries are measured, ascending.
    pub(crate) sizes: Vec<u64>,
    pub(crate) rounds: u32,
    pub(crate) warm_up_ms: u64,
    pub(crate) measured_ms: u64,
    /// Duration of each measurement without load.
    pub(crate) idle_ms: u64,
    #[serde(skip)]
    pub(crate) queries: Plan,
}

/// The results as written to JSON. A part that was not measured is absent.
#[derive(Debug, Serialize)]
pub(crate) struct ScaleResults {
    pub(crate) database_version: String,
    pub(crate) version: &'static str,
    pub(crate) commit: Option<String>,
    /// Name of the server binary.
    pub(crate) server: String,
    pub(crate) began_at: String,
    pub(crate) seconds: f64,
    pub(crate) machine: Machine,
    pub(crate) plan: ScalePlan,
    pub(crate) nodes: Option<Vec<nodes::NodesRow>>,
    pub(crate) ledgers: Option<ledgers::Ledgers>,
    pub(crate) creation: Option<creation::Creation>,
    pub(crate) events: Option<events::Growth>,
}

/// What every part needs.
pub(crate) struct Bench<'a> {
    pub(crate) binary: &'a Path,
    pub(crate) cluster: &'a Cluster,
    pub(crate) folder: &'a Path,
    pub(crate) plan: &'a ScalePlan,
}

/// Runs the parts that the options select, prints their tables and writes the result files.
pub(crate) fn scale(options: &ScaleOptions, commit: Option<String>) -> anyhow::Result<()> {
    let (began, began_ms) = (Instant::now(), now_ms());
    let plan = ScalePlan::new(options)?;
    if let Some(out) = &options.out {
        std::fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    }
    let binary = server_binary(options.server.as_deref())?;
    let folder = Folder::create(options.location.folder.as_deref())?;
    let cluster = Cluster::start_with_statistics(options.location.postgres_url.as_deref(), folder.path())
        .context("cannot start PostgreSQL")?;
    let machine = Machine::describe(folder.path())?;
    print::progress(&machine.line())?;
    let bench = Bench {
        binary: &binary,
        cluster: &cluster,
        folder: folder.path(),
        plan: &plan,
    };
    let mut results = ScaleResults {
        database_version: counters::version(&cluster)?,
        version: env!("CARGO_PKG_VERSION"),
        commit,
        server: binary
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        began_at: timestamp_text(began_ms),
        seconds: 0.0,
        machine,
        plan: plan.clone(),
        nodes: None,
        ledgers: None,
        creation: None,
        events: None,
    };
    for part in &options.only {
        match part {
            ScalePart::Nodes => results.nodes = Some(nodes::measure(&bench)?),
            ScalePart::Ledgers => results.ledgers = Some(ledgers::measure(&bench)?),
            ScalePart::Creation => results.creation = Some(creation::measure(&bench)?),
            ScalePart::Events => results.events = Some(events::measure(&bench)?),
        }
    }
    results.seconds = began.elapsed().as_secs_f64();
    report(&results, options)
}

fn report(results: &ScaleResults, options: &ScaleOptions) -> anyhow::Result<()> {
    let text = tables::tables(results);
    print::print(&text)?;
    let Some(out) = &options.out else { return Ok(()) };
    for (extension, content) in [
        ("md", text.trim_start().to_owned()),
        ("json", serde_json::to_string_pretty(results)? + "\n"),
    ] {
        let path = out.join(format!("{}.{extension}", options.name));
        std::fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        print::progress(&format!("written to {}", path.display()))?;
    }
    Ok(())
}

impl ScalePlan {
    fn new(options: &ScaleOptions) -> anyhow::Result<Self> {
        let or = |given: &[usize], quick: &[usize], full: &[usize]| match (given.is_empty(), options.quick) {
            (false, _) => given.to_vec(),
            (true, true) => quick.to_vec(),
            (true, false) => full.to_vec(),
        };
        let nodes = or(&options.nodes, &[1, 3], &[1, 2, 3]);
        let ledgers = or(&options.ledgers, &[1, 200], &[1, 600, 10_000]);
        let sizes = match (options.sizes.is_empty(), options.quick) {
            (false, _) => options.sizes.clone(),
            (true, true) => vec![10_000, 50_000],
            (true, false) => vec![100_000, 1_000_000],
        };
        let projects = options.projects.unwrap_or(if options.quick { 20 } else { 100 });
        let is_ascending = ledgers.is_sorted_by(|one, next| one < next);
        if nodes.contains(&0) || projects == 0 || !is_ascending || ledgers.first() == Some(&0) {
            bail!("--nodes and --projects take numbers from 1, --ledgers ascending numbers from 1");
        }
        let seconds = options.seconds.unwrap_or(if options.quick { 1 } else { 4 });
        Ok(Self {
            nodes,
            projects,
            ledgers,
            queries: Plan::new(options.quick, &sizes)?,
            sizes,
            rounds: options.rounds.unwrap_or(if options.quick { 1 } else { 3 }),
            warm_up_ms: if options.quick { 300 } else { 1_000 },
            measured_ms: seconds * 1_000,
            idle_ms: if options.quick { 3_000 } else { 10_000 },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use clap::Parser;

    fn plan(arguments: &[&str]) -> anyhow::Result<ScalePlan> {
        let all = ["audit-bench", "scale"].iter().chain(arguments);
        match Arguments::parse_from(all).command {
            Some(Command::Scale(options)) => ScalePlan::new(&options),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn sizes_come_from_the_options() {
        let quick = plan(&["--quick"]).unwrap();
        assert_eq!((quick.rounds, quick.measured_ms), (1, 1_000));
        let given = [
            "--nodes",
            "2",
            "--ledgers",
            "1,100000",
            "--sizes",
            "1000000,10000000",
        ];
        let given = plan(&given).unwrap();
        assert_eq!((given.nodes, given.ledgers), (vec![2], vec![1, 100_000]));
        assert_eq!(given.queries.sizes, [1_000_000, 10_000_000]);
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for arguments in [["--nodes", "0"], ["--projects", "0"], ["--ledgers", "600,1"]] {
            assert!(plan(&arguments).is_err(), "{arguments:?}");
        }
    }
}
