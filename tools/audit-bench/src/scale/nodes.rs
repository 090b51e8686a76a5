//! One project and many, on one node and on several.

use super::Bench;
use super::deployment::{BATCHES, Deployment, Load, Rounds, SINGLES, Shape};
use crate::print;
use serde::Serialize;
use std::collections::BTreeMap;

/// Nodes, projects and shape of a load.
type Case = (usize, usize, Shape);

#[derive(Debug, Serialize)]
pub(crate) struct NodesRow {
    pub(crate) nodes: usize,
    pub(crate) projects: usize,
    pub(crate) shape: Shape,
    pub(crate) rounds: Rounds,
}

/// Every number of nodes in each round. Every other round reverses the order.
pub(crate) fn measure(bench: &Bench<'_>) -> anyhow::Result<Vec<NodesRow>> {
    let mut deployment = Deployment::start(bench, "nodes")?;
    let many = bench.plan.projects;
    print::progress(&format!("nodes: creating {many} projects"))?;
    deployment.grow_projects(many)?;
    let mut loads = BTreeMap::<Case, Vec<Load>>::new();
    for round in 0..bench.plan.rounds {
        let mut order = bench.plan.nodes.clone();
        if !round.is_multiple_of(2) {
            order.reverse();
        }
        for nodes in order {
            deployment.set_nodes(nodes)?;
            print::progress(&format!("nodes: round {}, {nodes} nodes", round + 1))?;
            for projects in [1, many] {
                for shape in [SINGLES, BATCHES] {
                    let load = deployment.load(shape, projects)?;
                    loads.entry((nodes, projects, shape)).or_default().push(load);
                }
            }
        }
    }
    Ok(rows(loads))
}

fn rows(loads: BTreeMap<Case, Vec<Load>>) -> Vec<NodesRow> {
    let row = |((nodes, projects, shape), loads): (Case, Vec<Load>)| {
        Some(NodesRow {
            nodes,
            projects,
            shape,
            rounds: Rounds::new(loads)?,
        })
    };
    loads.into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_ordered_by_nodes_projects_and_batch() {
        let load = || vec![Load::default()];
        let cases = [
            (2, 1, SINGLES),
            (1, 100, BATCHES),
            (1, 1, BATCHES),
            (1, 1, SINGLES),
        ];
        let rows = rows(cases.map(|case| (case, load())).into());
        let order: Vec<_> = rows
            .iter()
            .map(|row| (row.nodes, row.projects, row.shape.batch))
            .collect();
        assert_eq!(order, [(1, 1, 1), (1, 1, 100), (1, 100, 100), (2, 1, 1)]);
    }
}
