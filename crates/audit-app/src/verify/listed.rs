//! The list of projects, in the home cell, and the cells that have their logs. After one of them has lost commits (a failover of a
//! server of Citus), they contradict each other; and who deletes a log whole leaves the project in the list.

use super::{Finding, LedgerReport, Problem, Removed, cells_of_deployment};
use crate::error::{AppError, Result};
use audit_domain::Environment;
use audit_store::{CellId, DatabaseUrl, Reader, StoreError, inspect};
use std::collections::{HashMap, HashSet};

/// The cell of every project, as the list has it at one time.
pub(super) struct ListedProjects(HashMap<String, CellId>);

/// How the list of projects and the cells contradict each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListMismatch {
    /// The projects of the list whose cell has no log of them.
    pub without_log: Vec<String>,
    /// The projects of which a cell has events, and which the list does not have there.
    pub not_listed: HashSet<String>,
}

/// Compares the list of projects with the logs in all cells. Changes nothing, and reads no event.
///
/// # Errors
/// When the database cannot be read.
pub fn list_mismatch(url: &DatabaseUrl) -> Result<ListMismatch> {
    let mut all = ListMismatch::default();
    for cell in cells_of_deployment(url)? {
        let listed = inspect(url, ListedProjects::read)?;
        let sizes = inspect(&cell.url, |reader| Ok::<_, AppError>(reader.ledger_sizes()?))?;
        let later = inspect(url, ListedProjects::read)?;
        let found = sizes
            .iter()
            .map(|(project_id, size)| (project_id.as_str(), *size));
        let of_cell = listed.compare(&later, cell.id, found);
        all.without_log.extend(of_cell.without_log);
        all.not_listed.extend(of_cell.not_listed);
    }
    Ok(all)
}

impl ListedProjects {
    /// Reads the list. `reader` reads the home cell.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, StoreError> {
        let placed = reader.placed_projects()?;
        Ok(Self(placed.into_iter().collect()))
    }

    /// Compares the list with the sizes of the logs that a cell has. This list was read before the logs, and `later` after them, so that
    /// projects that were created meanwhile do not count.
    fn compare<'a>(
        &self,
        later: &Self,
        cell: CellId,
        logs: impl IntoIterator<Item = (&'a str, u64)>,
    ) -> ListMismatch {
        let mut mismatch = ListMismatch::default();
        let mut found = HashSet::new();
        for (project_id, size) in logs {
            found.insert(project_id);
            // A project that was created in the cell, and not listed before its node died, has no events.
            if size > 0 && later.0.get(project_id) != Some(&cell) {
                mismatch.not_listed.insert(project_id.to_owned());
            }
        }
        let listed = self.0.iter().filter(|(_, place)| **place == cell);
        let missing = listed.filter(|(project_id, _)| !found.contains(project_id.as_str()));
        mismatch.without_log = missing.map(|(project_id, _)| project_id.clone()).collect();
        mismatch.without_log.sort();
        mismatch
    }

    /// Adds the findings to the reports on the logs of a cell.
    pub(super) fn add_findings(&self, later: &Self, cell: CellId, reports: &mut Vec<LedgerReport>) {
        let present = reports.iter().filter(|report| !report.is_gone());
        let logs = present.map(|report| (report.project_id.as_str(), report.events));
        let mismatch = self.compare(later, cell, logs);
        for report in reports.iter_mut() {
            if mismatch.not_listed.contains(&report.project_id) {
                report.findings.push(Finding::log(Problem::NotListed));
                report.findings_count += 1;
            }
        }
        reports.extend(mismatch.without_log.into_iter().map(|project_id| LedgerReport {
            project_id,
            environment: Environment::Live.as_str().to_owned(),
            events: 0,
            signed: None,
            root: None,
            removed: Removed::default(),
            findings: vec![Finding::log(Problem::NoLog)],
            findings_count: 1,
        }));
    }
}
